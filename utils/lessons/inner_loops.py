"""The innermost loop of a product in machine code, compiled here or read from the record.

`python -m tools.records.hot_loops` makes the record, for machines without a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_xray import xray
from gpu_xray.loops import PRODUCTS, Loop, around_with_barriers, instructions_around
from utils.errors import CourseError
from utils.figures import instruction_strip
from utils.figures.look import number
from utils.ladder.ladder import is_of_a_ladder
from utils.ladder.shapes import in_print
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import (
    as_variant,
    estimated_ms,
    multiply_adds,
    one_per_cycle_ms,
    watch,
)
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import rows
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "hot_loops.csv"
# Modules with kernels of the course that are on no ladder, but in the record of loops.
EXPERIMENTS = ("gemm_kernels.ilp_alone", "gemm_kernels.tiles_alone", "gemm_kernels.wide_alone")
# A shape with one tile of 32×32 along k, and whole tiles along m and n.
ONE_TILE = "32x256x32"


@dataclass(frozen=True)
class InnerLoop:
    """The machine code of one iteration of the innermost loop of a product.

    loads_first: the number of global loads before the first instruction that uses a loaded value.
    opcodes: the opcodes of all instructions with their modifiers, such as "LDG.E", in order.
    around: the number of instructions per multiply-add outside of this loop, but in the loop over
        tiles around it; 0 if the product has no tiles, or if the loop over tiles is the innermost.
    """

    loads_first: int
    opcodes: tuple[str, ...]
    around: float = 0.0

    @property
    def multiply_adds(self) -> int:
        """The number of float32 products in one iteration: multiply-adds and multiplications."""
        return sum(opcode.partition(".")[0] in PRODUCTS for opcode in self.opcodes)

    @property
    def per_multiply_add(self) -> float:
        """The number of instructions of all kinds per multiply-add or multiplication."""
        return len(self.opcodes) / self.multiply_adds

    @property
    def per_multiply_add_with_tiles(self) -> float:
        """The instructions per multiply-add in the loop over tiles, inner loop included."""
        return self.per_multiply_add + self.around


def hot_loop(step: Step | Variant, arch: str = "") -> InnerLoop:
    """Return the loop of a step's machine code with the most multiply-adds.

    It is compiled for the architecture `arch`, such as "sm_90"; by default, for that of the device
    shown. If a step of the course cannot be compiled here, the loop comes from the record of
    `tools.records.hot_loops`. Raises CourseError if the record does not have the kernel either, and
    for a kernel of the reader's that cannot be compiled here or has no loop with a multiply-add.
    """
    variant, arch = as_variant(step), arch or device_shown().arch
    try:
        return compiled_loop(variant, arch)
    except CourseError:
        is_ours = variant.step.module in EXPERIMENTS or is_of_a_ladder(variant.step)
        if not is_ours or (arch, str(variant)) not in recorded_loops():
            raise
        return recorded_loops()[arch, str(variant)]


def compiled_loop(variant: Variant, arch: str) -> InnerLoop:
    """Compile a kernel and return the loop of its machine code with the most multiply-adds.

    arch: the architecture to compile for, such as "sm_90". Raises CourseError without a compiler,
    and if no loop has a multiply-add.
    """
    report = xray(variant.kernel, variant.step.signature, arch)
    loop = report.hot
    if loop is None or not loop.ffma:
        raise CourseError(
            f"The machine code of {variant.step.name} has no loop with multiply-adds."
        )
    body = loop.body
    loaded: set[str] = set()
    loads = 0
    for instruction in body:
        if loaded & {source[0] for source in instruction.sources if source}:
            break
        if instruction.name == "LDG":
            loaded |= instruction.loaded
            loads += 1
    opcodes = tuple(instruction.opcode for instruction in body)
    around = _around(variant, report.loops, loop)
    return InnerLoop(loads, opcodes, float(f"{around:.{rows.DIGITS}g}"))  # as the record has it


def _around(variant: Variant, loops: Sequence[Loop], hot: Loop) -> float:
    """Return the instructions per multiply-add of the loop over tiles, without those in `hot`.

    loops: all loops of the kernel. Returns 0 for a kernel without tiles.
    """
    if not around_with_barriers(loops, hot):
        return 0.0
    counts = watch(variant, ONE_TILE)
    between_barriers = 2 / counts.totals["barriers"]
    return instructions_around(
        loops,
        hot,
        multiply_adds=multiply_adds(counts) / WARP * between_barriers,
        loads=counts.totals["global_load_requests"] * between_barriers,
    )


def draw_loops(
    multiply_adds: int = 0, twice: str = "", **steps: Step | Variant
) -> Picture:
    """Draw the machine code of the hot loop of each step, one square per instruction.

    multiply_adds: the number of multiply-adds to draw per loop, rounded to whole iterations; 0
    draws one iteration. twice: an opcode that is drawn as long as two squares. steps: the keyword
    is the name in the picture, with _ for spaces. Raises CourseError if neither the compiler nor
    the record has one of the loops.
    """
    loops = {}
    for name, step in steps.items():
        loop = hot_loop(step)
        iterations = max(1, round(multiply_adds / loop.multiply_adds))
        loops[_words(name)] = loop.opcodes, iterations
    title = f"{multiply_adds} multiply-adds" if multiply_adds else "One iteration of the loop"
    return instruction_strip.draw_loops(f"{title} in machine code", loops, twice)


def hot_loops(shape: str = "", **steps: Step | Variant) -> Table | Card:
    """Return a table of the hot loop of each step, one row per step.

    The columns are the multiply-adds per iteration, the instructions per multiply-add, and the
    global loads before the first instruction that waits for a load. shape: if given, add a column
    of the times in ms recorded at this shape. steps: one per row; the keyword is the row's name,
    with _ for spaces. If neither the compiler nor the record has one of the loops, return a Card
    that says so.
    """
    try:
        loops = {name: hot_loop(step) for name, step in steps.items()}
    except CourseError as error:
        return _no_table(error)
    head = [
        "",
        "multiply-adds per iteration",
        "instructions per multiply-add",
        "loads before the first wait",
    ]
    rows = [[_unbroken(name), *_cells(loop)] for name, loop in loops.items()]
    if shape:
        head.append(f"recorded at {in_print(shape)}")
        for row, step in zip(rows, steps.values(), strict=True):
            row.append(_recorded(step, shape))
    return table(f"The innermost loop, compiled for {device_shown().arch}", head, rows)


def _cells(loop: InnerLoop) -> tuple[str, ...]:
    """Return the cells of a loop as texts.

    They are the multiply-adds, the instructions per multiply-add, and the global loads before the
    first instruction that uses a loaded value.
    """
    return str(loop.multiply_adds), number(loop.per_multiply_add), str(loop.loads_first)


def two_estimates(*shapes: str, **steps: Step | Variant) -> Table | Card:
    """Return a table of two estimated times and the recorded time, one row per shape and step.

    All times are in ms. The first estimate counts only instructions: an SM issues one per cycle and
    sub-partition. The second counts only cache lines: the cache of an SM serves one per cycle.
    shapes: as on the command line. steps: the keyword is the name in the table, with _ for spaces.
    If neither the compiler nor the record has one of the loops, return a Card that says so.
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
            row = (f"{_unbroken(name)} at\N{NO-BREAK SPACE}{in_print(shape)}", *map(_ms, times))
            rows.append((*row, _recorded(step, shape)))
    head = ("", "instructions alone", "cache lines alone", "recorded")
    return table(f"Two estimates for one {device.name}", head, rows)


def _no_table(error: CourseError) -> Card:
    """Return the card that replaces a table, with the reason."""
    return Card("ask", (f"{error} The lesson goes on without this table.",))


def _words(name: str) -> str:
    """Return a keyword with spaces for _."""
    return name.replace("_", " ")


def _unbroken(name: str) -> str:
    """Return a name with each _ replaced by a no-break space, so that it stays on one line."""
    return name.replace("_", "\N{NO-BREAK SPACE}")


def _recorded(step: Step | Variant, shape: str) -> str:
    """Return a step's recorded time at a shape as text, such as "1.20 ms"; "–" without a record."""
    ms = ms_if_any(as_variant(step), shape)
    return _ms(ms) if ms else NOTHING


def _ms(value: float) -> str:
    """Return a time in ms as text with three significant digits and the unit, such as "1.20 ms"."""
    return f"{value:#.3g}".rstrip(".") + " ms"


@dataclass(frozen=True)
class RecordedInnerLoop:
    """A row of `hot_loops.csv`: the innermost loop of one kernel.

    arch: the architecture compiled for, such as "sm_90". toolkit, numba_cuda: the compiler's
    versions. kernel: the step and its constants, such as "ilp GRAIN=4".
    """

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    loop: InnerLoop


def recorded_loops() -> dict[tuple[str, str], InnerLoop]:
    """Return all recorded loops by (architecture, kernel), such as ("sm_90", "naive")."""
    return {(row.arch, row.kernel): row.loop for row in rows.read(FILE, RecordedInnerLoop)}
