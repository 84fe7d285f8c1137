"""Tables and pictures of machine code for lesson 16: loops, operands, banks and spills."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from types import ModuleType

from gemm_kernels import LADDER
from gpu_xray import XRay, xray
from gpu_xray.compile import python_of
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.comparison import nothing_yet
from utils.lessons.compiled_loops import (
    ARCH,
    CompiledLoop,
    LoopRow,
    listed_kernels,
    listed_rows,
    listing,
    loop_of,
    recorded_loop,
    rows_of,
)
from utils.lessons.counting import as_variant
from utils.lessons.lesson import course_device
from utils.lessons.lesson_16 import instruction_shares, register_banks
from utils.lessons.lesson_16.loop_listing import LoopListing
from utils.lessons.own_kernels import mine
from utils.lessons.recorded import NOTHING, duration, record_if_any, recorded_ms, share_of_peak
from utils.measuring import records, rows
from utils.measuring.rows import Date
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

SPILLS = "spills"  # the table of `python -m tools.records.spills`


@dataclass(frozen=True)
class SpillRecord:
    """The recorded resources and times of a kernel compiled with few registers per thread.

    `max_registers` is the limit, None without a limit. `registers` and `local_bytes` are per
    thread. `gflops` is the rate in 10^9 operations per second. `time_ms` is the median,
    `time_ms_min` and `time_ms_max` are the shortest and the longest measured time. `sm_clock_mhz`
    is the clock during the measurement, None if it is not known, and `date` its day. The times are
    those of one launch for the problem of `tools/records/spills.py`.
    """

    kernel: str
    max_registers: int | None
    registers: int
    local_bytes: int
    gflops: float
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date


def machine_loop(
    step: Step | Variant | ModuleType | str, known: Step | None = None
) -> LoopListing | Card:
    """Return the hot loop of a kernel in machine code next to its Python lines.

    A step whose loop is recorded, or the module of such a starter or solution, is shown as it was
    compiled for the records. Any other step, and the reader's own kernel, which is given by the
    name of its exercise, is compiled here. Without a compiler, for a kernel without a loop, or if
    the reader has no right kernel yet, return a card that says so. known: a step whose loop was
    shown before, so that only the opcodes that it lacks are explained below the loop.
    """
    if isinstance(step, str):
        if not kept_functions.kept_text(step):
            return nothing_yet(step)
        step = mine(step)
    seen = listed_rows(str(as_variant(known))) if known else ()
    if isinstance(step, ModuleType):
        name = step.__package__.rpartition(".")[2]
        found = listed_rows(f"{name} {step.__name__.rpartition('.')[2]}")
        return _beside(name, getattr(step, name), found, seen)
    variant = as_variant(step)
    if is_of_a_ladder(variant.step) and str(variant) in listed_kernels():
        return _beside(str(variant), variant.kernel, listed_rows(str(variant)), seen)
    try:
        code = xray(variant.kernel, variant.step.signature, ARCH)
    except CourseError as error:
        return Card("ask", (translate("{error} The lesson goes on without it.", error=error),))
    if code.hot is None:
        sentence = translate("The machine code of {name} has no loop.", name=variant.step.name)
        return Card("ask", (sentence,))
    return _beside(variant.step.name, variant.kernel, rows_of(code), seen)


def _beside(
    name: str, kernel, found: Sequence[LoopRow], seen: Sequence[LoopRow]
) -> LoopListing:
    """Return the listing of a loop beside the shortest run of source lines that has all its lines.

    name: of the kernel, for the title. found: the loop's instructions. seen: those of a loop that
    was shown before, whose opcodes are not explained again.
    """
    source = _lines_around(
        inspect.getsource(python_of(kernel)).splitlines(), {row.line for row in found} - {None}
    )
    title = translate(
        "One iteration of the loop of {name}: {count} instructions ({arch})",
        name=name,
        count=len(found),
        arch=ARCH,
    )
    return LoopListing(title, source, tuple(found), tuple(seen))


def _lines_around(lines: Sequence[str], wanted: set[str]) -> tuple[str, ...]:
    """Return the fewest neighbouring lines that have all wanted texts, without common indentation.

    Empty lines and comments are left out.
    """
    lines = [one for one in lines if one.strip() and not one.strip().startswith("#")]
    texts = [one.strip() for one in lines]
    parts = (
        (start, stop)
        for length in range(1, len(lines) + 1)
        for start, stop in zip(range(len(lines)), range(length, len(lines) + 1), strict=False)
    )
    start, stop = next((a, b) for a, b in parts if wanted <= set(texts[a:b]))
    return tuple(dedent("\n".join(lines[start:stop])).splitlines())


def loop_of_record(
    step: Step | Variant | str, max_registers: int | None = None
) -> CompiledLoop:
    """Return the hot loop of a step, or of a kernel by name, as it was compiled for the records.

    A Step means its default constants. A name includes the constants, such as "tiled TILE=32".
    max_registers: for a name, the limit of registers per thread, None for no limit.
    The reader's own kernel is compiled here. Raise CourseError if the loop is not recorded, or if
    the reader's kernel has no loop with multiply-adds or cannot be compiled.
    """
    if isinstance(step, str):
        return recorded_loop(step, max_registers)
    variant = as_variant(step)
    if is_of_a_ladder(variant.step):
        return recorded_loop(str(variant))
    return loop_of(_compiled(variant))


def _compiled(variant: Variant) -> XRay:
    """Compile a kernel for the architecture of the records, and return its x-ray.

    Raises CourseError without a compiler, and if no loop has a multiply-add.
    """
    code = xray(variant.kernel, variant.step.signature, ARCH)
    if code.hot is None or not code.hot.ffma:
        raise CourseError(f"The machine code of {variant} has no loop with multiply-adds.")
    return code


def _listing_of(step: Step | Variant) -> tuple[Instruction, ...]:
    """Return the instructions of the hot loop of a step, from the records.

    The reader's own kernel is compiled here. Raise CourseError if there is no such loop.
    """
    variant = as_variant(step)
    if is_of_a_ladder(variant.step):
        return listing(str(variant))
    return tuple(_compiled(variant).hot.body)


def draw_shares(*steps: Step | Variant, recorded: bool = True) -> Picture:
    """Draw one stacked bar per hot loop: its instructions by kind, and its share of the peak.

    A Step means its variant that was recorded as the fastest. The share of the peak is the recorded
    one; it is left out if `recorded` is False, and for a kernel without a record. Raises
    CourseError as `loop_of_record` does.
    """
    loops = {}
    for step in steps:
        variant = fastest(step)
        record = recorded and record_if_any(variant, _size(variant), on=course_device().name)
        share = record.efficiency if record else None
        loops[variant.step.name.replace("_", " ")] = loop_of_record(variant).mix, share
    where = f"one {course_device().name}" if recorded else ""
    return instruction_shares.draw_shares("Instructions of the hot loop", loops, where)


def fastest(step: Step | Variant) -> Variant:
    """Return the variant of a step that was recorded as the fastest; return a variant unchanged.

    The time is that on the course's reference device, at 4096 for a product and at the largest size
    of any other ladder. For a step that is not the course's own, return the variant with its
    default constants.
    """
    if not isinstance(step, Step):
        return as_variant(step)
    ladder = ladder_of(step)
    if not is_of_a_ladder(step):
        return step.variant()
    frame = records.measured(course_device().name, ladder.name)
    rows = frame[frame["step"] == step.name]
    size = "4096" if ladder.name == "gemm" else ladder.sizes[-1]
    for name, value in vars(ladder.parse(size)).items():
        rows = rows[rows[name] == value]
    return step.named(records.fastest(rows, ("step",)).iloc[0]["params"])


def orders(**steps: Step | Variant) -> Table:
    """Return a table of loops that consist of multiply-adds alone, one row per step.

    The columns are the share of operands marked for reuse, the registers that the even bank
    delivers per iteration, and a scheduler's estimated and recorded cycles per multiply-add, "–"
    without a record. `steps` are named as the reader sees them, with _ for spaces. Raises
    CourseError as `loop_of_record` does.
    """
    rows = []
    for name, step in steps.items():
        loop = loop_of_record(step)
        reads = register_banks.bank_reads_in_loop("even", _listing_of(step))
        record = record_if_any(as_variant(step), _size(as_variant(step)), course_device().name)
        recorded = f"{1 / record.efficiency:.3f}" if record else NOTHING
        cycles = f"{loop.cycles:.3f}", recorded
        words = name.replace("_", "\u00a0")  # a narrow page keeps a name on one line
        rows.append((words, f"{loop.kept_share:.1%}", reads, *cycles))
    head = (
        "",
        "marked for reuse",
        "even bank",
        "cycles, estimated",
        "cycles, recorded",
    )
    return table("Cycles of a scheduler for each multiply-add of a warp", head, rows)


def even_bank_reads(step: Step | Variant) -> tuple[int, int]:
    """Return (registers that the even bank delivers, instructions) of one iteration of a hot loop.

    Only the operands of multiply-adds count as delivered. Raises CourseError if the loop is not
    known.
    """
    code = _listing_of(step)
    return register_banks.bank_reads_in_loop("even", code), len(code)


def recorded_cycles(step: Step | Variant) -> float:
    """Return a scheduler's recorded cycles per multiply-add of a warp.

    The number is one over the recorded share of the peak. Raises CourseError without a record.
    """
    variant = as_variant(step)
    return 1 / share_of_peak(variant, _size(variant), on=course_device().name)


def spills(limits: Sequence[int | None] = (None, 80, 72, 64, 48)) -> Table:
    """Return a table of the recorded cost of register limits for `fma_loop`, one row per limit.

    A limit is a number of registers per thread, or None for no limit. The columns are the stores to
    local memory per iteration, the share of multiply-adds among the loop's instructions, the
    recorded time, and the rate in TB/s at which all threads together store to local memory, which
    is "–" for a loop without accesses to it. Raises CourseError for a limit that is not recorded.
    """
    rows = []
    for limit in limits:
        loop, ms = recorded_loop("fma_loop ORDER=1", limit), spilled_ms("fma_loop", limit)
        rate = f"{stored_gb(limit) / ms:.2g} TB/s" if loop.local_bytes else "–"
        cells = loop.mix.get("STL.32", 0), f"{loop.share:.1%}", duration(ms), rate
        rows.append((f"{limit} registers" if limit else f"no limit: {loop.registers}", *cells))
    head = ("", "STL per iteration", "multiply-adds in the loop", "recorded", "stored")
    return table("64 sums and 16 factors in fewer and fewer registers", head, rows)


def spills_known(limits: Sequence[int | None], asked: int) -> Table:
    """Return a table of the loop of `fma_loop`, one row per register limit, the one `asked` last.

    A limit is as in `spills`. The columns are the registers per thread, the instructions and the
    stores to local memory per iteration, and the recorded time. The last time is a question mark,
    because the lesson asks for it.
    """
    rows = []
    for limit in (*limits, asked):
        loop = recorded_loop("fma_loop ORDER=1", limit)
        time = "?" if limit == asked else duration(spilled_ms("fma_loop", limit))
        rows.append((loop.registers, loop.instructions, loop.mix.get("STL.32", 0), time))
    head = ("registers", "instructions", "STL", "recorded")
    return table("One iteration of the loop of fma_loop", head, rows)


def stored_gb(limit: int) -> float:
    """Return the gigabytes, 10^9 bytes, that all threads of `fma_loop` store into local memory.

    `limit` is the largest number of registers per thread with which the kernel was compiled.
    """
    loop, row = recorded_loop("fma_loop ORDER=1", limit), _spilled("fma_loop", limit)
    multiply_adds = row.gflops * row.time_ms * 1e6 / 2
    return multiply_adds / loop.multiply_adds * 4 * loop.mix["STL.32"] / 1e9


def eight_sums() -> Table:
    """Return a table of kernels with eight sums per thread, and of naive, one row per kernel.

    The rows are the given kernel of `sums_in_registers`, the reader's, one solution, `multi_output`
    and `naive`. The columns are the accesses to local memory, the loads from global memory and the
    instructions, each per multiply-add in the hot loop, and the recorded time of a product of
    4096×4096 matrices. The reader's row has "–" as its time, and is left out if there is no right
    kernel or if it cannot be compiled. A note below the table says why it cannot be compiled, or
    that it needs more instructions per multiply-add than the given kernel.
    """
    name, kept, note, on = "sums_in_registers", [], "", course_device().name
    if kept_functions.kept_text(name):
        try:
            kept = [(translate("your kernel"), loop_of_record(mine(name)), NOTHING)]
        except CourseError as error:
            note = str(error)
    given, solved = (
        (words, loop_of_record(f"{name} {one}"), duration(spilled_ms(f"{name} {one}")))
        for words, one in (
            (translate("the given kernel"), "starter"), (translate("one solution"), "solution")
        )
    )  # fmt: skip
    steps = (
        (one.step.name, loop_of_record(one), duration(recorded_ms(one, on=on)))
        for one in (LADDER.step("multi_output").variant(), LADDER.step("naive").variant())
    )
    if kept and _cost(kept[0][1]) > _cost(given[1]):
        note = translate(
            "Your kernel needs more instructions per multiply-add than the given one, although its "
            "sums are in registers. With an array and a loop over `range(8)` it needs fewer, "
            "because the compiler then unrolls the loop over `k` further."
        )
    all_rows = [
        (words, *(f"{count / loop.multiply_adds:.4g}" for count in _accesses(loop)),
         f"{_cost(loop):.3g}", time)
        for words, loop, time in (given, *kept, solved, *steps)
    ]  # fmt: skip
    head = ("", "LDL and STL", "LDG", "instructions", "recorded at 4096")
    return table("Counted per multiply-add in the hot loop", head, all_rows, note)


def _accesses(loop: CompiledLoop) -> tuple[int, int]:
    """Return (accesses to local memory, loads from global memory) of one iteration of a loop."""
    counts = Counter()
    for name, count in loop.mix.items():
        counts[name.partition(".")[0]] += count
    return counts["LDL"] + counts["STL"], counts["LDG"]


def _cost(loop: CompiledLoop) -> float:
    """Return the instructions of a loop per multiply-add."""
    return loop.instructions / loop.multiply_adds


def spilled_ms(kernel: str, max_registers: int | None = None) -> float:
    """Return the recorded time in ms of a kernel compiled with at most `max_registers` registers.

    It is the time of one launch. `kernel` is the name of a kernel of `tools/records/spills.py`,
    which also sets the problem. None means no limit. Raise CourseError if there is no such record.
    """
    return _spilled(kernel, max_registers).time_ms


def _spilled(kernel: str, max_registers: int | None) -> SpillRecord:
    """Return the record of a kernel with this register limit; raise CourseError without one."""
    for row in rows.read_if_any(records.file_of(course_device().name, SPILLS), SpillRecord):
        if (row.kernel, row.max_registers) == (kernel, max_registers):
            return row
    raise CourseError(
        f"There is no recorded time of {kernel} with {max_registers or 'all'} registers on "
        f"{course_device().name}: python -m tools.records.spills makes one."
    )


def _size(variant: Variant) -> str:
    """Return the size at which a variant's records are compared, as on the command line.

    It is "4096" for a product, else the largest size of the variant's ladder.
    """
    ladder = ladder_of(variant.step)
    return "4096" if ladder.name == "gemm" else ladder.sizes[-1]
