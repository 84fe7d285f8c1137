"""Bars of the time that each resource needs for a reduction, and of its recorded time."""

from __future__ import annotations

from collections.abc import Iterable

from utils.errors import CourseError
from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.shapes import ReduceShape
from utils.ladder.step import Step, Variant
from utils.lessons.block_sums import block_of, issued_by_block
from utils.lessons.counting import as_variant
from utils.machine import devices
from utils.machine.occupancy import limits_of
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

WORD = 4  # bytes of an element
RESOURCES = ("memory", "wavefronts", "instructions")


def longest_of(rows: Iterable) -> dict:
    """Return kernel -> row for the greatest length that is recorded on the first row's device.

    rows: of `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them.
    """
    rows = list(rows)
    own = [row for row in rows if row.device == rows[0].device]
    elements = max(row.elements for row in own)
    return {row.kernel: row for row in own if row.elements == elements}


def times_of(step: Step | Variant, rows: Iterable) -> ResourceTimes:
    """Return the times of one kernel, in ms.

    They are at the greatest length recorded on the first row's device. The instructions are None if
    they cannot be counted, and the recorded time is None for a kernel without a row. rows: of
    `remainder.csv`, as `reduce_kernels.remainder.recorded_times()` returns them. Raises CourseError
    for a step that is no reduction.
    """
    variant, timed = as_variant(step), longest_of(rows)
    any_row = next(iter(timed.values()))
    device, elements = devices.find(any_row.device), any_row.elements
    block = block_of(variant)
    # All SMs work at the same time, and each takes one block after the other.
    ms_per_cycle = elements / block.elements / device.sms / device.boost_clock_mhz / 1e3
    schedulers = limits_of(device.compute_capability).sub_partitions
    try:
        issued = issued_by_block(variant)
    except CourseError:
        instructions, at_most = None, False
    else:
        instructions, at_most = issued.number / schedulers * ms_per_cycle, issued.at_most
    row = timed.get(variant.step.name)
    return ResourceTimes(
        memory=WORD * elements / device.memory_gb_per_s / 1e6,
        wavefronts=block.wavefronts * ms_per_cycle,
        instructions=instructions,
        recorded=row.time_ms if row else None,
        at_most=at_most,
    )


def draw(rows: Iterable, **steps: Step | Variant) -> Picture:
    """Draw three estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of memory, of wavefronts and of instructions, at the greatest length
    that is recorded. The longest estimate of a kernel is orange, and the bar of its recorded time
    is faint beyond it. Neither is marked if the instructions cannot be counted, or if the longest
    estimate is only an upper bound. A kernel without a row has no recorded bar. All pictures of the
    same rows have the same scale. rows: of `remainder.csv`, as
    `reduce_kernels.remainder.recorded_times()` returns them. steps: one per kernel, from top to
    bottom; the keyword is the kernel's name, with _ for spaces.
    """
    rows = list(rows)
    timed = longest_of(rows).values()
    any_row = next(iter(timed))
    times = {name: times_of(step, rows) for name, step in steps.items()}
    where = translate(
        "{elements} elements, one {device}",
        elements=ReduceShape(any_row.elements),
        device=any_row.device,
    )
    longest = max(row.time_ms for row in timed)
    return draw_resources(where, times, RESOURCES, longest, mark_bound=True)
