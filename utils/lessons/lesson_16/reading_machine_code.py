"""Tables and pictures of machine code for lesson 16: lines, control codes, operands and spills."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_xray import XRay, xray
from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.compiled_loops import ARCH, CompiledLoop, listing, loop_of, recorded_loop
from utils.lessons.counting import as_variant
from utils.lessons.lesson import course_device, device_shown
from utils.lessons.lesson_16 import instruction_shares, register_banks
from utils.lessons.recorded import NOTHING, duration, record_if_any, share_of_peak
from utils.measuring import records, rows
from utils.measuring.rows import Date
from utils.paths import DATA
from virtual_gpu.pictures.svg import Picture

PATCH = 8  # sums per row in `fma_loop`
FEW, MOST = 2, 4  # a line needs FEW instructions to be shown; at most MOST names are written
SPILLS = "spills"  # the table of `python -m tools.records.spills`


@dataclass(frozen=True)
class RegisterFile:
    """A row of `data/register_banks.csv`: the register banks of one GPU architecture.

    `since` is its first compute capability, such as "5.0". `register_number_to_bank` describes the
    rule by which a register's number gives its bank.
    """

    architecture: str
    since: str
    banks: int
    register_number_to_bank: str
    source: str


@dataclass(frozen=True)
class SpillRecord:
    """The recorded resources and times of a kernel compiled with few registers per thread.

    `max_registers` is the limit, None without a limit. `registers` and `local_bytes` are per
    thread. `time_ms_min` and `time_ms_max` are the shortest and the longest measured time.
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


def line_by_line(step: Step | Variant) -> Table | Card:
    """Tabulate each source line with its most frequent PTX and machine instructions.

    Each cell has counts and names without modifiers. Source lines with fewer than two machine
    instructions are left out. Without a compiler, return a card that says why there is no table.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        listing = xray(variant.kernel, variant.step.signature, arch).listing()
    except CourseError as error:
        return Card("ask", (f"{error} The lesson goes on without this table.",))
    rows = []
    for row in listing.rows:
        names = Counter(one.name for one in row.sass)
        assembly = Counter(one.partition(" ")[0].partition(".")[0] for one in map(_ptx, row.ptx))
        if row.number is not None and sum(names.values()) >= FEW:
            rows.append((f"`{row.source.strip()}`", _counted(assembly), _counted(names)))
    head = ("source line", "PTX", f"machine code ({arch})")
    return table(f"{variant}, source line by source line", head, rows)


def _ptx(line: str) -> str:
    """Return a PTX instruction without spaces around it and without its predicate."""
    return re.sub(r"^@!?%\w+\s+", "", line.strip())


def _counted(names: Counter[str]) -> str:
    """Return text such as "8 FFMA, 2 LDS, 3 more": the four most frequent names, then all others.

    Return "–" if there are no names.
    """
    frequent = ", ".join(f"{count} {name}" for name, count in names.most_common(MOST))
    others = names.total() - sum(count for _, count in names.most_common(MOST))
    return f"{frequent}, {others} more" if others else frequent or "–"


def control_codes(step: Step | Variant) -> Table:
    """Tabulate the control codes of a loop's first four global loads and first multiply-add.

    There is one row per instruction: its stall in cycles, the barrier that it sets, and the
    barriers that it waits for. The loop is the step's hot loop as compiled for the records, or, for
    the reader's own kernel, as compiled here. Raise CourseError if there is no listing.
    """
    code = _listing_of(step)
    first = next(index for index, one in enumerate(code) if one.name in FFMA)
    loads = [index for index, one in enumerate(code) if one.name == "LDG"][:4]
    rows = []
    for index in (*loads, first):
        control = code[index].control
        sets = "–" if control.write_barrier is None else control.write_barrier
        waits = ", ".join(map(str, control.waits)) or "–"
        rows.append((f"`{code[index].text_to('').strip()}`", control.stall, sets, waits))
    head = ("instruction", "stall, cycles", "sets", "waits for")
    return table(f"Control codes in the loop of {as_variant(step)}", head, rows)


def loop_of_record(step: Step | Variant | str) -> CompiledLoop:
    """Return the hot loop of a step, or of a kernel by name, as it was compiled for the records.

    A Step means its default constants. A name includes the constants, such as "tiled TILE=32".
    The reader's own kernel is compiled here. Raise CourseError if the loop is not recorded, or if
    the reader's kernel has no loop with multiply-adds or cannot be compiled.
    """
    if isinstance(step, str):
        return recorded_loop(step)
    variant = as_variant(step)
    if is_of_a_ladder(variant.step):
        return recorded_loop(str(variant))
    return loop_of(_compiled(variant))


def _compiled(variant: Variant) -> XRay:
    """Compile a kernel as the records were; raise CourseError without a loop of multiply-adds."""
    code = xray(variant.kernel, variant.step.signature, ARCH)
    if code.hot is None or not code.hot.ffma:
        raise CourseError(f"The machine code of {variant} has no loop with multiply-adds.")
    return code


def _listing_of(step: Step | Variant) -> tuple[Instruction, ...]:
    """Return the instructions of the step's hot loop: recorded, or of the reader's compiled here.

    Raise CourseError if there are none.
    """
    variant = as_variant(step)
    if is_of_a_ladder(variant.step):
        return listing(str(variant))
    return tuple(_compiled(variant).hot.body)


def draw_shares(*steps: Step | Variant, recorded: bool = True) -> Picture:
    """Draw one stacked bar per hot loop: its instructions by kind, and its share of the peak.

    A Step means its variant that was recorded as the fastest. The share of the peak is the recorded
    one; it is left out if `recorded` is False, and for a kernel without a record.
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


def draw_operands(**steps: Step | Variant) -> Picture:
    """Draw the registers and banks that multiply-adds read where the second row of 8×8 sums begins.

    Seven multiply-adds are drawn per step.

    Parameters
    ----------
    **steps : Step or Variant
        Steps whose loops are in the record, by the name that the reader sees, with _ for spaces.

    Raises
    ------
    CourseError
        If a loop is not recorded, or has fewer than 64 multiply-adds.
    """
    loops = {name.replace("_", " "): _listing_of(one) for name, one in steps.items()}
    for name, loop in loops.items():
        if sum(one.name in FFMA for one in loop) < PATCH * PATCH:
            raise CourseError(
                f"The loop of {name} has fewer than {PATCH * PATCH} multiply-adds, so it has no "
                "second row of sums: choose forms of fma_loop."
            )
    title = "Where the second row of sums begins"
    return register_banks.draw_reads(title, loops, first=PATCH - 2, most=7)


def orders(**steps: Step | Variant) -> Table:
    """Tabulate loops that consist of multiply-adds alone, one row per step.

    The columns are the share of operands marked for reuse, the registers that the even bank
    delivers per iteration, and a scheduler's estimated and recorded cycles per multiply-add.
    `steps` are named as the reader sees them, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        loop = loop_of_record(step)
        reads = register_banks.bank_reads_in_loop("even", _listing_of(step))
        record = record_if_any(as_variant(step), _size(as_variant(step)), course_device().name)
        recorded = f"{1 / record.efficiency:.3f}" if record else NOTHING
        cycles = f"{loop.cycles:.3f}", recorded
        rows.append((name.replace("_", " "), f"{loop.kept_share:.1%}", reads, *cycles))
    head = (
        "",
        "operands marked for reuse",
        "even bank gives in a turn",
        "cycles, estimated",
        "cycles, recorded",
    )
    return table("Cycles of a scheduler for each multiply-add of a warp", head, rows)


def recorded_cycles(step: Step | Variant) -> float:
    """Return a scheduler's recorded cycles per multiply-add of a warp.

    The number is one over the recorded share of the peak.
    """
    variant = as_variant(step)
    return 1 / share_of_peak(variant, _size(variant), on=course_device().name)


def register_files() -> Table:
    """Tabulate the register banks of each GPU architecture, one row per architecture.

    The columns are the first compute capability, the number of banks, and the rule by which a
    register's number gives its bank.
    """
    layouts = rows.read(DATA / "register_banks.csv", RegisterFile)
    lines = [
        (row.architecture, row.since, str(row.banks), row.register_number_to_bank)
        for row in layouts
    ]
    return table(
        "Register banks", ("", "compute capability from", "banks", "bank of a register"), lines
    )


def spills(limits: Sequence[int | None] = (None, 80, 72, 64, 48)) -> Table:
    """Tabulate the recorded cost of register limits for `fma_loop`, one row per limit.

    A limit is a number of registers per thread, or None for no limit. The columns are the bytes
    spilled per thread, the share of multiply-adds among the loop's instructions, the recorded time,
    and the rate at which all threads together store into local memory.
    """
    rows = []
    for limit in limits:
        loop, ms = recorded_loop("fma_loop ORDER=1", limit), spilled_ms("fma_loop", limit)
        rate = f"{stored_gb(limit) / ms:.2g} TB/s" if loop.local_bytes else "–"
        cells = loop.spill_bytes, f"{loop.share:.1%}", duration(ms), rate
        rows.append((f"{limit} registers" if limit else f"no limit: {loop.registers}", *cells))
    head = ("", "bytes spilled", "multiply-adds in the loop", "recorded", "stored")
    return table("64 sums and 16 factors in fewer and fewer registers", head, rows)


def stored_gb(limit: int) -> float:
    """Return the gigabytes, 10^9 bytes, that all threads of `fma_loop` store into local memory.

    `limit` is the largest number of registers per thread with which the kernel was compiled.
    """
    loop, row = recorded_loop("fma_loop ORDER=1", limit), _spilled("fma_loop", limit)
    multiply_adds = row.gflops * row.time_ms * 1e6 / 2
    return multiply_adds / loop.multiply_adds * 4 * loop.mix["STL.32"] / 1e9


def spilled_ms(kernel: str, max_registers: int | None = None) -> float:
    """Return the recorded time in ms of a kernel compiled with at most `max_registers` registers.

    `kernel` is one of `tools/records/spills.py`; None means no limit. Raise CourseError if there is
    no such record.
    """
    return _spilled(kernel, max_registers).time_ms


def _spilled(kernel: str, max_registers: int | None) -> SpillRecord:
    for row in rows.read_if_any(records.file_of(course_device().name, SPILLS), SpillRecord):
        if (row.kernel, row.max_registers) == (kernel, max_registers):
            return row
    raise CourseError(
        f"There is no recorded time of {kernel} with {max_registers or 'all'} registers on "
        f"{course_device().name}: python -m tools.records.spills makes one."
    )


def _size(variant: Variant) -> str:
    ladder = ladder_of(variant.step)
    return "4096" if ladder.name == "gemm" else ladder.sizes[-1]
