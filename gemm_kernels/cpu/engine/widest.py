"""The multiplication by the micro-kernel with the widest vectors of this processor."""

from collections.abc import Callable

from gemm_kernels.cpu import micro_kernel_avx2, micro_kernel_avx512
from gemm_kernels.cpu.engine.five_loops import five_loops
from utils.machine import processors


def multiplication() -> Callable:
    """Return the function that `five_loops` describes. Without AVX2 its vectors of 8 are split."""
    widest = micro_kernel_avx512 if processors.lanes() == 16 else micro_kernel_avx2
    return five_loops(widest.tile_of, widest.ROWS, widest.LANES, widest.VECTORS)
