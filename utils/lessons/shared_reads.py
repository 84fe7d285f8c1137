"""Wavefronts per read of shared memory, and the time that shared memory alone would take."""

from __future__ import annotations

import pandas as pd

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.lessons.wavefronts import WAVEFRONTS, shared_memory_ms
from utils.machine.occupancy import WARP

# One tile of c, as one block of the later steps computes it, and the two k that are counted.
SIDE, COUNTED = 128, (32, 64)


def totals_of_tile(step: Step | Variant, k: int) -> pd.Series:
    """Return the counts of a product of 128×k by k×128 elements, indexed as `Trace.totals`.

    Two products with small k are counted on the virtual GPU. Each further tile of k costs their
    difference, and what a block does once, such as its stores of c, is counted once. k: a multiple
    of 32.
    """
    few, many = (watch(step, f"{SIDE}x{SIDE}x{each}").totals for each in COUNTED)
    return few + (many - few) * (k - COUNTED[0]) / (COUNTED[1] - COUNTED[0])


def shared_reads(shape: str = "4096", **steps: Step | Variant) -> Table:
    """Return a table of what each step's reads of shared memory cost, one row per step.

    The columns are the wavefronts per read, the time that shared memory alone would take, the
    recorded time, and the first time as a fraction of the second. Without a record the last two are
    "–", and without reads of shared memory all four are. shape: as on the command line. steps: the
    keyword is the row's name, with _ for spaces.
    """
    rows = [(name.replace("_", " "), *_cells(step, shape)) for name, step in steps.items()]
    head = ("", "wavefronts for a read", "shared memory alone", "recorded", "share")
    note = "Shared memory alone: one wavefront per cycle and SM. Share: of the recorded time."
    return table(f"n = {shape}, one {device_shown().name}", head, rows, note)


def cost_of_reads(step: Step | Variant, shape: str) -> tuple[float, float] | None:
    """Return a step's wavefronts per read of shared memory, and the ms that shared memory needs.

    The time is of all wavefronts, reads and stores, at one per cycle and SM. Returns None if the
    step does not read shared memory. shape: as on the command line.
    """
    variant = as_variant(step)
    k = ladder_of(variant.step).parse(shape).k
    totals = totals_of_tile(variant, k)
    if not totals["shared_load_requests"]:
        return None
    per_read = totals["shared_load_wavefronts"] / totals["shared_load_requests"]
    return per_read, shared_memory_ms(WARP * totals[WAVEFRONTS].sum() / (SIDE**2 * k), shape)


def _cells(step: Step | Variant, shape: str) -> tuple[str, ...]:
    """Return four texts on a step: wavefronts per read, estimated ms, recorded ms, and their ratio.

    The ratio is the estimated time in percent of the recorded one. Without a record the last two
    are "–", and without reads of shared memory all four are.
    """
    cost = cost_of_reads(step, shape)
    if not cost:
        return (NOTHING,) * 4
    per_read, alone = cost
    recorded = ms_if_any(as_variant(step), shape)
    if not recorded:
        return f"{per_read:.3g}", f"{alone:.2f} ms", NOTHING, NOTHING
    return f"{per_read:.3g}", f"{alone:.2f} ms", f"{recorded:.2f} ms", f"{alone / recorded:.1%}"
