"""Occupancy in a lesson: tables, the three classic curves, and the same with sliders."""

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

from utils.figures import plots
from utils.ladder.ladder import Ladder
from utils.machine.devices import KIB, Device
from utils.machine.occupancy import RESOURCES, WARP, Occupancy, known, limits_of, occupancy
from utils.measuring.roofline import recorded

_COLOURS = dict(zip(RESOURCES, plots.COLOURS, strict=False))
# Enough to show every step of the curve: shared memory is given away in units of 128 bytes, and a
# picture is a few hundred dots wide.
_POINTS = 460


def table(
    capability: tuple[int, int], kernels: Sequence[tuple[int, int, int]], names: Sequence[str] = ()
) -> pd.DataFrame:
    """One row per kernel (threads, registers, bytes of shared memory): what an SM holds of it.

    The columns "room: ..." say how many blocks each resource has room for; empty without need.
    names: the index; by default the rows are numbered.
    """
    rows = []
    for threads, registers, shared_bytes in kernels:
        found = occupancy(capability, threads, registers, shared_bytes)
        rows.append(
            {
                "threads": threads,
                "registers": registers,
                "shared bytes": shared_bytes,
                "blocks per SM": found.blocks,
                "warps": found.warps,
                "occupancy": f"{found.fraction:.0%}",
                "limited by": ", ".join(found.limit),
            }
            | {f"room: {resource}": found.room.get(resource) for resource in RESOURCES}
        )
    return pd.DataFrame(rows, index=list(names) or None)


def recorded_steps(ladder: Ladder, size: str, device: Device) -> pd.DataFrame:
    """The table for every step that was recorded at a size, with its speed and best constants.

    CourseError if nothing is recorded on the device at that size.
    """
    shape = ladder.parse(size)
    found = list(recorded(ladder, shape, device.name))
    kernels = [
        (math.prod(variant.launch(shape).block), int(record.registers), int(record.shared_bytes))
        for variant, record in found
    ]
    rows = table(device.compute_capability, kernels, [str(variant) for variant, _ in found])
    rows = rows.drop(columns=[name for name in rows if name.startswith("room")])
    unit = "gflops" if found[0][1].gflops > 0 else "gb_per_s"
    return rows.assign(**{plots.UNITS[unit]: [round(getattr(one, unit)) for _, one in found]})


def curves(
    capability: tuple[int, int], threads: int, registers: int, shared_bytes: int = 0
) -> Figure:
    """Three curves of warps per SM, each against one resource of a kernel, the others as given.

    The ground below a curve has the colour of the resource that limits it there; a dot marks the
    kernel itself. Arguments and errors as for `occupancy`.
    """
    limits = limits_of(capability)
    here = occupancy(capability, threads, registers, shared_bytes)
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
    with plots.style():
        figure = Figure(figsize=(10.4, 3.9), dpi=plots.DOTS_PER_INCH, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
        for place, (axes, (label, at, values, kernel)) in enumerate(
            zip(figure.subplots(1, 3, sharey=True), panels, strict=True)
        ):
            found = [occupancy(capability, *kernel(value)) for value in values]
            _draw(axes, values, found)
            axes.plot(at, here.warps, "o", color=plots.INK, markersize=8, clip_on=False, zorder=5)
            axes.set_xlabel(label)
            axes.set_xlim(0, values[-1])
            axes.set_ylim(0, limits.warps_per_sm)
            axes.set_yticks(range(0, limits.warps_per_sm + 1, 8))
            axes.grid(axis="y")
            if place == 0:
                axes.set_ylabel("warps per SM")
        told = in_words(here, capability, threads, registers, shared_bytes)
        figure.suptitle(told, x=0.01, ha="left", fontsize=11, fontweight="bold")
        handles = [Patch(color=colour, alpha=0.45, label=f"limited by {resource}")
                   for resource, colour in _COLOURS.items()]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9)
    return plots.with_alt(figure, _alt(told, capability, threads, registers, shared_bytes))


def in_words(
    found: Occupancy, capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> str:
    """One line: the kernel, how many of its blocks an SM holds, and what limits them."""
    most = limits_of(capability).warps_per_sm
    kernel = f"{threads} threads, {registers} registers, {_size(shared_bytes)}"
    if found.blocks == 0:
        return f"{kernel}: no block fits an SM, for want of {' and '.join(found.limit)}"
    plural = "" if found.blocks == 1 else "s"
    return (
        f"{kernel}: {found.blocks} block"
        f"{plural} per SM, {found.warps} of {most} warps ({found.fraction:.0%}), "
        f"limited by {' and '.join(found.limit)}"
    )


def sliders(
    capability: tuple[int, int] = (9, 0),
    threads: int = 256,
    registers: int = 32,
    shared_bytes: int = 0,
    beside: Sequence[Figure] = (),
) -> None:
    """Show the curves with sliders; where no program runs behind the page, show figures instead.

    beside: what stands on a page without sliders; by default the curves as they begin.
    """
    box = controls(capability, threads, registers, shared_bytes)
    figures = beside or [curves(capability, threads, registers, shared_bytes)]
    still = "".join(f"<p>{plots.as_html(figure)}</p>" for figure in figures)
    display({**box._repr_mimebundle_(), "text/html": still}, raw=True)


def controls(
    capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> ipywidgets.VBox:
    """A list of capabilities, three sliders, and the curves, drawn anew when one is moved."""
    names = {"{}.{}".format(*pair): pair for pair in known()}
    chosen = ipywidgets.Dropdown(options=names, value=capability, description="capability")
    bars = [
        _slider("threads", threads, 1),
        _slider("registers", registers, 1),
        _slider("shared, bytes", shared_bytes, 0),
    ]
    picture = ipywidgets.HTML()

    def fit(_=None) -> None:
        limits = limits_of(chosen.value)
        most = (limits.threads_per_block, limits.registers_per_thread, limits.max_shared_bytes)
        for bar, largest in zip(bars, most, strict=True):
            # A slider moves its value along when the range becomes too short for it. Nothing is
            # drawn before all of them have.
            bar.unobserve_all("value")
            bar.max = largest
        for bar in bars:
            bar.observe(draw, names="value")
        draw()

    def draw(_=None) -> None:
        picture.value = plots.as_html(curves(chosen.value, *(bar.value for bar in bars)))

    fit()
    chosen.observe(fit, names="value")
    return ipywidgets.VBox([chosen, *bars, picture])


def _slider(name: str, value: int, least: int) -> ipywidgets.IntSlider:
    return ipywidgets.IntSlider(
        value=value,
        min=least,
        max=max(value, least + 1),
        description=name,
        continuous_update=False,
        layout=ipywidgets.Layout(width="60%"),
        style={"description_width": "8em"},
    )


def _draw(axes: Axes, values: np.ndarray, found: Sequence[Occupancy]) -> None:
    """The curve, and below it the colour of what limits it; of several, the last that is named."""
    warps = np.array([one.warps for one in found])
    limit = np.array([one.limit[-1] for one in found])
    # Ground of no width would not be seen: from each value it goes on to the next.
    for resource, colour in _COLOURS.items():
        axes.fill_between(values, warps, where=limit == resource, step="post", color=colour,
                          alpha=0.45, lw=0)  # fmt: skip
    axes.step(values, warps, where="post", color=plots.INK, linewidth=1.2)


def _size(count: int) -> str:
    return f"{count / KIB:.4g} KiB shared" if count >= KIB else f"{count} bytes shared"


def _alt(
    told: str, capability: tuple[int, int], threads: int, registers: int, shared_bytes: int
) -> str:
    """The curves in words: where each of them comes down first."""
    limits, parts = limits_of(capability), []
    ways = {
        "registers per thread": (limits.registers_per_thread, lambda x: (threads, x, shared_bytes)),
        "bytes of shared memory": (limits.max_shared_bytes, lambda x: (threads, registers, x)),
    }
    for name, (most, kernel) in ways.items():
        ends = [occupancy(capability, *kernel(value)).warps for value in (1, most)]
        parts.append(f"from {ends[0]} warps at 1 to {ends[1]} at {most} {name}")
    best = max(occupancy(capability, size, registers, shared_bytes).warps
               for size in range(WARP, limits.threads_per_block + 1, WARP))  # fmt: skip
    return (
        f"Three step curves of warps per SM for compute capability {capability[0]}.{capability[1]}:"
        f" against threads per block, where the best size gives {best} warps; {parts[0]}; and"
        f" {parts[1]}. A dot marks the kernel: {told}."
    )
