"""Instructions per warp and tile: beside the reads of shared memory, as bars, and beside Gray's."""

from __future__ import annotations

from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.published import claimed
from utils.lessons.recorded import recorded_ms
from utils.lessons.shared_reads import shared_reads
from utils.lessons.tile_iterations import (
    instructions_per_tile,
    loads_and_stores_per_tile,
    multiply_adds_per_tile,
)
from virtual_gpu.pictures.svg import GREEN, ORANGE, Picture, legend, rect, svg, text

_WIDTH, _SCALE, _BAR, _ROW = 420, 0.52, 22, 52
_ITS_LOOP = "of one turn of the main loop"


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
        useful, every = multiply_adds_per_tile(step), instructions_per_tile(step)
        name, top = key.replace("_", " "), number * _ROW
        time = f"{recorded_ms(as_variant(step), shape):.2f} ms"
        body += text(0, top + 14, name, 13, font_weight="bold")
        body += text(_WIDTH - 20, top + 14, time, 13, "end")
        x, white = useful * _SCALE, {"style": "fill:#fff"}
        body += rect(0, top + 20, x, _BAR, GREEN)
        body += text(8, top + 36, useful, 13, **white)
        body += rect(x, top + 20, (every - useful) * _SCALE, _BAR, ORANGE)
        body += text(x + 8, top + 36, f"{every - useful:g}", 13, **white)
        body += text(every * _SCALE + 6, top + 36, f"{every:g}", 13)
        parts = f"{useful} multiply-adds and {every - useful:g} others"
        said.append(f"{name}: {every:g} instructions, {parts}, {time}")
    alt = f"Instructions of a warp for one tile, and the time at {shape}. {'. '.join(said)}."
    colours = legend(**{"multiply-adds": GREEN, "all others": ORANGE})
    return Picture(colours + svg(_WIDTH, _ROW * len(steps), body, alt, widest=620), alt)


def beside_gray(step: Step | Variant) -> Table:
    """Tabulate the instructions of a warp for one tile: Gray's loop for 256 threads, and a step's.

    The last row has the multiply-adds as a share of all instructions. The step's multiply-adds must
    be as many as Gray's.
    """
    useful, ours = multiply_adds_per_tile(step), loads_and_stores_per_tile(step)
    theirs = claimed(f"maxas, 256 threads: loads and stores {_ITS_LOOP}")
    counts = [(theirs, gray_others()), (ours, instructions_per_tile(step) - useful - ours)]
    names = ("multiply-adds", "loads and stores", "others", "in all")
    columns = [(useful, *pair, useful + sum(pair)) for pair in counts]
    rows = [(name, *(f"{one:g}" for one in row)) for name, *row in zip(names, *columns)]
    shares = (f"{100 * useful / column[-1]:.0f} %" for column in columns)
    rows.append(("multiply-adds of all", *shares))
    head = ("", "Gray, 256 threads", as_variant(step).step.name)
    return table("Instructions of a warp for one tile", head, rows)


def gray_others() -> float:
    """Return the instructions of Gray's loop for 256 threads that are not for data or sums.

    They are all but its multiply-adds, loads and stores, per warp and tile of 8 steps of 8×8.
    """
    clocks, free = (
        claimed(f"maxas, 256 threads: {what} {_ITS_LOOP}") for what in ("clocks", "BAR and BRA")
    )
    return clocks - 8**3 + free
