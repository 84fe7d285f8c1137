"""The state of one call of a function: its variables, its loops and its active lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Mask, union
from ..machine.records import RecordView
from ..machine.run import BatchRun
from ..memory.filling import ZEROS, Filling
from ..memory.memory import Array, ArrayView
from ..numbers import operations
from ..types.numba_types import Kind, Number, conform
from ..types.tuples import alike
from .inference import Types


@dataclass
class LoopLanes:
    """The lanes that have left a running loop, or the current iteration of it.

    ``broken`` left the loop by ``break``, ``continued`` left the current iteration by ``continue``,
    and ``finished`` left the loop because its condition failed. None means no lanes.
    """

    broken: Mask | None = None
    continued: Mask | None = None  # in the current iteration
    finished: Mask | None = None  # by the loop's condition, so they execute its else

    def keep(self, active: Mask, condition) -> Mask | None:
        """Return the active lanes for which the loop's condition holds; None if there are none.

        The other active lanes are recorded in ``finished``.
        """
        if isinstance(condition, np.ndarray):
            remaining = active.narrow(condition)
        else:
            remaining = active if condition else None
        if remaining is not active:
            self.finish(active.without(remaining))
        return remaining

    def finish(self, lanes: Mask | None) -> None:
        """Add these lanes, which have executed all their iterations, to ``finished``."""
        self.finished = union(self.finished, lanes)


@dataclass
class Frame:
    """One call of a function: its variables, and the lanes that have not returned (``live``).

    A variable is a list of parts, each a value and the lanes that have set it. It has several parts
    only while lanes have set it to different types. They are merged when those lanes read it
    together.

    ``types`` holds Numba's types for this call, and ``is_kernel`` is False for a device function.
    ``loops`` are the loops that are running, the innermost last. ``result`` is the value that lanes
    have returned so far, or None. ``everyone`` holds all lanes of the call. ``run`` is the
    execution of the batch.
    """

    run: BatchRun
    live: Mask | None
    types: Types
    is_kernel: bool
    variables: dict[str, list[tuple[object, Mask]]] = field(default_factory=dict)
    loops: list[LoopLanes] = field(default_factory=list)
    result: object = None

    def __post_init__(self) -> None:
        self.everyone = self.live  # all lanes of the call, including those that have returned

    def assign(self, name: str, value, mask: Mask) -> None:
        """Set a variable to ``value`` in the lanes of ``mask``; other live lanes keep theirs."""
        parts_before = self.variables.get(name, ())
        if len(parts_before) == 1 and (parts_before[0][1] is mask or mask is self.live):
            self.variables[name] = [(value, mask)]
            return
        parts, owners = [], mask
        for old, before in parts_before:
            if self._replaces(before, mask):
                continue
            if _same_type(value, old):
                value, owners = merge_values(mask, value, old, name), union(before, owners)
            else:
                parts.append((old, before.without(mask)))
        self.variables[name] = [(value, owners), *parts]

    def _replaces(self, before: Mask, mask: Mask) -> bool:
        """Return True if no live lane of the mask ``before`` is outside of ``mask``."""
        if before is mask or mask.count == self.live.count:
            return True
        return not (before.lanes & self.live.lanes & ~mask.lanes).any()

    def read(self, name: str, kind: Kind, mask: Mask) -> tuple[object, Mask]:
        """Return the tuple (value of a variable, lanes that have set it).

        The value is merged from the parts that lanes of ``mask`` have set, and cast to ``kind``.
        Raises KeyError if no lane has set the variable, and MergeError if its parts cannot be
        merged.
        """
        parts = self.variables[name]
        if len(parts) == 1:
            value, owners = parts[0]
        else:
            value, owners = _merged_parts(parts, kind, mask, name)
        typed = conform(value, kind)
        if (typed is not value or len(parts) > 1) and mask.count == self.live.count:
            self.variables[name] = [(typed, owners)]
        return typed, owners

    def versions(self, names: set[str], mask: Mask) -> list[Mask]:
        """Split a mask into a list of masks in each of which every variable has one type.

        Only the variables of ``names`` count. The masks have no lane in common, and together they
        have all lanes of ``mask``.
        """
        masks = [mask]
        for name in names:
            for _, owners in self.variables.get(name, [])[1:]:
                halves = [(m.narrow(owners.lanes), m.without(owners)) for m in masks]
                masks = [half for pair in halves for half in pair if half is not None]
        return masks

    def leave(self, mask: Mask) -> None:
        """Remove the lanes of ``mask``, which have returned, from the live lanes.

        If the function is a kernel, the whole run's live lanes change, too.
        """
        self.live = self.live.without(mask)
        if self.is_kernel:
            self.run.live = self.live
            self.run.syncwarps.leave(mask)


class MergeError(Exception):
    """Raised when lanes hold values in one variable that cannot be merged, such as two arrays."""


def merge_values(mask: Mask, new, old, name: str):
    """Return a value that is ``new`` in the lanes of ``mask`` and ``old`` in the others.

    Numbers, tuples of one length, records with the same fields, and views of one memory with the
    same shape and strides can be merged. If ``new`` is ``old``, it is returned. Raises MergeError,
    with the variable's ``name``, if the two values cannot be merged.
    """
    if new is old:
        return new
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        pairs = zip(new, old, strict=True)
        return alike(new, (merge_values(mask, n, o, name) for n, o in pairs))
    if is_scalar(new) and is_scalar(old):
        return operations.merge(mask.lanes, new, old)
    if isinstance(new, ArrayView) and isinstance(old, ArrayView):
        same = (new.memory, new.shape, new.strides) == (old.memory, old.shape, old.strides)
        if same:
            offset = np.where(mask.lanes, new.offset, old.offset)
            return replace(new, offset=offset)
    if type(new) is type(old) is RecordView and new.fields.keys() == old.fields.keys():
        fields = {n: merge_values(mask, new.fields[n], old.fields[n], name) for n in new.fields}
        return RecordView(new.name, new.dtype, fields)
    raise MergeError(name)


def _same_type(new, old) -> bool:
    """Return True if two values can be merged without a change of type.

    That is so for numbers of one dtype, tuples of such items, and one and the same object.
    """
    if is_scalar(new) and is_scalar(old):
        return new.dtype == old.dtype
    if isinstance(new, tuple) and isinstance(old, tuple):
        return len(new) == len(old) and all(map(_same_type, new, old))
    return new is old


def _merged_parts(parts: list, kind: Kind, mask: Mask, name: str) -> tuple[object, Mask]:
    """Return the tuple (merged value, lanes that have set it) of a variable with several parts.

    Only parts that lanes of ``mask`` have set are merged, each cast to ``kind``; if there are none,
    the first part is returned. Raises MergeError if the parts cannot be merged.
    """
    relevant = [part for part in parts if (part[1].lanes & mask.lanes).any()] or parts[:1]
    value, owners = conform(relevant[0][0], kind), relevant[0][1]
    for other, other_owners in relevant[1:]:
        value = merge_values(owners, value, conform(other, kind), name)
        owners = union(owners, other_owners)
    return value, owners


def is_scalar(value) -> bool:
    """Return True for a number of the kernel.

    It is a NumPy scalar, which all threads share, or an array with one entry per lane.
    """
    return isinstance(value, Number)


def described(value) -> str:
    """Return a text for an error message, such as ``a number (int64)`` or ``a 2D array``.

    An unknown kind of value gives ``this value``.
    """
    if is_scalar(value):
        return f"a number ({value.dtype})"
    if value is None:
        return "None"
    if hasattr(value, "_fields"):
        return f"a {type(value).__name__} ({', '.join(value._fields)})"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"a {len(value.shape)}D array" if isinstance(value, Array) else "this value"


def check_set(frame: Frame, name: str, value, owners: Mask, mask: Mask, site: Site):
    """Return the value of a variable; report a flaw for the lanes of ``mask`` that never set it.

    ``owners`` are the lanes that have set the variable. In a rerun with another filling, the other
    lanes of ``mask`` get the filling's value.
    """
    absent = mask.lanes & ~owners.lanes
    if not absent.any():
        return value
    run, lanes = frame.run, np.flatnonzero(absent)

    def describe() -> Finding:
        thread = run.batch.thread(int(lanes[0]))
        return Finding(
            "uninitialised", site, name, (), (thread,), len(lanes),
            f"{thread} reads the variable {name}, which it has not set.",
        )  # fmt: skip

    run.report.add(Flaw("uninitialised", site, name, run.batch.numbers[lanes]), describe)
    return value if run.filling.byte == ZEROS.byte else _filled(value, absent, run.filling)


def _filled(value, absent: np.ndarray, filling: Filling):
    """Return a number, or a tuple of numbers, with the filling in the ``absent`` lanes.

    A value of another kind is returned unchanged.
    """
    if isinstance(value, tuple):
        return tuple(_filled(item, absent, filling) for item in value)
    return np.where(absent, filling.value(value.dtype), value) if is_scalar(value) else value


Evaluate = Callable[[Frame, Mask], object]  # a compiled expression: returns its value
Execute = Callable[[Frame, Mask], Mask | None]  # a compiled statement: returns the remaining lanes
