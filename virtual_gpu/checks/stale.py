"""Finds stale elements of shared arrays, which a thread did not fill anew when others did.

A kernel often fills a shared array, its tile, by one source line in each iteration of a loop. A
*round* is one execution of this line by all threads of a block that take part. An element is stale
if its thread stored it in an earlier round and took no part in a later one.
"""

from __future__ import annotations

import ast
import bisect

import numpy as np

from ..common.errors import Finding, Site
from ..common.lanes import Batch
from .clock import TIME_BITS, TIME_MASK, Access
from .releases import NEVER
from .report import Flaw
from .shadow import STAMP_MASK


class _Fill:
    """One source line that fills a shared array, and when each thread has executed it last.

    A new round begins for a block if a thread overwrites the element that it has stored by its last
    execution of the line; any other execution belongs to the round before. Times are numbers of
    accesses, as in clock.py. ``lane_last`` holds the time of the last execution by each lane, and
    ``block_last`` that at which the last round of each block began. ``rounds`` lists the times at
    which rounds began. ``partial`` is True if a lane has taken no part in the last round of its
    block, but in an earlier one.
    """

    def __init__(self, batch: Batch):
        self._batch = batch
        self.rounds: list[int] = []
        self.lane_last = np.full(batch.size, NEVER, np.int64)
        self.block_last = np.full(batch.blocks, NEVER, np.int64)
        self.partial = False
        self._whole = NEVER  # the last execution by all lanes, until it is entered in both vectors

    def note(self, access: Access, words: np.ndarray) -> None:
        """Record one execution of the line, whose store is ``access``.

        ``words`` holds, per active lane, the shadow word of the last writer of the lane's element
        before this store.
        """
        if access.mask.full:
            self.rounds.append(access.time)
            self._whole, self.partial = access.time, False
            return
        if self._whole != NEVER:
            self.lane_last.fill(self._whole)
            self.block_last.fill(self._whole)
            self._whole = NEVER
        self._begin_round(access, words)
        self.lane_last[access.mask.index] = access.time
        began = self.block_last[self._batch.block_row]
        self.partial = bool(((self.lane_last != NEVER) & (self.lane_last < began)).any())

    def _begin_round(self, access: Access, words: np.ndarray) -> None:
        """Begin a new round for the blocks in which a thread stores to its last element again.

        A block's first execution begins a round, too. ``words`` is as in ``note``.
        """
        index = access.mask.index
        own = access.clock.thread_stamps[index] | self.lane_last[index]
        again = (words != NEVER) & ((words & STAMP_MASK) == own)
        blocks = self._batch.block_row[index]
        begun = np.unique(blocks[again | (self.block_last[blocks] == NEVER)])
        if begun.size:
            self.rounds.append(access.time)
            self.block_last[begun] = access.time

    def is_stale(self, words: np.ndarray) -> np.ndarray:
        """Return a bool per shadow word of a last writer: True if the element is stale.

        It is if this line has stored it, and its block has begun a later round, in which the
        thread that stored it took no part.
        """
        written = words != NEVER
        lanes = np.where(written, (words & STAMP_MASK) >> TIME_BITS, 0)
        lanes = np.where(written, lanes - self._batch.numbers[0], 0)
        times = words & TIME_MASK
        left = times < self.block_last[self._batch.block_row[lanes]]
        return written & left & (self.lane_last[lanes] == times)


class Fills:
    """The lines of one batch that fill shared arrays from global memory.

    ``names`` are those of the arrays in global memory.
    """

    def __init__(self, batch: Batch, names: frozenset[str]):
        self._batch = batch
        self._names = names
        self._by_line: dict[tuple[str, Site], _Fill | None] = {}
        self._by_array: dict[str, list[_Fill]] = {}

    def of(self, array: str, site: Site) -> _Fill | None:
        """Return the _Fill of the line ``site``, which stores to the shared array with this name.

        It is created at the first call for the line. Returns None if the line does not assign an
        element of an array in global memory.
        """
        key = array, site
        if key not in self._by_line:
            fills = _fills_from(site.source, array, self._names)
            self._by_line[key] = _Fill(self._batch) if fills else None
            if fills:
                self._by_array.setdefault(array, []).append(self._by_line[key])
        return self._by_line[key]

    def partial(self, array: str) -> list[_Fill]:
        """Return the _Fills of a shared array in whose last round not all threads took part.

        They are those whose ``partial`` is True. The list is empty for most arrays.
        """
        return [fill for fill in self._by_array.get(array, ()) if fill.partial]

    def stale(self, array: str, access: Access, words: np.ndarray) -> np.ndarray | None:
        """Report the active lanes of a load that read a stale element, and return which they are.

        ``words`` holds the shadow word of the last writer of each lane's element. The result has
        one bool per active lane, and is None if no lane reads a stale element. Whether the results
        depend on these elements is not known here.
        """
        for fill in self.partial(array):
            where = fill.is_stale(words)
            if where.any():
                flaw = Flaw("stale_element", access.site, array, access.numbers(where))
                report = access.clock.report
                report.add(flaw, lambda w=where, f=fill: _finding(array, access, words, w, f))
                return where
        return None


def _finding(
    array: str, access: Access, words: np.ndarray, where: np.ndarray, fill: _Fill
) -> Finding:
    """Return the Finding of the first lane in ``where``, which reads a stale element.

    ``where`` and ``words``, the shadow words of the last writers, have one entry per active lane.
    """
    position = int(np.flatnonzero(where)[0])
    clock, word = access.clock, int(words[position]) & STAMP_MASK
    lane = (word >> TIME_BITS) - int(clock.batch.numbers[0])
    thread, writer = access.thread(position), clock.batch.thread(lane)
    element, site = access.locate(position), clock.sites[word & TIME_MASK]
    began = int(fill.block_last[clock.batch.block_row[lane]])
    stored = bisect.bisect_right(fill.rounds, word & TIME_MASK)
    last = bisect.bisect_right(fill.rounds, began)
    who = "which it" if writer == thread else f"which {writer}"
    return Finding(
        "stale_element", access.site, array, element, (thread, writer), int(where.sum()),
        f"{thread} reads {array}{list(element)}, {who} has stored in round {stored} of line "
        f"{site.line}; in round {last} it stored nothing there. The results depend on the old "
        "value.",
        other_line=site.line,
    )  # fmt: skip


def _fills_from(line: str, array: str, names: frozenset[str]) -> bool:
    """Return True if a source line assigns an element of an array in ``names`` to ``array``.

    The result is False for a line that is only part of a statement, and for a value that depends on
    ``array`` itself.
    """
    try:
        nodes = list(ast.walk(ast.parse(line)))
    except SyntaxError:  # the first line of several
        return False
    return any(_is_fill(node, array, names) for node in nodes if isinstance(node, ast.Assign))


def _is_fill(node: ast.Assign, array: str, names: frozenset[str]) -> bool:
    """Return True if a statement assigns an element of an array in ``names`` to ``array``.

    It must assign to nothing else, and its value must not use ``array``.
    """
    targets = {t.value.id for t in node.targets if isinstance(t, ast.Subscript)
               and isinstance(t.value, ast.Name)}  # fmt: skip
    used = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    read = {n.value.id for n in ast.walk(node.value) if isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name)}  # fmt: skip
    return targets == {array} and array not in used and bool(read & names)
