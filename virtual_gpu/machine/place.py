"""The target of an access: its indices as positions, checked in every dimension."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Mask
from ..memory.memory import Array, ArrayView, LocalPart
from .run import BatchRun


class FromTheEnd(np.int64):
    """A negative index that the kernel's text itself holds, as in ``x[-1]``.

    It counts from the end on purpose, so no warning is reported.
    """


class Place(NamedTuple):
    """The array elements that the lanes of a mask access, and the source line that does so.

    ``run`` is the execution of the batch, and ``site`` the source line. ``indices`` has one entry
    per dimension, a number or a vector of lanes. If the indices select a part of the array, slices
    are among them, and dimensions at the end may be missing.

    Every access creates a Place. It is a NamedTuple because creating one takes a third of the time
    of a frozen dataclass.
    """

    run: BatchRun
    array: Array
    indices: tuple
    mask: Mask
    site: Site

    def at(self, indices: tuple) -> Place:
        """Return a Place of the same array, lanes and source line with these indices."""
        return Place(self.run, self.array, indices, self.mask, self.site)

    def narrowed(self, mask: Mask) -> Place:
        """Return a Place of the same array, indices and source line with these lanes."""
        return Place(self.run, self.array, self.indices, mask, self.site)

    def element(self, lane: int) -> tuple[int, ...]:
        """Return the array indices of one lane as a tuple of ints.

        ``lane`` is the number of the lane in the batch.
        """
        return tuple(int(_in_lane(index, lane)) for index in self.indices)

    def flaw(self, kind: str, lanes: np.ndarray) -> Flaw:
        """Return a Flaw of this kind at the place's source line and array.

        ``lanes`` holds the indices in the batch (int64) of the lanes that are wrong; the flaw names
        their threads.
        """
        threads = self.run.batch.numbers[lanes]
        return Flaw(kind, self.site, self.array.name, threads)


def _in_lane(value, lane: int):
    """Return the entry of a vector for one lane of the batch; a number is returned unchanged."""
    return value[lane] if isinstance(value, np.ndarray) else value


def _in_lanes(value, lanes: np.ndarray) -> np.ndarray:
    """Return the entries of a vector for these lanes of the batch; a number is repeated."""
    return value[lanes] if isinstance(value, np.ndarray) else np.full(len(lanes), value)


def in_bounds(place: Place) -> tuple[list, Place | None]:
    """Return a list of positions, one per index, and the place narrowed to the lanes in bounds.

    A position is a number, or a vector with one entry per lane in bounds. The other lanes are
    reported. The place is None if no lane is in bounds.
    """
    positions, good = [], None
    for axis, index in enumerate(place.indices):
        position, inside = position_of(place, index, place.array.shape[axis])
        if inside is not None:
            report_out_of_bounds(place, axis, inside)
            good = inside if good is None else good & inside
        positions.append(position)
    if good is None:
        return positions, place
    if not good.any():
        return positions, None
    positions = [p[good] if isinstance(p, np.ndarray) else p for p in positions]
    return positions, place.narrowed(place.mask.keep(good))


def position_of(place: Place, index, extent) -> tuple[int | np.ndarray, np.ndarray | None]:
    """Return an index as a position 0 ≤ p < extent per active lane, and which lanes are in bounds.

    The position is a number if the index and the extent are numbers, otherwise an int64 vector. The
    second result is a bool per active lane, or None if all are in bounds. Lanes out of bounds have
    another position, and are not reported here. Negative indices count from the end once, as Numba
    defines it, with a warning in the report unless the text of the kernel holds the number.
    """
    if isinstance(extent, np.ndarray):  # the length of a slice that differs by thread
        extent = place.mask.select(extent)
        index = np.broadcast_to(index, place.mask.lanes.shape)
        return _positions_of(place, index, extent)
    if isinstance(index, np.ndarray):
        cached = place.run.positions.find(index, place.mask, extent)
        return _positions_of(place, index, extent) if cached is None else (cached, None)
    position = int(index)
    if position < 0:
        if not isinstance(index, FromTheEnd):
            _warn_wrapped(place, index)
        position += extent
    return position, None if 0 <= position < extent else np.zeros(place.mask.count, bool)


def _positions_of(place: Place, index: np.ndarray, extent) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a vector of indices as positions 0 ≤ p < extent, and which lanes are in bounds.

    The positions (int64) have one entry per active lane, and so has the extent if it is a vector.
    The second result is a bool per active lane, or None if all are in bounds. Lanes out of bounds
    have another position. Negative indices count from the end once, with a warning in the report.
    """
    position = place.mask.select(index).astype(np.int64, copy=False)
    if isinstance(extent, np.ndarray):
        extent = extent.astype(np.uint64)
    inside = position.view(np.uint64) < extent  # a negative number is above every extent
    if inside.all():
        if isinstance(extent, int):
            place.run.positions.keep(position, index, place.mask, extent)
        return position, None
    negative = position < 0
    if index.dtype.kind != "u" and negative.any():
        position = np.where(negative, position + np.asarray(extent, np.int64), position)
        inside = position.view(np.uint64) < extent
        if (inside & negative).any():
            _warn_wrapped(place, index)
        if inside.all():
            return position, None
    return position, inside


def _warn_wrapped(place: Place, index) -> None:
    """Report, as a warning, the active lanes whose index is negative.

    An ``index`` that is a single number must be negative: all active lanes are reported.
    """
    mask, name = place.mask, place.array.name
    lanes = mask.index[mask.select(index) < 0] if isinstance(index, np.ndarray) else mask.index

    def describe() -> Finding:
        lane = int(lanes[0])
        thread, value = place.run.batch.thread(lane), int(_in_lane(index, lane))
        return Finding(
            "wrapped_index", place.site, name, (value,), (thread,), len(lanes),
            f"{thread} computes the index {value} of {name}; Numba counts it from the end.",
        )  # fmt: skip

    flaw = place.flaw("wrapped_index", lanes)
    place.run.report.add(replace(flaw, indices=_in_lanes(index, lanes)), describe)


def report_out_of_bounds(place: Place, axis: int, inside: np.ndarray) -> None:
    """Report the active lanes out of bounds along dimension ``axis``.

    ``inside`` holds one bool per active lane: True if it is in bounds. The report raises
    OutOfBounds unless it collects findings.
    """
    lanes, name = place.mask.index[~inside], place.array.name

    def describe() -> Finding:
        lane = int(lanes[0])
        element = place.element(lane)
        shape = tuple(int(_in_lane(extent, lane)) for extent in place.array.shape)
        thread = place.run.batch.thread(lane)
        return Finding(
            "out_of_bounds", place.site, name, element, (thread,), len(lanes),
            f"{thread} uses {_outside(place.array, element, axis, shape)}.", axis=axis,
        )  # fmt: skip

    indices = _in_lanes(place.indices[axis], lanes)
    flaw = replace(place.flaw("out_of_bounds", lanes), axis=axis, indices=indices)
    place.run.report.add(flaw, describe)


def _outside(array: Array, element: tuple, axis: int, shape: tuple) -> str:
    """Return the text "a[9]; dimension 0 of a has 8 elements (shape (8,))" for a wrong index.

    If ``array`` is a part of another array, the text names the part.
    """
    has = f"{shape[axis]} element{'s' if shape[axis] != 1 else ''} (shape {shape})"
    if isinstance(array, LocalPart) or (isinstance(array, ArrayView) and array.is_part):
        return (
            f"element {list(element)} of a part of {array.name}; dimension {axis} of this part has "
            f"{has}"
        )
    return f"{array.name}{list(element)}; dimension {axis} of {array.name} has {has}"
