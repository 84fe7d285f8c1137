"""The recorded speed of an SM against its threads and their chains, with a law beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from utils.lessons.lesson_09.plot_area import PlotArea
from virtual_gpu.pictures.svg import (
    BLUE,
    GREY,
    KEEP_KEYS,
    LEAVE_KEYS,
    ORANGE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

Law = Callable[[int, int], float]  # (threads, chains) -> percent of the peak

SCHEDULERS, WARP, NEEDED = 4, 32, 4  # NEEDED: multiply-adds of warps under way in a scheduler
_AREA = PlotArea(left=44, right=402, top=64, bottom=222, first=32, last=1024)
_ROWS, _ROW, _BOX, _BOXES = 286, 22, 27, 84  # the rows of the schedulers, below the plot
_WIDTH, _HEIGHT = 420, _ROWS + SCHEDULERS * _ROW + 2
_SCRIPT = Path(__file__).with_suffix(".js")
_MOST_WARPS = _AREA.last // WARP // SCHEDULERS


@dataclass(frozen=True)
class Curves:
    """The shares of the peak in percent that were recorded, and those that a law expects.

    threads, chains: the numbers of threads per SM, and of chains per thread, that were tried.
    recorded, law: (threads, chains) -> percent.
    """

    threads: tuple[int, ...]
    chains: tuple[int, ...]
    recorded: dict[tuple[int, int], float]
    law: dict[tuple[int, int], float]


def draw(frame: pd.DataFrame, law: Law, threads: int, chains: int) -> Picture:
    """Draw one point of the recorded speeds: the curve of its chains, the law, and the warps.

    The speeds are those of multiply-adds on one SM, in percent of its peak, by threads. frame: the
    columns of `latency_kernels.hiding.curves.Point`, with shares of the data sheet's peak. law: a
    function (threads, chains) that returns percent of the peak. threads: those of an SM. chains:
    those of each thread. Raises KeyError if this number of threads is not recorded with these
    chains.
    """
    curves = _curves(frame, law)
    colours = legend(recorded=BLUE, your_law=ORANGE)
    return Picture(colours + _drawing(curves, threads, chains, ()), _alt(curves, threads, chains))


def explore(frame: pd.DataFrame, law: Law, threads: int, chains: int) -> Picture:
    """Draw what `draw` draws, with sliders over threads and chains, and all curves in grey.

    The sliders begin at `threads` and `chains`. The parameters are those of `draw`.
    """
    curves = _curves(frame, law)
    sliders = _slider("threads", curves.threads, threads) + _slider("chains", curves.chains, chains)
    colours = legend(recorded=BLUE, your_law=ORANGE, recorded_with_other_chains=GREY)
    body = (
        f'<div class="threads-and-chains">{sliders}{colours}'
        f"{_drawing(curves, threads, chains, curves.chains)}</div>"
        f"{LEAVE_KEYS}<script>{_script(curves)}</script>"
    )
    return Picture(body, _alt(curves, threads, chains))


def distributed(threads: int) -> list[int]:
    """Return the number of warps of each of an SM's schedulers, the fullest first."""
    warps = threads // WARP
    return [(warps + SCHEDULERS - 1 - one) // SCHEDULERS for one in range(SCHEDULERS)]


def _curves(frame: pd.DataFrame, law: Law) -> Curves:
    """Return the recorded points of one SM, in percent, and what a law expects there."""
    points = frame[(frame["experiment"] == "arithmetic") & (frame["sms"] == 1)]
    keys = [(int(row.threads_per_sm), int(row.floats)) for row in points.itertuples()]
    recorded = {key: 100 * share for key, share in zip(keys, points["share"], strict=True)}
    return Curves(
        threads=tuple(sorted({threads for threads, _ in keys})),
        chains=tuple(sorted({chains for _, chains in keys})),
        recorded=recorded,
        law={key: float(law(*key)) for key in keys},
    )


def _drawing(curves: Curves, threads: int, chains: int, others: tuple[int, ...]) -> str:
    """Return the SVG: the plot with one point chosen, and the schedulers with their warps.

    others: the chains whose recorded curves are drawn in grey.
    """
    ticks = {2**power: f"{2**power:,}" for power in range(5, 11)}
    body = _AREA.axes(ticks, "threads in the SM")
    for other in others:
        body += path(_line(curves.recorded, curves.threads, other), stroke=GREY, opacity=0.45,
                     stroke_width=1)  # fmt: skip
    chosen = [
        ("law", curves.law, {"stroke": ORANGE, "stroke_width": 2, "stroke_dasharray": "3 4"}),
        ("recorded", curves.recorded, {"stroke": BLUE, "stroke_width": 2.5}),
    ]
    for name, percent, look in chosen:
        body += path(_line(percent, curves.threads, chains), **_named(name), **look)
    x, y = _AREA.at(threads, curves.recorded[threads, chains])
    body += f'<circle class="point" cx="{x:g}" cy="{y:g}" r="6" fill="{BLUE}"/>'
    under_way, shares = _titles(curves, threads, chains)
    body += text(0, 13, under_way, 14, font_weight="bold", **_named("under-way"))
    body += text(0, 31, shares, 13, **_named("shares"))
    return svg(_WIDTH, _HEIGHT, body + _schedulers(threads, chains), _alt(curves, threads, chains),
               widest=560)  # fmt: skip


def _line(percent: dict[tuple[int, int], float], threads: tuple[int, ...], chains: int) -> str:
    """Return the `d` attribute of an SVG path: percent by threads, for a number of chains.

    percent: (threads, chains) -> percent. threads: the numbers of threads, in ascending order.
    """
    return _AREA.commands((one, percent[one, chains]) for one in threads)


def _titles(curves: Curves, threads: int, chains: int) -> tuple[str, str]:
    """Return the two rows of words above the plot.

    The first one has the multiply-adds in flight, the second one the recorded share of the peak and
    that by the law.
    """
    key = (threads, chains)
    return (
        f"{threads:,} threads × {chains} = {threads * chains:,} under way",
        f"{curves.recorded[key]:.1f} % recorded, {curves.law[key]:.1f} % by the law",
    )


def _named(name: str) -> dict[str, str]:
    """Return {"class": name}, the attribute by which the sliders' script finds an element."""
    return {"class": name}


def _schedulers(threads: int, chains: int) -> str:
    """Return the SVG of a row per scheduler: a box per warp with its chains, and words by `_needs`.
    """
    body = text(0, _ROWS - 8, "a box is a warp, its number the warp's chains", 12)
    for number, warps in enumerate(distributed(threads)):
        y = _ROWS + number * _ROW
        body += text(0, y + 13, f"scheduler {number}", 12)
        for warp in range(_MOST_WARPS):
            look = {} if warp < warps else {"visibility": "hidden"}
            x = _BOXES + warp * _BOX
            body += rect(x, y, _BOX - 3, _ROW - 4, BLUE, rx=2, **_named("warp"), **look)
            body += text(x + (_BOX - 3) / 2, y + 13.5, chains, 12, "middle", style="fill:#fff",
                         **_named("of-warp"), **look)  # fmt: skip
        words = _needs(warps * chains)
        body += text(_WIDTH - 4, y + 13, words, 12, "end", **_named("needs"))
    return body


def _needs(under_way: int) -> str:
    """Return text on a scheduler's multiply-adds of warps in flight, such as "3 of 4 needed"."""
    return f"{under_way} of {NEEDED} needed"


def _alt(curves: Curves, threads: int, chains: int) -> str:
    """Return the alt text: the chosen point, its warps, and the curve of its chains."""
    curve = ", ".join(
        f"{curves.recorded[one, chains]:.0f} % with {one}" for one in curves.threads
    )
    warps = ", ".join(map(str, distributed(threads)))
    return (
        f"{': '.join(_titles(curves, threads, chains))}. The schedulers have {warps} warps. "
        f"The recorded share of the peak with {_words('chains', chains)} is {curve} threads."
    )


def _slider(what: str, values: tuple[int, ...], chosen: int) -> str:
    """Return the HTML of a slider over the values of a quantity, which begins at `chosen`.

    what: the quantity, "threads" or "chains".
    """
    return (
        f'<div class="controls"><input type="range" {KEEP_KEYS} class="{what}" min="0" '
        f'max="{len(values) - 1}" value="{values.index(chosen)}" aria-label="{what}">'
        f'<output class="{what}">{_words(what, chosen)}</output></div>'
    )


def _words(what: str, count: int) -> str:
    """Return the words beside a slider, such as "1 chain per thread"."""
    if what == "threads":
        return f"{count:,} threads in the SM"
    return f"{count} chain{'s' * (count != 1)} per thread"


def _script(curves: Curves) -> str:
    """Return the text of the sliders' JavaScript, with the words and the paths of every point."""
    points = {
        f"{threads} {chains}": {
            "titles": _titles(curves, threads, chains),
            "at": _AREA.at(threads, curves.recorded[threads, chains]),
            "needs": [_needs(warps * chains) for warps in distributed(threads)],
            "warps": distributed(threads),
        }
        for threads, chains in curves.recorded
    }
    lines = {
        chains: {
            "law": _line(curves.law, curves.threads, chains),
            "recorded": _line(curves.recorded, curves.threads, chains),
        }
        for chains in curves.chains
    }
    words = {
        what: [_words(what, one) for one in getattr(curves, what)] for what in ("threads", "chains")
    }
    data = {"threads": curves.threads, "chains": curves.chains, "points": points, "lines": lines,
            "words": words, "most": _MOST_WARPS}  # fmt: skip
    return _SCRIPT.read_text(encoding="utf-8").replace("DATA", json.dumps(data))
