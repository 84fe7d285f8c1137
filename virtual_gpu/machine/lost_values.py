"""Integers that do not fit where they are stored, and fractions that are stored as integers."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace

import numpy as np

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Mask
from ..types.numba_types import cast
from .place import Place
from .run import BatchRun

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_HASH_FACTOR = 1 << 16  # products with larger constants are hashes and random numbers, which wrap


def check_stored(place: Place, value) -> None:
    """Report, as a warning, the active lanes whose number changes when it is stored as an integer.

    All active lanes must be in bounds. ``value`` is a number or a lane vector, before it is cast to
    the dtype of the array. Numbers that are meant to wrap are not reported: those of lines with a
    bitwise operation or a product with a large constant, those of unsigned arrays of 32 and 64
    bits, which hold hashes and random numbers, and -1, which marks an element. Nor are numbers
    outside the range if the line is only a part of a statement. The fractions of pixels, which have
    8 bits or are unsigned and have 16, are not reported either.
    """
    dtype = place.array.dtype
    if not _may_lose(value.dtype, dtype):
        return
    numbers = place.mask.entries(value)
    outside = _outside(numbers, dtype)
    line = place.site.source
    if outside.any() and not (_is_meant(line) or _is_mark(line, numbers[outside])):
        _report(place, "overflow", outside, numbers)
    if value.dtype.kind == "f" and not _holds_pixels(dtype):
        fraction = ~outside & (numbers != np.trunc(numbers))
        if fraction.any():
            _report(place, "truncated", fraction, numbers)


def _may_lose(source: np.dtype, target: np.dtype) -> bool:
    """Return True if storing a number of one dtype as another can change it in a way to report.

    That is so for integer targets only, other than uint32 and uint64, and only if the number is a
    float or an integer with more bytes.
    """
    if target.kind not in "iu" or source.kind not in "iuf":
        return False
    if target.kind == "u" and target.itemsize >= 4:
        return False
    return source.kind == "f" or source.itemsize > target.itemsize


def _holds_pixels(dtype: np.dtype) -> bool:
    """Return True for an 8-bit dtype and for uint16.

    They are the dtypes of images, to which programs round by storing.
    """
    return dtype.itemsize == 1 or dtype == np.uint16


def _outside(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return a bool per number: True if an integer dtype has no room for it, or if it is NaN."""
    limits = np.iinfo(dtype)
    whole = np.trunc(numbers) if numbers.dtype.kind == "f" else numbers
    return ~((whole >= limits.min) & (whole <= limits.max))


@functools.cache
def _is_meant(line: str) -> bool:
    """Return True if a source line may store a number that is meant to wrap.

    It then computes with bits or hashes or assigns a negative constant, or it is a part of a
    statement that cannot be parsed by itself.
    """
    try:
        nodes = list(ast.walk(ast.parse(line)))
    except SyntaxError:  # the first line of several
        return True
    return any(map(wraps_on_purpose, nodes)) or any(_is_minus_one(node) for node in nodes)


def wraps_on_purpose(node: ast.AST) -> bool:
    """Return True for a bitwise operation, and for a product with a large constant."""
    if not isinstance(node, ast.BinOp | ast.AugAssign):
        return False
    operands = [node.value] if isinstance(node, ast.AugAssign) else [node.left, node.right]
    large = any(
        isinstance(o, ast.Constant) and isinstance(o.value, int) and o.value >= _HASH_FACTOR
        for o in operands
    )
    return isinstance(node.op, _BITWISE) or (isinstance(node.op, ast.Mult) and large)


def _is_minus_one(node: ast.AST) -> bool:
    """Return True for an assignment of a constant with a sign, as -1, which marks elements."""
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant)


def _is_mark(line: str, lost: np.ndarray) -> bool:
    """Return True if a source line stores a variable, and all numbers in ``lost`` are -1.

    ``lost`` are the numbers that do not fit; -1 marks elements.
    """
    return bool((lost == -1).all()) and _stores_a_variable(line)


@functools.cache
def _stores_a_variable(line: str) -> bool:
    """Return True if a source line, which can be read by itself, assigns the value of a name."""
    nodes = ast.walk(ast.parse(line))
    return any(isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) for n in nodes)


def _report(place: Place, kind: str, where: np.ndarray, numbers: np.ndarray) -> None:
    """Report a warning about the active lanes in ``where``, which store these ``numbers``.

    ``kind`` is "overflow" or "truncated". ``where`` and ``numbers`` have one entry per active lane.
    """
    lanes, array = place.mask.index[where], place.array

    def describe() -> Finding:
        lane, number = int(lanes[0]), numbers[where][0]
        element, thread = place.element(lane), place.run.batch.thread(lane)
        kept = cast(number, array.dtype)
        advice = "; write int() around the value if that is meant" if kind == "truncated" else ""
        return Finding(
            kind, place.site, array.name, element, (thread,), len(lanes),
            f"{thread} stores {_shown(number)} to {array.name}{list(element)}, an element of "
            f"{array.dtype}, which becomes {kept}{advice}.",
        )  # fmt: skip

    place.run.report.add(place.flaw(kind, lanes), describe)


def check_sum(place: Place, addresses: np.ndarray, data: np.ndarray, values: np.ndarray) -> None:
    """Report, as a warning, the active lanes whose atomic sums leave the range of int32.

    ``addresses`` and ``values``, which are added, have one entry per active lane. ``data`` is the
    storage before the update; if it has another dtype, nothing is checked.
    """
    if data.dtype != np.int32:
        return
    limits, before = np.iinfo(np.int32), data.take(addresses).astype(np.int64)
    added = values.astype(np.int64)
    largest = np.abs(before).max() + np.abs(added).sum()
    if largest <= limits.max:
        return
    elements, at = np.unique(addresses, return_inverse=True)
    sums = data.take(elements).astype(np.int64)
    np.add.at(sums, at, added)
    outside = ((sums < limits.min) | (sums > limits.max))[at]
    if not outside.any():
        return
    lanes = place.mask.index[outside]

    def describe() -> Finding:
        lane, total = int(lanes[0]), int(sums[at][outside][0])
        element, thread = place.element(lane), place.run.batch.thread(lane)
        kept = np.array(total).astype(np.int32)
        return Finding(
            "overflow", place.site, place.array.name, element, (thread,), len(lanes),
            f"{thread} and others add to {place.array.name}{list(element)}, an element of int32, "
            f"whose sum {total} becomes {kept}.",
        )  # fmt: skip

    place.run.report.add(place.flaw("overflow", lanes), describe)


def check_index(run: BatchRun, mask: Mask, site: Site, value, dtype: np.dtype) -> None:
    """Report, as a warning, the lanes whose number changes when it is cast to an index.

    ``value`` is a number or a lane vector, before the cast to the integer ``dtype``.
    """
    numbers = mask.entries(value)
    outside = _outside(numbers, dtype)
    if not outside.any():
        return
    lanes = mask.index[outside]

    def describe() -> Finding:
        number, thread = numbers[outside][0], run.batch.thread(int(lanes[0]))
        kept = int(cast(number, dtype))
        return Finding(
            "overflow", site, "", (kept,), (thread,), len(lanes),
            f"{thread} computes the index {_shown(number)}, which as {dtype} becomes {kept}.",
        )  # fmt: skip

    flaw = Flaw("overflow", site, "", run.batch.numbers[lanes])
    run.report.add(replace(flaw, indices=cast(numbers[outside], dtype)), describe)


def _shown(number: np.generic) -> str:
    """Return a number as text: a float with at most 6 significant digits, an integer in full."""
    return f"{float(number):g}" if number.dtype.kind == "f" else str(int(number))


def is_index(node: ast.Call, tree: ast.AST) -> bool:
    """Return True if a cast is used as an index, and does not wrap on purpose.

    It is part of an index of ``tree``, or is assigned to a name that is part of one.
    """
    if any(map(wraps_on_purpose, ast.walk(node))):
        return False
    names = {
        target.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and one.value is node
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    inside = [n for s in ast.walk(tree) if isinstance(s, ast.Subscript) for n in ast.walk(s.slice)]
    return any(n is node or (isinstance(n, ast.Name) and n.id in names) for n in inside)
