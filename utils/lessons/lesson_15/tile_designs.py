"""Two tile designs of a product, small and large: the bandwidth and the blocks of each."""

from __future__ import annotations

import math

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown

WORD = 4  # bytes per float32


def bytes_per_multiply_add(side: int) -> float:
    """Return the bytes from global memory per multiply-add with side×side tiles, without caches."""
    return WORD * (1 / side + 1 / side)


def bandwidth_needed(side: int, gflops: float) -> float:
    """Return the bandwidth in GB/s that a product needs at `gflops` GFLOP/s with side×side tiles.

    Caches are not taken into account.
    """
    return bytes_per_multiply_add(side) * gflops / 2


def busy_fraction(blocks: int, sms: int) -> float:
    """Return the fraction of all SMs' time in which they have work.

    Each SM runs one block at a time, and every block takes equally long.
    """
    return blocks / (math.ceil(blocks / sms) * sms)


def blocks_and_sms(small: Step | Variant, large: Step | Variant, *sizes: int) -> Table:
    """Return a table of the blocks of two steps at n×n products, one row per size n.

    Each cell has the number of blocks and the percentage of all SMs' time that has work.
    """
    device, rows = device_shown(), []
    variants = as_variant(small), as_variant(large)
    for size in sizes:
        launches = (one.launch(ladder_of(one.step).parse(str(size))) for one in variants)
        blocks = [launch.blocks for launch in launches]
        cells = (f"{count:,} ({busy_fraction(count, device.sms):.0%})" for count in blocks)
        rows.append((str(size), *cells))
    head = ("n", *(f"blocks of {one.step.name}" for one in variants))
    note = f"In brackets: the share of the time of {device.sms} SMs that has work."
    return table(f"Blocks, one {device.name}", head, rows, note)
