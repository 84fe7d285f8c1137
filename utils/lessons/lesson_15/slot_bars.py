"""Bars of 100 issue slots: the published share, the course's, and the use of all slots."""

from __future__ import annotations

from collections.abc import Sequence

from utils.ladder.step import Step, Variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_15.iterations import IssueSlots, slots_of
from utils.lessons.recorded import share_of_peak
from utils.measuring import records
from virtual_gpu.pictures.svg import GREEN, GREY, ORANGE, Picture, path, rect, svg, text

SUSPECTS = ("bits", "tiles", "stores")
_WIDTH, _LEFT, _SCALE, _BAR = 412, 6, 4.0, 26
_HIDDEN = "none"


def published_share() -> float:
    """Return the share of the peak that maxas reached, as its source prints it, in percent."""
    frame = records.published("gemm_gpu")
    return float(frame.loc[frame["kernel"] == "maxas", "efficiency_pct"].iloc[0])


def draw_missing(step: Step | Variant) -> Picture:
    """Draw the published and the recorded share of the peak as bars, and the gap with suspects.

    The published share is that of maxas, and the recorded one is that of the step on the device
    shown. The suspects, "bits", "tiles" and "stores", are written below as questions.
    """
    theirs, ours = published_share(), 100 * share_of_peak(step)
    gap = round(theirs) - round(ours)
    device = device_shown().name.removeprefix("NVIDIA ")
    body = _bar(0, "2014, machine code by hand, Maxwell", [(theirs, GREEN, 1)], f"{theirs:.0f} %")
    parts = [(ours, GREEN, 1), (theirs - ours, ORANGE, 0.25)]
    body += _bar(62, f"the same design in Python, {device}", parts, f"{ours:.0f} %")
    middle = _LEFT + _SCALE * (ours + theirs) / 2
    body += text(middle, 62 + 39, f"{gap} %?", 15, "middle", font_weight="bold")
    body += _axis(134, "the peak") + text(_LEFT, 176, "suspects:", 13)
    for number, name in enumerate(SUSPECTS):
        x = 92 + number * 106
        body += rect(x, 156, 92, 30, _HIDDEN, stroke=ORANGE, stroke_width=1.5, rx=6)
        body += text(x + 46, 176, f"{name}?", 14, "middle")
    alt = (
        f"Two bars in percent of the peak: {theirs:.0f} % in 2014 and {ours:.0f} % in Python on "
        f"the {device}. The gap has {gap} %, with a question mark, and three suspects: bits, "
        "tiles and stores."
    )
    return Picture(svg(_WIDTH, 192, body, alt, widest=620), alt)


def draw_slots(step: Step | Variant, shape: str = "4096") -> Picture:
    """Draw how 100 issue slots of a Maxwell design are used, by the record and its machine code.

    shape: the problem size as on the command line. A bar is divided into multiply-adds, other
    instructions, slots of SMs without a block in the last round, and slots in which no warp issues.
    """
    slots = slots_of(step, shape)
    rows = _rows(slots)
    parts = [(100 * share, colour, opacity) for _, share, colour, opacity in rows]
    body = _bar(0, f"100 issue slots, n = {shape}", parts, "")
    body += _axis(72, "the slots")
    for number, (words, share, colour, opacity) in enumerate(rows):
        y = 104 + number * 22
        body += rect(_LEFT, y, 14, 14, colour, fill_opacity=opacity, stroke=GREY)
        body += text(_LEFT + 64, y + 12, f"{100 * share:.1f}", 13, "end")
        body += text(_LEFT + 74, y + 12, words, 13)
    alt = "Of 100 issue slots: " + ", ".join(
        f"{100 * share:.1f} {words}" for words, share, *_ in rows
    )
    return Picture(svg(_WIDTH, 108 + 22 * len(rows), body, f"{alt}.", widest=620), f"{alt}.")


def _rows(slots: IssueSlots) -> list[tuple[str, float, str, float]]:
    """Return (words, fraction of the slots, colour, opacity) of each part, in the bar's order."""
    return [
        ("multiply-adds", slots.multiply_adds, GREEN, 1),
        ("other instructions", slots.other_instructions, ORANGE, 1),
        ("tiles: SMs without a block in the last round", slots.last_round, GREY, 1),
        ("no warp can start its next instruction", slots.rest, ORANGE, 0.25),
    ]


def _bar(y: float, title: str, parts: Sequence[tuple[float, str, float]], end: str) -> str:
    """Return the SVG of a horizontal bar of 100 percent with its title above.

    y: the top of the title in pixels. parts: (percent, colour, opacity) of each part, from left to
    right. end: white text on the left end of the bar; "" for none.
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
    """Return the SVG of an axis from 0 to 100 percent, whose labels are at y.

    whole: what 100 % is, such as "the peak"; it is written at 50 %.
    """
    body = ""
    for percent in (0, 25, 50, 75, 100):
        x = _LEFT + percent * _SCALE
        anchor = "start" if percent == 0 else "end" if percent == 100 else "middle"
        body += path(f"M{x:g} {y - 22:g}V{y - 14:g}", stroke=GREY)
        words = f"{percent} % of {whole}" if percent == 50 else f"{percent} %"
        body += text(x, y, words, 12, anchor)
    return body
