"""The wavefronts that a warp's reads of both tiles take in one step of k, as bars."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from utils.figures.roles import MATRIX_A, MATRIX_B
from utils.ladder.step import Variant
from utils.lessons.counting import watch
from virtual_gpu.counts.transactions import Pattern, wavefronts
from virtual_gpu.pictures.svg import Picture, legend, rect, svg, text

SHAPE = "128x128x16"
WORD, QUAD = 4, 16  # bytes
_LEFT, _UNIT, _HEIGHT, _ROW = 128, 9, 22, 34


def wavefronts_of_step(variant: Variant) -> Mapping[str, tuple[int, int]]:
    """Return tile -> (reads, wavefronts of one read) of a warp in one step of k, for "sa" and "sb".

    A thread needs TM words of sa and TN words of sb. The reads are those of machine code: words of
    a row are read four at a time, because the compiler joins such reads, and the words of a column
    one by one.
    """
    trace, words = (
        watch(variant, SHAPE),
        {"sa": variant.constants["TM"], "sb": variant.constants["TN"]},
    )
    found = {}
    for tile, needed in words.items():
        access = trace.warp_access(tile)
        is_wide = tile == "sb" or access.itemsize == QUAD
        size = QUAD if is_wide else WORD
        first = np.array(access.addresses)[None]
        one = wavefronts(Pattern(first, np.ones_like(first, bool)), size)
        found[tile] = (needed * WORD // size, int(one))
    return found


def draw_step_wavefronts(**variants: Variant) -> Picture:
    """Draw a bar of wavefronts per kernel for one step of k, with a part for each tile.

    variants: the keyword is the name that the reader sees. Each has 8×8 elements of c per thread.
    """
    counts = {name: wavefronts_of_step(one) for name, one in variants.items()}
    body, words = "", []
    for row, (name, tiles) in enumerate(counts.items()):
        y, x = row * _ROW + 4, _LEFT
        body += text(0, y + 16, name, 13)
        for tile, colour in (("sa", MATRIX_A), ("sb", MATRIX_B)):
            reads, each = tiles[tile]
            width = reads * each * _UNIT
            body += rect(x, y, width - 1, _HEIGHT, colour)
            body += text(
                x + width / 2, y + 16, f"{reads} × {each}", 12, "middle", style="fill:#fff"
            )
            x += width
        total = sum(reads * each for reads, each in tiles.values())
        body += text(x + 6, y + 16, total, 13, font_weight="bold")
        parts = " and ".join(
            f"{reads} reads of {tile} with {each} wavefronts each"
            for tile, (reads, each) in tiles.items()
        )
        words.append(f"{name}: {parts}, {total} in all.")
    alt = "Wavefronts of a warp in one step of k. " + " ".join(words)
    width = _LEFT + 32 * _UNIT + 34
    drawn = svg(width, len(counts) * _ROW + 4, body, alt, widest=width)
    return Picture(legend(reads_of_a=MATRIX_A, reads_of_b=MATRIX_B) + drawn, alt)
