"""Blocks of a and of b that fit into the caches are used up before the next ones are touched."""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM

# The source's blocks: 64×256 of a, and 256 whole rows of b.
BM, BK = 64, 256


@njit
def blocked(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    c[:, :] = float32(0)
    for first_k in range(0, k, BK):
        for first_row in range(0, m, BM):
            for row in range(first_row, min(first_row + BM, m)):
                # Views of one row: their indices start at 0, which the compiler must know to be
                # sure that none is negative before it makes vector instructions.
                sums = c[row]
                # The 256 rows of b are the same for all 64 rows of a, and stay in the cache.
                for i in range(first_k, min(first_k + BK, k)):
                    # Flaw: rows of b lie n elements apart, each on pages of its own, and a whole
                    # row of c is still loaded and stored for every i.
                    factor, line = a[row, i], b[i]
                    for col in range(n):
                        sums[col] += factor * line[col]


STEP = Step(
    module=__name__,
    name="blocked",
    idea="64×256 of a meets 256 rows of b while they are in the cache",
    previous="loop_reordered",
    task=GEMM,
    build=lambda: blocked,
)
