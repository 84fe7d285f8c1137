"""Whether the results of a kernel depend on what nobody has set.

A kernel may read such a value and not use it: threads at the edge compute with garbage and store
nothing. So a launch that has read one runs again, with other values in all such places. Only where
it leaves something else behind is the read a flaw; otherwise it is a warning.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .filling import OTHERS, Filling
from .memory import Memory


@dataclass(frozen=True)
class Rerun:
    """One more run of a launch. ``differs``: it was stopped, or had other flaws."""

    memories: Iterable[Memory]
    differs: bool


def results_depend(memories: Iterable[Memory], again: Callable[[Filling], Rerun]) -> bool:
    """Whether a launch leaves other results where what nobody has set is filled otherwise.

    memories: those of the launch that has run; they hold its results afterwards, too.
    ``again(filling)`` runs it once more, on the same arrays.
    """
    first = {_place(memory): memory for memory in memories}
    _swap(first.values())
    try:
        return any(_differs(first, filling, again) for filling in OTHERS)
    finally:
        _swap(first.values())


def _differs(
    first: dict[tuple, Memory], filling: Filling, again: Callable[[Filling], Rerun]
) -> bool:
    with _filled(first.values(), filling):
        rerun = again(filling)
        _swap(rerun.memories)
    return rerun.differs or not all(
        memory.wrote_the_same(first[_place(memory)]) for memory in rerun.memories
    )


@contextlib.contextmanager
def _filled(memories: Iterable[Memory], filling: Filling) -> Iterator[None]:
    """Inside, the undefined elements of device memory hold this filling."""
    undefined = [(m.data, np.flatnonzero(m.unwritten)) for m in memories if m.unwritten is not None]
    before = [data[at] for data, at in undefined]
    for data, at in undefined:
        data[at] = filling.value(data.dtype)
    yield
    for (data, at), values in zip(undefined, before, strict=True):
        data[at] = values


def _swap(memories: Iterable[Memory]) -> None:
    for memory in memories:
        memory.swap_before()


def _place(memory: Memory) -> tuple:
    return memory.data.__array_interface__["data"][0], memory.data.dtype
