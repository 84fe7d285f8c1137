"""The reduction that a program would call: reduce9 for any operation, dtype and length."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import cuda

from reduce_kernels import reduce9
from reduce_kernels.parts.operations import Operation, operation
from reduce_kernels.parts.wide_loads import LOAD_BYTES, LOADS, blocks
from utils.errors import CourseError
from utils.ladder.step import Call, Launch
from utils.ladder.tasks import in_c_order
from utils.launching import arrays, driver
from utils.launching.arrays import look
from utils.launching.plan import Plan, Plans
from utils.launching.slots import Slot
from utils.launching.words import free_word
from utils.launching.workspace import Layout
from utils.machine.versions import explained

BLOCK = 1024
# A block reads 256 KiB, but 64 KiB where there would be too few blocks for all multiprocessors.
TURNS, TURNS_OF_SHORT = 4, 1
# Steps of a block's tree: log2 of BLOCK.
TREE = BLOCK.bit_length() - 1
SHORT_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class Reduction:
    """What is known of all reductions of arrays like this.

    run: (pointers, factors, stream, arrays) -> None. stream: () -> where it goes if none is given.
    total: the dtype of the result. meets: as for `Product` of `sgemm`.
    """

    run: Callable
    stream: Callable[[], int]
    total: np.dtype
    meets: tuple[int, int]


PLANS = Plans()


def reduce(x, op="sum", out=None, stream=None):
    """The sum, product, maximum or minimum of all elements of x: a NumPy scalar, or in out.

    x: float32, float64, int32 or int64 in C order, of any shape: on the device (Numba, CuPy,
    PyTorch, or with `__cuda_array_interface__` or DLPack), or a NumPy array, which is copied there:
    on an H200 at 6.7 GB/s, where the sum itself reads 4,000 GB/s. op: "sum", "prod", "max" or
    "min". out: an array of one element on the device, of the dtype of the result, or None. stream:
    of any of these libraries, or its handle; by default the current stream of CuPy or PyTorch if an
    array is theirs, and the default stream otherwise.
    Returns out, and then does not wait for the GPU; without out it waits for the result.

    Sums and products of int32 are int64, as NumPy's are; all others have the dtype of x. Integers
    wrap around. Empty arrays have the sum 0 and the product 1.
    One NaN in x makes the result NaN, for "max" and "min" as well.
    Deterministic: the same x gives the same bits in every run and on every device. A part of a
    device array, such as x[1:], is grouped by boundaries of 16 bytes and may round differently from
    a copy of it.
    A float sum is off by at most longest_chain(...)·u·Σ|x|, u = 2^-24 for float32 and 2^-53 for
    float64. Added one by one in float32, the chain is as long as x, and worse: from 2^24 on the sum
    of ones does not grow any more, because 2^24 + 1 is rounded to 2^24. 2^25 ones sum to 2^24.

    Raises CourseError for what is no array, another dtype or operation, an array that is not
    contiguous, the maximum or minimum of nothing, an out that is no such array or lies in x, arrays
    and streams of another device than the current one, and memory that was given back.
    """
    at_x, is_x = look(x)
    at_out, is_out = (0, None) if out is None else look(out)
    key = is_x, is_out, op, driver.device()
    found = PLANS.get(key)
    if found is None:
        if not is_x[0].on_device or (is_out and not is_out[0].on_device):
            return _through_others(x, op, out, stream)
        found = PLANS.made(key, lambda: _planned(x, op, out))
    low, high = found.meets
    if low < at_x - at_out < high:
        raise CourseError("out lies in x, which would change while it is read: give another out.")
    where = found.stream() if stream is None else arrays.stream_handle(stream)
    word = None
    if out is None:
        word = free_word(found.total)
        at_out = word.pointer
    try:
        found.run((at_x, at_out), (), where, (x, word.array if word else out))
        return word.value(where) if word else out
    except Exception:
        with explained():
            raise


def longest_chain(elements: int, itemsize: int) -> int:
    """How many roundings a value passes on its way into a float sum of so many elements, at most.

    Adding in any tree is off by at most this times u times the sum of the absolute values
    (N. J. Higham, "The Accuracy of Floating Point Summation", SIAM J. Sci. Comput. 14, 1993).
    """
    turns = _turns(elements * itemsize)
    edges, lanes = 2, LOAD_BYTES // itemsize
    of_last_block = -(-blocks(elements * itemsize, BLOCK, turns) // BLOCK)
    return LOADS * turns + edges + lanes + TREE + of_last_block + TREE


def _turns(bytes_read: int) -> int:
    return TURNS if bytes_read >= SHORT_BYTES else TURNS_OF_SHORT


def _planned(x, op: str, out) -> Reduction:
    """Everything about a reduction but where its arrays lie."""
    slot, device = arrays.slot_of(x, 0), driver.device()
    what = _check(slot, op)
    arrays.check_device("x", slot, look(x)[0], device)
    total = np.dtype(str(what.total))
    into, meets = Slot.new(1, (1,), total), (0, 0)
    if out is not None:
        into = arrays.slot_of(out, 1)
        _check_out(into, total)
        arrays.check_device("out", into, look(out)[0], device)
        into, meets = into.ravel(), into.meets(slot)
    layout = Layout(first=2)
    with explained():
        run = Plan(_calls(slot.ravel(), what, into, layout.allocate), 2, 0, layout).ready(device)
    families = [arrays.family_of(array) for array in (x, out) if array is not None]
    return Reduction(run, arrays.current_stream(families), total, meets)


@cuda.jit
def put(value, out):
    """out[0] = value"""
    out[0] = value


def _calls(x: Slot, what: Operation, out: Slot, allocate) -> tuple[Call, ...]:
    if x.size == 0:
        return (Call(put, Launch(grid=(1,), block=(1,)), (what.identity, out)),)
    turns = _turns(x.size * x.dtype.itemsize)
    grid = blocks(x.size * x.dtype.itemsize, BLOCK, turns)
    partials, drawn = allocate(grid, out.dtype), allocate(1, np.uint32, fill=0)
    launch = Launch(grid=(grid,), block=(BLOCK,))
    return (Call(reduce9.build(BLOCK, turns, what), launch, (x, partials, drawn, out)),)


def _check(x, op: str) -> Operation:
    """The operation, where it can be done to x."""
    what = operation(op, x.dtype)
    if not in_c_order(x):
        raise CourseError(
            "x is not contiguous in C order, so its elements are not side by side in memory: "
            "use np.ascontiguousarray(x)."
        )
    if x.size == 0 and op in ("max", "min"):
        raise CourseError(f"x is empty, and nothing has no {op}: give at least one element.")
    return what


def _check_out(out: Slot, total: np.dtype) -> None:
    if out.size != 1 or out.dtype != total:
        raise CourseError(
            f"out has the shape {out.shape} and holds {out.dtype}, and the result is one {total}: "
            f"give an out of one {total}, or none."
        )


def _through_others(x, op: str, out, stream):
    """The reduction where an array is on the host, or of a library without a family."""
    given, into = arrays.argument(x), arrays.argument(out)
    handle = arrays.handle_for((given, into), stream)
    given, into = given.on_numbas(handle), into.on_numbas(handle)
    if out is not None and not into.family.on_device:
        raise CourseError(
            f"out is a {type(out).__name__} on the host, and the result is made on the device: "
            "give an array there, or no out."
        )
    if not given.family.on_device:
        if not isinstance(x, np.ndarray):
            raise CourseError(
                f"x is a {type(x).__name__}, and an array is needed: use np.array(x) with a dtype."
            )
        _check(x, op)
        with explained():
            given = given.on_device(handle)
    result = reduce(given.array, op, into.array, handle)
    return result if out is None else out
