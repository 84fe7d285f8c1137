"""The naive loops shared out among all cores: what OpenMP calls `parallel for collapse(2)`."""

from numba import float32, njit, prange

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM


@njit(parallel=True)
def naive_parallel(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    # Both outer loops are one, so that there is work for all cores even when m is small. No two
    # turns write the same element, so that their order does not matter.
    for element in prange(m * n):
        row, col = element // n, element % n
        total = float32(0)
        for i in range(k):
            # Flaw: every core walks down the columns of b. The waiting is shared, not ended.
            total += a[row, i] * b[i, col]
        c[row, col] = total


STEP = Step(
    module=__name__,
    name="naive_parallel",
    idea="the naive loops on all cores with prange",
    previous="naive",
    task=GEMM,
    build=lambda: naive_parallel,
)
