"""One rectangle of c for each core, and the widest micro-kernel in all of them."""

from functools import cache

from numba import config, float32, get_num_threads, njit, prange

from gemm_kernels.cpu.engine.five_loops import FLOAT_BYTES, workspace
from gemm_kernels.cpu.engine.widest import multiplication
from utils.intrinsics.simd import pointer
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM

# Sides of a rectangle are multiples of a vector, and of the rows of a tile.
GRAIN = 16


@cache
def build():
    multiply = multiplication()
    memory = workspace(config.NUMBA_NUM_THREADS)
    address, room = memory.ctypes.data, memory.shape[1]

    @njit
    def rectangle(a, b, c, first_row, first_col, height, width, place):
        k, n = b.shape
        x = pointer(a.ravel(), first_row * k)
        y = pointer(b.ravel(), first_col)
        z = pointer(c.ravel(), first_row * n + first_col)
        one, zero = float32(1), float32(0)
        multiply(height, width, k, one, x, k, 1, y, n, 1, zero, z, n, place, room)

    @njit(parallel=True)
    def parallel(a, b, c):
        m, n = c.shape
        threads = get_num_threads()
        across = _columns(m, n, threads)
        height, width = _side(m, threads // across), _side(n, across)
        # Each thread packs what it needs into a part of its own and writes elements that no other
        # thread writes. Flaw: the threads of a column of rectangles all pack the same part of b.
        for thread in prange(threads):
            row, col = thread // across * height, thread % across * width
            if row < m and col < n:
                rows, columns = min(height, m - row), min(width, n - col)
                place = address + thread * room * FLOAT_BYTES
                rectangle(a, b, c, row, col, rows, columns, place)

    return parallel


@njit
def _columns(m, n, threads):
    """How many rectangles to lay side by side: their sides should be as equal as can be."""
    best = 1
    for across in range(1, threads + 1):
        if threads % across == 0:
            sides = m * across // threads + n // across
            # Of equal sums the one with more columns: rectangles side by side share no part of b.
            if sides <= m * best // threads + n // best:
                best = across
    return best


@njit
def _side(length, pieces):
    per_piece = (length + pieces - 1) // pieces
    return (per_piece + GRAIN - 1) // GRAIN * GRAIN


STEP = Step(
    module=__name__,
    name="parallel",
    idea="one rectangle of c for each core",
    previous="micro_kernel_avx512",
    task=GEMM,
    build=build,
)
