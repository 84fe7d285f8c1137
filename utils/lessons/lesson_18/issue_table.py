"""What a profiler counted of reductions: instructions, and the states of their warps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.lessons.cards import Table, table
from utils.lessons.lesson_18.time_bars import longest_of
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, GREY, Picture, rect, svg, text

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
}
# What a warp waits for, by the profiler's names of the states.
WAITS = {
    "global memory": ("long_scoreboard", "lg_throttle"),
    "shared memory": ("short_scoreboard", "mio_throttle"),
    "barrier": ("barrier",),
    "arithmetic": ("math_pipe_throttle",),
}
WIDTH, LEFT, BAR, PITCH, HEAD, FOR_WORDS = 412, 88, 11, 13, 24, 88  # pixels


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
            name.replace("_", " "),
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


def draw_issue(slots: Iterable, times: Iterable) -> Picture:
    """Draw the executed instructions and the recorded time of all kernels, the slowest first.

    Both bars of a kernel are shares of those of the slowest kernel. slots: rows of
    `issue_slots.csv`. times: rows of `remainder.csv`, of the same device.
    """
    timed = longest_of(times)
    names = sorted(timed, key=lambda name: -timed[name].time_ms)
    counted = _counted(slots, names)
    first = names[0]
    title = translate("Instructions and time, as shares of {kernel}", kernel=first)
    where = translate(
        "instructions for {counted} elements, time for {timed}, one {device}",
        counted=ReduceShape(counted[first].elements),
        timed=ReduceShape(timed[first].elements),
        device=timed[first].device,
    )
    body, y, sentences = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12), 52, []
    for name in names:
        loop = translate("{number} per iteration", number=PER_ITERATION[name])
        body += text(0, y, name.replace("_", " "), 13, font_weight="600")
        body += text(WIDTH, y, loop, 12, "end", opacity=0.75)
        bars = (
            (translate("instructions"), GREY, counted[name].instructions /
             counted[first].instructions, _millions(counted[name])),
            (translate("recorded"), BLUE, timed[name].time_ms / timed[first].time_ms,
             f"{timed[name].time_ms:.2f} ms"),
        )  # fmt: skip
        for row, (what, colour, share, words) in enumerate(bars):
            top, width = y + 5 + PITCH * row, share * (WIDTH - LEFT - FOR_WORDS)
            body += text(LEFT - 6, top + BAR - 1.5, what, 12, "end")
            body += rect(LEFT, top, round(width, 1), BAR, colour)
            body += text(LEFT + width + 5, top + BAR - 1.5, words, 12)
        sentences.append(f"{name}: {loop}, {bars[0][-1]}, {bars[1][-1]}")
        y += HEAD + PITCH * len(bars)
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, y - 12, body, alt, widest=1.15 * WIDTH), alt)


def wait_table(states: Iterable, *kernels: str) -> Table:
    """Tabulate what the warps of kernels wait for, in percent of the time that they are resident.

    states: rows of `warp_states.csv`, of one device. kernels: their names, from top to bottom.
    Raises CourseError for a kernel without a row.
    """
    states = list(states)
    rows = [
        (name.replace("_", " "), *(f"{value:.0f} %" for value in waits_of(states, name).values()))
        for name in kernels
    ]
    return table("What a warp waits for, in % of its time", ("", *WAITS), rows)


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
