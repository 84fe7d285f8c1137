"""How much the clock of the host adds to the time of a kernel: a table and a picture of records."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.lessons.cards import Fold, Stack, Table, table
from utils.lessons.lesson_01.recorded_pitfalls import pitfalls_device, recorded_series
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

SIZES = (256, 512, 1024, 2048, 4096)
COLOURS = (BLUE, ORANGE)
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 412, 40, 396, 46, 210  # pixels
LEAST_US, MOST_US, MOST_RATIO = 5, 50_000, 20  # the ends of the axes; the least ratio is 1


def clock_table(kernel: str) -> Table:
    """Tabulate what the clock of the host adds to a recorded product, one row per size.

    kernel: "naive" or "autotuned". The columns are n; the microseconds of the kernel alone; those
    until its launch returns, with the shortest and the longest in brackets; and the clock's
    microseconds minus those of the kernel alone. The clock is read when the kernel has ended. The
    times are medians of 20 repetitions.
    """
    rows = []
    for n in SIZES:
        alone, launch, wall = (_us(kernel, n, timer) for timer in ("hot", "launch", "wall"))
        added = f"{wall - alone:.1f}"
        one = recorded_series(kernel, n, "launch")
        ends = f"{1000 * one.time_ms_min:.0f}–{1000 * one.time_ms_max:.0f}"
        both = f"{launch:.1f} ({ends})"
        rows.append((n, f"{alone:,.1f}", both, added))
    head = ("n", "alone", "launch (range)", "clock − alone")
    return table(translate("{kernel}, us, medians of 20", kernel=kernel), head, rows)


def show_figures(*kernels: str) -> Fold:
    """Return a closed fold with the table of `clock_table` for each of these kernels."""
    return Fold(translate("The figures"), Stack(tuple(map(clock_table, kernels))))


def draw_clock(*kernels: str) -> Picture:
    """Draw the host clock's time of a kernel ÷ the kernel's own time, against its own time.

    There is a line per kernel, with a point per recorded size of the product. Both axes are
    logarithmic. kernels: at most two, each "naive" or "autotuned".
    """
    title = translate("The host's clock ÷ the time of the kernel alone")
    where = translate("products with n = 256 to 4096, one {device}", device=pitfalls_device().name)
    body = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12)
    for ratio in (1, 2, 5, 10, 20):
        body += path(f"M{LEFT} {_y(ratio)}H{RIGHT}", opacity=0.2)
        body += text(LEFT - 6, _y(ratio) + 4, f"{ratio}×", 12, "end")
    for us, words in ((10, "10 us"), (100, "100 us"), (1000, "1 ms"), (10_000, "10 ms")):
        body += path(f"M{_x(us)} {TOP}V{BOTTOM}", opacity=0.2)
        body += text(_x(us), BOTTOM + 16, words, 12, "middle")
    body += text(RIGHT, BOTTOM + 34, translate("time of the kernel alone"), 12, "end")
    sentences = []
    for row, (kernel, colour) in enumerate(zip(kernels, COLOURS, strict=False)):
        points = [_point(kernel, n) for n in SIZES]
        body += _line(points, colour, "none" if row else colour)
        (x, y), look = _place(*points[0]), f"fill:{colour}"
        left = (x - 8, y + 4, kernel, 13, "end")
        body += text(*((x + 10, y - 2, kernel, 13) if row else left), style=look)
        shown = ", ".join(f"{ratio:.2f} at {us:,.1f} us" for us, ratio in points)
        sentences.append(f"{kernel}: {shown}")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, BOTTOM + 40, body, alt, widest=560), alt)


def _us(kernel: str, n: int, timer: str) -> float:
    """Return the recorded median in microseconds; timer: a key of `recorded_pitfalls.NAMES`."""
    return 1000 * recorded_series(kernel, n, timer).time_ms


def _point(kernel: str, n: int) -> tuple[float, float]:
    """Return (microseconds of the kernel alone, the host clock's time ÷ this time) at one size."""
    alone = _us(kernel, n, "hot")
    return alone, _us(kernel, n, "wall") / alone


def _place(us: float, ratio: float) -> tuple[float, float]:
    """Return (x, y) of a point of the picture, in pixels."""
    return _x(us), _y(ratio)


def _line(points: Sequence[tuple[float, float]], colour: str, fill: str) -> str:
    """Return SVG of dots with lines between them; points: pairs (us, ratio). fill: of the dots."""
    places = [_place(*point) for point in points]
    drawn = path("M" + "L".join(f"{x} {y}" for x, y in places), stroke=colour, stroke_width=2)
    return drawn + "".join(
        f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        for x, y in places
    )


def _x(us: float) -> float:
    share = math.log(us / LEAST_US) / math.log(MOST_US / LEAST_US)
    return round(LEFT + (RIGHT - LEFT) * share, 1)


def _y(ratio: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * math.log(ratio) / math.log(MOST_RATIO), 1)
