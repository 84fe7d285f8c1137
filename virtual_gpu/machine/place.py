"""Where an access goes: from indices to positions, checked in every dimension."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import Mask
from ..memory.memory import Array, ArrayView
from .run import Run


class Place(NamedTuple):
    """What the lanes of a mask touch, and the source line that does it.

    indices: one per dimension, each a number or a vector of lanes. Where they select a part of the
    array, slices are among them and dimensions at the end may be missing.

    Every access makes a place, and a NamedTuple is made in a third of a frozen dataclass's time.
    """

    run: Run
    array: Array
    indices: tuple
    mask: Mask
    site: Site

    def at(self, indices: tuple) -> Place:
        """The same lanes at another element."""
        return Place(self.run, self.array, indices, self.mask, self.site)

    def narrowed(self, mask: Mask) -> Place:
        """The same element in fewer lanes."""
        return Place(self.run, self.array, self.indices, mask, self.site)

    def element(self, lane: int) -> tuple[int, ...]:
        """The indices of one lane."""
        return tuple(int(_in_lane(index, lane)) for index in self.indices)

    def flaw(self, kind: str, lanes: np.ndarray) -> Flaw:
        """This flaw in these lanes, by their numbers."""
        threads = self.run.batch.numbers[lanes]
        return Flaw(kind, self.site, self.array.name, threads)


def _in_lane(value, lane: int):
    return value[lane] if isinstance(value, np.ndarray) else value


def _in_lanes(value, lanes: np.ndarray) -> np.ndarray:
    return value[lanes] if isinstance(value, np.ndarray) else np.full(len(lanes), value)


def in_bounds(place: Place) -> tuple[list, Place | None]:
    """Each index as a position, and the place of the lanes that are inside of the array.

    Positions are numbers, or vectors with one entry for each of these lanes. Lanes outside are
    reported; the place is None where all are.
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
    """An index as a position 0 ≤ p < extent for the active lanes, and which are inside.

    The second is None when all are. Negative indices wrap once, as Numba defines it.
    """
    if isinstance(extent, np.ndarray):  # the length of a slice that differs by thread
        extent = place.mask.select(extent)
        index = np.broadcast_to(index, place.mask.lanes.shape)
        return _positions_of(place, index, extent)
    if isinstance(index, np.ndarray):
        known = place.run.positions.find(index, place.mask, extent)
        return _positions_of(place, index, extent) if known is None else (known, None)
    position = int(index)
    if position < 0:
        _warn_wrapped(place, index)
        position += extent
    return position, None if 0 <= position < extent else np.zeros(place.mask.count, bool)


def _positions_of(place: Place, index: np.ndarray, extent) -> tuple[np.ndarray, np.ndarray | None]:
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
    """Some active lanes are not ``inside`` of one dimension."""
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
    """An element that an array, or a part of one, does not have."""
    many = f"{shape[axis]} element{'s' if shape[axis] != 1 else ''} (shape {shape})"
    if isinstance(array, ArrayView) and array.is_part:
        return (
            f"element {list(element)} of a part of {array.name}; dimension {axis} of this part has "
            f"{many}"
        )
    return f"{array.name}{list(element)}; dimension {axis} of {array.name} has {many}"
