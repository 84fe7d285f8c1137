"""The kernels that ``differential`` runs on both machines, made from tables.

``kernels()`` makes the same list in every process. Each kernel computes several results of the same
operands; its text is complete, so that it can be compiled anywhere.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numba import types
from numba.cuda import libdevice
from numba.cuda.descriptor import cuda_target
from numba.cuda.libdevicefuncs import functions as libdevice_functions
from numba.cuda.random import xoroshiro128p_dtype
from numba.np.numpy_support import as_dtype, from_dtype

GRID, BLOCK = 16, 128
SIZE = GRID * BLOCK
AT_ONCE = 18  # results of one kernel
EXACT = 0
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
WIDE = ("int32", "int64", "uint32", "uint64", "float32", "float64")
POINT = np.dtype([("x", np.float32), ("tag", np.int16)], align=True)
BODY = np.dtype(
    [("at", POINT), ("speed", np.float64, (3,)), ("z", np.complex64), ("on", np.bool_)], align=True
)


@dataclass(frozen=True)
class Result:
    """One output array. ``statement`` stores to OUT; ``tolerance`` is in last places."""

    label: str
    statement: str
    dtype: np.dtype
    tolerance: float = EXACT
    size: int = SIZE


@dataclass(frozen=True)
class Kernel:
    """A kernel over SIZE threads.

    ``operands()`` returns its input arrays, named i0, i1, ... ``setup`` holds lines before the
    results. ``elementwise`` is True if a loop on the host computes the same.
    """

    group: str
    name: str
    operands: Callable[[], tuple[np.ndarray, ...]]
    setup: tuple[str, ...]
    results: tuple[Result, ...]
    elementwise: bool = True

    def source(self, head: str = "i = cuda.grid(1)", indent: str = "    ") -> str:
        """Return the text of the function; for the host ``head`` is a loop."""
        inputs = [f"i{n}" for n in range(len(self.operands()))]
        outputs = [f"o{n}" for n in range(len(self.results))]
        body = [*self.setup]
        for output, result in zip(outputs, self.results, strict=True):
            body += result.statement.replace("OUT", output).split("\n")
        lines = "".join(f"{indent}{line}\n" for line in body)
        return f"def kernel({', '.join(inputs + outputs)}):\n    {head}\n{lines}"

    def alone(self) -> Iterator[Kernel]:
        """Return one kernel per result."""
        return (replace(self, results=(result,)) for result in self.results)


# What CUDA documents as the largest error, in float32 and float64; NumPy adds its own last places.
ERRORS = {
    "sqrt": (0, 0), "fabs": (0, 0), "floor": (0, 0), "ceil": (0, 0), "trunc": (0, 0),
    "fmod": (0, 0), "remainder": (0, 0), "copysign": (0, 0), "isnan": (0, 0), "isinf": (0, 0),
    "isfinite": (0, 0), "nextafter": (0, 0), "exp": (2, 1), "exp2": (2, 1), "expm1": (1, 1),
    "log": (1, 1), "log2": (1, 1), "log10": (2, 1), "log1p": (1, 1), "sin": (2, 2), "cos": (2, 2),
    "tan": (4, 2), "asin": (2, 2), "acos": (2, 2), "atan": (2, 2), "atan2": (3, 2),
    "sinh": (3, 2), "cosh": (2, 1), "tanh": (2, 1), "asinh": (3, 3), "acosh": (4, 3),
    "atanh": (3, 2), "pow": (4, 2), "hypot": (3, 2), "erf": (2, 2), "erfc": (4, 5),
    "gamma": (11, 10), "lgamma": (6, 4), "degrees": (1, 1), "radians": (1, 1), "exp10": (2, 1),
    "rsqrt": (2, 1), "cbrt": (1, 1), "rcbrt": (1, 1), "sinpi": (2, 2), "cospi": (2, 2),
    "tgamma": (11, 10), "normcdf": (5, 5),
}  # fmt: skip
OF_NUMPY = 2


def tolerance(function: str, dtype: np.dtype) -> float:
    """Return the largest difference of two right implementations, in last places."""
    errors = ERRORS.get(function)
    if errors is None or dtype.kind not in "fc" or errors == (0, 0):
        return EXACT
    return errors[dtype in (np.float64, np.complex128)] + OF_NUMPY


def corners(dtype: np.dtype) -> np.ndarray:
    """Return the values of a dtype at which implementations differ."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        near = [0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 33, 63, 64, 65, 100, high, high - 1, high // 2]
        signed = [-1, -2, -3, -7, -8, -32, low, low + 1] if low else [high // 2 + 1]
        return np.array([*near, *signed], dtype)
    if dtype.kind == "f":
        return _float_corners(dtype)
    part = np.array([0, -0.0, 1, -1, 0.5, -2.5, 3, np.inf, -np.inf, np.nan, 1e10, 1e-10])
    real, imaginary = (each.ravel() for each in np.meshgrid(part, part))
    numbers = np.empty(len(real), dtype)
    numbers.real, numbers.imag = real, imaginary
    return numbers


def _float_corners(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    small = float(info.smallest_subnormal)
    plain = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 10, 0.1, 1 / 3, 127.5, 128, 255.5, 256, 300, math.pi]
    wide = [2**15, 2**16, 2**31, 2**32, 2**53, 2**63, 2**64, 1e22, np.inf]
    limits = [float(info.max), float(info.tiny), small, 3 * small, float(info.eps)]
    with np.errstate(over="ignore"):
        both = np.array([*plain, *wide, *limits, np.nan]).astype(dtype)
    return np.concatenate([both, -both])


def values(dtype: str, seed: int, size: int = SIZE) -> np.ndarray:
    """Return random values: corners in random order, then random numbers."""
    kind, rng = np.dtype(dtype), np.random.default_rng(seed)
    chosen = rng.choice(corners(kind), 3 * size // 4)
    return np.concatenate([chosen, _random(kind, rng, size - len(chosen))])


def _random(dtype: np.dtype, rng: np.random.Generator, size: int) -> np.ndarray:
    if dtype.kind == "b":
        return rng.random(size) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, size, dtype, endpoint=True)
    numbers = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size)
    if dtype.kind == "c":
        numbers = numbers + 1j * rng.normal(size=size)
    return numbers.astype(dtype)


def operands(*dtypes: str) -> Callable[[], tuple[np.ndarray, ...]]:
    """Return a maker of one array of values per operand, each with other values."""
    return lambda: tuple(values(dtype, seed) for seed, dtype in enumerate(dtypes))


def loads(count: int) -> tuple[str, ...]:
    return tuple(f"{name} = i{n}[i]" for n, name in enumerate("abc"[:count]))


@functools.cache
def typing_context():
    """Return the typing context of Numba's CUDA target, filled with its declarations."""
    context = cuda_target.typing_context
    context.refresh()
    return context


@functools.cache
def result_dtype(function: Callable, dtypes: tuple[str, ...]) -> np.dtype | None:
    """Return the dtype that Numba's CUDA target gives the result, or None if it refuses."""
    context = typing_context()
    operands = tuple(from_dtype(np.dtype(d)) for d in dtypes)
    try:
        function_type = context.resolve_value_type(function)
        result = function_type.get_call_type(context, operands, {}).return_type
        return as_dtype(result) if isinstance(result, types.Number | types.Boolean) else None
    except Exception:  # Numba raises several kinds for what it does not take
        return None


def expression(label: str, text: str, dtype, error: float = EXACT) -> Result:
    return Result(label, f"OUT[i] = {text}", np.dtype(dtype), error)


def of_function(text: str, function: Callable, dtypes: tuple[str, ...]) -> Result | None:
    """Return a result whose dtype Numba's rules give; ``text`` is the expression."""
    dtype = result_dtype(function, dtypes)
    if dtype is None:
        return None
    name = getattr(function, "__name__", text)
    return expression(text, text, dtype, tolerance(name, dtype))


def elementwise(group: str, name: str, dtypes: tuple[str, ...], results) -> Iterator[Kernel]:
    """Yield kernels of at most AT_ONCE results of the same operands."""
    results = [each for each in results if each is not None]
    for start in range(0, len(results), AT_ONCE):
        some = tuple(results[start : start + AT_ONCE])
        yield Kernel(group, name, operands(*dtypes), loads(len(dtypes)), some)


OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


def _operator_error(symbol: str, result: np.dtype) -> float:
    """Return the tolerance of an operator; compilers differ for complex numbers."""
    if symbol == "**" and result.kind in "fc":
        return 64 if result.kind == "c" else tolerance("pow", result)
    if symbol in "*/" and result.kind == "c":
        return 4
    return EXACT


def _guard(symbol: str, left: str, right: str) -> str:
    """Return the condition under which Numba's code raises no error for these operands.

    An error ends a thread without a message, and the rest of its results would be missing.
    """
    if {left, right} & set(COMPLEX):
        return {"/": "b != 0", "**": "a != 0"}.get(symbol, "")
    if symbol == "**" and right in ("int32", "int64"):
        return f"b != {np.iinfo(right).min}"
    return ""


def _operation(symbol: str, pair: tuple[str, str], dtype: np.dtype) -> Result:
    result = expression(symbol, f"a {symbol} b", dtype, _operator_error(symbol, dtype))
    guard = _guard(symbol, *pair)
    return replace(result, statement=f"if {guard}:\n    {result.statement}") if guard else result


def binary_operators() -> Iterator[Kernel]:
    """Yield every operator for every pair of types.

    Comparisons with swapped operands are left out, because they would test nothing more.
    """
    for left in NUMBERS:
        for right in NUMBERS:
            pair, results = (left, right), []
            for symbol, function in OPERATORS.items():
                dtype = result_dtype(function, pair)
                if dtype is not None:
                    results.append(_operation(symbol, pair, dtype))
            extremes = [of_function(f"{f.__name__}(a, b)", f, pair) for f in (min, max)]
            # Numba refuses some of these: they would stop the others from being compiled at once.
            doubtful = {"bool", *COMPLEX} & set(pair)
            for some in (results, extremes) if doubtful else ([*results, *extremes],):
                yield from elementwise("operators", f"{left}_{right}", pair, some)


def _absolute(dtype: str) -> tuple[np.dtype, float]:
    """Return the dtype and the tolerance of ``abs``, which is a hypotenuse for a complex number."""
    result = result_dtype(abs, (dtype,)) or np.dtype(dtype)
    return result, tolerance("hypot", result) if dtype in COMPLEX else EXACT


def unary_operators() -> Iterator[Kernel]:
    for dtype in NUMBERS:
        one = (dtype,)
        results = [
            of_function("-a", operator.neg, one), of_function("+a", operator.pos, one),
            of_function("~a", operator.invert, one),
            expression("abs(a)", "abs(a)", *_absolute(dtype)),
            expression("not a", "not a", bool), expression("bool", "bool(a)", bool),
            of_function("round(a)", round, one),
        ]  # fmt: skip
        if dtype in FLOATS:
            results += [
                of_function(f"round(a, {digits})", round, (dtype, "int64"))
                for digits in (0, 1, 2, 5, -1, -3, 25)
            ]
        if dtype in INTEGERS:
            results.append(expression("bit_count", "a.bit_count()", np.int64))
        yield from elementwise("unary", dtype, one, results)


def divmods() -> Iterator[Kernel]:
    for dtype in (*INTEGERS, "float32", "float64"):
        statement = "q, r = divmod(a, b)\nOUT[i] = {}"
        result = result_dtype(operator.floordiv, (dtype, dtype))
        results = [Result(f"divmod {n}", statement.format(n), result) for n in "qr"]
        yield from elementwise("divmod", dtype, (dtype, dtype), results)


def casts() -> Iterator[Kernel]:
    """Yield casts by a call of the type, and by a store to an array of that type."""
    for dtype in NUMBERS:
        called = [
            expression(f"{to}(a)", f"types.{'boolean' if to == 'bool' else to}(a)", to)
            for to in NUMBERS
        ]
        stored = [expression(f"store to {to}", "a", to) for to in NUMBERS]
        python = [expression("int(a)", "int(a)", np.int64)]
        python += [expression("float(a)", "float(a)", np.float64)]
        python += [expression("complex(a)", "complex(a)", np.complex128)]
        yield from elementwise("casts", dtype, (dtype,), [*called, *stored, *python])


ONE = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "fabs", "floor",
    "ceil", "trunc", "erf", "erfc", "gamma", "lgamma", "isnan", "isinf", "isfinite", "degrees",
    "radians",
]  # fmt: skip
TWO = ["atan2", "pow", "fmod", "hypot", "copysign", "remainder", "nextafter"]
OF_COMPLEX = [
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "phase", "isnan", "isinf", "isfinite",
]  # fmt: skip


def of_math() -> Iterator[Kernel]:
    for dtype in ("int32", "uint8", "int64", "uint64", *FLOATS):
        one, two = (dtype,), (dtype, dtype)
        named = [(name, getattr(math, name, None)) for name in ONE]
        results = [of_function(f"math.{n}(a)", f, one) for n, f in named if f]
        yield from elementwise("math", dtype, one, results)
        named = [(name, getattr(math, name, None)) for name in TWO]
        results = [of_function(f"math.{n}(a, b)", f, two) for n, f in named if f]
        yield from elementwise("math", dtype, two, results)
        kind = dtype if dtype in FLOATS else "float64"
        results = [
            Result("frexp part", "m, e = math.frexp(a)\nOUT[i] = m", np.dtype(kind)),
            Result("frexp exponent", "m, e = math.frexp(a)\nOUT[i] = e", np.dtype(np.int32)),
            Result("modf part", "m, e = math.modf(a)\nOUT[i] = m", np.dtype(kind)),
            Result("modf whole", "m, e = math.modf(a)\nOUT[i] = e", np.dtype(kind)),
            expression("ldexp", "math.ldexp(a, 3)", kind),
        ]
        yield from elementwise("math", dtype, one, results)
    for dtype in COMPLEX:
        named = [(name, getattr(cmath, name)) for name in OF_COMPLEX]
        results = []
        for name, function in named:
            found = result_dtype(function, (dtype,))
            if found is not None:
                error = 64 if found.kind in "fc" else EXACT
                results.append(expression(f"cmath.{name}", f"cmath.{name}(a)", found, error))
        part = "float32" if dtype == "complex64" else "float64"
        results += [
            expression("real", "a.real", part), expression("imag", "a.imag", part),
            expression("conjugate", "a.conjugate()", dtype),
        ]  # fmt: skip
        yield from elementwise("cmath", dtype, (dtype,), results)


UFUNCS = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "conjugate", "cos", "cosh",
    "deg2rad", "degrees", "invert", "isnan", "log", "log10", "log2", "logical_not", "rad2deg",
    "radians", "sin", "sinh", "tan", "tanh",
]  # fmt: skip
UFUNCS_OF_TWO = [
    "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal", "fmax", "fmin",
    "greater", "greater_equal", "hypot", "left_shift", "less", "less_equal", "logical_and",
    "logical_or", "logical_xor", "maximum", "minimum", "not_equal", "right_shift",
]  # fmt: skip
LIKE = {"arc" + name: "a" + name for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2"]}
LIKE |= {"deg2rad": "radians", "rad2deg": "degrees"}


def of_numpy() -> Iterator[Kernel]:
    for dtype in ("int8", "int32", "uint64", *FLOATS, *COMPLEX):
        for names, kinds in ((UFUNCS, (dtype,)), (UFUNCS_OF_TWO, (dtype, dtype))):
            arguments, results = ", ".join("ab"[: len(kinds)]), []
            for name in names:
                found = result_dtype(getattr(np, name), kinds)
                if found is not None:
                    error = tolerance(LIKE.get(name, name), found)
                    error = 64 if found.kind == "c" and name != "conjugate" else error
                    text = f"np.{name}({arguments})"
                    results.append(expression(text, text, found, error))
            yield from elementwise("numpy", dtype, kinds, results)


HALF_OF_ONE = [
    "hneg", "habs", "hsin", "hcos", "hlog", "hlog2", "hlog10", "hexp", "hexp2", "hexp10",
    "hsqrt", "hrsqrt", "hceil", "hfloor", "htrunc", "hrint", "hrcp", "htanh", "htanh_approx",
]  # fmt: skip
HALF_OF_TWO = [
    "hadd", "hsub", "hmul", "hdiv", "hmax", "hmin", "heq", "hne", "hlt", "hle", "hgt", "hge",
]  # fmt: skip
HALF_EXACT = ["hneg", "habs", "hceil", "hfloor", "htrunc", "hrint"]


def halves() -> Iterator[Kernel]:
    results = [
        expression(n, f"cuda.fp16.{n}(a)", np.float16, EXACT if n in HALF_EXACT else 2)
        for n in HALF_OF_ONE
    ]
    yield from elementwise("fp16", "float16", ("float16",), results)
    results = [
        expression(n, f"cuda.fp16.{n}(a, b)", np.float16 if n < "he" or n[1] in "ms" else np.bool_)
        for n in HALF_OF_TWO
    ]
    yield from elementwise("fp16", "float16", ("float16",) * 2, results)
    fused = [expression("hfma", "cuda.fp16.hfma(a, b, c)", np.float16)]
    yield from elementwise("fp16", "float16", ("float16",) * 3, fused)


# Fast functions have no largest error in units in the last place: their rows tell it.
FAST = math.inf


def of_libdevice() -> Iterator[Kernel]:
    """Yield the libdevice functions that the virtual GPU knows, by the types of their operands."""
    from virtual_gpu.numbers.library_math import functions

    by_types: dict[tuple, list[Result]] = {}
    for function in functions():
        name = function.__name__
        known = libdevice_functions.get(f"__nv_{name}")
        if known is None or getattr(libdevice, name, None) is not function:
            continue
        returned, parameters = known
        if any(p.is_ptr for p in parameters):
            continue
        kinds = tuple(str(as_dtype(p.ty)) for p in parameters)
        found = as_dtype(returned)
        base = name[:-1] if name.endswith("f") and name[:-1] in ERRORS else name
        error = FAST if name.startswith("fast_") else tolerance(base, found)
        text = f"libdevice.{name}({', '.join('abc'[: len(kinds)])})"
        by_types.setdefault(kinds, []).append(expression(name, text, found, error))
    for kinds, results in by_types.items():
        yield from elementwise("libdevice", "_".join(kinds), kinds, results)


def bit_functions() -> Iterator[Kernel]:
    for dtype in INTEGERS:
        results = [expression(n, f"cuda.{n}(a)", np.int64) for n in ("popc", "clz", "ffs")]
        wide = np.uint64 if dtype.endswith("64") else np.uint32
        results.append(expression("brev", "cuda.brev(a)", wide))
        yield from elementwise("bits", dtype, (dtype,), results)
    for dtype in ("int32", "int64", "uint32", "float32", "float64"):
        results = [expression("selp", "cuda.selp(a < b, a, b)", dtype)]
        if dtype.startswith("float"):
            results += [
                expression("fma", "cuda.fma(a, b, c)", dtype),
                expression("cbrt", "cuda.cbrt(a)", dtype, 3),
                expression("a if a < b else b", "a if a < b else b", dtype),
            ]
        yield from elementwise("select", dtype, (dtype,) * 3, results)


ATOMICS = [
    "add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor", "exch", "inc", "dec",
]  # fmt: skip


def atomics() -> Iterator[Kernel]:
    """Yield atomics with one lane per element, then sums of integers over many lanes."""
    for dtype in WIDE:
        for name in ATOMICS:
            results = (
                Result("old value", f"OUT[i] = cuda.atomic.{name}(i0, i, i1[i])", np.dtype(dtype)),
            )
            yield Kernel("atomics", f"{name}_{dtype}", operands(dtype, dtype), (), results, False)
        results = (Result("old", "OUT[i] = cuda.atomic.cas(i0, i, i1[i], i2[i])", np.dtype(dtype)),)
        yield Kernel("atomics", f"cas_{dtype}", operands(*(dtype,) * 3), (), results, False)
        if dtype[0] in "iu":
            results = tuple(
                Result(f"{n} of all", f"cuda.atomic.{n}(OUT, i % 7, i0[i])", np.dtype(dtype))
                for n in ("add", "sub", "max", "min", "and_", "or_", "xor")
            )
            yield Kernel("atomics", f"meeting_{dtype}", operands(dtype), (), results, False)


SHUFFLES = {
    "shfl_sync": "cuda.shfl_sync(full, a, b)", "up": "cuda.shfl_up_sync(full, a, 3)",
    "down": "cuda.shfl_down_sync(full, a, 5)", "xor": "cuda.shfl_xor_sync(full, a, 9)",
}  # fmt: skip


def warps() -> Iterator[Kernel]:
    start = ("full = 0xffffffff", "a = i0[i]", "b = i1[i]")
    for dtype in (*NUMBERS,):
        results = tuple(expression(n, text, dtype) for n, text in SHUFFLES.items())
        given = operands(dtype, "uint8")
        limited = (*start[:2], "b = i1[i] % 32")
        yield Kernel("shuffles", dtype, given, limited, results, False)
        results = (
            expression("match_any", "cuda.match_any_sync(full, a)", np.uint32),
            Result("match_all", "m, p = cuda.match_all_sync(full, a)\nOUT[i] = m", np.dtype("u4")),
            Result("all", "m, p = cuda.match_all_sync(full, a)\nOUT[i] = p", np.dtype("?")),
        )
        few = _few(dtype)
        yield Kernel("matches", dtype, few, start[:2], results, False)
    votes = tuple(
        expression(n, f"cuda.{n}_sync(full, a > b)", kind)
        for n, kind in (("all", bool), ("any", bool), ("eq", bool), ("ballot", np.uint32))
    )
    votes += (
        expression("activemask", "cuda.activemask()", np.uint32),
        expression("lanemask_lt", "cuda.lanemask_lt()", np.uint32),
        expression("laneid", "cuda.laneid", np.int32),
        expression("syncthreads_count", "cuda.syncthreads_count(a > b)", np.int32),
        expression("syncthreads_and", "cuda.syncthreads_and(a > b)", np.int32),
        expression("syncthreads_or", "cuda.syncthreads_or(a > b)", np.int32),
    )
    yield Kernel("votes", "int32", operands("int32", "int32"), start, votes, False)


def _few(dtype: str) -> Callable[[], tuple[np.ndarray]]:
    """Return a maker of values of which many are equal; in half of the warps all are."""

    def made():
        some = corners(np.dtype(dtype))[-5:]
        numbers = np.random.default_rng(3).choice(some, SIZE).reshape(-1, 32)
        numbers[::2] = numbers[::2, :1]
        return (numbers.ravel(),)

    return made


def _states() -> tuple[np.ndarray]:
    rng, states = np.random.default_rng(5), np.zeros(SIZE, xoroshiro128p_dtype)
    for field in ("s0", "s1"):
        states[field] = rng.integers(1, 2**63, SIZE, np.uint64)
    return (states,)


def random_numbers() -> Iterator[Kernel]:
    for shape in ("uniform", "normal"):
        for dtype in ("float32", "float64"):
            draw = f"random.xoroshiro128p_{shape}_{dtype}(i0, i)"
            # Numba takes the logarithm of a float32, also for float64.
            error = EXACT if shape == "uniform" else 16 * (1 if dtype == "float32" else 2**29)
            results = tuple(expression(f"draw {n}", draw, dtype, error) for n in range(3))
            yield Kernel("random", f"{shape}_{dtype}", _states, (), results, False)


def _bodies() -> tuple[np.ndarray]:
    rng, made = np.random.default_rng(6), np.zeros(SIZE, BODY)
    made["at"]["x"] = values("float32", 1)
    made["at"]["tag"] = values("int16", 2)
    made["speed"] = rng.normal(size=(SIZE, 3))
    made["z"] = values("complex64", 3)
    made["on"] = values("bool", 4)
    return (made,)


def records() -> Iterator[Kernel]:
    texts = {
        "nested": ("i0[i].at.x + i0[i].at.tag", np.float64),
        "by name": ('i0[i]["at"]["tag"] * 3', np.int64),
        "array field": ("i0[i].speed[i % 3] - i0[i]['speed'][0]", np.float64),
        "complex field": ("i0[i].z + i0[i].on", np.complex128),
        "field of all": ("i0.z[i]", np.complex64),
        "bool field": ("i0[i].on", np.bool_),
    }
    results = [expression(label, text, kind) for label, (text, kind) in texts.items()]
    for text, value in (
        ("i0[i].at.x", "i0[i].at.tag"), ("i0[i].at.tag", "i0[i].speed[1]"),
        ("i0[i].speed[2]", "i0[i].at.x * 2"), ("i0[i].on", "i0[i].speed[0] > 0"),
        ("i0[i].z", "i0[i].speed[0]"),
    ):  # fmt: skip
        store = f"{text} = {value}\nOUT[i] = {text}"
        kind = {"x": np.float32, "tag": np.int16, "on": np.bool_, "z": np.complex64}
        found = kind.get(text.rpartition(".")[2], np.float64)
        results.append(Result(f"{text} = {value}", store, np.dtype(found)))
    for result in results:
        yield Kernel("records", result.label, _bodies, (), (result,), False)
    whole = Result("whole record", "OUT[i] = i0[i ^ 1]", BODY)
    yield Kernel("records", "whole", _bodies, (), (whole,), False)


def vector_types() -> Iterator[Kernel]:
    for dtype in (*INTEGERS, "float32", "float64"):
        results = []
        for count in (2, 3, 4):
            parts = ", ".join(["a", "b", "a", "b"][:count])
            for field in "xyzw"[:count]:
                results.append(
                    Result(
                        f"{dtype}x{count}.{field}",
                        f"v{count} = cuda.{dtype}x{count}({parts})\nOUT[i] = v{count}.{field}",
                        np.dtype(dtype),
                    )
                )
        yield from elementwise("vectors", dtype, (dtype, "float32"), results)


def tuples() -> Iterator[Kernel]:
    for dtype in ("bool", "int8", "uint64", "float32", "complex64"):
        pick = "t = (a, b, 1)\nOUT[i] = t[1]"
        found = np.dtype(dtype)
        results = [
            Result("item", pick, found),
            Result("unpacked", "p, q = b, a\nOUT[i] = p", found),
            Result("slice", "t = (a, b, a)[1:]\nOUT[i] = t[0]", found),
            Result("joined", "t = (a,) + (b, b)\nOUT[i] = t[2]", found),
            Result("by index", "t = (a, b)\nOUT[i] = t[i % 2]", found),
            Result("named", "t = Pair(a, b)\nOUT[i] = t.y", found),
            Result("same", "t = (a, b)\nOUT[i] = t == (b, a)", np.dtype(bool)),
        ]
        yield from elementwise("tuples", dtype, (dtype, dtype), results)


def own_arrays() -> Iterator[Kernel]:
    """Yield kernels with shared memory and local arrays of all types."""
    for dtype in NUMBERS:
        kind = f"types.{'boolean' if dtype == 'bool' else dtype}"
        shared = (
            f"tile = cuda.shared.array(128, {kind})\nt = cuda.threadIdx.x\ntile[t] = i0[i]\n"
            "cuda.syncthreads()\nOUT[i] = tile[t ^ 37]"
        )
        local = (
            f"own = cuda.local.array((2, 3), {kind})\nfor k in range(6):\n"
            "    own[k // 3, k % 3] = i0[(i + k) % i0.size]\nOUT[i] = own[i % 2, i % 3]"
        )
        results = (
            Result("shared", shared, np.dtype(dtype)), Result("local", local, np.dtype(dtype)),
        )  # fmt: skip
        yield Kernel("arrays", dtype, operands(dtype), (), results, False)


GROUPS = (
    binary_operators, unary_operators, divmods, casts, of_math, of_numpy, halves, of_libdevice,
    bit_functions, atomics, warps, random_numbers, records, vector_types, tuples, own_arrays,
)  # fmt: skip


def kernels() -> list[Kernel]:
    """Return all kernels, in the same order in every process."""
    return [kernel for group in GROUPS for kernel in group()]
