"""Blocks of a and b that fit into the caches are used completely before the next ones are read."""

from numba import float32, njit

from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk

# The blocks of Gray and others 2022: 64×256 of a, and 256 whole rows of b.
MC, KC = 64, 256


# The KC rows of b are the same for all MC rows of a, and stay in the cache.
# Flaw: rows of b have a stride of n elements, each on pages of its own, and a whole row of c is
# still loaded and stored for every p.
@kept_on_disk
@njit
def blocked(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    c[:, :] = float32(0)
    for pc in range(0, k, KC):
        kc = min(KC, k - pc)
        for ic in range(0, m, MC):
            mc = min(MC, m - ic)
            for row in range(ic, ic + mc):
                # Views of one row: their indices start at 0, which the compiler must know to be
                # sure that none is negative before it makes vector instructions.
                sums = c[row]
                for p in range(pc, pc + kc):
                    factor, line = a[row, p], b[p]
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
