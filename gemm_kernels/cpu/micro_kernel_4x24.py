"""4 rows of 3 vectors of 8: as many sums as 6×16, but 7 loads instead of 8."""

import numpy as np
from numba import float32, njit

from gemm_kernels.cpu.engine.matrices import matrix, part, row_of
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.cpu.engine.tiles import tile_adder
from utils.intrinsics.simd import broadcast, fmadd_row, load_row, zero_row
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk

MC, KC = 64, 256
ROWS, LANES, VECTORS = 4, 8, 3
COLUMNS = LANES * VECTORS

add = tile_adder(ROWS, LANES, VECTORS)


# c of 4×24, row by row. Read in column-major order the same memory holds c transposed, and this is
# the 24×4 tile of BLAS: vectors run down the columns, and a and b exchange their roles.
@njit(error_model="numpy")
def tile_4x24(a, b, c):
    a0, a1, a2, a3 = row_of(a, 0), row_of(a, 1), row_of(a, 2), row_of(a, 3)
    c0 = c1 = c2 = c3 = zero_row(LANES, VECTORS)
    for p in range(a.width):
        # 12 sums, 3 vectors of b and one element of a take all 16 registers of AVX2.
        row = load_row(b, p * COLUMNS, LANES, VECTORS)
        c0 = fmadd_row(broadcast(a0, p, LANES), row, c0)
        c1 = fmadd_row(broadcast(a1, p, LANES), row, c1)
        c2 = fmadd_row(broadcast(a2, p, LANES), row, c2)
        c3 = fmadd_row(broadcast(a3, p, LANES), row, c3)
    add(c, (c0, c1, c2, c3))


# A wider tile needs fewer loads, and 4 rows of a are few enough to be read without a copy.
# Flaw: the blocks fit another processor's caches, and b is copied before it is read.
@kept_on_disk
@njit
def micro_kernel_4x24(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    panels = np.zeros((-(-n // COLUMNS), KC, COLUMNS), np.float32)
    c[:, :] = float32(0)
    for pc in range(0, k, KC):
        kc = min(KC, k - pc)
        pack_panels(b[pc : pc + kc], panels)
        for ic in range(0, m, MC):
            for jr in range(0, n, COLUMNS):
                panel = panels[jr // COLUMNS]
                for ir in range(ic, min(ic + MC, m), ROWS):
                    tile = part(matrix(c), ir, jr, ROWS, COLUMNS)
                    tile_4x24(part(matrix(a), ir, pc, ROWS, kc), panel.ravel(), tile)


STEP = Step(
    module=__name__,
    name="micro_kernel_4x24",
    idea="4×24 of c: fewer loads, and a is read where it lies",
    previous="micro_kernel_6x16",
    task=GEMM,
    build=lambda: micro_kernel_4x24,
)
