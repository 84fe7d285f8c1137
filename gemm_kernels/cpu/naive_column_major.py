"""The naive loops on column-major arrays, as in BLAS: the long stride stays.

NumPy stores rows. The memory of c, read by columns, is c transposed, which is b transposed times a
transposed: so the two inputs are exchanged, and none is copied.
"""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk


# The same three loops. Their b is now read with stride 1, and their a, along its row, with the
# stride between its columns.
# Flaw: their a is the b that was passed in; each read of it fetches a whole cache line, as before.
@kept_on_disk
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
