"""The picture of a kernel without a guard that writes into the array behind its own."""

from __future__ import annotations

import numpy as np

from utils.division import cdiv
from utils.lessons.cards import Paragraphs
from utils.translation import translate
from virtual_gpu import Trace
from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, path, rect, svg, text

_LEFT, _WIDTH, _CELL = 62, 358, 44  # in pixels; the last is of a thread that is drawn large
_THREADS, _ELEMENTS, _BAR = 20, 62, 20  # top of the two strips, and their height
_LARGE_THREADS, _LARGE_ELEMENTS = 132, 190  # top of the two rows of single threads and elements
_DASHED = {"stroke": GREY, "stroke_dasharray": "3 2"}  # a thread that writes nothing
_SIDE = 4  # threads and elements that are drawn large on each side of the border


def overrun(first: np.ndarray, second: np.ndarray, block: int) -> Picture:
    """Draw two neighbouring arrays below the blocks that were started for the first one.

    The elements of `second` that are not 0 are orange. If there are none, the threads behind
    `first` are dashed. The threads and elements at the border of the arrays are drawn once more,
    one by one.

    Parameters
    ----------
    first, second : ndarray
        Neighbouring one-dimensional arrays. `second` was filled with zeros before the launch.
    block : int
        Threads per block. The grid has as few blocks as `first` needs.
    """
    changed = np.flatnonzero(second)
    unit = _WIDTH / (len(first) + len(second))
    blocks, border = cdiv(len(first), block), _LEFT + len(first) * unit
    parts = [
        text(0, _THREADS + 14, translate("threads")),
        text(0, _ELEMENTS + 14, translate("memory")),
    ]
    for number in range(blocks):
        left, wide = _LEFT + number * block * unit, block * unit
        parts.append(rect(left, _THREADS, min(wide - 2, border - left), _BAR, BLUE, rx=8))
        name = translate("block {number}", number=number)
        parts.append(text(left + wide / 2, _THREADS - 7, name, anchor="middle"))
    end, red = blocks * block * unit, _wide(changed, len(first), unit)
    over = _LEFT + end - border
    if over:
        look = {} if changed.size else _DASHED
        fill = ORANGE if changed.size else "none"
        parts.append(rect(border, _THREADS, over - 2, _BAR, fill, rx=8, **look))
    parts += [rect(_LEFT, _ELEMENTS, border - _LEFT, _BAR, BLUE, fill_opacity=0.3), *red]
    for left, right in ((_LEFT, border), (border, _LEFT + _WIDTH)):
        frame = {"stroke": "currentColor", "stroke_width": 0.8}
        parts.append(rect(left, _ELEMENTS, right - left, _BAR, "none", **frame))
    told = translate("second: {number} overwritten", number=len(changed))
    below = _ELEMENTS + _BAR + 15
    parts.append(text(_LEFT, below, translate("first: {number} elements", number=len(first))))
    parts.append(text(border, below, told))
    parts.append(_at_the_border(len(first), block, changed))
    alt = _alt_text(len(first), block, changed)
    bottom = _LARGE_ELEMENTS + 44
    parts.append(text(_LEFT, bottom - 6, translate("enlarged: the two sides of the border")))
    return Picture(svg(420, bottom, "".join(parts), alt, widest=600), alt)


def _wide(changed: np.ndarray, first: int, unit: float) -> list[str]:
    """Return SVG bars over the changed elements of the second array, one per run of neighbours.

    changed: their indices. first: the length of the first array. unit: pixels per element.
    """
    runs = np.split(changed, np.flatnonzero(np.diff(changed) != 1) + 1)
    return [
        rect(_LEFT + (first + run[0]) * unit, _ELEMENTS, len(run) * unit, _BAR, ORANGE)
        for run in runs
        if run.size
    ]


def _at_the_border(first: int, block: int, changed: np.ndarray) -> str:
    """Return SVG of the threads and elements on both sides of the border, each with its number.

    first: the length of the first array. block: threads per block. changed: indices of the changed
    elements of the second array.
    """
    number, thread = divmod(first, block)
    name = translate("block {number}", number=number)
    parts = [
        text(0, _LARGE_THREADS + 15, translate("thread")),
        text(0, _LARGE_ELEMENTS + 14, translate("element")),
        text(_LEFT + _SIDE * _CELL, _LARGE_THREADS - 8, name, anchor="middle"),
    ]
    for place, i in enumerate(range(first - _SIDE, first + _SIDE)):
        x, beyond = _LEFT + place * _CELL, i >= first
        writes = not beyond or i - first in changed
        colour = ORANGE if beyond else BLUE
        dashed = {} if writes else _DASHED
        white = {"style": "fill:#fff"} if writes else {}
        fill = colour if writes else "none"
        own = {"font_weight": "bold"} if i == first else {}
        middle = x + _CELL / 2 - 3
        parts.append(rect(x, _LARGE_THREADS, _CELL - 6, 22, fill, rx=11, **dashed))
        parts.append(
            text(middle, _LARGE_THREADS + 15, thread + i - first, anchor="middle", **own, **white)
        )
        if writes:
            down = f"M{middle:g} {_LARGE_THREADS + 24}V{_LARGE_ELEMENTS - 2}"
            parts.append(path(down, stroke=colour, stroke_width=2.5 if i == first else 1))
        look = {"stroke": colour if beyond else "currentColor", "stroke_width": 1}
        parts.append(rect(x, _LARGE_ELEMENTS, _CELL - 6, 20, "none", **look))
        parts.append(text(middle, _LARGE_ELEMENTS + 14, i, anchor="middle", **own))
    border = _LEFT + _SIDE * _CELL - 3
    look = {"stroke_dasharray": "2 3", "stroke_width": 1.2}
    parts.append(path(f"M{border} {_LARGE_THREADS - 2}V{_LARGE_ELEMENTS + 22}", **look))
    return "".join(parts)


def _alt_text(first: int, block: int, changed: np.ndarray) -> str:
    """Return the alt text: how many elements are overwritten, and by which thread first.

    Without changed elements, the text says that none is overwritten.
    """
    number, thread = divmod(first, block)
    if not changed.size:
        return translate(
            "No element behind the {first} elements of the first array is overwritten.",
            first=first,
        )
    return translate(
        "Two neighbouring arrays under {blocks} blocks of {threads} threads. Thread {thread} of "
        "block {block} is the first that writes into the second array, and {changed} of its "
        "elements are overwritten.",
        blocks=cdiv(first, block),
        threads=block,
        thread=thread,
        block=number,
        changed=len(changed),
    )


def threads_beyond(traced: Trace) -> int:
    """Return the number of threads of the first finding of a launch.

    This finding must be of the kind "out_of_bounds", so they leave an array at one line.
    """
    return traced.findings[0].threads_in_all


def told_plainly(traced: Trace) -> Paragraphs:
    """Return sentences on threads that leave an array of one dimension, without coordinates.

    They are about the first finding of the launch, which must be of the kind "out_of_bounds".
    """
    finding = traced.findings[0]
    thread, (low, high) = finding.threads[0], finding.index_range
    told = translate(
        "`{line}`: thread {thread} of block {block} uses `{array}[{index}]`, which does not exist. "
        "In all, {threads} threads use elements {low} to {high}.",
        line=finding.site.source,
        thread=thread.thread[0],
        block=thread.block[0],
        array=finding.array,
        index=finding.index[0],
        threads=finding.threads_in_all,
        low=low,
        high=high,
    )
    return Paragraphs((told,))
