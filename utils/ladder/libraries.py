"""Libraries that ladders are measured against, bound to arrays as functions without arguments.

oneDNN is used if it is installed: `pip install onednn-cpu-gomp` installs it, and any other libdnnl
that the loader finds will do. The environment variable ONEDNN_MAX_CPU_ISA=AVX2 limits oneDNN to
AVX2; oneDNN reads it once, before the first call.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from utils.machine.versions import cupy

Execution = Callable[[], object]


@dataclass(frozen=True)
class Library:
    """A library that computes what a ladder's steps compute.

    `name` is the name in records and figures. `bind(inputs, out)` returns a function without
    arguments that computes once into an array of its own, like `out`; it returns None if the
    library is not installed.
    """

    name: str
    bind: Callable[[tuple, object], Execution | None]


def _bind_cublas(inputs: tuple, out) -> Execution | None:
    """Return a function () that computes c = a·b by cuBLAS, through CuPy.

    The result goes into an array other than `out`. Returns None without CuPy or a GPU. Raises
    CourseError if the environment variable CUPY_TF32 requests TF32.
    """
    xp = cupy()
    if xp is None:
        return None
    a, b = map(xp.asarray, inputs)
    return partial(xp.matmul, a, b, out=xp.empty(out.shape, np.float32))


def _bind_cublas_tensor(inputs: tuple, out) -> Execution | None:
    """Return a function () that computes c = a·b of 16-bit matrices by cuBLAS, through CuPy.

    uint16 means the bits of bfloat16. cuBLAS adds and stores in float32, as the steps do, in an
    array other than `out`. Returns None without CuPy or a GPU. Raises CourseError if the
    environment variable CUPY_TF32 requests TF32.
    """
    xp = cupy()
    if xp is None:
        return None
    # CuPy's own product of float16 stores float16.
    from cupy_backends.cuda.libs import cublas

    a, b = map(xp.asarray, inputs)
    c = xp.empty(out.shape, np.float32)
    (m, k), n = a.shape, b.shape[1]
    kind = _CUDA_TYPES[str(a.dtype)]
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    handle = xp.cuda.device.get_cublas_handle()

    def execute() -> None:
        # For cuBLAS a matrix is column after column, so it multiplies the transposed matrices.
        cublas.gemmEx(
            *(handle, cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, n, m, k),
            *(one.ctypes.data, b.data.ptr, kind, n, a.data.ptr, kind, k),
            *(zero.ctypes.data, c.data.ptr, _CUDA_TYPES["float32"], n),
            *(cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT),
        )

    return execute


# cudaDataType of CUDA's library_types.h.
_CUDA_TYPES = {"float32": 0, "float16": 2, "uint16": 14}


def _bind_cub(inputs: tuple, out) -> Execution | None:
    """Return a function () that sums an array by CUB, through CuPy; it does not store into `out`.

    Returns None without CuPy or a GPU. Makes CuPy use CUB for all its reductions from now on.
    """
    xp = cupy()
    if xp is None:
        return None
    # Otherwise cupy.sum is a kernel of CuPy's own and not cub::DeviceReduce.
    xp._core.set_routine_accelerators(["cub"])
    return partial(xp.sum, xp.asarray(inputs[0]), out=xp.empty((), np.float32))


def _bind_numpy(inputs: tuple, out: np.ndarray) -> Execution:
    """Return a function () that computes a·b by NumPy's matmul, into an array other than `out`."""
    return partial(np.matmul, *inputs, out=np.empty_like(out))


_SIZE, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_ARGUMENTS = (
    *(ctypes.c_char, ctypes.c_char, _SIZE, _SIZE, _SIZE, _FLOAT),
    *(_POINTER, _SIZE, _POINTER, _SIZE, _FLOAT, _POINTER, _SIZE),
)


@cache
def _sgemm():
    """Return oneDNN's C function `dnnl_sgemm`, for row-major matrices; None without libdnnl."""
    installed = sorted(Path(sys.prefix, "lib").glob("libdnnl.so*"))
    for name in (*map(str, installed), ctypes.util.find_library("dnnl"), "libdnnl.so.3"):
        try:
            function = ctypes.CDLL(name).dnnl_sgemm if name else None
        except (OSError, AttributeError):
            continue
        if function:
            function.argtypes = _ARGUMENTS
            return function
    return None


def _bind_onednn(inputs: tuple, out) -> Execution | None:
    """Return a function () that computes c = a·b by oneDNN's sgemm; None without libdnnl.

    The result goes into an array other than `out`.
    """
    function = _sgemm()
    if function is None:
        return None
    (a, b), c = inputs, out.copy()
    (m, k), n = a.shape, b.shape[1]
    pointers = (array.ctypes.data_as(_POINTER) for array in (a, b, c))
    a_pointer, b_pointer, c_pointer = pointers
    return partial(
        function, b"N", b"N", m, n, k, 1.0, a_pointer, k, b_pointer, n, 0.0, c_pointer, n
    )


CUBLAS = Library("cuBLAS", _bind_cublas)
CUBLAS_TENSOR = Library("cuBLAS", _bind_cublas_tensor)
CUB = Library("CUB (CuPy)", _bind_cub)
NUMPY_BLAS = Library("NumPy BLAS", _bind_numpy)
ONEDNN = Library("oneDNN", _bind_onednn)
