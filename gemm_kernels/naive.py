"""One thread computes one element of c and reads all it needs from global memory.

Published kernels assume sizes that are multiples of a block. Here every kernel takes any size and
checks its edges.
"""

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

# A warp is 32 neighbouring columns of one row of c. For each k it reads one element of a, which
# all 32 lanes share, and 128 consecutive bytes of b: four sectors, all of whose bytes are used.
BLOCK = (32, 8)


# Neighbouring lanes take neighbouring columns, so that a warp's reads of b are coalesced; flaw:
# every element is read from global memory once for each thread that needs it.
@cuda.jit
def naive(a, b, c):
    m, k = a.shape
    n = b.shape[1]

    # Threads whose threadIdx.x differs by one are neighbours along a row of c. They are lanes of
    # one warp, so x must count columns: the elements of a row are adjacent in memory.
    x, y = cuda.grid(2)
    # An unsigned index cannot be negative: no instruction is spent on Python's a[-1].
    row, col = uint32(y), uint32(x)

    # The grid is rounded up to whole blocks. Row m and column n are already outside.
    if row >= m or col >= n:
        return

    # float32(0), because a plain 0.0 is a float64 and would make every addition one.
    total = float32(0)
    # A while loop, because range() with a bound that only the launch knows costs more than four
    # times the instructions for each multiplication and addition.
    i = 0
    while i < k:
        # Each element of a is read by n threads and each of b by m. Two loads feed one FMA,
        # whatever the cache holds.
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total


def launch(shape):
    """Return a launch with one thread per element of c; axis x of the grid counts columns of c.

    Axis y counts rows. Threads of the last blocks may be outside of c.
    """
    columns, rows = BLOCK
    return Launch(grid=(cdiv(shape.n, columns), cdiv(shape.m, rows)), block=BLOCK)


STEP = Step(
    module=__name__,
    name="naive",
    idea="one thread per element of c; neighbouring threads take neighbouring columns",
    previous="naive_strided",
    task=GEMM,
    build=lambda: naive,
    launch=launch,
    budget=Budget(registers=32, global_bits=32, ffma_share=0.12),
)
