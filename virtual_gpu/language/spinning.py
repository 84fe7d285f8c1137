"""``while`` loops that do not end: found by what their rounds change.

The lanes of a batch advance together and nothing else runs beside them. So a loop whose rounds
change no variable, no memory and not the lanes that are in it will never end.
"""

from __future__ import annotations

import ast

import numpy as np

from ..common.errors import LimitReached, Site
from ..common.lanes import Mask
from ..common.source import Source
from ..memory.memory import ArrayView, LocalArray
from .frame import Frame

FIRST_LOOK = 256  # rounds; further looks follow each time that the number has doubled
MOST_BYTES = 1 << 28  # of memory that is compared


class Spinning:
    """One execution of a ``while`` loop, asked at the start of each round."""

    def __init__(self, source: Source, node: ast.While):
        self._source = source
        self._node = node
        self._rounds = 0
        self._look = FIRST_LOOK
        self._variables: object = None  # of the last look, None when the next round is over
        self._memory: list[bytes] | None = None  # of the last look
        self._lanes = 0
        self._since: float | None = None  # when the last thread left, or memory changed

    def round(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Raises LimitReached where the loop never ends, or takes longer than the limits allow."""
        run = frame.run
        run.count_round(self._source, self._node, active)
        self._rounds += 1
        if self._variables is not None:
            self._compare(frame, active, starting)
        elif self._rounds == self._look:
            self._look_around(frame, active, starting)
        elif self._since is not None:
            self._check_stalled(frame, active)
        most = run.watch.limits.rounds
        if most is not None and self._rounds > most:
            raise self._error(
                f"more than {most:.0f} rounds of this loop; does the loop end for every thread? If "
                "it does, set VIRTUAL_GPU_MAX_ROUNDS or patience= of trace() higher."
            )

    def _look_around(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """Take down what the next round must change, and whether anything changed since last."""
        self._look *= 2
        memory = _memory(frame)
        if memory is None:
            self._since = self._memory = None
            return
        same = self._memory == memory and self._lanes == active.count
        if not same or self._since is None:
            self._since = frame.run.watch.seconds
        self._memory, self._lanes = memory, active.count
        self._variables = _variables(frame, active, starting)

    def _compare(self, frame: Frame, active: Mask, starting: Mask | None) -> None:
        """One round after a look: if nothing is different, nothing ever will be."""
        before, self._variables = self._variables, None
        if before == _variables(frame, active, starting) and self._memory == _memory(frame):
            error = self._error(self._for_ever(frame, active))
            error.waits_for_others = frame.run.live.count > active.count
            raise error

    def _for_ever(self, frame: Frame, active: Mask) -> str:
        batch = frame.run.batch
        last = batch.first + batch.blocks == batch.geometry.blocks
        alone = frame.run.live.count == active.count
        if alone and not last:
            return (
                f"{_counted(active.count)} for ever, because a round of this loop changes nothing, "
                "earlier threads have ended and later blocks run only after them; is a lock "
                "released, or a flag set, on every path?"
            )
        if alone:
            return (
                f"{_counted(active.count)} for ever, because a round of this loop changes nothing "
                "and no other thread is left to end it; does the loop end for every thread?"
            )
        return (
            f"{_counted(active.count)} in this loop, which changes nothing, for threads that the "
            "virtual GPU runs only after it; let threads meet at a barrier, set what they wait for "
            "before the loop, or release a lock in the round that takes it."
        )

    def _check_stalled(self, frame: Frame, active: Mask) -> None:
        watch = frame.run.watch
        most = watch.limits.stalled_seconds
        if most is None or watch.seconds - self._since <= most:
            return
        if active.count != self._lanes or _memory(frame) != self._memory:
            self._since = None
            return
        raise self._error(
            f"for {most:.0f} s no thread has left this loop and no memory has changed; does the "
            "loop end for every thread? If it does, set VIRTUAL_GPU_SECONDS or patience= of "
            "trace() to the seconds that the launch may take."
        )

    def _error(self, what: str) -> LimitReached:
        site: Site = self._source.site(self._node)
        return LimitReached(f"{self._source.name}, {site}: {what}")


def _counted(threads: int) -> str:
    return "1 thread waits" if threads == 1 else f"{threads} threads wait"


def _memory(frame: Frame) -> list[bytes] | None:
    """The content of all memory; None where it is too much to compare."""
    memories = frame.run.memories
    if sum(memory.data.nbytes for memory in memories) > MOST_BYTES:
        return None
    return [memory.data.tobytes() for memory in memories]


def _variables(frame: Frame, active: Mask, starting: Mask | None) -> tuple:
    """What a round of a loop can depend on besides memory, to be compared."""
    run = frame.run
    values = {
        name: [(_frozen(value), owners.lanes.tobytes()) for value, owners in parts]
        for name, parts in frame.variables.items()
    }
    first = None if starting is None else starting.lanes.tobytes()
    copies = [len(group) for group in run.copies]
    return values, active.lanes.tobytes(), first, run.live.lanes.tobytes(), copies


def _frozen(value) -> object:
    """A value as something that equals only an equal one; a kind that is not known equals none."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, ArrayView):
        return id(value.memory), value.shape, value.strides, _frozen(np.asarray(value.offset))
    if isinstance(value, LocalArray):
        return [None if row is None else row.tobytes() for row in value.rows]
    if value is None or isinstance(value, int | str) or callable(value):
        return value
    return object()
