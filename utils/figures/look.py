"""The style of the course's figures: width, fonts and colours.

Neutral colours are drawn as on a light page; `utils.figures.page` replaces them by the page's own
text colour. All others have a contrast of at least 3:1 against both white and #212121.
"""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager

from matplotlib import rc_context
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

INK, QUIET, GRID, CARD = "#1f2328", "#59616a", "#dcdcd7", "#ffffff"
# For series that are only there for comparison and have no label.
GREY = "#c3c6ca"
# Chosen so that any two differ by at least 20 in CIELAB, also without red or green cones.
COLOURS = ("#0072b2", "#d55e00", "#00a383", "#8b3dff", "#c63939", "#3295ae")
MARKERS = ("o", "s", "^", "D", "v", "P")

POINTS_PER_INCH = 72
WIDTH = 5.2  # inches, of every figure
# In a figure of this width that is shown at 420 pixels, 10 points are 11.2 pixels.
FONT_SIZE, TITLE_SIZE = 10, 12
# The share of the series' colour in its label; the rest is ink, as words need more contrast.
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
    """Return a context manager for Matplotlib in the course's style: `with style(): ...`."""
    return rc_context(_STYLE)


def new_figure(title: str, where: str, height: float) -> Figure:
    """Return a figure without axes, with a title and below it a line on its device and date.

    title, where: the two texts, which are wrapped. height: of the area below both, in inches.
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
    """Set the attribute `alt_text` of the figure, a description in words, and return the figure."""
    figure.alt_text = text
    return figure


def mixed(colour: str, ink: str) -> str:
    """Return 70 % of a series' colour mixed with 30 % of a page's ink, as "#rrggbb".

    It is the colour of the series' label. colour, ink: such as "#0072b2".
    """
    parts = zip(to_rgb(colour), to_rgb(ink), strict=True)
    return to_hex([TEXT_SHARE * one + (1 - TEXT_SHARE) * other for one, other in parts])


def of_text(colour: str) -> str:
    """Return the colour of a label on a light page, as "#rrggbb".

    A colour of a series is darkened with ink, because words need more contrast; any other colour is
    returned unchanged.
    """
    return mixed(colour, INK) if colour in COLOURS else colour


def number(value: float) -> str:
    """Return a value as text: three significant digits below 100, else rounded as in "1,234"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def factor(value: float) -> str:
    """Return a factor as text, such as "2.5×"; from 10 on without decimals, such as "12×"."""
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"
