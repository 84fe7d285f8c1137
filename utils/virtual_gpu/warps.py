"""Functions of a warp: syncwarp, shuffles, votes, match, and the bit functions of one lane.

A function named ``..._sync`` takes a mask of lanes. Every lane that calls it must be in its own
mask, and every live lane of the mask must call it; a lane that reads from one that does not take
part is reported, for the hardware gives it an undefined value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .call import Call, Handler
from .errors import Finding, Site
from .frame import Evaluate, Frame
from .lanes import WARP, Mask
from .run import Run

ALL_LANES = 0xFFFFFFFF
SHUFFLED = (np.dtype("i4"), np.dtype("i8"), np.dtype("f4"), np.dtype("f8"))
LANE_BITS = np.uint64(1) << np.arange(WARP, dtype=np.uint64)


def rows(value, run: Run) -> np.ndarray:
    """A number or a vector of lanes with one row per warp."""
    vector = value if isinstance(value, np.ndarray) else np.full(run.batch.size, value)
    return vector.reshape(-1, WARP)


def bits_of(lanes: np.ndarray) -> np.ndarray:
    """Which lanes of each row are set, as 32-bit numbers; one per row."""
    return (lanes * LANE_BITS).sum(axis=1).astype(np.uint32)


def _spread(per_warp: np.ndarray) -> np.ndarray:
    return np.repeat(per_warp, WARP)


def _check_members(frame: Frame, members, mask: Mask, site: Site, may_leave: bool = False) -> None:
    """Every lane must be in its own mask, and every live lane of the mask must be here.

    ``may_leave``: an absent lane is no flaw if it leaves the kernel without another meeting.
    """
    run = frame.run
    run.meet(mask)
    named = rows(members, run).astype(np.int64) & ALL_LANES
    active = mask.lanes.reshape(-1, WARP)
    forgets_itself = active & ((named >> np.arange(WARP)) & 1 == 0)
    absent = bits_of(run.live.lanes.reshape(-1, WARP) & ~active).astype(np.int64)
    guilty = forgets_itself | (active & ((named & absent[:, None]) != 0))
    if not guilty.any() or run.report.knows("barrier", site, ""):
        return
    lane = int(np.flatnonzero(guilty.ravel())[0])
    thread, present = run.batch.thread(lane), int(bits_of(active)[lane // WARP])
    finding = Finding(
        "barrier", site, "", (), (thread,), int(guilty.sum()),
        f"{thread} names the lanes {int(named.ravel()[lane]):#010x}; its warp's lanes "
        f"{present:#010x} take part, and both must be the same.",
    )  # fmt: skip
    if may_leave and not forgets_itself.any():
        run.expect(finding, run.live.lanes & ~mask.lanes)
    else:
        run.report.add(finding)


def check_whole(run: Run, mask: Mask, site: Site) -> None:
    """Of a warp that comes here, all 32 lanes must: no lane may have left, and none be padding."""
    run.meet(mask)
    active = mask.lanes.reshape(-1, WARP)
    split = active.any(axis=1) & ~active.all(axis=1)
    if not split.any() or run.report.knows("barrier", site, ""):
        return
    here = mask.narrow(np.repeat(split, WARP)).index
    thread = run.batch.thread(int(here[0]))
    run.report.add(Finding(
        "barrier", site, "", (), (thread,), len(here),
        f"{thread} comes here with {int(active[here[0] // WARP].sum())} of the {WARP} lanes of its "
        "warp: all must take part.",
    ))  # fmt: skip


def _shuffle(source: Callable) -> Handler:
    """``source(lane numbers, argument)`` is the lane that each lane reads from."""

    def handler(call: Call) -> Evaluate:
        members, value, argument = call.arguments(3)
        site = call.site

        def evaluate(frame, mask):
            data = value(frame, mask)
            if data.dtype not in SHUFFLED:
                raise call.refuse(f"a shuffle of {data.dtype} (int32, int64, float32, float64 are)")
            _check_members(frame, members(frame, mask), mask, site)
            values = rows(data, frame.run)
            own = np.arange(WARP)
            wanted = source(own, rows(argument(frame, mask), frame.run).astype(np.int64))
            wanted = np.where((wanted < 0) | (wanted >= WARP), own, wanted)
            _check_sources(frame, wanted, mask, site)
            return np.take_along_axis(values, wanted, axis=1).ravel()

        return evaluate

    return handler


def _check_sources(frame: Frame, wanted: np.ndarray, mask: Mask, site: Site) -> None:
    active = mask.lanes.reshape(-1, WARP)
    guilty = active & ~np.take_along_axis(active, wanted, axis=1)
    if not guilty.any():
        return
    lane = int(np.flatnonzero(guilty.ravel())[0])
    thread = frame.run.batch.thread(lane)
    frame.run.report.add(Finding(
        "barrier", site, "", (), (thread,), int(guilty.sum()),
        f"{thread} reads from lane {int(wanted.ravel()[lane])} of its warp, which does not take "
        "part: the value is undefined.",
    ))  # fmt: skip


def _vote(combine: Callable, dtype: type) -> Handler:
    """``combine(active, predicate)`` gives one value per warp."""

    def handler(call: Call) -> Evaluate:
        members, predicate = call.arguments(2)
        site = call.site

        def evaluate(frame, mask):
            _check_members(frame, members(frame, mask), mask, site)
            holds = rows(predicate(frame, mask) != 0, frame.run)
            return _spread(combine(mask.lanes.reshape(-1, WARP), holds).astype(dtype))

        return evaluate

    return handler


def _same_value(rows: np.ndarray, active: np.ndarray) -> np.ndarray:
    """For each lane, which active lanes of its warp hold the same value."""
    return (rows[:, :, None] == rows[:, None, :]) & active[:, None, :] & active[:, :, None]


def _match_any(call: Call) -> Evaluate:
    members, value = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        _check_members(frame, members(frame, mask), mask, site)
        same = _same_value(rows(value(frame, mask), frame.run), mask.lanes.reshape(-1, WARP))
        return bits_of(same.reshape(-1, WARP)).astype(np.int32)

    return evaluate


def _match_all(call: Call) -> Evaluate:
    members, value = call.arguments(2)
    site = call.site

    def evaluate(frame, mask):
        _check_members(frame, members(frame, mask), mask, site)
        active = mask.lanes.reshape(-1, WARP)
        same = _same_value(rows(value(frame, mask), frame.run), active)
        everyone = (same | ~active[:, None, :] | ~active[:, :, None]).all(axis=(1, 2))
        lanes = np.where(everyone, bits_of(active), 0).astype(np.int32)
        return _spread(lanes), _spread(everyone)

    return evaluate


def _syncwarp(call: Call) -> Evaluate:
    arguments = call.arguments(0, 1)
    site = call.site

    def evaluate(frame, mask):
        members = arguments[0](frame, mask) if arguments else np.int64(ALL_LANES)
        _check_members(frame, members, mask, site, may_leave=True)
        frame.run.clock.warp_sync(mask)

    return evaluate


def _active_mask(call: Call) -> Evaluate:
    call.arguments(0)
    return lambda frame, mask: _spread(bits_of(mask.lanes.reshape(-1, WARP)))


def _lower_lanes(call: Call) -> Evaluate:
    call.arguments(0)
    below = ((np.uint64(1) << np.arange(WARP, dtype=np.uint64)) - np.uint64(1)).astype(np.uint32)
    return lambda frame, mask: np.tile(below, frame.run.batch.size // WARP)


def _bits(compute: Callable) -> Handler:
    """A function of one lane's bits; ``compute(unsigned value, width in bits)``."""

    def handler(call: Call) -> Evaluate:
        (argument,) = call.arguments(1)

        def evaluate(frame, mask):
            value = argument(frame, mask)
            if value.dtype.kind not in "iu":
                raise call.refuse(f"a bit function of {value.dtype}")
            width = 8 * value.dtype.itemsize
            unsigned = value.astype(f"u{value.dtype.itemsize}").astype(np.uint64)
            return compute(unsigned, width).astype(value.dtype)

        return evaluate

    return handler


def _bit_table(value, width: int) -> np.ndarray:
    """The bits of each value along a last axis, lowest first."""
    return (np.asarray(value)[..., None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)


def _highest(value, width: int) -> np.ndarray:
    """Number of the highest set bit plus one; 0 for 0."""
    return (_bit_table(value, width) * np.arange(1, width + 1, dtype=np.uint64)).max(axis=-1)


def _lowest(value, width: int) -> np.ndarray:
    """Number of the lowest set bit plus one; 0 for 0."""
    bits = _bit_table(value, width)
    return np.where(bits.any(axis=-1), bits.argmax(axis=-1) + 1, 0)


def _reversed_bits(value, width: int) -> np.ndarray:
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
