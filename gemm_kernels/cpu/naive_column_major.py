"""The naive loops on column-major arrays, as BLAS has them: the long stride stays.

NumPy stores rows. The memory of c, read by columns, is c transposed, and that is b transposed times
a transposed: so the arrays come in exchanged, and none is copied.
"""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM


# The same three loops. What they call b is read with stride 1 now, and what they call a, along its
# row, with the distance of its columns.
# Flaw: that is b as it was handed over; each read of it fetches a whole cache line, as before.
@njit
def naive_column_major(a, b, c):
    # Column-major arrays for Numba as well: the views copy nothing.
    a, b, c = b.T, a.T, c.T
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total


STEP = Step(
    module=__name__,
    name="naive_column_major",
    idea="the naive loops on column-major arrays, as BLAS has them",
    previous="naive",
    task=GEMM,
    build=lambda: naive_column_major,
)
