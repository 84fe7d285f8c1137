"""Two estimates of each kernel of an experiment as bars on its recorded time, for n×n products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from utils.errors import CourseError
from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card
from utils.lessons.counting import as_variant
from utils.lessons.granularity import machine_wavefronts
from utils.lessons.inner_loops import hot_loop
from utils.machine import devices
from utils.machine.occupancy import WARP, limits_of
from virtual_gpu.pictures.svg import Picture

N = 4096  # rows and columns of the matrices
RESOURCES = ("wavefronts", "instructions")


def recorded_times(rows: Iterable) -> dict[str, float]:
    """Return kernel -> recorded ms at N×N on the device of the first row.

    rows: of an experiment's record, as `recorded_times()` of its module returns them. The names
    have the constants, such as "ilp GRAIN=4".
    """
    rows = list(rows)
    own = [row for row in rows if row.device == rows[0].device and row.n == N]
    return {row.kernel: row.time_ms for row in own}


def times_of(step: Step | Variant, rows: Iterable) -> ResourceTimes:
    """Return the ms of one kernel of the experiment at N×N: two estimates and the recorded time.

    rows: of the experiment's record. Raises CourseError for a kernel without a record, and if
    neither the compiler nor the record of loops has its innermost loop.
    """
    variant, rows = as_variant(step), list(rows)
    timed = recorded_times(rows)
    if str(variant) not in timed:
        raise CourseError(
            f"{variant} has no row in this record: choose one of {', '.join(timed)}."
        )
    return replace(estimates_of(variant, rows[0].device), recorded=timed[str(variant)])


def estimates_of(variant: Variant, name: str) -> ResourceTimes:
    """Return two estimated times of a kernel at N×N on the device of this name, in ms.

    They are those of wavefronts and of instructions; the recorded time is None. Raises CourseError
    if neither the compiler nor the record of loops has the kernel.
    """
    return bounds(machine_wavefronts(variant), hot_loop(variant).per_multiply_add_with_tiles, name)


def bounds(wavefronts: float, instructions: float, name: str) -> ResourceTimes:
    """Return the least ms of a product at N×N that two counts allow on the device of this name.

    The recorded time is None. wavefronts, instructions: per multiply-add of a warp. An SM serves
    one wavefront per cycle, and each of its schedulers issues one instruction per cycle.
    """
    device = devices.find(name)
    ms_per_cycle = N**3 / WARP / device.sms / device.boost_clock_mhz / 1e3
    schedulers = limits_of(device.compute_capability).sub_partitions
    return ResourceTimes(
        wavefronts=wavefronts * ms_per_cycle,
        instructions=instructions / schedulers * ms_per_cycle,
        recorded=None,
    )


def draw(rows: Iterable, longest: str, **steps: Step | Variant) -> Picture | Card:
    """Draw two estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of wavefronts and of instructions, for an N×N product. rows: of the
    experiment's record. longest: the kernel at whose recorded time the scale ends. steps: one per
    kernel, from top to bottom; the keyword is its name in the picture, with _ for spaces. The
    longer estimate is orange. If the innermost loop of a step is not known, or the step has no row
    in the record, return a Card that says so.
    """
    rows = list(rows)
    try:
        times = {name.replace("_", " "): times_of(step, rows) for name, step in steps.items()}
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this picture.",))
    return draw_on_scale(times, rows, longest)


def draw_on_scale(times: Mapping[str, ResourceTimes], rows: Iterable, longest: str) -> Picture:
    """Draw times, by the name of the kernel in the picture, on a scale for several pictures.

    Each kernel has bars for its estimates of wavefronts and of instructions, and for its recorded
    time. rows: of the experiment's record. longest: the kernel at whose recorded time the scale
    ends.
    """
    rows = list(rows)
    where = f"{N}×{N}×{N}, one {rows[0].device}"
    return draw_resources(where, times, RESOURCES, recorded_times(rows)[longest], mark_bound=True)
