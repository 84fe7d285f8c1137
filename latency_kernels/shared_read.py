"""The ceiling of shared memory: the lanes of a warp read 32 different banks, again and again."""

from numba import cuda, float32, uint32

from latency_kernels.parts.workloads import LANES, PER_TURN, ROWS, SHARED, TURNS
from utils.division import cdiv
from utils.ladder.step import Launch, Step

BLOCK = 256
FLOATS = ROWS * LANES


@cuda.jit
def shared_read(x, out):
    rows = cuda.shared.array(FLOATS, float32)
    totals = cuda.local.array(PER_TURN, float32)
    thread = cuda.grid(1)
    tid = uint32(cuda.threadIdx.x)
    lane = tid & uint32(LANES - 1)
    for i in range(FLOATS // BLOCK):
        rows[tid + i * BLOCK] = x[tid + i * BLOCK]
    for j in range(PER_TURN):
        totals[j] = float32(0)
    # Every warp reads what all warps have written.
    cuda.syncthreads()

    turn = uint32(0)
    while turn < TURNS:
        # The rows depend on the iteration: if they were always the same, the compiler would read
        # them once and keep them.
        first = (turn * uint32(PER_TURN) & uint32(ROWS - 1)) * uint32(LANES) + lane
        # A row is 32 neighbours: one wavefront. It feeds one addition, so an SM has issue slots to
        # spare, and no addition waits for another one of this iteration.
        for j in range(PER_TURN):
            totals[j] += rows[first + j * LANES]
        turn += uint32(1)

    # The compiler removes work whose result is not stored, so all of it goes into one number.
    for j in range(1, PER_TURN):
        totals[0] += totals[j]
    if thread < out.size:
        out[thread] = totals[0]


def launch(shape):
    """Return a launch with one thread per PER_TURN sums; shape.elements counts the sums.

    Each sum adds TURNS reads of shared memory.
    """
    return Launch(grid=(cdiv(shape.elements, PER_TURN * BLOCK),), block=(BLOCK,))


STEP = Step(
    module=__name__,
    name="shared_read",
    idea="every lane reads another bank: the bandwidth of shared memory, all SMs together",
    previous=None,
    task=SHARED,
    build=lambda: shared_read,
    launch=launch,
)
