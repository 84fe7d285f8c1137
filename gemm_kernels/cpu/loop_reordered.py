"""The same three loops in the order m, k, n: all reads run along rows."""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk


# The innermost loop runs along a row of b and a row of c, and its additions do not depend on each
# other, so the compiler makes vector instructions of them.
# Flaw: c is loaded and stored again for every i, and all of b passes through the cache for every
# row of a.
@kept_on_disk
@njit
def loop_reordered(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    for row in range(m):
        # c[row] is now a running sum, so it must start at zero.
        for col in range(n):
            c[row, col] = float32(0)
        for i in range(k):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col]


STEP = Step(
    module=__name__,
    name="loop_reordered",
    idea="loops over m, k, n: walks along the rows of b and c",
    previous="naive",
    task=GEMM,
    build=lambda: loop_reordered,
)
