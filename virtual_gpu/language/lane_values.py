"""Values in the code that lane_code.py generates, and what that code needs to run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..machine.lane_accesses import Event
from ..numbers.plain_numbers import MIXED, NoText, Numbers, Text
from ..types import numba_types
from .inference import array_type

UNSET = object()  # the value of a variable that a lane has not set


@dataclass(frozen=True)
class Cells:
    """An array, or a part of one, in the generated code of a lane.

    ``slot`` is the number of its memory among those of the code, or None for a local array.
    ``cells`` is then the name of the Python list with its elements. ``offset``, ``extents`` and
    ``strides`` are Python code for numbers of elements. ``varies`` is True if lanes may differ in
    them.
    """

    slot: int | None
    dtype: np.dtype
    cells: str
    offset: str
    extents: tuple[str, ...]
    strides: tuple[str, ...]
    varies: bool
    writable: bool = True
    is_part: bool = False

    @property
    def shape_of_text(self) -> tuple:
        """A tuple that is equal for two arrays which one variable of the code can hold."""
        strides = tuple(s if s.isdigit() else "" for s in self.strides)
        return self.slot, self.dtype, len(self.extents), self.writable, self.is_part, strides


@dataclass(frozen=True)
class Variable:
    """A variable of the generated code.

    ``value`` is None if it has no single value. ``maybe`` is True if the lane may not have set it.
    """

    value: Text | Cells | tuple
    maybe: bool = False


@dataclass(frozen=True)
class Slot:
    """How the code must access one memory.

    ``logged`` is True if accesses are noted for the check of races, and ``marked`` if some elements
    are undefined. ``counted`` is True if accesses are counted. ``space`` is that of the memory,
    such as "global". If ``usable`` is False, the code cannot access it.
    """

    dtype: np.dtype
    logged: bool
    marked: bool
    counted: bool
    space: str
    usable: bool


@dataclass
class Output:
    """What the code of a loop or function needs and returns.

    ``events`` are its accesses, and ``tallies`` what it counts: (kind, site or Source, dtype).
    ``inputs`` maps a name in the text to a closure that gives the value for all lanes, and
    ``present`` evaluates such a closure now.
    """

    slots: list[Slot]
    counts: bool
    present: Callable
    numbers: Numbers = field(default_factory=Numbers)
    events: list[Event] = field(default_factory=list)
    event_numbers: dict[tuple, int] = field(default_factory=dict)
    tallies: list[tuple] = field(default_factory=list)
    tally_numbers: dict[tuple, int] = field(default_factory=dict)
    inputs: dict[str, Callable] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    known_functions: dict[tuple, tuple[str, object]] = field(default_factory=dict)
    running: list = field(default_factory=list)
    stores: set[int] = field(default_factory=set)

    def event(self, node: ast.AST, event: Event) -> int:
        """Return the index of an access in ``events``, to which it is added if it is new."""
        key = node, event
        if key not in self.event_numbers:
            self.event_numbers[key] = len(self.events)
            self.events.append(event)
        return self.event_numbers[key]

    def tally(self, *what) -> int:
        """Return the index in ``tallies`` of (kind, site or Source, dtype).

        It is added if it is new.
        """
        if what not in self.tally_numbers:
            self.tally_numbers[what] = len(self.tallies)
            self.tallies.append(what)
        return self.tally_numbers[what]


def type_of(value):
    """Return Numba's type of a number or array of the code.

    Raises NoText for another value and for a number of the dtype MIXED.
    """
    if isinstance(value, Text) and value.dtype != MIXED:
        return numba_types.numba_type(value.dtype)
    if isinstance(value, Cells):
        layout = "A" if value.is_part and len(value.extents) > 1 else "C"
        return array_type(value.dtype, len(value.extents), layout, not value.writable)
    raise NoText("an argument of this kind")


def cells_named(name: str, value: Cells) -> Cells:
    """Return Cells like ``value`` whose code is names made from the variable's ``name``.

    A stride that is a constant stays.
    """
    axes = range(len(value.extents))
    strides = tuple(
        s if s.isdigit() else f"s{a}_{name}" for a, s in zip(axes, value.strides, strict=True)
    )
    cells = f"a_{name}" if value.slot is None else ""
    extents = tuple(f"n{a}_{name}" for a in axes)
    return replace(value, cells=cells, offset=f"o_{name}", extents=extents, strides=strides)


def parts_of(value) -> list[str]:
    """Return the codes of the parts of a value, in a fixed order; a code may be a constant.

    A number has one. An array has those of its list, unless it has a slot, of its offset, of all
    its extents, and of its strides that are no constants; a tuple has those of its items. Raises
    NoText for another value.
    """
    if isinstance(value, Text):
        return [value.code]
    if isinstance(value, tuple):
        return [code for item in value for code in parts_of(item)]
    if isinstance(value, Cells):
        own = [] if value.slot is not None else [value.cells]
        return [*own, value.offset, *value.extents, *(s for s in value.strides if not s.isdigit())]
    raise NoText("a value of this kind")


def kind_of(value) -> tuple:
    """Return a hashable key of an argument; arguments with one key can share a function's code.

    Raises NoText for an argument that is no number or array.
    """
    if isinstance(value, Text):
        return value.dtype, value.varies, value.bits
    if isinstance(value, Cells):
        return (*value.shape_of_text, value.varies)
    raise NoText("an argument of this kind")


def names_of(result, numbers: Numbers):
    """Return a value like ``result``, in which each Text is that of a new temporary.

    Raises NoText if it is neither a Text nor a tuple of Texts.
    """
    if isinstance(result, tuple):
        return tuple(names_of(item, numbers) for item in result)
    if not isinstance(result, Text):
        raise NoText("a result of this kind")
    return replace(result, code=numbers.temporary(), atom=True, wide="")


def packed(value) -> str:
    """Return the code of a number, a tuple of them as a Python tuple, or None as "None"."""
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return f"({''.join(f'{packed(item)}, ' for item in value)})"
    if isinstance(value, Text):
        return value.code
    raise NoText("a result of this kind")
