"""The memory fences of `cuda`, for which numba-cuda-mlir 0.6.0 has types but no operations.

They are those of Numba: of a block, of the device, and of the system.
"""

from __future__ import annotations

from collections.abc import Callable

from numba_cuda_mlir import cuda
from numba_cuda_mlir.extending import lower_builtin, refresh_registries

from utils.intrinsics.wide_memory_mlir import assembled


def _fence(instruction: str) -> Callable:
    """Return the lowering function of a fence; instruction: its PTX, such as "membar.gl"."""

    def lowered(builder, target, arguments, keywords):
        assembled(f"{instruction};", "", [])
        builder.store_var(target, None)

    return lowered


lower_builtin(cuda.threadfence_block)(_fence("membar.cta"))
lower_builtin(cuda.threadfence)(_fence("membar.gl"))
lower_builtin(cuda.threadfence_system)(_fence("membar.sys"))
refresh_registries(typing=False)
