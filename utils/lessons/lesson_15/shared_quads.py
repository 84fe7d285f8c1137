"""Picture of the quads of shared memory that lanes read: row by row, and in the zig-zag."""

from __future__ import annotations

import numpy as np

from utils.lessons.lesson_15.thread_bits import quad_of
from utils.machine.occupancy import WARP
from virtual_gpu.counts.transactions import Pattern, wavefronts
from virtual_gpu.pictures.svg import Picture, rect, svg, text

_SHOWN, _BYTES = 8, 16  # lanes in the picture, bytes of a quad
_LEFT, _BOX, _STRIP, _PANEL = 34, 34, 30, 116


def draw_shared_quads() -> Picture:
    """Draw the quads of `sb` and `sa` that lanes 0 to 7 read, with the wavefronts of a warp."""
    maps = {
        "row by row": [divmod(lane, _SHOWN) for lane in range(WARP)],
        "the zig-zag": [quad_of(lane) for lane in range(WARP)],
    }
    body, said = "", []
    for number, (name, quads) in enumerate(maps.items()):
        top = number * _PANEL
        body += text(0, top + 14, name, 13, font_weight="bold")
        body += text(0, top + 32, "lane", 12)
        for lane in range(_SHOWN):
            body += text(_LEFT + (lane + 0.5) * _BOX - 1.5, top + 32, lane, 12, "middle")
        for row, (array, read) in enumerate(zip(("sa", "sb"), zip(*quads), strict=True)):
            count = _wavefronts_of(read)
            body += _strip(array, read, top + 38 + row * _STRIP, count)
            listed = ", ".join(map(str, read[:_SHOWN]))
            said.append(f"{name}: lanes 0 to 7 read quads {listed} of {array}, {count} wavefronts")
    alt = f"Quads that lanes read. {'. '.join(said)}."
    return Picture(svg(420, 2 * _PANEL - 8, body, alt, widest=620), alt)


def _wavefronts_of(quads: tuple[int, ...]) -> int:
    """Return the wavefronts of a warp whose lanes read these quads of one array."""
    first = _BYTES * np.array([quads])
    return wavefronts(Pattern(first, np.ones(first.shape, bool)), _BYTES)


def _strip(array: str, quads: tuple[int, ...], y: float, count: int) -> str:
    """Return SVG of the quads that lanes 0 to 7 read; equal quads have the same colour.

    quads: the index of each lane's quad. y: the top in pixels. count: the number of wavefronts,
    which is written behind them.
    """
    body = text(0, y + 18, array, 13)
    for lane, quad in enumerate(quads[:_SHOWN]):
        x = _LEFT + lane * _BOX
        body += rect(x, y, _BOX - 3, _STRIP - 5, f"hsl({205 + 80 * quad},50%,40%)", rx=3)
        body += text(x + _BOX / 2 - 1.5, y + 17, quad, 13, "middle", style="fill:#fff")
    return body + text(_LEFT + _SHOWN * _BOX + 6, y + 18, f"{count} wavefronts", 12.5)
