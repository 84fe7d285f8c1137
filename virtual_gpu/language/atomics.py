"""Atomic operations. Lanes that meet in one element take turns in the order of their numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
from numba import cuda

from ..machine.access import update
from ..machine.place import Place
from ..memory.memory import ArrayView
from ..types.numba_types import cast
from .call import Call, Handler
from .frame import Evaluate, is_scalar

# What each operation leaves in the element: new = compute(old, value).
_COMPUTE: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
    "inc": lambda old, last: np.where(old >= last, 0, old + 1).astype(old.dtype),
    "dec": lambda old, last: np.where((old == 0) | (old > last), last, old - 1).astype(old.dtype),
}
_INTEGERS_ONLY = ("and_", "or_", "xor", "inc", "dec")


def _turns(addresses: np.ndarray) -> np.ndarray:
    """Each lane's turn at its element: 0 for the first lane that asks for it, then 1, ..."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    within = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    turns = np.empty_like(within)
    turns[order] = within
    return turns


def _in_turn(data: np.ndarray, addresses: np.ndarray, compute: Callable, values: tuple):
    """Apply ``compute(old, *values)`` lane after lane where they meet; returns the old values."""
    old = np.empty(len(addresses), data.dtype)
    turns = _turns(addresses)
    for turn in range(int(turns.max()) + 1):
        lanes = np.flatnonzero(turns == turn)
        at = addresses[lanes]
        old[lanes] = data[at]
        data[at] = compute(data[at], *(v[lanes] for v in values))
    return old


def _operation(name: str) -> Handler:
    def handler(call: Call) -> Evaluate:
        array, index, value = call.arguments(3)
        site, used = call.site, _is_used(call)

        def evaluate(frame, mask):
            target, at = array(frame, mask), _as_indices(index(frame, mask))
            place = _checked(call, Place(frame.run, target, at, mask, site))
            _check_type(call, name, target.dtype)
            given = _operand(call, value(frame, mask), target.dtype)

            def change(data, addresses, lanes):
                values = _without_nan(name, lanes.entries(given))
                compute = _COMPUTE[name]
                if not used and isinstance(compute, np.ufunc):  # order does not show: all at once
                    compute.at(data, addresses, values)
                    return None
                return _in_turn(data, addresses, compute, (values,))

            return update(place, change)

        return evaluate

    return handler


def _operand(call: Call, value, dtype: np.dtype):
    """A number that an atomic takes, in the type of the array."""
    if not is_scalar(value) or value.dtype.kind == "c":
        raise call.refuse("an atomic with a value that is no real number")
    return cast(value, dtype)


def _without_nan(name: str, values: np.ndarray) -> np.ndarray:
    """max and min leave the element as it is where the other value is NaN, or where it is."""
    if name in ("max", "min") and values.dtype.kind == "f":
        return np.where(np.isnan(values), -np.inf if name == "max" else np.inf, values)
    return values


def _is_used(call: Call) -> bool:
    """Whether the old value is looked at: not when the call is a statement of its own."""
    return not any(
        isinstance(node, ast.Expr) and node.value is call.node
        for node in ast.walk(call.source.tree)
    )


def _check_type(call: Call, name: str, dtype: np.dtype) -> None:
    wide = dtype.itemsize in (4, 8) and dtype.kind in "iuf"
    if not wide or (name in _INTEGERS_ONLY and dtype.kind == "f"):
        raise call.refuse(f"atomic.{name} on {dtype}")


def _checked(call: Call, place: Place) -> Place:
    """A place that atomics can change."""
    array, indices = place.array, place.indices
    if not isinstance(array, ArrayView):
        raise call.refuse("an atomic on anything but an array in global or shared memory")
    if len(indices) != len(array.shape):
        raise call.refuse(f"an atomic with {len(indices)} indices")
    if not array.writable:
        raise call.refuse(f"an atomic on the read-only array {array.name}")
    return place


def _as_indices(index) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def takes_a_lock(function) -> bool:
    """Whether a loop that tests this function's result waits for a lock."""
    return function in (cuda.atomic.cas, cuda.atomic.compare_and_swap, cuda.atomic.exch)


def waits_for_others(function) -> bool:
    """Whether a loop that tests this function's result waits for a count."""
    return function in (cuda.atomic.add, cuda.atomic.max, cuda.atomic.inc)


def _swap_in_turn(data: np.ndarray, addresses: np.ndarray, expected, value):
    """Compare-and-swap lane after lane where they meet; returns the old values.

    Between two swaps of an element all its lanes see the same, however many they are.
    """
    old = np.empty(len(addresses), data.dtype)
    left, bits = np.arange(len(addresses)), f"u{data.dtype.itemsize}"
    while left.size:
        at = addresses[left]
        old[left] = now = data[at]
        changes = now.view(bits) != value[left].view(bits)
        swaps = left[(now == expected[left]) & changes]
        places, first = np.unique(addresses[swaps], return_index=True)
        if not places.size:
            break
        winners = swaps[first]
        data[places] = value[winners]
        found = np.searchsorted(places, at).clip(max=len(places) - 1)
        left = left[(places[found] == at) & (left > winners[found])]
    return old


def _compare_and_swap(call: Call) -> Evaluate:
    """``cas(array, index, expected, value)``, or ``compare_and_swap(array, expected, value)`` on
    the first element."""
    arguments = call.arguments(3, 4)
    site = call.site

    def evaluate(frame, mask):
        values = [a(frame, mask) for a in arguments]
        at = _as_indices(values[1]) if len(values) == 4 else (np.int64(0),)
        place = _checked(call, Place(frame.run, values[0], at, mask, site))
        expected, new = (_operand(call, v, place.array.dtype) for v in values[-2:])

        def change(data, addresses, lanes):
            return _swap_in_turn(data, addresses, lanes.entries(expected), lanes.entries(new))

        return update(place, change)

    return evaluate


HANDLERS: dict[str, Handler] = {
    **{name: _operation(name) for name in _COMPUTE},
    "cas": _compare_and_swap,
    "compare_and_swap": _compare_and_swap,
}
