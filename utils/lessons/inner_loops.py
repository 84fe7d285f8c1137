"""The innermost loop of a product in machine code: compiled here, or as it was recorded.

`python -m tools.records.hot_loops` makes the record, for machines without a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_xray import xray
from gpu_xray.loops import FFMA
from utils.errors import CourseError
from utils.figures import instruction_strip
from utils.figures.look import number
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import as_variant, estimated_ms, one_per_cycle_ms, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms
from utils.machine.occupancy import limits_of
from utils.measuring import rows
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "hot_loops.csv"


@dataclass(frozen=True)
class HotLoop:
    """One turn of a loop.

    loads_first: loads that stand before the first instruction that needs the value of one of them.
    opcodes: of its instructions, in order.
    """

    loads_first: int
    opcodes: tuple[str, ...]

    @property
    def multiply_adds(self) -> int:
        return sum(opcode.partition(".")[0] in FFMA for opcode in self.opcodes)

    @property
    def per_multiply_add(self) -> float:
        """Instructions for each multiply-add."""
        return len(self.opcodes) / self.multiply_adds


def hot_loop(step: Step | Variant) -> HotLoop:
    """The loop with the most multiply-adds, for the device shown.

    Where the compiler is missing: from the record of `tools.records.hot_loops`.
    CourseError for what it does not have.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_loop(variant, arch)
    except CourseError:
        if not _is_of_the_ladder(variant) or (arch, str(variant)) not in recorded_loops():
            raise
        return recorded_loops()[arch, str(variant)]


def compiled_loop(variant: Variant, arch: str) -> HotLoop:
    """What the compiler makes of it here; CourseError without one."""
    body = xray(variant.kernel, variant.step.signature, arch).hot.body
    loaded: set[str] = set()
    loads = 0
    for one in body:
        if loaded & {source[0] for source in one.sources if source}:
            break
        if one.name == "LDG":
            loaded |= one.loaded
            loads += 1
    return HotLoop(loads, tuple(one.opcode for one in body))


def draw_loops(multiply_adds: int = 0, **steps: Step | Variant) -> Picture:
    """Loops instruction by instruction. steps: by the name that the reader sees, _ for spaces.

    multiply_adds: so many turns of each as make these; without it one turn.
    """
    strips = {}
    for name, step in steps.items():
        loop = hot_loop(step)
        turns = max(1, round(multiply_adds / loop.multiply_adds))
        strips[_words(name)] = loop.opcodes, turns
    title = f"{multiply_adds} multiply-adds" if multiply_adds else "One turn of the loop"
    return instruction_strip.draw_strips(f"{title} in machine code", strips)


def hot_loops(shape: str = "", **steps: Step | Variant) -> Table | Card:
    """What one turn of each loop holds, and the recorded time at a shape, if one is given.

    steps: by the name that the reader sees, with _ for spaces.
    Where neither a compiler nor a record knows one of them a sentence takes the table's place.
    """
    try:
        loops = {name: hot_loop(step) for name, step in steps.items()}
    except CourseError as error:
        return _no_table(error)
    head = [
        "",
        "multiply-adds in a turn",
        "instructions per multiply-add",
        "loads before the first wait",
    ]
    rows = [[_unbroken(name), *_cells(loop)] for name, loop in loops.items()]
    if shape:
        head.append(f"recorded at {shape}")
        for row, step in zip(rows, steps.values(), strict=True):
            row.append(_recorded(step, shape))
    return table(f"The innermost loop, compiled for {device_shown().arch}", head, rows)


def _cells(loop: HotLoop) -> tuple[str, ...]:
    return str(loop.multiply_adds), number(loop.per_multiply_add), str(loop.loads_first)


def two_estimates(*shapes: str, **steps: Step | Variant) -> Table | Card:
    """Times by instructions alone and by cache lines alone, beside the recorded ones.

    An SM starts one instruction of a warp per cycle and sub-partition, and its cache serves one
    cache line per cycle. steps: by the name that the reader sees, with _ for spaces.
    Where neither a compiler nor a record knows one of them a sentence takes the table's place.
    """
    device = device_shown()
    schedulers = limits_of(device.compute_capability).sub_partitions
    rows = []
    for shape in shapes:
        for name, step in steps.items():
            try:
                cycles = hot_loop(step).per_multiply_add / schedulers
            except CourseError as error:
                return _no_table(error)
            times = one_per_cycle_ms(cycles, shape), estimated_ms(watch(step), shape)
            row = (f"{_unbroken(name)} at\N{NO-BREAK SPACE}{shape}", *map(_ms, times))
            rows.append((*row, _recorded(step, shape)))
    head = ("", "instructions alone", "cache lines alone", "recorded")
    return table(f"Two estimates for one {device.name}", head, rows)


def _no_table(error: CourseError) -> Card:
    return Card("ask", (f"{error} The lesson goes on without this table.",))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _unbroken(name: str) -> str:
    """A name for a narrow column: it stays on one row."""
    return name.replace("_", "\N{NO-BREAK SPACE}")


def _recorded(step: Step | Variant, shape: str) -> str:
    """The recorded time; an edited copy has none, though it has its step's name."""
    return _ms(recorded_ms(step, shape)) if _is_of_the_ladder(as_variant(step)) else "–"


def _ms(value: float) -> str:
    """Three digits, a zero at the end among them."""
    return f"{value:#.3g}".rstrip(".") + " ms"


@dataclass(frozen=True)
class Recorded:
    """A row of the record, and the compiler that made the loop."""

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    loop: HotLoop


def recorded_loops() -> dict[tuple[str, str], HotLoop]:
    """The record, by architecture and kernel."""
    return {(row.arch, row.kernel): row.loop for row in rows.read(FILE, Recorded)}


def _is_of_the_ladder(variant: Variant) -> bool:
    """Not an edited copy, which has the same name."""
    return any(variant.step is step for step in ladder_of(variant.step).steps)
