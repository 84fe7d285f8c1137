"""What a profiler counted of reductions: instructions, and the states of their warps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.lessons.cards import Table, table
from utils.lessons.lesson_18.time_bars import longest_of
from utils.machine import devices
from utils.machine.occupancy import limits_of
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, ORANGE, Picture, path, svg, text

# Instructions in an iteration of each kernel's loop, compiled for sm_90 by CUDA 13.0.
PER_ITERATION = {
    "reduce0": 32,
    "without_remainder": 13,
    "reduce1": 15,
    "reduce2": 13,
    "reduce3": 13,
    "without_remainder_32": 12,
    "reduce2_32": 10,
    "masks_up": 11,
    "masks_down": 11,
    "warps_leave": 14,
    "with_conflicts": 10,
    "without_conflicts": 10,
}
# These wait for more than the other trees, so they are not in the band of the picture.
WAITING = ("with_conflicts", "warps_leave")
# What a warp waits for, by the profiler's names of the states.
WAITS = {
    "global memory": ("long_scoreboard", "lg_throttle"),
    "shared memory": ("short_scoreboard", "mio_throttle"),
    "barrier": ("barrier",),
    "arithmetic": ("math_pipe_throttle",),
}
WIDTH, PANEL, HIGH, MARGIN = 412, 336, 270, 34  # pixels
# Orange, because in the lesson's other pictures it marks bank conflicts.
TREES = {"tree of reduce0": BLUE, "tree of reduce1": ORANGE, "tree of reduce2": GREEN}
TREES_OF = {
    name: list(TREES.values())[tree]
    for name, tree in {
        "reduce0": 0,
        "without_remainder": 0,
        "without_remainder_32": 0,
        "masks_up": 0,
        "reduce1": 1,
        "reduce2": 2,
        "reduce2_32": 2,
        "masks_down": 2,
        "reduce3": 2,
        "warps_leave": 2,
        "with_conflicts": 2,
        "without_conflicts": 2,
    }.items()
}
# Kernel -> where its name is: pixels to the right of its point and down, and the anchor.
FAR_LABELS = {
    "reduce0": (-9, 4, "end"),
    "reduce3": (9, 5, "start"),
    "warps_leave": (12, 21, "start"),
}
NEAR_LABELS = {
    "reduce1": (-9, 4, "end"),
    "reduce2": (-9, 4, "end"),
    "without_remainder": (8, 2, "start"),
    "without_remainder_32": (8, 10, "start"),
    "masks_up": (-7, -4, "end"),
    "masks_down": (7, 8, "start"),
    "reduce2_32": (-6, 17, "start"),
    "with_conflicts": (-6, -10, "start"),
    "without_conflicts": (-13, 35, "start"),
}
# The part that the second picture enlarges: billions of instructions, and milliseconds.
FRAME = ((3.75, 5.4), (4.2, 6.8))


def issue_table(slots: Iterable, times: Iterable, *kernels: str) -> Table:
    """Tabulate the instructions, the busy schedulers and the recorded time of kernels.

    slots: rows of `issue_slots.csv`. times: rows of `remainder.csv`, of the same device. kernels:
    their names, from top to bottom. Raises CourseError for a kernel without a row. The columns are
    the instructions per iteration of the loop, the executed instructions in millions, the
    percentage of time in which the schedulers issue, and the ms.
    """
    counted, timed = _counted(slots, kernels), longest_of(times)
    rows = [
        (
            name,
            PER_ITERATION.get(name, "–"),
            _millions(counted[name]),
            f"{100 * counted[name].busy:.0f} %",
            f"{timed[name].time_ms:.2f} ms",
        )
        for name in kernels
    ]
    head = ("", "per iteration", "executed instructions", "schedulers issue", "recorded time")
    sizes = (ReduceShape(row.elements) for row in (counted[kernels[0]], timed[kernels[0]]))
    caption = "The profiler's counts for {} elements, recorded times for {}".format(*sizes)
    return table(caption, head, rows)


def draw_time_by_instructions(slots: Iterable, times: Iterable) -> Picture:
    """Draw the recorded time of all trees over their executed instructions, in two pictures.

    Both are for the number of elements that was timed: the instructions, which a profiler counted
    for fewer elements, grow in proportion. The first picture begins at zero and has all kernels,
    and the second one enlarges the part in which most of them are. A line shows the time if all
    schedulers issue in each cycle, and a grey band the times if they issue in as many cycles as
    those of the kernels that are not in WAITING. slots: rows of `issue_slots.csv`. times: rows of
    `remainder.csv`, of the same device.
    """
    slots, longest = list(slots), longest_of(times)
    timed = {name: row for name, row in longest.items() if name in TREES_OF}
    counted = _counted(slots, timed)
    first, device = next(iter(counted)), devices.find(slots[0].device)
    copies = timed[first].elements / counted[first].elements
    points = {
        name: (copies * counted[name].instructions / 1e9, row.time_ms)
        for name, row in timed.items()
    }
    schedulers = device.sms * limits_of(device.compute_capability).sub_partitions
    full = 1e6 / schedulers / device.boost_clock_mhz  # ms per billion
    shares = [counted[name].busy for name in timed if name not in WAITING]
    slopes = full, full / max(shares), full / min(shares)
    title = translate("Recorded time over executed instructions")
    where = translate(
        "{timed} elements, one {device}; instructions: {times:g} × the count for {counted}",
        timed=ReduceShape(timed[first].elements),
        device=device.name,
        times=copies,
        counted=ReduceShape(counted[first].elements),
    )
    sentences = [
        translate("{kernel}: {billions:.2f} billion, {ms:.2f} ms", kernel=name, billions=x, ms=ms)
        for name, (x, ms) in points.items()
    ]
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    head = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12)
    for column, (words, colour) in enumerate(TREES.items()):
        head += _dot(5 + 136 * column, 47, colour) + text(14 + 136 * column, 51, words, 12)
    names = translate("All kernels"), translate("The framed part, enlarged")
    whole = _Panel(names[0], (0, 10.4), (0, 13.5), range(0, 11, 2), range(0, 13, 3), FAR_LABELS)
    near = _Panel(names[1], *FRAME, (4, 4.5, 5), (5, 6), NEAR_LABELS)
    drawn = (
        svg(PANEL, HIGH, panel.draw(points, slopes) + frame, panel.name, widest=1.15 * PANEL)
        for panel, frame in ((whole, whole.frame(*FRAME)), (near, ""))
    )
    row = f'<div class="row" style="align-items:start">{"".join(drawn)}</div>'
    return Picture(svg(WIDTH, 58, head, alt, widest=1.15 * WIDTH) + row, alt)


def _dot(x: float, y: float, colour: str) -> str:
    """Return SVG of the point of a kernel."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'


@dataclass(frozen=True)
class _Panel:
    """A plot of milliseconds over billions of instructions, with the ticks of both axes.

    name: the words above it. beside: kernel -> where its name is, (pixels to the right of its
    point, pixels down, anchor); the other kernels have none.
    """

    name: str
    billions: tuple[float, float]
    ms: tuple[float, float]
    x_ticks: Iterable[float]
    y_ticks: Iterable[float]
    beside: Mapping[str, tuple[float, float, str]]

    def x(self, billions: float) -> float:
        low, high = self.billions
        return MARGIN + (billions - low) / (high - low) * (PANEL - MARGIN - 8)

    def y(self, ms: float) -> float:
        low, high = self.ms
        return HIGH - 40 - (ms - low) / (high - low) * (HIGH - 62)

    def place(self, billions: float, ms: float) -> str:
        return f"{self.x(billions):.1f} {self.y(ms):.1f}"

    def frame(self, billions: tuple[float, float], ms: tuple[float, float]) -> str:
        """Return SVG of a rectangle around a part of the plot."""
        (left, right), (low, high) = billions, ms
        corners = ((left, low), (left, high), (right, high), (right, low))
        return path(f"M{'L'.join(self.place(*corner) for corner in corners)}Z", opacity=0.6)

    def draw(self, points: Mapping, slopes: tuple[float, float, float]) -> str:
        """Return SVG of axes, line, band and points.

        points: kernel -> (billions of instructions, ms). slopes: ms per billion of the line, and of
        the lower and upper edge of the band.
        """
        full, *edges = slopes
        (left, right), bottom = self.billions, self.y(self.ms[0])
        near, far = ([self.place(end, end * slope) for slope in edges] for end in (left, right))
        corners = "L".join((*near, *reversed(far)))
        body = path(f"M{corners}Z", stroke="none", fill=GREY, opacity=0.25)
        start = max(left, self.ms[0] / full)
        body += path(f"M{self.place(start, start * full)}L{self.place(right, right * full)}")
        all_cycles = translate("issue in each cycle")
        middle = 0.4 * left + 0.6 * right
        body += text(self.x(middle) + 6, self.y(middle * full) + 13, all_cycles, 12)
        percent = translate(
            "{lowest:.0f} to {highest:.0f} %",
            lowest=100 * full / edges[1],
            highest=100 * full / edges[0],
        )
        body += text(self.x(middle), self.y(middle * edges[1]) - 5, percent, 12, "end")
        body += path(f"M{MARGIN} 18V{bottom:g}H{PANEL - 8}", opacity=0.6)
        for tick in self.x_ticks:
            body += text(self.x(tick), bottom + 16, tick, 12, "middle")
        for tick in self.y_ticks:
            body += text(MARGIN - 6, self.y(tick) + 4, f"{tick:g}", 12, "end")
        body += text(PANEL - 8, bottom + 33, translate("billion instructions"), 12, "end")
        body += text(0, 12, "ms", 12) + text(PANEL - 8, 12, self.name, 12, "end")
        for name, (billions, ms) in points.items():
            if not (left < billions < right and self.ms[0] < ms < self.ms[1]):
                continue
            x, y = self.x(billions), self.y(ms)
            body += _dot(x, y, TREES_OF[name])
            if name in self.beside:
                right_by, down, anchor = self.beside[name]
                body += text(x + right_by, y + down, name, 12, anchor)
        return body


def waits_of(states: Iterable, kernel: str) -> Mapping[str, float]:
    """Return what the warps of a kernel wait for -> percent of the time that they are resident.

    states: rows of `warp_states.csv`, of one device. Raises CourseError for a kernel without a row.
    """
    cycles = {row.state: row.cycles for row in states if row.kernel == kernel}
    if not cycles:
        raise CourseError(f"{kernel} has no row in warp_states.csv.")
    total = sum(cycles.values())
    return {
        what: 100 * sum(cycles[name] for name in names) / total for what, names in WAITS.items()
    }


def _counted(slots: Iterable, kernels: Iterable[str]) -> dict:
    """Return kernel -> row of `issue_slots.csv` on the first row's device.

    Raises CourseError if one of `kernels` has no row.
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
