"""Two estimates of each kernel of the experiment `ilp_alone` as bars on its recorded time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from utils.figures.resource_bars import ResourceTimes
from utils.ladder.step import Step, Variant
from utils.lessons import product_bars
from utils.lessons.cards import Card
from utils.lessons.product_bars import N, estimates_of, recorded_times, times_of
from virtual_gpu.pictures.svg import Picture

LONGEST = "plain_rows"  # the slowest kernel of the lesson's pictures
__all__ = ["LONGEST", "N", "draw", "draw_on_scale", "estimates_of", "recorded_times", "times_of"]


def draw(rows: Iterable, **steps: Step | Variant) -> Picture | Card:
    """Draw two estimates in ms of each kernel as bars above the bar of its recorded time.

    The estimates are those of wavefronts and of instructions, for an N×N product. rows: of
    `ilp_alone.csv`. steps: one per kernel, from top to bottom; the keyword is its name in the
    picture, with _ for spaces. The longer estimate is orange. If the innermost loop of a step is
    not known, return a Card that says so.
    """
    return product_bars.draw(rows, LONGEST, **steps)


def draw_on_scale(times: Mapping[str, ResourceTimes], rows: Iterable) -> Picture:
    """Draw two estimates in ms of each kernel as bars above the bar of its recorded time, if any.

    times: name of the kernel in the picture -> its times, from top to bottom. rows: of
    `ilp_alone.csv`; the scale ends at the recorded time of `LONGEST`.
    """
    return product_bars.draw_on_scale(times, rows, LONGEST)
