"""Blocks that add their sums in another order: a picture of two runs, and a count of results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from virtual_gpu.pictures.svg import Picture, path, rect, svg, text

SUMS = (33_554_432, 1, 1, 2)  # of blocks 0 to 3; their exact sum is a float32, too
RUNS = {"one run": (0, 1, 2, 3), "another run": (1, 3, 2, 0)}  # the order in which the blocks come
_WIDTH, _HEIGHT = 426, 112
_COLUMN, _BOX = 96, 84


def running_sums(order: Sequence[int], sums: Sequence[int] = SUMS) -> list[int]:
    """Return the value of the result after each block has added its sum to it in float32.

    order: the numbers of the blocks in the order in which they add. sums: the sum of each block.
    """
    totals = np.add.accumulate(np.array([sums[block] for block in order], np.float32))
    return [int(total) for total in totals]


def different_sums(values: np.ndarray, blocks: int = 64, orders: int = 1000) -> int:
    """Return the number of different float32 results if blocks add their sums in random orders.

    Each block adds an equal part of `values`, (n,), and then its sum to the result. Values and sums
    are float32. blocks: their number, a divisor of n. orders: the number of orders, which are the
    same in every call.
    """
    sums = values.astype(np.float32).reshape(blocks, -1).sum(axis=1)
    in_order = np.random.default_rng(20).permuted(np.tile(sums, (orders, 1)), axis=1)
    return len(np.unique(np.add.accumulate(in_order, axis=1)[:, -1]))


def draw_orders() -> Picture:
    """Draw two runs: each block with the sum that it adds, and the value of out[0] after it.

    The runs are those of `RUNS`: the same four blocks add in two different orders. Above each run
    is its error.
    """
    body = "".join(
        f'<g transform="translate(0 {number * _HEIGHT})">{_run(name, order)}</g>'
        for number, (name, order) in enumerate(RUNS.items())
    )
    alt = " ".join(_words(name, order) for name, order in RUNS.items())
    return Picture(svg(_WIDTH, len(RUNS) * _HEIGHT - 12, body, alt, widest=600), alt)


def _run(name: str, order: Sequence[int]) -> str:
    """Return SVG of one run: its name, the blocks in their order, and out[0] after each of them."""
    totals = running_sums(order)
    body = text(0, 16, name, 14, font_weight="bold")
    body += text(_WIDTH - 10, 16, _error(totals), 13, "end", font_weight="bold")
    body += text(0, 84, "out[0]", 12)
    for column, (block, total) in enumerate(zip(order, totals, strict=True)):
        middle, last = 84 + column * _COLUMN, column == len(order) - 1
        body += text(middle, 38, f"block {block} adds", 12, "middle")
        body += text(middle, 54, f"{SUMS[block]:,}", 12, "middle")
        edge = {"stroke": "currentColor", "stroke_width": 2.5 if last else 1}
        body += rect(middle - _BOX / 2, 66, _BOX, 26, "none", rx=3, **edge)
        body += text(middle, 84, f"{total:,}", 12 if last else 13, "middle", **_bold(last))
        if not last:
            body += path(f"M{middle + _BOX / 2} 79h{_COLUMN - _BOX}")
    return body


def _bold(last: bool) -> dict[str, str]:
    """Return the SVG attribute for bold text if `last`, else no attribute."""
    return {"font_weight": "bold"} if last else {}


def _error(totals: Sequence[int]) -> str:
    """Return text on the error of the last sum, such as "2 too small", or "exact"."""
    missing = sum(SUMS) - totals[-1]
    return f"{missing} too small" if missing else "exact"


def _words(name: str, order: Sequence[int]) -> str:
    """Return a sentence on a run for the alt text.

    It has each block with the sum that it adds and the value of out[0] after it, and the error of
    the result. order: the numbers of the blocks in the order in which they add.
    """
    steps = zip(order, running_sums(order), strict=True)
    told = ", ".join(f"block {block} adds {SUMS[block]:,} and leaves {total:,}"
                     for block, total in steps)  # fmt: skip
    return f"{name.capitalize()}: {told}. The result is {_error(running_sums(order))}."
