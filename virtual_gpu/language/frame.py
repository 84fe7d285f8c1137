"""One call of a function on lanes: its variables, and the lanes that are still in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Mask, union
from ..machine.records import Record
from ..machine.run import Run
from ..memory.filling import ZEROS, Filling
from ..memory.memory import Array, ArrayView
from ..numbers import operations
from ..types.numba_types import Kind, Number, conform
from ..types.tuples import alike
from .inference import Types


@dataclass
class Loop:
    """Lanes of a loop that are out of its current round."""

    broken: Mask | None = None
    continued: Mask | None = None  # since the round began
    finished: Mask | None = None  # by the loop's condition, so that its else is for them

    def keep(self, active: Mask, condition) -> Mask | None:
        """The active lanes that have another round, by the loop's condition."""
        if isinstance(condition, np.ndarray):
            going = active.narrow(condition)
        else:
            going = active if condition else None
        if going is not active:
            self.finish(active.without(going))
        return going

    def finish(self, lanes: Mask | None) -> None:
        """These lanes have had all their rounds."""
        self.finished = union(self.finished, lanes)


@dataclass
class Frame:
    """One call of a function: its variables, and its lanes that have not returned.

    A variable is a list of parts, each a value and the lanes that have set it. It has several only
    while lanes have set it to different types; they become one where those lanes read it together.
    """

    run: Run
    live: Mask | None
    types: Types
    is_kernel: bool
    variables: dict[str, list[tuple[object, Mask]]] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    result: object = None

    def __post_init__(self) -> None:
        self.everyone = self.live  # the lanes of the call, returned ones included

    def assign(self, name: str, value, mask: Mask) -> None:
        """Set a variable in the lanes of ``mask``; the other live lanes keep theirs."""
        known = self.variables.get(name, ())
        if len(known) == 1 and (known[0][1] is mask or mask is self.live):
            self.variables[name] = [(value, mask)]
            return
        parts, owners = [], mask
        for old, before in known:
            if self._replaces(before, mask):
                continue
            if _same_type(value, old):
                value, owners = merge_values(mask, value, old, name), union(before, owners)
            else:
                parts.append((old, before.without(mask)))
        self.variables[name] = [(value, owners), *parts]

    def _replaces(self, before: Mask, mask: Mask) -> bool:
        if before is mask or mask.count == self.live.count:
            return True
        return not (before.lanes & self.live.lanes & ~mask.lanes).any()

    def read(self, name: str, kind: Kind, mask: Mask) -> tuple[object, Mask]:
        """A variable as the lanes of ``mask`` see it, of type ``kind``, and the lanes that have
        set it. KeyError where none has; MergeError where it is no number in some lanes only."""
        parts = self.variables[name]
        if len(parts) == 1:
            value, owners = parts[0]
        else:
            value, owners = _joined(parts, kind, mask, name)
        typed = conform(value, kind)
        if (typed is not value or len(parts) > 1) and mask.count == self.live.count:
            self.variables[name] = [(typed, owners)]
        return typed, owners

    def versions(self, names: set[str], mask: Mask) -> list[Mask]:
        """The mask in parts, in each of which every variable is of one type."""
        masks = [mask]
        for name in names:
            for _, owners in self.variables.get(name, [])[1:]:
                halves = [(m.narrow(owners.lanes), m.without(owners)) for m in masks]
                masks = [half for pair in halves for half in pair if half is not None]
        return masks

    def leave(self, mask: Mask) -> None:
        """The lanes of ``mask`` have returned."""
        self.live = self.live.without(mask)
        if self.is_kernel:
            self.run.live = self.live


class MergeError(Exception):
    """Values of two kinds meet in one variable."""


def merge_values(mask: Mask, new, old, name: str):
    """A variable that takes ``new`` in the lanes of ``mask``; MergeError where the kinds differ."""
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
    if type(new) is type(old) is Record and new.fields.keys() == old.fields.keys():
        fields = {n: merge_values(mask, new.fields[n], old.fields[n], name) for n in new.fields}
        return Record(new.name, new.dtype, fields)
    raise MergeError(name)


def _same_type(new, old) -> bool:
    """Whether two values can be one vector without a change of type."""
    if is_scalar(new) and is_scalar(old):
        return new.dtype == old.dtype
    if isinstance(new, tuple) and isinstance(old, tuple):
        return len(new) == len(old) and all(map(_same_type, new, old))
    return new is old


def _joined(parts: list, kind: Kind, mask: Mask, name: str) -> tuple[object, Mask]:
    """The parts of a variable that the lanes of ``mask`` hold, in one type."""
    held = [part for part in parts if (part[1].lanes & mask.lanes).any()] or parts[:1]
    value, owners = conform(held[0][0], kind), held[0][1]
    for other, theirs in held[1:]:
        value = merge_values(owners, value, conform(other, kind), name)
        owners = union(owners, theirs)
    return value, owners


def is_scalar(value) -> bool:
    """Whether a value is a number of the kernel: one for all threads, or one per lane."""
    return isinstance(value, Number)


def described(value) -> str:
    """What a value is, in the words of an error."""
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
    """The value of a variable, which is reported if only some threads have set it."""
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
    return value if run.filling is ZEROS else _filled(value, absent, run.filling)


def _filled(value, absent: np.ndarray, filling: Filling):
    """A variable that the ``absent`` lanes have not set."""
    if isinstance(value, tuple):
        return tuple(_filled(item, absent, filling) for item in value)
    return np.where(absent, filling.value(value.dtype), value) if is_scalar(value) else value


Evaluate = Callable[[Frame, Mask], object]
Execute = Callable[[Frame, Mask], Mask | None]
