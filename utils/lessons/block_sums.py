"""The cost of one block of a reduction: shared-memory wavefronts, instructions and cycles.

`python -m tools.records.block_instructions` records the instruction counts, for machines without a
compiler.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpu_xray import xray
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.shapes import ReduceShape, in_print
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, duration, ms_if_any, record_if_any, recorded_ms
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import rows
from utils.paths import DATA
from virtual_gpu import Trace
from virtual_gpu.counts.recorder import Event
from virtual_gpu.pictures import draw_banks
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "block_instructions.csv"
BANKS = 32
CALLS = ("CALL", "RET", "BRX", "JMX")

COUNTED = 4  # blocks in the launch that is counted; all do the same work


@dataclass(frozen=True)
class BlockCounts:
    """Counts of one full thread block of a reduction.

    elements: the number of elements that the block adds. requests, wavefronts: the totals over all
    loads and stores of shared memory in the block. lanes: the mean number of active lanes per
    request, 0 without a request. barriers: the number of barriers that a warp reaches, averaged
    over the warps of the block. iterations: the number of iterations of loops that a thread makes,
    averaged over the threads of the block; all loops of the kernel count.
    """

    elements: int
    requests: float
    wavefronts: float
    lanes: float
    barriers: float
    iterations: float


def block_of(step: Step | Variant) -> BlockCounts:
    """Run a reduction on the virtual GPU and return the counts of one full thread block.

    Raises CourseError for a step that is no reduction.
    """
    variant = as_variant(step)
    launch = variant.launch(_one_element(variant))
    elements = _elements(variant)
    trace = watch(variant, str(COUNTED * elements))
    shared = [count for count in trace.access_counts if count.space == "shared"]
    requests = sum(count.requests for count in shared)
    return BlockCounts(
        elements=elements,
        requests=requests / COUNTED,
        wavefronts=sum(count.wavefronts for count in shared) / COUNTED,
        lanes=sum(count.lanes for count in shared) / requests if requests else 0.0,
        barriers=trace.totals["barriers"] / COUNTED / (launch.threads // WARP),
        iterations=sum(trace.turns.values()) / COUNTED / launch.threads,
    )


def blocks(**steps: Step | Variant) -> Table:
    """Return a table of the shared-memory counts of one full thread block of each reduction.

    It has one row per step, and columns for requests, active lanes per request, wavefronts, and
    barriers per warp. steps: one per row; the keyword is the row's name.
    """
    rows = []
    for name, step in steps.items():
        block = block_of(step)
        rows.append(
            (
                name,
                f"{block.requests:g}",
                f"{block.lanes:.3g}",
                f"{block.wavefronts:g}",
                f"{block.barriers:g}",
            )
        )
    head = ("", "requests", "lanes per request", "wavefronts", "barriers per warp")
    return table("Shared memory, one block", head, rows)


def _steps(trace: Trace, array: str) -> list[Event]:
    """Return the event of the first load of an array in each level of the tree, in level order.

    A tree loads twice per level. The final load of the block, in which thread 0 reads the sum, is
    left out. Raises CourseError if there is no such tree.
    """
    events = trace.recording.events if trace.recording else ()
    loads = [event for event in events if (event.array, event.kind) == (array, "load")]
    if len(loads) < 3:
        shared = {count.array for count in trace.access_counts if count.space == "shared"}
        raise CourseError(
            f"No tree in an array `{array}` is recorded of {trace.kernel}: name one of its arrays "
            f"in shared memory, {', '.join(sorted(shared)) or 'of which it has none'}, and watch "
            "it with record=0."
        )
    return loads[:-1:2]


def _by_warp(event: Event) -> list[np.ndarray]:
    """Return one array of 32 loaded indices per warp, in warp order.

    The index of an inactive lane is -1. Warps without an active lane are left out.
    """
    return [lanes for lanes in event.first.reshape(-1, WARP) if (lanes >= 0).any()]


@dataclass(frozen=True)
class LoadOfStep:
    """Counts of the first load in one level of the tree, summed over all warps of one block.

    lanes: the number of active lanes. requests: the number of warps with an active lane.
    wavefronts: the number of wavefronts of all these requests.
    """

    lanes: int
    requests: int
    wavefronts: int


def loads_by_step(trace: Trace, array: str) -> list[LoadOfStep]:
    """Return the counts of the first load in each level of a reduction's tree, in level order.

    trace: a launch that recorded one block. array: the name of the float32 array in shared memory
    that the tree reduces. Raises CourseError if no tree in this array is recorded.
    """
    return [_load_of_step(_by_warp(step)) for step in _steps(trace, array)]


def _load_of_step(warps: list[np.ndarray]) -> LoadOfStep:
    """Return the counts of one load.

    warps: an array of 32 loaded indices per warp; that of an inactive lane is -1.
    """
    indices = [lanes[lanes >= 0] for lanes in warps]
    return LoadOfStep(
        lanes=sum(lanes.size for lanes in indices),
        requests=len(indices),
        wavefronts=sum(max(Counter(lanes % BANKS).values()) for lanes in indices),
    )


def draw_step(trace: Trace, array: str, step: int) -> Picture:
    """Draw which shared-memory bank each lane of the first active warp loads from.

    The picture shows the first load in one level of the tree. trace: a launch that recorded one
    block. array: the name of the array in shared memory that the tree reduces. step: the level,
    counted from 1. Raises CourseError if the tree does not have this level, or if no tree in this
    array is recorded.
    """
    levels = _steps(trace, array)
    if not 1 <= step <= len(levels):
        raise CourseError(
            f"The tree of {trace.kernel} has {len(levels)} steps, and step {step} was asked for."
        )
    lanes = _by_warp(levels[step - 1])[0]
    addresses = tuple(int(index) * 4 if index >= 0 else None for index in lanes)
    access = replace(trace.warp_access(array), addresses=addresses)
    return draw_banks(access, f"{trace.kernel}, step {step}")


def turns_and_busy(trace: Trace, array: str) -> tuple[int, int]:
    """Return how often the warps of one block execute the tree's loop: (in total, with work).

    The first number is warps × iterations of the loop. The second counts only the iterations in
    which at least one lane of the warp is active. trace: a launch that recorded one block. array:
    the name of the array in shared memory that the tree reduces. Raises CourseError if no tree in
    this array is recorded.
    """
    steps = _steps(trace, array)
    warps = steps[0].first.size // WARP
    return warps * len(steps), sum(len(_by_warp(step)) for step in steps)


@dataclass(frozen=True)
class IssuedInstructions:
    """The number of instructions that all warps of one full thread block issue in total.

    fewest: a lower bound, on the shortest way through the code. It is less than `number` if some
    warps may jump over instructions; then `number` is an upper bound.
    """

    number: int
    fewest: int

    @property
    def at_most(self) -> bool:
        """True if `number` is an upper bound, False if it is the count."""
        return self.fewest < self.number

    def per(self, parts: float) -> str:
        """Return `number` divided by `parts` as text, such as "296"; "≤ 296" for an upper bound."""
        return f"{'≤ ' * self.at_most}{self.number / parts:.0f}"


def instructions_of_block(step: Step | Variant) -> int:
    """Return the instructions that all warps of one full thread block issue in total.

    It is an upper bound for a kernel without a loop, or with a jump over its additions. They are
    counted in the machine code for the device shown, or else recorded. Raises CourseError if
    neither is possible.
    """
    return issued_by_block(step).number


def issued_by_block(step: Step | Variant) -> IssuedInstructions:
    """Return how many instructions all warps of one full thread block issue in total.

    The result is an IssuedInstructions, which also says if the number is only an upper bound. The
    instructions are counted in the machine code for the device shown. If the kernel cannot be
    compiled or counted here, the number comes from the record and is taken as exact. The record has
    the ladder's reduce0 to reduce3, reduce0 without its remainder and reduce3 whose idle warps
    leave, with blocks of 128 and 256 threads. Raises CourseError if the record does not have the
    kernel either, and for an edited copy of a step that cannot be counted here.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_issue(variant, arch)
    except CourseError:
        recorded = recorded_instructions()
        # An edited copy has no file and the name of its step.
        if not Path(variant.step.file.__file__).exists() or (arch, str(variant)) not in recorded:
            raise
        number = recorded[arch, str(variant)]
        return IssuedInstructions(number, number)


def compiled_instructions(variant: Variant, arch: str) -> int:
    """Compile a kernel and return the instructions that all warps of a full block issue.

    arch: such as "sm_90". Raises CourseError if they cannot be counted, or only have an upper
    bound.
    """
    issued = compiled_issue(variant, arch)
    if issued.at_most:
        raise CourseError(
            f"The instructions of {variant} are not counted exactly, because its machine code has "
            "no loop, or a jump in its loop: choose a kernel such as reduce0 to reduce3."
        )
    return issued.number


def compiled_issue(variant: Variant, arch: str) -> IssuedInstructions:
    """Compile a kernel and return the number of instructions that all warps of a full block issue.

    With one loop, which must have a barrier, its iterations are those of the loop over the levels
    of the tree, and the count assumes that every warp except the first exits after the loop. If the
    loop has jumps over accesses to shared memory, a warp in which no lane adds takes them, and the
    result has bounds. Without a loop, the compiler has unrolled it, no warp issues an instruction
    twice, and the result has bounds: at most each warp issues all instructions up to the last exit,
    and at least those on the shortest way to an exit. Lanes that branch apart are taken to continue
    together where the compiler joins them. If the loop has an exit, the count assumes that every
    warp except the first takes it.

    arch: the architecture to compile for, such as "sm_90". Raises CourseError if there is no
    compiler, if the machine code has several loops or one without a barrier, if it has no loop but
    calls a function or jumps through a table, or if the step is no reduction.
    """
    threads = variant.launch(_one_element(variant)).threads
    code = xray(variant.kernel, variant.step.signature, arch)
    exits = [index for index, instruction in enumerate(code.code) if instruction.name == "EXIT"]
    if not code.loops and any(instruction.name in CALLS for instruction in code.code):
        raise CourseError(
            f"The instructions of {variant.step.name} are not counted: its machine code calls a "
            "function or jumps through a table, so an instruction may be issued several times."
        )
    if not code.loops:
        ways = (exits[-1] + 1, shortest_way(code.code))
        return IssuedInstructions(*(threads // WARP * instructions for instructions in ways))
    if len(code.loops) != 1:
        raise CourseError(
            f"The instructions of {variant.step.name} are not counted: its machine code has "
            f"{len(code.loops)} loops, and at most one can be counted. Compare kernels whose tree "
            "is one loop, such as reduce0 to reduce3."
        )
    loop = code.loops[0]
    if not any(instruction.name == "BAR" for instruction in loop.body):
        raise CourseError(
            f"The instructions of {variant.step.name} are not counted: the loop of its machine "
            "code has no barrier, so it is not the loop over the levels of a tree, and the number "
            "of its iterations is not known. Compare kernels such as reduce0 to reduce3."
        )
    first_exit = next(index for index in exits if index > loop.end)
    warps, block = threads // WARP, block_of(variant)
    within = [index for index in exits if loop.start <= index <= loop.end]
    before = loop.start * warps
    after_first = next(index for index in exits if index > first_exit) - loop.end
    if within:
        # A warp that leaves does not come to the barrier, so the barriers count the iterations.
        barriers = [index for index, one in enumerate(code.code) if one.name == "BAR"]
        in_loop = sum(loop.start <= index <= loop.end for index in barriers)
        earlier = sum(index < loop.start for index in barriers)
        iterations = round(warps * (block.barriers - earlier) / in_loop)
        leaving = (warps - 1) * (within[0] + 1 - loop.start)
        number = before + iterations * len(loop.body) + leaving + after_first
        return IssuedInstructions(number, number)
    iterations = warps * round(block.iterations)
    every_warp = first_exit - loop.end
    number = before + iterations * len(loop.body) + (warps - 1) * every_warp + after_first
    most_skipped = iterations * skipped_with_accesses(loop.body, loop.start)
    return IssuedInstructions(number, number - most_skipped)


def skipped_with_accesses(body: Sequence[Instruction], start: int) -> int:
    """Return the number of a loop's instructions that a warp skips if it takes certain jumps.

    These are the forward jumps over an access to shared memory. A jump over arithmetic alone is not
    counted: the compiler makes it for a division by zero. body: the loop's instructions. start: the
    index of the first one in the listing.
    """
    skipped = set()
    for index, instruction in enumerate(body):
        if instruction.name == "BRA" and instruction.target is not None:
            jump = range(index + 1, min(instruction.target - start, len(body)))
            if any(body[each].name in ("LDS", "STS") for each in jump):
                skipped.update(jump)
    return len(skipped)


def shortest_way(code: Sequence[Instruction]) -> int:
    """Return the fewest instructions that a warp issues from the first one of a kernel to an exit.

    code: machine code without loops, so all its branches go forward.
    """
    fewest = [math.inf] * (len(code) + 1)
    for index in reversed(range(len(code))):
        instruction = code[index]
        following = []
        if instruction.name == "EXIT":
            following.append(0)
        elif instruction.name == "BRA" and instruction.target is not None:
            following.append(fewest[instruction.target] if instruction.target > index else math.inf)
        if not following or instruction.predicate:
            following.append(fewest[index + 1])
        fewest[index] = 1 + min(following)
    return int(fewest[0])


@dataclass(frozen=True)
class RecordedBlock:
    """A row of `block_instructions.csv`: the instructions that one full thread block issues.

    arch: the architecture compiled for, such as "sm_90". toolkit, numba_cuda: the compiler's
    versions. kernel: the step and its constants, such as "reduce1 BLOCK=128".
    """

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    instructions: int


def recorded_instructions() -> dict[tuple[str, str], int]:
    """Return (architecture, kernel) -> recorded instructions that a full thread block issues.

    The kernel is the step and its constants as text, such as "reduce1 BLOCK=128".
    """
    return {(row.arch, row.kernel): row.instructions for row in rows.read(FILE, RecordedBlock)}


def recorded_cycles(step: Step | Variant, shape: str) -> float:
    """Return the mean number of clock cycles that an SM takes per thread block of a step.

    It is the time recorded on the device shown, in cycles at the boost clock, times the number of
    SMs, divided by the number of launched blocks. shape: the number of elements as on the command
    line, such as "2^30". Raises CourseError if there is no recorded time.
    """
    variant, device = as_variant(step), device_shown()
    launched = variant.launch(ladder_of(variant.step).parse(shape)).blocks
    cycles = recorded_ms(variant, shape) * 1e3 * device.boost_clock_mhz
    return cycles * device.sms / launched


def block_cycles(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Return a table of the cycles that one block costs its SM: three estimates and the record.

    Each estimate assumes that only one resource is busy: memory at the data sheet's bandwidth,
    shared memory at one wavefront per cycle, instructions at one per cycle and scheduler. steps:
    one per row; the keyword is the row's name, with _ for spaces. A number that is not known is
    "–": a kernel of the reader's and an edited copy have no record, and without a compiler no
    instruction count. A note below the table then says why the instructions of the last such step
    are not counted. "≤" marks an upper bound. shape: the number of elements as on the command line;
    "" leaves the column of the record out.
    """
    device = device_shown()
    schedulers = limits_of(device.compute_capability).sub_partitions
    bytes_per_cycle = device.memory_gb_per_s * 1e3 / device.boost_clock_mhz / device.sms
    rows, note = [], ""
    for name, step in steps.items():
        block = block_of(step)
        recorded = record_if_any(as_variant(step), shape) if shape else None
        try:
            instructions = issued_by_block(step).per(schedulers)
        except CourseError as error:
            instructions, note = NOTHING, str(error)
        row = (
            name.replace("_", " "),
            f"{4 * block.elements / bytes_per_cycle:.0f}",
            f"{block.wavefronts:.0f}",
            instructions,
        )
        last = f"{recorded_cycles(step, shape):.0f}" if recorded else NOTHING
        rows.append((*row, last) if shape else row)
    head = ("", "memory", "wavefronts", "instructions", *(("recorded",) if shape else ()))
    caption = f"Cycles that one block costs its SM, one {device.name}"
    return table(caption, head, rows, note)


def bandwidths(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Return a table of the recorded speed of reductions, one row per step.

    The columns are the time, the bandwidth in GB/s, the speedup over the nearest row above that has
    a time, and the bandwidth in percent of the data sheet's peak. The first speedup is "". shape:
    the number of elements as on the command line. steps: one per row; the keyword is the row's
    name, with _ for spaces. A step without a recorded time has "–" in its cells.
    """
    device, rows, before = device_shown(), [], None
    for name, step in steps.items():
        ms, variant = ms_if_any(step, shape), as_variant(step)
        if ms is None:
            rows.append((name.replace("_", " "), *[NOTHING] * 4))
            continue
        rate = variant.step.task.work(ladder_of(variant.step).parse(shape)).bytes / ms / 1e6
        rows.append(
            (
                name.replace("_", " "),
                duration(ms),
                f"{rate:,.0f}",
                f"{before / ms:.2f}×" if before else "",
                f"{rate / device.memory_gb_per_s:.1%}",
            )
        )
        before = ms
    head = ("", "time", "GB/s", "faster than before", "of the peak")
    return table(f"{in_print(shape)} elements, recorded on one {device.name}", head, rows)


def _elements(variant: Variant) -> int:
    """Return the largest power of two of elements for which a step launches one thread block."""
    parse, elements = ladder_of(variant.step).parse, 1
    while variant.launch(parse(str(2 * elements))).blocks == 1:
        elements *= 2
    return elements


def _one_element(variant: Variant) -> ReduceShape:
    """Return the shape of one element; raise CourseError for a step that is no reduction."""
    shape = ladder_of(variant.step).parse("1")
    if not isinstance(shape, ReduceShape) or not variant.step.task.work(shape).bytes:
        raise CourseError(
            f"{variant} is no reduction, so its blocks add no elements: choose a step of the "
            "ladder of reductions, or your own kernel for one."
        )
    return shape
