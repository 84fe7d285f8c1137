"""Arrays of records, as one array per field over the same bytes.

``p[i].x`` is an element of the field array ``x``: a load or store of its own, with the record size
as its stride. Fields share no byte, so two threads that write different fields do not race.
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
    """An array of records.

    ``name`` is that of the array, for messages, ``dtype`` the dtype of a record, and ``shape`` the
    number of records per dimension. Each field in ``fields``, a dict from names, is an array of the
    same shape, followed by the dimensions of the field itself; a field of records is a RecordArray.
    """

    name: str
    dtype: np.dtype
    shape: tuple
    fields: dict[str, Array | RecordArray]

    @property
    def is_local(self) -> bool:
        """True if the array is private to each thread."""
        return any(
            field.is_local if isinstance(field, RecordArray) else isinstance(field, LocalArray)
            for field in self.fields.values()
        )

    def indexed(self, place: Place) -> RecordArray | RecordView:
        """Return the record, or the part of the array, that the indices of ``place`` select.

        A record is a RecordView; a part, which remains if dimensions or slices are left, is a
        RecordArray.
        """
        fields = {name: _indexed(place, field) for name, field in self.fields.items()}
        if len(place.indices) < len(self.shape) or any(type(i) is slice for i in place.indices):
            (first, *_) = fields.values()
            return RecordArray(self.name, self.dtype, first.shape[: _rank(place)], fields)
        return RecordView(self.name, self.dtype, fields)

    def rows(self, place: Place) -> Iterator[RecordArray | RecordView]:
        """Yield ``array[0]``, ``array[1]`` and so on, in order.

        These are RecordViews if the array has one dimension, otherwise RecordArrays.
        """
        for number in range(self.shape[0]):
            yield self.indexed(place.at((np.int64(number),)))


@dataclass(frozen=True)
class RecordView:
    """One record per thread. As in Numba it refers to the record in memory, and is not a copy.

    ``dtype`` is that of the record, and ``fields`` maps names to views, which have only the
    dimensions of the field itself. ``name`` is that of the array, for messages.
    """

    name: str
    dtype: np.dtype
    fields: dict[str, ArrayView | RecordArray]


RECORD_TYPES = (RecordArray, RecordView)


def _rank(place: Place) -> int:
    """Return the number of dimensions of the array that the indices of ``place`` leave over."""
    fixed = sum(type(index) is not slice for index in place.indices)
    return len(place.array.shape) - fixed


def _indexed(place: Place, field: Array | RecordArray):
    """Return the part of a field array that the indices of ``place`` select.

    It is an ArrayView, or a RecordView or RecordArray if the field holds records.
    """
    if isinstance(field, RecordArray):
        return field.indexed(Place(place.run, field, place.indices, place.mask, place.site))
    return view(Place(place.run, field, place.indices, place.mask, place.site))


def field_of(place: Place, name: str | int) -> Place | object | None:
    """Return a field of the record at ``place``, given its name or its number, which counts from 0.

    ``place.array`` is a RecordArray, or a RecordView without indices. For a field that is one
    number, the result is its Place; otherwise it is an ArrayView, LocalArray, RecordArray or
    RecordView. If ``place`` has no indices, the field of a RecordArray is that of all its records.
    The result is None if there is no such field, or if it would be a part of a local array.
    """
    owner = place.array
    if isinstance(name, int | np.integer):
        name = owner.dtype.names[int(name)] if 0 <= name < len(owner.dtype.names) else None
    field = owner.fields.get(name)
    if field is None or (isinstance(owner, RecordArray) and not place.indices and owner.shape):
        return field
    field_place = Place(place.run, field, place.indices, place.mask, place.site)
    if isinstance(owner, RecordView):
        return field_place if isinstance(field, ArrayView) and not field.shape else field
    if isinstance(field, RecordArray):
        return field.indexed(field_place)
    if len(place.indices) == len(field.shape) and slice not in map(type, place.indices):
        return field_place
    return None if isinstance(field, LocalArray) else view(field_place)


def copy_record(place: Place, value: RecordView) -> bool:
    """Execute ``p[i] = q[j]``: load every number of the record, store them all, and return True.

    Returns False, and copies nothing, if ``place`` is not a record of the same dtype, or is one in
    a local array.
    """
    target = place.array
    if type(target) is RecordArray and place.indices and not target.is_local:
        target = target.indexed(place)
    if type(target) is not RecordView or target.dtype != value.dtype:
        return False
    values = [load(source) for source in _numbers(place, value)]
    for to, number in zip(_numbers(place, target), values, strict=True):
        store(to, number)
    return True


def _numbers(place: Place, record: RecordView) -> Iterator[Place]:
    """Yield the Place of each number of a record, in the order of the fields.

    The run, the lanes and the source line are those of ``place``.
    """
    for field in record.fields.values():
        if isinstance(field, RecordView):
            yield from _numbers(place, field)
            continue
        for index in np.ndindex(*field.shape):
            inner = Place(place.run, field, tuple(map(np.int64, index)), place.mask, place.site)
            if isinstance(field, RecordArray):
                yield from _numbers(place, field.indexed(inner))
            else:
                yield inner


def memories_of(value: ArrayView | RecordArray) -> Iterator[Memory]:
    """Yield the Memory of an array, or those of all fields of an array of records."""
    if isinstance(value, ArrayView):
        yield value.memory
    else:
        for field in value.fields.values():
            yield from memories_of(field)


@dataclass(frozen=True)
class RecordLayout:
    """The position of an array of records in memory.

    ``name`` is that of the array, for messages. ``strides`` are in bytes, and ``offset`` is the
    number of the array's first byte in its memory. ``writable`` is False if a kernel may not store
    to the array. ``shape`` is the number of records per dimension.
    """

    name: str
    shape: tuple
    strides: tuple[int, ...]
    offset: int
    writable: bool = True


def misplaced_field(
    dtype: np.dtype, unless_bytewise: bool = False, start: int = 0, steps: tuple = ()
) -> str | None:
    """Return the name of the first field that some record does not align to its size.

    A nested field is named as in "outer.inner". The result is None if every field is aligned. With
    ``unless_bytewise``, this does not matter for a field that the compiler moves byte by byte, but
    Numba refuses one whose offset in its own record is no multiple of its size. ``start`` is the
    offset of the record in an outer one, and ``steps`` holds the distances of these records.
    """
    steps = steps or (dtype.itemsize,)
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        base, at = part.base, start + offset
        if base.names:
            inner_steps = (*steps, base.itemsize) if part.shape else steps
            inner = misplaced_field(base, unless_bytewise, at, inner_steps)
            if inner:
                return f"{name}.{inner}"
        elif unless_bytewise and _is_bytewise(dtype, part) and offset % base.itemsize == 0:
            continue
        elif any(n % base.itemsize for n in (at, *steps)):
            return name
    return None


def _is_bytewise(dtype: np.dtype, part: np.dtype) -> bool:
    """Return True if the compiler moves a field of a record byte by byte.

    ``dtype`` is that of the record, and ``part`` that of the field. The compiler does so unless the
    dtype was made with align=True or the field is an array.
    """
    return not (part.shape or dtype.isalignedstruct)


def numbers_of(dtype: np.dtype) -> Iterator[np.dtype]:
    """Yield the dtype of each field of a record dtype, in order.

    A field of records yields the dtypes of its own fields instead, and a field that is an array
    yields the dtype of its elements once.
    """
    for name in dtype.names:
        base = dtype.fields[name][0].base
        if base.names:
            yield from numbers_of(base)
        else:
            yield base


def record_array(dtype: np.dtype, layout: RecordLayout, memory_of: Callable) -> RecordArray:
    """Return an array of records over existing memory, at the position that ``layout`` describes.

    ``memory_of(dtype)`` returns a Memory that views the bytes of the array as numbers of this
    dtype. ``dtype`` is that of a record.
    """
    fields = {}
    for name in dtype.names:
        part, offset = dtype.fields[name][:2]
        base, inner = part.base, part.shape
        steps = tuple(s * base.itemsize for s in element_strides(inner))
        field_layout = RecordLayout(
            layout.name, (*layout.shape, *inner), (*layout.strides, *steps),
            layout.offset + offset, layout.writable,
        )  # fmt: skip
        fields[name] = (
            record_array(base, field_layout, memory_of)
            if base.names
            else _field(memory_of(base), field_layout, _is_bytewise(dtype, part))
        )
    return RecordArray(layout.name, dtype, layout.shape, fields)


def _field(memory: Memory, layout: RecordLayout, bytewise: bool) -> ArrayView:
    """Return the view of a field of all records, at the position that ``layout`` describes.

    ``layout`` is that of the field, with its own dimensions at the end. ``bytewise`` is True if the
    compiler moves the field byte by byte, because it may not be aligned.
    """
    step = memory.step
    strides, offset = tuple(s // step for s in layout.strides), layout.offset // step
    return ArrayView(memory, layout.shape, strides, offset, layout.writable, bytewise)


def local_records(
    name: str, dtype: np.dtype, shape: tuple, lanes: int, filling: Filling
) -> RecordArray:
    """Return an array of records that is private to each thread.

    ``lanes`` is the number of lanes of the batch. ``filling`` fills elements that nobody has set.
    """
    fields = {}
    for field in dtype.names:
        part = dtype.fields[field][0]
        inner = (*shape, *part.shape)
        make = local_records if part.base.names else LocalArray
        arguments = (part.base, inner) if part.base.names else (inner, part.base)
        fields[field] = make(name, *arguments, lanes, filling)
    return RecordArray(name, dtype, shape, fields)
