"""Labels of series, placed so that none covers another and no leader crosses another label."""

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
_GAP = 13  # points between the centres of two labels
_CLOSE = 8  # points between a label and its point; a label further away gets a leader
# The cost of covering another label; covering one point of a line costs 1.
_WORD = 100


@dataclass(frozen=True)
class _Spot:
    """A position of a label relative to its data point.

    across: 1 right of the point, -1 left of it, 0 centred. up: above the point if positive, below
    it if negative; 2 and -2 are twice as far. distance: from the point, in points (1/72 inch).
    """

    across: int
    up: int
    distance: float

    @property
    def offset(self) -> tuple[float, float]:
        """The offset (x, y) from the data point, in points (1/72 inch)."""
        up = self.up * (0.6 if self.across else 1)
        return self.across * self.distance, up * self.distance


_SPOTS = [
    _Spot(across, up, distance)
    for distance in (_CLOSE, 16, 28, 42, 60, 80, 110)
    for across, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1),
                       (1, 2), (-1, 2), (1, -2), (-1, -2))
]  # fmt: skip


def need_few(labels: Sequence[str], most: int = MOST_LABELS) -> None:
    """Raise CourseError if there are more than `most` labels."""
    if len(labels) > most:
        raise CourseError(
            f"This figure has at most {most} labelled series, and these are {len(labels)}: "
            f"{', '.join(labels)}. Mark fewer series; the others are drawn in grey."
        )


def label_ends(axes: Axes, ends: dict[str, tuple[float, float, str]]) -> None:
    """Write each label to the right of the end of its line, with a leader and without overlaps.

    ends: label -> (x, y, colour), the line's right end in data coordinates. Call this after
    everything else is drawn: the heights of the labels follow from the limits and scales of the
    axes. Raises CourseError for more than six labels.
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
    labelled: dict[str, tuple[float, float, str]],
    lines: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> None:
    """Write each label beside its data point, where it covers as few labels and lines as possible.

    labelled: label -> (x, y, colour), in data coordinates. lines: an (x, y) pair of arrays per line
    that should stay uncovered. A label without room near its point is further away, with a leader
    to the point. Call this after everything else is drawn: the positions follow from the limits and
    scales of the axes. Raises CourseError for more than six labels.
    """
    need_few(list(labelled))
    axes.figure.draw_without_rendering()
    points = axes.transData.transform([(x, y) for x, y, _ in labelled.values()])
    pixels = [axes.transData.transform(np.c_[line]) for line in lines]
    occupied = np.vstack([points, *map(_along, pixels)])
    words = [extent(text) for text in axes.texts if not text.get_rotation()]
    for (label, (x, y, colour)), point in zip(labelled.items(), points, strict=True):
        text = axes.annotate(label, (x, y), (0, 0), textcoords="offset points",
                             color=of_text(colour), fontweight="bold", zorder=5)  # fmt: skip
        best = min(_SPOTS, key=lambda spot: _cost(text, spot, point, words, occupied))
        _put(text, best)
        words.append(extent(text))
        if best.distance > _CLOSE:
            leader = {"arrowstyle": "-", "color": colour, "shrinkB": 4}
            axes.annotate("", (x, y), best.offset, textcoords="offset points", arrowprops=leader)
            occupied = np.vstack([occupied, _leader(axes, point, best)])


def _along(corners: np.ndarray, step: float = 6) -> np.ndarray:
    """Return points that cover a polyline, in pixels, as an array of shape (n, 2).

    All corners come first. Then follow the points of each segment, both of its ends included, so
    corners occur several times. The points of a segment are at most `step` pixels apart. corners:
    the polyline's corners in pixels, of shape (m, 2).
    """
    parts = [
        np.linspace(start, end, 2 + int(np.hypot(*(end - start)) / step))
        for start, end in pairwise(corners)
    ]
    return np.vstack([corners, *parts])


def _leader(axes: Axes, point: np.ndarray, spot: _Spot) -> np.ndarray:
    """Return points that cover the leader from a data point to its label, in pixels.

    The result is an array of shape (n, 2). Its first two rows are the ends of the leader, and from
    the third one on the points go along it, at most a pixel apart. So they show any label that the
    leader crosses. point: the data point in pixels. spot: the position of the label.
    """
    end = point + np.array(spot.offset) * axes.figure.dpi / POINTS_PER_INCH
    return _along(np.array([point, end]), step=1)


def _put(text: Text, spot: _Spot) -> None:
    """Move an annotation to a spot relative to its data point, and align the text there.

    A text right of its point is aligned left, one above it is aligned at the bottom, and so on, so
    that it does not cover the point.
    """
    text.set_position(spot.offset)
    text.set_horizontalalignment({-1: "right", 0: "center", 1: "left"}[spot.across])
    text.set_verticalalignment("center" if not spot.up else "bottom" if spot.up > 0 else "top")
    text.update_positions(text.get_figure(root=True)._get_renderer())


def _cost(
    text: Text, spot: _Spot, point: np.ndarray, words: Sequence[Bbox], occupied: np.ndarray
) -> float:
    """Move a text to a spot and return the cost of that spot; lower is better.

    It is 100 per box of `words` that the text or its leader would cover, 100 if the text leaves the
    axes, and 1 per point of `occupied` that the text covers. point: the data point in pixels.
    occupied: points in pixels, of shape (n, 2).
    """
    _put(text, spot)
    box = extent(text)
    leader = _leader(text.axes, point, spot)
    hits = sum(box.overlaps(other) or other.count_contains(leader) > 0 for other in words)
    inside = text.axes.bbox.count_contains([box.min, box.max]) == 2
    return _WORD * (hits + (not inside)) + box.count_contains(occupied)


def spread(heights: Sequence[float], gap: float) -> np.ndarray:
    """Return ascending heights, moved as little as possible so that they are at least `gap` apart.

    heights: ascending, as fractions of the height of the axes; `gap` is such a fraction, too. The
    result is an array in the same order; it is in 0 … 1 if the heights fit there.
    """
    room = gap * np.arange(len(heights))
    # After subtracting the room below each height, they only have to ascend. Pool neighbours that
    # do not.
    pools = []
    for height in heights - room:
        pools.append([height])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    pooled = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools])
    return np.clip(pooled, 0, max(0, 1 - room[-1])) + room


def extent(text: Text) -> Bbox:
    """Return the bounding box of a text in pixels, without the leader of an annotation."""
    return Text.get_window_extent(text)
