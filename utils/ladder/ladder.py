"""A ladder: its steps in order, and how to run and compare them.

Tests, plots, notebooks and the command line iterate over the ladders.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numba import cuda

from utils.errors import CourseError
from utils.ladder.libraries import Library
from utils.ladder.problems import poisoned
from utils.ladder.step import Step
from utils.ladder.tasks import Shape
from utils.machine.versions import explained


@dataclass(frozen=True, eq=False)
class Ladder:
    """The steps of a ladder in order, and how to run, check and compare them.

    name: a short name, such as "gemm", that records use.
    title: what the ladder computes, as figures name it.
    sizes: the shapes that a record holds, as text.
    sweep: the sizes at which a record holds every choice of constants and not only the defaults;
        None for all sizes.
    quick: the shapes that are measured when the user names none.
    small: the shape at which steps are verified on the virtual GPU; no multiple of any tile.
    library: the library that the steps are measured against; None if there is no rival.
    on_gpu: False if the steps run on the CPU.
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    sizes: tuple[str, ...]
    quick: tuple[str, ...]
    small: str
    library: Library | None = None
    on_gpu: bool = True
    sweep: tuple[str, ...] | None = None

    def parse(self, text: str) -> Shape:
        """Return the shape that `text` describes; raise CourseError if it describes none."""
        return self.steps[0].task.parse(text)

    def step(self, name: str) -> Step:
        """Return the step called `name`; raise CourseError if there is none."""
        for step in self.steps:
            if step.name == name:
                return step
        names = [step.name for step in self.steps]
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(names)}."
        raise CourseError(f"The {self.name} ladder has no step {name!r}: {hint}")

    def placed(self, step: Step, array: np.ndarray):
        """Return a host array's copy in memory that the step can read.

        It is device memory unless the step has a `place` of its own. A device array, and any array
        of a ladder on the CPU, is returned unchanged.
        """
        if not (self.on_gpu and isinstance(array, np.ndarray)):
            return array
        return (step.place or cuda.to_device)(array)

    def to_host(self, array) -> np.ndarray:
        """Return the array as a NumPy array, after all launched work has finished."""
        if not isinstance(array, np.ndarray):
            return array.copy_to_host()
        # Managed memory: an array of the host, which kernels may still be writing. Numba's class
        # for it cannot be asked to copy itself.
        if self.on_gpu:
            cuda.synchronize()
        return np.asarray(array)

    def run(self, name: str, *inputs, **constants: int) -> np.ndarray:
        """Run one step on arrays and return the result as a new float32 array on the host.

        `inputs` are arrays in C order with the dtype of the step's task, on the host or on the
        device. `constants` are compile-time constants of the step, such as TILE=32. If an input has
        no elements, no kernel runs and the result is zeros. Raises CourseError if there is no such
        step, if a constant or an array does not fit it, or if the GPU lacks its instructions.
        """
        step = self.step(name)
        if self.on_gpu:
            _require(step, cuda.get_current_device().compute_capability)
        variant = step.variant(**constants)
        sizes = step.task.check(*inputs)
        size = step.task.output_shape(*sizes)
        # Nothing is added up: a product over k = 0 is zero, and so is the sum of no elements.
        if 0 in sizes:
            return np.zeros(size, np.float32)
        shape = step.task.shape(*sizes)
        with explained():
            out = self.placed(step, poisoned(size))
            arrays = tuple(self.placed(step, array) for array in inputs)
            variant.at(shape).execution(shape, arrays, out)()
            return self.to_host(out)


def ladder_of(step: Step) -> Ladder:
    """Return the ladder of the package that defines the step."""
    return import_module(step.module.rpartition(".")[0]).LADDER


def is_of_a_ladder(step: Step) -> bool:
    """Return True if the step is in its package's ladder; only these steps have records.

    It is False for an edited copy of a step, and for other kernels of the package.
    """
    return any(step is one for one in ladder_of(step).steps)


def _require(step: Step, capability: tuple[int, int]) -> None:
    """Raise CourseError, naming an earlier step, if the device lacks instructions of `step`.

    capability: the device's compute capability.
    """
    if not step.runs_on(capability):
        needed, present = (".".join(map(str, each)) for each in (step.capability, capability))
        raise CourseError(
            f"{step.name} needs compute capability {needed} and this device has {present}: choose "
            f"an earlier step, such as {step.previous}."
        )
