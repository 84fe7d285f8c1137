"""Compiles warp functions (syncwarp, shuffles, votes, match) and bit functions.

A function named ``..._sync`` takes a mask of lanes. Every lane that calls it must be in its own
mask, and every live lane of the mask must call it. Lanes in the mask of a syncwarp may also return
from the kernel instead, as long as they are in the branch that kept them away. A lane that reads
from a lane that does not take part is reported, because the hardware gives it an undefined value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import cuda

from ..checks.report import Flaw
from ..common.errors import Finding, Site
from ..common.lanes import WARP, Mask, bits_of, by_warp, lanes_of, listed
from ..machine.run import BatchRun
from ..types import numba_types
from .call_expression import CallExpression, Handler
from .frame import Evaluate, Frame, is_scalar

ALL_LANES = 0xFFFFFFFF
SHUFFLED = (np.dtype("i4"), np.dtype("i8"), np.dtype("f4"), np.dtype("f8"))


def rows(value, run: BatchRun) -> np.ndarray:
    """Return a number or a vector of lanes as an array of shape (warps, 32).

    A number is repeated for each lane of the batch.
    """
    vector = value if isinstance(value, np.ndarray) else np.full(run.batch.size, value)
    return by_warp(vector)


def _spread(per_warp: np.ndarray) -> np.ndarray:
    """Return a vector that repeats each warp's value for its 32 lanes."""
    return np.repeat(per_warp, WARP)


def _check_members(frame: Frame, members, mask: Mask, site: Site, may_leave: bool = False) -> None:
    """Report, as one flaw, the lanes whose mask ``members`` does not fit the active lanes.

    ``members`` is a bit mask, or a lane vector of them; ``mask`` holds the active lanes. A lane
    must be in its own bit mask, and each live lane that the bit mask names must be active. With
    ``may_leave``, an absent lane is not reported here: the call is added to ``run.syncwarps``,
    which reports it if the lane goes on without this call.
    """
    run = frame.run
    run.syncwarps.meet(mask, site)
    active = by_warp(mask.lanes)
    absent = by_warp(run.live.lanes) & ~active
    if _names_all(members) and not (active.any(axis=1) & absent.any(axis=1)).any():
        return  # whole warps have come, which is the most frequent case
    named = rows(members, run).astype(np.int64) & ALL_LANES
    _check_own_lanes(run, named, mask, site)
    wrong = active & ((named & bits_of(absent)[:, None].astype(np.int64)) != 0)
    if not wrong.any():
        return
    if may_leave:
        waited_for = np.bitwise_or.reduce(np.where(active, named, 0), axis=1)
        run.syncwarps.add(site, named, active, absent & lanes_of(waited_for[:, None]))
        return
    lanes = np.flatnonzero(wrong)

    def describe() -> Finding:
        lane = int(lanes[0])
        thread, present = run.batch.thread(lane), int(bits_of(active)[lane // WARP])
        return Finding(
            "barrier", site, "", (), (thread,), len(lanes),
            f"{thread} names the lanes {int(named.ravel()[lane]):#010x}; its warp's lanes "
            f"{present:#010x} take part, and both must be the same.",
        )  # fmt: skip

    run.report.add(Flaw("barrier", site, "", run.batch.numbers[lanes]), describe)


def _names_all(members) -> bool:
    """Return True if ``members`` is one bit mask for all threads, and names all lanes."""
    return not isinstance(members, np.ndarray) and int(members) & ALL_LANES == ALL_LANES


def _check_own_lanes(run: BatchRun, named: np.ndarray, mask: Mask, site: Site) -> None:
    """Report, as one flaw, the active lanes that their own bit mask does not name.

    ``named`` holds the bit mask of each lane (int64), in shape (warps, 32).
    """
    active = by_warp(mask.lanes)
    lanes = np.flatnonzero(active & ~lanes_of(named))
    if not lanes.size:
        return

    def describe() -> Finding:
        lane = int(lanes[0])
        thread, present = run.batch.thread(lane), int(bits_of(active)[lane // WARP])
        return Finding(
            "barrier", site, "", (), (thread,), len(lanes),
            f"{thread} is lane {lane % WARP} of its warp, and its mask "
            f"{int(named.ravel()[lane]):#010x} does not name this lane. The mask must name all "
            f"lanes that come here: {present:#010x}.",
        )  # fmt: skip

    run.report.add(Flaw("barrier", site, "", run.batch.numbers[lanes]), describe)


def check_whole(run: BatchRun, mask: Mask, site: Site) -> None:
    """Report, as one flaw, the active lanes of all warps of which not all 32 lanes are active.

    Padding lanes are never active. Flaws of earlier barriers of a warp that expected one of these
    lanes are reported, too.
    """
    run.syncwarps.meet(mask, site)
    active = by_warp(mask.lanes)
    split = active.any(axis=1) & ~active.all(axis=1)
    if not split.any():
        return
    lanes = mask.narrow(np.repeat(split, WARP)).index

    def describe() -> Finding:
        thread, absent = run.batch.thread(int(lanes[0])), ~active[lanes[0] // WARP]
        return Finding(
            "barrier", site, "", (), (thread,), len(lanes),
            f"{thread} comes here without {listed(absent)} of its warp: all {WARP} lanes must take "
            "part.",
        )  # fmt: skip

    run.report.add(Flaw("barrier", site, "", run.batch.numbers[lanes]), describe)


def _shuffle(source: Callable) -> Handler:
    """Return the handler of a shuffle in which each lane reads lane ``source(lane, argument)``.

    A call returns a vector of lanes; a lane whose source is not in 0 to 31 gets its own value. It
    raises Unsupported for a value that is no int32, int64, float32 or float64.
    """

    def handler(call: CallExpression) -> Evaluate:
        members, value, argument = call.arguments(3)
        site = call.site

        def evaluate(frame, mask):
            data = value(frame, mask)
            if not is_scalar(data) or data.dtype not in SHUFFLED:
                what = data.dtype if is_scalar(data) else "a value that is no number"
                raise call.refuse(f"a shuffle of {what} (int32, int64, float32, float64 are)")
            _check_members(frame, _integer(call, members(frame, mask)), mask, site)
            values = rows(data, frame.run)
            own, operand = np.arange(WARP), _integer(call, argument(frame, mask))
            sources = source(own, rows(operand, frame.run).astype(np.int64))
            sources = np.where((sources < 0) | (sources >= WARP), own, sources)
            _check_sources(frame, sources, mask, site)
            result = np.take_along_axis(values, sources, axis=1).ravel()
            if frame.run.change:
                threads = frame.run.batch.thread_number
                result = frame.run.change.applied("", threads, sources.ravel(), result)
            frame.run.record("shuffle", mask, site, result, sources.ravel())
            return result

        return evaluate

    return handler


def _integer(call: CallExpression, value):
    """Return ``value`` unchanged; raise Unsupported unless it is an integer or a bool.

    The value is a mask of lanes, the number of a lane or a predicate. Numba casts a float to an
    integer without a warning, which hides a mistake.
    """
    if not is_scalar(value) or value.dtype.kind not in "iub":
        what = f"of type {value.dtype}" if is_scalar(value) else "that is no number"
        raise call.refuse(f"a mask, lane or predicate {what} in {call.function.__name__}()")
    return value


def _check_sources(frame: Frame, sources: np.ndarray, mask: Mask, site: Site) -> None:
    """Report, as one flaw, the lanes that read from a lane that does not take part in a shuffle.

    ``sources`` holds the lane that each lane reads from, as an array of shape (warps, 32).
    """
    active = by_warp(mask.lanes)
    wrong = active & ~np.take_along_axis(active, sources, axis=1)
    if not wrong.any():
        return
    lanes, run = np.flatnonzero(wrong), frame.run

    def describe() -> Finding:
        lane = int(lanes[0])
        thread = run.batch.thread(lane)
        return Finding(
            "barrier", site, "", (), (thread,), len(lanes),
            f"{thread} reads from lane {int(sources.ravel()[lane])} of its warp, which does not "
            "take part: the value is undefined.",
        )  # fmt: skip

    run.report.add(Flaw("barrier", site, "", run.batch.numbers[lanes]), describe)


def _vote(combine: Callable, dtype: type) -> Handler:
    """Return the handler of a vote, whose result is the same in all lanes of a warp.

    ``combine(active, predicate)`` takes two boolean arrays of shape (warps, 32) and returns one
    value per warp, which is cast to ``dtype``. The closure returns a vector of lanes with these
    values. It reports lanes that do not fit their mask, and raises Unsupported for a mask or a
    predicate that is neither an integer nor a bool.
    """

    def handler(call: CallExpression) -> Evaluate:
        members, predicate = call.arguments(2)
        site = call.site

        def evaluate(frame, mask):
            _check_members(frame, _integer(call, members(frame, mask)), mask, site)
            holds = rows(_integer(call, predicate(frame, mask)) != 0, frame.run)
            result = _spread(combine(by_warp(mask.lanes), holds).astype(dtype))
            frame.run.record("vote", mask, site, result)
            return result

        return evaluate

    return handler


def _same_value(rows: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return a boolean array of shape (warps, 32, 32) that compares the lanes of each warp.

    Entry [w, i, j] is True if the lanes i and j of warp w are active and hold the same bits. Numba
    has no match of 64-bit unsigned integers and casts them to float64.
    """
    rows = numba_types.cast(rows, np.dtype(np.float64)) if rows.dtype == np.uint64 else rows
    rows = rows.view(f"u{rows.dtype.itemsize}")
    return (rows[:, :, None] == rows[:, None, :]) & active[:, None, :] & active[:, :, None]


def _match_any(call: CallExpression) -> Evaluate:
    """Compile ``match_any_sync``: the bit mask of the lanes that hold the lane's own value.

    Only active lanes of the lane's warp count. The closure returns an int32 vector. It reports
    lanes that do not fit their mask.
    """
    members, value = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        _check_members(frame, _integer(call, members(frame, mask)), mask, site)
        same = _same_value(rows(value(frame, mask), frame.run), by_warp(mask.lanes))
        lanes = bits_of(same.reshape(-1, WARP)).astype(np.int32)
        frame.run.record("match", mask, site, lanes)
        return lanes

    return evaluate


def _match_all(call: CallExpression) -> Evaluate:
    """Compile ``match_all_sync``: (bit mask, True) if all lanes hold one value, else (0, False).

    Only active lanes of the lane's warp count. Both results are vectors, of int32 and of bool. The
    closure reports lanes that do not fit their mask.
    """
    members, value = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        _check_members(frame, _integer(call, members(frame, mask)), mask, site)
        active = by_warp(mask.lanes)
        same = _same_value(rows(value(frame, mask), frame.run), active)
        everyone = (same | ~active[:, None, :] | ~active[:, :, None]).all(axis=(1, 2))
        lanes = np.where(everyone, bits_of(active), 0).astype(np.int32)
        frame.run.record("match", mask, site, _spread(lanes))
        return _spread(lanes), _spread(everyone)

    return evaluate


def _syncwarp(call: CallExpression) -> Evaluate:
    """Compile ``cuda.syncwarp``, the barrier of a warp or of the lanes in its mask.

    The closure orders the accesses of each warp, reports lanes that do not fit the mask, and
    returns None.
    """
    arguments = call.arguments(0, 1)
    site = call.site

    def evaluate(frame, mask):
        members = arguments[0](frame, mask) if arguments else np.int64(ALL_LANES)
        _check_members(frame, _integer(call, members), mask, site, may_leave=True)
        frame.run.clock.warp_sync(mask)
        frame.run.record("syncwarp", mask, site)

    return evaluate


def _active_mask(call: CallExpression) -> Evaluate:
    """Compile ``cuda.activemask``, the bit mask of a warp's active lanes as a uint32 vector."""
    call.arguments(0)
    return lambda frame, mask: _spread(bits_of(by_warp(mask.lanes)))


def _lower_lanes(call: CallExpression) -> Evaluate:
    """Compile ``cuda.lanemask_lt``: a uint32 vector with a bit mask of the lower lanes per lane."""
    call.arguments(0)
    below = ((np.uint64(1) << np.arange(WARP, dtype=np.uint64)) - np.uint64(1)).astype(np.uint32)
    return lambda frame, mask: np.tile(below, frame.run.batch.size // WARP)


def _bits(compute: Callable) -> Handler:
    """Return the handler of a function of an integer's bits.

    ``compute(value, width)`` takes the bits as a uint64, and the number of bits of the argument.
    Its result is cast to the type that Numba gives it. A call raises Unsupported for a value that
    is no integer, or whose type Numba refuses.
    """

    def handler(call: CallExpression) -> Evaluate:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if not is_scalar(value) or value.dtype.kind not in "iu":
                raise call.refuse("a bit function of a value that is no integer")
            rule = numba_types.rule(call.function, (value.dtype,))
            if rule is None or (call.function is cuda.ffs and rule.operands[0].itemsize < 4):
                raise call.refuse(f"a bit function of {value.dtype} (Numba refuses it, too)")
            value = numba_types.cast(value, rule.operands[0])
            size = value.dtype.itemsize
            result = compute(value.astype(f"u{size}").astype(np.uint64), 8 * size)
            return np.asarray(result).astype(rule.result)[()]

        return evaluate

    return handler


def _bit_table(value, width: int) -> np.ndarray:
    """Return the lowest ``width`` bits of each value as 0 or 1, along a new last axis.

    The lowest bit comes first.
    """
    return (np.asarray(value)[..., None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)


def _highest(value, width: int) -> np.ndarray:
    """Return the position of the highest set bit plus one; 0 for the value 0.

    The lowest bit has position 0.
    """
    return (_bit_table(value, width) * np.arange(1, width + 1, dtype=np.uint64)).max(axis=-1)


def _lowest(value, width: int) -> np.ndarray:
    """Return the position of the lowest set bit plus one; 0 for the value 0.

    The lowest bit has position 0.
    """
    bits = _bit_table(value, width)
    return np.where(bits.any(axis=-1), bits.argmax(axis=-1) + 1, 0)


def _reversed_bits(value, width: int) -> np.ndarray:
    """Return the lowest ``width`` bits of each value in reverse order, as a uint64."""
    bits = _bit_table(value, width)[..., ::-1]
    return (bits << np.arange(width, dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)


HANDLERS: dict[str, Handler] = {
    "syncwarp": _syncwarp,
    "shfl_sync": _shuffle(lambda lane, argument: argument % WARP),
    "shfl_up_sync": _shuffle(lambda lane, argument: lane - argument),
    "shfl_down_sync": _shuffle(lambda lane, argument: lane + argument),
    "shfl_xor_sync": _shuffle(lambda lane, argument: lane ^ argument),
    "all_sync": _vote(lambda active, holds: (holds | ~active).all(axis=1), np.bool_),
    "any_sync": _vote(lambda active, holds: (holds & active).any(axis=1), np.bool_),
    "eq_sync": _vote(
        lambda active, holds: (holds | ~active).all(axis=1) | (~holds | ~active).all(axis=1),
        np.bool_,
    ),
    "ballot_sync": _vote(lambda active, holds: bits_of(holds & active), np.int32),
    "match_any_sync": _match_any,
    "match_all_sync": _match_all,
    "activemask": _active_mask,
    "lanemask_lt": _lower_lanes,
    "popc": _bits(lambda value, width: _bit_table(value, width).sum(axis=-1)),
    "clz": _bits(lambda value, width: width - _highest(value, width)),
    "ffs": _bits(_lowest),
    "brev": _bits(_reversed_bits),
}
