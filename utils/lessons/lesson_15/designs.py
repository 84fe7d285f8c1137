"""Two designs of a product, a small and a large tile: the bandwidth they need, and who wins."""

from __future__ import annotations

import math
from collections.abc import Sequence

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import duration, recorded_ms
from utils.machine import devices

WORD = 4  # bytes


def bytes_per_multiply_add(side: int) -> float:
    """From global memory, where a block computes side×side of c and no cache helps."""
    return WORD * (1 / side + 1 / side)


def bandwidth_needed(side: int, gflops: float) -> float:
    """GB/s that a product at so many GFLOP/s needs, with tiles of side×side."""
    return bytes_per_multiply_add(side) * gflops / 2


def bandwidths_needed(sides: Sequence[int], *names: str) -> Table:
    """What each design needs at the peak of some GPUs, and what their memory has, in GB/s.

    names: of devices, as in `data/devices.csv`.
    """
    rows = []
    for name in names:
        device = devices.find(name)
        needed = (bandwidth_needed(side, device.fp32_gflops) for side in sides)
        cells = (f"{one:,.0f}" for one in (*needed, device.memory_gb_per_s))
        rows.append((f"{device.name.removeprefix('NVIDIA ')} ({device.year})", *cells))
    head = ("", *(f"{side}×{side} needs" for side in sides), "memory has")
    return table("GB/s at the data sheet's peak, without caches", head, rows)


def filled(blocks: int, sms: int) -> float:
    """The share of all SMs' time that has work, if each block takes as long as any other."""
    return blocks / (math.ceil(blocks / sms) * sms)


def designs(small: Step, large: Step, *sizes: int) -> Table:
    """Blocks and recorded times of two steps at square products of these sizes."""
    device, rows = device_shown(), []
    for size in sizes:
        shape, cells = str(size), []
        for step in (small, large):
            blocks = step.variant().launch(ladder_of(step).parse(shape)).blocks
            cells.append(f"{blocks:,} ({filled(blocks, device.sms):.0%})")
        times = (duration(recorded_ms(step.variant(), shape)) for step in (small, large))
        rows.append((shape, *cells, *times))
    head = ("n", f"blocks of {small.name}", f"blocks of {large.name}", small.name, large.name)
    note = f"In brackets: the share of the time of {device.sms} SMs that has work, by the count."
    return table(f"Blocks and recorded times, one {device.name}", head, rows, note)
