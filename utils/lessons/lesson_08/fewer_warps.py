"""Pictures of the time of a product whose launches leave fewer and fewer warps on an SM."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from gemm_kernels import occupancy_alone
from utils.figures import page
from utils.figures.labels import label_ends
from utils.figures.look import CARD, COLOURS, INK, MARKERS, new_figure, style, with_alt
from utils.lessons.cards import Table, table
from utils.lessons.recorded import row_with
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import occupancy
from virtual_gpu.pictures.svg import Picture

H200, REGISTERS, THREADS = (9, 0), 32, 256
STATIC_BYTES = 2048  # of `tiled` with TILE = 16
WARPS = (2, 4, 8, 16, 32, 64)
MARKS_MS = (3, 10, 30, 100, 300)  # of the axis of times
STEPS = ("naive", "tiled", "ilp", "register_blocked", "vectorized")


@cache
def recorded(step: str) -> tuple:
    """Return the reference device's times of a step, from the most warps per SM to the fewest.

    They are rows of the experiment `gemm_kernels.occupancy_alone`, of all variants of the step that
    were timed. step: its name without constants. The result is () for a step without a record.
    """
    rows = occupancy_alone.recorded_times()
    return tuple(
        row for row in rows if row.device == REFERENCE and row.kernel.split()[0] == step
    )  # fmt: skip


def ms(step: str, warps: int) -> float:
    """Return the time of a step with this many resident warps per SM, in ms.

    It was recorded on the reference device. Raises CourseError if there is no record.
    """
    return row_with(recorded(step), warps=warps).time_ms


def sums(step: str) -> int:
    """Return the number of elements of c, so of sums, that a thread of a timed step computes."""
    constants = dict(pair.split("=") for pair in recorded(step)[0].kernel.split()[1:])
    return math.prod(int(constants.get(name, 1)) for name in ("GRAIN", "TM", "TN"))


def draw(*steps: str) -> Picture:
    """Draw the recorded time of steps against the resident warps per SM, on logarithmic axes.

    The times are ms of a 4096×4096 product on the reference device. A dashed line shows how the
    time would grow if each warp kept its pace: half as many warps take twice as long. steps: names
    of `STEPS`.
    """
    with style():
        figure = _curves(steps, ". Dashed: half the warps, twice the time")
        (axes,) = figure.axes
        for step in steps:
            rows = recorded(step)
            most, fewest = rows[0].warps, rows[-1].warps
            in_pace = [rows[0].time_ms * most / count for count in (most, fewest)]
            axes.plot([most, fewest], in_pace, "--", color=_colour(step), linewidth=1)
        label_ends(axes, {step: _end(step) for step in steps})
    return Picture(page.as_html(with_alt(figure, _alt(steps))), _alt(steps))


def draw_equal(warps: int) -> Picture:
    """Draw the recorded times of all `STEPS`, with their values at a number of warps per SM.

    The times are ms of a 4096×4096 product on the reference device. The label of a step has the
    number of sums that one of its threads computes. warps: a number of resident warps that every
    step has a record of.
    """
    with style():
        figure = _curves(STEPS, ". Beside each name: the sums that one thread computes")
        (axes,) = figure.axes
        axes.axvline(warps, color=INK, linewidth=1, zorder=1)
        for step in STEPS:
            time_ms = ms(step, warps)
            axes.plot(warps, time_ms, "o", markersize=9, markerfacecolor="none", color=INK)
            axes.annotate(f"{time_ms:.1f}", (warps, time_ms), (8, 5), textcoords="offset points",
                          fontweight="bold", zorder=5,
                          path_effects=[withStroke(linewidth=3, foreground=CARD)])  # fmt: skip
        label_ends(axes, {f"{step}: {sums(step)}": _end(step) for step in STEPS})
    alt = (
        f"Times of products against the resident warps per SM. With {warps} warps: "
        + "; ".join(
            f"{step} takes {ms(step, warps):.1f} ms, sums per thread: {sums(step)}"
            for step in STEPS
        )
        + f". {_alt(STEPS)}"
    )
    return Picture(page.as_html(with_alt(figure, alt)), alt)


def _curves(steps: Sequence[str], more: str) -> Figure:
    """Return a figure with a line per step: recorded times against resident warps, without labels.

    The times are ms of a 4096×4096 product on the reference device. more: the end of the line below
    the title.
    """
    where = f"4096×4096 on {REFERENCE}, recorded {recorded(steps[0])[0].date}{more}"
    figure = new_figure("Fewer warps on an SM, the same machine code", where, height=4.2)
    axes = figure.add_subplot()
    rows = [row for step in steps for row in recorded(step)]
    for step in steps:
        warps, times = zip(*((row.warps, row.time_ms) for row in recorded(step)), strict=True)
        axes.plot(warps, times, color=_colour(step), marker=MARKERS[STEPS.index(step)])
    fewest, fastest = min(row.warps for row in rows), min(row.time_ms for row in rows)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(0.9 * fewest, 70)
    axes.set_xticks(*zip(*((count, str(count)) for count in WARPS if count >= fewest), strict=True))
    axes.set_yticks(MARKS_MS, [f"{mark} ms" for mark in MARKS_MS])
    axes.set_ylim(max(mark for mark in MARKS_MS if mark < fastest), MARKS_MS[-1])
    axes.minorticks_off()
    axes.set_xlabel("resident warps per SM")
    axes.grid()
    return figure


def _colour(step: str) -> str:
    """Return the colour of a step, the same in all figures of the lesson."""
    return COLOURS[STEPS.index(step)]


def _end(step: str) -> tuple[int, float, str]:
    """Return (warps, ms, colour) of the right end of a step's line."""
    most = recorded(step)[0]
    return most.warps, most.time_ms, _colour(step)


def _alt(steps: Sequence[str]) -> str:
    """Return the alt text: the times of each step with the most and with the fewest warps."""
    each = "; ".join(
        f"{step} takes {rows[0].time_ms:.1f} ms with {rows[0].warps} warps and "
        f"{rows[-1].time_ms:.1f} ms with {rows[-1].warps}"
        for step, rows in ((step, recorded(step)) for step in steps)
    )
    return f"Times of products against the resident warps per SM: {each}."


def blocks_with(shared_for: Callable[[int, int], int]) -> Table:
    """Return a table of launches of `tiled` with the shared memory that a function computes.

    It has a row per number of blocks that an SM shall hold, 8, 6, 4, 2 and 1. The columns are this
    number, the bytes that the function returns, and the blocks and warps that an SM then holds.
    shared_for: the reader's solution of the exercise of this name: (blocks, static bytes) ->
    dynamic bytes per block.
    """
    rows = []
    for blocks in (8, 6, 4, 2, 1):
        asked = int(shared_for(blocks, STATIC_BYTES))
        held = occupancy(H200, THREADS, REGISTERS, STATIC_BYTES + asked)
        rows.append((blocks, f"{asked:,}", held.blocks, f"{held.warps} of 64"))
    head = ("you want", "your bytes", "an SM holds", "resident warps")
    caption = f"Launches of tiled with TILE = 16, blocks of {THREADS} threads, on one {REFERENCE}"
    return table(caption, head, rows)
