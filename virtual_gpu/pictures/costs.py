"""What one event of a recording costs, by the rules of transactions.py."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from ..common.lanes import WARP
from ..counts.recorder import Event, RecordedArray
from ..counts.transactions import (
    SECTOR_BYTES,
    Pattern,
    fewest_wavefronts,
    sectors_lines_places,
    wavefronts,
)


@dataclass(frozen=True)
class Cost:
    """Of all warps of the block together. As in Counters, an atomic costs its lanes and no more.

    global_reads, shared_reads: elements that threads ask for. used: bytes of the sectors that a
    request asks for; the rest of them is moved in vain as far as this request knows. plain: of the
    wavefronts those that as many lanes need without a bank conflict, several where they are wide.
    """

    global_reads: int = 0
    shared_reads: int = 0
    global_writes: int = 0
    shared_writes: int = 0
    requests: int = 0
    sectors: int = 0
    used: int = 0
    shared_requests: int = 0
    wavefronts: int = 0
    plain: int = 0
    atomics: int = 0

    @property
    def wasted(self) -> int:
        """Bytes moved that their request does not use."""
        return self.sectors * SECTOR_BYTES - self.used

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def by_warp(entries: np.ndarray, absent: int = -1) -> np.ndarray:
    """One entry per thread as rows of 32 lanes."""
    return np.pad(entries, (0, -len(entries) % WARP), constant_values=absent).reshape(-1, WARP)


def cost_of(event: Event, array: RecordedArray, parts: int = 1) -> Cost:
    """parts: into how many requests the compiler divides one access, as of a complex number."""
    first = by_warp(event.first)
    active, lanes = first >= 0, int((event.first >= 0).sum())
    if event.kind == "atomic":
        return Cost(atomics=lanes)
    each = array.itemsize * event.width // parts
    elements = {f"{array.space}_{'reads' if event.kind == 'load' else 'writes'}": lanes}
    elements = {name: lanes * event.width for name, lanes in elements.items()}
    total = Cost(**elements)
    for part in range(parts):
        start = np.where(active, first * array.itemsize + part * each, 0)
        total += _request(Pattern(start, active), each, array.space)
    return total


def _request(pattern: Pattern, each: int, space: str) -> Cost:
    if space == "shared":
        taken = wavefronts(pattern, each)
        plain = min(taken, fewest_wavefronts(pattern, each))
        return Cost(shared_requests=pattern.requests, wavefronts=taken, plain=plain)
    sectors, _, places = sectors_lines_places(pattern)
    return Cost(requests=pattern.requests, sectors=sectors, used=places * each)
