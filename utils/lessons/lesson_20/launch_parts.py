"""Recorded sums with one and two launches: a table of calls, and a picture of their parts."""

from __future__ import annotations

from collections.abc import Mapping

from utils.lessons.cards import Table, table
from utils.lessons.recorded import rows_of
from utils.measuring.kernel_times import LaunchTime
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    rect,
    svg,
    text,
)

BLOCKS = "reduce8 first launch"  # the blocks of the other ways do the same work
# Way to sum -> (what is done, the record with it, the record without it), part by part.
PARTS = {
    "atomics on the result": (
        ("blocks add their elements", BLOCKS, None),
        ("launch that sets zero", "reduce_atomic", "reduce_atomic without zero"),
    ),
    "one launch, tickets": (
        ("blocks add their elements", BLOCKS, None),
        ("fences and tickets", "reduce9 without sum", BLOCKS),
        ("last block adds", "reduce9", "reduce9 without sum"),
    ),
    "two launches": (
        ("blocks add their elements", BLOCKS, None),
        ("second launch", "reduce8", BLOCKS),
    ),
    "one cooperative launch": (("not separated", "reduce_cooperative", None),),
    "empty kernel": (("not separated", "empty", None),),
}
COLOURS = {
    "blocks add their elements": BLUE, "launch that sets zero": PURPLE, "second launch": PURPLE,
    "fences and tickets": ORANGE, "last block adds": GREEN, "not separated": GREY,
}  # fmt: skip
LEGEND = {  # where it is in the picture -> words, colour
    (1, 14): ("blocks add their elements", BLUE), (200, 14): ("another launch", PURPLE),
    (1, 34): ("fences and tickets", ORANGE), (140, 34): ("last block adds", GREEN),
    (265, 34): ("not separated", GREY),
}  # fmt: skip
_WIDTH, _TOP, _ROW, _US = 426, 44, 46, 30  # the last one: units of the drawing per microsecond


def launch_times() -> Mapping[str, LaunchTime]:
    """Return kernel -> its row of `single_launch.csv`.

    The record is that of the device shown or, if it has none, that of the reference device. Raises
    CourseError if neither has a record.
    """
    return {row.kernel: row for row in rows_of("single_launch.csv", LaunchTime)}


def launch_us(kernel: str) -> float:
    """Return the recorded microseconds of a kernel on the GPU for 2^22 floats.

    kernel: a key of `launch_times`. Raises KeyError for any other name.
    """
    return 1000 * launch_times()[kernel].time_ms


def table_of_calls() -> Table:
    """Return a table of a sum with two launches and with one; times in us.

    The rows are `reduce8` and `reduce9`, for 2^22 floats. The columns are the time on the GPU, and
    Python's time for a call with Numba's launches and with prepared ones.
    """
    times = launch_times()
    lines = []
    for way, step in (("two launches", "reduce8"), ("one launch", "reduce9")):
        called = times[step].host_us, times[f"plan of {step}"].host_us
        on_gpu = f"{launch_us(step):.2f} us"
        lines.append((f"{way}, `{step}`", on_gpu, *(f"{us:.1f} us" for us in called)))
    caption = f"{times['empty'].elements:,} floats, one {times['empty'].device}"
    head = ("", "GPU", "Python, Numba's launches", "Python, prepared launches")
    return table(caption, head, lines)


def parts_of(way: str) -> list[tuple[str, float]]:
    """Return pairs (what is done, its microseconds) of a way to sum, a key of `PARTS`.

    The first part is the recorded time of a kernel that does only this, or all of the way's work
    if no part was separated. Each other part is the time of a kernel with it, less that of one
    without it.
    """
    return [
        (what, launch_us(kernel) - (launch_us(without) if without else 0))
        for what, kernel, without in PARTS[way]
    ]


def draw_parts() -> Picture:
    """Draw the recorded time of each way to sum as a bar of its parts in microseconds.

    The ways are the keys of `PARTS`, for 2^22 floats, and an empty kernel is among them. The times
    are those on the GPU.
    """
    drawn = {way: parts_of(way) for way in PARTS}
    body = "".join(
        _bar(_TOP + _ROW * row, way, parts) for row, (way, parts) in enumerate(drawn.items())
    )
    told = " ".join(_words(way, parts) for way, parts in drawn.items())
    alt = f"4 Mi floats on one {launch_times()['empty'].device}. {told}"
    for (x, y), (words, colour) in LEGEND.items():
        body += rect(x, y - 10, 12, 12, colour) + text(x + 17, y, words, 12)
    return Picture(svg(_WIDTH, _TOP + _ROW * len(drawn), body, alt, widest=600), alt)


def _bar(y: float, way: str, parts: list[tuple[str, float]]) -> str:
    """Return SVG of a way's name, the sum of its parts, and a bar below them, with its top at y."""
    body = text(0, y + 15, way, 14, font_weight="bold")
    added = " + ".join(f"{us:.1f}" for _, us in parts) + " = " if parts[1:] else ""
    body += text(_WIDTH, y + 15, f"{added}{_total(parts)} us", 13, "end")
    x = 0.0
    for what, us in parts:
        body += rect(x, y + 21, us * _US, 15, COLOURS[what])
        x += us * _US
    return body


def _words(way: str, parts: list[tuple[str, float]]) -> str:
    """Return a sentence for the alt text: a way's time and its parts."""
    told = ", ".join(f"{what} {us:.1f}" for what, us in parts)
    return f"{way.capitalize()}: {_total(parts)} us{f', of which {told}' if parts[1:] else ''}."


def _total(parts: list[tuple[str, float]]) -> str:
    """Return the sum of the parts as text with one decimal and without unit, such as "8.3".

    The parts are in us.
    """
    return f"{sum(us for _, us in parts):.1f}"
