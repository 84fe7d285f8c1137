"""The share of the arithmetic peak that memory allows, and recorded shares of steps.

The functions on records take the ladder of the steps, because this package imports no kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from utils.figures import plots
from utils.ladder.ladder import Ladder
from utils.ladder.shapes import FLOAT32_BYTES
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.machine import devices
from utils.machine.devices import slug
from utils.measuring import records, rows
from utils.measuring.kernel_times import ArrayTime
from utils.paths import DATA
from utils.translation import translate


def gb_per_s(row: ArrayTime) -> float:
    """Return the GB/s of a recorded kernel that reads one array and writes another of its length.

    Each byte of both float32 arrays counts once.
    """
    return 2 * FLOAT32_BYTES * row.elements / row.time_ms / 1e6


def longest_times() -> dict[str, ArrayTime]:
    """Return the recorded row of each kernel, by its name, for the longest arrays.

    The record is that of the device shown or, if it has none, that of the reference device.
    """
    files = (DATA / "measured" / slug(name) / "first_kernels.csv" for name in (
        device_shown().name, devices.REFERENCE
    ))  # fmt: skip
    recorded = next(filter(None, (rows.read_if_any(file, ArrayTime) for file in files)))
    return {row.kernel: row for row in sorted(recorded, key=lambda row: row.elements)}


def times_of_first_kernels(*kernels: str) -> Table:
    """Return a table of recorded times, one row per kernel.

    The columns are the time, the GB/s and the share of the memory's peak. kernels: "scale",
    "sectors starter", "sectors solution". The record is the one of the longest arrays.
    """
    names = {
        "scale": "`scale`",
        "sectors starter": translate("`sectors`, as given"),
        "sectors solution": translate("`sectors`, changed"),
    }
    timed = [longest_times()[kernel] for kernel in kernels]
    peak = devices.find(timed[0].device).peak_gb_per_s
    lines = [
        (names[row.kernel], f"{row.time_ms:.2f} ms", f"{gb_per_s(row):,.0f}",
         f"{gb_per_s(row) / peak:.0%}")
        for row in timed
    ]  # fmt: skip
    caption = translate(
        "{elements:,} elements, one {device}", elements=timed[0].elements, device=timed[0].device
    )
    return table(caption, ("", "time", "GB/s", "of memory's peak"), lines)


def share_that_memory_allows(operations: float, moved: float) -> float:
    """Return the most that a kernel can reach of the arithmetic peak, in percent.

    operations: the number of float32 operations per element. moved: bytes per element, read and
    written. Both peaks are those of the H200's data sheet.
    """
    h200 = devices.find(devices.REFERENCE)
    return float(100 * operations / moved * h200.peak_gb_per_s / h200.peak_gflops)


def curve_of_products(ladder: Ladder, names: Sequence[str]) -> Figure:
    """Draw the recorded speeds of the named steps of the matrix product, and of the library.

    The axis has only the shares of the peak. ladder: the ladder of the matrix product. The records
    are those of the device shown.
    """
    frame = records.measured(device_shown().name, ladder.name)
    shown = frame[frame["step"].isin(names)]
    title = translate("Matrix product, float32: share of the peak")
    figure = plots.curve(shown, names, title)
    (axes,) = figure.axes
    axes.set_yticks([])
    for label in axes.texts:
        label.set_visible(label.get_text() != "GFLOP/s")
        if label.get_text().endswith(" %"):
            label.xyann = (-6, 0)
    return figure
