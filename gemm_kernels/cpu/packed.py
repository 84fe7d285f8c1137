"""Blocks copied into panels: what is read one after another lies one behind another.

The source's panels of b have 6 columns, made for its micro-kernel; these have 128, made for a loop
of the compiler.
"""

from functools import cache

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.blocks import OF_THE_SOURCE, blocks_for
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine import processors

COLUMNS = 128  # of b in one panel, and of c that are summed up at a time


@cache
def build(DERIVED):
    blocks = blocks_for(6, 16, processors.current().caches) if DERIVED else OF_THE_SOURCE
    MC, KC = blocks.mc, blocks.kc

    # A block of a and panels of b are copied together before they are read many times.
    # Flaw: the sums are loaded and stored for every p, and what is loaded of b serves one row only.
    # Registers could hold several rows of sums.
    @njit
    def packed(a, b, c):
        (m, k), n = a.shape, b.shape[1]
        block = np.empty((MC, KC), np.float32)
        # Panels keep zeros where b ends, so that the innermost loop has a constant length.
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
