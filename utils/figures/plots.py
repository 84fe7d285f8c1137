"""Figures of speed: under the device's peak, beside the library, and always saying which device.

They are made from records and never show more than 100 % of a peak. A figure is an opaque light
card, so that it reads the same on a light and on a dark page, and carries a text that says what it
shows.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
from IPython.display import HTML, display
from matplotlib import pyplot, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from utils.errors import CourseError
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape, ReduceShape
from utils.machine.devices import find, fraction_of_peak
from utils.measuring.records import fastest

UNITS = {"gflops": "GFLOP/s", "gb_per_s": "GB/s"}

CARD = "#fafaf8"
INK = "#1f2328"
QUIET = "#5b6168"
GRID = "#dcdcd6"
# Okabe and Ito, "Color Universal Design", 2008, without the yellow that a light card swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Seven, so that colour and marker together repeat only after 42 lines.
MARKERS = ("o", "s", "^", "D", "v", "P", "<")
DOTS_PER_INCH = 100
LABEL_GAP = 0.19  # inches between the middles of two labels

# Keeps text readable where a line runs behind it.
_HALO = (withStroke(linewidth=3, foreground=CARD),)
# Text above the axes: from a fraction of them, moved by points.
_ABOVE = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": QUIET,
    "axes.facecolor": CARD,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": CARD,
    "font.size": 10,
    "grid.color": GRID,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "savefig.facecolor": CARD,
    "text.color": INK,
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
}


def style() -> AbstractContextManager[None]:
    """A context in which figures get the course's look: `with style(): ...`."""
    return rc_context(_STYLE)


def with_alt(figure: Figure, text: str) -> Figure:
    """The figure with `text` as its `alt_text`: what it shows, for those who cannot see it."""
    figure.alt_text = text
    return figure


def save(figure: Figure, file: Path | BinaryIO) -> None:
    """Write the figure as PNG, its alt text inside; CourseError if it has none."""
    if not getattr(figure, "alt_text", None):
        raise CourseError(
            "This figure has no alt text: say what it shows with with_alt(fig, text)."
        )
    drawn, text = io.BytesIO(), PngInfo()
    text.add_itxt("Description", figure.alt_text)
    # Twice the size at which it is shown, for sharp lines on dense screens.
    figure.savefig(drawn, format="png", dpi=2 * DOTS_PER_INCH)
    # 256 colours: the same picture in a third of the bytes, which a notebook stores.
    image = Image.open(drawn).convert("RGB").quantize()
    image.save(file, "PNG", optimize=True, pnginfo=text)


def as_html(figure: Figure) -> str:
    """The figure as an `<img>` with its alt text; CourseError if it has none."""
    png = io.BytesIO()
    save(figure, png)
    return (
        f'<img alt="{html.escape(figure.alt_text)}"'
        f' width="{round(figure.get_figwidth() * DOTS_PER_INCH)}"'
        ' style="max-width:100%;height:auto;border-radius:8px"'
        f' src="data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}">'
    )


def show(figure: Figure) -> None:
    """Show the figure with its alt text in a notebook, and close it."""
    display(HTML(as_html(figure)))
    pyplot.close(figure)


def figures_of(frame: pd.DataFrame, title: str) -> dict[str, Figure]:
    """What `--plot` draws of a ladder's records: name -> figure, with each step's best constants.

    One figure of speed against size for each unit that the records hold, and one of the share of
    the peak at the largest size that all steps have. frame: records of one device. A line goes
    through the square products: another shape between them would be a dent that is no size's.
    CourseError if no row has an efficiency, from which the peak follows, or no size is shared.
    """
    figures = {}
    for unit in UNITS:
        rated = frame.dropna(subset=[unit, "efficiency"])
        if not rated.empty:
            peak = (rated[unit] / rated["efficiency"]).median()
            line = fastest(_squares(rated)).assign(params="")
            figures[unit] = gflops_against_size(line, peak, title, unit)
    if not figures:
        raise CourseError(
            "There is nothing to draw: no row has an efficiency; record it where a peak is known."
        )
    return figures | {"share_of_peak": efficiency_per_step(frame, f"{title}: share of the peak")}


def _squares(frame: pd.DataFrame) -> pd.DataFrame:
    """Without products of another shape, unless there are no others."""
    even = frame["elements"].notna() | ((frame["m"] == frame["n"]) & (frame["n"] == frame["k"]))
    return frame[even] if even.any() else frame


def gflops_against_size(
    frame: pd.DataFrame, peak: float, title: str, unit: str = "gflops", here: bool = False
) -> Figure:
    """One line per step, or per step and constants where a step has several; the library dashed.

    frame: records of one device. peak: in `unit`, the top of the axis. unit: "gflops" or
    "gb_per_s". here: the records were measured here, not read from `data/measured`.
    CourseError for an empty frame, several devices, or more than 100 % of the peak.
    """
    points = _points(frame, peak, unit)
    with style():
        figure, axes = _figure(height=max(4.6, 1.9 + LABEL_GAP * (points["label"].nunique() + 1)))
        ends = _draw_library(axes, points)
        for rank, (label, line) in enumerate(points.groupby("label", sort=False)):
            colour, marker = COLOURS[rank % len(COLOURS)], MARKERS[rank % len(MARKERS)]
            axes.plot(line["size"], line["value"], color=colour, marker=marker, clip_on=False)
            ends[label] = (*line[["size", "value"]].iloc[-1], colour)
        _finish_lines(axes, points, peak, unit)
        label_ends(axes, ends)
        where = _where(frame, here)
        _head(axes, title, where)
    return with_alt(figure, f"Line chart: {title}. {_told(points, peak, unit, where)}")


def old_against_new(
    frame: pd.DataFrame, old: str, new: str, peak: float, unit: str = "gflops", here: bool = False
) -> Figure:
    """A step and the one that replaces it, each with its best constants, and the factor between.

    Arguments and errors as in `gflops_against_size`; CourseError if the frame lacks a step.
    """
    wanted = _of_steps(frame, [old, new])
    points = fastest(_points(wanted, peak, unit), ("step", "size"))
    points = points.assign(label=points["step"])
    with style():
        figure, axes = _figure(height=4.6)
        ends = _draw_library(axes, points)
        for step, colour, marker in ((old, QUIET, "o"), (new, COLOURS[0], "s")):
            line = points[points["step"] == step]
            axes.plot(line["size"], line["value"], color=colour, marker=marker, clip_on=False)
            ends[step] = (*line[["size", "value"]].iloc[-1], colour)
        both = points.pivot(index="size", columns="step", values="value").dropna()
        axes.fill_between(both.index, both[old], both[new], color=COLOURS[0], alpha=0.1, lw=0)
        for size, pair in both.iterrows():
            axes.annotate(
                _factor(pair[new] / pair[old]),
                (size, pair.max()),
                (0, 7),
                textcoords="offset points",
                ha="center",
                path_effects=_HALO,
            )
        _finish_lines(axes, points, peak, unit)
        label_ends(axes, ends)
        title, where = f"{new} against {old}", _where(wanted, here)
        _head(axes, title, where)
    sizes = _size_labels(points)
    gains = ", ".join(
        f"{_factor(pair[new] / pair[old])} at {sizes[size]}" for size, pair in both.iterrows()
    )
    told = _told(points, peak, unit, where)
    return with_alt(figure, f"Line chart: {title}. {told} {new} over {old}: {gains or 'no pair'}.")


def efficiency_per_step(
    frame: pd.DataFrame, title: str = "Share of the peak", here: bool = False
) -> Figure:
    """One bar per step: its share of the peak with its best constants; the library as a line.

    frame: records of one device. The bars are at the largest size that every step has; CourseError
    if there is none, for an empty frame, and for more than 100 % of the peak.
    """
    points = _points(frame, 1.0, "efficiency")
    steps = list(points["step"].unique())
    common = points.groupby("size")["step"].nunique() == len(steps)
    if not common.any():
        raise CourseError(
            f"No size was measured for all of {', '.join(steps)}: choose steps that share one."
        )
    points = fastest(points[points["size"] == common[common].index.max()], ("step",))
    percent = 100 * points.set_index("step")["value"].loc[steps]
    library = 100 * points["library_value"].median()
    size = points["size_label"].iloc[0]
    with style():
        figure, axes = _figure(height=1.9 + 0.34 * len(steps))
        bars = axes.barh(range(len(steps)), percent, color=COLOURS[0], height=0.66)
        # The library's line must not run through a figure.
        patch = {"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 1}
        axes.bar_label(bars, fmt="%.1f %%", padding=4, bbox=patch)
        axes.set_yticks(range(len(steps)), steps)
        if library > 0:  # NaN without one
            axes.axvline(library, color=INK, linestyle="--", linewidth=1.4)
            name = f"{_library_name(points)} {library:.1f} %"
            axes.annotate(name, (library / 100, 1), (0, 5), ha="center", fontsize=9, **_ABOVE)
        _finish_bars(axes)
        where = f"{_where(frame, here)}, at {size}"
        _head(axes, title, where)
    told = "; ".join(f"{step} {value:.1f} %" for step, value in percent.items())
    rival = f"; {name} is a dashed line" if library > 0 else ""
    return with_alt(figure, f"Bar chart: {title}, in percent of the peak, {where}: {told}{rival}.")


def share_lines(
    points: pd.DataFrame,
    axis: str,
    title: str,
    where: str,
    marks: Sequence[tuple[float, float, str]] = (),
) -> Figure:
    """Lines of a share of the peak against what hides the latency; what a model says, dotted.

    points: columns label, x, share and model (fractions). axis: what x is, on a scale of powers of
    two. where: the line below the title. marks: points of others, as x, share and a short text.
    CourseError for a share above 1.
    """
    with style():
        figure, axes = _figure(height=4.8)
        ends = {}
        for rank, (label, line) in enumerate(points.groupby("label", sort=False)):
            colour, marker = COLOURS[rank % len(COLOURS)], MARKERS[rank % len(MARKERS)]
            fraction_of_peak(line["share"].max(), 1.0, label)
            axes.plot(line["x"], 100 * line["share"], color=colour, marker=marker, clip_on=False)
            axes.plot(line["x"], 100 * line["model"], color=colour, linestyle=":", linewidth=1.2)
            ends[label] = (line["x"].iloc[-1], 100 * line["share"].iloc[-1], colour)
        for x, share, text in marks:
            axes.plot(x, 100 * share, marker="x", color=INK, markersize=8, clip_on=False)
            # Above, where no line runs: the crosses are at or near the most that was reached.
            axes.annotate(text, (x, 100 * share), (0, 7), textcoords="offset points",
                          ha="center", fontsize=8, path_effects=_HALO)  # fmt: skip
        octaves = np.floor(np.log2(points["x"].max() / points["x"].min()))
        ticks = points["x"].max() / 2.0 ** np.arange(octaves + 1)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlim(points["x"].min() / 1.1, points["x"].max())
        axes.set_ylim(0, 100)
        axes.set_xlabel(f"{axis}; dotted: Little's law")
        axes.set_ylabel("% of the peak")
        axes.grid(axis="y")
        label_ends(axes, ends)
        _head(axes, title, where)
    told = "; ".join(
        f"{label}: {line['share'].iloc[0]:.0%} at {line['x'].iloc[0]:.3g}, at most "
        f"{line['share'].max():.0%} at {line['x'][line['share'].idxmax()]:.3g}"
        for label, line in points.groupby("label", sort=False)
    )
    crosses = "; ".join(f"{text} at {x:.3g}, {share:.0%}" for x, share, text in marks)
    return with_alt(
        figure,
        f"Line chart: {title}, in percent of the peak against {axis}, {where}. {told}."
        + (f" Crosses: {crosses}." if marks else ""),
    )


def published_beside_measured(
    published: pd.DataFrame,
    measured: pd.DataFrame,
    title: str = "Published and measured",
    here: bool = False,
) -> Figure:
    """Bars in percent of each device's peak: what the sources published, and what we measured.

    published: columns of `data/published/gemm_gpu.csv`. measured: records of one device. A kernel
    and a step of the same name stand together, so rename what should be compared. Each appears with
    its best figure on each device; what has no percentage and no known peak is left out. Figures
    counted with 2^30 are converted to 10^9. CourseError if either has nothing to show.
    """
    ours = _points(measured, 1.0, "efficiency")
    ours = pd.DataFrame(
        {
            "kernel": ours["step"],
            "who": f"{ours['device'].iloc[0]}, {ours['date'].max()[:4]}, ours",
            "percent": 100 * ours["value"],
            "colour": COLOURS[0],
        }
    )
    theirs = _published_percent(published).assign(colour=COLOURS[5])
    bars = pd.concat([theirs, ours])
    bars = bars.groupby(["kernel", "who", "colour"], sort=False, as_index=False)["percent"].max()
    with style():
        figure, axes = _figure(height=1.9 + 0.25 * len(bars) + 0.35 * bars["kernel"].nunique())
        _draw_groups(axes, bars)
        axes.set_xlabel("% of the data sheet's peak; counts with 2³⁰ converted to 10⁹ (×1.0737)")
        _head(axes, title, f"best size of each; ours {_where(measured, here)}")
    told = "; ".join(f"{kernel} on {who} {p:.1f} %" for kernel, who, _, p in bars.values)
    return with_alt(figure, f"Bar chart: {title}, in percent of each device's peak: {told}.")


def bandwidth_of_transfers(
    frame: pd.DataFrame, published: pd.DataFrame, here: bool = False
) -> Figure:
    """GB/s against bytes moved, a line for each way and direction; what was published as crosses.

    frame: records of one device with `elements` and `gb_per_s`, from `transfers --record`.
    published: columns of `data/published/transfers.csv`. CourseError if the frame has no such rows.
    """
    copies = frame.dropna(subset=["elements", "gb_per_s"])
    if copies.empty:
        raise CourseError(
            "There is no copy to draw: record some with python -m gemm_kernels transfers --record."
        )
    title, where = "Transfers between host and device", _where(copies, here)
    theirs = published["bytes"] / published["time_ms"].astype(float) / 1e6
    told = []
    with style():
        figure, axes = _figure(height=4.6)
        for rank, ((step, params), line) in enumerate(copies.groupby(["step", "params"])):
            label = f"{step}, {params.partition('=')[2].replace('_', ' ')}"
            # One colour for each way, and a dashed line for the way back.
            look = {"color": COLOURS[rank // 2], "marker": MARKERS[rank // 2]}
            dashes = "--" if params.endswith("to_host") else "-"
            line = line.sort_values("elements")
            moved = line["elements"].astype(float) * FLOAT32_BYTES
            axes.plot(moved, line["gb_per_s"], linestyle=dashes, label=label, **look)
            told.append(f"{label}: up to {number(line['gb_per_s'].max())}")
        axes.plot(published["bytes"], theirs, "x", color=INK, label="published")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("bytes moved")
        axes.set_ylabel(UNITS["gb_per_s"])
        axes.grid(axis="y")
        axes.legend(fontsize=9, ncols=2)
        _head(axes, title, where)
    old = f"published, as crosses: {number(theirs.min())} to {number(theirs.max())}"
    return with_alt(figure, f"Line chart: {title}, GB/s, {where}. {'; '.join([*told, old])}.")


def _points(frame: pd.DataFrame, peak: float, unit: str) -> pd.DataFrame:
    """The rows that have a value, by step, with columns for what is drawn.

    Adds label, size (a number to place it), size_label, value, and library_value (NaN without one).
    """
    if frame.empty:
        raise CourseError("There is nothing to draw: the table has no rows; choose others.")
    points = frame.dropna(subset=[unit]).reset_index(drop=True)
    if points.empty:
        raise CourseError(f"There is nothing to draw: no row of the table has a value in '{unit}'.")
    _one_device(points)
    variants = points.groupby("step")["params"].transform("nunique")
    label = points["step"].where(variants == 1, points["step"] + " " + points["params"])
    points = points.assign(
        label=label.str.strip(),
        size=_sizes(points),
        size_label=[_size_label(row) for row in points.itertuples()],
        value=points[unit].astype(float),
        # The ratio is the library's time over ours, hence our speed over the library's.
        library_value=points[unit] / points["library_ratio"],
    )
    for row in points.itertuples():
        at = f"{row.device} at {row.size_label}"
        fraction_of_peak(row.value, peak, f"{row.label} on {at}")
        fraction_of_peak(row.library_value, peak, f"{row.library} on {at}")
    points["order"] = pd.factorize(points["label"])[0]
    return points.sort_values(["order", "size"])


def _of_steps(frame: pd.DataFrame, steps: Sequence[str]) -> pd.DataFrame:
    present = list(frame["step"].unique())
    for step in steps:
        if step not in present:
            raise CourseError(
                f"The table has no rows of '{step}': its steps are {', '.join(present) or 'none'}."
            )
    return frame[frame["step"].isin(steps)]


def _sizes(frame: pd.DataFrame) -> pd.Series:
    """Where a shape stands on the axis: its elements, or the cube root of m·n·k."""
    volume = frame[["m", "n", "k"]].astype(float).prod(axis=1, skipna=False)
    sizes = frame["elements"].astype(float).fillna(np.cbrt(volume))
    if sizes.isna().any():
        step = frame["step"][sizes.isna()].iloc[0]
        raise CourseError(f"A row of '{step}' has neither m, n and k nor elements: choose others.")
    return sizes


def _size_label(row) -> str:
    if pd.isna(row.elements):
        return str(row.n) if row.m == row.n == row.k else str(GemmShape(row.m, row.n, row.k))
    base, _, exponent = str(ReduceShape(int(row.elements))).partition("^")
    return base + exponent.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _size_labels(points: pd.DataFrame) -> pd.Series:
    """The label of each size, in ascending order."""
    return points.drop_duplicates("size").set_index("size")["size_label"].sort_index()


def _one_device(frame: pd.DataFrame) -> str:
    names = frame["device"].unique()
    if len(names) > 1:
        raise CourseError(
            f"The table holds records of {' and '.join(names)}: choose one device for a figure."
        )
    return names[0]


def _where(frame: pd.DataFrame, here: bool) -> str:
    """Where the numbers come from, as the figure says it below its title."""
    first, last = frame["date"].min(), frame["date"].max()
    when = f"recorded {first}" + (f" to {last}" if last > first else "")
    return f"{'measured here' if here else when} on {_one_device(frame)}"


def _library_name(points: pd.DataFrame) -> str:
    return ", ".join(points["library"][points["library_value"].notna()].unique())


def _published_percent(published: pd.DataFrame) -> pd.DataFrame:
    """Columns kernel, who, percent: of the data sheet's peak if known, else as published."""
    work = 2 * published[["m", "n", "k"]].astype(float).prod(axis=1, skipna=False)
    timed = work / published["time_ms"].astype(float) / 1e6
    gflops = published["gflops"].astype(float).fillna(timed)
    binary = (published["gflops_base"] == "2^30").fillna(False).astype(bool)
    gflops = gflops.where(~binary, gflops * 2**30 / 1e9)
    percent = 100 * gflops / published["device"].map(_peak_gflops)
    table = pd.DataFrame(
        {
            "kernel": published["kernel"],
            "who": [
                device if pd.isna(year) else f"{device}, {year}"
                for device, year in published[["device", "year"]].values
            ],
            "percent": percent.fillna(published["efficiency_pct"].astype(float)),
        }
    ).dropna()
    if table.empty:
        raise CourseError("No published figure has a percentage or a known peak: choose others.")
    for kernel, who, percent in table.values:
        fraction_of_peak(percent, 100, f"{kernel} on {who}")
    return table


def _peak_gflops(device: str) -> float:
    try:
        return find(device).peak_gflops
    except CourseError:
        return np.nan


def _draw_groups(axes: Axes, bars: pd.DataFrame) -> None:
    """The bars (columns kernel, who, colour, percent) below each other, a heading per kernel."""
    places, texts, weights = [], [], []
    place = 0.0
    for kernel, group in bars.groupby("kernel", sort=False):
        rows = place + 1.0 + np.arange(len(group))
        drawn = axes.barh(rows, group["percent"], color=group["colour"], height=0.7)
        axes.bar_label(drawn, fmt="%.1f %%", padding=4, fontsize=9)
        places += [place, *rows]
        texts += [kernel, *group["who"]]
        weights += ["bold", *["normal"] * len(group)]
        place = rows[-1] + 1.4
    axes.set_yticks(places, texts, fontsize=9)
    for label, weight in zip(axes.get_yticklabels(), weights):
        label.set_fontweight(weight)
    axes.set_ylim(-0.7, places[-1] + 0.7)
    _finish_bars(axes)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.4, height), dpi=DOTS_PER_INCH, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.18, h_pad=0.18)
    return figure, figure.add_subplot()


def _head(axes: Axes, title: str, where: str) -> None:
    axes.annotate(title, (0, 1), (0, 38), fontsize=13, fontweight="bold", **_ABOVE)
    axes.annotate(where, (0, 1), (0, 22), color=QUIET, **_ABOVE)


def _draw_library(axes: Axes, points: pd.DataFrame) -> dict[str, tuple[float, float, str]]:
    """The library's line; its end as `_label_ends` takes it, none without a library."""
    line = points.dropna(subset=["library_value"]).groupby("size")["library_value"].median()
    if line.empty:
        return {}
    # A single point has no line that could be dashed.
    marker = "_" if len(line) == 1 else ""
    look = {"color": INK, "linestyle": "--", "linewidth": 1.4, "markersize": 12}
    axes.plot(line.index, line, marker=marker, clip_on=False, **look)
    return {_library_name(points): (line.index[-1], line.iloc[-1], INK)}


def label_ends(axes: Axes, ends: dict[str, tuple[float, float, str]]) -> None:
    """Write each label to the right of its line's end, (x, y, colour), none over another.

    The limits and scales of the axes are final: from them follow the heights.
    """
    gap = LABEL_GAP / (axes.figure.get_figheight() - 1.7)
    labels = sorted(ends, key=lambda label: ends[label][1])
    in_axes = axes.transData + axes.transAxes.inverted()
    heights = [in_axes.transform(ends[label][:2])[1] for label in labels]
    for label, height in zip(labels, _spread(heights, gap)):
        x, y, colour = ends[label]
        leader = {"arrowstyle": "-", "color": colour, "alpha": 0.6, "shrinkA": 1, "shrinkB": 4}
        axes.annotate(
            label,
            (x, y),
            (1.02, height),
            textcoords="axes fraction",
            va="center",
            arrowprops=leader | {"relpos": (0, 0.5)},
            annotation_clip=False,
        )


def _spread(heights: Sequence[float], gap: float) -> np.ndarray:
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


def _finish_lines(axes: Axes, points: pd.DataFrame, peak: float, unit: str) -> None:
    sizes = _size_labels(points)
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes.index[0] / 1.15, sizes.index[-1] * 1.15)
    axes.set_xticks(sizes.index, _thinned(sizes))
    axes.minorticks_off()
    squares = points["m"].eq(points["n"]) & points["n"].eq(points["k"])
    matrix = "matrix size m = n = k" if squares.fillna(False).all() else "matrix size m×n×k"
    axes.set_xlabel("elements" if points["elements"].notna().all() else matrix)
    axes.set_ylim(0, peak)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel(UNITS[unit])
    axes.grid(axis="y")
    axes.axhline(peak, color=INK, linewidth=1.4, clip_on=False)
    axes.annotate(f"peak {number(peak)} {UNITS[unit]}", (0, 1), (0, 5), fontsize=9, **_ABOVE)


def _thinned(sizes: pd.Series) -> list[str]:
    """The labels of the sizes, from the largest down, "" for those that would touch another."""
    octave = 5.2 / (np.log2(sizes.index[-1] / sizes.index[0]) + 0.4)  # in inches, at the least
    labels, last, last_label = [], np.inf, ""
    for size, label in reversed(list(sizes.items())):
        needed = 0.1 + 0.085 * (len(label) + len(last_label)) / 2
        fits = octave * np.log2(last / size) >= needed
        labels.append(label if fits else "")
        if fits:
            last, last_label = size, label
    return labels[::-1]


def _finish_bars(axes: Axes) -> None:
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the peak")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _factor(value: float) -> str:
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"


def _told(points: pd.DataFrame, peak: float, unit: str, where: str) -> str:
    """The lines in words."""
    lines = []
    for label, line in points.groupby("label", sort=False):
        # One point is told once, a line by its two ends.
        ends = line.iloc[sorted({0, len(line) - 1})]
        told = ", ".join(f"{number(end.value)} at {end.size_label}" for end in ends.itertuples())
        lines.append(f"{label}: {told} ({line['value'].iloc[-1] / peak:.0%} of the peak)")
    rival = _library_name(points)
    dashed = f" {rival} is a dashed line, up to {number(points['library_value'].max())}."
    return (
        f"{UNITS[unit]} against size, {where}; the axis ends at the peak, {number(peak)}."
        f" {'; '.join(lines)}.{dashed if rival else ''}"
    )
