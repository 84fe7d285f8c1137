"""Counts what the memory system sees, by source line, in the profiler's units.

A *request* is one memory instruction of one warp. Global memory moves 32-byte *sectors*; a request
costs as many as its lanes touch. Shared memory has 32 banks of 4 bytes; a request takes as many
*wavefronts* as the bank that is asked for most different words. Lanes that ask for the same word
share it. Wider accesses are served by half warps (8 bytes a lane) or quarter warps (16 bytes), the
latter by half warps where lanes read the same in pairs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .errors import Site
from .lanes import WARP, Mask
from .memory import Memory

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class WarpAccess:
    """One warp's first execution of a load or store, kept to be drawn."""

    array: str
    space: str  # "global" or "shared"
    kind: str  # "load" or "store"
    itemsize: int
    addresses: tuple[int | None, ...]  # byte address per lane within the allocation; None: inactive


@dataclass
class LineCount:
    """Totals of one source line."""

    warps: int = 0  # memory instructions, counted per warp
    lanes: int = 0  # active lanes in them
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0  # bytes that the lanes asked for
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    float32_ops: int = 0
    float64_ops: int = 0
    barriers: int = 0
    atomics: int = 0  # lanes that made an atomic operation

    def add(self, prefix: str, **amounts: int) -> None:
        """Add to the counts whose names are the prefix, an underscore and the keyword."""
        for name, amount in amounts.items():
            field = f"{prefix}_{name}"
            setattr(self, field, getattr(self, field) + amount)


@dataclass(frozen=True)
class Transfer:
    """One load, store or atomic of all lanes of a mask: what is counted of it."""

    memory: Memory
    kind: str  # "load", "store" or "atomic"
    width: int  # how many neighbouring elements each lane moves
    addresses: np.ndarray | int  # of the first of them: one per active lane, or one for all
    mask: Mask
    site: Site

    @property
    def bytes_per_lane(self) -> int:
        return self.memory.data.dtype.itemsize * self.width

    def first_bytes(self) -> np.ndarray:
        """The address of each lane's first byte, a row per warp; 0 in inactive lanes."""
        elements = np.zeros(self.mask.lanes.size, np.int64)
        elements[self.mask.index if not self.mask.full else slice(None)] = self.addresses
        return elements.reshape(-1, WARP) * self.memory.data.dtype.itemsize


class Counters:
    """The counts of one launch, by source line."""

    def __init__(self) -> None:
        self.lines: dict[Site, LineCount] = defaultdict(LineCount)
        self.samples: dict[tuple[Site, str, str], WarpAccess] = {}
        # For each array in global memory, which of its sectors were loaded or stored.
        self._touched: dict[str, np.ndarray] = {}

    @property
    def footprint_bytes(self) -> int:
        """Bytes of global memory that were loaded or stored, each sector counted once."""
        return SECTOR_BYTES * sum(int(np.count_nonzero(at)) for at in self._touched.values())

    def access(self, transfer: Transfer) -> None:
        """One load, store or atomic in global or shared memory; other spaces cost nothing."""
        if transfer.memory.space not in ("global", "shared"):
            return
        line, mask = self.lines[transfer.site], transfer.mask
        active = mask.lanes.reshape(-1, WARP)
        requests = int(np.count_nonzero(active.any(axis=1)))
        line.warps += requests
        line.lanes += mask.count
        if transfer.kind == "atomic":
            line.atomics += mask.count
            return
        first = transfer.first_bytes()
        self._keep_sample(transfer, first)
        if transfer.memory.space == "global":
            self._touch(transfer.memory, first[active] // SECTOR_BYTES)
            sectors, asked = _sectors(first, active), mask.count * transfer.bytes_per_lane
            line.add(f"global_{transfer.kind}", requests=requests, sectors=sectors, bytes=asked)
        else:
            wavefronts = _wavefronts(first, active, transfer.bytes_per_lane)
            line.add(f"shared_{transfer.kind}", requests=requests, wavefronts=wavefronts)

    def _keep_sample(self, transfer: Transfer, first: np.ndarray) -> None:
        """The first warp of the first access by this line to this array is kept."""
        memory, key = transfer.memory, (transfer.site, transfer.memory.name, transfer.kind)
        if key not in self.samples:
            addresses = _one_warp(first, transfer.mask.lanes.reshape(-1, WARP))
            self.samples[key] = WarpAccess(
                memory.name, memory.space, transfer.kind, transfer.bytes_per_lane, addresses
            )

    def _touch(self, memory: Memory, sectors: np.ndarray) -> None:
        if memory.name not in self._touched:
            # Pages of zeros cost nothing until one of their sectors is touched.
            self._touched[memory.name] = np.zeros(memory.data.nbytes // SECTOR_BYTES + 1, bool)
        self._touched[memory.name][sectors] = True

    def operation(self, site: Site, dtype: np.dtype, mask: Mask) -> None:
        """One floating-point operation in each active lane."""
        line = self.lines[site]
        if dtype == np.float64 or dtype == np.complex128:
            line.float64_ops += mask.count
        else:
            line.float32_ops += mask.count

    def barrier(self, mask: Mask, site: Site) -> None:
        """One barrier, counted per warp."""
        line = self.lines[site]
        warps = int(np.count_nonzero(mask.lanes.reshape(-1, WARP).any(axis=1)))
        line.barriers += warps


def _one_warp(first: np.ndarray, active: np.ndarray) -> tuple[int | None, ...]:
    """The addresses of the first warp that takes part."""
    warp = int(np.flatnonzero(active.any(axis=1))[0])
    return tuple(int(a) if on else None for a, on in zip(first[warp], active[warp], strict=True))


def _sectors(first: np.ndarray, active: np.ndarray) -> int:
    """Different 32-byte sectors per warp, summed over warps."""
    return int(_different(first // SECTOR_BYTES, active).sum())


def _different(values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """How many different values the active lanes of each row hold."""
    ordered = np.sort(np.where(active, values, -1), axis=1)
    steps = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1) + 1
    return steps - (ordered[:, 0] == -1)


def _wavefronts(first: np.ndarray, active: np.ndarray, itemsize: int) -> int:
    """Passes through the banks, summed over warps."""
    parts = max(1, itemsize // BANK_BYTES)
    passes = _passes(first, active, parts, parts)
    if parts == 4:
        paired = _in_pairs(first, active)
        passes = np.where(paired, _passes(first, active, parts, 2), passes)
    return int(passes.sum())


def _passes(first: np.ndarray, active: np.ndarray, parts: int, groups: int) -> np.ndarray:
    """Passes of each warp when its lanes, `parts` words each, are served in so many groups."""
    words = first.reshape(-1, WARP // groups, 1) // BANK_BYTES + np.arange(parts)
    words = np.where(active.reshape(-1, WARP // groups, 1), words, -1)
    load = bank_load(words.reshape(len(words), -1))
    return load.max(axis=1).reshape(-1, groups).sum(axis=1)


def _in_pairs(first: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Which warps read the same in every lane and its neighbour, or its next neighbour but one.

    Then half a warp asks for no more words of 16 bytes than a pass can serve, and two passes do.
    """
    lanes = np.arange(WARP)
    agree = [
        (first == first[:, lanes ^ apart]) | ~active | ~active[:, lanes ^ apart]
        for apart in (1, 2)
    ]
    return np.logical_or(*(pairs.all(axis=1) for pairs in agree))


def bank_load(words: np.ndarray) -> np.ndarray:
    """Different words asked of each bank: rows of word numbers in, rows of 32 banks out.

    A word of -1 is a lane that does not take part.
    """
    ordered = np.sort(words, axis=1)
    new = np.ones(ordered.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    new &= ordered >= 0
    banks = ordered % BANKS + BANKS * np.arange(len(ordered))[:, None]
    return np.bincount(banks[new], minlength=ordered.shape[0] * BANKS).reshape(-1, BANKS)
