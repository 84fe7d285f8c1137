"""What a profiler counted of reductions: instructions, and the cycles that issue them."""

from __future__ import annotations

from collections.abc import Iterable

from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.lessons.cards import Table, table
from utils.lessons.lesson_18.time_bars import longest_of
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, path, svg, text

# In these the schedulers issue in fewer cycles than in the other kernels.
OUTSIDE = ("warps_leave", "with_conflicts", "lanes_diverge", "warps_agree")
# Pixels: the width, the height of the head, that of a row, where the axis begins and ends, and the
# right ends of both columns of numbers.
WIDTH, TOP, ROW, LEFT, RIGHT, COLUMNS = 440, 92, 22, 146, 306, (374, 440)
LOWEST, TICKS = 35, (40, 60, 80, 100)  # percent: where the axis begins, and its ticks


def issue_table(slots: Iterable, times: Iterable, *kernels: str) -> Table:
    """Tabulate the instructions, the busy schedulers and the recorded time of kernels.

    slots: rows of `issue_slots.csv`. times: rows of `remainder.csv`, of the same device. kernels:
    their names, from top to bottom. Raises CourseError for a kernel without a row. The columns are
    the executed instructions in millions, the percentage of time in which the schedulers issue, and
    the ms.
    """
    counted, timed = _counted(slots, kernels), longest_of(times)
    rows = [
        (
            name,
            _millions(counted[name]),
            f"{100 * counted[name].busy:.0f} %",
            f"{timed[name].time_ms:.2f} ms",
        )
        for name in kernels
    ]
    head = ("", "executed instructions", "schedulers issue", "recorded time")
    sizes = (ReduceShape(row.elements) for row in (counted[kernels[0]], timed[kernels[0]]))
    caption = "The profiler's counts for {} elements, recorded times for {}".format(*sizes)
    return table(caption, head, rows)


def by_instructions(slots: Iterable, kernels: Iterable[str]) -> list[str]:
    """Return the names of kernels, those with the most executed instructions first.

    slots: rows of `issue_slots.csv`. Raises CourseError for a kernel without a row.
    """
    counted = _counted(slots, kernels)
    return sorted(kernels, key=lambda name: -counted[name].instructions)


def draw_issue_shares(slots: Iterable, times: Iterable, kernels: Iterable[str] = ()) -> Picture:
    """Draw the share of the cycles in which the schedulers issue, a point in a row per kernel.

    The kernels are in the order of their executed instructions. These are beside the points, for
    the number of elements that was timed: the instructions, which a profiler counted for fewer
    elements, grow in proportion. The last column has the recorded times. A grey band reaches over
    the shares of all kernels that are not in OUTSIDE, drawn or not. slots: rows of
    `issue_slots.csv`. times: rows of `remainder.csv`, of the same device. kernels: their names, ()
    for all that were counted. Raises CourseError if one of `kernels` has no row in `slots`.
    """
    slots, longest = list(slots), longest_of(times)
    counted = _counted(slots, kernels)
    any_count, any_time = counted["reduce0"], longest["reduce0"]
    copies = any_time.elements / any_count.elements
    names = by_instructions(slots, kernels or counted)
    shares = {name: 100 * counted[name].busy for name in counted}
    billions = {name: copies * counted[name].instructions / 1e9 for name in names}
    inside = [share for name, share in shares.items() if name not in OUTSIDE]
    title = translate("The cycles in which the schedulers issue")
    where = translate(
        "{timed} elements, one {device}; instructions: {times:g} × the count for {counted}",
        timed=ReduceShape(any_time.elements),
        device=any_count.device,
        times=copies,
        counted=ReduceShape(any_count.elements),
    )
    sentences = [
        translate(
            "{kernel}: {share:.0f} %, {billions:.2f} billion instructions, {ms:.2f} ms",
            kernel=name,
            share=shares[name],
            billions=billions[name],
            ms=longest[name].time_ms,
        )
        for name in names
    ]
    bottom = TOP + ROW * len(names)
    body = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12)
    band = min(inside), max(inside)
    body += _axis(*band, bottom)
    for column, words in zip(COLUMNS, ("billion", "recorded"), strict=True):
        body += text(column, TOP - 22, translate(words), 12, "end")
    for column, words in zip(COLUMNS, ("instructions", "time"), strict=True):
        body += text(column, TOP - 7, translate(words), 12, "end")
    for row, name in enumerate(names):
        y = TOP + ROW * (row + 0.5)
        body += text(LEFT - 12, y + 4, name, 12, "end")
        body += _dot(_x(shares[name]), y)
        # The number of a point left of the band is left of it, too, and not in the band.
        away, anchor = (-8, "end") if shares[name] < band[0] else (8, "start")
        body += text(_x(shares[name]) + away, y + 4, f"{shares[name]:.0f} %", 12, anchor)
        body += text(COLUMNS[0], y + 4, f"{billions[name]:.2f}", 12, "end")
        body += text(COLUMNS[1], y + 4, f"{longest[name].time_ms:.2f} ms", 12, "end")
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, bottom + 22, body, alt, widest=1.3 * WIDTH), alt)


def _x(share: float) -> float:
    """Return the x, in pixels, at which a percentage of the cycles is on the axis."""
    return LEFT + (share - LOWEST) / (100 - LOWEST) * (RIGHT - LEFT)


def _axis(lowest: float, highest: float, bottom: float) -> str:
    """Return SVG of the axis, with a band between two percentages, and of its ticks at `bottom`."""
    left, right = _x(lowest), _x(highest)
    band = path(f"M{left:.1f} {TOP}H{right:.1f}V{bottom}H{left:.1f}Z", stroke="none", fill=GREY,
                opacity=0.25)  # fmt: skip
    words = translate("{lowest:.0f} to {highest:.0f} %", lowest=lowest, highest=highest)
    band += text((left + right) / 2, TOP - 7, words, 12, "middle")
    for tick in TICKS:
        x = _x(tick)
        band += path(f"M{x:.1f} {TOP}V{bottom}", opacity=0.6 if tick == 100 else 0.2)
        band += text(x, bottom + 16, f"{tick}" if tick < 100 else "100 %", 12, "middle")
    return band


def _dot(x: float, y: float) -> str:
    """Return SVG of the point of a kernel."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="currentColor"/>'


def _counted(slots: Iterable, kernels: Iterable[str]) -> dict:
    """Return kernel -> row of `issue_slots.csv`, for all kernels of the first row's device.

    It is not limited to `kernels`. Raises CourseError if one of these has no row.
    """
    slots = list(slots)
    counted = {row.kernel: row for row in slots if row.device == slots[0].device}
    if unknown := [name for name in kernels if name not in counted]:
        raise CourseError(
            f"{unknown[0]} has no row in issue_slots.csv: choose one of {', '.join(counted)}."
        )
    return counted


def _millions(row) -> str:
    return translate("{number:.1f} million", number=row.instructions / 1e6)
