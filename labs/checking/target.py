"""Targets, which are counts that a right kernel must reach, and probes for usual mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from labs.checking.run import Run
from virtual_gpu import Finding


@dataclass(frozen=True)
class Target:
    """A count of a run, such as bank conflicts, and the limit that a right kernel must not exceed.

    what: the name of the count. at_most: its limit. words: the target as a phrase, as the task
    states it. measure: returns the count of a run, or None if this machine cannot determine it.
    cause: takes a run above the limit and its count, and returns a sentence with the line and the
    number. every_shape: True to test the runs at all shapes and not only at those that fill all
    blocks. at_edges: returns the count of a run at a shape that does not fill all blocks, where
    some counts need another rule, or None to test the target only at shapes that do. It finds
    kernels that use their idea only where all blocks are full. of_machine: True if it is counted in
    machine code, which changes with the compiler; it gives points only in a part of a lab that is
    `pinned`. of_idea: True if a kernel that misses the target ignores what the task is about.
    is_usual: True if every kernel must reach it, whatever its task is about.
    """

    what: str
    at_most: float
    words: str
    measure: Callable[[Run], float | None]
    cause: Callable[[Run, float], str]
    every_shape: bool = False
    at_edges: Callable[[Run], float] | None = None
    of_machine: bool = False
    of_idea: bool = False
    is_usual: bool = False

    def count(self, run: Run, *, is_whole: bool) -> tuple[float | None] | tuple[()]:
        """Return a tuple with the count of a run, or an empty tuple if it is not tested there.

        The count in the tuple is None if this machine cannot determine it. is_whole: True if the
        shape of the run fills all blocks.
        """
        if is_whole or self.every_shape:
            return (self.measure(run),)
        return (self.at_edges(run),) if self.at_edges else ()

    def missed(self, value: float | None) -> bool:
        """Return True if the count is known and above the limit by more than rounding errors."""
        return value is not None and value > self.at_most + 1e-9


def essential(target: Target) -> Target:
    """Return the same target, marked as one without which a kernel ignores the task's idea."""
    return replace(target, of_idea=True)


def usual(target: Target) -> Target:
    """Return the same target, marked as one that every kernel must reach."""
    return replace(target, is_usual=True)


@dataclass(frozen=True)
class Probes:
    """Functions of a kernel family that recognise mistakes which no table could list.

    Each field is a tuple of probes, which are called in order. A probe returns one or two
    sentences, or None if it recognises nothing; the first answer counts. Most mistakes of kernels
    that run are recognised by the exercise's table instead.

    constants: called first, with the kernel, for any kernel that is wrong. They look for a constant
    in the reader's code that does not fit the launch, and their answer replaces every other cause.

    refused: called with the kernel and the error message if it cannot be compiled.

    endless: called with the kernel and the message on its loop if it does not end.

    early: called with the run if the kernel reads the result before it stores there.

    unknown: called with the kernel and the error message if the virtual GPU does not know a
    construct. Their answer, with its line, replaces the error message.

    flaws: called with the run and the first flaw that the virtual GPU found. Their answer comes
    before that of the table.

    missing: called with the run if elements were never written and the table does not know exactly
    this behaviour. They say which threads store which elements.

    wrong: called with the run if its values are wrong and the table does not know the mistake. They
    say what the values are, such as a sum without its last term.

    unseen: called with the run if its values are right and the virtual GPU found nothing. They look
    for a mistake that the virtual GPU does not see, and their answer is the cause.
    """

    constants: tuple[Callable[[Callable], str | None], ...] = ()
    refused: tuple[Callable[[Callable, str], str | None], ...] = ()
    endless: tuple[Callable[[Callable, str], str | None], ...] = ()
    early: tuple[Callable[[Run], str | None], ...] = ()
    unknown: tuple[Callable[[Callable, str], str | None], ...] = ()
    flaws: tuple[Callable[[Run, Finding], str | None], ...] = ()
    missing: tuple[Callable[[Run], str | None], ...] = ()
    wrong: tuple[Callable[[Run], str | None], ...] = ()
    unseen: tuple[Callable[[Run], str | None], ...] = ()
