"""Figures of occupancy: curves against each resource, sliders, and speed against occupancy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import ipywidgets
import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from utils.errors import CourseError
from utils.figures import page
from utils.figures.labels import label_points, need_few
from utils.figures.look import COLOURS, INK, QUIET, new_figure, style, with_alt
from utils.figures.points import milestones
from utils.ladder.ladder import Ladder
from utils.machine.devices import KIB, Device
from utils.machine.occupancy import RESOURCES, WARP, Occupancy, known, limits_of, occupancy
from utils.measuring.roofline import recorded

# Neighbours differ in lightness, too: orange, red, green, purple.
_COLOURS = dict(zip(RESOURCES, (COLOURS[at] for at in (1, 4, 2, 3)), strict=True))
# Enough to show every step of the curve: shared memory is allocated in units of 128 bytes, and a
# picture is a few hundred dots wide.
_POINTS = 460


def curves(
    capability: tuple[int, int], threads: int, registers: int, shared_bytes: int = 0
) -> Figure:
    """Draw three curves of a kernel's resident warps per SM, each against one of its resources.

    The resources are the threads per block, the registers per thread, and the shared memory per
    block; in each curve the other two keep the kernel's values. The area below a curve has the
    colour of the resource that limits occupancy there, and a dot marks the kernel itself.
    capability: the compute capability. shared_bytes: per block. Raises CourseError for values that
    no kernel can have.
    """
    limits = limits_of(capability)
    own = occupancy(capability, threads, registers, shared_bytes)
    sizes = np.arange(1, limits.threads_per_block + 1)
    kib = np.linspace(0, limits.shared_kib_per_block_optin, _POINTS)
    panels = (
        ("threads per block", threads, sizes, lambda x: (int(x), registers, shared_bytes)),
        (
            "registers per thread",
            registers,
            np.arange(1, limits.registers_per_thread + 1),
            lambda x: (threads, int(x), shared_bytes),
        ),
        (
            "shared memory per block, KiB",
            shared_bytes / KIB,
            kib,
            lambda x: (threads, registers, round(x * KIB)),
        ),
    )
    summary = in_words(own, capability, threads, registers, shared_bytes)
    with style():
        kernel, _, result = summary.partition(": ")
        where = f"{kernel}. Warps per SM, by the resource that limits them"
        figure = new_figure(f"{result[0].upper()}{result[1:]}", where, height=6.2)
        for axes, (label, at, values, with_value) in zip(
            figure.subplots(3, 1), panels, strict=True
        ):
            occupancies = [occupancy(capability, *with_value(value)) for value in values]
            _draw(axes, values, occupancies)
            axes.plot(at, own.warps, "o", color=INK, markersize=7, clip_on=False, zorder=5)
            axes.set_xlabel(label)
            axes.set_xlim(0, values[-1])
            axes.set_xticks(_ticks(int(values[-1])))
            axes.set_ylim(0, limits.warps_per_sm)
            axes.set_yticks(range(0, limits.warps_per_sm + 1, 16))
            axes.grid(axis="y")
        handles = [Patch(color=colour, alpha=0.65, label=resource)
                   for resource, colour in _COLOURS.items()]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1,
                      columnspacing=1.5)  # fmt: skip
    return with_alt(figure, _curves_alt(summary, capability, threads, registers, shared_bytes))


def occupancy_against_speed(
    ladder: Ladder, size: str, device: Device, marked: Sequence[str] = ()
) -> Figure:
    """Draw one dot per recorded step of a ladder: its share of the peak against its occupancy.

    Occupancy is on the x axis and the share of the peak on the y axis, both in percent.

    Parameters
    ----------
    ladder : Ladder
        The ladder whose steps are drawn.
    size : str
        The problem size as on the command line.
    device : Device
        The device whose records are drawn.
    marked : sequence of str
        The names of the steps to label, at most six. By default the first, the fastest, and the
        steps between them with the largest gains.

    Raises
    ------
    CourseError
        If there are no records of the device at this size, or none of a marked step, or if more
        than six steps are marked.
    """
    need_few(marked)
    points = _shares(ladder, size, device)
    if missing := [step for step in marked if step not in points.index]:
        raise CourseError(
            f"There is no record of {', '.join(missing)} at {size}: choose from "
            f"{', '.join(points.index)}."
        )
    chosen = list(marked) or milestones(points["share"])
    with style():
        where = f"recorded {points['date'].max()} on {device.name}"
        figure = new_figure(f"Speed against occupancy at {size}", where, height=3.7)
        axes = figure.add_subplot()
        # Many steps have the same occupancy; transparency shows where dots cover each other.
        axes.plot(points["occupancy"], points["share"], "o", color=QUIET, markersize=6, alpha=0.45,
                  markeredgewidth=0)  # fmt: skip
        labelled = {}
        for step, colour in zip(chosen, COLOURS, strict=False):
            labelled[step] = (*points.loc[step, ["occupancy", "share"]], colour)
            axes.plot(*labelled[step][:2], "o", color=colour, markersize=9)
        axes.set_xlim(0, 105)  # keeps full occupancy away from the frame
        axes.set_xticks(range(0, 101, 20))
        axes.set_ylim(0, 100)
        axes.xaxis.set_major_formatter("{x:g} %")
        axes.yaxis.set_major_formatter("{x:g} %")
        axes.set_xlabel("occupancy")
        axes.annotate("of the peak", (0, 1), (0, 6), xycoords="axes fraction", ha="right",
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
        axes.grid()
        label_points(axes, labelled, [([x], [y]) for x, y, _ in points.to_numpy()])
    return with_alt(figure, _speed_alt(points, chosen, size, device))


def _shares(ladder: Ladder, size: str, device: Device) -> pd.DataFrame:
    """Return a table of the occupancy and speed of every recorded step, indexed by the step's name.

    Each step has its fastest constants at this size. The columns are "occupancy" and "share", both
    in percent, and the "date" of the record. The share is that of the device's peak. Raises
    CourseError if no step is recorded.
    """
    shape, rows = ladder.parse(size), {}
    for variant, record in recorded(ladder, shape, device.name):
        threads = variant.launch(shape).threads
        resources = (int(record.registers), int(record.shared_bytes))
        rows[variant.step.name] = {
            "occupancy": 100 * occupancy(device.compute_capability, threads, *resources).fraction,
            "share": 100 * record.efficiency,
            "date": record.date,
        }
    return pd.DataFrame.from_dict(rows, "index")


def _speed_alt(points: pd.DataFrame, chosen: Sequence[str], size: str, device: Device) -> str:
    """Return the alt text of the figure of speed against occupancy.

    It has the occupancy of the fastest step, the range of speeds at the highest occupancy, and the
    values of the labelled steps. `points` is the table from `_shares`.
    """
    best, most = points["share"].idxmax(), points["occupancy"].max()
    full = points[points["occupancy"] == most]
    steps = ", ".join(
        f"{step} {points['share'][step]:.1f} % of the peak at {points['occupancy'][step]:.0f} %"
        for step in chosen
    )
    return (
        f"The fastest of {len(points)} steps, {best}, has {points['occupancy'][best]:.0f} % "
        f"occupancy; the {len(full)} with the most, {most:.0f} %, reach "
        f"{full['share'].min():.1f} to {full['share'].max():.1f} % of the peak. {steps}. "
        f"At {size} on {device.name}, recorded {points['date'].max()}."
    )


def in_words(
    result: Occupancy, capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> str:
    """Return one line of text: a kernel's resources, its blocks and warps per SM, and the limit.

    If no block fits an SM, the text says which resource is too small. result: the occupancy of a
    kernel with these resources. capability: the compute capability. registers: per thread.
    shared_bytes: per block.
    """
    most = limits_of(capability).warps_per_sm
    kernel = f"{threads} threads, {registers} registers, {_size(shared_bytes)}"
    if result.blocks == 0:
        return f"{kernel}: no block fits an SM, for want of {' and '.join(result.limit)}"
    plural = "" if result.blocks == 1 else "s"
    return (
        f"{kernel}: {result.blocks} block"
        f"{plural} per SM, {result.warps} of {most} warps ({100 * result.fraction:.0f} %), "
        f"limited by {' and '.join(result.limit)}"
    )


def sliders(
    capability: tuple[int, int] = (9, 0),
    threads: int = 256,
    registers: int = 32,
    shared_bytes: int = 0,
    beside: Sequence[Figure] = (),
) -> None:
    """Show a kernel's three curves of occupancy in a notebook, with sliders for its resources.

    A page without a running kernel shows static figures instead. capability, threads, registers,
    shared_bytes: the first values of the controls. beside: the static figures; by default the
    curves of these values.
    """
    box = controls(capability, threads, registers, shared_bytes)
    figures = beside or [curves(capability, threads, registers, shared_bytes)]
    static = "".join(f"<div>{page.as_html(figure)}</div>" for figure in figures)
    # Written by hand, because ipywidgets 7, which Colab has, and 8 build this bundle differently.
    view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    shown = {"application/vnd.jupyter.widget-view+json": view, "text/plain": "sliders"}
    display({**shown, "text/html": static}, raw=True)


def controls(
    capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> ipywidgets.VBox:
    """Return a widget with controls for a kernel's resources above the curves of its occupancy.

    The controls are a drop-down list of compute capabilities, and sliders for threads, registers
    and bytes of shared memory. A change of a control redraws the curves. The arguments are the
    first values of the controls.
    """
    names = {"{}.{}".format(*pair): pair for pair in known()}
    chosen = ipywidgets.Dropdown(options=names, value=capability, description="capability")
    bars = [
        _slider("threads", threads, 1),
        _slider("registers", registers, 1),
        _slider("shared, bytes", shared_bytes, 0),
    ]
    picture = ipywidgets.HTML()

    def fit(_=None) -> None:
        """Set the sliders' maxima to the limits of the chosen compute capability, and redraw."""
        limits = limits_of(chosen.value)
        most = (limits.threads_per_block, limits.registers_per_thread, limits.max_shared_bytes)
        for bar, largest in zip(bars, most, strict=True):
            # A slider changes its value when its new range excludes it. Redraw only after all
            # sliders have their new range.
            bar.unobserve_all("value")
            bar.max = largest
        for bar in bars:
            bar.observe(draw, names="value")
        draw()

    def draw(_=None) -> None:
        """Draw the curves of the present values of the controls into `picture`."""
        picture.value = page.as_html(curves(chosen.value, *(bar.value for bar in bars)))

    fit()
    chosen.observe(fit, names="value")
    return ipywidgets.VBox([chosen, *bars, picture])


def _slider(name: str, value: int, least: int) -> ipywidgets.IntSlider:
    """Return a slider of integers from `least` on that begins at `value`.

    Its maximum is provisional: the caller sets it to the limit of the compute capability. name: the
    label beside the slider.
    """
    return ipywidgets.IntSlider(
        value=value,
        min=least,
        max=max(value, least + 1),
        description=name,
        continuous_update=False,
        layout=ipywidgets.Layout(width="60%"),
        style={"description_width": "8em"},
    )


def _draw(axes: Axes, values: np.ndarray, occupancies: Sequence[Occupancy]) -> None:
    """Draw on `axes` a step curve of warps per SM above an area coloured by the limiting resource.

    values: the positions on the x axis in ascending order, one per entry of `occupancies`. If
    several resources limit occupancy, the area has the colour of the final one in `limit`.
    """
    steps = [(one.warps, one.limit[-1]) for one in occupancies]
    # The curve is constant between two values, so only its changes must be drawn.
    starts = [at for at, step in enumerate(steps) if at == 0 or step != steps[at - 1]]
    edges = np.append(values[starts], values[-1])
    warps, limits = zip(*(steps[at] for at in starts), strict=True)
    axes.bar(edges[:-1], warps, np.diff(edges), align="edge", alpha=0.65, linewidth=0,
             color=[_COLOURS[limit] for limit in limits])  # fmt: skip
    axes.stairs(warps, edges, baseline=None, color=INK, linewidth=1.2)


def _ticks(last: int) -> list[int]:
    """Return the positions of at most five ticks for an axis from 0 to `last`, in ascending order.

    They are 0, multiples of a power of two, and `last`. A multiple too close to `last` is left out.
    """
    step = 2 ** math.ceil(math.log2(last / 4))
    return [*(at for at in range(0, last, step) if last - at >= step / 2), last]


def _size(count: int) -> str:
    """Return bytes of shared memory as text, such as "16 KiB shared" or "512 bytes shared"."""
    return f"{count / KIB:.4g} KiB shared" if count >= KIB else f"{count} bytes shared"


def _curves_alt(
    summary: str, capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> str:
    """Return the alt text of the three curves of warps per SM.

    It has the most warps that any block size gives, the warps at both ends of the other two curves,
    and the kernel's `summary`.
    """
    limits, parts = limits_of(capability), []
    curves_by_resource = {
        "registers per thread": (limits.registers_per_thread, lambda x: (threads, x, shared_bytes)),
        "bytes of shared memory": (limits.max_shared_bytes, lambda x: (threads, registers, x)),
    }
    for name, (most, kernel) in curves_by_resource.items():
        ends = [occupancy(capability, *kernel(value)).warps for value in (1, most)]
        parts.append(f"from {ends[0]} warps at 1 to {ends[1]} at {most} {name}")
    best = max(occupancy(capability, size, registers, shared_bytes).warps
               for size in range(WARP, limits.threads_per_block + 1, WARP))  # fmt: skip
    return (
        f"Three step curves of warps per SM for compute capability {capability[0]}.{capability[1]}:"
        f" against threads per block, where the best size gives {best} warps; {parts[0]}; and"
        f" {parts[1]}. A dot marks the kernel: {summary}."
    )
