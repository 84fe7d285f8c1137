"""What a run is held against: counts that a right kernel must reach, and mistakes to look for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from labs.checking.run import Run


@dataclass(frozen=True)
class Target:
    """A count that a right kernel must reach as well.

    what: the name of the count. at_most: its limit. words: the target, as the task states it.
    measure: the count of a run; None where this machine cannot know it, and a note then says so.
    cause: for a run that is above the limit, a sentence with the line and the number.
    every_shape: whether it is held at all shapes and not only at the one that fits the blocks.
    of_machine: whether it is counted in machine code, which moves with the compiler: then it gives
    no points.
    """

    what: str
    at_most: float
    words: str
    measure: Callable[[Run], float | None]
    cause: Callable[[Run, float], str]
    every_shape: bool = False
    of_machine: bool = False

    def missed(self, value: float | None) -> bool:
        return value is not None and value > self.at_most + 1e-9


@dataclass(frozen=True)
class Probes:
    """What a family of kernels knows of mistakes that no table could list.

    Each probe gives one or two sentences, or None where it recognises nothing; the first answer
    counts. Most of what a kernel does wrong when it runs is known from the exercise's table.
    constants: for a kernel that is wrong in any way, asked first and with the kernel alone: a
    constant of the reader's that does not fit the launch. Its answer is said instead of all others.
    refused: for what cannot be compiled; asked with the kernel and the sentence that refuses it.
    unknown: for what the check does not know; asked in the same way. Its answer is said, with its
    line, instead of that sentence.
    wrong: what wrong values hold, such as a sum without its last term; asked with the run where the
    table does not know the mistake.
    """

    constants: tuple[Callable[[Callable], str | None], ...] = ()
    refused: tuple[Callable[[Callable, str], str | None], ...] = ()
    unknown: tuple[Callable[[Callable, str], str | None], ...] = ()
    wrong: tuple[Callable[[Run], str | None], ...] = ()
