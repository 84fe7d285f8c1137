"""Plots of speed against size below the peak: a few steps in colour, a few others in grey.

Both axes are logarithmic, so that the slow first steps can be seen. The vertical axis has two
scales, both with ticks at 1, 2 and 5: grid lines at shares of the peak, and marks at speeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from utils.division import cdiv
from utils.figures.labels import label_ends, need_few
from utils.figures.look import (
    COLOURS,
    FONT_SIZE,
    GREY,
    GRID,
    INK,
    MARKERS,
    QUIET,
    factor,
    new_figure,
    number,
    style,
    with_alt,
)
from utils.figures.points import (
    UNITS,
    library_name,
    library_of,
    milestones,
    need_steps,
    peak_of,
    points_of,
    size_labels,
    squares,
    units_of,
    where_from,
)
from utils.translation import translate

# The levels that may have a grid line, in percent of the peak.
_LEVELS = np.array([100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01])
MOST_LINES, MOST_GREY = 5, 6  # lines with a name, with that of the library, and lines without
# A speed this near to the peak, as a factor, would cover the number of the peak.
_NEAR = 1.35
_DECADES = (100, 10, 1, 0.1, 0.01)
# The distances from the spine to the right end of the speeds, and of the shares, in points.
_SPEEDS, _SHARES = 4, 45
# From this peak in GFLOP/s on, the axis is in TFLOP/s: six digits beside a share are hard to read.
_IN_TFLOPS = 100_000
_PANELS = 3  # in one row
_FIXED = "\N{NO-BREAK SPACE}"


def curve(
    frame: pd.DataFrame,
    marked: Sequence[str],
    title: str = "Speed against size",
    here: bool = False,
    name_grey: bool = False,
) -> Figure:
    """Draw speed against size: marked steps in colour with names, others grey, the library dashed.

    At most six others are grey: of more, the first, the fastest, and the greatest rises between
    them. frame: records of one device with an efficiency, from which the peak follows. marked:
    names of steps. Each step is drawn with its best constants, only at square products if there are
    any. here: True if the records were measured in this session, False if they were read from
    `data/measured`. name_grey: True to name the grey steps at the ends of their lines, False to
    list them below the title. Raises CourseError for a step that the frame lacks, if no row has an
    efficiency, for more than five names with the library's, or six with those of grey steps, for
    several devices, and for more than 100 % of the peak.
    """
    need_steps(frame, marked)
    unit = units_of(frame)[0]
    peak = peak_of(frame, unit)
    points = points_of(squares(frame), peak, unit)
    need_few([*marked, *filter(None, [library_name(points)])], MOST_LINES)
    with style():
        grey = "" if name_grey else _grey_note(points, marked)
        figure = new_figure(title, where_from(frame, here) + grey, height=3.9)
        axes = _speed_axes(figure, points, peak, unit)
        ends = _draw(axes, points, marked)
        label_ends(axes, ends | (_grey_ends(points, marked) if name_grey else {}))
    return with_alt(figure, _alt_text(points, marked, peak, unit) + f" {where_from(frame, here)}.")


def old_against_new(
    frame: pd.DataFrame, old: str, new: str, peak: float, unit: str = "gflops", here: bool = False
) -> Figure:
    """Draw a step, the step that replaces it, and the speedup between them at each size.

    Both have their best constants. At most six other steps are grey: of more, the first, the
    fastest, and the greatest rises between them. frame: records of one device. peak: the top of the
    axis, in `unit`. unit: "gflops" or "gb_per_s". here: True if the records were measured in this
    session. Raises CourseError for a step that the frame lacks, several devices, and a speed above
    `peak`.
    """
    need_steps(frame, [old, new])
    # A step without an efficiency has another peak: a cache is faster than the memory.
    rated = frame[frame["step"].isin([old, new]) | frame["efficiency"].notna()]
    points = points_of(squares(rated), peak, unit)
    values = points.pivot(index="size", columns="step", values="value")
    ratios = (values[new] / values[old]).dropna()
    with style():
        grey = _grey_note(points, [new, old])
        figure = new_figure(f"{new} against {old}", where_from(frame, here) + grey, height=3.9)
        axes = _speed_axes(figure, points, peak, unit)
        between = (values.loc[ratios.index, step] for step in (old, new))
        axes.fill_between(ratios.index, *between, color=COLOURS[0], alpha=0.12, lw=0)
        ends = _draw(axes, points, [new, old])
        _write_below(axes, points, {size: factor(ratio) for size, ratio in ratios.items()})
        axes.set_xlabel(f"{_size_axis(points)}; times faster")
        label_ends(axes, ends)
    sizes = size_labels(points)
    gains = ", ".join(f"{factor(ratio)} at {sizes[size]}" for size, ratio in ratios.items())
    return with_alt(
        figure,
        f"{new} over {old}: {gains or 'no size was measured for both'}. "
        f"{_alt_text(points, [new, old], peak, unit)} {where_from(frame, here)}.",
    )


def small_multiples(frame: pd.DataFrame, title: str, here: bool = False) -> Figure:
    """Draw a small panel per step: its speed in colour over all others in grey, below the peak.

    frame: records of one device with an efficiency, from which the peak follows. here: True if they
    were measured in this session. Raises CourseError if no row has an efficiency, for several
    devices, and for more than 100 % of the peak.
    """
    unit = units_of(frame)[0]
    peak = peak_of(frame, unit)
    points = points_of(squares(frame), peak, unit)
    steps = list(points["step"].unique())
    rows = cdiv(len(steps), _PANELS)
    with style():
        figure = new_figure(title, where_from(frame, here), height=0.35 + 0.92 * rows)
        panels = figure.subplots(rows, _PANELS, sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[len(steps) :]:
            axes.set_visible(False)
        for axes, step in zip(panels.flat, steps, strict=False):
            _draw_panel(axes, points, step, peak)
        _finish_panels(panels, points, peak)
    named = milestones(points.groupby("step", sort=False)["value"].last())
    alt = _alt_text(points, named, peak, unit)
    return with_alt(figure, f"{len(steps)} steps. {alt} {where_from(frame, here)}.")


def _draw(
    axes: Axes, points: pd.DataFrame, marked: Sequence[str]
) -> dict[str, tuple[float, float, str]]:
    """Draw the lines of the steps and of the library; return the right ends of the labelled lines.

    Marked steps are in colour, at most six others in grey, and the library is dashed. The ends are
    label -> (x, y, colour), in data coordinates; the labels are the marked steps and the library.
    """
    x, y = _others(points, _grey_steps(points, marked))
    alone = points["size"].nunique() == 1
    axes.plot(x, y, color=GREY, linewidth=1, marker="." if alone else "")
    ends, line = {}, library_of(points)
    if not line.empty:
        # A single point has no line that could be dashed.
        mark = {"marker": "_" if alone else "", "markersize": 12}
        axes.plot(line.index, line, "--", color=INK, linewidth=1.4, **mark)
        ends[library_name(points)] = (line.index[-1], line.iloc[-1], INK)
    for step, colour, mark in zip(marked, COLOURS, MARKERS, strict=False):
        line = points[points["step"] == step]
        axes.plot(line["size"], line["value"], color=colour, marker=mark, clip_on=False, zorder=3)
        ends[step] = (*line[["size", "value"]].iloc[-1], colour)
    return ends


def _others(points: pd.DataFrame, steps: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays x and y of the lines of these steps, joined, with a NaN after each line.

    Both are empty if none of the steps has a line.
    """
    parts = [
        np.vstack([line[["size", "value"]].to_numpy(float), [np.nan, np.nan]])
        for step, line in points.groupby("step", sort=False)
        if step in steps
    ]
    return tuple(np.vstack([np.empty((0, 2)), *parts]).T)


def _grey_steps(points: pd.DataFrame, marked: Sequence[str]) -> list[str]:
    """Return the names of the steps to draw in grey: those that are not marked, at most six.

    Of more than six, they are the first one, the fastest one and the greatest rises between them.
    """
    others = points[~points["step"].isin(marked)].groupby("step", sort=False)["value"].last()
    return list(others.index) if len(others) <= MOST_GREY else milestones(others, MOST_GREY)


def _grey_ends(points: pd.DataFrame, marked: Sequence[str]) -> dict[str, tuple[float, float, str]]:
    """Return the right ends of the grey lines: name -> (x, y, colour), in data coordinates."""
    last = points.groupby("step", sort=False)[["size", "value"]].last()
    return {step: (*last.loc[step], QUIET) for step in _grey_steps(points, marked)}


def _grey_note(points: pd.DataFrame, marked: Sequence[str]) -> str:
    """Return text that names the grey steps, such as "; grey: tiled, ilp"; "" if there is none.

    They are in ascending order of their speed at the largest size.
    """
    grey = points[points["step"].isin(_grey_steps(points, marked))]
    if grey.empty:
        return ""
    names = grey.groupby("step", sort=False)["value"].last().sort_values().index
    order = f",{_FIXED}from{_FIXED}below" * (len(names) > 1)
    return f"; grey{order}:{_FIXED}{', '.join(names)}"


def _speed_axes(figure: Figure, points: pd.DataFrame, peak: float, unit: str) -> Axes:
    """Return logarithmic axes with ticks at speeds, grid lines at shares, a line at the peak.

    peak: in `unit`. unit: "gflops" or "gb_per_s".
    """
    axes = figure.add_subplot()
    levels = _scale(axes, points, peak)
    sizes = size_labels(points)
    axes.set_xticks(sizes.index, _thinned(sizes))
    axes.set_xlabel(_size_axis(points))
    speeds = [*round_speeds(*axes.get_ylim()), peak]
    many = unit == "gflops" and peak >= _IN_TFLOPS
    axes.set_yticks(speeds, [_as_label(speed / 1000 if many else speed) for speed in speeds])
    axes.tick_params(axis="y", length=3, pad=1)
    beside = {"textcoords": "offset points", "va": "center", "ha": "right"}
    for level in levels:
        share = level * peak / 100
        axes.axhline(share, color=GRID, linewidth=0.8, zorder=0)
        axes.annotate(f"{level:g} %", (0, share), (-_SHARES, 0),
                      xycoords=axes.get_yaxis_transform(), **beside)  # fmt: skip
    above = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    axes.annotate("TFLOP/s" if many else UNITS[unit], (0, 1), (-_SPEEDS, 9), ha="right", **above)
    of_a_core = set(points.get("ladder", ())) == {"cpu"}
    name = translate("the core's peak") if of_a_core else translate("the device's peak")
    axes.annotate(name, (0, 1), (3, 3), **above)
    axes.axhline(peak, color=INK, linewidth=1.6, clip_on=False)
    return axes


def round_speeds(lowest: float, peak: float) -> list[float]:
    """Return the speeds 1, 2 and 5 times a power of ten, ascending, from the lowest to peak / 1.35.

    A tick nearer to the peak would cover the peak's own number.
    """
    exponents = range(math.floor(math.log10(lowest)), math.ceil(math.log10(peak)) + 1)
    speeds = (digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5))
    return [speed for speed in speeds if lowest <= speed <= peak / _NEAR]


def _as_label(speed: float) -> str:
    """Return a speed as text without unit: "1,234" from 100 on, else three significant digits."""
    return f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}"


def _scale(axes: Axes, points: pd.DataFrame, peak: float) -> np.ndarray:
    """Make both axes logarithmic, with limits that fit the points and the peak at the top.

    Returns the heights of the grid lines, in percent of the peak, from 100 down.
    """
    lowest = 100 * points[["value", "library_value"]].min().min() / peak
    levels = _LEVELS[: 1 + np.argmax(max(lowest, _LEVELS[-1]) >= _LEVELS)]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set_xlim(points["size"].min() / 1.2, points["size"].max() * 1.1)
    axes.set_ylim(levels[-1] * peak / 100, peak)
    return levels


def _write_below(axes: Axes, points: pd.DataFrame, words: dict[float, str]) -> None:
    """Label the sizes on the x-axis, and write words on a second line below each labelled size.

    words: size -> words; a size that is missing there has an empty second line.
    """
    sizes = size_labels(points)
    shown = [
        f"{label}\n{words.get(size, '')}" if label else ""
        for size, label in zip(sizes.index, _thinned(sizes), strict=True)
    ]
    axes.set_xticks(sizes.index, shown)


def _size_axis(points: pd.DataFrame) -> str:
    """Return the label of the x-axis, in the reader's language.

    It is "elements" if all points have elements, "matrix size m = n = k" if all are products of
    square matrices, and else "matrix size m×n×k".
    """
    if points["elements"].notna().all():
        return translate("elements")
    even = points["m"].eq(points["n"]) & points["n"].eq(points["k"])
    if even.fillna(False).all():
        return translate("matrix size m = n = k")
    return translate("matrix size m×n×k")


def _thinned(sizes: pd.Series) -> list[str]:
    """Return a label per size, ascending; "" if it would touch the label of a larger size.

    sizes: the labels, with the ascending sizes as their index.
    """
    octave = 165 / (np.log2(sizes.index[-1] / sizes.index[0]) + 0.4)  # its least width in points
    labels, last, last_label = [], np.inf, ""
    for size, label in reversed(list(sizes.items())):
        needed = 5 + 0.62 * FONT_SIZE * (len(label) + len(last_label)) / 2
        fits = octave * np.log2(last / size) >= needed
        labels.append(label if fits else "")
        if fits:
            last, last_label = size, label
    return labels[::-1]


def _draw_panel(axes: Axes, points: pd.DataFrame, step: str, peak: float) -> None:
    """Draw one step in colour over all others in grey, with a line at the peak.

    The step's name is the title of the axes.
    """
    axes.plot(*_others(points, set(points["step"]) - {step}), color=GREY, linewidth=0.9)
    line = points[points["step"] == step]
    mark = "o" if len(line) == 1 else ""
    axes.plot(line["size"], line["value"], color=COLOURS[0], marker=mark, clip_on=False)
    axes.axhline(peak, color=INK, linewidth=1, clip_on=False)
    axes.set_title(step, fontsize=FONT_SIZE, loc="left", pad=3)


def _finish_panels(panels: np.ndarray, points: pd.DataFrame, peak: float) -> None:
    """Set the scales, ticks, labels and grid lines that all panels share.

    The grid lines are at powers of ten of the percentage of the peak, and the smallest and the
    largest size are labelled below the last three panels. panels: the 2-D array of all axes.
    """
    levels = [level for level in _scale(panels[0, 0], points, peak) if level in _DECADES]
    sizes = size_labels(points)
    for axes in panels.flat:
        axes.minorticks_off()
        axes.set_yticks(np.array(levels) * peak / 100, [f"{level:g} %" for level in levels])
        axes.set_xticks(sizes.index[[0, -1]], sizes.iloc[[0, -1]])
        axes.tick_params(left=False, bottom=False)
        axes.spines[:].set_visible(False)
        axes.grid(axis="y", clip_on=False)
    shown = [axes for axes in panels.flat if axes.get_visible()]
    for axes in shown[-_PANELS:]:
        axes.tick_params(axis="x", labelbottom=True)
        for label, side in zip(axes.get_xticklabels(), ("left", "right"), strict=True):
            label.set_horizontalalignment(side)


def _alt_text(points: pd.DataFrame, marked: Sequence[str], peak: float, unit: str) -> str:
    """Return the alt text, in the reader's language: the peak, and the speeds of each marked step.

    If there is a library, its speed at the largest size follows, with the factor over the step that
    is fastest there among the marked ones, or among all if none is marked. marked: names of steps.
    peak: in `unit`. unit: "gflops" or "gb_per_s".
    """
    lines = [f"{step} {_rise(points, step, peak)}" for step in marked]
    line, ends = library_of(points), points.groupby("step")["value"].last()
    if not line.empty:
        best = max(marked, key=lambda step: ends[step], default=ends.idxmax())
        lines.append(
            translate(
                "{library} ends at {speed}, {factor:.2g} times {step}",
                library=library_name(points),
                speed=number(line.iloc[-1]),
                factor=line.iloc[-1] / ends[best],
                step=best,
            )
        )
    return translate(
        "{unit} under a peak of {peak}: {lines}.",
        unit=UNITS[unit],
        peak=number(peak),
        lines="; ".join(lines),
    )


def _rise(points: pd.DataFrame, step: str, peak: float) -> str:
    """Return words on a step's line: the first speed, and the last one with its share of the peak.

    A maximum that is at least 5 % above the last speed is named, too. peak: in the unit of the
    speeds.
    """
    line = points[points["step"] == step]
    first, last, top = line.iloc[0], line.iloc[-1], line.loc[line["value"].idxmax()]
    end = translate(
        "{speed} at {size}, {share:.1%} of the peak",
        speed=number(last["value"]),
        size=last["size_label"],
        share=last["value"] / peak,
    )
    if len(line) == 1:
        return translate("reaches {end}", end=end)
    begin = translate("{speed} at {size}", speed=number(first["value"]), size=first["size_label"])
    if last["value"] < 0.95 * first["value"]:
        told = translate("falls from {begin} to {end}", begin=begin, end=end)
    elif last["value"] < 1.05 * first["value"]:
        told = translate("goes from {begin} to {end}", begin=begin, end=end)
    else:
        told = translate("rises from {begin} to {end}", begin=begin, end=end)
    if top["value"] < 1.05 * last["value"]:
        return told
    most = translate("{speed} at {size}", speed=number(top["value"]), size=top["size_label"])
    return translate("{told}, with {most} on its way", told=told, most=most)
