"""`sgemm`: the product of matrices of any shape and layout, with alpha and beta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Complex, Real

import numpy as np
from numba import cuda, float32, int64, uint32

from gemm_kernels import autotuned, warp_tiled
from gemm_kernels.dispatch import parts, routes
from gemm_kernels.parts import strided
from gemm_kernels.parts.blocks import WIDE
from gemm_kernels.parts.padded import products as to_any_rows
from gemm_kernels.parts.slices import ONE, products
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.memory import Allocate
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.ladder.step import MAX_GRID, Call, Launch, Variant
from utils.ladder.tasks import check_float32, contiguous, product_sizes
from utils.launching import arrays, driver
from utils.launching.arrays import Argument, look
from utils.launching.plan import LaunchPlan, Plans
from utils.launching.slots import Factor, Slot, shares_memory
from utils.launching.workspace import WorkspaceLayout
from utils.machine import devices
from utils.machine.versions import explained

BLOCK = (32, 8)
# A block copies a tile of FITTED×FITTED elements, and a thread four that are APART rows apart.
FITTED, APART = BLOCK
IN_A_COLUMN = FITTED // APART
ALPHA, BETA = Factor(0), Factor(1)


@cuda.jit(device=True)
def row_of_thread():
    """Return the row of this thread, whose blocks are counted along y and then along z.

    The y axis of a grid has at most 65,535 blocks.
    """
    block = cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y
    return block * cuda.blockDim.y + cuda.threadIdx.y


@cuda.jit(device=True)
def fit_tile(x, out, tile):
    """Fill a tile of out, FITTED×FITTED, with x, and with zeros where x has no element.

    x and out may have any strides. The tiles are counted in rows, and `tile` is a uint32. Each of
    the 32×8 threads copies four elements of a column, whose loads are in flight together.
    """
    across = uint32((out.shape[1] + FITTED - 1) // FITTED)
    row = int64(tile // across) * FITTED + cuda.threadIdx.y
    col = int64(tile % across) * FITTED + cuda.threadIdx.x
    values = cuda.local.array(IN_A_COLUMN, float32)
    for i in range(IN_A_COLUMN):
        inside = row + APART * i < x.shape[0] and col < x.shape[1]
        values[i] = x[row + APART * i, col] if inside else float32(0)
    for i in range(IN_A_COLUMN):
        if row + APART * i < out.shape[0] and col < out.shape[1]:
            out[row + APART * i, col] = values[i]


@cuda.jit
def fitted(x, out):
    """Fill out with x in its upper left corner and zeros elsewhere; x may have any strides.

    It needs one block of 32×8 threads per tile of out, as `_fitting` launches them.
    """
    fit_tile(x, out, uint32(cuda.blockIdx.x))


@cuda.jit
def fitted_both(x, x_out, y, y_out, tiles):
    """Fill x_out with x and y_out with y, each with zeros where its source has no element.

    It needs one block of 32×8 threads per tile of FITTED×FITTED. The first `tiles` blocks fill
    x_out, and all others y_out.
    """
    tile = uint32(cuda.blockIdx.x)
    if tile < tiles:
        fit_tile(x, x_out, tile)
    else:
        fit_tile(y, y_out, uint32(tile - tiles))


@cuda.jit
def blend(product, alpha, beta, out):
    """Compute out = alpha·product + beta·out; a matrix whose factor is 0 is not read.

    It needs one thread per element of out, as `_over` launches them.
    """
    col, row = cuda.grid(1), row_of_thread()
    if row < out.shape[0] and col < out.shape[1]:
        value = alpha * product[row, col] if alpha != float32(0) else float32(0)
        if beta != float32(0):
            value += beta * out[row, col]
        out[row, col] = value


@dataclass(frozen=True, eq=False)
class Product:
    """The plan of all products whose arrays differ only in their addresses.

    run: a function of (pointers, factors, stream, arrays) that launches the product: the pointers
        and the arrays of a, b and out, (alpha, beta), and the stream's handle.
    stream: a function that returns the handle of the stream to use if the caller gives none.
    meets_a, meets_b: the open interval in which the pointer of a or b minus that of out must be for
        the two arrays to overlap.
    slots: a, b and out.
    """

    run: Callable
    stream: Callable[[], int]
    meets_a: tuple[int, int]
    meets_b: tuple[int, int]
    slots: tuple[Slot, Slot, Slot]


PLANS = Plans()
Arguments = tuple[Argument, Argument, Argument]  # a, b, out


def sgemm(a, b, out=None, alpha: float = 1.0, beta: float = 0.0, stream=None):
    """Compute alpha·(a·b) + beta·out in strict float32, by the fastest step for this shape.

    `a` is float32, m×k; `b` is float32, k×n; `out` is float32, m×n, or None for a new array, which
    is on the device if a or b is, and on the host otherwise. Returns out. What is accepted:

    - arrays of NumPy, on the host
    - arrays of Numba, on the device
    - arrays of CuPy
    - tensors of PyTorch, on the device
    - arrays with `__cuda_array_interface__` or DLPack
    - rows, columns, gaps, steps and negative strides; inputs that repeat elements (stride 0)
    - parts of one array as input and out, if they have no element in common
    - sizes of 0 and more; from 2³² elements on, the product is computed in parts
    - `alpha` and `beta`: real numbers, and arrays without dimensions, for which the call waits
    - `stream`: one of any of these libraries, its handle, or None

    With None the stream is the current one of CuPy or PyTorch if an array is theirs, and the
    default stream otherwise.

    If all arrays are on the device, the call does not wait for the GPU, and from the second call of
    its kind on it allocates nothing, unless copies of its inputs take more than 1 GiB. Host arrays
    are copied to the device and the result is copied back, and the call waits for both: on an H200,
    8192×8192 took 40 ms there and 24 ms back, and their product 20 ms. As in BLAS, beta = 0 does
    not read out, alpha = 0 reads neither a nor b, NaN and infinity propagate, and with k = 0 the
    product is zero.

    Raises CourseError for another dtype, for arrays that are not 2-D, that are masked or whose
    shapes do not fit, if out shares memory with a or b, is read-only or has two elements at one
    address, for factors that are no numbers, for arrays and streams of another device than the
    current one, and for memory that was freed.
    """
    at_a, key_a = look(a)
    at_b, key_b = look(b)
    at_out, key_out = look(out)
    # Everything that a plan depends on.
    key = (
        key_a, key_b, key_out, at_a & 15, at_b & 15, at_out & 15,
        alpha == 0, alpha == 1, beta == 0, driver.device(),
    )  # fmt: skip
    try:
        product = PLANS.get(key)
    except TypeError:  # a factor is an array, so the key has no hash
        product = None
    if product is None:
        if not (isinstance(alpha, Real) and isinstance(beta, Real)):
            _check_factors(alpha, beta)
            # An array of one number would be part of the key, and each would be a plan of its own.
            return sgemm(a, b, out, float(alpha), float(beta), stream)
        matrices = (
            Argument(a, at_a, key_a), Argument(b, at_b, key_b), Argument(out, at_out, key_out),
        )  # fmt: skip
        if not (key_a[0].on_device and key_b[0].on_device and key_out[0].on_device):
            return _via_numba_arrays(matrices, alpha, beta, stream)
        product = PLANS.made(key, lambda: _planned(matrices, alpha, beta))
    low, high = product.meets_a
    if low < at_a - at_out < high:
        _check_overlap("a", product.slots[2].shares_memory(product.slots[0], at_a - at_out))
    low, high = product.meets_b
    if low < at_b - at_out < high:
        _check_overlap("b", product.slots[2].shares_memory(product.slots[1], at_b - at_out))
    handle = product.stream() if stream is None else arrays.stream_handle(stream)
    try:
        product.run((at_a, at_b, at_out), (alpha, beta), handle, (a, b, out))
    except Exception:
        _check_factors(alpha, beta)
        with explained():
            raise
    return out


def _planned(matrices: Arguments, alpha: float, beta: float) -> Product:
    """Check the arrays and return the plan of their product, which can run at any addresses.

    `matrices` are a, b and out. The plan depends on alpha and beta only by whether they are 0 or 1.
    Raises CourseError for arrays that do not fit.
    """
    a, b, out = slots = [each.slot(number) for number, each in enumerate(matrices)]
    _check((a, b, out), matrices)
    device = driver.device()
    for name, slot, each in zip(("a", "b", "out"), slots, matrices, strict=True):
        arrays.check_device(name, slot, each.pointer, device)
    layout = WorkspaceLayout(first=3)
    with explained():
        calls = _calls(a, b, out, alpha, beta, layout)
        run = LaunchPlan(calls, arrays=3, factors=2, layout=layout).ready(device)
    stream = arrays.current_stream(tuple(each.family for each in matrices))
    return Product(run, stream, out.meets(a), out.meets(b), (a, b, out))


def _calls(
    a: Slot, b: Slot, out: Slot, alpha: float, beta: float, layout: WorkspaceLayout
) -> tuple[Call, ...]:
    """Return the calls that compute one product, in order; an empty tuple if out is empty.

    If arrays are too large for one kernel, these are the calls of all parts of the product.
    """
    (m, n), k = out.shape, a.shape[1]
    if k == 0 or alpha == 0:
        return (_over(blend, out, (out, np.float32(0), BETA, out)),) if m > 0 and n > 0 else ()
    if m == 0 or n == 0:
        return ()
    most_rows = None if _has_autotuned() else warp_tiled.BM * MAX_GRID[1]
    sizes = parts.sizes_of_a_part(a, b, out, most_rows)
    if sizes == (m, n, k):
        return _calls_of_a_part(a, b, out, alpha, (beta, BETA), layout.allocate)
    calls = []
    for first, of_a, of_b, of_out in parts.parts_of(a, b, out, sizes):
        # What is there already is scaled once; the other parts along k are added to it.
        scale = (beta, BETA) if first else (1.0, ONE)
        calls += _calls_of_a_part(of_a, of_b, of_out, alpha, scale, layout.allocate)
        layout.reuse()
    return tuple(calls)


def _calls_of_a_part(
    a: Slot, b: Slot, out: Slot, alpha: float, scale, allocate: Allocate
) -> tuple[Call, ...]:
    """Return the calls that compute a product in which all offsets fit into uint32, in order.

    `scale` is (beta, the argument that the kernels receive for it).
    """
    beta, beta_given = scale
    if routes.has_columns(out) and all(map(routes.has_offsets, (a, b, out))):
        # The transposed product: the transpose of out has rows.
        a, b, out = b.transposed(), a.transposed(), out.transposed()
    shape = GemmShape(*out.shape, a.shape[1])
    if not _has_autotuned():
        variant = warp_tiled.STEP.variant()
        return tuple(_through_copies(a, b, out, (alpha, scale), allocate, variant))
    route = routes.fastest(
        shape, (a, b), out, beta, devices.current() or devices.find(devices.REFERENCE)
    )
    if route.kind == "strided":
        return strided.products(route.tiling, shape, (a, b), out, allocate, (ALPHA, beta_given))
    return tuple(_through_copies(a, b, out, (alpha, scale), allocate, route.variant))


def _through_copies(a: Slot, b: Slot, out: Slot, factors, allocate: Allocate, variant: Variant):
    """Yield the calls of a product by the step of `variant`, which needs aligned rows.

    First come copies of the inputs that the step cannot read as they are, then the calls of the
    step. `blend` is the last call, unless a kernel can write out itself. `factors` is (alpha,
    (beta, the argument that the kernels receive for it)). `allocate` gives memory for the copies.
    """
    alpha, (beta, beta_given) = factors
    (m, n), k = out.shape, a.shape[1]
    columns, depth = cdiv(n, WIDE) * WIDE, cdiv(k, WIDE) * WIDE
    inputs, copied = [], []
    for array, padded in ((a, (m, depth)), (b, (depth, columns))):
        if array.shape != padded or not routes.fits(array):
            copied.append((array, allocate(padded, np.float32)))
            array = copied[-1][1]
        inputs.append(array)
    if copied:
        yield _fitting(copied)
    # `autotuned` multiplies by alpha, `warp_tiled` does not.
    tuned = variant.step is autotuned.STEP
    direct = (tuned or alpha == 1) and beta == 0 and columns == n and routes.fits(out)
    if tuned and not direct and routes.has_plain_rows(out):
        shape = GemmShape(m, n, depth)
        yield from to_any_rows(variant, shape, inputs, out, allocate, (ALPHA, beta_given))
        return
    product = out if direct else allocate((m, columns), np.float32)
    shape = GemmShape(m, columns, depth)
    if tuned:
        yield from products(variant, shape, inputs, product, allocate, ALPHA if direct else ONE)
    else:
        yield from variant.calls(shape, tuple(inputs), product, allocate)
    if not direct:
        yield _over(blend, out, (product, ALPHA, beta_given, out))


def _has_autotuned() -> bool:
    """Return True if the current device can run `autotuned`."""
    return autotuned.STEP.runs_on(cuda.get_current_device().compute_capability)


def _over(kernel, array: Slot, arguments: tuple) -> Call:
    """Return the call of a kernel with these arguments, one thread per element of a 2-D array.

    Columns are counted along x. Rows are counted along y and, beyond the blocks that fit there,
    along z, as `row_of_thread` counts them.
    """
    rows, columns = array.shape
    down = cdiv(rows, BLOCK[1])
    grid = cdiv(columns, BLOCK[0]), min(down, MAX_GRID[1]), cdiv(down, MAX_GRID[1])
    return Call(kernel, Launch(grid=grid, block=BLOCK), arguments)


def _fitting(copied: Sequence[tuple[Slot, Slot]]) -> Call:
    """Return the call that copies one or two arrays into larger ones and fills these with zeros.

    `copied` has pairs of (array to copy, array to fill).
    """
    tiles = [cdiv(copy.shape[0], FITTED) * cdiv(copy.shape[1], FITTED) for _, copy in copied]
    launch = Launch(grid=(sum(tiles),), block=BLOCK)
    arrays_of_both = tuple(array for pair in copied for array in pair)
    if len(copied) == 1:
        return Call(fitted, launch, arrays_of_both)
    return Call(fitted_both, launch, (*arrays_of_both, np.uint32(tiles[0])))


def _via_numba_arrays(matrices: Arguments, alpha: float, beta: float, stream):
    """Compute a product with host arrays, arrays of other libraries or no out; return its result.

    All arrays become Numba's device arrays first. The result is the caller's out if there is one.
    Otherwise it is a new device array if a or b is on the device, and a new host array if not.
    Raises CourseError for arrays that do not fit, and for a beta other than 0 without an out.
    """
    handle = arrays.handle_for(matrices, stream)
    a, b, out = (each.on_numbas(handle) for each in matrices)
    shown = (each.slot(0) if each.family.on_device else each.array for each in (a, b, out))
    m, n = _check(tuple(shown), matrices)
    if out.array is None and beta != 0:
        raise CourseError(f"beta is {beta} and there is no out to scale: give out, or beta=0.")
    with explained():
        inputs = [each.on_device(handle).array for each in (a, b)]
        if out.family.on_device:
            target = out.array
        elif beta == 0:
            # The array waits for this stream before its elements are copied to the host.
            numba_stream = cuda.external_stream(handle) if handle else 0
            target = cuda.device_array((m, n), np.float32, stream=numba_stream)
        else:
            target = arrays.on_device(out.array, handle)
        sgemm(*inputs, target, alpha, beta, handle)
        if out.array is None and (a.family.on_device or b.family.on_device):
            return target
        if not out.family.on_device:
            return _copied_back(target, out.array, handle)
    return matrices[2].array


def _copied_back(target, out: np.ndarray | None, handle: int) -> np.ndarray:
    """Copy the device array `target` to the host, wait for it, and return the host array.

    That is out, or a new array if out is None.
    """
    stream = cuda.external_stream(handle) if handle else 0
    result = target.copy_to_host(stream=stream)
    if stream:
        stream.synchronize()
    if out is None:
        return result
    out[...] = result
    return out


def _check(shown: tuple, given: Arguments) -> tuple[int, int]:
    """Return (m, n) of the product; raise CourseError unless the arrays fit.

    `shown` are a, b and out as arrays on the host or as slots on the device; out may be None.
    `given` are the same arrays as the caller gave them, for the messages.
    """
    a, b, out = shown
    for name, array, argument in zip(("a", "b", "out"), shown, given, strict=True):
        if name != "out" or array is not None:
            check_float32(name, array, ndim=2, library=argument.family.name)
            _check_places(name, array, argument)
    m, n, _ = product_sizes(a, b)
    if out is None:
        return m, n
    if tuple(out.shape) != (m, n):
        raise CourseError(
            f"out is {out.shape[0]}×{out.shape[1]} and the product is {m}×{n}: give an out of "
            f"{m}×{n}, or none."
        )
    _check_out(out, given[2])
    for name, array in (("a", a), ("b", b)):
        if isinstance(array, np.ndarray) and isinstance(out, np.ndarray):
            _check_overlap(name, shares_memory(array, out))
    return m, n


def _check_places(name: str, array, argument: Argument) -> None:
    """Raise CourseError unless a device array's address and strides are multiples of 4 bytes.

    An array on the host or without elements is not checked. `name` and `argument` are for the
    message and the address.
    """
    places = (argument.pointer, *array.strides)
    if isinstance(array, Slot) and array.size and any(at % FLOAT32_BYTES for at in places):
        raise CourseError(
            f"Elements of {name} begin between multiples of 4 bytes, and a GPU loads a float32 "
            f"only from such a multiple: use {contiguous(name, argument.family.name)}."
        )


def _check_out(out, argument: Argument) -> None:
    """Raise CourseError if out is read-only or has several elements at one address."""
    if arrays.is_read_only(argument.array):
        raise CourseError(
            "out is read-only, and the product is written there: give an array that may be "
            "written, or no out."
        )
    slot = out if isinstance(out, Slot) else argument.slot(2)
    if slot.repeats_elements():
        raise CourseError(
            f"Several elements of out have the same address, by its strides {tuple(slot.strides)}, "
            "and the product needs a place for each: give a copy of out."
        )


def _check_factors(alpha, beta) -> None:
    """Raise CourseError unless alpha and beta are real numbers, or arrays that may hold one."""
    for name, factor in (("alpha", alpha), ("beta", beta)):
        if not isinstance(factor, Real) and not _holds_a_number(factor):
            raise CourseError(
                f"{name} is a {type(factor).__name__}, and a real number is needed: use "
                f"float({name}) if it holds one."
            )


def _holds_a_number(factor) -> bool:
    """Return True if `factor` is an array without dimensions that may hold a real number."""
    if isinstance(factor, str | bytes | Complex | np.ma.MaskedArray):
        return False
    return tuple(getattr(factor, "shape", (0,))) == () and "complex" not in str(
        getattr(factor, "dtype", "")
    )


def _check_overlap(name: str, shares: bool | None) -> None:
    """Raise CourseError unless `shares` is False.

    `shares` is True if out shares memory with the input called `name`, and None if it may.
    """
    if shares is False:
        return
    may = "may share" if shares is None else "shares"
    raise CourseError(
        f"out {may} memory with {name}, which would change while it is read: give another out."
    )
