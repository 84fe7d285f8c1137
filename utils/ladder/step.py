"""A step of a ladder: one kernel, its launch, and requirements on its machine code.

Every kernel's file ends with its `Step`. All code that runs, checks, times, traces, x-rays or draws
a kernel asks the step for its `calls`.
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

# These hold for every CUDA device since compute capability 3.0 (CUDA C++ Programming Guide, table
# "Technical Specifications per Compute Capability").
MAX_THREADS_PER_BLOCK = 1024
MAX_GRID = (2**31 - 1, 65535, 65535)


@dataclass(frozen=True)
class Launch:
    """The sizes of a launch.

    `grid` and `block` have one to three numbers, x first. `shared_bytes` is the dynamic shared
    memory per block. Raises CourseError for a launch that no CUDA device accepts.
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
        """The number of thread blocks in the grid."""
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """The number of threads in a block."""
        return math.prod(self.block)

    @staticmethod
    def _times(numbers: tuple[int, ...]) -> str:
        """Return the numbers joined by a multiplication sign, such as "32×8"."""
        return "×".join(map(str, numbers))


@dataclass(frozen=True, eq=False)
class Call:
    """One launch of a kernel, or one call of a CPU function, with all its arguments.

    `kernel` is the kernel or function. `launch` is None for a function on the CPU.
    """

    kernel: Callable
    launch: Launch | None
    arguments: tuple

    def bound(self) -> Callable[[], None]:
        """Return a function without arguments that makes the call, on a GPU's default stream."""
        if self.launch is None:
            return partial(self.kernel, *self.arguments)
        where = self.launch.grid, self.launch.block, 0, self.launch.shared_bytes
        return partial(self.kernel[where], *self.arguments)


def one_call(
    variant: Variant, shape: Shape, inputs: tuple, out, allocate: Allocate
) -> tuple[Call, ...]:
    """Return a tuple of one Call: the variant's kernel with the inputs, then the output.

    `allocate` is not used. It is the default for `Step.calls`.
    """
    return (Call(variant.kernel, variant.launch(shape), (*inputs, out)),)


@dataclass(frozen=True)
class Budget:
    """Limits for the machine code of a step, on every architecture with a budget.

    float64: True if the kernel may compute in float64.
    spill_bytes: the most local memory per thread; registers that do not fit are spilled there.
    registers: the most registers per thread; None if the number does not matter.
    global_bits, shared_bits: the least width in bits of the widest load from that memory.
    ffma_share: the least fraction of FFMAs among the instructions of the innermost hot loop.
    tensor_share: the least fraction of products on tensor cores (HMMA) among them.
    but: exceptions for some compute capabilities, such as {(12, 0): {"registers": 40}}.
    """

    float64: bool = False
    spill_bytes: int = 0
    registers: int | None = None
    global_bits: int = 0
    shared_bits: int = 0
    ffma_share: float = 0.0
    tensor_share: float = 0.0
    but: Mapping[tuple[int, int], Mapping[str, float]] = field(default_factory=dict)

    def on(self, capability: tuple[int, int]) -> Budget:
        """Return the budget that holds for one compute capability, with its exceptions applied."""
        return replace(self, but={}, **self.but.get(capability, {}))


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a ladder.

    module: the `__name__` of the module that defines the step.
    name: the name of the file, of the kernel and of the line in plots.
    idea: one line that says what this step does.
    previous: the name of the step that this one changes; None for the first step.
    task: what is computed; steps with the same task can be compared.
    build: `build(**constants)` returns the kernel, the same object for the same constants.
    launch: `launch(shape, **constants)` returns the Launch of that kernel; None on the CPU.
    calls: `calls(variant, shape, inputs, out, allocate)` returns everything that one execution
        launches, in order, with all arguments; `one_call` if the kernel alone is launched.
    choices: the allowed values of each constant of `build`; the first value is the default.
    budget: what the machine code of the default constants must look like.
    capability: the lowest compute capability that has the instructions this step needs.
    place: `place(host_array)` returns the array in memory that this step's kernel reads; None if
        the ladder decides.
    choose: `choose(shape)` returns constants that suit a shape, for a step that picks its own.
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
        """The module that defines the step."""
        return import_module(self.module)

    def constants(self, **requested: int) -> dict[str, int]:
        """Return name -> value of every constant: the requested value, or the default.

        Raises CourseError for a name or a value that the step does not offer.
        """
        for name, value in requested.items():
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
        return {name: requested.get(name, values[0]) for name, values in self.choices.items()}

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Return True if devices of that compute capability have this step's instructions."""
        return tuple(capability) >= self.capability

    def variant(self, **requested: int) -> Variant:
        """Return this step with the requested constants and the defaults of all others.

        Raises CourseError for a name or a value that the step does not offer.
        """
        return Variant(self, tuple(self.constants(**requested).items()))

    def named(self, params: str | None) -> Variant:
        """Return the variant with these constants as records write them, such as "TILE=32 GRAIN=2".

        None and "" mean the defaults. Raises CourseError for a name or a value that the step does
        not offer.
        """
        pairs = (pair.split("=") for pair in (params or "").split())
        return self.variant(**{name: int(value) for name, value in pairs})

    def variants(self) -> list[Variant]:
        """Return the variants for all combinations of the choices, the default first.

        A step with `choose`, which picks its constants by the shape, has only the default variant.
        """
        if self.choose:
            return [self.variant()]
        return [
            self.variant(**dict(zip(self.choices, values, strict=True)))
            for values in itertools.product(*self.choices.values())
        ]


@dataclass(frozen=True)
class Variant:
    """A step with a value for each of its constants; made by `Step.variant`.

    values: (name, value) of each constant. `str(variant)` is such as "tiled TILE=32".
    """

    step: Step
    values: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.step.name} {self.params}".rstrip()

    @property
    def constants(self) -> dict[str, int]:
        """Name -> value of each constant."""
        return dict(self.values)

    @property
    def params(self) -> str:
        """The constants as records write them, such as "TILE=32 GRAIN=2"."""
        return " ".join(f"{name}={value}" for name, value in self.values)

    @property
    def is_default(self) -> bool:
        """True if every constant has the step's default value."""
        return self == self.step.variant()

    @property
    def kernel(self) -> Callable:
        """The kernel for these constants; Numba compiles it at its first launch."""
        return self.step.build(**self.constants)

    def at(self, shape: Shape) -> Variant:
        """Return the variant that runs at this shape.

        A step with `choose` picks its constants for the shape if all constants have their defaults.
        Any other variant is returned unchanged.
        """
        if self.step.choose is None or not self.is_default:
            return self
        return self.step.variant(**self.step.choose(shape))

    def launch(self, shape: Shape) -> Launch | None:
        """Return the kernel's Launch, with grid and block, for this shape; None on the CPU."""
        return self.step.launch(shape, **self.constants)

    def calls(
        self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device
    ) -> tuple[Call, ...]:
        """Return everything that one execution launches, in order, with all arguments.

        `inputs` and `out` are the arrays of the task, in memory that the step reads and writes.
        `allocate` provides the additional memory that the step needs.
        """
        return self.step.calls(self, shape, inputs, out, allocate)

    def main_call(self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device) -> Call:
        """Return the first of the `calls` that launches the step's own kernel.

        `inputs` and `out` are the arrays of the task, in memory that the step reads and writes.
        `allocate` provides the additional memory that the step needs.
        """
        calls, kernel = self.calls(shape, inputs, out, allocate), self.kernel
        return next(call for call in calls if call.kernel is kernel)

    def execution(
        self, shape: Shape, inputs: tuple, out, allocate: Allocate = on_device
    ) -> Callable[[], None]:
        """Return a function without arguments that makes all `calls`, in order.

        `inputs` and `out` are the arrays of the task, in memory that the step reads and writes.
        `allocate` provides the additional memory that the step needs; it is called now.
        """
        bound = [call.bound() for call in self.calls(shape, inputs, out, allocate)]
        if len(bound) == 1:
            return bound[0]

        def execute() -> None:
            for call in bound:
                call()

        return execute
