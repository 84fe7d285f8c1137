"""A histogram of the sums that kernels found when they added the same array again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, rect, svg, text

if TYPE_CHECKING:
    from reduce_kernels.bits import BitsOfSum

_WIDTH, _TOP, _LEAST = 426, 44, 2  # the lowest bar's height, so that one run can be seen
_RUN = 0.11  # units of the drawing per run


def ulps_between(lowest: str, highest: str) -> int:
    """Return the distance of two float32 in units in the last place of the larger one, rounded.

    lowest, highest: the two numbers as hexadecimal text of Python, such as "0x1.8p+3".
    """
    low, high = (np.float32(float.fromhex(one)) for one in (lowest, highest))
    return round(float((high - low) / np.spacing(max(abs(low), abs(high)))))


def draw_sums(many: BitsOfSum, single: BitsOfSum) -> Picture:
    """Draw how often each float32 was the sum, as bars, for two kernels that added one array.

    many: the record of a kernel with different sums; the axis goes from its lowest to its highest
    one. single: the record of a kernel with one sum, which is between these. A dashed line is the
    exact sum.
    """
    first = ulps_between(many.lowest, single.lowest)
    counts = (0,) * first + single.counts
    above = _TOP + _RUN * max(many.counts)
    below = above + 28 + _TOP + _RUN * max(single.counts)
    column = _WIDTH / len(many.counts)
    low, high, exact = (float.fromhex(one) for one in (many.lowest, many.highest, many.exact))
    middle = column * (ulps_between(many.lowest, many.highest) * (exact - low) / (high - low) + 0.5)
    body = _bars(above, many, many.counts, column, ORANGE)
    body += _bars(below, single, counts, column, BLUE)
    number = below - _RUN * max(single.counts) - 18  # the top of the number over the high bar
    body += path(f"M{middle:.1f} {above}V{number}M{middle:.1f} {below}v8", stroke_dasharray="3 3")
    body += text(0, below + 21, f"{low:.5f}", 12)
    body += text(_WIDTH, below + 21, f"{high:.5f}", 12, "end")
    body += text(middle, below + 21, f"exact: {exact:.5f}", 12, "middle")
    words = "one column per float32; the number on a bar counts the runs"
    body += text(_WIDTH / 2, below + 39, words, 12, "middle")
    alt = (
        f"{_words(many)} From {low:.5f} to {high:.5f}, each float32 was the sum in "
        f"{', '.join(map(str, many.counts))} runs. {_words(single)} The exact sum is {exact:.5f}. "
        f"Recorded on one {many.device}."
    )
    return Picture(svg(_WIDTH, below + 44, body, alt, widest=600), alt)


def _bars(
    bottom: float, row: BitsOfSum, counts: tuple[int, ...], column: float, colour: str
) -> str:
    """Return SVG of a kernel's name, its number of results, and a bar per float32 with its count.

    bottom: the y of the axis. counts: the runs with each float32, from the left end of the axis on;
    one without runs has no bar. column: the width for one float32.
    """
    top = bottom - _RUN * max(counts) - _TOP
    body = text(0, top + 15, row.kernel, 14, font_weight="bold")
    results = f"{row.runs} runs: {_results(row)}"
    body += text(_WIDTH, top + 15, results, 13, "end", font_weight="bold")
    body += path(f"M0 {bottom}H{_WIDTH}")
    for place, count in enumerate(counts):
        if count:
            height = max(_LEAST, _RUN * count)
            body += rect(place * column + 3, bottom - height, column - 6, height, colour)
            body += text((place + 0.5) * column, bottom - height - 4, count, 12, "middle")
    return body


def _words(row: BitsOfSum) -> str:
    """Return a sentence for the alt text: a kernel's name, its number of runs, and the results."""
    return f"{row.kernel}: {row.runs} runs, {_results(row)}."


def _results(row: BitsOfSum) -> str:
    """Return the number of different results of a kernel as text: "one sum", "3 different sums"."""
    return f"{row.different} different sums" if row.different > 1 else "one sum"
