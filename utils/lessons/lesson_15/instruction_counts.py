"""Instructions per warp and tile: beside the reads of shared memory, as bars, and beside Gray's."""

from __future__ import annotations

from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.counting import as_variant
from utils.lessons.lesson_15.colours import LOADS_AND_STORES, MULTIPLY_ADDS, OTHERS
from utils.lessons.published import claimed
from utils.lessons.recorded import record_of, recorded_ms
from utils.lessons.shared_reads import shared_reads
from utils.lessons.tile_iterations import (
    instructions_per_tile,
    loads_and_stores_per_tile,
    multiply_adds_before_barrier,
    multiply_adds_per_tile,
    slots_of,
    ways_of,
)
from virtual_gpu.pictures.svg import Picture, legend, rect, svg, text

_WIDTH, _SCALE, _BAR, _ROW = 420, 0.52, 22, 52
_COLOURS = MULTIPLY_ADDS, LOADS_AND_STORES, OTHERS
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

    The parts of a bar are multiply-adds, loads and stores, and others. shape: as on the command
    line. steps: the keyword is the bar's name, with _ for spaces.
    """
    body, said = "", []
    for number, (key, step) in enumerate(steps.items()):
        every, name, top = instructions_per_tile(step), key.replace("_", " "), number * _ROW
        time = f"{recorded_ms(as_variant(step), shape):.2f} ms"
        body += text(0, top + 14, name, 13, font_weight="bold")
        body += text(_WIDTH, top + 14, f"recorded at {shape}: {time}", 13, "end")
        x, parts = 0.0, parts_of(step)
        for (count, _), colour in zip(parts, _COLOURS, strict=True):
            body += rect(x, top + 20, count * _SCALE, _BAR, colour)
            body += text(x + 3, top + 36, f"{count:g}", 12, style="fill:#fff")
            x += count * _SCALE
        body += text(x + 5, top + 36, f"= {every:g}", 13)
        listed = ", ".join(f"{count:g} {words}" for count, words in parts)
        said.append(f"{name}: {every:g} instructions, {listed}, {time}")
    alt = f"Instructions of a warp for one tile, and the time at {shape}. {'. '.join(said)}."
    names = ("multiply-adds", "loads and stores", "others")
    colours = legend(**dict(zip(names, _COLOURS, strict=True)))
    return Picture(colours + svg(_WIDTH, _ROW * len(steps), body, alt, widest=530), alt)


def parts_of(step: Step | Variant) -> tuple[tuple[float, str], ...]:
    """Return (number, kind) of the instructions of a warp for one tile.

    The kinds are, in this order, "multiply-adds", "loads and stores" and "others".
    """
    useful, memory = multiply_adds_per_tile(step), loads_and_stores_per_tile(step)
    others = instructions_per_tile(step) - useful - memory
    return (useful, "multiply-adds"), (memory, "loads and stores"), (others, "others")


def slots_filled(shape: str = "4096", **steps: Step | Variant) -> Table:
    """Tabulate what is counted and recorded of several steps, one column per step.

    The rows are a warp's instructions per tile, the shifts and masks among them, the multiply-adds
    between its last store and the barrier, the cycles lost to register banks per 128 multiply-adds,
    the registers per thread, the recorded ms, and the slots of 100 with a multiply-add. The last
    row has the slots of 100 that have an instruction of any kind: those with a multiply-add ×
    instructions ÷ multiply-adds. Every step must be among the recorded loops.
    shape: as on the command line. steps: the keyword is the column's name, with _ for spaces.
    """
    columns = [_column(as_variant(step), shape) for step in steps.values()]
    names = (
        "instructions per tile", "of these, shifts and masks", "before the barrier",
        "cycles lost to register banks", "registers per thread", "time in ms",
        "slots with a multiply-add", "slots filled",
    )  # fmt: skip
    head = ("", *(key.replace("_", " ") for key in steps))
    note = (
        "Slots: of 100. Before the barrier: multiply-adds. Register banks: cycles per 128 "
        "multiply-adds by the model of lesson 16."
    )
    rows = list(zip(names, *columns, strict=True))
    return table(f"Kernels at {shape}, counted and recorded", head, rows, note)


def filled(step: Step | Variant, shape: str = "4096") -> float:
    """Return how many of 100 issue slots have an instruction of any kind.

    shape: as on the command line.
    """
    slots = slots_of(step, shape)
    return 100 * (slots.multiply_adds + slots.loads_and_stores + slots.others)


def shifts_and_masks(step: Step | Variant) -> float:
    """Return how many shifts and logical operations a warp executes per tile, both together.

    If some warps load a and others load b, it is the mean of the two.
    """
    ways = ways_of(step)
    return sum(way.mix.get(name, 0) for way in ways for name in ("SHF", "LOP3")) / len(ways)


def _column(variant: Variant, shape: str) -> tuple[str, ...]:
    """Return the cells of a variant's column in `slots_filled`."""
    record = record_of(variant, shape)
    return (
        f"{instructions_per_tile(variant):g}",
        f"{shifts_and_masks(variant):g}",
        f"{multiply_adds_before_barrier(variant):g}",
        f"{recorded_loop(str(variant)).waits:g}",
        f"{record.registers}",
        f"{recorded_ms(variant, shape):.3f}",
        f"{100 * slots_of(variant, shape).multiply_adds:.1f}",
        f"{filled(variant, shape):.1f}",
    )


def beside_gray(step: Step | Variant) -> Table:
    """Tabulate the instructions of a warp for one tile: Gray's loop for 256 threads, and a step's.

    The rows are the multiply-adds, the loads and stores, the other instructions, and all of them.
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
