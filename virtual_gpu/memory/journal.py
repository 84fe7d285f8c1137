"""The content of memory before a launch wrote to it, saved chunk by chunk."""

from __future__ import annotations

import numpy as np

_CHUNK_BITS = 12  # log2 of the elements of a chunk


class Journal:
    """The earlier content of those chunks of a flat array that were written.

    A chunk is a section of 4096 elements. ``unwritten`` marks the undefined elements of the array,
    or is None if all are defined; it is saved, too.
    """

    def __init__(self, data: np.ndarray, unwritten: np.ndarray | None):
        self._arrays = (data,) if unwritten is None else (data, unwritten)
        self._saved = np.zeros((data.size >> _CHUNK_BITS) + 1, bool)
        self._chunks: dict[int, tuple[np.ndarray, ...]] = {}

    def save(self, addresses: np.ndarray) -> None:
        """Save the chunks that hold the elements at ``addresses``, which are about to be written.

        A chunk is saved only once.
        """
        chunks = addresses >> _CHUNK_BITS
        new = ~self._saved[chunks]
        if new.any():
            for chunk in np.unique(chunks[new]):
                self._chunks[int(chunk)] = self._copy(int(chunk))
            self._saved[chunks] = True

    def swap(self) -> None:
        """Exchange the saved content and the present content of the saved chunks."""
        for chunk, saved in self._chunks.items():
            self._chunks[chunk] = self._copy(chunk)
            for array, content in zip(self._arrays, saved, strict=True):
                array[_slice(chunk)] = content

    def same_as(self, other: Journal) -> bool:
        """Return True if both journals saved the same chunks with the same content.

        The same elements must be undefined in both; their content does not count.
        """
        return self._chunks.keys() == other._chunks.keys() and all(
            _same(saved, other._chunks[chunk]) for chunk, saved in self._chunks.items()
        )

    def _copy(self, chunk: int) -> tuple[np.ndarray, ...]:
        """Return the tuple (data,) or (data, undefined flags) of a chunk, as copies."""
        return tuple(array[_slice(chunk)].copy() for array in self._arrays)


class WholeJournal(Journal):
    """The earlier content of a whole array, saved before its first change.

    It serves arrays of bytes that several memories view as numbers of other dtypes: what one of
    them saves must not hold what another has written before.
    """

    def save(self, addresses: np.ndarray) -> None:
        """Save the whole array, unless that was done; ``addresses`` are about to be written."""
        if not self._chunks:
            super().save(np.arange(0, self._arrays[0].size, 1 << _CHUNK_BITS))


def _slice(chunk: int) -> slice:
    """Return the slice of the elements of a chunk with this number."""
    return slice(chunk << _CHUNK_BITS, (chunk + 1) << _CHUNK_BITS)


def _same(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> bool:
    """Return True if two saved chunks have the same defined elements, with the same content.

    Each chunk is the tuple (content,) or (content, flags of its undefined elements).
    """
    if len(first) == 1:
        return first[0].tobytes() == second[0].tobytes()
    defined = ~first[1]
    same_flags = bool((first[1] == second[1]).all())
    return same_flags and first[0][defined].tobytes() == second[0][defined].tobytes()
