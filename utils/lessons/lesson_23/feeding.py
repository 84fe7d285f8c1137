"""How the steps on tensor cores are fed: wavefronts of ldmatrix, bytes, and recorded times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from tensor_kernels import LADDER
from tensor_kernels.mma_naive import M, N
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.lessons.counting import one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_23.bank_rows import GROUPS, wavefronts_in_order
from utils.lessons.recorded import duration, record_of, recorded_ms, share_of_peak
from utils.machine.occupancy import WARP
from virtual_gpu import trace as run_traced
from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, rect, svg, text

TILE = (128, 128, 32)  # m and n of one block, and one tile of k
SHAPE = "x".join(map(str, TILE))
SIDE = "4096"
ABOUT = 0.1  # the difference, as a part, within which two numbers are about the same
SHARED, SWIZZLED = LADDER.step("mma_shared"), LADDER.step("mma_swizzled")
OWN = (32, 16, 64)  # the m, n, k of the exercise
PARTS = 4  # of an ldmatrix_x4
STEPS = ("mma_naive", "mma_shared", "mma_swizzled", "mma_pipelined")


@cache
def ldmatrix_of(step: Step) -> pd.DataFrame:
    """Return the rows of `Trace.accesses` that are ldmatrix, of a step at `SHAPE`; cached."""
    return watch(step, SHAPE).accesses.query("instruction == 'ldmatrix'")


def wavefronts(step: Step) -> dict[str, float]:
    """Return shared array -> the mean wavefronts of one ldmatrix_x4 that reads it.

    They are counted on the virtual GPU, in a launch of the step at `SHAPE`.
    """
    loads = ldmatrix_of(step).groupby("array")
    return {name: one["wavefronts"].sum() / one["requests"].sum() for name, one in loads}


def times_fewer() -> float:
    """Return the wavefronts of ldmatrix in mma_shared divided by those in mma_swizzled.

    Both are the sum, over the two shared arrays, of the mean wavefronts of one ldmatrix_x4.
    """
    return sum(wavefronts(SHARED).values()) / sum(wavefronts(SWIZZLED).values())


def wavefronts_table() -> Table:
    """Return a table of the wavefronts of an ldmatrix_x4, with a row per shared array.

    The columns are those without a swizzle, in mma_shared, and with it, in mma_swizzled.
    """
    before, after = wavefronts(SHARED), wavefronts(SWIZZLED)
    rows = [(f"`{name}`", f"{before[name]:g}", f"{after[name]:g}") for name in before]
    return table(
        "Wavefronts per ldmatrix_x4, counted on the virtual GPU",
        ("tile", SHARED.name, SWIZZLED.name), rows,
    )  # fmt: skip


def wavefronts_ms(step: Step) -> float:
    """Return the ms that the ldmatrix of a step need at 4096, if an SM does one per cycle."""
    return one_per_cycle_ms(_wavefronts_per_multiply_add(step) * WARP, SIDE)


def wavefronts_in_millions(step: Step) -> float:
    """Return the millions of wavefronts that the ldmatrix of a step make at 4096."""
    return _wavefronts_per_multiply_add(step) * int(SIDE) ** 3 / 1e6


def filling_ms(step: Step) -> float:
    """Return the ms that the wavefronts need which fill the tiles of a step, at 4096.

    An SM does one per cycle. A block fills a tile of each matrix per 32 steps of k, and a pipeline
    fills some more, beyond k, with zeros.
    """
    m, n, k = TILE
    beyond = step.constants().get("STAGES", 1) - 1
    stores = watch(step, SHAPE).accesses.query("space == 'shared' and kind == 'store'")
    block = stores["wavefronts"].sum() / (1 + beyond) * (int(SIDE) // k + beyond)
    return one_per_cycle_ms(float(block) * WARP / (m * n * int(SIDE)), SIDE)


def _wavefronts_per_multiply_add(step: Step) -> float:
    """Return the wavefronts of a step's ldmatrix per multiply-add of the product."""
    return float(ldmatrix_of(step)["wavefronts"].sum()) / math.prod(TILE)


def speedup() -> float:
    """Return how many times as fast mma_swizzled is as mma_shared, by the record at 4096."""
    return recorded_ms(SHARED, SIDE) / recorded_ms(SWIZZLED, SIDE)


def draw_two() -> Picture:
    """Draw the recorded ms of mma_shared and mma_swizzled at 4096 as bars.

    The blue part of a bar is the ms that the wavefronts of ldmatrix need.
    """
    steps = (SHARED, SWIZZLED)
    times = {step.name: (recorded_ms(step, SIDE), wavefronts_ms(step)) for step in steps}
    shown = {name: (*both, duration(both[0])) for name, both in times.items()}
    return _bars(f"Recorded ms at {SIDE}; blue: ldmatrix alone", shown)


def saved() -> str:
    """Return "less", "about as much" or "more": how much recorded time the swizzle saves.

    The time is compared with that of the saved wavefronts. The result is a choice of a question.
    """
    less = recorded_ms(SHARED, SIDE) - recorded_ms(SWIZZLED, SIDE)
    return compared(less, wavefronts_ms(SHARED) - wavefronts_ms(SWIZZLED))


def compared(value: float, other: float) -> str:
    """Return how `value` compares with `other`: "less", "about as much" or "more".

    They are about as much if neither is more than the fraction `ABOUT` above the other.
    """
    if value > (1 + ABOUT) * other:
        return "more"
    return "less" if other > (1 + ABOUT) * value else "about as much"


def shares() -> dict[str, float]:
    """Return name -> the recorded fraction of the peak at 4096, of the four steps and cuBLAS."""
    found = {name: share_of_peak(LADDER.step(name), SIDE) for name in STEPS}
    last = record_of(LADDER.step(STEPS[-1]), SIDE)
    return {**found, "cuBLAS": last.efficiency / last.library_ratio}


def draw_ladder() -> Picture:
    """Draw the shares of the peak that the four steps and the library reach at 4096."""
    shown = {name: (one, 0.0, f"{100 * one:.2g} %") for name, one in shares().items()}
    title = f"Share of the peak at {SIDE}; orange: this lesson"
    return _bars(title, shown, orange=STEPS[1:])


def beside_the_course(kernel) -> Table:
    """Return a table of the wavefronts per request of the reader's `swizzled_tile`.

    It has a row per kind of instruction that accesses the shared array `tile`, first as computed
    for a tile in order, and then as counted in the reader's kernel.
    kernel: the reader's kernel; it is launched on the virtual GPU as the exercise launches it.
    """
    # Without a swizzle the 32 lanes store neighbouring chunks, which fill the groups of banks.
    plain = {"ldmatrix": PARTS * wavefronts_in_order(OWN[2]), "store": WARP / GROUPS}
    counted = _wavefronts_of_tile(kernel)
    rows = [(kind, f"{plain[kind]:g}", f"{counted[kind]:g}") for kind in counted]
    return table("Wavefronts per request, counted on the virtual GPU",
                 ("access to the tile", "without a swizzle", "your kernel"), rows)  # fmt: skip


def _wavefronts_of_tile(kernel) -> dict[str, float]:
    """Return instruction -> the wavefronts of one request to the tile of a `swizzled_tile`."""
    m, n, k = OWN
    a, b = np.ones((m, k), np.float16), np.ones((k, n), np.float16)
    grid, c = (n // N, m // M), np.zeros((m, n), np.float32)
    seen = run_traced(kernel, grid, WARP, a, b, c).accesses.query("array == 'tile'")
    loads = seen.groupby("instruction")
    return {kind: one["wavefronts"].sum() / one["requests"].sum() for kind, one in loads}


def _bars(
    title: str, bars: dict[str, tuple[float, float, str]], orange: Sequence[str] = ()
) -> Picture:
    """Return bars of name -> (length, the length of a part of it, its words), below the title.

    The part is blue, and the bars are grey, but for those whose names are in `orange`.
    """
    left, width = 108, 412
    longest = max(length for length, _, _ in bars.values())
    body, y = text(0, 14, title, 13, font_weight="bold"), 28
    for name, (length, part, words) in bars.items():
        wide, inner = ((width - left - 66) * one / longest for one in (length, part))
        body += text(left - 8, y + 12, name, 13, "end")
        body += rect(left, y, wide, 15, ORANGE if name in orange else GREY)
        body += rect(left, y, inner, 15, BLUE) if part else ""
        body += text(left + wide + 6, y + 12, words, 13)
        y += 24
    said = ", ".join(
        f"{name} {words}" + (f", of which {duration(part)}" if part else "")
        for name, (_, part, words) in bars.items()
    )
    alt = f"{title}, {device_shown().name}: {said}."
    return Picture(svg(width, y, body, alt, widest=520), alt)
