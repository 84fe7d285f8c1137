"""Small kernels with a known flaw, and correct ones that look as if they had it.

``broken.CASES`` and ``correct.CASES`` are run on the virtual GPU by the tests, and on a real device
under NVIDIA's compute-sanitizer by ``python -m tools.records.sanitize``. They import nothing of the
project, so that a kernel meets the real device and no virtual one.
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
class Case:
    """One kernel, its launch, and what is wrong with it or what makes it suspicious.

    ``reference`` is None for a broken kernel; for a correct one it takes the arguments as they are
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
        """One sentence: the kernel's docstring."""
        return inspect.getdoc(self.kernel.py_func)

    @property
    def tool(self) -> str:
        """The tool of compute-sanitizer that is made for this kind of flaw."""
        return TOOLS[self.kind]

    @property
    def corpus(self) -> str:
        return "broken" if self.reference is None else "correct"

    def arguments(self) -> tuple:
        """Host arrays and numbers, the same ones in every call."""
        return self.make_arguments(np.random.default_rng(SEED))

    def is_right(self, result: np.ndarray) -> bool:
        """Whether the last argument holds what a correct kernel leaves there."""
        return np.allclose(result, self.reference(*self.arguments()), rtol=1e-5, atol=1e-6)


def case(kind: str, make_arguments: MakeArguments, **more) -> Callable[[CUDADispatcher], Case]:
    """Decorator that makes a Case of a kernel; ``more`` are fields of Case."""
    return lambda kernel: Case(kernel, kind, make_arguments, **more)


def vectors(read: int, written: int | None = None) -> MakeArguments:
    """Arguments (x, out): random float32, and float32 zeros (as many, if no number is given)."""
    size = read if written is None else written
    return lambda rng: (rng.random(read, np.float32), np.zeros(size, np.float32))


def same_shape(*shape: int) -> MakeArguments:
    """Arguments (x, out) of one shape: random float32, and float32 zeros."""
    return lambda rng: (rng.random(shape, np.float32), np.zeros(shape, np.float32))


def in_place(*shape: int) -> MakeArguments:
    """One argument, which the kernel changes: random float32."""
    return lambda rng: (rng.random(shape, np.float32),)
