"""Bars of the time that each resource needs for a sum, and of its recorded time."""

from __future__ import annotations

from collections.abc import Sequence

from reduce_kernels import LADDER
from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.block_sums import block_of, blocks
from utils.lessons.cards import Table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms
from utils.machine.occupancy import limits_of
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

WORD = 4  # bytes of an element
# Instructions that the warps of a block of 256 threads issue, compiled for sm_90 by CUDA 13.0.
INSTRUCTIONS = {"reduce3": 1119, "reduce4": 621, "reduce5": 397}


def times_of(step: Step | Variant, shape: str) -> ResourceTimes:
    """Return the times of a sum in ms, on the device shown.

    step: with blocks of 256 threads. shape: the number of elements as on the command line. The
    instructions are None for a step that is not in INSTRUCTIONS. Raises CourseError for a step
    without a recorded time.
    """
    variant, device = as_variant(step), device_shown()
    elements, block = ladder_of(variant.step).parse(shape).elements, block_of(variant)
    # All SMs work at the same time, and each takes one block after the other.
    ms_per_cycle = elements / block.elements / device.sms / device.boost_clock_mhz / 1e3
    issued = INSTRUCTIONS.get(variant.step.name)
    schedulers = limits_of(device.compute_capability).sub_partitions
    return ResourceTimes(
        memory=WORD * elements / device.memory_gb_per_s / 1e6,
        wavefronts=block.wavefronts * ms_per_cycle,
        instructions=issued and issued / schedulers * ms_per_cycle,
        recorded=recorded_ms(variant, shape),
    )


def draw(
    *steps: Step | Variant,
    shape: str = "2^30",
    resources: Sequence[str] = ("memory", "instructions"),
) -> Picture:
    """Draw estimates of each sum as bars above the bar of its recorded time.

    All times are ms on the device shown. The longest estimate of a sum is orange, and the bar of
    its recorded time is faint beyond it; neither is marked if an estimate of `resources` is None.
    All pictures of the same shape have the same scale. steps: with blocks of 256 threads, from top
    to bottom. resources: the fields of ResourceTimes to draw.
    """
    size = ladder_of(as_variant(steps[0]).step).parse(shape)
    times = {}
    for step in map(as_variant, steps):
        each = step.constants.get("PER_THREAD", 2)
        name = translate("{step}, {each} elements per thread", step=step.step.name, each=each)
        times[name] = times_of(step, shape)
    where = translate(
        "{elements} elements, blocks of {threads} threads, one {device}",
        elements=size,
        threads=256,
        device=device_shown().name,
    )
    longest = times_of(_step("reduce3"), shape).recorded
    return draw_resources(where, times, resources, longest, mark_bound=True)


def beside_reduce4(yours: Variant) -> Table:
    """Return a table of a block's shared-memory counts, with the rows reduce3, yours and reduce4.

    yours: the reader's kernel of the exercise `last_warp`. The blocks of the others have 256
    threads.
    """
    return blocks(reduce3=_step("reduce3"), yours=yours, reduce4=_step("reduce4"))


def _step(name: str) -> Variant:
    return LADDER.step(name).variant(BLOCK=256)
