"""A test of whether the results of a kernel depend on undefined values, which nobody has set.

A kernel may read an undefined value and not use it: threads at the edge compute with garbage and
store nothing. So a launch that has read one runs again with other fill values. The read is a flaw
only if the results differ; otherwise it is a warning.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .filling import NONZERO_FILLINGS, Filling
from .memory import Memory


@dataclass(frozen=True)
class Rerun:
    """A repetition of a launch.

    ``differs`` is True if the repetition was stopped by another error than the launch, or had other
    flaws. ``memories`` are those that it used.
    """

    memories: Iterable[Memory]
    differs: bool


def results_depend(
    memories: Iterable[Memory],
    run_again: Callable[[Filling], Rerun],
    fillings: tuple[Filling, ...] = NONZERO_FILLINGS,
) -> bool:
    """Return True if the results of a launch change when undefined values are filled differently.

    The result is also True if a rerun ends with another error or has other flaws. ``memories`` are
    those of the launch that has run; at the end they hold its results again. ``run_again(filling)``
    runs the launch once more on the same arrays. It is called with one of the ``fillings`` after
    the other, until a rerun differs.
    """
    first = {_identity(memory): memory for memory in memories}
    with as_before(first.values()):
        return any(_differs(first, filling, run_again) for filling in fillings)


@contextlib.contextmanager
def as_before(memories: Iterable[Memory]) -> Iterator[None]:
    """Within the context, let memories have their content from before the launch that wrote them.

    At the end of the context they get the content of its beginning again.
    """
    memories = tuple(memories)
    swap_before(memories)
    try:
        yield
    finally:
        swap_before(memories)


def _differs(
    first: dict[tuple, Memory], filling: Filling, run_again: Callable[[Filling], Rerun]
) -> bool:
    """Run a launch again with a filling; return True if its results, errors or flaws differ.

    ``first`` maps the identity of each memory of the first run to this memory.
    """
    with _filled(first.values(), filling):
        rerun = run_again(filling)
        swap_before(rerun.memories)
    return rerun.differs or not all(
        memory.wrote_the_same(first[_identity(memory)]) for memory in rerun.memories
    )


@contextlib.contextmanager
def _filled(memories: Iterable[Memory], filling: Filling) -> Iterator[None]:
    """Set the undefined elements of device memory to the filling within the context.

    At its end their earlier values are restored, but not if the context raises. Memory whose
    elements are all defined is not changed.
    """
    undefined = [(m.data, np.flatnonzero(m.unwritten)) for m in memories if m.unwritten is not None]
    before = [data[indices] for data, indices in undefined]
    for data, indices in undefined:
        data[indices] = filling.value(data.dtype)
    yield
    for (data, indices), values in zip(undefined, before, strict=True):
        data[indices] = values


def swap_before(memories: Iterable[Memory]) -> None:
    """Exchange the content of memories and their content before the launch that wrote them."""
    for journal in {memory.journal for memory in memories if memory.was_written}:
        journal.swap()


def _identity(memory: Memory) -> tuple:
    """Return (address, dtype) of a memory, by which the memories of two runs are matched."""
    return memory.data.__array_interface__["data"][0], memory.data.dtype
