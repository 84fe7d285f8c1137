"""Bars of the instructions in one iteration of a loop over tiles, to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from utils.errors import CourseError
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

COLOURS = {"FFMA": GREEN, "LDS": PURPLE, "LDG": BLUE, "STS": ORANGE}
WIDTH, PITCH, BAR = 416, 88, 16
SHORT = 8  # a span below this width is marked by a pointer instead of a line with two ends
TALL = ("LDG", "STS")  # drawn higher than the bar, because they are few

Instructions = Sequence[str]  # names of the instructions, in order


def between_load_and_store(instructions: Instructions) -> tuple[int, int]:
    """Count the instructions between the last global load and the first shared store after it.

    Return (number of instructions, number of multiply-adds among them). Raise CourseError if there
    is no global load or no shared store after the last one.
    """
    last, store = _ends(instructions)
    between = instructions[last + 1 : store]
    return len(between), between.count("FFMA")


def from_load_to_store(instructions: Instructions) -> Instructions:
    """Return an iteration that has a shared store after its last global load, if that is possible.

    A loop has no first instruction. If all stores come before the last load, because they store
    what the iteration before has loaded, the instructions after the last store come first, and the
    others follow. Otherwise, and without a load or a store, `instructions` is returned unchanged.
    """
    loads = [index for index, name in enumerate(instructions) if name == "LDG"]
    stores = [index for index, name in enumerate(instructions) if name == "STS"]
    if not loads or not stores or stores[-1] > loads[-1]:
        return instructions
    cut = stores[-1] + 1
    return (*instructions[cut:], *instructions[:cut])


def draw_iterations(title: str, iterations: Mapping[str, Instructions]) -> Picture:
    """Draw one bar of instructions per loop iteration, all bars on one scale.

    `iterations` maps the name that the reader sees to the names of the instructions in order. A
    mark below each bar reaches from the last global load to the shared store after it; raise
    CourseError if an iteration has no such pair.
    """
    scale = (WIDTH - 6) / max(map(len, iterations.values()))
    body, descriptions = text(0, 16, title, 14, font_weight="bold"), []
    for index, (name, instructions) in enumerate(iterations.items()):
        bar = _bar(name, instructions, scale)
        body += f'<g transform="translate(0 {26 + PITCH * index})">{bar}</g>'
        count = f"{name}: {len(instructions)} instructions"
        descriptions.append(f"{count}, from load to store {_span_text(instructions)}")
    key = legend(load_from_global_memory=BLUE, store_into_shared=ORANGE)
    key += legend(load_from_shared=PURPLE, **{"multiply-add": GREEN, "other": GREY})
    alt = f"{title}. {'. '.join(descriptions)}."
    height = 22 + PITCH * len(iterations)
    return Picture(key + svg(WIDTH, height, body, alt, widest=1.3 * WIDTH), alt)


def _bar(name: str, instructions: Instructions, scale: float) -> str:
    """Return the SVG of one iteration: its name, its instructions in order, and a mark below.

    The mark reaches from the last global load to the shared store after it. scale: pixels per
    instruction. Raises CourseError if there is no such pair.
    """
    body, x = text(0, 16, f"{name}: {len(instructions)} instructions", 13), 2.0
    low = 30
    for kind, run in groupby(instructions, lambda name: name if name in (*COLOURS, "BAR") else ""):
        width = len(list(run)) * scale
        if kind in TALL:
            body += rect(round(x, 2), low - 5, round(max(width, 3), 2), BAR + 5, COLOURS[kind])
        else:
            body += rect(round(x, 2), low, round(width, 2), BAR, COLOURS.get(kind, GREY))
        if kind == "BAR":
            body += path(f"M{x:.1f} {low - 9}v{BAR + 18}", stroke_width=1.5, stroke_dasharray="3 2")
        x += width
    first, last = (2 + index * scale for index in _ends(instructions))
    y = low + BAR + 8
    if last - first < SHORT:
        body += path(f"M{(first + last) / 2:.1f} {y - 4}l-5 8h10z", fill="currentColor")
    else:
        body += path(f"M{first:.1f} {y - 4}v8M{first:.1f} {y}H{last:.1f}M{last:.1f} {y - 4}v8")
    return body + text(0, y + 17, f"from load to store: {_span_text(instructions)}", 12)


def _ends(instructions: Instructions) -> tuple[int, int]:
    """Return the indices of the last global load and of the first shared store after it.

    Raise CourseError if there is no such load or no such store.
    """
    loads = (index for index, name in enumerate(instructions) if name == "LDG")
    last = max(loads, default=len(instructions))
    if "STS" not in instructions[last:]:
        raise CourseError(
            "An iteration of this loop has no load from global memory that is followed by a store "
            "into shared memory."
        )
    return last, instructions.index("STS", last)


def _span_text(instructions: Instructions) -> str:
    """Return text such as "12 instructions, 8 of them multiply-adds", from load to store."""
    total, multiply_adds = between_load_and_store(instructions)
    counted = f"{total} instruction{'s' * (total != 1)}"
    return f"{counted}, {multiply_adds} of them multiply-adds"
