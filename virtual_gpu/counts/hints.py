"""Hints: the reasons why a count of a trace is larger than it need be. A hint is no flaw."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numba.core import types

from ..common.errors import Site
from ..common.lanes import WARP
from ..common.regular_stores import indexed_by_data
from ..common.source import Source
from .counters import AccessCount, LineCount

EXCESS_FACTOR = 2  # an access with less than twice the fewest sectors or wavefronts gets no hint
CROWD = 2  # lanes that store to one element at once
FEW_LANES = WARP // 4
REQUESTS_PER_BLOCK = 4  # requests per block (with one lane: per warp); fewer are done once for it
NOTABLE_SHARE = 0.1  # fraction of all requests of the launch


@dataclass(frozen=True)
class Hint:
    """The reason why a count is large, with its source line, array and numbers.

    ``kind`` is ``same_element``, ``idle_atomic``, ``unaligned_array``, ``strided_access``,
    ``bank_conflict``, ``idle_lanes`` or ``float64``. ``figures`` holds the numbers of the message
    by name. ``array`` is empty if the hint is not about an array. ``site`` is the source line.
    """

    kind: str
    site: Site
    array: str
    message: str
    figures: Mapping[str, float]

    @property
    def line(self) -> int:
        """The number of the source line."""
        return self.site.line

    def __str__(self) -> str:
        return f"hint at {self.site}: {self.message}."


@dataclass(frozen=True)
class KernelCounts:
    """The counts of a launch from which hints are derived.

    ``lines`` maps each source line to its counts. ``rows`` maps the name of each array in global
    memory to the stride in bytes of its last dimension but one, or to 0 if there is no such
    dimension. ``functions`` are the kernel and the functions that it called. ``blocks`` and
    ``warps`` are the numbers of those that ran. ``beaten_extremes`` are those of Counters, the
    (site, array, "min" or "max", attempts) of atomics that never had an effect. ``accesses`` are
    the counts per source line, array and kind of access.
    """

    accesses: tuple[AccessCount, ...]
    lines: Mapping[Site, LineCount]
    rows: Mapping[str, int]
    functions: tuple[Source, ...]  # the kernel and the functions it called
    blocks: int  # that were run
    warps: int  # in all of them
    beaten_extremes: tuple[tuple[Site, str, str, int], ...] = ()


def hints_of(counts: KernelCounts) -> tuple[Hint, ...]:
    """Return all hints of a launch.

    The first are those on results: crowded stores, atomics without an effect, and wide accesses of
    arrays that may not be aligned. Then follow strided accesses, bank conflicts, idle lanes and
    float64. Hints on strided accesses and bank conflicts begin with the largest excess, those on
    idle lanes with the most requests.
    """
    kinds = (_crowded, _beaten, _unaligned, _strided, _conflicts, _idle, _float64)
    return tuple(hint for kind in kinds for hint in kind(counts))


def _per_request(access: AccessCount, amount: int) -> float:
    """Return ``amount``, summed over an access's requests, per request."""
    return amount / access.requests


def _shown(number: float) -> str:
    """Return a number as text with at most one decimal, such as ``1,024`` or ``2.5``."""
    return f"{number:,.1f}".removesuffix(".0")


def _crowded(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each store to global memory in which several lanes store to each element.

    In one execution, at least two different elements are stored, by CROWD lanes or more per
    element. There is no hint for a store of a constant, such as a flag, and none if an index comes
    from the content of an array, such as a list of the vertices of a graph.
    """
    by_data = {
        source.site(store)
        for source in counts.functions
        for store in indexed_by_data(source.tree)
    }
    for access in counts.accesses:
        lanes, elements = access.crowded
        is_meant = access.site in by_data or _stores_a_constant(access.site)
        if elements > 1 and lanes >= CROWD * elements and not is_meant:
            yield Hint(
                "same_element", access.site, access.array,
                f"{lanes:,} threads store to {elements:,} elements of {access.array} at once, so "
                "several threads store to each: check the index, or let one of them store",
                {"lanes": lanes, "elements": elements},
            )  # fmt: skip


def _stores_a_constant(site: Site) -> bool:
    """Return True if a source line assigns a constant, or cannot be read by itself."""
    try:
        nodes = list(ast.walk(ast.parse(site.source)))
    except SyntaxError:  # the first line of several
        return True
    return any(isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) for n in nodes)


def _beaten(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each ``atomic.min`` or ``atomic.max`` that never had an effect.

    All its elements held 0, while every value was above 0 for "min" or below 0 for "max". An atomic
    with a single attempt gives no hint.
    """
    for site, array, name, attempts in counts.beaten_extremes:
        if attempts > 1:
            side = "above" if name == "min" else "below"
            yield Hint(
                "idle_atomic", site, array,
                f"{attempts:,} times atomic.{name} has not changed {array}, which holds 0 while "
                f"every value is {side} 0: begin with a number {side} all values",
                {"attempts": attempts},
            )  # fmt: skip


def _unaligned(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each shared array with an access wider than its declared alignment.

    The hint is at the first such access of the array.
    """
    named = set()
    for access in counts.accesses:
        width, alignment = access.bytes_per_lane, access.alignment
        if alignment is None or width <= max(alignment, access.dtype.itemsize):
            continue
        if access.array not in named:
            named.add(access.array)
            yield Hint(
                "unaligned_array", access.site, access.array,
                f"{access.name} needs an address that is a multiple of {width} bytes, and "
                f"{access.array} is only aligned to {alignment}: declare it with "
                f"alignment={width}",
                {"bytes_per_lane": width, "alignment": alignment},
            )  # fmt: skip


def _strided(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each access that touches at least EXCESS_FACTOR times the needed sectors.

    The sectors are those of all its requests in the launch. Needed are as many as the active lanes
    would touch with consecutive, aligned elements. The largest excess is first.
    """
    for access in sorted(counts.accesses, key=lambda a: a.fewest_sectors - a.sectors):
        if access.sectors < EXCESS_FACTOR * access.fewest_sectors or not access.sectors:
            continue
        sectors, fewest = (
            _per_request(access, n) for n in (access.sectors, access.fewest_sectors)
        )
        stride = _stride(access)
        pattern, numbers = _access_pattern(access, stride, counts)
        yield Hint(
            "strided_access", access.site, access.array,
            f"{pattern}: {_shown(sectors)} sectors per request where {_shown(fewest)} would do"
            f"{numbers}",
            {"requests": access.requests, "sectors_per_request": sectors,
             "fewest_sectors_per_request": fewest,
             **({} if stride is None else {"stride": stride})},
        )  # fmt: skip


def _access_pattern(
    access: AccessCount, stride: int | None, counts: KernelCounts
) -> tuple[str, str]:
    """Return the tuple (description of the access, numbers that follow it in the message).

    The description is such as ``strided load of x``, ``transposed load of x``, ``scattered load of
    x`` or ``load of x in pieces``. The numbers are a text in brackets after a space, or "" for a
    scattered access. ``stride`` is in bytes, and None for a scattered access.
    """
    subject = f"{access.kind} of {access.array}"
    if stride is None:
        return f"scattered {subject}", ""
    if abs(stride) == _element_bytes(access):
        count = _count_runs(access)
        pieces = f" (a warp's access is {count} pieces of neighbouring elements)"
        return f"{subject} in pieces", pieces
    word = "transposed" if abs(stride) == counts.rows.get(access.array) else "strided"
    return f"{word} {subject}", f" (neighbouring threads are {abs(stride):,} bytes apart)"


def _count_runs(access: AccessCount) -> int:
    """Return the number of runs of adjacent elements in the first recorded request.

    A run consists of consecutive active lanes whose elements are neighbours in memory.
    """
    row = access.first[0]
    gaps = abs(np.diff(row[row >= 0])) != _element_bytes(access)
    return 1 + int(np.count_nonzero(gaps))


def _element_bytes(access: AccessCount) -> int:
    """Return the bytes that one thread moves in an access, which may take two requests."""
    return max(access.dtype.itemsize, access.bytes_per_lane)


def _stride(access: AccessCount) -> int | None:
    """Return the stride in bytes between most neighbouring active lanes in the first request.

    Returns None if fewer than two lanes are active, or if fewer than half of the strides agree, or
    if the stride is 0.
    """
    row = access.first[0]
    active = row[row >= 0]
    if len(active) < 2:
        return None
    (stride, often), *_ = Counter(np.diff(active).tolist()).most_common(1)
    return stride if stride and 2 * often >= len(active) - 1 else None


def _conflicts(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each access with at least EXCESS_FACTOR times the needed wavefronts.

    The wavefronts are those of all its requests in the launch. Needed are as many as the active
    lanes would take with consecutive, aligned elements. The largest excess is first.
    """
    for access in sorted(counts.accesses, key=lambda a: a.fewest_wavefronts - a.wavefronts):
        if access.wavefronts < EXCESS_FACTOR * access.fewest_wavefronts or not access.wavefronts:
            continue
        taken, fewest = (
            _per_request(access, n) for n in (access.wavefronts, access.fewest_wavefronts)
        )
        yield Hint(
            "bank_conflict", access.site, access.array,
            f"{_shown(taken / fewest)}-way bank conflict at the {access.name}: "
            f"{_shown(taken)} wavefronts per request where {_shown(fewest)} would do",
            {"requests": access.requests, "wavefronts_per_request": taken,
             "fewest_wavefronts_per_request": fewest,
             "elements_per_lane": max(1, access.bytes_per_lane // access.dtype.itemsize)},
        )  # fmt: skip


def _idle(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each frequent access with at most FEW_LANES active lanes per request.

    An access is frequent if it has NOTABLE_SHARE of all requests and REQUESTS_PER_BLOCK requests
    per block, or per warp if one lane is active. So a guard at an edge gives no hint, and neither
    does one lane that stores the result of its warp or block. The access with the most requests is
    first.
    """
    all_requests = sum(access.requests for access in counts.accesses)
    for access in sorted(counts.accesses, key=lambda a: -a.requests):
        lanes, requests = _per_request(access, access.lanes), access.requests
        often = requests >= REQUESTS_PER_BLOCK * (counts.blocks if lanes > 1 else counts.warps)
        if lanes > FEW_LANES or not often or requests < NOTABLE_SHARE * all_requests:
            continue
        yield Hint(
            "idle_lanes", access.site, access.array,
            f"{_shown(lanes)} of {WARP} lanes active at the {access.name}, in "
            f"{requests:,} requests",
            {"requests": requests, "lanes_per_request": lanes},
        )  # fmt: skip


def _float64(counts: KernelCounts) -> Iterator[Hint]:
    """Yield a hint for each line that computes in float64 although arrays are float32.

    There is no hint if no array that was accessed is in float32, if one is in float64 or
    complex128, or if the source asks for float64.
    """
    dtypes = {access.dtype for access in counts.accesses}
    single = np.dtype(np.float32) in dtypes
    if not single or dtypes & DOUBLES or any(map(_asks_for_float64, counts.functions)):
        return
    for site, count in counts.lines.items():
        if not count.float64_ops:
            continue
        accesses = [a for a in counts.accesses if a.site == site and a.dtype == np.float32]
        yield Hint(
            "float64", site, accesses[0].array if accesses else "",
            f"{count.float64_ops:,} operations in float64, although no array is: write "
            "float32(...) around numbers with a point, arguments, and integers that meet float32",
            {"float64_ops": count.float64_ops},
        )  # fmt: skip


DOUBLES = {np.dtype(np.float64), np.dtype(np.complex128)}
_DOUBLE_TYPES = {types.float64, types.complex128, np.float64, np.complex128, float, *DOUBLES}
_DOUBLE_NAMES = {"float64", "complex128", "double"}


def _asks_for_float64(source: Source) -> bool:
    """Return True if the source names float64 or complex128, directly or through a constant.

    ``double`` and Python's ``float`` count as float64.
    """
    return any(_names_float64(node, source) for node in ast.walk(source.tree))


def _names_float64(node: ast.AST, source: Source) -> bool:
    """Return True if a node of the syntax tree is a name, attribute or string for float64."""
    if isinstance(node, ast.Attribute):
        return node.attr in _DOUBLE_NAMES
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in _DOUBLE_NAMES
    value = source.names.get(node.id) if isinstance(node, ast.Name) else None
    return isinstance(value, type | np.dtype | types.Type) and value in _DOUBLE_TYPES
