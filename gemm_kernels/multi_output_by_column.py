"""One thread computes MULTI adjacent elements of a row of c, one after the other.

Córdoba 2016 passes MULTI as an argument, expects zeros in c, and tests only the first column of a
thread: if n is no multiple of MULTI, its last threads write outside of their row. Here each column
is tested.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

WIDTH, HEIGHT = BLOCK = (16, 16)


@cache
def build(MULTI):
    """Return the kernel (a, b, c) that computes c = a·b, with MULTI elements of a row per thread.

    The elements of a thread are adjacent, and so are those of neighbouring threads.
    """

    # Fewer threads do the same work; flaw: k is the inner loop, so a is read again for each column,
    # each iteration stores the sum, and the lanes of a warp read b with a stride of MULTI columns.
    @cuda.jit
    def multi_output_by_column(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        x, y = cuda.grid(2)
        row, col = uint32(y), uint32(x * MULTI)
        if row >= m:
            return

        for j in range(MULTI):
            # A thread's columns may begin inside c and end outside.
            if col + j < n:
                c[row, col + j] = float32(0)
                i = 0
                while i < k:
                    # Each iteration stores, because for all the compiler knows, the next load of a
                    # or b reads this element of c. __restrict__ in Córdoba 2016 rules that out.
                    c[row, col + j] += a[row, i] * b[i, col + j]
                    i += 1

    return multi_output_by_column


def launch(shape, MULTI):
    """Return a launch that covers c with HEIGHT rows and MULTI·WIDTH columns per block.

    Axis x of the grid counts columns, and axis y rows.
    """
    return Launch(grid=(cdiv(shape.n, MULTI * WIDTH), cdiv(shape.m, HEIGHT)), block=BLOCK)


STEP = Step(
    module=__name__,
    name="multi_output_by_column",
    idea="MULTI adjacent elements of c per thread, column by column: slower, no load is saved",
    previous="naive",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"MULTI": (8, 4, 2, 1)},
    budget=Budget(registers=48, global_bits=32, ffma_share=0.1),
)
