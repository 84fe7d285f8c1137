"""Loads and stores that say what the caches should keep: the same as any other here."""

from __future__ import annotations

from ..machine.access import load, store
from ..machine.place import Place
from ..memory.memory import ArrayView
from .call import Call, Handler
from .frame import Evaluate, is_scalar


def _loaded(call: Call) -> Evaluate:
    """``cuda.ldca(array, index)`` and its like."""
    array, index = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        place = Place(frame.run, array(frame, mask), _as_indices(index(frame, mask)), mask, site)
        _check(call, place)
        return load(place)

    return evaluate


def _stored(call: Call) -> Evaluate:
    """``cuda.stcg(array, index, value)`` and its like."""
    array, index, value = call.arguments(3)
    site = call.site

    def evaluate(frame, mask):
        place = Place(frame.run, array(frame, mask), _as_indices(index(frame, mask)), mask, site)
        _check(call, place)
        given = value(frame, mask)
        if not is_scalar(given) or not place.array.writable:
            raise call.refuse(f"{call.function.__name__}() of this value to this array")
        store(place, given)

    return evaluate


def _check(call: Call, place: Place) -> None:
    array, indices = place.array, place.indices
    if not isinstance(array, ArrayView) or array.memory.space != "global":
        raise call.refuse(f"{call.function.__name__}() of anything but an array in global memory")
    if len(indices) != len(array.shape):
        raise call.refuse(f"{call.function.__name__}() with {len(indices)} indices")


def _as_indices(index) -> tuple:
    return index if isinstance(index, tuple) else (index,)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("ldca", "ldcg", "ldcs", "ldlu", "ldcv"), _loaded),
    **dict.fromkeys(("stcg", "stcs", "stwb", "stwt"), _stored),
}
