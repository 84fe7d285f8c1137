"""A picture of the sums that kernels found when they added the same array again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, path, svg, text

if TYPE_CHECKING:
    from reduce_kernels.bits import BitsOfSum

_WIDTH, _LEFT, _ROW, _TOP = 426, 20, 62, 22


def ulps_between(lowest: str, highest: str) -> int:
    """Return the number of steps from one float32 to the next between two hexadecimal numbers."""
    low, high = (np.float32(float.fromhex(one)) for one in (lowest, highest))
    return round(float((high - low) / np.spacing(max(abs(low), abs(high)))))


def draw_sums(many: BitsOfSum, single: BitsOfSum) -> Picture:
    """Draw the sums of two kernels that added the same array many times, on one axis.

    many: the record of a kernel with different sums. It keeps the lowest and the highest one, which
    are full circles; the float32 between them are pale. single: the record of a kernel with one
    sum. The axis has a tick per float32. The exact sum is a dashed line.
    """
    low, high = float.fromhex(many.lowest), float.fromhex(many.highest)

    def x(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDTH - 2 * _LEFT)

    middle, bottom = x(float.fromhex(many.exact)), _TOP + 2 * _ROW
    body = path(f"M{middle:.1f} {_TOP + 2}V{bottom}", stroke_dasharray="3 3")
    body += _row(0, many, x, ORANGE) + _row(_ROW, single, x, BLUE)
    body += _axis(bottom, many, x)
    body += text(middle, bottom + 19, f"exact: {float.fromhex(many.exact):.5f}", 12, "middle")
    known = (
        f"circles are float32: {many.different} of these {len(_float32_in(many))} were found, "
        f"one {many.most_common} times"
    )
    body += text(_WIDTH / 2, bottom + 39, known, 12, "middle")
    alt = (
        f"{_words(many)} One was found {many.most_common} times. The sums are from {low:.5f} "
        f"to {high:.5f}. {_words(single)} The exact sum is {float.fromhex(many.exact):.5f}. "
        f"Recorded on one {many.device}."
    )
    return Picture(svg(_WIDTH, bottom + 44, body, alt, widest=600), alt)


def _row(y: float, row: BitsOfSum, x: Callable[[float], float], colour: str) -> str:
    """Return SVG of a kernel's name, its number of results, and a circle per float32 in its range.

    x: the function from a value to its place on the axis.
    """
    body = text(0, y + 15, row.kernel, 14, font_weight="bold")
    body += text(_WIDTH, y + 15, f"{row.runs} runs: {_results(row)}", 13, "end", font_weight="bold")
    values = _float32_in(row)
    for value in values:
        pale = "" if value in (values[0], values[-1]) else ' fill-opacity=".4"'
        body += f'<circle cx="{x(value):.1f}" cy="{y + 38}" r="8" fill="{colour}"{pale}/>'
    return body


def _float32_in(row: BitsOfSum) -> np.ndarray:
    """Return all float32 from a kernel's lowest to its highest sum, as a float64 array."""
    low, high = float.fromhex(row.lowest), float.fromhex(row.highest)
    return np.linspace(low, high, ulps_between(row.lowest, row.highest) + 1)


def _axis(y: float, row: BitsOfSum, x: Callable[[float], float]) -> str:
    """Return SVG of the axis at y, with a tick per float32 in the range of a kernel's sums."""
    ticks = _float32_in(row)
    low, high = ticks[0], ticks[-1]
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
