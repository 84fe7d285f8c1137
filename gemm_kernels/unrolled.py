"""One thread computes one element of c and takes UNROLL steps of k per iteration of its loop."""

from functools import cache

from numba import cuda, float32, uint32

from gemm_kernels import naive
from utils.ladder.step import Budget, Step
from utils.ladder.tasks import GEMM


@cache
def build(UNROLL):
    """Return the kernel (a, b, c) that computes c = a·b, with one element of c per thread.

    Its loop over k makes UNROLL multiply-adds per iteration.
    """

    # UNROLL steps of k share one comparison and one branch, and their loads can all be in flight;
    # flaw: two loads from global memory still feed one multiply-add, however many are unrolled.
    @cuda.jit
    def unrolled(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        x, y = cuda.grid(2)
        row, col = uint32(y), uint32(x)
        if row >= m or col >= n:
            return

        total = float32(0)
        i = 0
        whole = k - k % UNROLL
        # One comparison and one branch serve UNROLL multiply-adds. The 2·UNROLL loads do not depend
        # on each other, so as many as there are registers for can be in flight at once. In `naive`,
        # the compiler itself unrolls four iterations of the loop.
        while i < whole:
            # range() of a constant leaves no loop behind: the compiler unrolls it.
            for u in range(UNROLL):
                total += a[row, i + u] * b[i + u, col]
            i += UNROLL
        # k need not be a multiple of UNROLL.
        while i < k:
            total += a[row, i] * b[i, col]
            i += 1
        c[row, col] = total

    return unrolled


STEP = Step(
    module=__name__,
    name="unrolled",
    idea="the loop over k takes UNROLL steps a turn: less bookkeeping, more loads under way",
    previous="naive",
    task=GEMM,
    build=build,
    launch=lambda shape, UNROLL: naive.launch(shape),
    choices={"UNROLL": (4, 16, 2, 8, 1)},
    budget=Budget(registers=64, global_bits=32, ffma_share=0.15),
)
