"""Blocks copied into panels, so that elements are adjacent in the order in which they are read.

The panels of b in Gray and others 2022 have 6 columns, made for their micro-kernel; these have 128,
made for a loop of the compiler.
"""

from functools import cache

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.blocks import FLOAT_BYTES
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine import processors
from utils.machine.machine_code_cache import kept_on_disk

COLUMNS = 128  # the columns of b in one panel, and of c that are summed at a time
# As in Gray and others 2022: blocks of 64×256 of a, and 256 whole rows of b; the micro-kernel is
# theirs, transposed: 6×16 of c.
PUBLISHED, TILE_ROWS, TILE_COLUMNS = (64, 256), 6, 16


def derived(l1: int, l2: int, l3: int) -> tuple[int, int]:
    """Return (mc, kc), the rows and columns of a block of a, from the cache sizes in bytes.

    A panel of b takes half of L1, and a block of a takes a quarter of L2. The size of L3 has no
    influence.
    """
    kc = l1 // FLOAT_BYTES // 2 // TILE_COLUMNS
    return l2 // FLOAT_BYTES // 4 // kc // TILE_ROWS * TILE_ROWS, kc


@cache
def build(DERIVED):
    """Return the compiled function (a, b, c) that computes c = a·b on one thread.

    If DERIVED is 1, its block sizes follow this processor's caches. If it is 0, they are those of
    Gray and others 2022.
    """
    MC, KC = derived(*processors.caches()) if DERIVED else PUBLISHED

    # A block of a and panels of b are copied together before they are read many times.
    # Flaw: the sums are loaded and stored for every p, and each loaded element of b serves one row
    # only. Registers could hold several rows of sums.
    @kept_on_disk
    @njit
    def packed(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        block = np.empty((MC, KC), np.float32)
        # Panels keep zeros past the end of b, so that the innermost loop has a constant length.
        panels = np.zeros((-(-n // COLUMNS), KC, COLUMNS), np.float32)
        sums = np.empty(COLUMNS, np.float32)
        c[:, :] = float32(0)
        for pc in range(0, k, KC):
            kc = min(KC, k - pc)
            for p in range(kc):
                for col in range(n):
                    panels[col // COLUMNS, p, col % COLUMNS] = b[pc + p, col]
            for ic in range(0, m, MC):
                mc = min(MC, m - ic)
                block[:mc, :kc] = a[ic : ic + mc, pc : pc + kc]
                for jr in range(0, n, COLUMNS):
                    panel = panels[jr // COLUMNS]
                    for row in range(mc):
                        sums[:] = float32(0)
                        for p in range(kc):
                            factor, line = block[row, p], panel[p]
                            for col in range(COLUMNS):
                                sums[col] += factor * line[col]
                        for col in range(min(COLUMNS, n - jr)):
                            c[ic + row, jr + col] += sums[col]

    return packed


STEP = Step(
    module=__name__,
    name="packed",
    idea="a block of a and panels of b are copied together first",
    previous="blocked",
    task=GEMM,
    build=build,
    choices={"DERIVED": (0, 1)},
)
