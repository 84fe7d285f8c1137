"""A step: one kernel, what a launch of it is, and what its machine code must look like.

Every rung of a ladder is one `Step`, written at the end of the kernel's own file. Whatever runs,
checks, times, traces, x-rays or draws a rung asks the step for its `calls`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from utils.errors import CourseError
from utils.ladder.memory import Allocate, on_device

if TYPE_CHECKING:
    from utils.ladder.tasks import Shape, Task

# The same on every CUDA device since compute capability 3.0 (CUDA C++ Programming Guide, table
# "Technical Specifications per Compute Capability").
MAX_THREADS_PER_BLOCK = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)


@dataclass(frozen=True)
class Launch:
    """How many blocks, how many threads in each, and how much dynamic shared memory per block.

    Raises CourseError when no device could launch it.
    """

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int = 0

    def __post_init__(self) -> None:
        if self.threads > MAX_THREADS_PER_BLOCK:
            raise CourseError(
                f"A block of {self._times(self.block)} has {self.threads} threads, and "
                f"no device takes more than {MAX_THREADS_PER_BLOCK}: choose a smaller block."
            )
        for axis, blocks, limit in zip("xyz", self.grid, MAX_GRID, strict=False):
            if blocks > limit:
                raise CourseError(
                    f"The grid {self._times(self.grid)} has {blocks} blocks along {axis}, and no "
                    f"device takes more than {limit}: split the problem or choose a larger block."
                )

    @property
    def blocks(self) -> int:
        """Blocks in the grid."""
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return math.prod(self.block)

    @staticmethod
    def _times(numbers: tuple[int, ...]) -> str:
        return "×".join(map(str, numbers))


@dataclass(frozen=True, eq=False)
class Call:
    """One launch of a kernel, or one call of a function on the CPU, with all it is given.

    launch: None for a function on the CPU.
    """

    kernel: Callable
    launch: Launch | None
    arguments: tuple

    def bound(self) -> Callable[[], None]:
        """The call as a function without arguments; on a GPU it goes to the default stream."""
        if self.launch is None:
            return partial(self.kernel, *self.arguments)
        where = self.launch.grid, self.launch.block, 0, self.launch.shared_bytes
        return partial(self.kernel[where], *self.arguments)


def one_call(
    variant: Variant, shape: Shape, inputs: tuple, out, allocate: Allocate
) -> tuple[Call, ...]:
    """The calls of a step that takes the inputs and writes the result, and needs nothing else."""
    return (Call(variant.kernel, variant.launch(shape), (*inputs, out)),)


@dataclass(frozen=True)
class Budget:
    """What the machine code of a step must look like, on every architecture with a budget.

    float64: whether float64 arithmetic is meant.
    spill_bytes: local memory per thread at most; registers that do not fit are spilled there.
    registers: per thread at most; None where the number does not matter.
    global_bits, shared_bits: the widest load from that memory is at least so wide.
    ffma_share: at least this fraction of the instructions of the innermost hot loop are FFMAs.
    but: what is different on some compute capabilities, such as {(12, 0): {"registers": 40}}.
    """

    float64: bool = False
    spill_bytes: int = 0
    registers: int | None = None
    global_bits: int = 0
    shared_bits: int = 0
    ffma_share: float = 0.0
    but: Mapping[tuple[int, int], Mapping[str, float]] = field(default_factory=dict)

    def on(self, capability: tuple[int, int]) -> Budget:
        """What holds on one compute capability."""
        return replace(self, but={}, **self.but.get(capability, {}))


@dataclass(frozen=True, eq=False)
class Step:
    """One rung of a ladder.

    module: the name of the file that the step is written in, `__name__` there.
    name: the name of the file, of the function and of the line in the plots.
    idea: one line that says what this step does.
    previous: the name of the step that this one changes; None for the first.
    task: what is computed; the same for all steps that can be compared.
    build: build(**constants) returns the compiled-on-demand function, the same one every time.
    launch: launch(shape, **constants) returns the Launch of that kernel; None on the CPU.
    calls: calls(variant, shape, inputs, out, allocate) returns everything that one execution
        launches, in order, with all arguments; `one_call` where that is the kernel alone.
    choices: for each constant of build the allowed values; the first is the default.
    budget: what the machine code of the default constants must look like.
    capability: the first compute capability that has the instructions this step needs.
    place: place(array on the host) returns it where this step's kernel reads it; None for where
        the ladder puts arrays.
    choose: choose(shape) returns constants that suit a shape, for a step that decides by itself.
    """

    module: str
    name: str
    idea: str
    previous: str | None
    task: Task
    build: Callable[..., Callable]
    launch: Callable[..., Launch | None] = lambda shape, **constants: None
    calls: Callable[..., tuple[Call, ...]] = one_call
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    budget: Budget = Budget()
    capability: tuple[int, int] = (7, 5)
    place: Callable[[np.ndarray], object] | None = None
    choose: Callable[[Shape], Mapping[str, int]] | None = None

    @property
    def signature(self):
        """The Numba signature that the step is compiled for."""
        return self.task.signature

    @property
    def file(self) -> ModuleType:
        """The module that the step is written in."""
        return import_module(self.module)

    def constants(self, **given: int) -> dict[str, int]:
        """Every constant of the step: the given ones, and the default of each of the others.

        Raises CourseError for a name or a value that the step does not offer.
        """
        for name, value in given.items():
            if name not in self.choices:
                offered = ", ".join(self.choices) or "none"
                raise CourseError(
                    f"{self.name} has no constant {name}: the constants of this step are {offered}."
                )
            if type(value) is not int or value not in self.choices[name]:
                allowed = ", ".join(map(str, self.choices[name]))
                raise CourseError(
                    f"{name}={value} is not offered by {self.name}: choose one of {allowed}."
                )
        return {name: given.get(name, values[0]) for name, values in self.choices.items()}

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Whether a device of that compute capability has the instructions this step needs."""
        return tuple(capability) >= self.capability

    def variant(self, **given: int) -> Variant:
        """This step with the given constants; CourseError as for `constants`."""
        return Variant(self, tuple(self.constants(**given).items()))

    def named(self, params: str | None) -> Variant:
        """The variant whose `params` these are, such as "TILE=32 GRAIN=2"."""
        pairs = (pair.split("=") for pair in (params or "").split())
        return self.variant(**{name: int(value) for name, value in pairs})

    def variants(self) -> list[Variant]:
        """Every combination of the choices; the default comes first.

        Of a step that decides by itself there is one: what a search goes through is no list for
        people.
        """
        if self.choose:
            return [self.variant()]
        return [
            self.variant(**dict(zip(self.choices, values, strict=True)))
            for values in itertools.product(*self.choices.values())
        ]


@dataclass(frozen=True)
class Variant:
    """A step with a value for each of its constants; `Step.variant` makes it."""

    step: Step
    values: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.step.name} {self.params}".rstrip()

    @property
    def constants(self) -> dict[str, int]:
        """The value of each constant by its name."""
        return dict(self.values)

    @property
    def params(self) -> str:
        """The constants as records hold them, such as "TILE=32 GRAIN=2"."""
        return " ".join(f"{name}={value}" for name, value in self.values)

    @property
    def is_default(self) -> bool:
        """Whether every constant has the step's default."""
        return self == self.step.variant()

    @property
    def kernel(self) -> Callable:
        """The compiled-on-demand function."""
        return self.step.build(**self.constants)

    def at(self, shape: Shape) -> Variant:
        """What runs at this shape: the step's own choice where nobody asked for another."""
        if self.step.choose is None or not self.is_default:
            return self
        return self.step.variant(**self.step.choose(shape))

    def launch(self, shape: Shape) -> Launch | None:
        """How the kernel is launched for this shape."""
        return self.step.launch(shape, **self.constants)

    def calls(
        self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device
    ) -> tuple[Call, ...]:
        """Everything that one execution launches, in order, with all arguments.

        inputs, out: the arrays of the task, where the step reads and writes them. allocate: where
        memory comes from that the step needs besides.
        """
        return self.step.calls(self, shape, inputs, out, allocate)

    def main_call(
        self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device
    ) -> Call:
        """The one among the `calls` that launches the step's own kernel."""
        calls, kernel = self.calls(shape, inputs, out, allocate), self.kernel
        return next(call for call in calls if call.kernel is kernel)

    def execution(
        self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device
    ) -> Callable[[], None]:
        """All calls as one function without arguments."""
        bound = [call.bound() for call in self.calls(shape, inputs, out, allocate)]
        if len(bound) == 1:
            return bound[0]

        def execute() -> None:
            for call in bound:
                call()

        return execute
