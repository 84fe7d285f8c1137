"""Bars of the recorded times of CPU steps at 1024, on one core of the Xeon."""

from __future__ import annotations

from gemm_kernels.cpu import LADDER
from utils.figures.kernel_bars import Bar, draw_groups
from utils.lessons.recorded import XEON, Record, record_of
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

SHAPE = "1024"
# The steps from top to bottom, and what computes their innermost loop.
STEPS = {
    "loop_reordered": "before",
    "blocked": "before",
    "packed": "before",
    "micro_kernel_6x16": "course",
    "micro_kernel_4x24": "course",
    "micro_kernel_avx2": "course",
}


def record(step: str) -> Record:
    """Return the record of a CPU step at 1024×1024×1024 on the Xeon; step: its name."""
    return record_of(LADDER.step(step), SHAPE, XEON)


def ms(step: str) -> float:
    """Return the time of a CPU step, in ms, in the record that `record` returns.

    step: its name.
    """
    return record(step).time_ms


def draw() -> Picture:
    """Draw one bar per CPU step, as long as its recorded time, with its speedup over the bar above.

    The steps are those of `STEPS`, from top to bottom. A time is the median in ms of a
    1024×1024×1024 product on one core of the Xeon.
    """
    groups, before = {}, None
    for name, role in STEPS.items():
        gain = f", {before / ms(name):.2f}×" if before else ""
        groups[name] = [Bar(role, ms(name), f"{ms(name):.1f} ms{gain}")]
        before = ms(name)
    names = {
        "before": translate("the innermost loop is the compiler's"),
        "course": translate("a micro-kernel with vectors of 8"),
    }
    where = translate("1024×1024×1024, one core of one {processor}", processor=XEON)
    title = translate("Recorded times, and the speedup over the bar above")
    return draw_groups(title, where, names, groups)
