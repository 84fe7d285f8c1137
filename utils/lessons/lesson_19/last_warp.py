"""Pictures of the warps that add in each step of a tree, and of those that wait at a barrier."""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, path, rect, svg, text

WARP = 32
_LEFT, _WARP, _GAP, _BAR = 84, 30, 4, 14  # _WARP: the width of a warp with 32 adding lanes
_TOP, _STEP = 34, 28


def draw_last_warp(threads: int = 256) -> Picture:
    """Draw the steps of a reduction tree from top to bottom, with the warps that add in each step.

    A barrier follows each step. `threads` is the size of the block, a power of two of at least 64.
    """
    warps, steps = threads // WARP, strides(threads)
    right = _LEFT + warps * (_WARP + _GAP)
    body = text(0, 20, "stride", 12) + text(_LEFT - 8, 20, "warp", 12, "end")
    body += "".join(
        text(_LEFT + warp * (_WARP + _GAP) + _WARP / 2, 20, warp, 12, "middle")
        for warp in range(warps)
    )
    for number, stride in enumerate(steps):
        body += _step(_TOP + number * _STEP, stride, warps, right)
    alone = sum(stride <= WARP for stride in steps)
    body += _bracket(right + 2, len(steps) - alone, len(steps))
    idle = sum(lanes_that_add(stride, warps).count(0) for stride in steps)
    alt = (
        f"A tree over {threads} words in {warps} warps: {len(steps)} steps, with a barrier after "
        f"each. In the last {alone}, warp 0 adds alone. {idle} of {len(steps) * warps} times a "
        "warp has nothing to add and only comes to the barrier."
    )
    colours = legend(lanes_that_add=BLUE, barrier=ORANGE)
    height = _TOP + len(steps) * _STEP
    return Picture(colours + svg(right + 86, height, body, alt, widest=560), alt)


def strides(threads: int) -> list[int]:
    """Return the strides of the tree's steps: threads / 2, threads / 4, and so on down to 1."""
    return [threads >> bit for bit in range(1, threads.bit_length())]


def lanes_that_add(stride: int, warps: int) -> list[int]:
    """Return how many lanes of each warp add in a step, as one count per warp in order.

    Threads whose number is below the stride add.
    """
    return [min(WARP, max(0, stride - WARP * warp)) for warp in range(warps)]


def _step(y: float, stride: int, warps: int, right: float) -> str:
    """Return SVG of a row of warps, each filled in proportion to its adding lanes, over a barrier.

    The row begins at y and ends at x = `right`; the stride is written on its left.
    """
    body = text(0, y + 12, stride, 13)
    for warp, lanes in enumerate(lanes_that_add(stride, warps)):
        x = _LEFT + warp * (_WARP + _GAP)
        dashes = {} if lanes else {"stroke_dasharray": "3 3"}
        body += rect(x, y, _WARP, _BAR, "none", stroke=GREY, **dashes)
        body += rect(x, y, max(1.5, _WARP * lanes / WARP), _BAR, BLUE) if lanes else ""
    below = y + _BAR + 6
    return body + path(f"M{_LEFT} {below}H{right - _GAP}", stroke=ORANGE, stroke_width=2.5)


def _bracket(x: float, first: int, end: int) -> str:
    """Return SVG of a bracket at x, labelled as the steps in which warp 0 adds alone.

    `first` is the index of the first of these steps, and `end` the index after the last one.
    """
    top, bottom = _TOP + first * _STEP, _TOP + end * _STEP - _STEP + _BAR
    body = path(f"M{x} {top}h8V{bottom}h-8")
    middle = (top + bottom) / 2
    return (
        body + text(x + 14, middle - 3, "warp 0", 12) + text(x + 14, middle + 12, "adds alone", 12)
    )
