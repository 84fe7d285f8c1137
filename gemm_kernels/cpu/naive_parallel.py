"""The naive loops on all cores, which OpenMP calls `parallel for collapse(2)`.

Each core has a fixed share of the m·n elements; Araujo assigns them one at a time
(`schedule(dynamic, 1)`).
"""

from numba import float32, njit, prange

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk


# The elements of c are computed at the same time, by as many threads as there are cores.
# Flaw: every core reads down the columns of b. The waiting is shared, not ended.
@kept_on_disk
@njit(parallel=True)
def naive_parallel(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    # Both outer loops are one, so that there is work for all cores even when m is small. No two
    # iterations write the same element, so their order does not matter.
    for element in prange(m * n):
        row, col = element // n, element % n
        total = float32(0)
        for i in range(k):
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
