"""The axes of the lesson's two plots: a share of the peak against a quantity that doubles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from virtual_gpu.pictures.svg import path, text

Point = tuple[float, float]  # (quantity, percent of the peak)


@dataclass(frozen=True)
class PlotArea:
    """The rectangle of a plot, in units of the drawing, and the range of its logarithmic x-axis.

    left, right, top, bottom: its edges; the peak is at the top, and 0 % at the bottom. first, last:
    the quantities at the left and the right edge.
    """

    left: float
    right: float
    top: float
    bottom: float
    first: float
    last: float

    def at(self, quantity: float, percent: float) -> Point:
        """Return (x, y) of a point of the plot, in units of the drawing."""
        part = math.log(quantity / self.first) / math.log(self.last / self.first)
        y = self.bottom - percent / 100 * (self.bottom - self.top)
        return round(self.left + part * (self.right - self.left), 1), round(y, 1)

    def commands(self, points: Iterable[Point]) -> str:
        """Return the `d` attribute of an SVG path through points of the plot."""
        return "M" + "L".join("{:g} {:g}".format(*self.at(*point)) for point in points)

    def axes(self, ticks: Mapping[float, str], below: str) -> str:
        """Return the SVG of the axes: lines at each quarter of the peak, and ticks on the x-axis.

        ticks: quantity -> its text. below: the label of the x-axis.
        """
        body = ""
        for percent in (0, 25, 50, 75, 100):
            y = self.at(self.first, percent)[1]
            body += path(f"M{self.left} {y}H{self.right}", opacity=0.25)
            body += text(self.left - 5, y + 4, f"{percent} %", 12, "end")
        body += text(self.left - 38, self.top - 12, "of the data sheet's peak", 12)
        for quantity, words in ticks.items():
            body += text(self.at(quantity, 0)[0], self.bottom + 16, words, 12, "middle")
        return body + text(self.right, self.bottom + 33, below, 12, "end")
