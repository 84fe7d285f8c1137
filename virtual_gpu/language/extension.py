"""Teach the virtual GPU a function of your own, such as an intrinsic that Numba does not have.

    virtual_gpu.register(load4, lambda machine, array, position: machine.load(array, position, 4))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..common.errors import Site, Unsupported
from ..common.lanes import Mask
from ..machine.access import load_wide, store_wide
from ..machine.place import Place
from ..machine.run import Run
from ..memory.memory import ArrayView
from ..numbers.fused import fused_multiply_add
from . import intrinsics, warps
from .call import Call
from .frame import Evaluate


@dataclass(frozen=True)
class Machine:
    """What a registered function works with: the lanes that call it, their warps, and memory."""

    run: Run
    mask: Mask
    site: Site

    def by_warp(self, value) -> np.ndarray:
        """A number or a lane vector with one row of 32 per warp; ``.ravel()`` goes back.

        Rows and entries of lanes that are not in ``mask`` hold anything.
        """
        return warps.rows(value, self.run)

    def need_whole_warps(self) -> None:
        """Report a warp of which only some lanes are here; ``.aligned`` asks for all 32."""
        warps.check_whole(self.run, self.mask, self.site)

    def load(self, array: ArrayView, position, width: int, aligned: bool = True) -> tuple:
        """``width`` neighbouring elements from ``position`` on, by one instruction.

        ``aligned``: the first must lie on a boundary of so many, or it is reported.
        """
        return load_wide(self._place(array, position), width, aligned)

    def store(self, array: ArrayView, position, values: tuple, aligned: bool = True) -> None:
        """Write neighbouring elements from ``position`` on, by one instruction."""
        self._store(array, position, values, aligned)()

    def multiply(self, a, b):
        """A product in each lane; one operation."""
        self._count(a.dtype, 1)
        return a * b

    def multiply_add(self, a, b, c):
        """a·b + c in each lane, rounded once; two operations."""
        self._count(a.dtype, 2)
        return fused_multiply_add(a, b, c)

    def copy_later(self, target: ArrayView, to, values: tuple) -> None:
        """A store that is announced now and moves its data in wait_copies()."""
        self.run.copies[-1].append(self._store(target, to, values))

    def commit_copies(self) -> None:
        """The copies announced so far become a group."""
        self.run.copies.append([])

    def wait_copies(self, pending: int) -> None:
        """Move the data of all closed groups but the last ``pending``."""
        groups = self.run.copies
        while len(groups) - 1 > int(pending):
            for move in groups.pop(0):
                move()

    def _store(self, array: ArrayView, position, values: tuple, aligned: bool = True) -> Callable:
        return store_wide(self._place(array, position), values, aligned)

    def _count(self, dtype: np.dtype, operations: int) -> None:
        for _ in range(operations if self.run.counters else 0):
            self.run.counters.operation(self.site, dtype, self.mask)

    def _place(self, array, position) -> Place:
        indices = position if isinstance(position, tuple) else (position,)
        if not isinstance(array, ArrayView) or len(indices) != len(array.shape):
            raise Unsupported(
                f"{self.site}: a wide access needs an array in global or shared memory and one "
                "index per dimension."
            )
        return Place(self.run, array, indices, self.mask, self.site)


def register(function, run: Callable, reads: tuple[int, ...] = ()) -> None:
    """Let kernels call ``function``: ``run(machine, *arguments)`` gives its value.

    Arguments are NumPy scalars, lane vectors, tuples or ArrayViews. ``reads``: the positions of
    arrays that it never writes to; a kernel that only hands an array to such functions is faster.
    """

    if not callable(function) or not callable(run):
        raise TypeError(
            f"register() was given {function!r} and {run!r}; it needs two functions: the one that "
            "kernels call, and the one that gives its value here."
        )

    least, most = _arguments_of(run)

    def handler(call: Call) -> Evaluate:
        arguments, site = call.arguments(least, most), call.site

        def evaluate(frame, mask):
            return run(Machine(frame.run, mask, site), *(a(frame, mask) for a in arguments))

        return evaluate

    intrinsics.register(function, handler, reads)


def _arguments_of(run: Callable) -> tuple[int, int]:
    """How many arguments a call may have, from the parameters of what gives its value."""
    _, *parameters = inspect.signature(run).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 0, 16
    needed = sum(one.default is one.empty for one in parameters)
    return needed, needed
