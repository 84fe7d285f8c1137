"""A picture of the sums that kernels found when they added the same array again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, rect, svg, text

if TYPE_CHECKING:
    from reduce_kernels.bits import BitsOfSum

_WIDTH, _LEFT, _ROW, _TOP = 426, 20, 62, 22


def ulps_between(lowest: str, highest: str) -> int:
    """Return the number of steps from one float32 to the next between two hexadecimal numbers."""
    low, high = (np.float32(float.fromhex(one)) for one in (lowest, highest))
    return round(float((high - low) / np.spacing(max(abs(low), abs(high)))))


def draw_sums(many: BitsOfSum, single: BitsOfSum) -> Picture:
    """Draw the sums of two kernels that added the same array many times, on one axis.

    many: the record of a kernel with different sums, whose range is drawn. single: that of a kernel
    with one sum. The axis has a tick per float32. The exact sum is a dashed line.
    """
    low, high = float.fromhex(many.lowest), float.fromhex(many.highest)

    def x(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDTH - 2 * _LEFT)

    middle, bottom = x(float.fromhex(many.exact)), _TOP + 2 * _ROW
    body = path(f"M{middle:.1f} {_TOP + 2}V{bottom}", stroke_dasharray="3 3")
    body += _row(0, many, x, ORANGE) + _row(_ROW, single, x, BLUE)
    body += _axis(bottom, many, x)
    body += text(middle, bottom + 19, f"exact: {float.fromhex(many.exact):.5f}", 12, "middle")
    body += text(_WIDTH / 2, bottom + 39, "one tick per float32", 12, "middle")
    alt = (
        f"{_words(many)} The sums are from {low:.5f} to {high:.5f}. {_words(single)} The exact sum "
        f"is {float.fromhex(many.exact):.5f}. Recorded on one {many.device}."
    )
    return Picture(svg(_WIDTH, bottom + 44, body, alt, widest=600), alt)


def _row(y: float, row: BitsOfSum, x: Callable[[float], float], colour: str) -> str:
    """Return SVG of a kernel's name, its number of results, and their range on the axis.

    x: the function from a value to its place on the axis.
    """
    first, last = x(float.fromhex(row.lowest)), x(float.fromhex(row.highest))
    body = text(0, y + 15, row.kernel, 14, font_weight="bold")
    results = f"{row.runs} runs: {_results(row)}"
    body += text(_WIDTH, y + 15, results, 13, "end", font_weight="bold")
    return body + rect(first - 5, y + 26, last - first + 10, 20, colour, rx=4)


def _axis(y: float, row: BitsOfSum, x: Callable[[float], float]) -> str:
    """Return SVG of the axis at y, with a tick per float32 in the range of a kernel's sums."""
    low, high = float.fromhex(row.lowest), float.fromhex(row.highest)
    ticks = np.linspace(low, high, ulps_between(row.lowest, row.highest) + 1)
    body = path(f"M{x(low):g} {y}H{x(high):g}")
    body += path("".join(f"M{x(tick):.1f} {y - 4}v8" for tick in ticks))
    body += text(x(low) - _LEFT, y + 19, f"{low:.5f}", 12)
    return body + text(x(high) + _LEFT, y + 19, f"{high:.5f}", 12, "end")


def _words(row: BitsOfSum) -> str:
    """Return a sentence for the alt text: a kernel's name, its number of runs, and the results."""
    return f"{row.kernel}: {row.runs} runs, {_results(row)}."


def _results(row: BitsOfSum) -> str:
    """Return the number of different results of a kernel as text: "one sum", "3 different sums"."""
    return f"{row.different} different sums" if row.different > 1 else "one sum"
