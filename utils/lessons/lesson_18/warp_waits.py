"""Bars of what the warps of a reduction wait for, in the states that a profiler counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, PURPLE, Picture, rect, svg, text

RED = "#b5475f"
BROWN = "#8a6a1f"
# Not orange: beside these bars it marks the longest estimate.
# What a warp waits for -> the profiler's names of these states, and the colour.
WAITS = {
    "global memory": (("long_scoreboard", "lg_throttle"), BLUE),
    "shared memory": (("short_scoreboard", "mio_throttle"), GREEN),
    "barrier": (("barrier",), PURPLE),
    "busy unit": (("math_pipe_throttle",), BROWN),
    "dispatch": (("dispatch_stall",), RED),
}
# Pixels: the width, the height of the head, that of a row and of its bar, and where bars begin.
WIDTH, TOP, ROW, BAR, LEFT = 440, 92, 22, 16, 120
REST = 0.3  # the opacity of the rest of a bar
LEAST = 3.5  # percent: the narrowest segment with a number in it


def waits_of(states: Iterable, kernel: str) -> Mapping[str, float]:
    """Return what the warps of a kernel wait for -> percent of the time that they are resident.

    The keys are those of WAITS. Other states are in no key, so the sum is less than 100. states:
    rows of `warp_states.csv`, of one device. Raises CourseError for a kernel without a row.
    """
    cycles = {row.state: row.cycles for row in states if row.kernel == kernel}
    if not cycles:
        raise CourseError(f"{kernel} has no row in warp_states.csv.")
    total = sum(cycles.values())
    return {
        what: 100 * sum(cycles[name] for name in names) / total
        for what, (names, _) in WAITS.items()
    }


def draw_waits(states: Iterable, *kernels: str) -> Picture:
    """Draw the time of the warps of each kernel as a bar, with a segment per wait of WAITS.

    A whole bar is the time that a warp is resident, and the segments are labelled in percent of it.
    The grey rest of a bar is the time in which a warp issues, could issue, or waits for something
    else. states: rows of `warp_states.csv`, of one device. kernels: their names, from top to
    bottom. Raises CourseError for a kernel without a row.
    """
    states = list(states)
    waits = {name: waits_of(states, name) for name in kernels}
    title = translate("What a warp waits for, in percent of its time")
    where = translate(
        "{elements} elements, counted on one {device}",
        elements=ReduceShape(states[0].elements),
        device=states[0].device,
    )
    body = text(0, 14, title, 13, font_weight="bold") + text(0, 31, where, 12) + _key()
    for row, (name, shares) in enumerate(waits.items()):
        y = TOP + ROW * row
        body += text(LEFT - 8, y + BAR - 4, name, 12, "end") + _bar(y, shares)
    sentences = [
        f"{name}: {', '.join(f'{translate(what)} {share:.0f} %' for what, share in shares.items())}"
        for name, shares in waits.items()
    ]
    alt = f"{title}, {where}. {'. '.join(sentences)}."
    return Picture(svg(WIDTH, TOP + ROW * len(waits), body, alt, widest=1.3 * WIDTH), alt)


def _key() -> str:
    """Return SVG that names the colours, in two rows."""
    body, words = "", [*((what, colour) for what, (_, colour) in WAITS.items()), ("the rest", GREY)]
    for number, (what, colour) in enumerate(words):
        x, y = (number % 3) * 120, 45 + 18 * (number // 3)
        body += rect(x, y, 11, 11, colour, opacity=REST if colour == GREY else 1)
        body += text(x + 17, y + 10, translate(what), 12)
    return body


def _bar(y: float, shares: Mapping[str, float]) -> str:
    """Return SVG of the segments of a kernel's bar; shares: what its warps wait for -> percent."""
    scale, x = (WIDTH - LEFT) / 100, float(LEFT)
    body = rect(LEFT, y, WIDTH - LEFT, BAR, GREY, opacity=REST)
    for what, share in shares.items():
        body += rect(round(x, 1), y, round(share * scale, 1), BAR, WAITS[what][1])
        if share >= LEAST:
            middle = round(x + share * scale / 2, 1)
            body += text(middle, y + BAR - 4, f"{share:.0f}", 12, "middle", style="fill:#fff")
        x += share * scale
    return body
