"""What memory held before a launch wrote there, kept piece by piece."""

from __future__ import annotations

import numpy as np

_PIECE_BITS = 12  # a piece has so many elements, as a power of two


class Journal:
    """The earlier content of those pieces of a flat array that were written.

    unwritten: for memory without content, which elements are still undefined; kept, too.
    """

    def __init__(self, data: np.ndarray, unwritten: np.ndarray | None):
        self._arrays = (data,) if unwritten is None else (data, unwritten)
        self._kept = np.zeros((data.size >> _PIECE_BITS) + 1, bool)
        self._pieces: dict[int, tuple[np.ndarray, ...]] = {}

    def keep(self, addresses: np.ndarray) -> None:
        """These elements are about to be written."""
        pieces = addresses >> _PIECE_BITS
        new = ~self._kept[pieces]
        if new.any():
            for piece in np.unique(pieces[new]):
                self._pieces[int(piece)] = self._now(int(piece))
            self._kept[pieces] = True

    def swap(self) -> None:
        """Exchange what is kept with what stands there now."""
        for piece, kept in self._pieces.items():
            self._pieces[piece] = self._now(piece)
            for array, part in zip(self._arrays, kept, strict=True):
                array[_part(piece)] = part

    def same_as(self, other: Journal) -> bool:
        """Whether both keep the same pieces with the same content, where that is defined."""
        return self._pieces.keys() == other._pieces.keys() and all(
            _same(kept, other._pieces[piece]) for piece, kept in self._pieces.items()
        )

    def _now(self, piece: int) -> tuple[np.ndarray, ...]:
        return tuple(array[_part(piece)].copy() for array in self._arrays)


def _part(piece: int) -> slice:
    return slice(piece << _PIECE_BITS, (piece + 1) << _PIECE_BITS)


def _same(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> bool:
    if len(first) == 1:
        return first[0].tobytes() == second[0].tobytes()
    defined = ~first[1]
    same_flags = bool((first[1] == second[1]).all())
    return same_flags and first[0][defined].tobytes() == second[0][defined].tobytes()
