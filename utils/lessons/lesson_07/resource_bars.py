"""Bars of the time that each resource needs for a product at 4096, and of its recorded time."""

from __future__ import annotations

from utils.figures.resource_bars import ResourceTimes, draw_resources
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.counting import as_variant
from utils.lessons.recorded import recorded_ms
from utils.machine.devices import REFERENCE, find
from utils.measuring import roofline
from virtual_gpu.pictures.svg import Picture

SHAPE = "4096"
RESOURCES = ("memory", "wavefronts", "instructions")


def times_of(step: Step | Variant) -> ResourceTimes:
    """Return three estimates and the recorded time of one product of 4096×4096 matrices, in ms.

    The device is the reference device, and each estimate is the time at a rate recorded on it:
    `memory` at that of the L2 cache, `wavefronts` at that of the L1 cache and shared memory
    together, and `instructions` at that of the schedulers. The machine code is the recorded one, so
    no compiler is needed. Raises CourseError for a kernel without records.
    """
    variant = as_variant(step)
    hot_loop = recorded_loop(str(variant)).hot_loop
    counts = roofline.counted(variant, ladder_of(variant.step).parse(SHAPE), hot_loop)
    times = roofline.times(counts, roofline.gpu_ceilings(find(REFERENCE)))
    return ResourceTimes(
        memory=times["L2"],
        wavefronts=times["shared memory and L1"],
        instructions=times["issue slots"],
        recorded=recorded_ms(variant, SHAPE, on=REFERENCE),
    )


def draw(*steps: Step | Variant) -> Picture:
    """Draw three estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of the L2 cache, of wavefronts and of instructions, for a product of
    4096×4096 matrices on the reference device. The longest estimate of a kernel is orange, and the
    recorded bar is faint beyond it. steps: from top to bottom. A kernel has the name of its step,
    so of several variants of one step only the last one is drawn.
    """
    times = {as_variant(step).step.name.replace("_", " "): times_of(step) for step in steps}
    where = f"{SHAPE}×{SHAPE} matrices, one {REFERENCE}"
    return draw_resources(where, times, RESOURCES, mark_bound=True)
