"""Hints: what makes a figure of a trace larger than it need be. A hint is no flaw."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numba.core import types

from ..common.errors import Site
from ..common.lanes import WARP
from ..common.source import Source
from .counters import AccessCount, LineCount

TWICE = 2  # an access that needs less than twice the fewest sectors or wavefronts is let pass
FEW_LANES = WARP // 4
OFTEN = 4  # requests per block, of one lane per warp; fewer are what is done once for it
NOTABLE = 0.1  # of all requests of the launch


@dataclass(frozen=True)
class Hint:
    """Why a figure is large, by source line and array, with numbers.

    ``kind`` is ``strided_access``, ``bank_conflict``, ``idle_lanes`` or ``float64``. ``figures``
    are the numbers of the message by name. ``array`` is empty where none is meant.
    """

    kind: str
    site: Site
    array: str
    message: str
    figures: Mapping[str, float]

    @property
    def line(self) -> int:
        return self.site.line

    def __str__(self) -> str:
        return f"hint at {self.site}: {self.message}."


@dataclass(frozen=True)
class Seen:
    """What hints are made of. ``rows``: for each array in global memory, the bytes between two
    neighbours of its last dimension but one (0 where there is no such dimension)."""

    accesses: tuple[AccessCount, ...]
    lines: Mapping[Site, LineCount]
    rows: Mapping[str, int]
    functions: tuple[Source, ...]  # the kernel and what it called
    blocks: int  # that were run
    warps: int  # in all of them


def hints_of(seen: Seen) -> tuple[Hint, ...]:
    """All hints of a launch: accesses of global memory first, of each kind the largest first."""
    kinds = (_strided, _conflicts, _idle, _float64)
    return tuple(hint for kind in kinds for hint in kind(seen))


def _per_request(access: AccessCount, amount: int) -> float:
    return amount / access.requests


def _shown(number: float) -> str:
    """A number with at most one decimal."""
    return f"{number:,.1f}".removesuffix(".0")


def _strided(seen: Seen) -> Iterator[Hint]:
    for access in sorted(seen.accesses, key=lambda a: a.fewest_sectors - a.sectors):
        if access.sectors < TWICE * access.fewest_sectors or not access.sectors:
            continue
        sectors, fewest = (
            _per_request(access, n) for n in (access.sectors, access.fewest_sectors)
        )
        step = _step(access)
        how, why = _layout(access, step, seen)
        yield Hint(
            "strided_access", access.site, access.array,
            f"{how}: {_shown(sectors)} sectors per request where {_shown(fewest)} would do{why}",
            {"requests": access.requests, "sectors_per_request": sectors,
             "fewest_sectors_per_request": fewest, **({} if step is None else {"stride": step})},
        )  # fmt: skip


def _layout(access: AccessCount, step: int | None, seen: Seen) -> tuple[str, str]:
    """How the threads of a warp lie in the array, and the numbers that tell it, in brackets."""
    what = f"{access.kind} of {access.array}"
    if step is None:
        return f"scattered {what}", ""
    if abs(step) == _element_bytes(access):
        count = _pieces(access)
        return f"{what} in pieces", f" (a warp's access is {count} pieces of neighbouring elements)"
    word = "transposed" if abs(step) == seen.rows.get(access.array) else "strided"
    return f"{word} {what}", f" (neighbouring threads are {abs(step):,} bytes apart)"


def _pieces(access: AccessCount) -> int:
    """In how many pieces the first request lies, each of neighbouring elements."""
    row = access.first[0]
    gaps = abs(np.diff(row[row >= 0])) != _element_bytes(access)
    return 1 + int(np.count_nonzero(gaps))


def _element_bytes(access: AccessCount) -> int:
    """What one thread moves; a complex number is two requests."""
    return max(access.dtype.itemsize, access.bytes_per_lane)


def _step(access: AccessCount) -> int | None:
    """The bytes between most neighbouring threads of the first request; None where it varies."""
    row = access.first[0]
    active = row[row >= 0]
    if len(active) < 2:
        return None
    (step, often), *_ = Counter(np.diff(active).tolist()).most_common(1)
    return step if step and 2 * often >= len(active) - 1 else None


def _conflicts(seen: Seen) -> Iterator[Hint]:
    for access in sorted(seen.accesses, key=lambda a: a.fewest_wavefronts - a.wavefronts):
        if access.wavefronts < TWICE * access.fewest_wavefronts or not access.wavefronts:
            continue
        taken, fewest = (
            _per_request(access, n) for n in (access.wavefronts, access.fewest_wavefronts)
        )
        yield Hint(
            "bank_conflict", access.site, access.array,
            f"{_shown(taken / fewest)}-way bank conflict at the {access.kind} of {access.array}: "
            f"{_shown(taken)} wavefronts per request where {_shown(fewest)} would do",
            {"requests": access.requests, "wavefronts_per_request": taken,
             "fewest_wavefronts_per_request": fewest},
        )  # fmt: skip


def _idle(seen: Seen) -> Iterator[Hint]:
    """Few lanes where it is done often; a guard at an edge is let pass, and so is one lane that
    stores what its warp or block has found."""
    everything = sum(access.requests for access in seen.accesses)
    for access in sorted(seen.accesses, key=lambda a: -a.requests):
        lanes, requests = _per_request(access, access.lanes), access.requests
        often = requests >= OFTEN * (seen.blocks if lanes > 1 else seen.warps)
        if lanes > FEW_LANES or not often or requests < NOTABLE * everything:
            continue
        yield Hint(
            "idle_lanes", access.site, access.array,
            f"{_shown(lanes)} of {WARP} lanes active at the {access.kind} of {access.array}, in "
            f"{requests:,} requests",
            {"requests": requests, "lanes_per_request": lanes},
        )  # fmt: skip


def _float64(seen: Seen) -> Iterator[Hint]:
    """Arithmetic in float64 where arrays are float32 and nobody has asked for float64."""
    dtypes = {access.dtype for access in seen.accesses}
    single = np.dtype(np.float32) in dtypes
    if not single or dtypes & DOUBLES or any(map(_asks_for_float64, seen.functions)):
        return
    for site, count in seen.lines.items():
        if not count.float64_ops:
            continue
        here = [a for a in seen.accesses if a.site == site and a.dtype == np.float32]
        yield Hint(
            "float64", site, here[0].array if here else "",
            f"{count.float64_ops:,} operations in float64, although no array is: write "
            "float32(...) around numbers with a point, arguments, and integers that meet float32",
            {"float64_ops": count.float64_ops},
        )  # fmt: skip


DOUBLES = {np.dtype(np.float64), np.dtype(np.complex128)}
_DOUBLE_TYPES = {types.float64, types.complex128, np.float64, np.complex128, float, *DOUBLES}
_DOUBLE_NAMES = {"float64", "complex128", "double"}


def _asks_for_float64(source: Source) -> bool:
    """Whether the text names a type of 64 bits, by its own name or through a constant."""
    return any(_names_float64(node, source) for node in ast.walk(source.tree))


def _names_float64(node: ast.AST, source: Source) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _DOUBLE_NAMES
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in _DOUBLE_NAMES
    value = source.names.get(node.id) if isinstance(node, ast.Name) else None
    return isinstance(value, type | np.dtype | types.Type) and value in _DOUBLE_TYPES
