"""A call of cuBLAS itself, for a program whose matrices are stored by rows."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from utils.machine.versions import cupy


def with_cublas(call_by_rows: Callable, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Return the NumPy array of float32 that cuBLAS leaves in c; None if GPU or CuPy is missing.

    call_by_rows: takes `sgemm`, a, b and c, as in the exercise of this name. a, b: float32 arrays
    by rows, (m, k) and (k, n).
    """
    if (xp := cupy()) is None:
        return None
    c = xp.asarray(np.zeros((a.shape[0], b.shape[1]), np.float32))
    call_by_rows(sgemm_of(xp), xp.asarray(a), xp.asarray(b), c)
    return c.get()


def sgemm_of(xp: ModuleType) -> Callable:
    """Return cuBLAS's `sgemm` as a function (m, n, k, a, lda, b, ldb, c, ldc) that returns None.

    It computes c = a·b of column-major arrays of CuPy, without transposing either. xp: the module
    CuPy.
    """
    from cupy_backends.cuda.libs import cublas

    handle, as_it_is = xp.cuda.Device().cublas_handle, cublas.CUBLAS_OP_N
    alpha, beta = np.ones(1, np.float32), np.zeros(1, np.float32)

    def sgemm(m, n, k, a, lda, b, ldb, c, ldc) -> None:
        cublas.sgemm(handle, as_it_is, as_it_is, m, n, k, alpha.ctypes.data, a.data.ptr, lda,
                     b.data.ptr, ldb, beta.ctypes.data, c.data.ptr, ldc)  # fmt: skip

    return sgemm
