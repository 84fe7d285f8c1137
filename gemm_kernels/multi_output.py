"""One thread computes MULTI elements of a row of c, so it reads each element of a once.

Córdoba 2016 computes the columns one by one, as `multi_output_by_column` does; here k is the outer
loop and the sums stay in registers.
"""

from functools import cache

from numba import cuda, float32, uint32

from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

WIDTH, HEIGHT = BLOCK = (32, 8)


@cache
def build(MULTI, APART):
    """Return the kernel (a, b, c) that computes c = a·b, with MULTI elements of a row per thread.

    The columns of these elements are APART columns apart. APART is 1 or WIDTH.
    """

    # One element of a serves MULTI multiply-adds; flaw: each multiply-add still needs its own load
    # of an element of b from global memory.
    @cuda.jit
    def multi_output(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row = uint32(cuda.blockIdx.y * HEIGHT + y)
        # A block covers MULTI·WIDTH columns. Neighbours take neighbouring groups of MULTI columns
        # (APART = 1), or neighbouring columns of the first WIDTH (APART = WIDTH).
        col = uint32(cuda.blockIdx.x * (MULTI * WIDTH) + x // APART * APART * MULTI + x % APART)
        if row >= m or col >= n:
            return

        totals = cuda.local.array(MULTI, float32)
        # range() of a constant is unrolled, so that each element of totals is a register.
        for j in range(MULTI):
            totals[j] = float32(0)
        i = 0
        while i < k:
            from_a = a[row, i]
            for j in range(MULTI):
                # With APART = 1, the lanes of a warp read with a stride of MULTI columns: that is
                # MULTI times the sectors.
                if col + j * APART < n:
                    totals[j] += from_a * b[i, col + j * APART]
            i += 1

        for j in range(MULTI):
            if col + j * APART < n:
                c[row, col + j * APART] = totals[j]

    return multi_output


def launch(shape, MULTI, APART):
    """Return a launch that covers c with HEIGHT rows and MULTI·WIDTH columns per block.

    Axis x of the grid counts columns, and axis y rows. APART has no influence on it.
    """
    return Launch(grid=(cdiv(shape.n, MULTI * WIDTH), cdiv(shape.m, HEIGHT)), block=BLOCK)


STEP = Step(
    module=__name__,
    name="multi_output",
    idea="MULTI elements of a row of c per thread: one load of a serves them all",
    previous="naive",
    task=GEMM,
    build=build,
    launch=launch,
    choices={"MULTI": (8, 4, 2, 1), "APART": (WIDTH, 1)},
    budget=Budget(registers=64, global_bits=32, ffma_share=0.15),
)
