"""Passes through the banks of shared memory: of the source code, of the hardware, their time."""

from __future__ import annotations

import pandas as pd

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, multiply_adds, one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms
from utils.machine.devices import REFERENCE, slug
from utils.machine.occupancy import WARP
from utils.paths import DATA
from virtual_gpu import Trace

# The product whose launches the profiler counted.
PROFILED = "96x64x80"
WAVEFRONTS = ["shared_load_wavefronts", "shared_store_wavefronts"]


def wavefronts_per_multiply_add(trace: Trace) -> float:
    """Loads and stores, for one multiply-add of a whole warp, as the source code asks for them."""
    return WARP * trace.totals[WAVEFRONTS].sum() / multiply_adds(trace)


def profiled_wavefronts(step: Step | Variant) -> float:
    """The same as the profiler of an H200 counted it: of the machine code, whose loads are wide.

    CourseError where the profiler did not count this step.
    """
    variant = as_variant(step)
    launch = "_".join(map(str, (variant.step.name, *variant.constants.values())))
    counters = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "counters.csv")
    found = counters[(counters["launch"] == launch) & counters["counter"].isin(WAVEFRONTS)]
    if len(found) < len(WAVEFRONTS):
        raise CourseError(f"The profiler did not count {variant}: choose the default constants.")
    return WARP * found["value"].sum() / multiply_adds(watch(variant, PROFILED))


def shared_memory_ms(wavefronts: float, shape: str = "4096") -> float:
    """The time of a product if each SM serves one wavefront per cycle, and nothing else takes time.

    wavefronts: for each multiply-add of a warp. shape: as on the command line.
    """
    return one_per_cycle_ms(wavefronts, shape)


def wavefronts(*steps: Step | Variant, shape: str = "4096") -> Table:
    """Wavefronts for each multiply-add, the time that they ask for, and the recorded time."""
    variants = [as_variant(step) for step in steps]
    rows = [(one.step.name.replace("_", " "), *_cells(one, shape)) for one in variants]
    head = ("", "source", "profiler", "estimate", "recorded")
    caption = "Wavefronts for a multiply-add of a warp, and times"
    note = (
        f"The profiler counted on one {REFERENCE}. Estimate: one of its wavefronts per cycle and "
        f"SM, at {ladder_of(variants[0].step).parse(shape)} on one {device_shown().name}."
    )
    return table(caption, head, rows, note)


def _cells(variant: Variant, shape: str) -> tuple[str, ...]:
    counted = profiled_wavefronts(variant)
    return (
        number(wavefronts_per_multiply_add(watch(variant))),
        number(counted),
        f"{shared_memory_ms(counted, shape):.3g}\N{NO-BREAK SPACE}ms",
        f"{recorded_ms(variant, shape):.3g}\N{NO-BREAK SPACE}ms",
    )
