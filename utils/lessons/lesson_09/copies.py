"""The recorded copies: their speed against the bytes of loads that are under way in an SM."""

from __future__ import annotations

from importlib import import_module

import pandas as pd

from utils.ladder.shapes import FLOAT32_BYTES
from utils.lessons.lesson_09.plot_area import PlotArea
from utils.machine.devices import REFERENCE, Device, find, slug
from utils.measuring import records, rows
from utils.measuring.kernel_times import ArrayTime
from utils.paths import DATA
from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

ELEMENTS = 2**28  # of the copies whose times are compared

# What is drawn: the curve, as in the record, and its colour.
SHOWN = {"1 float": BLUE, "4 float": GREEN, "8 float": ORANGE, "8 float4": PURPLE}
_AREA = PlotArea(left=44, right=408, top=34, bottom=214, first=512, last=2**17 * 1.25)
_TICKS = {512: "512", 2048: "2,048", 8192: "8,192", 32768: "32,768", 131072: "131,072"}

Named = tuple[str, int]  # (curve, threads per SM)


def draw(frame: pd.DataFrame, needed: float, *points: Named) -> Picture:
    """Draw the share of the peak that copies reach by loads in flight in an SM, and Little's law.

    The share is in percent of the memory's peak, and loads in flight are bytes. The copies are
    those of `SHOWN`.

    Parameters
    ----------
    frame : DataFrame
        The columns of `latency_kernels.hiding.curves.Point`.
    needed : float
        The bytes of loads that an SM must have under way by the law, with the latency of a load
        alone.
    *points : (str, int)
        Points to mark: the curve, such as "8 float4", and the threads per SM.
    """
    doublings = (_AREA.first * 2 ** (step / 8) for step in range(65))
    under_way = sorted([*(one for one in doublings if one < _AREA.last), needed, _AREA.last])
    body = _AREA.axes(_TICKS, "bytes of loads under way in an SM")
    law = _AREA.commands((one, min(100, 100 * one / needed)) for one in under_way)
    body += path(law, stroke=GREY, stroke_width=2, stroke_dasharray="3 4")
    curves = {what: _curve(frame, what) for what in SHOWN}
    for what, curve in curves.items():
        body += path(_AREA.commands(curve.values()), stroke=SHOWN[what], stroke_width=2)
        for point in curve.values():
            x, y = _AREA.at(*point)
            body += f'<circle cx="{x:g}" cy="{y:g}" r="2.6" fill="{SHOWN[what]}"/>'
    said = []
    for number, (what, threads) in enumerate(points):
        point = curves[what][threads]
        x, y = _AREA.at(*point)
        body += f'<circle cx="{x:g}" cy="{y:g}" r="7" fill="none" stroke="{SHOWN[what]}"'
        body += ' stroke-width="2"/>'
        said.append(f"{threads:,} threads, {what}: {point[1]:.1f} %")
        above = 18 * (len(points) - number) - 4
        body += text(_AREA.right, _AREA.bottom - above, said[-1], 13, "end",
                     font_weight="bold", style=f"fill:{SHOWN[what]}")  # fmt: skip
    alt = (
        f"Copies by the bytes of loads under way in an SM. The curves of {', '.join(SHOWN)} rise "
        "with the bytes and stay below Little's law. At equal bytes they differ. "
        f"{'; '.join(said)}."
    )
    colours = legend(**SHOWN, **{"Little's law": GREY})
    return Picture(colours + svg(420, 252, body, alt, widest=560), alt)


def recorded_times() -> dict[str, float]:
    """Return name -> ms of two recorded copies of 2^28 floats, on the reference device.

    "sectors" is the solution of lesson 00's exercise, and "copy" the step of the course that
    measures the bandwidth. Both have blocks of 256 threads and four elements per thread.
    """
    first = rows.read(DATA / "measured" / slug(REFERENCE) / "first_kernels.csv", ArrayTime)
    course = records.measured(REFERENCE, "latency")
    course = course[(course["step"] == "copy") & (course["elements"] == ELEMENTS)]
    (sectors,) = (
        row for row in first if (row.kernel, row.elements) == ("sectors solution", ELEMENTS)
    )
    return {"sectors": sectors.time_ms, "copy": float(course["time_ms"].iloc[0])}


def draw_times(times: dict[str, float]) -> Picture:
    """Draw a bar per copy, with its share of the memory's peak and its time.

    times: name -> ms of a copy of 2^28 floats, as from `recorded_times`. A bar is as long as the
    share, which is that of the reference device's peak.
    """
    peak = find(REFERENCE).peak_gb_per_s
    bars = {}
    for name, ms in times.items():
        percent = 100 * 2 * FLOAT32_BYTES * ELEMENTS / ms / 1e6 / peak
        bars[name] = (percent, f"{percent:.1f} %, {ms:.2f} ms")
    return _bars(bars, 100, "the memory's peak")


def draw_iterations(frame: pd.DataFrame, device: Device, *points: Named) -> Picture:
    """Draw a bar per recorded copy with the cycles from a load of a thread to its next load.

    The dashed line is the recorded latency of a load alone. frame: the columns of
    `latency_kernels.hiding.curves.Point`, of `device`. points: the curve, and the threads per SM.
    """
    curves = import_module("latency_kernels.hiding.curves")
    alone = curves.littles_law(frame, device).loc["memory", "latency"]
    bars = {}
    for what, threads in points:
        cycles = curves.turn_cycles(frame, what, threads)
        bars[f"{what}, {threads:,} threads"] = (cycles, f"{cycles:,.0f} cycles")
    return _bars(bars, alone, f"a load alone: {alone:.0f} cycles")


def _bars(bars: dict[str, tuple[float, str]], at: float, mark: str) -> Picture:
    """Draw a bar per entry, and a dashed line with the words `mark` at the value `at`.

    bars: name -> (value, the words in the bar).
    """
    left, right, row, body = 150, 412, 30, ""
    unit = (right - left) / max(at, *(value for value, _ in bars.values()))
    for number, (name, (value, words)) in enumerate(bars.items()):
        y, width = 20 + number * row, value * unit
        body += text(left - 8, y + 15, name, 13, "end")
        body += rect(left, y, width, 21, BLUE)
        body += text(left + 6, y + 15, words, 13, style="fill:#fff")  # left of the line
    end, x = 20 + len(bars) * row, left + at * unit
    body += path(f"M{x:g} 15V{end}", stroke_dasharray="3 3")
    body += text(x, 11, mark, 12, "end" if x > right - 60 else "middle")
    alt = f"Bars: {'; '.join(f'{name} {words}' for name, (_, words) in bars.items())}. {mark}."
    return Picture(svg(420, end + 4, body, alt, widest=520), alt)


def _curve(frame: pd.DataFrame, what: str) -> dict[int, tuple[float, float]]:
    """Return threads per SM -> (bytes of loads under way, percent of the peak) of a copy.

    what: the name of the copy, such as "8 float4". The bytes are those of all threads of an SM. Of
    several measurements with equally many threads, the one with the highest share counts. The keys
    ascend.
    """
    rows = frame[(frame["experiment"] == "copy") & (frame["what"] == what)]
    rows = rows.sort_values(["threads_per_sm", "share"])
    return {
        int(row.threads_per_sm): (
            float(row.threads_per_sm * row.floats * FLOAT32_BYTES), 100 * float(row.share)
        )
        for row in rows.itertuples()
    }  # fmt: skip
