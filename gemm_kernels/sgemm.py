"""`sgemm`: the product as a person would ask for it. Any shape, any layout, alpha and beta."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from gemm_kernels import autotuned, warp_tiled
from gemm_kernels.parts.blocks import WIDE
from gemm_kernels.parts.slices import products
from utils.errors import CourseError
from utils.intrinsics.wide_memory import WIDE_BYTES
from utils.ladder.memory import on_device
from utils.ladder.shapes import GemmShape
from utils.ladder.tasks import check_float32, product_sizes
from utils.machine.versions import explained

BLOCK = (32, 8)


@cuda.jit
def fitted(x, out):
    """x, m×n with any strides, in the upper left of out, which may be larger; zeros elsewhere."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        inside = row < x.shape[0] and col < x.shape[1]
        out[row, col] = x[row, col] if inside else float32(0)


@cuda.jit
def blend(product, alpha, beta, out):
    """out = alpha·product + beta·out, m×n; with beta = 0 nothing of out is read."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        value = alpha * product[row, col] if alpha != float32(0) else float32(0)
        if beta != float32(0):
            value += beta * out[row, col]
        out[row, col] = value


def sgemm(a, b, out=None, alpha: float = 1.0, beta: float = 0.0):
    """alpha·(a·b) + beta·out in strict float32, by the step that is fastest here for the shape.

    a: float32, m×k; b: float32, k×n; out: float32, m×n, or None for a new array. On the host
    (NumPy) or on the device (Numba, CuPy, PyTorch), with any strides.
    Returns out; a new array is on the device if a or b is, and on the host otherwise.
    As in BLAS: beta = 0 does not read out, alpha = 0 reads neither a nor b, NaN and infinity go
    through, and where k = 0 the product is zero.
    Raises CourseError for another dtype, for arrays that are not 2-D or whose shapes do not chain,
    and where out shares memory with a or b.
    """
    m, n = _check(a, b, out)
    on_host = not any(_on_device(array) for array in (a, b))
    if out is None:
        if beta != 0:
            raise CourseError(f"beta is {beta} and there is no out to scale: give out, or beta=0.")
        out = np.empty((m, n), np.float32) if on_host else cuda.device_array((m, n), np.float32)
    if m and n:
        with explained():
            _into(a, b, out, alpha, beta)
    return out


def _into(a, b, out, alpha: float, beta: float) -> None:
    target = _to_device(out, copy=beta != 0)
    (m, n), k = target.shape, a.shape[1]
    columns = -(-n // WIDE) * WIDE
    scaled = alpha == 1 or (alpha != 0 and _has_autotuned())
    direct = scaled and beta == 0 and k > 0 and columns == n and _fits(target)
    product = target if direct else cuda.device_array((m, columns), np.float32)
    if alpha != 0 and k > 0:
        depth = -(-k // WIDE) * WIDE
        inputs = _wide(_to_device(a), m, depth), _wide(_to_device(b), depth, columns)
        _multiply(*inputs, product, alpha if direct else 1.0)
    if not direct:
        factor = np.float32(alpha if k > 0 else 0)
        _over(target)(blend)(product, factor, np.float32(beta), target)
    if not _on_device(out):
        out[...] = target.copy_to_host()


def _multiply(a, b, product, alpha: float) -> None:
    """product = alpha·a·b by the fastest step that this device can run."""
    shape = GemmShape(a.shape[0], b.shape[1], a.shape[1])
    step = autotuned.STEP if _has_autotuned() else warp_tiled.STEP
    variant = step.variant().at(shape)
    if step is autotuned.STEP:
        calls = products(variant, shape, (a, b), product, on_device, alpha)
    else:
        calls = variant.calls(shape, (a, b), product)
    for call in calls:
        call.bound()()


def _has_autotuned() -> bool:
    """Whether this device can run it. It multiplies by alpha, and `warp_tiled` does not."""
    return autotuned.STEP.runs_on(cuda.get_current_device().compute_capability)


def _check(a, b, out) -> tuple[int, int]:
    """(m, n) of the product, where the arrays chain."""
    given = {"a": a, "b": b} | ({} if out is None else {"out": out})
    for name, array in given.items():
        check_float32(name, array, ndim=2)
    m, n, _ = product_sizes(a, b)
    if out is not None and tuple(out.shape) != (m, n):
        raise CourseError(
            f"out is {out.shape[0]}×{out.shape[1]} and the product is {m}×{n}: give an out of "
            f"{m}×{n}, or none."
        )
    for name in ("a", "b"):
        if out is not None and _overlap(given[name], out):
            raise CourseError(
                f"out shares memory with {name}, which would change while it is read: give "
                "another out."
            )
    return m, n


def _on_device(array) -> bool:
    return hasattr(array, "__cuda_array_interface__") or not isinstance(array, np.ndarray)


def _to_device(array, copy: bool = True):
    """The array as Numba's device array; from the host its content only if `copy`."""
    if isinstance(array, np.ndarray):
        array = np.ascontiguousarray(array) if copy else array
        return cuda.to_device(array) if copy else cuda.device_array(array.shape, np.float32)
    return cuda.as_cuda_array(array) if hasattr(array, "__cuda_array_interface__") else array


def _wide(array, rows: int, columns: int):
    """The array if it can be read by 128 bits at a time, or a copy of rows×columns that can."""
    if tuple(array.shape) == (rows, columns) and _fits(array):
        return array
    copy = cuda.device_array((rows, columns), np.float32)
    _over(copy)(fitted)(array, copy)
    return copy


def _fits(array) -> bool:
    """Whether rows follow each other without a gap, from a boundary of 16 bytes on."""
    return array.is_c_contiguous() and _address(array) % WIDE_BYTES == 0


def _address(array) -> int:
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface["data"][0] if interface else 0


def _overlap(one, other) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if _on_device(one) != _on_device(other) or not (_address(one) and _address(other)):
        return one is other
    ends = [_address(array) + array.nbytes for array in (one, other)]
    return _address(one) < ends[1] and _address(other) < ends[0]


def _over(array):
    """Launch a kernel with a thread for each element of a 2-D array."""
    rows, columns = array.shape
    grid = -(-columns // BLOCK[0]), -(-rows // BLOCK[1])
    return lambda kernel: kernel[grid, BLOCK]
