"""The times that shared memory and the instructions of a kernel need, beside the recorded time."""

from __future__ import annotations

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms
from utils.lessons.shared_reads import cost_of_reads
from utils.lessons.tile_iterations import instructions_per_tile, multiply_adds_per_tile


def two_bounds(shape: str = "4096", **steps: Step | Variant) -> Table:
    """Return a table of two bounds on the time of each step, one row per step.

    The columns are the time of shared memory alone, the time of the instructions alone, the larger
    of the two, and the recorded time. Every step must read shared memory and have a record. shape:
    as on the command line. steps: the keyword is the row's name, with _ for spaces; the wavefronts
    per read follow it.
    """
    rows = [_cells(name.replace("_", " "), step, shape) for name, step in steps.items()]
    head = ("", "shared memory alone", "instructions alone", "larger of both", "recorded")
    note = "In brackets: wavefronts for a read. Instructions alone: one per scheduler and cycle."
    return table(f"n = {shape}, one {device_shown().name}", head, rows, note)


def instructions_ms(step: Step | Variant, shape: str) -> float:
    """Return the time of a product's instructions in ms, if each scheduler issues one per cycle.

    At the peak of the data sheet each of them is a multiply-add. shape: as on the command line.
    """
    variant = as_variant(step)
    flops = variant.step.task.work(ladder_of(variant.step).parse(shape)).flops
    per_multiply_add = instructions_per_tile(variant) / multiply_adds_per_tile(variant)
    return flops * per_multiply_add / device_shown().fp32_gflops / 1e6


def _cells(name: str, step: Step | Variant, shape: str) -> tuple[str, ...]:
    """Return five texts on a step: its name with the wavefronts per read, and four times in ms.

    The times are that of shared memory alone, that of the instructions alone, the larger of the
    two, and the recorded one. name: the name in the table.
    """
    variant = as_variant(step)
    per_read, shared = cost_of_reads(variant, shape)
    instructions = instructions_ms(variant, shape)
    times = shared, instructions, max(shared, instructions), recorded_ms(variant, shape)
    return f"{name} ({per_read:.3g})", *(f"{ms:.2f} ms" for ms in times)
