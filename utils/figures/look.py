"""How a figure of the course looks: its width, its letters, its colours.

Neutral colours are drawn as on a light page; `utils.figures.page` gives them the page's own ink.
The others are seen on light and on dark ground: at least 3:1 against white and #212121.
"""

from __future__ import annotations

import textwrap
from contextlib import AbstractContextManager

from matplotlib import rc_context
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

INK, QUIET, GRID, CARD = "#1f2328", "#59616a", "#dcdcd7", "#ffffff"
# Series that are there for comparison and have no label.
GREY = "#c3c6ca"
# Chosen so that any two differ by at least 20 in CIELAB, also without red or green cones.
COLOURS = ("#0072b2", "#d55e00", "#00a383", "#8b3dff", "#c63939", "#3295ae")
MARKERS = ("o", "s", "^", "D", "v", "P")

POINTS_PER_INCH = 72
WIDTH = 5.2  # inches, of every figure
# At 420 pixels a figure of that width shows 10 points as 11.2 pixels.
FONT_SIZE, TITLE_SIZE = 10, 12
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


def number(value: float) -> str:
    """A value with three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def factor(value: float) -> str:
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"
