"""Pictures of lane maps: the quads of a and b that each wavefront of a warp's read delivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from utils.figures.roles import MATRIX_A, MATRIX_B
from virtual_gpu.counts.transactions import BANK_BYTES, BANKS, in_pairs
from virtual_gpu.pictures.svg import (
    GREY,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

LaneMap = Callable[[int], tuple[int, int]]

LANES, QUAD = 32, 4
SLOTS = BANKS // QUAD  # quads that one wavefront can deliver
_WIDTH, _HEIGHT = 288, 26  # width of all columns of quads, height of one row
_LEFT, _TOP, _BOX = 62, 62, 14
_WHITE = "fill:#fff"


@dataclass(frozen=True)
class Wavefront:
    """One wavefront of a warp's read of `array`, which is "a" or "b".

    `lanes` are the numbers of the lanes that get their words in this wavefront. `quads` are the
    indices of the quads that it delivers; a quad is four consecutive words.
    """

    array: str
    lanes: tuple[int, ...]
    quads: tuple[int, ...]


def draw_lane_maps(**maps: LaneMap) -> Picture:
    """Draw several lane maps side by side, with a slider over the wavefronts of a warp's two reads.

    In the first read each lane reads its quad of a, and in the second its quad of b. A quad is four
    consecutive words.

    Parameters
    ----------
    **maps : callable
        Functions from a lane, 0 to 31, to the indices (quad of a, quad of b) that it reads. The
        keyword is the name that the reader sees, with _ for spaces.
    """
    named = {name.replace("_", " "): lane_map for name, lane_map in maps.items()}
    wavefronts = {name: wavefronts_of(lane_map) for name, lane_map in named.items()}
    most = max(map(len, wavefronts.values()))
    rows = 1 + max(one(lane)[0] for one in named.values() for lane in range(LANES))
    moments = [
        '<div class="row">'
        + "".join(_panel(name, named[name], wavefronts[name], moment, rows) for name in named)
        + "</div>"
        for moment in range(most)
    ]
    labels = [f"wavefront {moment + 1}" for moment in range(most)]
    descriptions = " ".join(_description(name, wavefronts[name]) for name in named)
    alt = f"The quads of a warp, each with the number of its lane. {descriptions}"
    colours = legend(read_of_a=MATRIX_A, read_of_b=MATRIX_B)
    return Picture(colours + frames(moments, labels, "wavefront"), alt)


def wavefronts_of(lane_map: LaneMap) -> tuple[Wavefront, ...]:
    """Return the wavefronts of a warp's read of a, in order, followed by those of its read of b.

    `lane_map` is a function from a lane, 0 to 31, to the indices (quad of a, quad of b) that the
    lane reads.
    """
    down, across = np.array([lane_map(lane) for lane in range(LANES)]).T
    return tuple(
        Wavefront(array, lanes, quads_delivered)
        for array, quads in (("a", down), ("b", across))
        for lanes, quads_delivered in _wavefronts(quads)
    )


def _wavefronts(quads: np.ndarray) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield (lanes, quads) of each wavefront of one read; `quads` has the quad index per lane.

    As in hardware, a wavefront serves lanes of one half of the warp if pairs of lanes read the same
    quads, else lanes of one quarter. Different quads in the same banks need different wavefronts.
    """
    first = (quads * QUAD * BANK_BYTES)[None]
    groups = 2 if in_pairs(first, np.ones_like(first, bool))[0] else 4
    for lanes in np.arange(LANES).reshape(groups, -1):
        requested = np.unique(quads[lanes])
        slots = requested % SLOTS
        ranks = [int((slots[:at] == slot).sum()) for at, slot in enumerate(slots)]
        for now in range(max(ranks) + 1):
            delivered = [
                int(quad) for quad, rank in zip(requested, ranks, strict=True) if rank == now
            ]
            served = [int(lane) for lane in lanes if quads[lane] in delivered]
            yield tuple(served), tuple(delivered)


def _panel(
    name: str, lane_map: LaneMap, wavefronts: tuple[Wavefront, ...], moment: int, panel_rows: int
) -> str:
    """Return SVG of one lane map in its wavefront with index `moment`.

    The quads of a are on the left, those of b above, and the lanes are between them. After the last
    wavefront no quad is highlighted. `panel_rows` is the number of rows of lanes that the height
    leaves room for.
    """
    positions = [lane_map(lane) for lane in range(LANES)]
    rows, columns = (max(coordinates) + 1 for coordinates in zip(*positions, strict=True))
    column_width = _WIDTH / columns
    now = wavefronts[moment] if moment < len(wavefronts) else Wavefront("", (), ())
    colour = MATRIX_A if now.array == "a" else MATRIX_B
    body = text(0, 15, f"{name}: {_counts(wavefronts)}", 13, font_weight="bold")
    body += text(0, _TOP - 9, "quads of b", 11.5) + text(0, _TOP - 25, "from bank", 11.5)
    for across in range(columns):
        lit = now.array == "b" and across in now.quads
        bank = across % SLOTS * QUAD
        x = _LEFT + across * column_width + 2
        body += text(x, _TOP - 25, bank, 10.5)
        body += _quad(x, _TOP - 20, column_width - 5, colour if lit else "none")
    body += text(0, _TOP + rows * _HEIGHT + 14, "of a", 11.5)
    for down in range(rows):
        lit = now.array == "a" and down in now.quads
        y = _TOP + down * _HEIGHT + (_HEIGHT - _BOX) / 2
        body += _quad(4, y, 40, colour if lit else "none")
    for lane, (down, across) in enumerate(positions):
        x, y = _LEFT + across * column_width, _TOP + down * _HEIGHT
        lit = lane in now.lanes
        fill = {"fill_opacity": 1 if lit else 0.14, "rx": 3}
        body += rect(x, y, column_width - 2, _HEIGHT - 2, colour if lit else GREY, **fill)
        look = {"style": _WHITE} if lit else {}
        body += text(x + column_width / 2 - 1, y + 16.5, lane, 11, "middle", **look)
    bottom = _TOP + rows * _HEIGHT + 14
    body += text(_LEFT, bottom, _moment(now, moment, len(wavefronts)), 12)
    alt = f"{name}. {_moment(now, moment, len(wavefronts))}"
    height = _TOP + panel_rows * _HEIGHT + 22
    return svg(_LEFT + _WIDTH + 2, height, body, alt, widest=400)


def _quad(x: float, y: float, width: float, fill: str) -> str:
    """Return SVG of a box of four words side by side, with its upper left corner at (x, y)."""
    word = width / QUAD
    edges = "".join(f"M{x + n * word:.4g} {y:g}v{_BOX}" for n in range(1, QUAD))
    return rect(x, y, width, _BOX, fill, stroke=GREY) + path(edges, stroke=GREY, stroke_width=0.6)


def _counts(wavefronts: tuple[Wavefront, ...]) -> str:
    """Return text on the number of wavefronts per array, such as "4 for a, 2 for b"."""
    of_a = sum(one.array == "a" for one in wavefronts)
    return f"{of_a} for a, {len(wavefronts) - of_a} for b"


def _moment(now: Wavefront, moment: int, total: int) -> str:
    """Return text on a wavefront: its lanes and the number of banks that work.

    After the last one, it is the number of all wavefronts, `total`.
    """
    if not now.lanes:
        return f"done after {total} wavefronts"
    busy = QUAD * len(now.quads)
    return f"{now.array} for lanes {_runs(now.lanes)}: {busy} of {BANKS} banks work"


def _runs(lanes: tuple[int, ...]) -> str:
    """Return lanes as text, such as "0 to 7, 16"."""
    runs = np.split(np.array(lanes), np.flatnonzero(np.diff(lanes) != 1) + 1)
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _description(name: str, wavefronts: tuple[Wavefront, ...]) -> str:
    """Return a sentence for the alt text: a lane map's wavefronts, with their arrays and lanes."""
    descriptions = "; ".join(f"{one.array} for lanes {_runs(one.lanes)}" for one in wavefronts)
    return f"{name}: {_counts(wavefronts)} wavefronts, which are {descriptions}."
