"""Blocks copied into panels: what is read one after another lies one behind another."""

from functools import cache

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.five_loops import OF_THE_SOURCE, blocks_for
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine import processors

COLUMNS = 128  # of b in one panel, and of c that are summed up at a time


@cache
def build(DERIVED):
    blocks = blocks_for(6, 16, processors.current().caches) if DERIVED else OF_THE_SOURCE
    BM, BK = blocks.mc, blocks.kc

    @njit
    def packed(a, b, c):
        m, k = a.shape
        n = b.shape[1]
        panels = (n + COLUMNS - 1) // COLUMNS
        block = np.empty((BM, BK), np.float32)
        # Panels keep zeros where b ends, so that the innermost loop has a constant length.
        packed_b = np.zeros((panels, BK, COLUMNS), np.float32)
        sums = np.empty(COLUMNS, np.float32)
        c[:, :] = float32(0)
        for first_k in range(0, k, BK):
            depth = min(BK, k - first_k)
            for i in range(depth):
                for col in range(n):
                    packed_b[col // COLUMNS, i, col % COLUMNS] = b[first_k + i, col]
            for first_row in range(0, m, BM):
                rows = min(BM, m - first_row)
                block[:rows, :depth] = a[first_row : first_row + rows, first_k : first_k + depth]
                for panel in range(panels):
                    for row in range(rows):
                        sums[:] = float32(0)
                        for i in range(depth):
                            # Flaw: the sums are loaded and stored for every i, and what is loaded
                            # of b serves one row only. Registers could hold several rows of sums.
                            factor, line = block[row, i], packed_b[panel, i]
                            for col in range(COLUMNS):
                                sums[col] += factor * line[col]
                        first_col = panel * COLUMNS
                        for col in range(min(COLUMNS, n - first_col)):
                            c[first_row + row, first_col + col] += sums[col]

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
