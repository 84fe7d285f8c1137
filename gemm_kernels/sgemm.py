"""`sgemm`: the product as a person would ask for it. Any shape, any layout, alpha and beta."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda, float32

from gemm_kernels import autotuned, warp_tiled
from gemm_kernels.dispatch import routes
from gemm_kernels.parts import strided
from gemm_kernels.parts.blocks import WIDE
from gemm_kernels.parts.slices import ONE, products
from utils.errors import CourseError
from utils.ladder.memory import Allocate
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Call, Launch, Variant
from utils.ladder.tasks import check_float32, product_sizes
from utils.launching import arrays, driver
from utils.launching.arrays import Argument, look
from utils.launching.plan import Plan, Plans
from utils.launching.slots import Factor, Slot
from utils.launching.workspace import Layout
from utils.machine import devices
from utils.machine.versions import explained

BLOCK = (32, 8)
ALPHA, BETA = Factor(0), Factor(1)


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


@dataclass(frozen=True, eq=False)
class Product:
    """What is known of all products with arrays like these.

    run: (pointers, factors, stream, arrays) -> None. stream: () -> where it goes if none is given.
    meets_a, meets_b: an input so many bytes beyond out, more than the first and less than the
    second number, has memory in common with it.
    """

    run: Callable
    stream: Callable[[], int]
    meets_a: tuple[int, int]
    meets_b: tuple[int, int]


PLANS = Plans()
Arguments = tuple[Argument, Argument, Argument]  # a, b, out


def sgemm(a, b, out=None, alpha: float = 1.0, beta: float = 0.0, stream=None):
    """alpha·(a·b) + beta·out in strict float32, by the step that is fastest here for the shape.

    a: float32, m×k; b: float32, k×n; out: float32, m×n, or None for a new array. On the device
    (Numba, CuPy, PyTorch, or with `__cuda_array_interface__` or DLPack) or on the host (NumPy),
    with any strides. stream: of any of these libraries, or its handle; by default the current
    stream of CuPy or PyTorch if an array is theirs, and the default stream otherwise.
    Returns out; a new array is on the device if a or b is, and on the host otherwise.

    With all arrays on the device the call does not wait for the GPU, and from the second one of
    its kind on it allocates nothing, unless copies of its inputs take more than 1 GiB. What lies on
    the host is copied to the device, and the result back, and the call waits for both: on an H200,
    8192×8192 took 40 ms there and 24 ms back, and their product 20 ms.
    As in BLAS: beta = 0 does not read out, alpha = 0 reads neither a nor b, NaN and infinity go
    through, and where k = 0 the product is zero.
    Raises CourseError for another dtype, for arrays that are not 2-D or whose shapes do not chain,
    where out shares memory with a or b, for arrays and streams of another device than the current
    one, and for memory that was given back.
    """
    at_a, is_a = look(a)
    at_b, is_b = look(b)
    at_out, is_out = look(out)
    # All that a plan depends on.
    key = (
        is_a, is_b, is_out, at_a & 15, at_b & 15, at_out & 15,
        alpha == 0, alpha == 1, beta == 0, driver.device(),
    )  # fmt: skip
    product = PLANS.get(key)
    if product is None:
        given = Argument(a, at_a, is_a), Argument(b, at_b, is_b), Argument(out, at_out, is_out)
        if not (is_a[0].on_device and is_b[0].on_device and is_out[0].on_device):
            return _through_others(given, alpha, beta, stream)
        product = PLANS.made(key, lambda: _planned(given, alpha, beta))
    low, high = product.meets_a
    if low < at_a - at_out < high:
        _refuse_overlap("a")
    low, high = product.meets_b
    if low < at_b - at_out < high:
        _refuse_overlap("b")
    where = product.stream() if stream is None else arrays.stream_handle(stream)
    try:
        product.run((at_a, at_b, at_out), (alpha, beta), where, (a, b, out))
    except Exception:
        with explained():
            raise
    return out


def _planned(given: Arguments, alpha: float, beta: float) -> Product:
    """Everything about a product but where its arrays lie and what its factors are."""
    a, b, out = slots = [one.slot(number) for number, one in enumerate(given)]
    _check(a, b, out)
    device = driver.device()
    for name, slot, one in zip(("a", "b", "out"), slots, given, strict=True):
        arrays.check_device(name, slot, one.pointer, device)
    layout = Layout(first=3)
    with explained():
        calls = _calls(a, b, out, alpha, beta, layout.allocate)
        run = Plan(calls, arrays=3, factors=2, layout=layout).ready(device)
    stream = arrays.current_stream(tuple(one.family for one in given))
    return Product(run, stream, out.meets(a), out.meets(b))


def _calls(a: Slot, b: Slot, out: Slot, alpha: float, beta: float, allocate: Allocate):
    """The launches of one product."""
    (m, n), k = out.shape, a.shape[1]
    if k == 0 or alpha == 0:
        return (_over(blend, out, (out, np.float32(0), BETA, out)),) if m > 0 and n > 0 else ()
    if m == 0 or n == 0:
        return ()
    if routes.has_columns(out) and all(map(routes.has_offsets, (a, b, out))):
        # The same product, read from the other side.
        a, b, out = b.transposed(), a.transposed(), out.transposed()
    shape = GemmShape(*out.shape, k)
    if not _has_autotuned():
        return tuple(_through_copies(a, b, out, (alpha, beta), allocate, warp_tiled.STEP.variant()))
    route = routes.fastest(
        shape, (a, b), out, beta, devices.current() or devices.find(devices.REFERENCE)
    )
    if route.kind == "strided":
        return strided.products(route.tiling, shape, (a, b), out, allocate, (ALPHA, BETA))
    return tuple(_through_copies(a, b, out, (alpha, beta), allocate, route.variant))


def _through_copies(a: Slot, b: Slot, out: Slot, factors, allocate: Allocate, variant: Variant):
    """Copies of what cannot be read as it is, the step, the blend."""
    alpha, beta = factors
    (m, n), k = out.shape, a.shape[1]
    columns, depth = -(-n // WIDE) * WIDE, -(-k // WIDE) * WIDE
    scaled = alpha == 1 or variant.step is autotuned.STEP
    direct = scaled and beta == 0 and columns == n and routes.fits(out)
    product = out if direct else allocate((m, columns), np.float32)
    inputs = []
    for array, sides in ((a, (m, depth)), (b, (depth, columns))):
        if array.shape != sides or not routes.fits(array):
            copy = allocate(sides, np.float32)
            yield _over(fitted, copy, (array, copy))
            array = copy
        inputs.append(array)
    shape = GemmShape(m, columns, depth)
    if variant.step is autotuned.STEP:
        yield from products(variant, shape, inputs, product, allocate, ALPHA if direct else ONE)
    else:
        yield from variant.calls(shape, tuple(inputs), product, allocate)
    if not direct:
        yield _over(blend, out, (product, ALPHA, BETA, out))


def _has_autotuned() -> bool:
    """Whether this device can run it. It multiplies by alpha, and `warp_tiled` does not."""
    return autotuned.STEP.runs_on(cuda.get_current_device().compute_capability)


def _over(kernel, array: Slot, arguments: tuple) -> Call:
    """A launch with a thread for each element of a 2-D array."""
    rows, columns = array.shape
    grid = -(-columns // BLOCK[0]), -(-rows // BLOCK[1])
    return Call(kernel, Launch(grid=grid, block=BLOCK), arguments)


def _through_others(given: Arguments, alpha: float, beta: float, stream):
    """The product where an array is on the host, of a library without a family, or to be made."""
    handle = arrays.handle_for(given, stream)
    a, b, out = (one.on_numbas(handle) for one in given)
    m, n = _check(*(one.slot(0) if one.family.on_device else one.array for one in (a, b, out)))
    if out.array is None and beta != 0:
        raise CourseError(f"beta is {beta} and there is no out to scale: give out, or beta=0.")
    with explained():
        there = [one.on_device(handle).array for one in (a, b)]
        if out.family.on_device:
            target = out.array
        elif beta == 0:
            target = cuda.device_array((m, n), np.float32)
        else:
            target = arrays.on_device(out.array, handle)
        sgemm(*there, target, alpha, beta, handle)
        if out.array is None and (a.family.on_device or b.family.on_device):
            return target
        if not out.family.on_device:
            return _copied_back(target, out.array, handle)
    return given[2].array


def _copied_back(target, out: np.ndarray | None, handle: int) -> np.ndarray:
    """The result on the host: in out, or in a new array."""
    where = cuda.external_stream(handle) if handle else 0
    result = target.copy_to_host(stream=where)
    if where:
        where.synchronize()
    if out is None:
        return result
    out[...] = result
    return out


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
        on_host = all(isinstance(array, np.ndarray) for array in (given[name], out))
        if on_host and np.may_share_memory(given[name], out):
            _refuse_overlap(name)
    return m, n


def _refuse_overlap(name: str) -> None:
    raise CourseError(
        f"out shares memory with {name}, which would change while it is read: give another out."
    )
