"""Intrinsics that Numba lacks: wide memory accesses, copies, tensor cores, and CPU vectors.

A second compiler would need these files again and no others. Where numba-cuda-mlir is installed,
its kernels call the same functions. Code that knows a particular kernel does not belong here.
"""

from importlib.util import find_spec

if find_spec("numba_cuda_mlir"):
    import utils.intrinsics.fences_mlir
    import utils.intrinsics.tensor_mlir
    import utils.intrinsics.wide_memory_mlir  # noqa: F401
