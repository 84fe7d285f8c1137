"""Bars of 100 issue slots: the published share, ours, and what fills the slots between them."""

from __future__ import annotations

from collections.abc import Sequence

from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_15.colours import (
    LAST_ROUND,
    LOADS_AND_STORES,
    MULTIPLY_ADDS,
    NOT_MEASURED,
    OTHERS,
)
from utils.lessons.recorded import share_of_peak
from utils.lessons.tile_iterations import IssueSlots, slots_of
from utils.measuring import records
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

SUSPECTS = ("bits", "tiles", "stores")
CLEARED = ("bits: conflicts", "tiles: size", "stores")  # what the lesson rules out
_WIDTH, _LEFT, _SCALE, _BAR = 412, 6, 4.0, 26
_HIDDEN = "none"


def published_share() -> float:
    """Return the share of the peak that maxas reached, as its source prints it, in percent."""
    frame = records.published("gemm_gpu")
    return float(frame.loc[frame["kernel"] == "maxas", "efficiency_pct"].iloc[0])


def draw_missing(step: Step | Variant) -> Picture:
    """Draw the published and the recorded share of the peak as two bars in percent.

    The recorded share is that of a 4096×4096 product by the step on the device shown. The gap
    between the two has its percentage and a question mark. Below are three possible causes that the
    lesson examines: bits, tiles and stores.
    """
    theirs, ours = published_share(), 100 * share_of_peak(step)
    gap = round(theirs) - round(ours)
    parts = [(ours, MULTIPLY_ADDS, 1), (theirs - ours, NOT_MEASURED, 0.3)]
    title = f"nearly the same design in Python, {_device()}"
    body = _two_bars(theirs, ours, parts, title)
    middle = _LEFT + _SCALE * (ours + theirs) / 2
    body += text(middle, 62 + 39, f"{gap} %?", 15, "middle", font_weight="bold")
    body += _axis(134, "the peak") + text(_LEFT, 176, "suspects:", 13)
    for number, name in enumerate(SUSPECTS):
        x = 92 + number * 106
        body += rect(x, 156, 92, 30, _HIDDEN, stroke=GREY, stroke_width=1.5, rx=6)
        body += text(x + 46, 176, f"{name}?", 14, "middle")
    alt = (
        f"Two bars in percent of the peak: {theirs:.0f} % in 2014 and {ours:.0f} % in Python on "
        f"the {_device()}. The gap has {gap} %, with a question mark, and three suspects: bits, "
        "tiles and stores."
    )
    return Picture(svg(_WIDTH, 192, body, alt, widest=530), alt)


def draw_verdicts(step: Step | Variant, shape: str = "4096") -> Picture:
    """Draw the published share of the peak, and a bar of what fills a step's issue slots.

    Below are seven cards: the three causes that the lesson rules out, and the percentages of loads
    and stores, of other instructions, of the empty last round, and of what was not measured. shape:
    as on the command line.
    """
    slots = slots_of(step, shape)
    theirs, ours = published_share(), 100 * slots.multiply_adds
    parts = _parts(slots)
    title = f"{as_variant(step).step.name} in Python, {_device()}"
    body, x = _two_bars(theirs, ours, parts, title), _LEFT + _SCALE * ours
    for share, *_ in parts[1:]:
        middle, look = x + _SCALE * share / 2, {"style": "fill:#fff"}
        size = 14 if share >= 5 else 11
        body += text(middle, 62 + 39, f"{share:.0f}", size, "middle", font_weight="bold", **look)
        x += _SCALE * share
    body += _axis(134, "the slots")
    cleared = [(name, "not guilty", GREY) for name in CLEARED]
    found = (
        ("loads, stores", f"{100 * slots.loads_and_stores:.0f} slots", LOADS_AND_STORES),
        ("others", f"{100 * slots.others:.0f} slots", OTHERS),
        ("last round", f"about {100 * slots.last_round:.0f}", LAST_ROUND),
        ("not measured", f"{100 * slots.rest:.0f} slots", NOT_MEASURED),
    )
    body += _cards(152, cleared) + _cards(206, found)
    verdicts = (*cleared, *found)
    said = ", ".join(f"{name}: {verdict}" for name, verdict, *_ in verdicts)
    alt = (
        f"Two bars: {theirs:.0f} % of the peak in 2014, and 100 slots of the {_device()}, of which "
        f"{ours:.0f} have a multiply-add. The verdicts are {said}."
    )
    return Picture(svg(_WIDTH, 256, body, alt, widest=530), alt)


def _parts(slots: IssueSlots) -> list[tuple[float, str, float]]:
    """Return (percent, colour, opacity) of each part, in the order of the bar.

    The parts are multiply-adds, loads and stores, other instructions, the last round, and the rest.
    """
    return [
        (100 * slots.multiply_adds, MULTIPLY_ADDS, 1),
        (100 * slots.loads_and_stores, LOADS_AND_STORES, 1),
        (100 * slots.others, OTHERS, 1),
        (100 * slots.last_round, LAST_ROUND, 1),
        (100 * slots.rest, NOT_MEASURED, 1),
    ]


def _cards(y: float, verdicts: Sequence[tuple[str, str, str]]) -> str:
    """Return SVG of a row of cards; verdicts: (name, verdict, colour) each."""
    body, apart = "", 8
    width = (100 * _SCALE - apart * (len(verdicts) - 1)) / len(verdicts)
    for number, (name, verdict, colour) in enumerate(verdicts):
        x = _LEFT + number * (width + apart)
        body += rect(x, y, width, 46, colour, fill_opacity=0.12, stroke=colour, rx=6)
        body += text(x + width / 2, y + 19, name, 12, "middle")
        body += text(x + width / 2, y + 37, verdict, 14, "middle", font_weight="bold")
    return body


def _device() -> str:
    return device_shown().name.removeprefix("NVIDIA ")


def _two_bars(
    theirs: float, ours: float, parts: Sequence[tuple[float, str, float]], title: str
) -> str:
    """Return SVG of the published bar above ours, in percent.

    parts, title: those of our bar.
    """
    published = [(theirs, MULTIPLY_ADDS, 1)]
    body = _bar(0, "2014, machine code by hand, Maxwell", published, f"{theirs:.0f} %")
    return body + _bar(62, title, parts, f"{ours:.0f} %")


def _bar(y: float, title: str, parts: Sequence[tuple[float, str, float]], end: str) -> str:
    """Return SVG of a bar with its title above; parts: (percent, colour, opacity) each.

    end: bold words at the left end of the bar; "" for none.
    """
    body, x = text(_LEFT, y + 14, title, 13, font_weight="bold"), float(_LEFT)
    body += rect(_LEFT, y + 21, 100 * _SCALE, _BAR, _HIDDEN, stroke=GREY)
    for percent, colour, opacity in parts:
        body += rect(x, y + 21, percent * _SCALE, _BAR, colour, fill_opacity=opacity)
        x += percent * _SCALE
    if end:
        body += text(_LEFT + 8, y + 39, end, 15, font_weight="bold", style="fill:#fff")
    return body


def _axis(y: float, whole: str) -> str:
    """Return SVG of an axis from 0 to 100 percent, with five ticks and their numbers.

    y: the baseline of the numbers in pixels. whole: of what they are percent, such as "the peak";
    it is written at 50 %.
    """
    body = ""
    for percent in (0, 25, 50, 75, 100):
        x = _LEFT + percent * _SCALE
        anchor = "start" if percent == 0 else "end" if percent == 100 else "middle"
        body += path(f"M{x:g} {y - 22:g}V{y - 14:g}", stroke=GREY)
        words = f"{percent} % of {whole}" if percent == 50 else f"{percent} %"
        body += text(x, y, words, 12, anchor)
    return body
