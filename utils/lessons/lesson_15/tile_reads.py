"""Pictures of two tile widths over one piece of c, with the reads of a and b."""

from __future__ import annotations

from utils.figures.roles import MATRIX_A, MATRIX_B, MATRIX_C
from virtual_gpu.pictures.svg import (
    GREY,
    Picture,
    frames,
    legend,
    rect,
    svg,
    text,
)

SIDE, SMALL = 128, 64  # sides of the piece of c, and of the small tile
_PIXEL, _STRIP, _GAP, _TOP = 1.5, 26, 8, 52


def draw_two_designs() -> Picture:
    """Draw a piece of c, 128×128, in four blocks of 64×64 and in one block, side by side.

    A slider goes through the blocks. The strips of a and b that the current block reads are
    highlighted.
    """
    blocks = (SIDE // SMALL) ** 2
    moments = [
        f'<div class="row">{_panel(SMALL, at)}{_panel(SIDE, at)}</div>' for at in range(blocks)
    ]
    labels = [f"block {at + 1}" for at in range(blocks)]
    words = [_words_read(side) for side in (SMALL, SIDE)]
    alt = (
        f"A piece of c of {SIDE}×{SIDE}, and the strips of a and b that its blocks read for one "
        f"step of k. Four blocks of {SMALL}×{SMALL} read {words[0]} words, each strip twice. One "
        f"block of {SIDE}×{SIDE} reads {words[1]} words, each strip once."
    )
    colours = legend(strip_of_a=MATRIX_A, strip_of_b=MATRIX_B, block_of_c=MATRIX_C)
    return Picture(colours + frames(moments, labels, "block"), alt)


def _words_read(side: int, blocks: int | None = None) -> int:
    """Return the number of words of a and b that `blocks` blocks read per step of k.

    Each block computes a side×side tile of c. Without `blocks`, all blocks of the 128×128 piece
    count.
    """
    return (blocks or (SIDE // side) ** 2) * 2 * side


def _panel(side: int, at: int) -> str:
    """Return SVG of the design with side×side tiles while its block with index `at` reads.

    If the design has no block with this index, all its blocks are drawn as done. A caption has the
    words that the blocks up to this one have read per step of k.
    """
    across = SIDE // side
    blocks, length = across**2, side * _PIXEL
    left = _STRIP + _GAP
    done = at >= blocks
    counted = f"{blocks} block{'s' * (blocks > 1)}"
    body = text(0, 15, f"{counted} of {side}×{side}", 14, font_weight="bold")
    for number in range(blocks):
        down, right = divmod(number, across)
        now = number == at
        x, y = left + right * length, _TOP + down * length
        look = {"fill_opacity": 1 if now else 0.3, "stroke": GREY}
        fill = MATRIX_C if now or number < at else "none"
        body += rect(x, y, length - 2, length - 2, fill, **look)
        style = {"style": "fill:#fff"} if now else {}
        body += text(x + length / 2, y + length / 2 + 5, number + 1, 14, "middle", **style)
    for strip in range(across):
        reads_a = not done and at // across == strip
        reads_b = not done and at % across == strip
        y, x = _TOP + strip * length, left + strip * length
        fill_a, fill_b = MATRIX_A if reads_a else "none", MATRIX_B if reads_b else "none"
        body += rect(1, y, _STRIP, length - 2, fill_a, stroke=GREY)
        body += rect(x, _TOP - _GAP - 20, length - 2, 20, fill_b, stroke=GREY)
    body += text(0, _TOP - 12, "a, b", 12)
    bottom = _TOP + SIDE * _PIXEL + 18
    so_far = _words_read(side, min(at + 1, blocks))
    caption = f"{'in all' if at >= blocks - 1 else 'so far'} {so_far} words per step of k"
    body += text(0, bottom, caption, 13)
    alt = f"{counted}: {caption}"
    return svg(left + SIDE * _PIXEL + 30, bottom + 8, body, alt, widest=330)
