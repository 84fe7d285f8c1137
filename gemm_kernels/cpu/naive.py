"""Three loops in the order m, n, k: the definition of the product.

The sum is in a register; Gray and others 2022 add to c in memory for every i.
"""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk


# Each element of c is a row of a times a column of b, as the definition says.
# Flaw: b is read down a column with a stride of n elements, so each read fetches a whole cache line
# for one element of it; and the additions must happen one after another, so the compiler cannot use
# vectors.
@kept_on_disk
@njit
def naive(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(n):
            # float32(0), because a plain 0.0 is a float64 and would make every addition one.
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total


STEP = Step(
    module=__name__,
    name="naive",
    idea="loops over m, n, k: walks down the columns of b",
    previous=None,
    task=GEMM,
    build=lambda: naive,
)
