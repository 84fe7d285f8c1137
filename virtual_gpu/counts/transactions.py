"""The cost of one access of a warp: sectors of global memory, and passes through shared banks.

A *request* is one memory instruction of one warp. Global memory moves 32-byte *sectors*; a request
costs as many as its lanes touch. Shared memory has 32 banks of 4 bytes; the *wavefronts* of a
request are the number of different words in the bank that is asked for most. Lanes that ask for the
same word share it. Wider accesses are served by half warps (8 bytes a lane) or quarter warps (16
bytes). With 16 bytes, half warps are served if lanes load the same element in pairs, but not by
``ldmatrix``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from virtual_gpu.common.division import cdiv

from ..common.errors import Site
from ..common.lanes import WARP, Mask
from ..memory.memory import Memory

SECTOR_BYTES = 32
CACHE_LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4
LDMATRIX, COPY_ASYNC = "ldmatrix", "cp.async"  # instructions that load and store shared memory


@dataclass(frozen=True)
class LaneTransfer:
    """One load, store or atomic by the lanes of a mask, with all that its cost depends on.

    ``kind`` is "load", "store" or "atomic". ``width`` is the number of consecutive elements per
    lane, and ``addresses`` holds the address of each lane's first element, or one number that all
    lanes share. ``blocks`` is the number of blocks in the batch. ``bytewise`` is True for a field
    of a packed record. ``memory`` is the memory that is accessed, and ``site`` the source line.
    ``instruction`` is LDMATRIX, COPY_ASYNC, or the same as ``kind``.
    """

    memory: Memory
    kind: str  # "load", "store" or "atomic"
    width: int  # consecutive elements per lane
    addresses: np.ndarray | int  # of each lane's first element; one if all lanes share it
    mask: Mask
    site: Site
    blocks: int  # of the batch
    bytewise: bool  # a field of a packed record
    instruction: str  # LDMATRIX, COPY_ASYNC, or the kind

    @property
    def requests_each(self) -> int:
        """The number of requests that each warp needs for the transfer, mostly 1.

        It is the number of bytes of an element for a field of a packed record, which the compiler
        moves byte by byte. It is 2 for complex numbers in global memory: the compiler moves their
        two parts one after the other, because it does not know that they are aligned; in shared
        memory it does.
        """
        memory = self.memory
        if self.bytewise:
            return memory.data.dtype.itemsize
        return 2 if memory.data.dtype.kind == "c" and memory.space == "global" else 1

    @property
    def lanes(self) -> int:
        """The number of lanes that execute each request, summed over warps.

        LDMATRIX is executed by whole warps, also where half of the lanes give no row.
        """
        return WARP * self.mask.warps if self.instruction == LDMATRIX else self.mask.count

    @property
    def pairs(self) -> bool:
        """True if half warps are served where lanes access the same 16 bytes in pairs."""
        return self.kind == self.instruction == "load"

    @property
    def pitch(self) -> int:
        """The bytes from one lane to the next if lanes access consecutive elements."""
        return self.memory.data.dtype.itemsize * self.width

    @property
    def bytes_per_lane(self) -> int:
        """The bytes that each lane moves in one request."""
        return self.pitch // self.requests_each

    def first_bytes(self) -> np.ndarray:
        """Return the byte address of each active lane's first byte.

        Addresses count from the start of the allocation, or from that of the block's part of shared
        memory if the size of a part is no multiple of 4 bytes.
        """
        elements = self.addresses
        if not isinstance(elements, np.ndarray):
            elements = np.full(self.mask.count, elements, np.int64)
        first, part = elements * self.memory.step, self.memory.part
        # A block's shared memory begins in the first bank, but the next block's part would not if
        # this part ended within a bank.
        return self.in_block(first) if part and part.bytes % BANK_BYTES else first

    def in_block(self, addresses: np.ndarray) -> np.ndarray:
        """Return byte addresses from the start of the block's part of shared memory.

        Addresses in other memory are returned unchanged.
        """
        part = self.memory.part
        return addresses % part.bytes if part else addresses


class Pattern(NamedTuple):
    """The address of each lane's first byte, and which lanes are active, in shape (warps, 32)."""

    first: np.ndarray
    active: np.ndarray

    @property
    def requests(self) -> int:
        """The number of warps with at least one active lane."""
        return int(np.count_nonzero(self.active.any(axis=1)))


def repeated(first: np.ndarray, transfer: LaneTransfer) -> tuple[Pattern, int]:
    """Return the Pattern whose cost is to be counted, and the number of times that it counts.

    If all blocks access the same bytes, up to shifts that do not change the cost, it is the pattern
    of one block, and the number is that of the blocks. In global memory it is shifted towards
    address 0, so that it recurs in other batches. Otherwise it is the pattern of all warps, and the
    number is 1. ``first`` is the address of each active lane's first byte.
    """
    mask, blocks = transfer.mask, transfer.blocks
    if blocks == 1 or not mask.alike(blocks):
        return pattern_of(first, mask.lanes), 1
    by_block = first.reshape(blocks, -1)
    shift = by_block[:, :1] - by_block[0, 0]
    if (shift % _neutral_shift(transfer)).any() or not (by_block - shift == by_block[0]).all():
        return pattern_of(first, mask.lanes), 1
    one = by_block[0]
    if transfer.memory.space == "global":
        one = one - one.min() // CACHE_LINE_BYTES * CACHE_LINE_BYTES
    return pattern_of(one, mask.lanes[: mask.lanes.size // blocks]), blocks


def pattern_of(first: np.ndarray, lanes: np.ndarray) -> Pattern:
    """Return a Pattern from the address of each active lane's first byte.

    ``lanes`` holds one bool per lane: True if it is active. Inactive lanes get the address 0.
    """
    if len(first) < lanes.size:
        spread = np.zeros(lanes.size, np.int64)
        spread[lanes] = first
        first = spread
    return Pattern(first.reshape(-1, WARP), lanes.reshape(-1, WARP))


def _neutral_shift(transfer: LaneTransfer) -> int:
    """Return the number of bytes by whose multiples a pattern can shift at the same cost.

    Each block's shared memory begins at the first bank, so only the offset within a bank counts
    there.
    """
    return CACHE_LINE_BYTES if transfer.memory.space == "global" else BANK_BYTES


class GlobalCost(NamedTuple):
    """The cost of one request per warp of a pattern in global memory, summed over warps.

    ``addresses`` is the number of different first bytes, and ``most_sectors`` the largest number of
    sectors of one warp. ``fewest_sectors`` is the number that as many active lanes would need with
    consecutive, aligned elements.
    """

    sectors: int
    most_sectors: int
    fewest_sectors: int
    cache_lines: int
    addresses: int


class SharedCost(NamedTuple):
    """The wavefronts of one request per warp of a pattern in shared memory, summed over warps.

    ``fewest_wavefronts`` is the number that as many active lanes would need with consecutive,
    aligned elements.
    """

    wavefronts: int
    fewest_wavefronts: int


def cost_of(pattern: Pattern, transfer: LaneTransfer) -> GlobalCost | SharedCost:
    """Return the cost of one request of each warp of the pattern.

    It is a GlobalCost if the transfer is in global memory, otherwise a SharedCost.
    """
    if transfer.memory.space == "global":
        sectors, lines, addresses = sectors_lines_addresses(pattern)
        return GlobalCost(
            int(sectors.sum()), int(sectors.max()), fewest_sectors(pattern, transfer.pitch),
            int(lines.sum()), int(addresses.sum()),
        )  # fmt: skip
    passes = wavefronts(pattern, transfer.bytes_per_lane, transfer.pairs)
    return SharedCost(passes, fewest_wavefronts(pattern, transfer.pitch))


def sectors_lines_addresses(pattern: Pattern) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three vectors: the numbers of distinct sectors, cache lines and first bytes per warp.

    Only active lanes count.
    """
    ordered = np.sort(np.where(pattern.active, pattern.first, -1), axis=1)
    units = (SECTOR_BYTES, CACHE_LINE_BYTES, 1)
    sectors, lines, addresses = (_count_distinct(ordered // unit) for unit in units)
    return sectors, lines, addresses


def fewest_sectors(pattern: Pattern, pitch: int) -> int:
    """Return the number of sectors that the active lanes need for consecutive, aligned elements.

    It is summed over warps; ``pitch`` is the number of bytes per lane.
    """
    requested = np.count_nonzero(pattern.active, axis=1) * pitch
    return int((cdiv(requested, SECTOR_BYTES)).sum())


def fewest_wavefronts(pattern: Pattern, pitch: int) -> int:
    """Return the number of wavefronts that the active lanes need for consecutive, aligned elements.

    ``pitch`` is the number of bytes per lane. The lanes of a warp are served in groups of at most
    128 bytes, and each group with an active lane needs one wavefront. The result is summed over
    warps.
    """
    groups = pattern.active.reshape(-1, WARP // max(1, pitch // BANK_BYTES))
    return int(np.count_nonzero(groups.any(axis=1)))


def _count_distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the number of different values other than -1 in each sorted row."""
    return np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1) + (ordered[:, 0] != -1)


def wavefronts(pattern: Pattern, itemsize: int, pairs: bool = True) -> int:
    """Return the number of passes through the banks of shared memory, summed over warps.

    ``itemsize`` is the number of bytes per lane. Accesses of 16 bytes are served by quarter warps.
    With ``pairs``, a warp for which ``in_pairs`` is True is served by half warps instead.
    """
    parts = max(1, itemsize // BANK_BYTES)
    passes = _passes(*pattern, parts, parts)
    if parts == 4 and pairs:
        paired = in_pairs(*pattern)
        passes = np.where(paired, _passes(*pattern, parts, 2), passes)
    return int(passes.sum())


def _passes(first: np.ndarray, active: np.ndarray, parts: int, groups: int) -> np.ndarray:
    """Return each warp's passes through the banks if its lanes are served in ``groups`` groups.

    A group needs as many passes as the fullest bank has different words, and the passes of a warp's
    groups are added. Each lane accesses ``parts`` consecutive words. The result has shape (warps,).
    ``first`` is the address of each lane's first byte, and ``active`` a bool per lane, both in
    shape (warps, 32).
    """
    words = first.reshape(-1, WARP // groups, 1) // BANK_BYTES + np.arange(parts)
    words = np.where(active.reshape(-1, WARP // groups, 1), words, -1)
    load = bank_load(words.reshape(len(words), -1))
    return load.max(axis=1).reshape(-1, groups).sum(axis=1)


def in_pairs(first: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return a boolean per warp: True if its lanes read the same elements in pairs.

    The lanes of each pair are one lane apart, or those of each pair are two lanes apart. A pair
    with an inactive lane always fits.
    Half a warp then asks for no more 16-byte words than one pass can serve, so two passes suffice.
    ``first`` is the address of each lane's first byte, and ``active`` a bool per lane, both in
    shape (warps, 32).
    """
    lanes = np.arange(WARP)
    agree = [
        (first == first[:, lanes ^ distance]) | ~active | ~active[:, lanes ^ distance]
        for distance in (1, 2)
    ]
    return np.logical_or(*(pairs.all(axis=1) for pairs in agree))


def bank_load(words: np.ndarray) -> np.ndarray:
    """Return the number of different words that each row asks of each bank, in shape (rows, 32).

    Each row of ``words`` holds word indices, with -1 for a lane that takes no part.
    """
    ordered = np.sort(words, axis=1)
    new = np.ones(ordered.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    new &= ordered >= 0
    banks = ordered % BANKS + BANKS * np.arange(len(ordered))[:, None]
    return np.bincount(banks[new], minlength=ordered.shape[0] * BANKS).reshape(-1, BANKS)
