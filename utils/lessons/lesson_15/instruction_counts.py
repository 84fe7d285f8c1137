"""Instructions per warp and tile: beside the reads of shared memory, and as bars."""

from __future__ import annotations

from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson_15.iterations import (
    instructions_per_tile,
    loads_and_stores_per_tile,
    multiply_adds_per_tile,
)
from utils.lessons.recorded import recorded_ms
from utils.lessons.shared_reads import shared_reads
from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, legend, rect, svg, text

_WIDTH, _SCALE, _BAR, _ROW = 420, 0.52, 22, 52


def reads_and_instructions(shape: str = "4096", **steps: Step | Variant) -> Table:
    """Tabulate reads of shared memory, instructions and recorded time, one row per step.

    The columns are the wavefronts per read, the share of the recorded time in which shared memory
    is busy, the instructions per warp and tile, and the recorded time. shape: as on the command
    line. steps: the keyword is the row's name, with _ for spaces.
    """
    shared = shared_reads(shape, **steps)
    rows = [
        (name, wavefronts, share, f"{instructions_per_tile(step):g}", recorded)
        for (name, wavefronts, _, recorded, share), step in zip(
            shared.rows, steps.values(), strict=True
        )
    ]
    head = ("", "wavefronts for a read", "shared memory busy", "instructions", "recorded")
    note = "Instructions: of one warp for one tile. They are counted in the machine code."
    return table(shared.caption, head, rows, note)


def draw_instructions(shape: str = "4096", **steps: Step | Variant) -> Picture:
    """Draw the instructions of a warp for one tile as bars, with the recorded time of each step.

    shape: as on the command line. steps: the keyword is the bar's name, with _ for spaces.
    """
    body, said = "", []
    for number, (key, step) in enumerate(steps.items()):
        counts = _counts(step)
        name, top, total = key.replace("_", " "), number * _ROW, f"{sum(counts):g}"
        time = f"{recorded_ms(as_variant(step), shape):.2f} ms"
        body += text(0, top + 14, name, 13, font_weight="bold")
        body += text(_WIDTH - 20, top + 14, time, 13, "end")
        x = 0.0
        for count, colour in zip(counts, (GREEN, BLUE, ORANGE), strict=True):
            body += rect(x, top + 20, count * _SCALE, _BAR, colour)
            x += count * _SCALE
        body += text(8, top + 36, f"{counts[0]:g}", 13, style="fill:#fff")
        body += text(x + 6, top + 36, total, 13)
        parts = "{:g} multiply-adds, {:g} loads and stores, {:g} others".format(*counts)
        said.append(f"{name}: {total} instructions, {parts}, {time}")
    alt = f"Instructions of a warp for one tile, and the time at {shape}. {'. '.join(said)}."
    colours = legend(multiply_adds=GREEN, loads_and_stores=BLUE, others=ORANGE)
    return Picture(colours + svg(_WIDTH, _ROW * len(steps), body, alt, widest=620), alt)


def _counts(step: Step | Variant) -> tuple[float, float, float]:
    """Return the multiply-adds, the loads and stores, and the other instructions per tile."""
    useful, memory = multiply_adds_per_tile(step), loads_and_stores_per_tile(step)
    return useful, memory, instructions_per_tile(step) - useful - memory
