"""Numbers of one lane as Python numbers, and the Python text that computes with them.

An integer is a Python int, a bool a Python bool, a float64 a Python float, and a float32 a NumPy
scalar. Python's text is used for operations that give the same bits as NumPy's; every other
operation calls the implementation in operations.py.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..types import numba_types
from . import operations

INT64, FLOAT32, FLOAT64 = np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
MIXED = np.dtype(object)  # an int64, float32 or float64, which only the running code tells apart
_EXACT_BITS = 53  # integers below 2**53 are float64 numbers
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


class NoText(Exception):
    """Raised while code is generated, for what has no text; vectors of lanes do it instead."""


class GiveUp(Exception):
    """Raised while generated code runs, for what only the code for vectors of lanes can judge."""


@dataclass(frozen=True)
class Text:
    """The text of a number: Python code whose value is the number.

    ``dtype`` is that of the number, or MIXED. An integer is below ``2**bits`` in size. ``wide`` is
    the code of a float32's value as a Python float, if that is cheaper than a conversion. ``atom``
    is True for a name or a constant, which costs nothing to evaluate. ``varies`` is True if lanes
    may have different numbers.
    """

    code: str
    dtype: np.dtype
    varies: bool
    bits: int = 64
    wide: str = ""
    atom: bool = False


def is_known(dtype: np.dtype) -> bool:
    """Return True for bool, integers, float32 and float64: the dtypes that the code can have."""
    return dtype.kind in "biu" or dtype in (FLOAT32, FLOAT64)


def bits_of_dtype(dtype: np.dtype) -> int:
    """Return the number of bits of an integer dtype without its sign: 63 for int64, 1 for bool."""
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize - (dtype.kind == "i")


def as_python(value: np.generic):
    """Return a NumPy scalar as a Python number; a float32 remains a NumPy scalar."""
    return value[()] if value.dtype == FLOAT32 else value.item()


class Numbers:
    """Generates the Text of operations on numbers.

    ``names`` maps names in the generated code to the objects that they name.
    """

    def __init__(self) -> None:
        self.names: dict[str, object] = {
            "f32": np.float32, "divide": _divide, "narrow": _narrow, "root": _root,
            "least": _least, "largest": _largest, "to_int": _to_int, "wrap": _wrap,
            "floor_divide": _floor_divide, "remainder": _remainder,
        }  # fmt: skip
        self._temporaries = 0

    def temporary(self) -> str:
        """Return a new name for a temporary value, such as "t1"."""
        self._temporaries += 1
        return f"t{self._temporaries}"

    def named(self, thing: object) -> str:
        """Add an object to ``names`` and return its new name."""
        name = f"c{len(self.names)}"
        self.names[name] = thing
        return name

    def constant(self, value: np.generic) -> Text:
        """Return the Text of a constant; raise NoText for a dtype that the code cannot have."""
        if not is_known(value.dtype):
            raise NoText(value.dtype)
        if value.dtype.kind in "iu":
            number = int(value)
            return Text(f"({number})", value.dtype, False, abs(number).bit_length(), atom=True)
        if value.dtype.kind == "b":
            return Text(str(bool(value)), value.dtype, False, 1, atom=True)
        wide = repr(float(value))
        wide = f"({wide})" if math.isfinite(value) else self.named(float(value))
        code = wide if value.dtype == FLOAT64 else self.named(value)
        return Text(code, value.dtype, False, wide=wide, atom=True)

    def cast(self, value: Text, dtype: np.dtype | None) -> Text:
        """Return the Text of a cast as in ``numba_types.cast``; for None, ``value`` itself.

        Raises NoText for a dtype that the code cannot have, and for a MIXED number unless it is
        cast to float64.
        """
        source = value.dtype
        if dtype is None or source == dtype:
            return value
        if source == MIXED:
            if dtype == FLOAT64:
                return replace(value, code=f"float({value.code})", dtype=FLOAT64, atom=False)
            raise NoText("a number of two types")
        if not is_known(dtype):
            raise NoText(dtype)
        code, bits = self._cast(value, dtype)
        return Text(code, dtype, value.varies, bits)

    def _cast(self, value: Text, dtype: np.dtype) -> tuple[str, int]:
        """Return the code of a cast to another dtype, and ``bits`` for its Text; 0 for a float."""
        source, code, bits = value.dtype, value.code, bits_of_dtype(dtype)
        if dtype.kind == "b":
            number = value.wide or f"float({code})"
            return f"({number if source == FLOAT32 else code} != 0)", 1
        if dtype == FLOAT64:
            return value.wide or f"float({code})", 0
        if dtype == FLOAT32:
            if source == FLOAT64 or value.bits <= _EXACT_BITS:
                return f"f32({code})", 0
            return f"{self._generic_cast(source, dtype)}({code})", 0
        if source.kind == "f":
            generic = self._generic_cast(source, dtype)
            if dtype.itemsize < 4 or dtype.kind == "u":
                return f"{generic}({code})", bits
            return f"to_int({code}, {generic})", bits
        if source.kind == "b":
            return f"int({code})", 1
        fits = value.bits <= bits and (dtype.kind == "i" or source.kind == "u")
        if fits:
            return code, value.bits
        if dtype.kind == "u":
            return f"({code} & {(1 << bits) - 1})", bits
        return f"narrow({code}, {1 << bits})", bits

    def _generic_cast(self, source: np.dtype, dtype: np.dtype) -> str:
        """Return the name, in the code, of a function that casts with ``numba_types.cast``."""
        return self.named(lambda x: as_python(numba_types.cast(source.type(x), dtype)))

    def wrapped(self, value: Text) -> Text:
        """Return the Text of an integer that wraps around as its dtype does.

        Any other number, and an integer whose ``bits`` fit its dtype, is returned unchanged.
        """
        if value.dtype.kind not in "iu" or value.bits <= (bits := bits_of_dtype(value.dtype)):
            return value
        if value.dtype.kind == "u":
            code = f"({value.code} & {(1 << bits) - 1})"
        elif value.dtype == INT64:
            t = self.temporary()
            code = f"({t} if {_LOWEST} <= ({t} := {value.code}) <= {_HIGHEST} else wrap({t}))"
        else:
            code = f"narrow({value.code}, {1 << bits})"
        return replace(value, code=code, bits=bits)

    def apply(self, function: Callable, values: list[Text], is_position: bool = False) -> Text:
        """Return the Text of ``function(*values)`` in Numba's types.

        If ``is_position`` is True, a sum, difference or product of int64 numbers does not wrap
        around, because the caller finds an index that is out of bounds. Raises NoText for a
        function or a type that the code cannot have.
        """
        if any(v.dtype == MIXED for v in values):
            raise NoText("a number of two types")
        dtypes = tuple(v.dtype for v in values)
        compute = operations.prepared(function, dtypes)
        rule = numba_types.rule(function, dtypes)
        if compute is None or rule is None or not is_known(rule.result):
            raise NoText(function)
        varies = any(v.varies for v in values)
        short = self._short(function, values, rule, is_position)
        if short is not None:
            return replace(short, varies=varies)
        if not all(map(is_known, dtypes)):
            raise NoText(dtypes)

        def generic(*numbers):
            # NumPy may compute a vector and a scalar differently in the last place.
            each = [d.type(n) for d, n in zip(dtypes, numbers, strict=True)]
            if varies:
                return as_python(np.asarray(compute(*(np.array([n]) for n in each)))[0])
            return as_python(compute(*each))

        code = f"{self.named(generic)}({', '.join(v.code for v in values)})"
        return Text(code, rule.result, varies, bits_of_dtype(rule.result))

    def _short(
        self, function: Callable, values: list[Text], rule, is_position: bool
    ) -> Text | None:
        """Return the Text of a function by Python's operators or helpers, or None if none fits."""
        if function in _COMPARISONS:
            return self._comparison(function, values, rule)
        if not all(map(is_known, rule.operands)) or rule.result.kind == "b":
            return None
        kinds = {d.kind for d in rule.operands}
        if kinds == {"f"} and set(rule.operands) == {rule.result}:
            return self._of_floats(function, values, rule.result)
        if len(values) == 2 and set(rule.operands) == {rule.result} and kinds <= {"i", "u"}:
            operands = [self.cast(v, rule.result) for v in values]
            return self._of_integers(function, operands, rule.result, is_position)
        return None

    def _comparison(self, function: Callable, values: list[Text], rule) -> Text | None:
        """Return the Text of a comparison, whose value is a Python bool.

        Returns None unless it compares two numbers that Numba casts to one dtype.
        """
        if len(values) != 2 or not all(map(is_known, rule.operands)):
            return None
        kind = rule.operands[0]
        if kind != rule.operands[1]:
            return None
        operands = [self.cast(v, kind) for v in values]
        if kind == FLOAT32:  # of two NumPy scalars the result would be no Python bool
            operands = [self.cast(v, FLOAT64) for v in operands]
        left, right = (v.code for v in operands)
        return Text(f"({left} {_COMPARISONS[function]} {right})", BOOL, False, 1)

    def _of_floats(self, function: Callable, values: list[Text], dtype: np.dtype) -> Text | None:
        """Return the Text of an operation on floats of one dtype, or None if it is unknown."""
        codes = [self.cast(v, dtype).code for v in values]
        if function in _ARITHMETIC and len(codes) == 2:
            return Text(f"({codes[0]} {_ARITHMETIC[function]} {codes[1]})", dtype, False)
        if function is operator.truediv:
            if dtype == FLOAT32 or (values[1].atom and _is_nonzero(codes[1])):
                return Text(f"({codes[0]} / {codes[1]})", dtype, False)
            return Text(f"divide({codes[0]}, {codes[1]})", dtype, False)
        if function is operator.neg:
            return Text(f"(-{codes[0]})", dtype, False)
        if function in (abs, math.fabs):
            return Text(f"abs({codes[0]})", dtype, False)
        if function is math.sqrt:
            inner = codes[0] if dtype == FLOAT64 else self.cast(values[0], FLOAT64).code
            root = f"root({inner})"
            return Text(root if dtype == FLOAT64 else f"f32({root})", dtype, False)
        if function in (min, max) and all(v.dtype in (FLOAT32, FLOAT64) for v in values):
            generic = self.named(operations.prepared(function, (dtype, dtype)))
            name = "least" if function is min else "largest"
            return Text(f"{name}({codes[0]}, {codes[1]}, {generic})", dtype, False)
        return None

    def _of_integers(
        self, function: Callable, values: list[Text], dtype: np.dtype, is_position: bool
    ) -> Text | None:
        """Return the Text of an operation on two integers of one dtype, or None if it is unknown.

        With ``is_position``, a sum, difference or product of int64 numbers does not wrap around.
        """
        left, right = values
        if function in _ARITHMETIC:
            code = f"({left.code} {_ARITHMETIC[function]} {right.code})"
            bits = max(left.bits, right.bits) + 1
            if function is operator.mul:
                bits = left.bits + right.bits
            if dtype.kind == "u":
                bits = 65 if function is operator.sub else bits
            value = Text(code, dtype, False, bits)
            return value if is_position and dtype == INT64 else self.wrapped(value)
        if function in _BITWISE:
            bits = max(left.bits, right.bits)
            return Text(f"({left.code} {_BITWISE[function]} {right.code})", dtype, False, bits)
        if function in (operator.floordiv, operator.mod) and dtype == INT64:
            name = "floor_divide" if function is operator.floordiv else "remainder"
            sign = "//" if function is operator.floordiv else "%"
            bits = left.bits if function is operator.floordiv else right.bits
            if right.atom and right.code.strip("()").isdigit() and _is_nonzero(right.code):
                return Text(f"({left.code} {sign} {right.code})", dtype, False, bits)
            generic = self.named(operations.prepared(function, (dtype, dtype)))
            return Text(f"{name}({left.code}, {right.code}, {generic})", dtype, False, 63)
        return None


def _is_nonzero(code: str) -> bool:
    """Return True if the code of an atom is a literal number other than 0; a name gives False."""
    try:
        return float(code.strip("()")) != 0
    except ValueError:
        return False


_ARITHMETIC = {operator.add: "+", operator.sub: "-", operator.mul: "*"}
_BITWISE = {operator.and_: "&", operator.or_: "|", operator.xor: "^"}
_COMPARISONS = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}


def _divide(x: float, y: float) -> float:
    """Return ``x / y`` of float64 numbers; for y = 0 it is an infinity or NaN."""
    try:
        return x / y
    except ZeroDivisionError:
        return float(np.divide(np.float64(x), np.float64(y)))


def _root(x: float) -> float:
    """Return the square root of a float64 number; a negative number gives NaN."""
    return math.sqrt(x) if x >= 0 else float(np.sqrt(np.float64(x)))


def _least(x, y, generic: Callable):
    """Return ``min(x, y)`` of two floats; ``generic`` decides about equal numbers and NaN."""
    if x < y:
        return x
    return y if y < x else as_python(generic(*_scalars(x, y)))


def _largest(x, y, generic: Callable):
    """Return ``max(x, y)`` of two floats; ``generic`` decides about equal numbers and NaN."""
    if x > y:
        return x
    return y if y > x else as_python(generic(*_scalars(x, y)))


def _scalars(*numbers) -> list[np.generic]:
    """Return numbers as NumPy scalars; a Python float is a float64, and an int an int64."""
    return [numba_types.scalar(number) for number in numbers]


def _floor_divide(x: int, y: int, generic: Callable) -> int:
    """Return ``x // y`` of int64 numbers; ``generic`` decides where y is 0 or negative."""
    return x // y if y > 0 else int(generic(np.int64(x), np.int64(y)))


def _remainder(x: int, y: int, generic: Callable) -> int:
    """Return ``x % y`` of int64 numbers; ``generic`` decides where y is 0 or negative."""
    return x % y if y > 0 else int(generic(np.int64(x), np.int64(y)))


def _to_int(x, generic: Callable) -> int:
    """Return a float truncated to an int; ``generic`` casts NaN and numbers beyond 31 bits."""
    return int(x) if -2147483648 < x < 2147483647 else generic(x)


def _narrow(number: int, half: int) -> int:
    """Return an integer wrapped around, as a signed integer from -half to half - 1."""
    return (number + half) % (2 * half) - half


def _wrap(number: int) -> int:
    """Return an integer wrapped around, as an int64 would be."""
    return _narrow(number, 1 << 63)
