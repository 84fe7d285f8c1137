"""The variables of few lanes as Python numbers, and what the lanes have computed as vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..common.lanes import Mask
from ..counts.counters import COUNTED_SPACES
from ..machine.run import BatchRun
from ..memory.memory import ArrayView, LocalArray, LocalPart, Memory, element_strides
from ..numbers.plain_numbers import FLOAT32, FLOAT64, INT64, MIXED, Text, as_python, is_known
from ..types.numba_types import Number
from .lane_values import UNSET, Cells, Slot, cells_named, parts_of

_KINDS = ((int, INT64), (np.float32, FLOAT32), (float, FLOAT64))  # of a number that is MIXED


@dataclass
class Inputs:
    """The values that variables have in each lane before the code runs.

    ``lanes`` are the indices of the active lanes. ``kinds`` is what the code depends on: (name of a
    variable, key of its value or None). ``names`` are the parameters of the code, and ``columns``
    has a list per parameter, with one number per active lane. ``memories`` are the memories of the
    arrays, and ``slots`` how the code must access each. ``locals`` maps the ``id`` of a local array
    to it and to a list of its elements per lane.
    """

    run: BatchRun
    mask: Mask
    lanes: list[int]
    kinds: list = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    columns: list[list] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    locals: dict[int, tuple[LocalArray, list[list]]] = field(default_factory=dict)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that the code gets: ``names`` without each constant "0"."""
        return [name for name in self.names if name != "0"]

    @property
    def columns_given(self) -> list[list]:
        """The columns of ``parameters``, in the same order."""
        return [c for name, c in zip(self.names, self.columns, strict=True) if name != "0"]

    def add(self, name: str, value):
        """Add the value of a variable; return it as a value of the code.

        That is a Text, Cells or a tuple of them, or None for a value that the code cannot have.
        """
        text, columns = self._text(name, value)
        if text is None:
            self.kinds.append((name, None))
            return None
        self.kinds.append((name, self._kind(text)))
        self.names += parts_of(text)
        self.columns += columns
        return text

    def _kind(self, text) -> tuple:
        """Return a hashable key of a value of the code; values with one key can share code."""
        if isinstance(text, tuple):
            return tuple(map(self._kind, text))
        if isinstance(text, Text):
            return text.dtype, text.varies
        return text.shape_of_text, text.varies, text.offset, text.strides, text.extents

    def _text(self, name: str, value) -> tuple[object, list[list]]:
        """Return the value of a variable as a value of the code, and the columns of its parts.

        There is a column for each code of ``parts_of``. Returns (None, []) for a value that the
        code cannot have.
        """
        if isinstance(value, Number) and is_known(value.dtype):
            varies = isinstance(value, np.ndarray)
            return Text(f"v_{name}", value.dtype, varies, atom=True), [self.column(value)]
        if isinstance(value, tuple) and value:
            items = [self._text(f"{name}__{n}", item) for n, item in enumerate(value)]
            if any(text is None for text, _ in items):
                return None, []
            return tuple(text for text, _ in items), [c for _, columns in items for c in columns]
        if type(value) is ArrayView:
            return self._view(name, value)
        if type(value) is LocalArray:
            return self._local(name, LocalPart(value, value.shape, element_strides(value.shape)))
        return self._local(name, value) if type(value) is LocalPart else (None, [])

    def column(self, value) -> list:
        """Return a number or a vector of lanes as a list with a Python number per active lane.

        A float32 remains a NumPy scalar.
        """
        if isinstance(value, np.ndarray):
            chosen = value[self.mask.index]
            return list(chosen) if chosen.dtype == np.float32 else chosen.tolist()
        number = as_python(value) if isinstance(value, np.generic) else value
        return [number] * len(self.lanes)

    def _view(self, name: str, view: ArrayView) -> tuple[Cells, list[list]]:
        """Return the Cells of an array in memory, and a column for each code of ``parts_of``.

        A new memory is added to ``memories`` and ``slots``.
        """
        memory = view.memory
        at = [id(m) for m in self.memories]
        slot = at.index(id(memory)) if id(memory) in at else len(at)
        if slot == len(at):
            self.memories.append(memory)
            self.slots.append(self._slot(memory))
        if view.bytewise:
            self.slots[slot] = replace(self.slots[slot], usable=False)
        varies = any(isinstance(p, np.ndarray) for p in (view.offset, *view.shape))
        offset, batch = view.offset, self.run.batch
        if memory.space == "shared" and batch.blocks > 1:
            offset = offset + batch.part_starts(memory.data.size // batch.blocks)
        return self._cells(
            name, Cells(slot, view.dtype, "", "", ("",) * len(view.shape), _constant(view.strides),
                        varies, view.writable, view.is_part), offset, view.shape, view.strides
        )  # fmt: skip

    def _cells(self, name: str, cells: Cells, offset, shape, strides) -> tuple[Cells, list[list]]:
        """Return Cells with the names of a variable, and columns of its offset, shape and strides.

        Constant strides have no column. An offset of 0 in a memory is the constant "0", with a
        column.
        """
        named = cells_named(name, cells)
        columns = [self.column(offset), *map(self.column, shape)]
        columns += [
            self.column(s) for s, text in zip(strides, named.strides, strict=True)
            if not text.isdigit()
        ]  # fmt: skip
        if type(offset) is int and offset == 0 and cells.slot is not None:
            return replace(named, offset="0"), columns
        return named, columns

    def _slot(self, memory: Memory) -> Slot:
        """Return the Slot of a memory, which says how the code must access it."""
        run, shadow = self.run, memory.shadow
        whole = shadow is None or shadow.writer.size == memory.data.size
        usable = memory.view is None and whole and is_known(memory.data.dtype)
        if memory.space == "shared" and run.fills.partial(memory.name):
            usable = False
        counted = run.counters is not None and memory.space in COUNTED_SPACES
        marked = memory.unwritten is not None
        dtype = memory.data.dtype
        return Slot(dtype, shadow is not None, marked, counted, memory.space, usable)

    def _local(self, name: str, part: LocalPart) -> tuple[Cells | None, list[list]]:
        """Return the Cells of a local array or a part of one, and a column per ``parts_of`` code.

        Returns (None, []) for a dtype that the code cannot have.
        """
        base = part.base
        if not is_known(base.dtype):
            return None, []
        if id(base) not in self.locals:
            self.locals[id(base)] = base, _elements_by_lane(base, self.mask)
        cells = Cells(
            None, base.dtype, "", "", ("",) * len(part.shape), _constant(part.strides), True
        )
        text, columns = self._cells(name, cells, part.offset, part.shape, part.strides)
        return text, [self.locals[id(base)][1], *columns]


def _constant(strides: tuple) -> tuple[str, ...]:
    """Return "1" for each stride of 1, and "" for another, which the code gets at run time."""
    return tuple("1" if type(s) is int and s == 1 else "" for s in strides)


def _elements_by_lane(array: LocalArray, mask: Mask) -> list[list]:
    """Return a list of elements per active lane; None is an element that it has not written."""
    rows = []
    for row, unwritten in zip(array.rows, array.unwritten, strict=True):
        if row is None:
            rows.append([None] * mask.count)
            continue
        chosen = row[mask.index]
        numbers = list(chosen) if chosen.dtype == np.float32 else chosen.tolist()
        if unwritten is not None:
            flags = unwritten[mask.index].tolist()
            numbers = [None if f else n for n, f in zip(numbers, flags, strict=True)]
        rows.append(numbers)
    return [list(column) for column in zip(*rows, strict=True)]


def is_unset(value) -> bool:
    """Return True if a lane has not set a variable."""
    return value is UNSET or (isinstance(value, tuple) and value[0] is UNSET)


def by_type(mask: Mask, text, values: list) -> Iterator[tuple[Mask, object]]:
    """Yield (lanes, value) of a variable, separately for each type that lanes have set it to.

    ``values`` has one entry per lane of ``mask``. The value is as ``joined`` returns it.
    """
    if isinstance(text, Text) and text.dtype == MIXED:
        for kind, dtype in _KINDS:
            chosen = [type(v) is kind for v in values]
            if any(chosen):
                some = [v for v in values if type(v) is kind]
                part = mask if all(chosen) else mask.keep(np.array(chosen))
                yield part, joined(part, replace(text, dtype=dtype), some)
        return
    yield mask, joined(mask, text, values)


def joined(mask: Mask, text, values: list):
    """Return the values of the lanes of ``mask`` as one value: a number, or a tuple of them.

    A number is a NumPy scalar if ``text`` does not vary and all lanes agree, else a vector of
    lanes. ``values`` has one entry per lane.
    """
    if isinstance(text, tuple):
        return tuple(
            joined(mask, part, list(column))
            for part, column in zip(text, zip(*values, strict=True), strict=True)
        )
    numbers = np.array(values, text.dtype)
    bits = numbers.view(f"u{text.dtype.itemsize}")
    if not text.varies and (bits == bits[0]).all():
        return numbers[0]
    return mask.spread(numbers)


def write_back(array: LocalArray, mask: Mask, before: list[list], after: list[list]) -> None:
    """Write the elements of a local array that the lanes of ``mask`` have changed to ``array``.

    ``before`` and ``after`` hold a list of elements per lane.
    """
    if before == after:
        return
    for row in range(len(array.rows)):
        old, new = [e[row] for e in before], [e[row] for e in after]
        if old == new:
            continue
        chosen = [value is not None for value in new]
        part = mask if all(chosen) else mask.keep(np.array(chosen))
        vector = np.zeros(array.lanes, array.dtype)
        vector[part.index] = [value for value in new if value is not None]
        array.store(row, vector, part)
