"""Labels of series: at most six, none over another, and none that points at another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from utils.errors import CourseError
from utils.figures.look import POINTS_PER_INCH, of_text

MOST_LABELS = 6
_GAP = 13  # points between the middles of two labels
_CLOSE = 8  # points between a label and its point, when no line must lead to it
# What a label in the way costs, beside a place on a line.
_WORD = 100


@dataclass(frozen=True)
class _Spot:
    """Where a label stands: right (1), left (-1) or at (0) its point, above or below it likewise.

    far: from the point, in points.
    """

    across: int
    up: int
    far: float

    @property
    def offset(self) -> tuple[float, float]:
        return self.across * self.far, self.up * self.far * (0.6 if self.across else 1)


_SPOTS = [
    _Spot(across, up, far)
    for far in (_CLOSE, 16, 28, 42, 60, 80, 110)
    for across, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1),
                       (1, 2), (-1, 2), (1, -2), (-1, -2))
]  # fmt: skip


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
    gap = _GAP * axes.figure.dpi / POINTS_PER_INCH / axes.get_window_extent().height
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
    points = axes.transData.transform([place[:2] for place in places.values()])
    taken = np.vstack([points, *(_along(axes.transData.transform(np.c_[line])) for line in lines)])
    words = [extent(text) for text in axes.texts if not text.get_rotation()]
    for (label, (x, y, colour)), point in zip(places.items(), points, strict=True):
        text = axes.annotate(label, (x, y), (0, 0), textcoords="offset points",
                             color=of_text(colour), fontweight="bold", zorder=5)  # fmt: skip
        best = min(_SPOTS, key=lambda spot: _cost(text, spot, point, words, taken))
        _put(text, best)
        words.append(extent(text))
        if best.far > _CLOSE:
            leader = {"arrowstyle": "-", "color": colour, "shrinkB": 4}
            axes.annotate("", (x, y), best.offset, textcoords="offset points", arrowprops=leader)
            taken = np.vstack([taken, _leader(axes, point, best)])


def _along(corners: np.ndarray, step: float = 6) -> np.ndarray:
    """Places along a line, in pixels, so close that no word fits between."""
    parts = [
        np.linspace(start, end, 2 + int(np.hypot(*(end - start)) / step))
        for start, end in pairwise(corners)
    ]
    return np.vstack([corners, *parts])


def _leader(axes: Axes, point: np.ndarray, spot: _Spot) -> np.ndarray:
    """Places along the line to a label, many, because it must not run through another one."""
    end = point + np.array(spot.offset) * axes.figure.dpi / POINTS_PER_INCH
    return _along(np.array([point, end]), step=1)


def _put(text: Text, spot: _Spot) -> None:
    text.set_position(spot.offset)
    text.set_horizontalalignment({-1: "right", 0: "center", 1: "left"}[spot.across])
    text.set_verticalalignment("center" if not spot.up else "bottom" if spot.up > 0 else "top")
    text.update_positions(text.get_figure(root=True)._get_renderer())


def _cost(
    text: Text, spot: _Spot, point: np.ndarray, words: Sequence[Bbox], taken: np.ndarray
) -> float:
    """What is in the way of the text there: other words and the edge most, then lines."""
    _put(text, spot)
    box = extent(text)
    leader = _leader(text.axes, point, spot)
    met = sum(box.overlaps(other) or other.count_contains(leader) > 0 for other in words)
    inside = text.axes.bbox.count_contains([box.min, box.max]) == 2
    return _WORD * (met + (not inside)) + box.count_contains(taken)


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
