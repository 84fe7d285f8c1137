"""The loop over the tiles of a product in machine code: compiled here, or as it was recorded.

`python -m tools.records.big_loops` makes the record, for machines without a compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numba import float32, void

from gpu_xray import XRay, xray
from gpu_xray.kernel import SHARED_LATENCY
from gpu_xray.loops import FFMA, distances_to_use
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_14 import turn_strip
from utils.lessons.lesson_14.warps_and_gains import Gain, draw_gains_and_warps
from utils.lessons.recorded import duration, recorded_ms
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records, rows
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "big_loops.csv"
PRODUCT = void(*[float32[:, ::1]] * 3)


@dataclass(frozen=True)
class BigLoop:
    """One turn of the loop over tiles, with the turns of the loop inside it written out.

    reads: of each load from shared memory, how many instructions later its value is needed.
    names: of its instructions, in order.
    """

    reads: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def early_reads(self) -> int:
        """Loads from shared memory whose value is needed before it usually is there."""
        return sum(distance < SHARED_LATENCY for distance in self.reads)


def big_loop(step: Step | Variant) -> BigLoop:
    """The loop over tiles of a register-blocked step, for the device shown.

    Where the compiler is missing: from the record. CourseError for what it does not have.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_big_loop(variant, arch)
    except CourseError:
        if (arch, str(variant)) not in recorded_big_loops():
            raise
        return recorded_big_loops()[arch, str(variant)]


def compiled_big_loop(variant: Variant, arch: str) -> BigLoop:
    """What the compiler makes of it here; CourseError without one."""
    sizes = variant.constants
    steps = sizes["BK"] * sizes["TM"] * sizes["TN"]
    return _turn(xray(variant.kernel, variant.step.signature, arch), steps)


def _turn(seen: XRay, multiply_adds: int) -> BigLoop:
    """The outer loop of a kernel, whose turn has so many multiply-adds of a thread."""
    if not seen.loops:
        raise CourseError(f"The machine code of {seen.kernel} has no loop.")
    big = max(seen.loops, key=lambda loop: loop.end - loop.start)
    inside = [one for one in seen.loops if big.start < one.start and one.end <= big.end]
    code = seen.code[big.start : big.end + 1]
    if len(inside) == 1 and inside[0].ffma:
        small = inside[0]
        turns = (multiply_adds - big.ffma) // small.ffma
        code = _written_out(code, small.start - big.start, small.end + 1 - big.start, turns)
    if sum(one.name in FFMA for one in code) != multiply_adds:
        raise CourseError(
            f"The loop over tiles of {seen.kernel} is not one turn with {multiply_adds} "
            "multiply-adds in machine code."
        )
    names = tuple("FFMA" if one.name in FFMA else one.name for one in code)
    return BigLoop(tuple(distances_to_use(code)), names)


def _written_out(code: Sequence[Instruction], start: int, end: int, turns: int):
    return (*code[:start], *code[start:end] * turns, *code[end:])


def draw_turns(**kernels: Step | Variant | Callable) -> Picture | Card:
    """One turn of the loop over tiles of each kernel, by its name.

    kernels: register-blocked steps of the ladder, or kernels (a, b, c) by tiles of 16×16, whose
    names have _ for spaces. Where
    neither a compiler nor a record knows one of them a sentence takes the picture's place.
    """
    try:
        turns = {_label(name, one): _known(one).names for name, one in kernels.items()}
        title = "One turn of the big loop, in machine code"
        return turn_strip.draw_turns(title, turns)
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this picture.",))


def _label(name: str, kernel: Step | Variant | Callable) -> str:
    """A step has its own name everywhere; a kernel of the reader the one that is given here."""
    return name if isinstance(kernel, Step | Variant) else name.replace("_", " ")


def _known(kernel: Step | Variant | Callable) -> BigLoop:
    if isinstance(kernel, Step | Variant):
        return big_loop(kernel)
    return _turn(xray(kernel, PRODUCT, device_shown().arch), multiply_adds=16)


def cycles_per_tile(shape: str, **steps: Step | Variant) -> Table | Card:
    """Cycles of an SM for one tile of each of its blocks: to start all instructions, and recorded.

    shape: as on the command line. steps: by their names. The blocks run in rounds, and the last one
    counts as full. Where neither a compiler nor a record knows one of them a sentence takes the
    table's place.
    """
    rows = []
    for name, step in steps.items():
        variant = as_variant(step)
        try:
            started, recorded = started_cycles(variant, shape), recorded_cycles(variant, shape)
        except CourseError as error:
            return _no_table(error)
        cells = (f"{cycles:,.0f}" for cycles in (started, recorded, recorded - started))
        rows.append((f"`{name}`", duration(recorded_ms(variant, shape)), *cells))
    head = ("", "time", "to start", "recorded", "lost")
    return table(f"Cycles of an SM for one tile in each of its blocks, n = {shape}", head, rows)


def started_cycles(variant: Variant, shape: str) -> float:
    """Cycles in which an SM starts the instructions of one tile of all its blocks."""
    warps = resident_warps(variant, shape)
    return warps * len(big_loop(variant).names) / _limits().sub_partitions


def recorded_cycles(variant: Variant, shape: str) -> float:
    """Recorded cycles of an SM for one tile of all its blocks."""
    device, problem = device_shown(), ladder_of(variant.step).parse(shape)
    launch = variant.launch(problem)
    blocks = resident_warps(variant, shape) * WARP // launch.threads
    rounds = math.ceil(launch.blocks / (device.sms * blocks))
    tiles = rounds * problem.k / variant.constants["BK"]
    return recorded_ms(variant, shape) * device.boost_clock_mhz * 1e3 / tiles


def resident_warps(variant: Variant, shape: str = "4096") -> int:
    """Warps that an SM holds of a step, by the registers and shared memory of its record."""
    device, ladder = device_shown(), ladder_of(variant.step)
    frame = records.measured(device.name, ladder.name)
    rows = frame[(frame["step"] == variant.step.name) & (frame["params"] == variant.params)]
    if rows.empty:
        raise CourseError(f"There is no record of {variant} on {device.name}.")
    launch, row = variant.launch(ladder.parse(shape)), rows.iloc[0]
    taken = launch.threads, int(row["registers"]), int(row["shared_bytes"])
    return occupancy(device.compute_capability, *taken).warps


def _limits():
    return limits_of(device_shown().compute_capability)


def reads(**steps: Step | Variant) -> Table | Card:
    """How soon the values of a turn's loads from shared memory are needed; a row for each step.

    Where neither a compiler nor a record knows one of them a sentence takes the table's place.
    """
    rows = []
    for name, step in steps.items():
        try:
            loop = big_loop(step)
        except CourseError as error:
            return _no_table(error)
        early = f"{loop.early_reads} of {len(loop.reads)}"
        rows.append((f"`{name}`", number(min(loop.reads)), early))
    head = ("", "instructions to the first use, at least", f"used within {SHARED_LATENCY}")
    return table("Loads from shared memory in one turn of the big loop", head, rows)


def _no_table(error: CourseError) -> Card:
    return Card("ask", (f"{error} The lesson goes on without this table.",))


def draw_tile_shapes(old: Step, new: Step, shape: str = "4096") -> Picture:
    """How many times faster the new step was for each tile that both have, and its warps.

    The recorded times of both, and the warps that an SM holds of them.
    """
    rows = []
    for after in new.variants():
        sizes = {name: after.constants[name] for name in ("BM", "BN", "BK")}
        before = old.variant(**sizes)
        faster = recorded_ms(before, shape) / recorded_ms(after, shape)
        warps = resident_warps(before, shape), resident_warps(after, shape)
        rows.append(Gain("×".join(map(str, sizes.values())), faster, *warps))
    title = f"{new.name}: times faster than {old.name}, n = {shape}"
    return draw_gains_and_warps(title, rows)


@dataclass(frozen=True)
class Recorded:
    """A row of the record, and the compiler that made the loop."""

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    loop: BigLoop


def recorded_big_loops() -> dict[tuple[str, str], BigLoop]:
    """The record, by architecture and kernel."""
    return {(row.arch, row.kernel): row.loop for row in rows.read(FILE, Recorded)}
