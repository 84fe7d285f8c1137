"""The memory cost of one event of a recording, by the rules of transactions.py."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from ..common.lanes import WARP
from ..counts.recorder import Event, RecordedArray
from ..counts.transactions import (
    SECTOR_BYTES,
    Pattern,
    fewest_wavefronts,
    sectors_lines_addresses,
    wavefronts,
)


@dataclass(frozen=True)
class Cost:
    """The memory cost of an event, summed over all warps of the block.

    ``global_reads``, ``shared_reads``, ``global_writes`` and ``shared_writes`` count the elements
    that threads access. ``requests`` and ``sectors`` are those of global memory,
    ``shared_requests`` and ``wavefronts`` those of shared memory. ``used`` is the number of bytes
    of the moved sectors that the requests access. ``plain`` is the number of wavefronts that the
    same lanes need without bank conflicts; wide accesses need several. ``atomics`` counts the lanes
    of atomic operations, for which nothing else is counted.
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
        """The bytes of global memory that are moved but not used by their request."""
        return self.sectors * SECTOR_BYTES - self.used

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def by_warp(entries: np.ndarray, absent: int = -1) -> np.ndarray:
    """Return one entry per thread as an array of shape (warps, 32), padded with ``absent``."""
    return np.pad(entries, (0, -len(entries) % WARP), constant_values=absent).reshape(-1, WARP)


def cost_of(event: Event, array: RecordedArray, parts: int = 1) -> Cost:
    """Return the Cost of one event that accesses ``array``.

    ``parts`` is the number of requests into which the compiler divides one access, for example two
    for a complex number.
    """
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
        total += _request(Pattern(start, active), each, array.space, event.kind == "load")
    return total


def _request(pattern: Pattern, each: int, space: str, pairs: bool) -> Cost:
    """Return the Cost of one request per active warp of a pattern.

    ``each`` is the number of bytes per lane, and ``space`` is "global" or "shared". ``pairs`` is
    True if lanes that access the same 16 bytes in pairs are served together in shared memory. The
    elements that threads access are not counted here.
    """
    if space == "shared":
        needed = wavefronts(pattern, each, pairs)
        plain = min(needed, fewest_wavefronts(pattern, each))
        return Cost(shared_requests=pattern.requests, wavefronts=needed, plain=plain)
    sectors, _, places = sectors_lines_addresses(pattern)
    used = int(places.sum()) * each
    return Cost(requests=pattern.requests, sectors=int(sectors.sum()), used=used)
