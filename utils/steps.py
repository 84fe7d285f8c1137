"""A step: one kernel, how it is launched, and what its machine code must look like.

Every rung of a ladder is one `Step`, written at the end of the kernel's own file. A `Ladder` puts
the steps in order and knows how they run and which library they are measured against. Tests, plots,
notebooks and the command line iterate the ladders; nobody keeps a second list.
"""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numba import cuda

from utils.errors import CourseError
from utils.verify import poisoned
from utils.versions import explained

if TYPE_CHECKING:
    from utils.tasks import Shape, Task
    from utils.timing import Library

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
        if math.prod(self.block) > MAX_THREADS_PER_BLOCK:
            raise CourseError(
                f"A block of {self._times(self.block)} has {math.prod(self.block)} threads, and "
                f"no device takes more than {MAX_THREADS_PER_BLOCK}: choose a smaller block."
            )
        for axis, blocks, limit in zip("xyz", self.grid, MAX_GRID, strict=False):
            if blocks > limit:
                raise CourseError(
                    f"The grid {self._times(self.grid)} has {blocks} blocks along {axis}, and no "
                    f"device takes more than {limit}: split the problem or choose a larger block."
                )

    @staticmethod
    def _times(numbers: tuple[int, ...]) -> str:
        return "×".join(map(str, numbers))


@dataclass(frozen=True)
class Budget:
    """What the machine code of a step must look like, on every architecture.

    float64: whether float64 arithmetic is meant.
    spill_bytes: local memory per thread at most; registers that do not fit are spilled there.
    registers: per thread at most; None where the number does not matter.
    global_bits, shared_bits: the widest load from that memory is at least so wide.
    ffma_share: at least this fraction of the instructions of the innermost hot loop are FFMAs.
    """

    float64: bool = False
    spill_bytes: int = 0
    registers: int | None = None
    global_bits: int = 0
    shared_bits: int = 0
    ffma_share: float = 0.0


@dataclass(frozen=True, eq=False)
class Step:
    """One rung of a ladder.

    name: the name of the file, of the function and of the line in the plots.
    idea: one line that says what this step does.
    previous: the name of the step before it; None for the first.
    task: what is computed; the same for all steps that can be compared.
    build: build(**constants) returns the compiled-on-demand function, the same one every time.
    launch: launch(shape, **constants) returns a Launch; None for steps that run on the CPU.
    choices: for each constant of build the allowed values; the first is the default.
    budget: what the machine code of the default constants must look like.
    capability: the first compute capability that has the instructions this step needs.
    place: place(array on the host) returns it where this step's kernel reads it; None for where
        the ladder puts arrays.
    bind: for a step that is not executed as the others of its ladder are; see `Ladder.bind`.
    arguments: arguments(variant, shape, inputs, out) returns what the kernel is launched with,
        where that is not the inputs and the result.
    choose: choose(shape) returns constants that suit a shape, for a step that decides by itself.
    """

    name: str
    idea: str
    previous: str | None
    task: Task
    build: Callable[..., Callable]
    launch: Callable[..., Launch] | None = None
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    budget: Budget = Budget()
    capability: tuple[int, int] = (7, 5)
    place: Callable[[np.ndarray], object] | None = None
    bind: Callable[..., Callable[[], None]] | None = None
    arguments: Callable[..., tuple] | None = None
    choose: Callable[[Shape], Mapping[str, int]] | None = None

    @property
    def signature(self):
        """The Numba signature that the step is compiled for."""
        return self.task.signature

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
        return Variant(self, self.constants(**given))

    def variants(self) -> list[dict[str, int]]:
        """Every combination of the choices; the default comes first.

        Of a step that decides by itself there is one: what a search goes through is no list for
        people.
        """
        if self.choose:
            return [self.constants()]
        return [
            dict(zip(self.choices, values, strict=True))
            for values in itertools.product(*self.choices.values())
        ]


@dataclass(frozen=True)
class Variant:
    """A step with a value for each of its constants."""

    step: Step
    constants: dict[str, int]

    def __str__(self) -> str:
        return f"{self.step.name} {self.params}".rstrip()

    @property
    def params(self) -> str:
        """The constants as records hold them, such as "TILE=32 GRAIN=2"."""
        return " ".join(f"{name}={value}" for name, value in self.constants.items())

    @property
    def kernel(self) -> Callable:
        """The compiled-on-demand function."""
        return self.step.build(**self.constants)

    def launch(self, shape: Shape) -> Launch:
        """How the kernel is launched for this shape."""
        return self.step.launch(shape, **self.constants)

    def arguments(self, shape: Shape, inputs: tuple, out) -> tuple:
        """What the kernel is launched with."""
        own = self.step.arguments
        return own(self, shape, inputs, out) if own else (*inputs, out)

    def at(self, shape: Shape) -> Variant:
        """What runs at this shape: the step's own choice where nobody asked for another."""
        if self.step.choose is None or self.constants != self.step.constants():
            return self
        return self.step.variant(**self.step.choose(shape))


def _require(step: Step, capability: tuple[int, int]) -> None:
    """CourseError with an earlier step where the device cannot run this one."""
    if not step.runs_on(capability):
        needed, present = (".".join(map(str, each)) for each in (step.capability, capability))
        raise CourseError(
            f"{step.name} needs compute capability {needed} and this device has {present}: choose "
            f"an earlier step, such as {step.previous}."
        )


def bind_kernel(variant: Variant, shape: Shape, inputs: tuple, out) -> Callable[[], None]:
    """One execution of a GPU step as a function without arguments: one launch of its kernel."""
    launch = variant.launch(shape)
    configured = variant.kernel[launch.grid, launch.block, 0, launch.shared_bytes]
    return partial(configured, *variant.arguments(shape, inputs, out))


def bind_function(variant: Variant, shape: Shape, inputs: tuple, out) -> Callable[[], None]:
    """One execution of a CPU step as a function without arguments: function(*inputs, out)."""
    return partial(variant.kernel, *inputs, out)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Steps in their order, and how they are run, checked and compared.

    sizes: the shapes that a record holds, as text.
    sweep: those of them at which it holds every choice of constants, and not just the defaults;
        None for all of them.
    quick: the shapes that are measured when none is asked for.
    small: the shape at which the steps are verified on the virtual GPU, no multiple of any tile.
    library: what the steps are measured against; None where there is no rival.
    bind: turns (variant, shape, inputs, out) into one execution without arguments.
    on_gpu: False when the steps run on the CPU.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    sizes: tuple[str, ...]
    quick: tuple[str, ...]
    small: str
    library: Library | None = None
    bind: Callable[..., Callable[[], None]] = bind_kernel
    on_gpu: bool = True
    sweep: tuple[str, ...] | None = None

    def parse(self, text: str) -> Shape:
        """The shape that a size given as text stands for; CourseError if it stands for none."""
        return self.steps[0].task.parse(text)

    def step(self, name: str) -> Step:
        """The step of that name; CourseError with the names that exist otherwise."""
        for step in self.steps:
            if step.name == name:
                return step
        names = [step.name for step in self.steps]
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(names)}."
        raise CourseError(f"The {self.name} ladder has no step {name!r}: {hint}")

    def execution(self, variant: Variant, shape: Shape, inputs: tuple, out) -> Callable[[], None]:
        """One execution as a function without arguments; the arrays lie where the variant runs."""
        return (variant.step.bind or self.bind)(variant.at(shape), shape, inputs, out)

    def placed(self, step: Step, array: np.ndarray):
        """The array where the step can read it; device arrays stay as they are."""
        if not (self.on_gpu and isinstance(array, np.ndarray)):
            return array
        return (step.place or cuda.to_device)(array)

    def to_host(self, array) -> np.ndarray:
        """The array as NumPy sees it, when everything that was launched is done."""
        if not isinstance(array, np.ndarray):
            return array.copy_to_host()
        # Managed memory: an array of the host, which kernels may still be writing. Numba's class
        # for it cannot be asked to copy itself.
        if self.on_gpu:
            cuda.synchronize()
        return np.asarray(array)

    def run(self, name: str, *inputs, **constants: int) -> np.ndarray:
        """The result of one step for the given arrays, as a new float32 array on the host.

        inputs: float32 arrays in C order, on the host or on the device.
        Raises CourseError when the step, a constant or an array does not fit.
        """
        step = self.step(name)
        if self.on_gpu:
            _require(step, cuda.get_current_device().compute_capability)
        variant = step.variant(**constants)
        sizes = step.task.check(*inputs)
        size = step.task.output_shape(*sizes)
        # Nothing to add up: a product over k = 0 is zero, and so is the sum of no elements.
        if 0 in sizes:
            return np.zeros(size, np.float32)
        with explained():
            out = self.placed(step, poisoned(size))
            arrays = tuple(self.placed(step, array) for array in inputs)
            self.execution(variant, step.task.shape(*sizes), arrays, out)()
            return self.to_host(out)
