"""Compiles atomic operations. Lanes that update the same element do so in the order of their
numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
from numba import cuda

from ..machine.access import update
from ..machine.lost_values import check_sum
from ..machine.place import Place
from ..memory.memory import Array, ArrayView
from ..types.numba_types import cast
from .call_expression import CallExpression, Handler
from .frame import Evaluate, is_scalar

# The new value of the element: new = compute(old, value).
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


def _ranks(addresses: np.ndarray) -> np.ndarray:
    """Return, per entry of ``addresses``, the number of earlier entries with the same address."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    within = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    ranks = np.empty_like(within)
    ranks[order] = within
    return ranks


def _update_serially(data: np.ndarray, addresses: np.ndarray, compute: Callable, values: tuple):
    """Set the elements at ``addresses`` to ``compute(old, *values)``; return their old values.

    ``addresses`` and each of ``values`` have one entry per lane. Lanes with the same address change
    the element one after the other, in their order. The result has one entry per lane: the value of
    the element just before the lane's own change.
    """
    old = np.empty(len(addresses), data.dtype)
    ranks = _ranks(addresses)
    for rank in range(int(ranks.max()) + 1):
        lanes = np.flatnonzero(ranks == rank)
        targets = addresses[lanes]
        old[lanes] = data[targets]
        data[targets] = compute(data[targets], *(v[lanes] for v in values))
    return old


def _operation(name: str) -> Handler:
    """Return the handler of the function of ``cuda.atomic`` with this name, such as "add".

    A call returns the old value in each lane as a vector, which may be None if the kernel does not
    use it. The call raises Unsupported for a target that atomics cannot change, or a value that is
    no real number.
    """

    def handler(call: CallExpression) -> Evaluate:
        array, index, value = call.arguments(3)
        site, used = call.site, _is_used(call)

        def evaluate(frame, mask):
            target, position = array(frame, mask), index(frame, mask)
            if isinstance(position, tuple) and len(position) == 1:
                raise call.refuse("an atomic with a tuple of one index (Numba refuses it, too)")
            indices = _as_indices(position)
            place = _checked(call, Place(frame.run, target, indices, mask, site))
            _check_type(call, name, target.dtype)
            operand = _operand(call, value(frame, mask), target.dtype)

            def change(data, addresses, lanes):
                values = _without_nan(name, lanes.entries(operand))
                if name in ("add", "sub"):
                    added = values if name == "add" else -values
                    check_sum(place.narrowed(lanes), addresses, data, added)
                if frame.run.counters and name in ("min", "max"):
                    beaten = _beaten_by_zero(name, data.take(addresses), values)
                    counters = frame.run.counters
                    counters.extreme(site, place.array.name, name, len(values), beaten)
                compute = _COMPUTE[name]
                # Nobody reads the old values, so the order of the lanes does not matter.
                if not used and isinstance(compute, np.ufunc):
                    compute.at(data, addresses, values)
                    return None
                return _update_serially(data, addresses, compute, (values,))

            return update(place, change)

        return evaluate

    return handler


def _operand(call: CallExpression, value, dtype: np.dtype):
    """Return the operand of an atomic, cast to the dtype of the array.

    Raises Unsupported if it is no real number.
    """
    if not is_scalar(value) or value.dtype.kind == "c":
        raise call.refuse("an atomic with a value that is no real number")
    return cast(value, dtype)


def _beaten_by_zero(name: str, elements: np.ndarray, values: np.ndarray) -> bool:
    """Return True if all elements are 0 and every value is above 0 for "min", below 0 for "max".

    The values then have no effect. A value that is 0 or NaN makes the result False.
    """
    beaten = values > 0 if name == "min" else values < 0
    return bool(beaten.all()) and not elements.any()


def _without_nan(name: str, values: np.ndarray) -> np.ndarray:
    """Return the operands; NaN becomes -infinity for max and infinity for min.

    So a NaN leaves the element unchanged. The operands of other atomics are returned unchanged.
    """
    if name in ("max", "min") and values.dtype.kind == "f":
        return np.where(np.isnan(values), -np.inf if name == "max" else np.inf, values)
    return values


def _is_used(call: CallExpression) -> bool:
    """Return True if the kernel uses the old value that the atomic returns.

    It does not if the call is a statement of its own.
    """
    return not any(
        isinstance(node, ast.Expr) and node.value is call.node
        for node in ast.walk(call.source.tree)
    )


def _check_type(call: CallExpression, name: str, dtype: np.dtype) -> None:
    """Raise Unsupported if Numba has no atomic of this name on elements of this dtype.

    The elements must be integers or floats of 32 or 64 bits, and integers for ``and_``, ``or_``,
    ``xor``, ``inc`` and ``dec``.
    """
    wide = dtype.itemsize in (4, 8) and dtype.kind in "iuf"
    if not wide or (name in _INTEGERS_ONLY and dtype.kind == "f"):
        raise call.refuse(f"atomic.{name} on {dtype}")


def _checked(call: CallExpression, place: Place) -> Place:
    """Return the place unchanged; raise Unsupported if atomics cannot change it.

    The place must have one index per dimension, in an array that is neither read-only nor a field
    of records that are not aligned.
    """
    array, indices = place.array, place.indices
    if not isinstance(array, Array):
        raise call.refuse("an atomic on anything but an array")
    if len(indices) != len(array.shape):
        raise call.refuse(f"an atomic with {len(indices)} indices")
    if isinstance(array, ArrayView) and not array.writable:
        raise call.refuse(f"an atomic on the read-only array {array.name}")
    if isinstance(array, ArrayView) and array.memory.is_bytewise:
        raise call.refuse(f"an atomic on {array.name}, whose records are not aligned,")
    return place


def _as_indices(index) -> tuple:
    """Return an index that is a tuple unchanged, and any other one as a tuple of one."""
    return index if isinstance(index, tuple) else (index,)


def takes_a_lock(function) -> bool:
    """Return True if a loop that tests this function's result waits for a lock.

    That is so for the compare-and-swap functions and the exchange of ``cuda.atomic``.
    """
    return function in (cuda.atomic.cas, cuda.atomic.compare_and_swap, cuda.atomic.exch)


def waits_for_others(function) -> bool:
    """Return True if a loop that tests this function's result waits for other blocks' counts.

    That is so for ``add``, ``max`` and ``inc`` of ``cuda.atomic``.
    """
    return function in (cuda.atomic.add, cuda.atomic.max, cuda.atomic.inc)


def _swap_serially(data: np.ndarray, addresses: np.ndarray, expected, value):
    """Compare and swap the elements at ``addresses``; return the old value that each lane saw.

    An element that equals a lane's entry of ``expected`` gets the lane's entry of ``value``. Lanes
    with the same address do so one after the other, in their order. Between two successful swaps of
    an element, all its lanes see the same value. So there is one pass per swap, not one per lane.
    """
    old = np.empty(len(addresses), data.dtype)
    pending, bits = np.arange(len(addresses)), f"u{data.dtype.itemsize}"
    while pending.size:
        targets = addresses[pending]
        old[pending] = now = data[targets]
        changes = now.view(bits) != value[pending].view(bits)
        swaps = pending[(now == expected[pending]) & changes]
        elements, first = np.unique(addresses[swaps], return_index=True)
        if not elements.size:
            break
        winners = swaps[first]
        data[elements] = value[winners]
        match = np.searchsorted(elements, targets).clip(max=len(elements) - 1)
        pending = pending[(elements[match] == targets) & (pending > winners[match])]
    return old


def _compare_and_swap(call: CallExpression) -> Evaluate:
    """Compile ``cas(array, index, expected, value)`` or ``compare_and_swap``.

    The latter has no index and acts on the first element. The closure returns the old value in each
    lane, as a vector. It raises Unsupported for a target that atomics cannot change, and for a
    value that is no real number.
    """
    arguments = call.arguments(3, 4)
    site = call.site

    def evaluate(frame, mask):
        values = [a(frame, mask) for a in arguments]
        indices = _as_indices(values[1]) if len(values) == 4 else (np.int64(0),)
        place = _checked(call, Place(frame.run, values[0], indices, mask, site))
        expected, new = (_operand(call, v, place.array.dtype) for v in values[-2:])

        def change(data, addresses, lanes):
            return _swap_serially(data, addresses, lanes.entries(expected), lanes.entries(new))

        return update(place, change)

    return evaluate


HANDLERS: dict[str, Handler] = {
    **{name: _operation(name) for name in _COMPUTE},
    "cas": _compare_and_swap,
    "compare_and_swap": _compare_and_swap,
}
