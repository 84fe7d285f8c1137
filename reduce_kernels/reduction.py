"""The reduction that a program would call: reduce9 for any operation, dtype and length."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda

from reduce_kernels import reduce9
from reduce_kernels.parts.operations import Operation, check_name, operation
from reduce_kernels.parts.wide_loads import LOAD_BYTES, LOADS, blocks
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.step import Call, Launch
from utils.ladder.tasks import check_unmasked, contiguous, in_c_order
from utils.launching import arrays, driver
from utils.launching.arrays import look
from utils.launching.pinned_words import free_word
from utils.launching.plan import LaunchPlan, Plans
from utils.launching.slots import Slot
from utils.launching.workspace import WorkspaceLayout
from utils.machine.versions import explained

BLOCK = 1024
# A block reads 256 KiB, or 64 KiB if there would be too few blocks for all multiprocessors.
TURNS, TURNS_OF_SHORT = 4, 1
# The number of steps of a block's tree: log2 of BLOCK.
TREE = BLOCK.bit_length() - 1
SHORT_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class Reduction:
    """The plan of all reductions whose arguments differ in their addresses only.

    run: a function of (pointers, factors, stream, arrays) that launches the reduction. They are the
        pointers of x and out, (), the stream's handle, and the arrays x and out.
    stream: a function that returns the handle of the stream to use if the caller gives none.
    total: the dtype of the result.
    meets: the open interval in which the pointer of x minus that of out must be for x to overlap
        out.
    """

    run: Callable
    stream: Callable[[], int]
    total: np.dtype
    meets: tuple[int, int]


PLANS = Plans()


def reduce(x, op="sum", out=None, stream=None):
    """Return the sum, product, maximum or minimum of all elements of x.

    `x` is float32, float64, int32 or int64 in C order, of any shape. It is on the device (Numba,
    CuPy, PyTorch, or with `__cuda_array_interface__` or DLPack), or a NumPy array, which is copied
    there: on an H200 at 6.7 GB/s, where the sum itself reads 4,000 GB/s. `op` is "sum", "prod",
    "max" or "min". `out` is a device array of one element of the result's dtype, or None. `stream`
    is a stream of any of these libraries, or its handle; by default the current stream of CuPy or
    PyTorch if an array is theirs, and the default stream otherwise. With `out`, the call returns
    out and does not wait for the GPU. Without `out`, it waits for the result and returns a NumPy
    scalar.

    Sums and products of int32 are int64, as NumPy's are; all others have the dtype of x. Integers
    wrap around. Empty arrays have the sum 0 and the product 1. One NaN in x makes the result NaN,
    also for "max" and "min".

    The result is deterministic: the same x gives the same bits in every run and on every device. A
    part of a device array, such as x[1:], is grouped by multiples of 16 bytes and may round
    differently from a copy of it. A float sum is off by at most longest_chain(...)·u·Σ|x|, with u =
    2⁻²⁴ for float32 and 2⁻⁵³ for float64. If the elements were added one by one in float32, the
    chain would be as long as x, and the sum of ones would stop growing at 2²⁴, because 2²⁴ + 1 is
    rounded to 2²⁴: 2²⁵ ones would sum to 2²⁴.

    Raises CourseError for an x that is no array or a masked one, for another dtype or operation,
    for an array that is not contiguous, for the maximum or minimum of nothing, for an out of
    another shape or dtype, inside x or read-only, for arrays and streams of another device than the
    current one, and for memory that was freed.
    """
    at_x, key_x = look(x)
    at_out, key_out = (0, None) if out is None else look(out)
    key = key_x, key_out, op, driver.device()
    try:
        reduction = PLANS.get(key)
    except TypeError:  # op has no hash
        check_name(op)
        raise
    if reduction is None:
        if not key_x[0].on_device or (key_out and not key_out[0].on_device):
            return _via_numba_arrays(x, op, out, stream)
        reduction = PLANS.made(key, lambda: _planned(x, op, out))
    low, high = reduction.meets
    if low < at_x - at_out < high:
        raise CourseError("out is part of x, which would change while it is read: give another.")
    handle = reduction.stream() if stream is None else arrays.stream_handle(stream)
    word = None
    if out is None:
        word = free_word(reduction.total)
        at_out = word.pointer
    try:
        reduction.run((at_x, at_out), (), handle, (x, word.array if word else out))
        return word.value(handle) if word else out
    except Exception:
        with explained():
            raise


def longest_chain(elements: int, itemsize: int) -> int:
    """Return the most roundings that a value can pass on its way into a float sum of `elements`.

    `itemsize` is the size of an element in bytes. Adding in any tree is off by at most this number
    times u times the sum of the absolute values (N. J. Higham, "The Accuracy of Floating Point
    Summation", SIAM J. Sci. Comput. 14, 1993).
    """
    turns = _turns(elements * itemsize)
    edges, lanes = 2, LOAD_BYTES // itemsize
    in_last_block = cdiv(blocks(elements * itemsize, BLOCK, turns), BLOCK)
    return LOADS * turns + edges + lanes + TREE + in_last_block + TREE


def _turns(bytes_read: int) -> int:
    """Return the iterations per thread for a reduction of this many bytes.

    They are TURNS from SHORT_BYTES bytes on, and TURNS_OF_SHORT, which is less, for a shorter x.
    """
    return TURNS if bytes_read >= SHORT_BYTES else TURNS_OF_SHORT


def _planned(x, op: str, out) -> Reduction:
    """Check the arrays and return the plan of a reduction, which can run at any addresses.

    Raises CourseError for arrays and an operation that do not fit.
    """
    slot, device = arrays.slot_of(x, 0), driver.device()
    combining = _check(slot, op, arrays.family_of(x).name)
    arrays.check_device("x", slot, look(x)[0], device)
    total = np.dtype(str(combining.total))
    out_slot, meets = Slot.new(1, (1,), total), (0, 0)
    if out is not None:
        out_slot = arrays.slot_of(out, 1)
        _check_out(out_slot, total)
        arrays.check_device("out", out_slot, look(out)[0], device)
        out_slot, meets = out_slot.ravel(), out_slot.meets(slot)
    layout = WorkspaceLayout(first=2)
    with explained():
        calls = _calls(slot.ravel(), combining, out_slot, layout.allocate)
        run = LaunchPlan(calls, 2, 0, layout).ready(device)
    families = [arrays.family_of(array) for array in (x, out) if array is not None]
    return Reduction(run, arrays.current_stream(families), total, meets)


@cuda.jit
def put(value, out):
    """Store value in out[0]."""
    out[0] = value


def _calls(x: Slot, combining: Operation, out: Slot, allocate) -> tuple[Call, ...]:
    """Return a tuple of one Call that stores the reduction of x in out[0].

    Without an element it stores the operation's identity.
    """
    if x.size == 0:
        return (Call(put, Launch(grid=(1,), block=(1,)), (combining.identity, out)),)
    turns = _turns(x.size * x.dtype.itemsize)
    grid = blocks(x.size * x.dtype.itemsize, BLOCK, turns)
    partials, drawn = allocate(grid, out.dtype), allocate(1, np.uint32, fill=0)
    launch = Launch(grid=(grid,), block=(BLOCK,))
    return (Call(reduce9.build(BLOCK, turns, combining), launch, (x, partials, drawn, out)),)


def _check(x, op: str, library: str) -> Operation:
    """Return the operation called `op` for the dtype of x, an array of `library`.

    Raises CourseError if there is no such operation, or if x is masked, is not in C order, has
    another dtype, or is empty and has no maximum or minimum.
    """
    check_unmasked("x", x)
    combining = operation(op, x.dtype, library)
    if not in_c_order(x):
        raise CourseError(
            "x is not contiguous in C order, so its elements are not side by side in memory: "
            f"use {contiguous('x', library)}."
        )
    if x.size == 0 and op in ("max", "min"):
        raise CourseError(f"x is empty, and nothing has no {op}: give at least one element.")
    return combining


def _check_out(out: Slot, total: np.dtype) -> None:
    """Raise CourseError unless out has one element, of the dtype `total`."""
    if out.size != 1 or out.dtype != total:
        raise CourseError(
            f"out has the shape {out.shape} and holds {out.dtype}, and the result is one {total}: "
            f"give an out of one {total}, or none."
        )


def _via_numba_arrays(x, op: str, out, stream):
    """Reduce an array of the host or of a library that `arrays` does not know; return the result.

    Such an array is copied to the device or wrapped as a Numba array first. The result is `out` if
    it is given, and otherwise a NumPy scalar. Raises CourseError for arrays that do not fit.
    """
    source, target = arrays.argument(x), arrays.argument(out)
    handle = arrays.handle_for((source, target), stream)
    source, target = source.on_numbas(handle), target.on_numbas(handle)
    if out is not None and not target.family.on_device:
        raise CourseError(
            f"out is a {type(out).__name__} on the host, and the result is made on the device: "
            "give an array there, or no out."
        )
    if out is not None and arrays.is_read_only(out):
        raise CourseError(
            "out is read-only, and the result is written there: give an array that may be written, "
            "or no out."
        )
    if not source.family.on_device:
        if not isinstance(x, np.ndarray):
            raise CourseError(
                f"x is a {type(x).__name__}, and an array is needed: use np.array(x) with a dtype."
            )
        _check(x, op, source.family.name)
        with explained():
            source = source.on_device(handle)
    result = reduce(source.array, op, target.array, handle)
    return result if out is None else out
