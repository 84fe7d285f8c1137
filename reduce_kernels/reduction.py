"""The reduction that a program would call: reduce9 for any operation, dtype and length."""

import numpy as np
from numba import cuda

from reduce_kernels import reduce9
from reduce_kernels.parts.operations import operation
from reduce_kernels.parts.wide_loads import LOAD_BYTES, LOADS, blocks
from utils.errors import CourseError
from utils.ladder.tasks import in_c_order
from utils.machine.versions import explained

BLOCK = 1024
# A block reads 256 KiB, but 64 KiB where there would be too few blocks for all multiprocessors.
TURNS, TURNS_OF_SHORT = 4, 1
# Steps of a block's tree: log2 of BLOCK.
TREE = BLOCK.bit_length() - 1
SHORT_BYTES = 2**28


def reduce(x, op="sum"):
    """The sum, product, maximum or minimum of all elements of x, as a NumPy scalar.

    x: float32, float64, int32 or int64 in C order, of any shape: a NumPy array, a Numba device
    array, or what has `__cuda_array_interface__`, such as a CuPy array. op: "sum", "prod", "max" or
    "min".

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
    contiguous, and the maximum or minimum of nothing.
    """
    array = _as_array(x)
    what = operation(op, array.dtype)
    if not in_c_order(array):
        raise CourseError(
            "x is not contiguous in C order, so its elements are not side by side in memory: "
            "use np.ascontiguousarray(x)."
        )
    if array.size == 0:
        if op in ("max", "min"):
            raise CourseError(f"x is empty, and nothing has no {op}: give at least one element.")
        return what.identity
    with explained():
        return _run(cuda.to_device(array).ravel(), what)


def longest_chain(elements: int, itemsize: int) -> int:
    """How many roundings a value passes on its way into a float sum of so many elements, at most.

    Adding in any tree is off by at most this times u times the sum of the absolute values
    (N. J. Higham, "The Accuracy of Floating Point Summation", SIAM J. Sci. Comput. 14, 1993).
    """
    turns = _turns(elements * itemsize)
    edges, lanes = 2, LOAD_BYTES // itemsize
    of_last_block = -(-blocks(elements * itemsize, BLOCK, turns) // BLOCK)
    return LOADS * turns + edges + lanes + TREE + of_last_block + TREE


def _as_array(x):
    """x as an array with NumPy's dtypes, where it is."""
    if isinstance(x, np.ndarray) or hasattr(x, "copy_to_host"):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return cuda.as_cuda_array(x)
    raise CourseError(
        f"x is a {type(x).__name__}, and an array is needed: use np.array(x) with a dtype."
    )


def _turns(bytes_read: int) -> int:
    return TURNS if bytes_read >= SHORT_BYTES else TURNS_OF_SHORT


def _run(x, what) -> np.generic:
    total = np.dtype(str(what.total))
    turns = _turns(x.size * x.dtype.itemsize)
    grid = blocks(x.size * x.dtype.itemsize, BLOCK, turns)
    partials, out = cuda.device_array(grid, total), cuda.device_array(1, total)
    drawn = cuda.to_device(np.zeros(1, np.uint32))
    reduce9.build(BLOCK, turns, what)[grid, BLOCK](x, partials, drawn, out)
    return out.copy_to_host()[0]
