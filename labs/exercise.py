"""What an exercise is: one record that says what is asked, and how it is known to be done."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from labs.kinds import FUNCTION, KERNEL, Kind
from utils.ladder.step import Launch

if TYPE_CHECKING:
    from labs.run import Run
    from utils.virtual_gpu import Finding

Shape = tuple[int, ...]


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


def nearby(shape: Shape, random: Random) -> Shape:
    """A shape whose sizes differ by an eighth at most, or by three where they are small."""
    reach = [max(size // 8, min(3, size // 2)) for size in shape]
    return tuple(
        size if size == 1 else size + random.randint(-most, most)
        for size, most in zip(shape, reach, strict=True)
    )


def smaller(shape: Shape, random: Random) -> Shape:
    """The same, and none is larger: for sums that would no longer be exact."""
    return tuple(map(min, shape, nearby(shape, random)))


@dataclass(frozen=True)
class Probes:
    """What a family of kernels knows of its usual mistakes: each turns what was seen into a cause.

    A probe gives one or two sentences, or None where it recognises nothing; the first
    answer counts.
    The checker has said before it what was seen: line, thread, element, number.
    constants: for a kernel that is wrong in any way, asked first and with the kernel alone: a
    constant of the reader's that does not fit the launch. Its answer stands in place of all else.
    refused: for what cannot be compiled; asked with the kernel and the sentence that refuses it.
    unknown: likewise, for what the check does not know: the answer stands, with its line, in place
    of that sentence.
    idle: for a kernel that never stores into the result. findings: for what the virtual GPU found.
    unwritten: for elements that no thread has written. wrong: for wrong values.
    """

    constants: tuple[Callable[[Callable], str | None], ...] = ()
    refused: tuple[Callable[[Callable, str], str | None], ...] = ()
    unknown: tuple[Callable[[Callable, str], str | None], ...] = ()
    idle: tuple[Callable[[Run], str | None], ...] = ()
    findings: tuple[Callable[[Run, Finding], str | None], ...] = ()
    unwritten: tuple[Callable[[Run], str | None], ...] = ()
    wrong: tuple[Callable[[Run], str | None], ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked(ABC):
    """What every exercise is: a text, and files with a starter and a solution.

    name: of its folder, and of the function in `starter.py` and `solution.py`.
    lesson: the number of the lesson that asks for it. title: as a heading.
    text: paragraphs of the task, with "about N lines".
    hints: each is shown after the one before it. after: what was gained, shown when it is right; no
    number that a prediction asks for later.
    """

    name: str
    lesson: str
    title: str
    text: tuple[str, ...]
    hints: tuple[str, ...]
    after: str

    @property
    @abstractmethod
    def goals(self) -> tuple[str, ...]:
        """What the task promises to look at, in words."""

    @property
    def starter(self) -> Callable:
        """What the reader begins with."""
        return getattr(self._file("starter"), self.name)

    @property
    def solution(self) -> Callable:
        """What is right and reaches every goal."""
        return getattr(self._file("solution"), self.name)

    @property
    def starter_text(self) -> str:
        """The file that the reader begins with."""
        return inspect.getsource(self._file("starter"))

    @property
    def solution_text(self) -> str:
        """The file with the solution."""
        return inspect.getsource(self._file("solution"))

    def _file(self, file: str):
        return import_module(f"{__package__}.{self.name}.{file}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise(Asked):
    """One kernel that the reader writes; its text says the launch.

    decorator: "cuda.jit" for a kernel, "njit" for a function of the CPU. This one is run step by
    step as a kernel of one thread, so that loads, stores and their order are known of it as well.
    parameters: of the kernel; the result is the last one.
    scratch: those of them besides the result that the kernel may change, such as a counter.
    sizes: what the numbers of a shape are called, such as ("m", "n", "k").
    vary: another shape for a grader, in place of one that is not the first.
    shapes: the first fits all blocks, so that counts are whole numbers; then odd ones; ones last,
    because an error is easier to read at any other shape.
    launch: for a shape. inputs: for a shape and a seed, all arguments but the result, float32 whole
    numbers, so that sums are exact. reference: the right result for these inputs, float64.
    """

    parameters: tuple[str, ...]
    shapes: tuple[Shape, ...]
    decorator: str = "cuda.jit"
    scratch: tuple[str, ...] = ()
    launch: Callable[[Shape], Launch]
    inputs: Callable[[Shape, int], tuple]
    reference: Callable[..., np.ndarray]
    targets: tuple[Target, ...]
    probes: Probes = Probes()
    sizes: tuple[str, ...] = ()
    vary: Callable[[Shape, Random], Shape] = nearby
    timed: bool = True

    @property
    def goals(self) -> tuple[str, ...]:
        """A right result, and the words of its targets."""
        return ("right at any shape", *(target.words for target in self.targets))

    @property
    def on_cpu(self) -> bool:
        """Whether it is a function of the CPU, and no kernel."""
        return self.decorator == "njit"

    @property
    def kind(self) -> Kind:
        """What a verdict calls it."""
        return FUNCTION if self.on_cpu else KERNEL

    @property
    def result(self) -> str:
        """The parameter that the kernel writes."""
        return self.parameters[-1]
