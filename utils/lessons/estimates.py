"""Tables and pictures that compare times estimated from counts with recorded times of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from utils.errors import CourseError
from utils.figures import times as figures
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import cache_lines_per_multiply_add, estimated_ms, name_of, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any, recorded_ms
from virtual_gpu.pictures.svg import Picture


def estimates(*steps: Step | Variant, shapes: Sequence[str] = ("4096",)) -> Table:
    """Return a table that compares estimated with recorded times, one row per step and shape.

    The columns are the cache lines that a warp loads per multiply-add, the time in ms if an SM gets
    one cache line per cycle, and the recorded time in ms, "–" if there is no record. shapes: as on
    the command line.
    """
    rows = []
    for step in steps:
        trace = watch(step)
        lines = f"{cache_lines_per_multiply_add(trace):.4g}"
        for shape in shapes:
            times = estimated_ms(trace, shape), ms_if_any(step, shape)
            cells = (f"{ms:.3g} ms" if ms else NOTHING for ms in times)
            rows.append((f"`{name_of(step)}`, {shape}", lines, *cells))
    caption = f"One cache line per cycle and SM, on one {device_shown().name}"
    return table(caption, ("", "cache lines", "estimate", "recorded"), rows)


def draw_estimates(steps: Mapping[str, Step | Variant], shape: str = "4096") -> Picture:
    """Draw the estimated and the recorded time in ms of each step, one row per step.

    steps: the steps by the name shown. shape: n of an n×n product. A step without a recorded time
    has only its estimate.
    """
    times = {
        name: (estimated_ms(watch(step), shape), ms_if_any(step, shape))
        for name, step in steps.items()
    }
    return figures.draw_estimates(times, f"Time at n = {shape}, one {device_shown().name}")


def draw_growth(
    title: str,
    at: Sequence[int],
    series: Mapping[str, Iterable[float | Step | Variant]],
    shape: str,
) -> Picture:
    """Draw one line per series: its times divided by its first time, against the numbers `at`.

    title: words that say what the numbers `at` are. series: name shown -> one entry per number of
    `at`: a time in ms, or a step whose recorded time is used. shape: the shape of the recorded
    times, as on the command line. A series with a step that is not recorded at this shape is left
    out, and a note below the picture names it.
    """
    times, missing = {}, []
    for name, members in series.items():
        try:
            times[name] = [
                each if isinstance(each, int | float) else recorded_ms(each, shape)
                for each in members
            ]
        except CourseError:
            missing.append(name)
    device = device_shown().name
    note = f"Not recorded on one {device} at {shape} yet: {'; '.join(missing)}." if missing else ""
    return figures.draw_growth(title, at, times, note)


def draw_gains(old: Step | Variant, new: Step | Variant, shapes: Sequence[str]) -> Picture:
    """Draw the recorded speedup of the new step over the old one at each shape.

    shapes: sizes n of n×n products. Raises CourseError if a time is not recorded.
    """
    gains = {shape: recorded_ms(old, shape) / recorded_ms(new, shape) for shape in shapes}
    title = f"Times faster than {name_of(old)}, one {device_shown().name}"
    return figures.draw_gains(title, gains)
