"""The ceiling of memory: each byte is read once and written once."""

from numba import cuda, float32, uint32

from latency_kernels.parts.workloads import COPY
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step

BLOCK = 256
IN_FLIGHT = 4


@cuda.jit
def copy(x, out):
    # uint32 times a Python integer is an int64 that is known not to be negative: no instruction is
    # spent on Python's x[-1], and arrays may have more than 2^32 elements.
    first = uint32(cuda.blockIdx.x) * (BLOCK * IN_FLIGHT) + uint32(cuda.threadIdx.x)
    values = cuda.local.array(IN_FLIGHT, float32)

    # All loads are issued before the first store needs one of them: four are in flight at once;
    # a loop that alternates loads and stores would wait for each load.
    for j in range(IN_FLIGHT):
        if first + j * BLOCK < x.size:
            values[j] = x[first + j * BLOCK]
    for j in range(IN_FLIGHT):
        if first + j * BLOCK < x.size:
            out[first + j * BLOCK] = values[j]


def launch(shape):
    """Return a launch with one block of BLOCK threads per BLOCK·IN_FLIGHT elements to copy."""
    return Launch(grid=(cdiv(shape.elements, BLOCK * IN_FLIGHT),), block=(BLOCK,))


STEP = Step(
    module=__name__,
    name="copy",
    idea="float32 from here to there: the bandwidth that this device reaches, read + written",
    previous=None,
    task=COPY,
    build=lambda: copy,
    launch=launch,
    budget=Budget(registers=16, global_bits=32),
)
