"""The first picture of the course: threads over the elements of an array."""

from __future__ import annotations

from collections.abc import Sequence

from utils.division import cdiv
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, GREY, Picture, frames, path, rect, svg, text

_LEFT, _CELL, _GAP = 62, 19, 8
_LABELS, _THREADS, _ELEMENTS = 13, 20, 76  # top of each row of the picture


def threads_over_elements(block: int = 4, lengths: Sequence[int] = tuple(range(6, 17))) -> Picture:
    """Draw an array's elements below the blocks of threads that cover them, with a slider.

    The slider chooses the length of the array. A thread without an element is dashed.

    Parameters
    ----------
    block : int
        Threads per block.
    lengths : sequence of int
        Lengths of the array, one drawing each. The slider starts at the first length.
    """
    most = cdiv(max(lengths), block)
    drawings = [_drawing(length, block, most) for length in lengths]
    labels = [translate("{number} elements", number=length) for length in lengths]
    return Picture(frames(drawings, labels, translate("elements")), _alt_text(lengths[0], block))


def _drawing(length: int, block: int, most: int) -> str:
    """Return an SVG of the blocks of threads above an array of one length.

    The SVG is wide enough for `most` blocks, so that the drawings of all lengths have one scale.
    """
    blocks = cdiv(length, block)
    parts = [
        text(0, _THREADS + 13, translate("thread")),
        text(0, _ELEMENTS + 13, translate("element")),
    ]
    for number in range(blocks):
        middle = (_left(number * block, block) + _left((number + 1) * block - 1, block) + _CELL) / 2
        parts.append(
            text(middle, _LABELS, translate("block {number}", number=number), anchor="middle")
        )
    for i in range(blocks * block):
        x, busy = _left(i, block), i < length
        dashed = {} if busy else {"stroke": GREY, "stroke_dasharray": "3 2"}
        fill = BLUE if busy else "none"
        parts.append(rect(x, _THREADS, _CELL - 2, _CELL - 2, fill, rx=8, **dashed))
        white = {"style": "fill:#fff"} if busy else {}
        parts.append(text(x + _CELL / 2 - 1, _THREADS + 13, i % block, anchor="middle", **white))
        if busy:
            down = f"M{x + _CELL / 2 - 1:g} {_THREADS + _CELL}V{_ELEMENTS - 3}"
            parts.append(path(down, stroke=BLUE))
            parts.append(_element(x, i))
    last = _ELEMENTS + _CELL + 18
    caption = translate(
        "{blocks} blocks of {threads} threads over {elements} elements. Dashed: no element.",
        blocks=blocks, threads=block, elements=length,
    )  # fmt: skip
    parts.append(text(0, last, caption))
    width = _left(most * block - 1, block) + _CELL
    return svg(width, last + 5, "".join(parts), _alt_text(length, block), widest=1.15 * width)


def _left(i: int, block: int) -> int:
    """Return x of the left edge of thread or element i, in pixels. block: threads per block."""
    return _LEFT + i * _CELL + i // block * _GAP


def _element(x: float, i: int) -> str:
    """Return the SVG of element i of the array. x: its left edge in pixels."""
    box = rect(x, _ELEMENTS, _CELL - 2, _CELL - 2, "none", stroke="currentColor", stroke_width=0.8)
    return box + text(x + _CELL / 2 - 1, _ELEMENTS + 13, i, anchor="middle")


def _alt_text(length: int, block: int) -> str:
    """Return the alt text for an array of this length."""
    blocks = cdiv(length, block)
    figures = {"elements": length, "blocks": blocks, "each": block, "threads": blocks * block}
    idle = blocks * block - length
    if not idle:
        return translate(
            "{elements} elements under {blocks} blocks of {each} threads. Each element belongs to "
            "one of the {threads} threads; none is left over.", **figures,
        )  # fmt: skip
    if idle == 1:
        return translate(
            "{elements} elements under {blocks} blocks of {each} threads. Each element belongs to "
            "one of the {threads} threads; the last one has none.", **figures,
        )  # fmt: skip
    return translate(
        "{elements} elements under {blocks} blocks of {each} threads. Each element belongs to one "
        "of the {threads} threads; the last {idle} of them have none.", idle=idle, **figures,
    )  # fmt: skip
