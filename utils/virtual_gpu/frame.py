"""One call of a function on lanes: its variables, and the lanes that are still in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import operations
from .errors import Finding, Site
from .lanes import Mask, union
from .memory import ArrayView


@dataclass
class Loop:
    """Lanes that left the current round of a loop early."""

    broken: Mask | None = None
    continued: Mask | None = None


@dataclass
class Frame:
    """One call of a function: its variables, and its lanes that have not returned."""

    run: object  # launch.Run
    live: Mask | None
    is_kernel: bool
    variables: dict = field(default_factory=dict)  # name -> (value, mask of lanes that set it)
    loops: list[Loop] = field(default_factory=list)
    result: object = None

    def __post_init__(self) -> None:
        self.everyone = self.live  # the lanes of the call, returned ones included

    def assign(self, name: str, value, mask: Mask) -> None:
        """Set a variable in the lanes of ``mask``; the other live lanes keep theirs."""
        old = self.variables.get(name)
        if old is not None and not self._replaces(old[1], mask):
            merged = union(old[1], mask)
            self.variables[name] = (merge_values(mask, value, old[0], name), merged)
        else:
            self.variables[name] = (value, mask)

    def _replaces(self, before: Mask, mask: Mask) -> bool:
        if before is mask or mask.count == self.live.count:
            return True
        return not (before.lanes & self.live.lanes & ~mask.lanes).any()

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
        return tuple(merge_values(mask, n, o, name) for n, o in zip(new, old, strict=True))
    if is_scalar(new) and is_scalar(old):
        return operations.merge(mask.lanes, new, old)
    if isinstance(new, ArrayView) and isinstance(old, ArrayView):
        same = (new.memory, new.shape, new.strides) == (old.memory, old.shape, old.strides)
        if same:
            offset = np.where(mask.lanes, new.offset, old.offset)
            return ArrayView(new.memory, new.shape, new.strides, offset, new.writable)
    raise MergeError(name)


def is_scalar(value) -> bool:
    """Whether a value is a number of the kernel: one for all threads, or one per lane."""
    return isinstance(value, np.ndarray | np.generic)


def check_set(frame: Frame, name: str, owners: Mask, mask: Mask, site: Site) -> None:
    """A variable that only some threads have set holds garbage in the others."""
    absent = mask.lanes & ~owners.lanes
    if not absent.any() or frame.run.report.knows("uninitialised", site, name):
        return
    thread = frame.run.batch.thread(int(np.flatnonzero(absent)[0]))
    frame.run.report.add(Finding(
        "uninitialised", site, name, (), (thread,), int(absent.sum()),
        f"{thread} reads the variable {name}, which it has not set.",
    ))  # fmt: skip


Evaluate = Callable[[Frame, Mask], object]
Execute = Callable[[Frame, Mask], Mask | None]
