"""6 rows of 2 vectors of 8, written with loads, broadcasts and FMAs.

The 16×6 of Gray and others 2022 is column-major. Row by row, the same memory is 6×16, and a and b
exchange their roles. Its block of 64 rows is 66 here, a multiple of 6, and c is added when the sums
are done, not before.
"""

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.matrices import matrix, part
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.cpu.engine.tiles import tile_adder
from utils.intrinsics.simd import broadcast, fmadd, loadu, set1
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk

MC, KC = 66, 256
ROWS, COLUMNS = 6, 16

add = tile_adder(ROWS, lanes=8, vectors=2)


@njit(error_model="numpy")
def tile_6x16(kc, a, b, c):
    c00 = c01 = c10 = c11 = c20 = c21 = c30 = c31 = c40 = c41 = c50 = c51 = set1(float32(0), 8)
    for p in range(kc):
        # 2 loads and 6 broadcasts for 12 multiply-adds. 12 sums, 2 vectors of b and one element of
        # a at a time take 15 of the 16 registers of AVX2.
        b0, b1, i = loadu(b, p * COLUMNS, 8), loadu(b, p * COLUMNS + 8, 8), p * ROWS
        a0, a1, a2 = broadcast(a, i, 8), broadcast(a, i + 1, 8), broadcast(a, i + 2, 8)
        a3, a4, a5 = broadcast(a, i + 3, 8), broadcast(a, i + 4, 8), broadcast(a, i + 5, 8)
        c00, c01 = fmadd(a0, b0, c00), fmadd(a0, b1, c01)
        c10, c11 = fmadd(a1, b0, c10), fmadd(a1, b1, c11)
        c20, c21 = fmadd(a2, b0, c20), fmadd(a2, b1, c21)
        c30, c31 = fmadd(a3, b0, c30), fmadd(a3, b1, c31)
        c40, c41 = fmadd(a4, b0, c40), fmadd(a4, b1, c41)
        c50, c51 = fmadd(a5, b0, c50), fmadd(a5, b1, c51)
    add(c, ((c00, c01), (c10, c11), (c20, c21), (c30, c31), (c40, c41), (c50, c51)))


# Each loaded element of b serves 6 rows, and 12 sums stay in registers for KC steps.
# Flaw: 8 loads for 12 multiply-adds, and a is copied though its rows are contiguous.
@kept_on_disk
@njit
def micro_kernel_6x16(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    block = np.zeros((MC // ROWS, KC, ROWS), np.float32)
    panels = np.zeros((-(-n // COLUMNS), KC, COLUMNS), np.float32)
    c[:, :] = float32(0)
    for pc in range(0, k, KC):
        kc = min(KC, k - pc)
        pack_panels(b[pc : pc + kc], panels)
        for ic in range(0, m, MC):
            mc = min(MC, m - ic)
            # Packed like b, from the transpose, so that the 6 elements of a column are adjacent.
            pack_panels(a[ic : ic + mc, pc : pc + kc].T, block)
            for jr in range(0, n, COLUMNS):
                panel = panels[jr // COLUMNS]
                for ir in range(0, mc, ROWS):
                    tile = part(matrix(c), ic + ir, jr, ROWS, COLUMNS)
                    tile_6x16(kc, block[ir // ROWS].ravel(), panel.ravel(), tile)


STEP = Step(
    module=__name__,
    name="micro_kernel_6x16",
    idea="6×16 of c in 12 registers of 8 lanes; the 16×6 of Gray and others 2022",
    previous="packed",
    task=GEMM,
    build=lambda: micro_kernel_6x16,
)
