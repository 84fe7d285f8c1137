"""What one mma of `mma_naive` needs: cache lines, instructions, and time of the tensor cores."""

from __future__ import annotations

from functools import cache

import numpy as np

from gpu_xray import xray
from tensor_kernels.mma_naive import STEP, K, M, N
from utils.errors import CourseError
from utils.figures.kernel_bars import WIDTH
from utils.ladder.shapes import GemmShape
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import duration, recorded_ms
from utils.machine.occupancy import WARP, limits_of
from utils.translation import translate
from virtual_gpu import Trace
from virtual_gpu import trace as run_traced
from virtual_gpu.pictures.svg import GREY, ORANGE, Picture, rect, svg, text

MULTIPLY_ADDS = M * N * K  # of one mma
# Rows of a and of b are at least a cache line long, so that no two rows share one.
COUNTED = "32x64x64"
SIDE = "4096"
COUNTS = {"requests": "requests", "sectors": "sectors", "cache_lines": "cache lines"}
KINDS = {
    "HMMA": ("HMMA",),
    "loads": ("LDG",),
    "joining two float16": ("PRMT",),
}


@cache
def seen() -> Trace:
    """Return the trace of `mma_naive` at a small shape; cached."""
    return watch(STEP, COUNTED)


def lines_per_mma(trace: Trace) -> float:
    """Return the mean number of cache lines that a warp's loads touch per mma."""
    loads = trace.accesses.query("kind == 'load'")
    return loads["cache_lines"].sum() / trace.totals["mma"]


def beside_the_course(kernel) -> Table:
    """Return a table of what one mma of the reader's `whole_warp` and of `mma_naive` needs.

    kernel: the reader's kernel; it is launched as `mma_naive` is.
    """
    shape = GemmShape(*map(int, COUNTED.split("x")))
    launch = STEP.launch(shape)
    a, b = (np.ones(size, np.float16) for size in ((shape.m, shape.k), (shape.k, shape.n)))
    own = run_traced(kernel, launch.grid, launch.block, a, b, np.zeros((shape.m, shape.n), "f4"))
    rows = []
    for name, one in (("your whole_warp", own), (STEP.name, seen())):
        loads = one.accesses.query("kind == 'load'")
        counts = (loads[what].sum() / one.totals["mma"] for what in COUNTS)
        rows.append((name, *(f"{count:g}" for count in counts)))
    return table("Loads per mma, counted on the virtual GPU", ("", *COUNTS.values()), rows)


def loads_table(trace: Trace) -> Table:
    """Return a table of the loads of a and b: requests, sectors and cache lines per mma."""
    loads = trace.accesses.query("kind == 'load'").groupby("array").sum(numeric_only=True)
    rows = [
        (f"`{name}`", *(f"{one[what] / trace.totals['mma']:g}" for what in COUNTS))
        for name, one in loads.iterrows()
    ]
    return table("Per mma, counted on the virtual GPU", ("loads of", *COUNTS.values()), rows)


@cache
def loop() -> tuple[str, ...] | None:
    """Return the opcodes of the loop of `mma_naive` on the device shown, or None.

    It is None without a compiler.
    """
    try:
        report = xray(STEP.variant().kernel, STEP.signature, device_shown().arch)
    except CourseError:
        return None
    body = next(one.body for one in report.loops if any(i.name == "HMMA" for i in one.body))
    return tuple(instruction.name for instruction in body)


def loop_table() -> Table | Card:
    """Return a table of the instructions of one iteration by kind; a card without a compiler."""
    names = loop()
    if names is None:
        return Card("ask", (translate("The machine code needs a compiler for GPUs."),))
    rows = [(kind, sum(name in listed for name in names)) for kind, listed in KINDS.items()]
    rows.append(("addresses, guards, the loop", len(names) - sum(count for _, count in rows)))
    return table(
        f"One iteration of mma_naive, {device_shown().arch}", ("instructions", "count"),
        [(kind, str(count)) for kind, count in rows],
    )  # fmt: skip


def estimates(shape: str = SIDE) -> dict[str, float]:
    """Return resource -> ms that a product takes if only this resource is used, at full rate.

    The tensor cores have the data sheet's rate, an SM gets one cache line per cycle, and each of
    its schedulers starts one instruction per cycle. Instructions are left out without a compiler.
    """
    device = device_shown()
    flops = 2 * int(shape) ** 3
    found = {"tensor cores": flops / device.tensor_gflops / 1e6}
    if loop():
        schedulers = limits_of(device.compute_capability).sub_partitions
        per_mma = len(loop()) / schedulers
        found["instructions"] = one_per_cycle_ms(WARP * per_mma / MULTIPLY_ADDS, shape)
    per_mma = float(lines_per_mma(seen()))
    return {**found, "cache lines": one_per_cycle_ms(WARP * per_mma / MULTIPLY_ADDS, shape)}


def draw_limits(shape: str = SIDE) -> Picture:
    """Draw bars of the ms that each resource needs alone, above the recorded time."""
    needed = estimates(shape)
    bars = {**needed, "recorded": recorded_ms(STEP, shape)}
    left, longest = 96, max(bars.values())
    title = f"{STEP.name} at {shape}: ms that each resource needs alone"
    body, y = text(0, 14, title, 13, font_weight="bold"), 28
    for name, ms in bars.items():
        wide = max((WIDTH - left - 64) * ms / longest, 1)
        colour = ORANGE if name == max(needed, key=needed.get) else GREY
        colour = "currentColor" if name == "recorded" else colour
        body += text(left - 8, y + 12, name, 13, "end") + rect(left, y, wide, 15, colour)
        body += text(left + wide + 6, y + 12, duration(ms), 13)
        y += 24
    said = ", ".join(f"{name} {duration(ms)}" for name, ms in bars.items())
    alt = f"{title}, {device_shown().name}: {said}."
    return Picture(svg(WIDTH, y, body, alt, widest=520), alt)

