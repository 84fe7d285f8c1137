"""Pictures of the time of a product whose launches leave fewer and fewer warps on an SM."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from gemm_kernels import occupancy_alone
from utils.figures import page
from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, MARKERS, new_figure, style, with_alt
from utils.lessons.cards import Table, table
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import occupancy
from virtual_gpu.pictures.svg import Picture

H200, REGISTERS, THREADS = (9, 0), 32, 256
STATIC_BYTES = 2048  # of `tiled` with TILE = 16
WARPS = (2, 4, 8, 16, 32, 64)
STEPS = ("naive", "tiled", "ilp", "register_blocked", "vectorized")


@cache
def recorded(step: str) -> tuple:
    """Return the reference device's times of a step, from the most warps per SM to the fewest.

    They are rows of the experiment `gemm_kernels.occupancy_alone`.
    """
    rows = occupancy_alone.recorded_times()
    return tuple(
        row for row in rows if row.device == REFERENCE and row.kernel.split()[0] == step
    )  # fmt: skip


def ms(step: str, warps: int) -> float:
    """Return the recorded time of a step with this many resident warps per SM, in ms."""
    return next(row.time_ms for row in recorded(step) if row.warps == warps)


def draw(*steps: str) -> Picture:
    """Draw the recorded time of steps against the resident warps per SM, on logarithmic axes.

    A dashed line shows how the time would grow if each warp kept its pace: half as many warps take
    twice as long. steps: names of `STEPS`.
    """
    day = recorded(steps[0])[0].date
    with style():
        figure = new_figure(
            "Fewer warps on an SM, all else the same",
            f"4096×4096 on {REFERENCE}, recorded {day}. Dashed: half the warps, twice the time",
            height=4.2,
        )
        axes, ends = figure.add_subplot(), {}
        for at, step in enumerate(STEPS):
            if step not in steps:
                continue
            rows = recorded(step)
            warps, times = [row.warps for row in rows], [row.time_ms for row in rows]
            line = {"color": COLOURS[at], "marker": MARKERS[at]}
            axes.plot(warps, times, **line)
            in_pace = [times[0] * warps[0] / count for count in (warps[0], warps[-1])]
            axes.plot([warps[0], warps[-1]], in_pace, "--", color=COLOURS[at], linewidth=1)
            ends[step] = (warps[0], times[0], COLOURS[at])
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlim(1.8, 70)
        axes.set_ylim(3, 300)
        axes.set_xticks(WARPS, map(str, WARPS))
        axes.set_yticks((3, 10, 30, 100, 300), ("3 ms", "10 ms", "30 ms", "100 ms", "300 ms"))
        axes.minorticks_off()
        axes.set_xlabel("resident warps per SM")
        axes.grid()
        label_ends(axes, ends)
    return Picture(page.as_html(with_alt(figure, _alt(steps))), _alt(steps))


def _alt(steps: tuple[str, ...]) -> str:
    """Return the alt text: the times of each step with the most and with the fewest warps."""
    each = "; ".join(
        f"{step} takes {rows[0].time_ms:.1f} ms with {rows[0].warps} warps and "
        f"{rows[-1].time_ms:.1f} ms with {rows[-1].warps}"
        for step, rows in ((step, recorded(step)) for step in steps)
    )
    return f"Times of products against the resident warps per SM: {each}."


def blocks_with(shared_for: Callable[[int, int], int]) -> Table:
    """Return a table of the launches of `tiled` that the bytes of a function give.

    shared_for: the reader's solution of the exercise of this name: (blocks, static bytes)
    -> dynamic bytes per block.
    """
    rows = []
    for blocks in (8, 6, 4, 2, 1):
        asked = int(shared_for(blocks, STATIC_BYTES))
        held = occupancy(H200, THREADS, REGISTERS, STATIC_BYTES + asked)
        rows.append((blocks, f"{asked:,}", held.blocks, f"{held.warps} of 64"))
    head = ("you want", "your bytes", "an SM holds", "resident warps")
    caption = f"Launches of tiled with TILE = 16, blocks of {THREADS} threads, on one {REFERENCE}"
    return table(caption, head, rows)
