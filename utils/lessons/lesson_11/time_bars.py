"""Two estimates of each kernel of the experiment `ilp_alone` as bars on its recorded time."""

from __future__ import annotations

from collections.abc import Iterable

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

    rows: of `ilp_alone.csv`, as `gemm_kernels.ilp_alone.recorded_times()` returns them. The names
    have the constants, such as "ilp GRAIN=4".
    """
    rows = list(rows)
    own = [row for row in rows if row.device == rows[0].device and row.n == N]
    return {row.kernel: row.time_ms for row in own}


def times_of(step: Step | Variant, rows: Iterable) -> ResourceTimes:
    """Return the times of one kernel of the experiment at N×N: three estimates and the record.

    rows: of `ilp_alone.csv`, as `gemm_kernels.ilp_alone.recorded_times()` returns them. Raises
    CourseError for a kernel without a record, and if neither the compiler nor the record of loops
    has its innermost loop.
    """
    variant, rows = as_variant(step), list(rows)
    timed, device = recorded_times(rows), devices.find(rows[0].device)
    if str(variant) not in timed:
        raise CourseError(
            f"{variant} has no row in ilp_alone.csv: choose one of {', '.join(timed)}."
        )
    ms_per_cycle = N**3 / WARP / device.sms / device.boost_clock_mhz / 1e3
    schedulers = limits_of(device.compute_capability).sub_partitions
    return ResourceTimes(
        wavefronts=machine_wavefronts(variant) * ms_per_cycle,
        instructions=hot_loop(variant).per_multiply_add / schedulers * ms_per_cycle,
        recorded=timed[str(variant)],
    )


def draw(rows: Iterable, **steps: Step | Variant) -> Picture | Card:
    """Draw the estimates of each kernel as bars above the bar of its recorded time.

    rows: of `ilp_alone.csv`. steps: one per kernel, from top to bottom; the keyword is its name in
    the picture, with _ for spaces. If the innermost loop of a step is not known, return a Card that
    says so.
    """
    rows = list(rows)
    try:
        times = {name.replace("_", " "): times_of(step, rows) for name, step in steps.items()}
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this picture.",))
    return draw_resources(f"{N}×{N}×{N}, one {rows[0].device}", times, RESOURCES)
