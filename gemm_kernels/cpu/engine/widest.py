"""The multiplication by the micro-kernel with the widest vectors of this processor."""

from collections.abc import Callable

from gemm_kernels.cpu import micro_kernel_avx2, micro_kernel_avx512
from gemm_kernels.cpu.engine.five_loops import five_loops
from utils.machine import processors


def multiplication() -> Callable:
    """Return multiply(alpha, a, b, beta, c, memory) of `five_loops` with the widest micro-kernel.

    It computes c = alpha·a·b + beta·c. The micro-kernel is the one for AVX-512 if the processor has
    it, and otherwise the one for AVX2. Without AVX2, the compiler splits its vectors of 8.
    """
    widest = micro_kernel_avx512 if processors.lanes() == 16 else micro_kernel_avx2
    return five_loops(widest.tile_of, widest.ROWS, widest.LANES, widest.VECTORS)
