"""Compiles loads and stores with cache hints, such as ``cuda.ldca``.

The virtual GPU models no caches, so the hint has no effect.
"""

from __future__ import annotations

from ..machine.access import load, store
from ..machine.place import Place
from ..memory.memory import ArrayView
from .call_expression import CallExpression, Handler
from .frame import Evaluate, is_scalar


def _load(call: CallExpression) -> Evaluate:
    """Compile a load such as ``cuda.ldca(array, index)``, which returns ``array[index]``.

    Its execution raises Unsupported unless the array is in global memory and each dimension has an
    index.
    """
    array, index = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        place = Place(frame.run, array(frame, mask), _as_indices(index(frame, mask)), mask, site)
        _check(call, place)
        return load(place)

    return evaluate


def _store(call: CallExpression) -> Evaluate:
    """Compile a store such as ``cuda.stcg(array, index, value)``: ``array[index] = value``.

    Its execution raises Unsupported unless the array is writable and in global memory, each
    dimension has an index, and the value is a number.
    """
    array, index, value = call.arguments(3)
    site = call.site

    def evaluate(frame, mask):
        place = Place(frame.run, array(frame, mask), _as_indices(index(frame, mask)), mask, site)
        _check(call, place)
        number = value(frame, mask)
        if not is_scalar(number) or not place.array.writable:
            raise call.refuse(f"{call.function.__name__}() of this value to this array")
        store(place, number)

    return evaluate


def _check(call: CallExpression, place: Place) -> None:
    """Raise Unsupported unless the place is one element of an array in global memory."""
    array, indices = place.array, place.indices
    if not isinstance(array, ArrayView) or array.memory.space != "global":
        raise call.refuse(f"{call.function.__name__}() of anything but an array in global memory")
    if len(indices) != len(array.shape):
        raise call.refuse(f"{call.function.__name__}() with {len(indices)} indices")


def _as_indices(index) -> tuple:
    """Return an index that is a tuple unchanged, and any other one as a tuple of one."""
    return index if isinstance(index, tuple) else (index,)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("ldca", "ldcg", "ldcs", "ldlu", "ldcv"), _load),
    **dict.fromkeys(("stcg", "stcs", "stwb", "stwt"), _store),
}
