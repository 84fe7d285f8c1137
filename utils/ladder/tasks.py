"""Computations of ladders: their input arrays, the right result, and the work to count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numba import float32, uint16, void
from numba.types import float16

from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.problems import Problem, bfloat16_bits, draw, of_bfloat16
from utils.ladder.shapes import GemmShape, ReduceShape, parse_gemm, parse_reduce
from utils.machine.versions import cupy

Shape = GemmShape | ReduceShape
Converter = Callable[[np.ndarray], np.ndarray]

# Strict float32 may be off by 1e-6·√k of the result's norm for random inputs and dot products of
# length k: a few units in the last place, which add up like a random walk.
ERROR_PER_ROOT_K = 1e-6
# A float32 product of integers is exact while no partial sum reaches 2^24.
LARGEST_EXACT = 2**24
LARGEST_DRAWN = 7
# A tensor core adds exact products to a sum and cuts the result off instead of rounding it (see
# `virtual_gpu/numbers/tensor_sums.py`), so the errors of an element have one sign and add up. Per
# instruction they are at most two units in the last place of a partial sum, which is seldom larger
# than the whole sum. Instructions with a smaller k are more instructions.
ERROR_PER_MMA = 2.0**-22
LEAST_K_OF_MMA = 8
# Adding in pairs or in per-thread chains, in any order: |error| ≤ h·u·Σ|x|, with u = 2^-24 and h
# the longest chain of additions (N. J. Higham, "The Accuracy of Floating Point Summation", SIAM J.
# Sci. Comput. 14, 1993). 1e-6 admits h = 16 in the worst case and, since errors of random sign
# cancel, any order in practice. That is wide for a long sum; the check with integers is exact.
ERROR_OF_A_SUM = 1e-6


@dataclass(frozen=True)
class TaskWork:
    """The work of one execution: `flops`, operations, or `bytes` to move; the other is None.

    `cached` is True if the bytes come from a cache or from shared memory, for which no data sheet
    states a peak. `tensor` is True if tensor cores do the operations, on inputs of 16 bits.
    """

    flops: int | None = None
    bytes: int | None = None
    cached: bool = False
    tensor: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """A computation that several steps share, so that they can be compared.

    "Sizes" are numbers such as m, n, k, each passed as an argument of its own. parse: text ->
    shape. shape: sizes -> shape. check: arrays -> tuple of sizes, or CourseError. input_shapes:
    shape -> the array shape of each input. output_shape: sizes -> the array shape of the result.
    problem: (shape, kind of inputs) -> Problem. work: shape -> TaskWork. signature: the Numba
    signature of every kernel, inputs first and the result last. dtype: that of all inputs; the
    result is float32.
    """

    parse: Callable[[str], Shape]
    shape: Callable[..., Shape]
    check: Callable[..., tuple[int, ...]]
    input_shapes: Callable[[Shape], tuple[tuple[int, ...], ...]]
    output_shape: Callable[..., tuple[int, ...]]
    problem: Callable[[Shape, str], Problem]
    work: Callable[[Shape], TaskWork]
    signature: object
    dtype: type = np.float32


# How the libraries say "make it contiguous" and "convert it": of an array x, to a dtype.
WORDS = {
    "PyTorch": ("{x}.contiguous()", "{x}.to(torch.{dtype})"),
    "CuPy": ("cupy.ascontiguousarray({x})", "{x}.astype(cupy.{dtype})"),
    "Numba": (
        "cuda.to_device(np.ascontiguousarray({x}.copy_to_host()))",
        "cuda.to_device({x}.copy_to_host().astype(np.{dtype}))",
    ),
    "another library": (
        "a contiguous copy, made by the library of {x}",
        "a copy of {dtype}, made by the library of {x}",
    ),
}
OF_NUMPY = "np.ascontiguousarray({x})", "{x}.astype(np.{dtype})"


def contiguous(name: str, library: str = "") -> str:
    """Return the code that makes the array called `name` contiguous, such as "a.contiguous()".

    `library` is the name of the array's library; any that `WORDS` lacks means NumPy. For "another
    library" the result is a phrase.
    """
    return WORDS.get(library, OF_NUMPY)[0].format(x=name)


def converted(name: str, dtype: str, library: str = "") -> str:
    """Return the code that converts the array called `name` to a dtype, such as "a.astype(...)".

    `library` is the name of the array's library; any that `WORDS` lacks means NumPy. For "another
    library" the result is a phrase.
    """
    return WORDS.get(library, OF_NUMPY)[1].format(x=name, dtype=dtype)


def check_array(name: str, array, ndim: int, dtype: str = "float32") -> None:
    """Raise CourseError unless `array` is in C order and has this dtype and `ndim` dimensions.

    A masked array of NumPy is refused, too. `name` names the array in the error.
    """
    check_dtype(name, array, ndim, dtype)
    if not in_c_order(array):
        raise CourseError(
            f"{name} is not contiguous in C order, so its rows are not side by side in memory: "
            f"use {contiguous(name)}."
        )


def check_float32(name: str, array, ndim: int, library: str = "") -> None:
    """Raise CourseError unless `array` is an unmasked float32 array with `ndim` dimensions.

    `name` names the array in the error. `library` is the name of the array's library, whose
    functions the error suggests.
    """
    check_dtype(name, array, ndim, "float32", library)


def check_dtype(name: str, array, ndim: int, dtype: str, library: str = "") -> None:
    """Raise CourseError unless `array` is unmasked and has this dtype and `ndim` dimensions.

    `name` and `library` are those of `check_float32`.
    """
    if not hasattr(array, "dtype"):
        raise CourseError(
            f"{name} is a {type(array).__name__}, and an array is needed: "
            f"use np.array({name}, dtype=np.{dtype})."
        )
    check_unmasked(name, array)
    if array.ndim != ndim:
        raise CourseError(
            f"{name} has the shape {tuple(array.shape)}, and {ndim} dimension"
            f"{'s are' if ndim > 1 else ' is'} needed: use {name}.reshape(...)."
        )
    if array.dtype != np.dtype(dtype):
        raise CourseError(
            f"{name} holds {array.dtype}, and {dtype} is needed: use "
            f"{converted(name, dtype, library)}."
        )


def check_unmasked(name: str, array) -> None:
    """Raise CourseError for a masked array of NumPy, whose mask no kernel would read.

    `name` names the array in the error.
    """
    if isinstance(array, np.ma.MaskedArray):
        raise CourseError(
            f"{name} is a MaskedArray, and an array without a mask is needed: use "
            f"{name}.filled(...) with the number that stands for what is masked."
        )


def in_c_order(array) -> bool:
    """Return True if the array is contiguous in C order, with its last index running fastest."""
    # Numba's device arrays have a method where NumPy's and CuPy's have flags.
    method = getattr(array, "is_c_contiguous", None)
    return method() if method else array.flags.c_contiguous


def _check_gemm(a, b, dtype: str = "float32") -> tuple[int, int, int]:
    """Return (m, n, k) of the product of a, m×k, and b, k×n.

    Raises CourseError unless both are matrices of this dtype in C order and their sizes fit.
    """
    check_array("a", a, ndim=2, dtype=dtype)
    check_array("b", b, ndim=2, dtype=dtype)
    return product_sizes(a, b)


def _check_bfloat16(a, b) -> tuple[int, int, int]:
    """Return (m, n, k) of the product of a, m×k, and b, k×n.

    Raises CourseError unless both are matrices of uint16 in C order and their sizes fit.
    """
    for name, array in (("a", a), ("b", b)):
        if getattr(array, "dtype", np.uint16) != np.uint16:
            raise CourseError(
                f"{name} holds {array.dtype}, and bfloat16 is needed, whose bits are uint16: use "
                f"bfloat16_bits({name}) of utils.ladder.problems."
            )
    return _check_gemm(a, b, "uint16")


def product_sizes(a, b) -> tuple[int, int, int]:
    """Return (m, n, k) of the product of matrices a, m×k, and b, k×n.

    Raises CourseError if a has not as many columns as b has rows.
    """
    (m, k), (rows, n) = a.shape, b.shape
    if rows != k:
        raise CourseError(
            f"a is {m}×{k} and b is {rows}×{n}, and a needs as many columns as b has rows: "
            f"give a b of {k}×{n} or an a of {m}×{rows}."
        )
    return m, n, k


def _gemm_problem(shape: GemmShape, kind: str) -> Problem:
    """Return the Problem of a product; "integers" become "uniform" if sums could reach 2^24.

    `kind` is the kind of random inputs, "integers" or "uniform".
    """
    return _product_problem(shape, kind, ERROR_PER_ROOT_K * shape.k**0.5)


def _tensor_gemm_problem(
    shape: GemmShape, kind: str, stored: Converter, values: Converter = np.asarray
) -> Problem:
    """Return the Problem of a product on tensor cores, of 16-bit matrices with float32 sums.

    The inputs are rounded to 16 bits before the reference is computed, so this is no error of the
    kernel; the integers are exact. `stored` and `values` are those of `_product_problem`, and
    `kind` is that of `_gemm_problem`.
    """
    allowed = ERROR_PER_MMA * cdiv(shape.k, LEAST_K_OF_MMA)
    return _product_problem(shape, kind, allowed, stored, values)


def _product_problem(
    shape: GemmShape,
    kind: str,
    allowed: float,
    stored: Converter = np.asarray,
    values: Converter = np.asarray,
) -> Problem:
    """Return the Problem of a product.

    kind: the kind of random inputs; "integers" become "uniform" if sums could reach 2^24. allowed:
    the greatest error of a right result for uniform inputs. stored: float32 array -> the array that
    the kernel reads. values: that array -> its numbers, as an array of floats.
    """
    if kind == "integers" and shape.k * LARGEST_DRAWN**2 >= LARGEST_EXACT:
        # Longer sums could leave the range in which float32 holds every integer.
        kind = "uniform"
    a = stored(draw(kind, (shape.m, shape.k), seed=1))
    b = stored(draw(kind, (shape.k, shape.n), seed=2))
    reference = _float64_product(values(a), values(b))
    return Problem(
        shape,
        (a, b),
        reference,
        scale=float((reference**2).sum() ** 0.5),
        allowed=0.0 if kind == "integers" else allowed,
    )


def _float64_product(a: np.ndarray, b: np.ndarray):
    """Return a·b in float64: a CuPy array if `cupy()` finds CuPy and a GPU, else a NumPy array."""
    xp = cupy() or np
    return xp.asarray(a, np.float64) @ xp.asarray(b, np.float64)


def check_vector(x) -> tuple[int]:
    """Return (length,) of a contiguous float32 vector; raise CourseError for anything else."""
    check_array("x", x, ndim=1)
    return (x.shape[0],)


def _sum_problem(shape: ReduceShape, kind: str) -> Problem:
    """Return the Problem of a sum, whose scale is the sum of the absolute values.

    `kind` is the kind of random inputs, "integers" or "uniform".
    """
    x = draw(kind, shape.elements, seed=1)
    # Summed in parts, because np.abs of everything would be a second array of the same size. The
    # absolute values of 2^20 elements stay in the processor's cache.
    parts = np.array_split(x, 1 + x.size // 2**20)
    return Problem(
        shape,
        (x,),
        reference=np.array([x.sum(dtype=np.float64)]),
        scale=float(sum(np.abs(part).sum(dtype=np.float64) for part in parts)),
        allowed=0.0 if kind == "integers" else ERROR_OF_A_SUM,
    )


GEMM = Task(
    parse=parse_gemm,
    shape=GemmShape,
    check=_check_gemm,
    input_shapes=lambda shape: ((shape.m, shape.k), (shape.k, shape.n)),
    output_shape=lambda m, n, k: (m, n),
    problem=_gemm_problem,
    work=lambda shape: TaskWork(flops=shape.flops),
    signature=void(float32[:, ::1], float32[:, ::1], float32[:, ::1]),
)

TENSOR_GEMM = replace(
    GEMM,
    check=partial(_check_gemm, dtype="float16"),
    problem=partial(_tensor_gemm_problem, stored=lambda x: x.astype(np.float16)),
    work=lambda shape: TaskWork(flops=shape.flops, tensor=True),
    signature=void(float16[:, ::1], float16[:, ::1], float32[:, ::1]),
    dtype=np.float16,
)

TENSOR_GEMM_BFLOAT16 = replace(
    TENSOR_GEMM,
    check=_check_bfloat16,
    problem=partial(_tensor_gemm_problem, stored=bfloat16_bits, values=of_bfloat16),
    signature=void(uint16[:, ::1], uint16[:, ::1], float32[:, ::1]),
    dtype=np.uint16,
)

SUM = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    input_shapes=lambda shape: ((shape.elements,),),
    output_shape=lambda elements: (1,),
    problem=_sum_problem,
    work=lambda shape: TaskWork(bytes=shape.bytes_min),
    signature=void(float32[::1], float32[::1]),
)
