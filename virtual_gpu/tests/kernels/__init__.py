"""Small kernels with a known flaw, and correct ones that look as if they had it.

``broken.CASES`` and ``correct.CASES`` are run on the virtual GPU by the tests, and on a real device
under NVIDIA's compute-sanitizer by ``python -m virtual_gpu.tests.kernels.sanitize``. They install
no virtual GPU, so that a kernel meets the real device.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba.cuda.dispatcher import CUDADispatcher

TOOLS = {
    "race": "racecheck",
    "out_of_bounds": "memcheck",
    "uninitialised": "initcheck",
    "barrier": "synccheck",
}
SEED = 7

MakeArguments = Callable[[np.random.Generator], tuple]


@dataclass(frozen=True)
class KernelCase:
    """One kernel and its launch, with its flaw, or with what makes a correct kernel suspicious.

    ``reference`` is None for a broken kernel. For a correct one it takes the arguments as they are
    before the launch and returns what the last argument must hold afterwards. ``unset`` holds the
    positions of arguments that are device memory which nobody has filled.
    """

    kernel: CUDADispatcher
    kind: str
    make_arguments: MakeArguments
    grid: int | tuple[int, ...] = 1
    block: int | tuple[int, ...] = 64
    shared_bytes: int = 0
    reference: Callable[..., np.ndarray] | None = None
    unset: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.kernel.py_func.__name__

    @property
    def flaw(self) -> str:
        """The kernel's docstring, which is one sentence."""
        return inspect.getdoc(self.kernel.py_func)

    @property
    def tool(self) -> str:
        """The tool of compute-sanitizer that searches for this kind of flaw."""
        return TOOLS[self.kind]

    @property
    def corpus(self) -> str:
        return "broken" if self.reference is None else "correct"

    def arguments(self) -> tuple:
        """Return the host arrays and numbers, which are the same in every call."""
        return self.make_arguments(np.random.default_rng(SEED))

    def is_right(self, result: np.ndarray) -> bool:
        """Return True if the last argument holds what a correct kernel leaves there."""
        return np.allclose(result, self.reference(*self.arguments()), rtol=1e-5, atol=1e-6)


def case(
    kind: str, make_arguments: MakeArguments, **more
) -> Callable[[CUDADispatcher], KernelCase]:
    """Return a decorator that makes a KernelCase of a kernel; ``more`` are its fields."""
    return lambda kernel: KernelCase(kernel, kind, make_arguments, **more)


def vectors(read: int, written: int | None = None) -> MakeArguments:
    """Return a maker of (x, out): ``read`` random float32, and ``written`` (or as many) zeros."""
    size = read if written is None else written
    return lambda rng: (rng.random(read, np.float32), np.zeros(size, np.float32))


def same_shape(*shape: int) -> MakeArguments:
    """Return a maker of (x, out) of one shape: random float32, and float32 zeros."""
    return lambda rng: (rng.random(shape, np.float32), np.zeros(shape, np.float32))


def in_place(*shape: int) -> MakeArguments:
    """Return a maker of one argument, random float32, which the kernel changes."""
    return lambda rng: (rng.random(shape, np.float32),)
