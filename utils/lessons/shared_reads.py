"""Wavefronts per read of shared memory, and the time that shared memory alone would take."""

from __future__ import annotations

from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.lessons.wavefronts import shared_memory_ms, wavefronts_per_multiply_add

# One block of 128×128, and k large enough that the first and the last tile count little.
SHAPE = "128x128x64"


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


def _cells(step: Step | Variant, shape: str) -> tuple[str, ...]:
    """Return the cells of a step: wavefronts per read, estimate, recorded time, and share."""
    trace = watch(step, SHAPE)
    requests = trace.totals["shared_load_requests"]
    if not requests:
        return (NOTHING,) * 4
    per_read = trace.totals["shared_load_wavefronts"] / requests
    alone = shared_memory_ms(wavefronts_per_multiply_add(trace), shape)
    recorded = ms_if_any(as_variant(step), shape)
    if not recorded:
        return f"{per_read:.3g}", f"{alone:.2f} ms", NOTHING, NOTHING
    return f"{per_read:.3g}", f"{alone:.2f} ms", f"{recorded:.2f} ms", f"{alone / recorded:.1%}"
