"""The cost of one block of a reduction: shared-memory wavefronts, instructions and cycles.

`python -m tools.records.block_instructions` records the instruction counts, for machines without a
compiler.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from gpu_xray import xray
from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.shapes import in_print
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import duration, recorded_ms
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import rows
from utils.paths import DATA
from virtual_gpu import Trace
from virtual_gpu.counts.recorder import Event
from virtual_gpu.pictures import draw_banks
from virtual_gpu.pictures.svg import Picture

FILE = DATA / "compiled" / "block_instructions.csv"
BANKS = 32

COUNTED = 4  # blocks in the launch that is counted; all do the same work


@dataclass(frozen=True)
class BlockCounts:
    """Counts of one full thread block of a reduction.

    elements: the number of elements that the block adds. requests, wavefronts: the totals over all
    loads and stores of shared memory in the block. lanes: the mean number of active lanes per
    request. barriers: the number of barriers that a thread reaches. iterations: the number of
    iterations that a thread makes of the loop over the levels of the tree.
    """

    elements: int
    requests: float
    wavefronts: float
    lanes: float
    barriers: float
    iterations: float


def block_of(step: Step | Variant) -> BlockCounts:
    """Run a reduction on the virtual GPU and return the counts of one full thread block."""
    variant = as_variant(step)
    launch = variant.launch(ladder_of(variant.step).parse("1"))
    elements = _elements(variant)
    trace = watch(variant, str(COUNTED * elements))
    shared = [count for count in trace.access_counts if count.space == "shared"]
    requests = sum(count.requests for count in shared)
    return BlockCounts(
        elements=elements,
        requests=requests / COUNTED,
        wavefronts=sum(count.wavefronts for count in shared) / COUNTED,
        lanes=sum(count.lanes for count in shared) / requests,
        barriers=trace.totals["barriers"] / COUNTED / (launch.threads // WARP),
        iterations=sum(trace.turns.values()) / COUNTED / launch.threads,
    )


def blocks(**steps: Step | Variant) -> Table:
    """Return a table of the shared-memory counts of one full thread block of each reduction.

    It has one row per step, and columns for requests, active lanes per request, wavefronts, and
    barriers per thread. steps: one per row; the keyword is the row's name, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        block = block_of(step)
        rows.append(
            (
                name.replace("_", " "),
                f"{block.requests:g}",
                f"{block.lanes:.3g}",
                f"{block.wavefronts:g}",
                f"{block.barriers:g}",
            )
        )
    head = ("", "requests", "lanes per request", "wavefronts", "barriers")
    return table("Shared memory, one block", head, rows)


def _steps(trace: Trace, array: str) -> list[Event]:
    """Return the first of the two loads of the array in each level of the tree, in level order.

    The final load of the block, in which thread 0 reads the sum, is left out.
    """
    events = trace.recording.events
    loads = [event for event in events if (event.array, event.kind) == (array, "load")]
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
    that the tree reduces.
    """
    return [_load_of_step(_by_warp(step)) for step in _steps(trace, array)]


def _load_of_step(warps: list[np.ndarray]) -> LoadOfStep:
    indices = [lanes[lanes >= 0] for lanes in warps]
    return LoadOfStep(
        lanes=sum(lanes.size for lanes in indices),
        requests=len(indices),
        wavefronts=sum(max(Counter(lanes % BANKS).values()) for lanes in indices),
    )


def draw_step(trace: Trace, array: str, step: int) -> Picture:
    """Draw which shared-memory bank each lane of the first active warp loads from.

    The picture shows the first load in one level of the tree. step: the level, counted from 1.
    trace, array: as for `loads_by_step`.
    """
    lanes = _by_warp(_steps(trace, array)[step - 1])[0]
    addresses = tuple(int(index) * 4 if index >= 0 else None for index in lanes)
    return draw_banks(replace(trace.warp_access(array), addresses=addresses))


def turns_and_busy(trace: Trace, array: str) -> tuple[int, int]:
    """Return how often the warps of one block execute the tree's loop, in total and busy.

    The first number is warps × iterations of the loop. The second counts only the iterations in
    which at least one lane of the warp is active. trace, array: as for `loads_by_step`.
    """
    steps = _steps(trace, array)
    warps = steps[0].first.size // WARP
    return warps * len(steps), sum(len(_by_warp(step)) for step in steps)


def instructions_of_block(step: Step | Variant) -> int:
    """Return the number of instructions that all warps of one full thread block issue in total.

    They are counted in the machine code for the device shown. If the kernel cannot be compiled
    here, the number comes from the record, which has the ladder's reduce0 to reduce3 with blocks of
    128 and 256 threads. Raises CourseError if the record does not have the kernel either.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_instructions(variant, arch)
    except CourseError:
        if not _is_of_the_ladder(variant) or (arch, str(variant)) not in recorded_instructions():
            raise
        return recorded_instructions()[arch, str(variant)]


def compiled_instructions(variant: Variant, arch: str) -> int:
    """Compile a kernel and return the number of instructions that all warps of a full block issue.

    arch: the architecture to compile for, such as "sm_90". The count assumes that every warp except
    the first exits after the only loop. Raises CourseError if there is no compiler, and if the
    machine code does not have exactly one loop.
    """
    code = xray(variant.kernel, variant.step.signature, arch)
    if len(code.loops) != 1:
        raise CourseError(
            f"The instructions of {variant.step.name} are not counted: its machine code has "
            f"{len(code.loops) or 'no'} loops, and one is needed. Compare kernels whose tree is "
            "one loop, such as reduce0 to reduce3."
        )
    loop = code.hot
    exits = [index for index, instruction in enumerate(code.code) if instruction.name == "EXIT"]
    first_exit = next(index for index in exits if index > loop.end)
    in_loop = len(loop.body) * round(block_of(variant).iterations)
    every_warp = loop.start + in_loop + first_exit - loop.end
    first_warp_only = next(index for index in exits if index > first_exit) - first_exit
    threads = variant.launch(ladder_of(variant.step).parse("1")).threads
    return threads // WARP * every_warp + first_warp_only


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
    """Return the recorded number of instructions per thread block, by (architecture, kernel).

    The kernel is the step and its constants as text, as `str` of a Variant gives it.
    """
    return {(row.arch, row.kernel): row.instructions for row in rows.read(FILE, RecordedBlock)}


def recorded_cycles(step: Step | Variant, shape: str) -> float:
    """Return the mean number of clock cycles that an SM takes per thread block of a step.

    It is the recorded time in cycles at the boost clock, times the number of SMs, divided by the
    number of launched blocks. shape: the number of elements as on the command line, such as "2^30".
    Raises CourseError if there is no recorded time.
    """
    variant, device = as_variant(step), device_shown()
    launched = variant.launch(ladder_of(variant.step).parse(shape)).blocks
    cycles = recorded_ms(variant, shape) * 1e3 * device.boost_clock_mhz
    return cycles * device.sms / launched


def block_cycles(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Return a table of the cycles that one block costs its SM: three estimates and the record.

    Each estimate assumes that only one resource is busy: memory at the data sheet's bandwidth,
    shared memory at one wavefront per cycle, instructions at one per cycle and scheduler. steps:
    one per row; the keyword is the row's name, with _ for spaces. An edited copy has no record, and
    without a compiler no instruction count.
    """
    device = device_shown()
    schedulers = limits_of(device.compute_capability).sub_partitions
    bytes_per_cycle = device.memory_gb_per_s * 1e3 / device.boost_clock_mhz / device.sms
    rows, note = [], ""
    for name, step in steps.items():
        block, recorded = block_of(step), _is_of_the_ladder(as_variant(step))
        try:
            instructions = f"{instructions_of_block(step) / schedulers:.0f}"
        except CourseError as error:
            instructions, note = "–", str(error)
        rows.append(
            (
                name.replace("_", " "),
                f"{4 * block.elements / bytes_per_cycle:.0f}",
                f"{block.wavefronts:.0f}",
                instructions,
                f"{recorded_cycles(step, shape):.0f}" if recorded else "–",
            )
        )
    head = ("", "memory", "wavefronts", "instructions", "recorded")
    caption = f"Cycles that one block costs its SM, one {device.name}"
    return table(caption, head, rows, note)


def bandwidths(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Return a table of the recorded speed of reductions, one row per step.

    The columns are the time, the bandwidth in GB/s, the speedup over the row above, and the
    bandwidth in percent of the data sheet's peak. shape: the number of elements as on the command
    line. steps: one per row; the keyword is the row's name, with _ for spaces. Raises CourseError
    if a step has no recorded time.
    """
    device, rows, before = device_shown(), [], None
    for name, step in steps.items():
        ms, variant = recorded_ms(step, shape), as_variant(step)
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


def _is_of_the_ladder(variant: Variant) -> bool:
    """Return True if the variant's step is in its ladder, False if it is an edited copy of one."""
    return any(variant.step is step for step in ladder_of(variant.step).steps)
