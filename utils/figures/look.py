"""How a figure of the course looks: its width, its letters, its colours, and where labels stand.

Neutral colours are drawn as on a light page; `utils.figures.page` gives them the page's own ink.
The others are seen on light and on dark ground: at least 3:1 against white and #212121.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from utils.errors import CourseError

INK, QUIET, GRID, CARD = "#1f2328", "#59616a", "#dcdcd7", "#ffffff"
# Series that are there for comparison and have no label.
GREY = "#c3c6ca"
# Chosen so that any two differ by at least 20 in CIELAB, also without red or green cones.
COLOURS = ("#0072b2", "#d55e00", "#00a383", "#8b3dff", "#c63939", "#3295ae")
MARKERS = ("o", "s", "^", "D", "v", "P")
MOST_LABELS = 6

POINTS_PER_INCH = 72
WIDTH = 5.2  # inches, of every figure
# At 420 pixels a figure of that width shows 10 points as 11.2 pixels.
FONT_SIZE, TITLE_SIZE = 10, 12
LABEL_GAP = 13  # points between the middles of two labels
# Where a label may stand: its distance from the point in points, and how it is aligned there.
_CLOSE = 8
_ACROSS = {-1: "right", 0: "center", 1: "left"}
_UP = {-1: "top", 0: "center", 1: "bottom"}
_SPOTS = [
    ((across * far, up * far * (0.6 if across else 1)), _ACROSS[across], _UP[up])
    for far in (_CLOSE, 16, 28, 42, 60, 80)
    for across, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1))
]
# Written in a series' colour, a word needs more contrast than a line does.
TEXT_SHARE = 0.7

_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": QUIET,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": FONT_SIZE,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "none",
    "font.size": FONT_SIZE,
    "grid.color": GRID,
    "legend.fontsize": FONT_SIZE,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "lines.markersize": 5.5,
    "lines.solid_capstyle": "butt",
    "text.color": INK,
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "xtick.labelsize": FONT_SIZE,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
    "ytick.labelsize": FONT_SIZE,
}


def style() -> AbstractContextManager[None]:
    """A context in which figures get the course's look: `with style(): ...`."""
    return rc_context(_STYLE)


def new_figure(title: str, where: str, height: float) -> Figure:
    """An empty figure under its title and the line that says where its numbers come from.

    height: in inches, of what is drawn below them.
    """
    titles, lines = textwrap.wrap(title, 44), textwrap.wrap(where, 58)
    below_title = 16 * len(titles) + 2
    head = (below_title + 14 * len(lines) + 8) / POINTS_PER_INCH
    figure = Figure(figsize=(WIDTH, height + head), layout="constrained")
    engine = figure.get_layout_engine()
    engine.set(w_pad=0.03, h_pad=0.03, rect=(0, 0, 1, height / (height + head)))
    top, under = (1 - up / POINTS_PER_INCH / (height + head) for up in (2, 2 + below_title))
    figure.text(0.005, top, "\n".join(titles), va="top", fontsize=TITLE_SIZE, fontweight="bold")
    figure.text(0.005, under, "\n".join(lines), va="top", color=QUIET)
    return figure


def with_alt(figure: Figure, text: str) -> Figure:
    """The figure with `text` as its `alt_text`: what is to be seen in it, for who cannot see."""
    figure.alt_text = text
    return figure


def mixed(colour: str, ink: str) -> str:
    """A series' colour as its label is written beside such ink."""
    parts = zip(to_rgb(colour), to_rgb(ink), strict=True)
    return to_hex([TEXT_SHARE * one + (1 - TEXT_SHARE) * other for one, other in parts])


def of_text(colour: str) -> str:
    """The colour of a series' label."""
    return mixed(colour, INK) if colour in COLOURS else colour


def need_few(labels: Sequence[str]) -> None:
    """CourseError for more labels than a figure can carry."""
    if len(labels) > MOST_LABELS:
        raise CourseError(
            f"A figure has at most {MOST_LABELS} labelled series, and these are {len(labels)}: "
            f"{', '.join(labels)}. Mark fewer of them; the others are drawn in grey."
        )


def label_ends(axes: Axes, ends: dict[str, tuple[float, float, str]]) -> None:
    """Write each label to the right of its line's end, (x, y, colour), none over another.

    The limits and scales of the axes are final: from them follow the heights.
    CourseError for more than six labels.
    """
    need_few(list(ends))
    axes.figure.draw_without_rendering()
    gap = LABEL_GAP * axes.figure.dpi / POINTS_PER_INCH / axes.get_window_extent().height
    labels = sorted(ends, key=lambda label: ends[label][1])
    in_axes = axes.transData + axes.transAxes.inverted()
    heights = [in_axes.transform(ends[label][:2])[1] for label in labels]
    for label, height in zip(labels, spread(heights, gap), strict=True):
        x, y, colour = ends[label]
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 1, "shrinkA": 1, "shrinkB": 4}
        axes.annotate(
            label,
            (x, y),
            (1.055, height),
            textcoords="axes fraction",
            va="center",
            color=of_text(colour),
            fontweight="bold",
            arrowprops=leader | {"relpos": (0, 0.5)},
            annotation_clip=False,
        )


def label_points(
    axes: Axes,
    places: dict[str, tuple[float, float, str]],
    lines: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> None:
    """Write each label beside its point, (x, y, colour), over no other label and no line.

    lines: x and y of what should stay free besides. A label that finds no room close by stands
    further off, with a line to its point. The limits and scales of the axes are final. CourseError
    for more than six labels.
    """
    need_few(list(places))
    axes.figure.draw_without_rendering()
    taken = np.vstack([_along(axes, *line) for line in lines])
    boxes = [extent(text) for text in axes.texts if not text.get_rotation()]
    points = axes.transData.transform([place[:2] for place in places.values()])
    for (label, (x, y, colour)), point in zip(places.items(), points, strict=True):
        text = axes.annotate(label, (x, y), (0, 0), textcoords="offset points",
                             color=of_text(colour), fontweight="bold", zorder=5)  # fmt: skip
        best = min(_SPOTS, key=lambda spot: _crowd(text, spot, point, axes, boxes, taken))
        _put(text, best)
        boxes.append(extent(text))
        if max(map(abs, best[0])) > _CLOSE:
            end = point + np.array(best[0]) * axes.figure.dpi / POINTS_PER_INCH
            leader = {"arrowstyle": "-", "color": colour, "shrinkB": 4}
            axes.annotate("", (x, y), best[0], textcoords="offset points", arrowprops=leader)
            taken = np.vstack([taken, np.linspace(point, end, 20)])


def _along(axes: Axes, x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """Places in pixels along a line, so close that no word fits between."""
    corners = axes.transData.transform(np.column_stack([x, y]))
    parts = [
        np.linspace(start, end, 2 + int(np.hypot(*(end - start)) / 6))
        for start, end in pairwise(corners)
    ]
    return np.vstack([corners, *parts])


def _put(text: Text, spot: tuple[tuple[float, float], str, str]) -> None:
    offset, across, up = spot
    text.set_position(offset)
    text.set_horizontalalignment(across)
    text.set_verticalalignment(up)
    text.update_positions(text.get_figure(root=True)._get_renderer())


def _crowd(
    text: Text,
    spot: tuple[tuple[float, float], str, str],
    point: np.ndarray,
    axes: Axes,
    boxes: Sequence[Bbox],
    taken: np.ndarray,
) -> int:
    """What is in the way of the text there: other words most, then places outside and points."""
    _put(text, spot)
    box, room = extent(text), axes.bbox
    leader = np.linspace(point, (box.x0 if box.x0 > point[0] else box.x1, box.y0), 10)
    words = sum(box.overlaps(other) + other.count_contains(leader) for other in boxes)
    outside = box.x0 < room.x0 or box.x1 > room.x1 or box.y0 < room.y0 or box.y1 > room.y1
    return 100 * words + 100 * outside + box.count_contains(taken)


def spread(heights: Sequence[float], gap: float) -> np.ndarray:
    """Ascending heights moved as little as keeps them `gap` apart and, if they fit, in 0 … 1."""
    room = gap * np.arange(len(heights))
    # Less the room below each, they only have to ascend: pool neighbours that do not.
    pools = []
    for height in heights - room:
        pools.append([height])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    pooled = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools])
    return np.clip(pooled, 0, max(0, 1 - room[-1])) + room


def extent(text: Text) -> Bbox:
    """The box of a text in pixels, without the leader that an annotation has beside it."""
    return Text.get_window_extent(text)


def number(value: float) -> str:
    """A value with three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def factor(value: float) -> str:
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"
