"""One thread computes one element of c, and neighbouring threads take neighbouring rows.

The order of the indices is that of Araujo's OpenCL kernel, where get_global_id(0) is the row.
"""

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

BLOCK = (32, 8)


# Each thread computes one element of c by itself; flaw: the lanes of a warp read and write elements
# with a stride of a whole row.
@cuda.jit
def naive_strided(a, b, c):
    m, k = a.shape
    n = b.shape[1]

    # x counts rows. The 32 lanes of a warp differ in x, so they read 32 rows of a: for each k
    # 32 elements with a stride of a whole row, in 32 sectors of 32 bytes for 128 bytes of data.
    # They store c in the same way.
    x, y = cuda.grid(2)
    # An unsigned index cannot be negative: no instruction is spent on Python's a[-1].
    row, col = uint32(x), uint32(y)

    # The grid is rounded up to whole blocks. Row m and column n are already outside.
    if row >= m or col >= n:
        return

    # float32(0), because a plain 0.0 is a float64 and would make every addition one.
    total = float32(0)
    # A while loop, because range() with a bound that only the launch knows costs more than four
    # times the instructions for each multiplication and addition.
    i = 0
    while i < k:
        total += a[row, i] * b[i, col]
        i += 1
    c[row, col] = total


def launch(shape):
    """Return a launch with one thread per element of c; axis x of the grid counts rows of c.

    Axis y counts columns. Threads of the last blocks may be outside of c.
    """
    rows, columns = BLOCK
    return Launch(grid=(cdiv(shape.m, rows), cdiv(shape.n, columns)), block=BLOCK)


STEP = Step(
    module=__name__,
    name="naive_strided",
    idea="one thread per element of c; neighbouring threads take neighbouring rows: uncoalesced",
    previous=None,
    task=GEMM,
    build=lambda: naive_strided,
    launch=launch,
    budget=Budget(registers=40, global_bits=32, ffma_share=0.1),
)
