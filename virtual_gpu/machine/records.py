"""Arrays of records: one array per field, over the same bytes.

``p[i].x`` is an element of the field ``x``, a load or store of its own whose neighbours are a whole
record apart. Fields share no byte, so two threads that write different fields do not race.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..memory.filling import Filling
from ..memory.memory import Array, ArrayView, LocalArray, Memory, element_strides
from .access import load, store
from .parts import view
from .place import Place


@dataclass(frozen=True)
class RecordArray:
    """An array of records. Each field is an array of the same shape, followed by the dimensions of
    the field itself; a field of records is a RecordArray."""

    name: str
    dtype: np.dtype
    shape: tuple
    fields: dict[str, Array | RecordArray]

    @property
    def is_local(self) -> bool:
        """Whether each thread has an array of its own."""
        return any(
            field.is_local if isinstance(field, RecordArray) else isinstance(field, LocalArray)
            for field in self.fields.values()
        )

    def indexed(self, place: Place) -> RecordArray | Record:
        """What indices select: a record, or a part of the array."""
        fields = {name: _indexed(place, field) for name, field in self.fields.items()}
        if len(place.indices) < len(self.shape) or any(type(i) is slice for i in place.indices):
            (first, *_) = fields.values()
            return RecordArray(self.name, self.dtype, first.shape[: _rank(place)], fields)
        return Record(self.name, self.dtype, fields)

    def rows(self, place: Place) -> Iterator[RecordArray | Record]:
        """The records, or the rows of a larger array, one after the other."""
        for number in range(self.shape[0]):
            yield self.indexed(place.at((np.int64(number),)))


@dataclass(frozen=True)
class Record:
    """One record for each thread. As in Numba it stands for the place in memory, not for a copy."""

    name: str
    dtype: np.dtype
    fields: dict[str, ArrayView | RecordArray]


RECORD_TYPES = (RecordArray, Record)


def _rank(place: Place) -> int:
    fixed = sum(type(index) is not slice for index in place.indices)
    return len(place.array.shape) - fixed


def _indexed(place: Place, field: Array | RecordArray):
    if isinstance(field, RecordArray):
        return field.indexed(Place(place.run, field, place.indices, place.mask, place.site))
    return view(Place(place.run, field, place.indices, place.mask, place.site))


def field_of(place: Place, name: str | int) -> Place | object | None:
    """A field of the record at ``place``: the Place of a number, or an array, or a record.

    ``place.array`` is a RecordArray, or a Record with no indices. None where there is no such
    field, or where it would be a part of a local array.
    """
    owner = place.array
    if isinstance(name, int | np.integer):
        name = owner.dtype.names[int(name)] if 0 <= name < len(owner.dtype.names) else None
    field = owner.fields.get(name)
    if field is None or (isinstance(owner, RecordArray) and not place.indices and owner.shape):
        return field
    at = Place(place.run, field, place.indices, place.mask, place.site)
    if isinstance(owner, Record):
        return at if isinstance(field, ArrayView) and not field.shape else field
    if isinstance(field, RecordArray):
        return field.indexed(at)
    if len(place.indices) == len(field.shape) and slice not in map(type, place.indices):
        return at
    return None if isinstance(field, LocalArray) else view(at)


def copy_record(place: Place, value: Record) -> bool:
    """``p[i] = q[j]``: each number is loaded, then each is stored. False where ``place`` is none of
    a record of the same type."""
    target = place.array
    if type(target) is RecordArray and place.indices and not target.is_local:
        target = target.indexed(place)
    if type(target) is not Record or target.dtype != value.dtype:
        return False
    values = [load(source) for source in _numbers(place, value)]
    for to, number in zip(_numbers(place, target), values, strict=True):
        store(to, number)
    return True


def _numbers(place: Place, record: Record) -> Iterator[Place]:
    """The place of each number of a record."""
    for field in record.fields.values():
        if isinstance(field, Record):
            yield from _numbers(place, field)
            continue
        for at in np.ndindex(*field.shape):
            inner = Place(place.run, field, tuple(map(np.int64, at)), place.mask, place.site)
            if isinstance(field, RecordArray):
                yield from _numbers(place, field.indexed(inner))
            else:
                yield inner


def memories_of(value: ArrayView | RecordArray) -> Iterator[Memory]:
    """Where an array lies."""
    if isinstance(value, ArrayView):
        yield value.memory
    else:
        for field in value.fields.values():
            yield from memories_of(field)


@dataclass(frozen=True)
class Layout:
    """Where the records of an array lie: shape, byte strides, the first byte."""

    name: str
    shape: tuple
    strides: tuple[int, ...]
    offset: int
    writable: bool = True


def misplaced_field(dtype: np.dtype) -> str | None:
    """The first field that is not at a multiple of its size in every record; None where all are."""
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        base = part.base
        inner = misplaced_field(base) if base.names else None
        if inner:
            return f"{name}.{inner}"
        if not base.names and (offset % base.itemsize or dtype.itemsize % base.itemsize):
            return name
    return None


def numbers_of(dtype: np.dtype) -> Iterator[np.dtype]:
    """The dtypes of a record's numbers."""
    for name in dtype.names:
        base = dtype.fields[name][0].base
        if base.names:
            yield from numbers_of(base)
        else:
            yield base


def record_array(dtype: np.dtype, layout: Layout, memory_of: Callable) -> RecordArray:
    """An array of records over memory: ``memory_of(dtype)`` gives its bytes as such numbers."""
    fields = {}
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        base, inner = part.base, part.shape
        steps = tuple(s * base.itemsize for s in element_strides(inner))
        at = Layout(
            layout.name, (*layout.shape, *inner), (*layout.strides, *steps),
            layout.offset + offset, layout.writable,
        )  # fmt: skip
        fields[name] = (
            record_array(base, at, memory_of)
            if base.names
            else _field(memory_of(base), at, bytewise=not (inner or dtype.isalignedstruct))
        )
    return RecordArray(layout.name, dtype, layout.shape, fields)


def _field(memory: Memory, at: Layout, bytewise: bool) -> ArrayView:
    size = memory.data.dtype.itemsize
    strides = tuple(s // size for s in at.strides)
    return ArrayView(memory, at.shape, strides, at.offset // size, at.writable, bytewise)


def local_records(
    name: str, dtype: np.dtype, shape: tuple, lanes: int, filling: Filling
) -> RecordArray:
    """A thread's private array of records."""
    fields = {}
    for field in dtype.names:
        part = dtype.fields[field][0]
        inner = (*shape, *part.shape)
        make = local_records if part.base.names else LocalArray
        given = (part.base, inner) if part.base.names else (inner, part.base)
        fields[field] = make(name, *given, lanes, filling)
    return RecordArray(name, dtype, shape, fields)
