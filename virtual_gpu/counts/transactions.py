"""What one access of a warp costs: 32-byte sectors of global memory, passes through shared banks.

A *request* is one memory instruction of one warp. Global memory moves 32-byte *sectors*; a request
costs as many as its lanes touch. Shared memory has 32 banks of 4 bytes; a request takes as many
*wavefronts* as the bank that is asked for most different words. Lanes that ask for the same word
share it. Wider accesses are served by half warps (8 bytes a lane) or quarter warps (16 bytes), the
latter by half warps where lanes read the same in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..common.errors import Site
from ..common.lanes import WARP, Mask
from ..memory.memory import Memory

SECTOR_BYTES = 32
CACHE_LINE_BYTES = 128
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class Transfer:
    """One load, store or atomic of all lanes of a mask: what is counted of it."""

    memory: Memory
    kind: str  # "load", "store" or "atomic"
    width: int  # how many neighbouring elements each lane moves
    addresses: np.ndarray | int  # of the first of them: one per active lane, or one for all
    mask: Mask
    site: Site
    blocks: int  # of the batch
    bytewise: bool  # a field of a packed record

    @property
    def requests_each(self) -> int:
        """The compiler moves the two parts of a complex number in global memory one after the
        other, for it does not know that they lie on a boundary; in shared memory it does. It moves
        a field of a packed record byte by byte."""
        memory = self.memory
        if self.bytewise:
            return memory.data.dtype.itemsize
        return 2 if memory.data.dtype.kind == "c" and memory.space == "global" else 1

    @property
    def pitch(self) -> int:
        """Bytes from one lane to the next where lanes ask for neighbouring elements."""
        return self.memory.data.dtype.itemsize * self.width

    @property
    def bytes_per_lane(self) -> int:
        """Of one request."""
        return self.pitch // self.requests_each

    def first_bytes(self) -> np.ndarray:
        """The address of each lane's first byte, a row per warp; 0 in inactive lanes."""
        itemsize = self.memory.data.dtype.itemsize
        if self.mask.full and isinstance(self.addresses, np.ndarray):
            elements = self.addresses
        else:
            elements = np.zeros(self.mask.lanes.size, np.int64)
            elements[self.mask.index if not self.mask.full else slice(None)] = self.addresses
        first, part = elements.reshape(-1, WARP) * itemsize, self.memory.part
        # A block's shared memory begins in the first bank; where its part ends within one, the
        # place of the next block's part would tell otherwise.
        return self.in_block(first) if part and part.bytes % BANK_BYTES else first

    def in_block(self, addresses: np.ndarray) -> np.ndarray:
        """Byte addresses within the block's part, if the memory is shared."""
        part = self.memory.part
        return addresses % part.bytes if part else addresses


class Pattern(NamedTuple):
    """The first bytes that lanes ask for and which lanes do; both with a row per warp."""

    first: np.ndarray
    active: np.ndarray

    @property
    def requests(self) -> int:
        return int(np.count_nonzero(self.active.any(axis=1)))


def repeated(first: np.ndarray, transfer: Transfer) -> tuple[Pattern, int]:
    """A pattern, and how many times it counts: all warps once, or those of one block for each
    block, where all blocks ask for the same but for a whole number of cache lines."""
    whole = Pattern(first, transfer.mask.lanes.reshape(-1, WARP))
    if transfer.blocks == 1:
        return whole, 1
    by_block = first.reshape(transfer.blocks, -1)
    if not transfer.mask.full:
        lanes = transfer.mask.lanes.reshape(transfer.blocks, -1)
        if not (lanes == lanes[0]).all():
            return whole, 1
        by_block = by_block[:, lanes[0]]
    shift = by_block[:, :1] - by_block[0, 0]
    if (shift % _same_from(transfer)).any() or not (by_block - shift == by_block[0]).all():
        return whole, 1
    warps = len(first) // transfer.blocks
    return Pattern(first[:warps], whole.active[:warps]), transfer.blocks


def _same_from(transfer: Transfer) -> int:
    """By how many bytes a pattern may be shifted without a change of its cost: each block's shared
    memory begins at the first bank, so there only the place within a bank counts."""
    return CACHE_LINE_BYTES if transfer.memory.space == "global" else BANK_BYTES


def sectors_lines_places(pattern: Pattern) -> tuple[int, int, int]:
    """Different sectors, cache lines and first bytes of each warp, summed over warps."""
    ordered = np.sort(np.where(pattern.active, pattern.first, -1), axis=1)
    units = (SECTOR_BYTES, CACHE_LINE_BYTES, 1)
    sectors, lines, places = (_different(ordered // unit) for unit in units)
    return sectors, lines, places


def fewest_sectors(pattern: Pattern, pitch: int) -> int:
    """What as many lanes need if they ask for neighbouring elements from a boundary on."""
    asked = np.count_nonzero(pattern.active, axis=1) * pitch
    return int((-(-asked // SECTOR_BYTES)).sum())


def fewest_wavefronts(pattern: Pattern, pitch: int) -> int:
    """What as many lanes need if they ask for neighbouring elements from a boundary on."""
    groups = pattern.active.reshape(-1, WARP // max(1, pitch // BANK_BYTES))
    return int(np.count_nonzero(groups.any(axis=1)))


def _different(ordered: np.ndarray) -> int:
    """How many different numbers each row holds, -1 left out, summed over the rows."""
    steps = np.count_nonzero(ordered[:, 1:] != ordered[:, :-1])
    return int(steps + np.count_nonzero(ordered[:, 0] != -1))


def wavefronts(pattern: Pattern, itemsize: int) -> int:
    """Passes through the banks, summed over warps."""
    parts = max(1, itemsize // BANK_BYTES)
    passes = _passes(*pattern, parts, parts)
    if parts == 4:
        paired = in_pairs(*pattern)
        passes = np.where(paired, _passes(*pattern, parts, 2), passes)
    return int(passes.sum())


def _passes(first: np.ndarray, active: np.ndarray, parts: int, groups: int) -> np.ndarray:
    """Passes of each warp when its lanes, `parts` words each, are served in so many groups."""
    words = first.reshape(-1, WARP // groups, 1) // BANK_BYTES + np.arange(parts)
    words = np.where(active.reshape(-1, WARP // groups, 1), words, -1)
    load = bank_load(words.reshape(len(words), -1))
    return load.max(axis=1).reshape(-1, groups).sum(axis=1)


def in_pairs(first: np.ndarray, active: np.ndarray) -> np.ndarray:
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
