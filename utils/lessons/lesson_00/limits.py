"""The share of the arithmetic peak that memory allows, and recorded shares of steps.

The functions on records take the ladder of the steps, because this package imports no kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from utils.figures import plots
from utils.ladder.ladder import Ladder
from utils.ladder.shapes import FLOAT32_BYTES
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import rows_of
from utils.machine import devices
from utils.measuring import records
from utils.measuring.kernel_times import ArrayTime
from utils.translation import translate
from virtual_gpu.pictures.svg import BLUE, Picture, rect, svg, text


def gb_per_s(row: ArrayTime) -> float:
    """Return the GB/s of a recorded kernel that reads one array and writes another of its length.

    Each byte of both float32 arrays counts once.
    """
    return 2 * FLOAT32_BYTES * row.elements / row.time_ms / 1e6


_WIDTH, _TOP, _PITCH, _BAR = 412, 60, 46, 14


def longest_times() -> dict[str, ArrayTime]:
    """Return the recorded row of each kernel, by its name, for the longest arrays.

    The record is that of the device shown or, if it has none, that of the reference device. Raises
    CourseError if neither has a record.
    """
    recorded = rows_of("first_kernels.csv", ArrayTime)
    return {row.kernel: row for row in sorted(recorded, key=lambda row: row.elements)}


def speeds_of_first_kernels(*kernels: str) -> Picture:
    """Draw the recorded GB/s of kernels as bars, each in a frame that ends at the memory's peak.

    A bar has its time, its GB/s and its share of the peak above it. kernels: of "scale",
    "sectors starter" and "sectors solution". The record is the one of the longest arrays.
    """
    names = {
        "scale": "scale",
        "sectors starter": translate("sectors, as given"),
        "sectors solution": translate("sectors, changed"),
    }
    timed = [longest_times()[kernel] for kernel in kernels]
    peak = devices.find(timed[0].device).peak_gb_per_s
    title = translate(
        "{elements:,} elements, one {device}", elements=timed[0].elements, device=timed[0].device
    )
    frames = translate("the frames end at memory's peak, {peak:,.0f} GB/s", peak=peak)
    body, said = text(0, 15, title, 13, font_weight="bold") + text(0, 33, frames), []
    for number, row in enumerate(timed):
        name, speed, y = names[row.kernel], gb_per_s(row), _TOP + number * _PITCH
        words = translate(
            "{time:.2f} ms, {speed:,.0f} GB/s, {share:.0%} of the peak",
            time=row.time_ms, speed=speed, share=speed / peak,
        )  # fmt: skip
        said.append(f"{name}: {words}")
        body += text(0, y, name, 13, font_weight="600")
        body += text(_WIDTH, y, words, 12, "end")
        body += rect(1, y + 6, round((_WIDTH - 2) * speed / peak, 1), _BAR, BLUE)
        look = {"stroke": "currentColor", "stroke_width": 1, "stroke_opacity": 0.6}
        body += rect(1, y + 6, _WIDTH - 2, _BAR, "none", **look)
    alt = f"{title}. {'; '.join(said)}."
    return Picture(svg(_WIDTH, _TOP + len(timed) * _PITCH - 14, body, alt, widest=520), alt)


def share_that_memory_allows(operations: float, moved: float) -> float:
    """Return the most that a kernel can reach of the arithmetic peak, in percent.

    The bandwidth alone limits it, so it is above 100 if the peak of arithmetic is the tighter
    limit. operations: the number of float32 operations per element. moved: bytes per element, read
    and written. Both peaks are those of the H200's data sheet.
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
