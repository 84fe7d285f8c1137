"""Two tile designs of a product, small and large: bandwidth, blocks and recorded times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.machine import devices

WORD = 4  # bytes per float32


def bytes_per_multiply_add(side: int) -> float:
    """Return the bytes from global memory per multiply-add with side×side tiles, without caches."""
    return WORD * (1 / side + 1 / side)


def bandwidth_needed(side: int, gflops: float) -> float:
    """Return the bandwidth in GB/s that a product needs at `gflops` GFLOP/s with side×side tiles.

    Caches are not taken into account.
    """
    return bytes_per_multiply_add(side) * gflops / 2


def bandwidths_needed(sides: Sequence[int], *names: str) -> Table:
    """Tabulate the memory bandwidth that products need at the peak of some GPUs, one row per GPU.

    There is a column for each side×side tile of `sides`, and one for the bandwidth that the memory
    has, all in GB/s. `names` are devices of `data/devices.csv`.
    """
    rows = []
    for name in names:
        device = devices.find(name)
        needed = (bandwidth_needed(side, device.fp32_gflops) for side in sides)
        cells = (f"{one:,.0f}" for one in (*needed, device.memory_gb_per_s))
        rows.append((f"{device.name.removeprefix('NVIDIA ')} ({device.year})", *cells))
    head = ("", *(f"{side}×{side} needs" for side in sides), "memory has")
    return table("GB/s at the data sheet's peak, without caches", head, rows)


def busy_fraction(blocks: int, sms: int) -> float:
    """Return the fraction of all SMs' time in which they have work.

    Each SM runs one block at a time, and every block takes equally long.
    """
    return blocks / (math.ceil(blocks / sms) * sms)


def designs(
    small: Step | Variant, large: Step | Variant, *sizes: int, times: bool = True
) -> Table:
    """Tabulate blocks and recorded times of two steps at n×n products, one row per size n.

    A step without a recorded time has "–" there. After each number of blocks the table has the
    percentage of all SMs' time that has work. times: whether the table has the recorded times.
    """
    device, rows = device_shown(), []
    for size in sizes:
        shape, cells = str(size), []
        for step in (small, large):
            variant = as_variant(step)
            blocks = variant.launch(ladder_of(variant.step).parse(shape)).blocks
            cells.append(f"{blocks:,} ({busy_fraction(blocks, device.sms):.0%})")
        recorded = (ms_if_any(as_variant(step), shape) for step in (small, large))
        cells += (f"{ms:.3f} ms" if ms else NOTHING for ms in recorded)
        rows.append((shape, *cells) if times else (shape, *cells[:2]))
    names = [as_variant(step).step.name for step in (small, large)]
    head = ("n", *(f"blocks of {name}" for name in names), *(names if times else ()))
    note = f"In brackets: the share of the time of {device.sms} SMs that has work, by the count."
    title = "Blocks and recorded times" if times else "Blocks"
    return table(f"{title}, one {device.name}", head, rows, note)
