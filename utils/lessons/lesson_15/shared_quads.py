"""Picture of the quads of shared memory that lanes read: row by row, and in the zig-zag."""

from __future__ import annotations

import numpy as np

from utils.lessons.lesson_15.thread_bits import quad_of
from utils.machine.occupancy import WARP
from virtual_gpu.counts.transactions import Pattern, wavefronts
from virtual_gpu.pictures.svg import GREY, Picture, path, rect, svg, text

_SHOWN, _BYTES = 8, 16  # lanes in the picture, bytes of a quad
_LEFT, _BOX, _STRIP, _PANEL = 34, 34, 38, 132
_HUES = {"sa": (205, 80), "sb": (20, 40)}  # of quad 0, and from one quad to the next


def draw_shared_quads() -> Picture:
    """Draw the quads of `sa` and `sb` that lanes 0 to 7 read, with the wavefronts of a warp's read.

    There is one panel for lanes that are numbered row by row, and one for the zig-zag.
    """
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
    return Picture(svg(420, 2 * _PANEL - 8, body, alt, widest=530), alt)


def _wavefronts_of(quads: tuple[int, ...]) -> int:
    """Return the wavefronts of a warp whose lanes read these quads of one array."""
    first = _BYTES * np.array([quads])
    return wavefronts(Pattern(first, np.ones(first.shape, bool)), _BYTES)


def _strip(array: str, quads: tuple[int, ...], y: float, count: int) -> str:
    """Return SVG of the quads that lanes 0 to 7 read; equal quads have the same colour.

    Lines below the quads join the lanes of a pair that shares one. quads: the index of each lane's
    quad. y: the top in pixels. count: the number of wavefronts, which is written behind them.
    """
    body = text(0, y + 18, array, 13) + _pairs(quads, y + 27)
    hue, step = _HUES[array]
    for lane, quad in enumerate(quads[:_SHOWN]):
        x = _LEFT + lane * _BOX
        body += rect(x, y, _BOX - 3, 25, f"hsl({hue + step * quad},50%,38%)", rx=3)
        body += text(x + _BOX / 2 - 1.5, y + 17, quad, 13, "middle", style="fill:#fff")
    return body + text(_LEFT + _SHOWN * _BOX + 6, y + 18, f"{count} wavefronts", 12.5)


def _pairs(quads: tuple[int, ...], y: float) -> str:
    """Return SVG of a bracket per pair of lanes that share a quad: (0, 1), … or (0, 2), ….

    There is none if neither kind of pairs has equal quads throughout. y: the top in pixels.
    """
    apart = next((one for one in (1, 2) if _all_share(quads, one)), 0)
    body = ""
    for lane in range(_SHOWN * (apart > 0)):
        if lane & apart:
            continue
        deep = y + 3 + 3 * (lane & 1)
        left, right = (_LEFT + (one + 0.5) * _BOX - 1.5 for one in (lane, lane | apart))
        body += path(f"M{left:g} {y:g}V{deep:g}H{right:g}V{y:g}", stroke=GREY)
    return body


def _all_share(quads: tuple[int, ...], apart: int) -> bool:
    return all(quads[lane] == quads[lane ^ apart] for lane in range(len(quads)))
