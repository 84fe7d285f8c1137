"""Lets users register their own functions for kernels, such as intrinsics that Numba lacks.

    virtual_gpu.register(load4, lambda machine, array, position: machine.load(array, position, 4))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..common.errors import Site, Unsupported
from ..common.lanes import Mask
from ..machine import matrices
from ..machine.access import copy_wide, load_wide, store_wide
from ..machine.place import Place
from ..machine.run import BatchRun
from ..memory.memory import ARRAY_TYPES, ArrayView
from ..numbers.fragments import COLUMNS, ROWS
from ..numbers.fused import fused_multiply_add
from . import intrinsics, warps
from .call_expression import CallExpression
from .frame import Evaluate


@dataclass(frozen=True)
class Machine:
    """The first argument of a registered function: the lanes that call it, and memory access.

    ``mask`` holds the active lanes, and ``site`` is the source line of the call. ``run`` is the
    execution of the batch.
    """

    run: BatchRun
    mask: Mask
    site: Site

    def by_warp(self, value) -> np.ndarray:
        """Return a number or a lane vector as an array of shape (warps, 32).

        ``.ravel()`` turns it into a lane vector again. Entries of lanes that are not in ``mask``
        are arbitrary.
        """
        return warps.rows(value, self.run)

    def need_whole_warps(self) -> None:
        """Report, as a flaw, the warps of which only some lanes are active.

        ``.aligned`` in PTX forbids that.
        """
        warps.check_whole(self.run, self.mask, self.site)

    def load(self, array: ArrayView, position, width: int, aligned: bool = True) -> tuple:
        """Load ``width`` consecutive elements from ``position`` on with one instruction.

        ``position`` is the index of the first element: an integer per lane, or a tuple of them with
        one per dimension. Returns a tuple of ``width`` lane vectors, which are zero in lanes that
        are inactive or out of bounds; the latter are reported. With ``aligned``, a first element
        whose offset is no multiple of ``width`` is reported, too. A report raises OutOfBounds
        unless the launch collects its findings. Raises Unsupported for an array that is not in
        global or shared memory, and for another number of indices.
        """
        return load_wide(self._place(array, position), width, aligned)

    def store(self, array: ArrayView, position, values: tuple, aligned: bool = True) -> None:
        """Store the tuple ``values`` in consecutive elements from ``position`` on.

        That is one instruction; ``position`` has the form that ``load`` takes. Nothing is stored in
        lanes that are inactive or out of bounds; the latter are reported. With ``aligned``, a first
        element whose offset is no multiple of the number of values is reported, too. A report
        raises OutOfBounds unless the launch collects its findings. Raises Unsupported for values
        that are no tuple, an array that is not in global or shared memory, and another number of
        indices than dimensions.
        """
        store_wide(self._wide_place(array, position, values), values, aligned)

    def multiply(self, a, b):
        """Return a·b per lane.

        A launch with counters counts one operation per active lane, in the dtype of ``a``.
        """
        self._count(a.dtype, 1)
        return a * b

    def multiply_add(self, a, b, c):
        """Return a·b + c per lane, rounded once, in the dtype of ``a``.

        A launch with counters counts two operations per active lane.
        """
        self._count(a.dtype, 2)
        return fused_multiply_add(a, b, c)

    def copy_later(self, target: ArrayView, to, values: tuple) -> None:
        """Start an asynchronous copy of ``values`` to consecutive elements from ``to`` on.

        The copy is checked and counted now; its data moves in ``wait_copies()``. A thread that
        accesses one of these elements before that is reported as a race. ``to`` has the form of the
        position in ``load``. Lanes that are inactive or out of bounds copy nothing; the latter are
        reported. A first element whose offset is no multiple of the number of values is reported,
        too. Raises Unsupported for the same arguments as ``store``.
        """
        copy_wide(self._wide_place(target, to, values), values)

    def commit_copies(self) -> None:
        """Close each thread's current group of copies: those since its previous commit."""
        self.run.copies.commit(self.mask)

    def wait_copies(self, pending: int) -> None:
        """Move the data of each thread's closed groups except the ``pending`` most recent ones."""
        self.run.copies.wait(self.mask, int(pending), self.site)

    def load_matrices(
        self, fragment, tile: ArrayView, position, count: int, transposed: bool = False
    ) -> None:
        """Load ``count`` (1, 2 or 4) matrices of 8×8 elements of 16 bits, as ``ldmatrix`` does.

        ``position``, in the form that ``load`` takes, is that of a row of eight elements of
        ``tile``, which is in shared memory: lane l gives row l % 8 of matrix l // 8. ``fragment``
        is a local array with two elements per matrix. Lane l receives columns 2·(l % 4) and
        2·(l % 4) + 1 of row l // 4; with ``transposed``, rows and columns are exchanged. A warp
        with a missing lane is reported, and so is a row that is misaligned or out of bounds, or
        that no thread has written. Raises Unsupported for arrays of other kinds.
        """
        self.need_whole_warps()
        place = self._place(tile, position)
        matrices.load_matrices(self._fragment(fragment), place, count, transposed)

    def mma(self, sums, a, b, k: int, bfloat16: bool = False) -> None:
        """Add the product of a (16×k) and b (k×8) to ``sums`` (16×8); k is 8 or 16.

        Each warp has matrices of its own. Its lanes hold the elements in local arrays, in the order
        of ``virtual_gpu.numbers.fragments``: k/2 elements of ``a`` and k/4 of ``b``, in float16 or,
        with ``bfloat16``, as the bits of bfloat16 numbers in uint16, and four of ``sums`` in
        float32. The sums are rounded as ``virtual_gpu.numbers.tensor_sums`` says. A launch with
        counters counts one multiplication per warp. A warp with a missing lane is reported. Raises
        Unsupported for arrays of other kinds.
        """
        self.need_whole_warps()
        places = map(self._fragment, (sums, a, b))
        if self.run.counters:
            self.run.counters.mma(self.mask, self.site, 2 * ROWS * COLUMNS * k)
        matrices.multiply_add(*places, k, bfloat16)

    def _fragment(self, array) -> Place:
        """Return the Place of a whole array that holds a fragment."""
        return Place(self.run, array, (), self.mask, self.site)

    def _wide_place(self, array, position, values) -> Place:
        """Return the Place of the first element of a wide store.

        Raises Unsupported unless ``values`` is a tuple, for an array that is not in global or
        shared memory, and for another number of indices than dimensions.
        """
        if not isinstance(values, tuple):
            given = "an array" if isinstance(values, ARRAY_TYPES) else "one number"
            raise Unsupported(
                f"{self.site}: a wide store needs a tuple of numbers, such as (p, q, r, s), and "
                f"was given {given}."
            )
        return self._place(array, position)

    def _count(self, dtype: np.dtype, operations: int) -> None:
        """Count ``operations`` operations of ``dtype`` per active lane.

        Without counters nothing is done.
        """
        for _ in range(operations if self.run.counters else 0):
            self.run.counters.operation(self.site, dtype, self.mask)

    def _place(self, array, position) -> Place:
        """Return the Place of the first element of a wide access.

        Raises Unsupported unless the array is in global or shared memory and each dimension has an
        index.
        """
        indices = position if isinstance(position, tuple) else (position,)
        if not isinstance(array, ArrayView) or len(indices) != len(array.shape):
            raise Unsupported(
                f"{self.site}: a wide access needs an array in global or shared memory and one "
                "index per dimension."
            )
        return Place(self.run, array, indices, self.mask, self.site)


def register(function, run: Callable, reads: tuple[int, ...] = ()) -> None:
    """Let kernels call ``function``; ``run(machine, *arguments)`` returns its value.

    ``machine`` is a Machine, and the arguments are NumPy scalars, lane vectors, tuples or
    ArrayViews. Kernels pass exactly the parameters of ``run`` that have no default, or 0 to 16 if
    it takes ``*args``, and none by keyword. ``reads`` holds the positions of array arguments that
    the function never writes to: a kernel that only passes an array to such functions is faster.
    Raises TypeError unless both are callable.
    """

    if not callable(function) or not callable(run):
        raise TypeError(
            f"register() was given {function!r} and {run!r}; it needs two functions: the one that "
            "kernels call, and the one that gives its value here."
        )

    least, most = _argument_counts(run)

    def handler(call: CallExpression) -> Evaluate:
        arguments, site = call.arguments(least, most), call.site

        def evaluate(frame, mask):
            return run(Machine(frame.run, mask, site), *(a(frame, mask) for a in arguments))

        return evaluate

    intrinsics.register(function, handler, reads)
    if intrinsics.device_function(function):  # a kernel of another compiler names it by this
        intrinsics.register(function.py_func, handler, reads)


def _argument_counts(run: Callable) -> tuple[int, int]:
    """Return the least and the largest number of arguments that a kernel may pass to ``run``.

    The machine, its first parameter, does not count. With ``*args`` they are 0 and 16; otherwise
    both are the number of parameters without a default.
    """
    _, *parameters = inspect.signature(run).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 0, 16
    needed = sum(p.default is p.empty for p in parameters)
    return needed, needed
