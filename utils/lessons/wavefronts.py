"""Shared-memory wavefronts per multiply-add, on the virtual GPU and by the profiler, as times."""

from __future__ import annotations

import pandas as pd

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, multiply_adds, one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.machine.devices import REFERENCE, slug
from utils.machine.occupancy import WARP
from utils.paths import DATA
from virtual_gpu import Trace

# The shape of the product that the profiler counted.
PROFILED = "96x64x80"
WAVEFRONTS = ["shared_load_wavefronts", "shared_store_wavefronts"]


def wavefronts_per_multiply_add(trace: Trace) -> float:
    """Return the wavefronts of shared memory per multiply-add of a warp.

    trace: the counts of a product on the virtual GPU. Raises CourseError if the launch makes no
    multiply-adds.
    """
    return WARP * trace.totals[WAVEFRONTS].sum() / multiply_adds(trace)


def profiled_wavefronts(step: Step | Variant) -> float:
    """Return the shared-memory wavefronts per multiply-add of a warp that a profiler counted.

    The profiler counts the machine code, in which the compiler has joined loads into wide ones. It
    ran on an H200. Raises CourseError if it did not count this step.
    """
    variant = as_variant(step)
    launch = "_".join(map(str, (variant.step.name, *variant.constants.values())))
    counters = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "counters.csv")
    if not is_of_a_ladder(variant.step):
        raise CourseError(
            f"The profiler counted only the course's own kernels, and not {variant}: "
            "course.wavefronts_per_multiply_add counts it on the virtual GPU."
        )
    matches = counters[(counters["launch"] == launch) & counters["counter"].isin(WAVEFRONTS)]
    if len(matches) < len(WAVEFRONTS):
        raise CourseError(f"The profiler did not count {variant}: choose the default constants.")
    return WARP * matches["value"].sum() / multiply_adds(watch(variant, PROFILED))


def shared_memory_ms(wavefronts: float, shape: str = "4096") -> float:
    """Return the time of a product in ms if each SM serves one wavefront per cycle and never waits.

    wavefronts: the number per multiply-add of a warp. shape: as on the command line.
    """
    return one_per_cycle_ms(wavefronts, shape)


def wavefronts(*steps: Step | Variant, shape: str = "4096") -> Table:
    """Return a table of wavefronts per multiply-add of a warp and of times, one row per step.

    The columns are the wavefronts counted on the virtual GPU and by the profiler, the time that
    shared memory alone would take for the latter, and the recorded time. The reader's own kernel
    has only the first number, and "–" in the other cells. shape: as on the command line. Raises
    CourseError for a step of the course that the profiler did not count.
    """
    variants = [as_variant(step) for step in steps]
    rows = [(each.step.name.replace("_", " "), *_cells(each, shape)) for each in variants]
    head = ("", "source", "profiler", "estimate", "recorded")
    caption = "Wavefronts for a multiply-add of a warp, and times"
    note = (
        f"The profiler counted on one {REFERENCE}. Estimate: one of its wavefronts per cycle and "
        f"SM, at {ladder_of(variants[0].step).parse(shape)} on one {device_shown().name}."
    )
    return table(caption, head, rows, note)


def _cells(variant: Variant, shape: str) -> tuple[str, ...]:
    """Return four texts on a step: wavefronts counted, and profiled, estimated and recorded time.

    Cells that are not known are "–": all but the first for a reader's kernel, and the recorded time
    without a record. Raises CourseError for a step of the course that the profiler did not count.
    """
    counted = None
    if is_of_a_ladder(variant.step):
        counted = profiled_wavefronts(variant)
    estimate = shared_memory_ms(counted, shape) if counted else None
    return (
        number(wavefronts_per_multiply_add(watch(variant))),
        number(counted) if counted else NOTHING,
        *(f"{ms:.3g}\N{NO-BREAK SPACE}ms" if ms else NOTHING
          for ms in (estimate, ms_if_any(variant, shape))),
    )  # fmt: skip
