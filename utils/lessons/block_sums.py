"""One block of a reduction: what it asks of shared memory and of the schedulers, and its time.

`python -m tools.records.block_instructions` makes the record of its instructions, for machines
without a compiler.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from gpu_xray import xray
from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
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

COUNTED = 4  # blocks that are launched to be counted; all do the same


@dataclass(frozen=True)
class Block:
    """What one block does that is full.

    elements: that it adds. requests, wavefronts: loads and stores of shared memory. lanes: active
    in a request, on average. barriers: that each thread passes. turns: of the loop over the steps
    of the tree, for each thread.
    """

    elements: int
    requests: float
    wavefronts: float
    lanes: float
    barriers: float
    turns: float


def block_of(step: Step | Variant) -> Block:
    """Counted on the virtual GPU."""
    variant = as_variant(step)
    launch = variant.launch(ladder_of(variant.step).parse("1"))
    elements = _elements(variant)
    seen = watch(variant, str(COUNTED * elements))
    shared = [one for one in seen.access_counts if one.space == "shared"]
    requests = sum(one.requests for one in shared)
    return Block(
        elements=elements,
        requests=requests / COUNTED,
        wavefronts=sum(one.wavefronts for one in shared) / COUNTED,
        lanes=sum(one.lanes for one in shared) / requests,
        barriers=seen.totals["barriers"] / COUNTED / (launch.threads // WARP),
        turns=sum(seen.turns.values()) / COUNTED / launch.threads,
    )


def blocks(**steps: Step | Variant) -> Table:
    """Counts of one block. steps: by the name that the reader sees, with _ for spaces."""
    rows = []
    for name, step in steps.items():
        one = block_of(step)
        rows.append(
            (
                name.replace("_", " "),
                f"{one.requests:g}",
                f"{one.lanes:.3g}",
                f"{one.wavefronts:g}",
                f"{one.barriers:g}",
            )
        )
    head = ("", "requests", "lanes per request", "wavefronts", "barriers")
    return table("Shared memory, one block", head, rows)


def _steps(trace: Trace, array: str) -> list[Event]:
    """For each step of the tree the first load of this array; thread 0's last one is left out.

    trace: of a launch that has recorded a block.
    """
    loads = [one for one in trace.recording.events if (one.array, one.kind) == (array, "load")]
    return loads[:-1:2]


def _by_warp(event: Event) -> list[np.ndarray]:
    """The elements that each warp with an active lane wants, -1 for a lane that is not."""
    return [lanes for lanes in event.first.reshape(-1, WARP) if (lanes >= 0).any()]


@dataclass(frozen=True)
class LoadOfStep:
    """The first load in a step of the tree, by all warps of one block.

    lanes: that are active. requests: warps with such a lane. wavefronts: of all these requests.
    """

    lanes: int
    requests: int
    wavefronts: int


def loads_by_step(trace: Trace, array: str) -> list[LoadOfStep]:
    """What the first load of each step of the tree asks for, in the recorded block.

    trace: of a launch that has recorded a block. array: of float32 in shared memory.
    """
    return [_load_of_step(_by_warp(step)) for step in _steps(trace, array)]


def _load_of_step(warps: list[np.ndarray]) -> LoadOfStep:
    wanted = [lanes[lanes >= 0] for lanes in warps]
    return LoadOfStep(
        lanes=sum(lanes.size for lanes in wanted),
        requests=len(wanted),
        wavefronts=sum(max(Counter(lanes % BANKS).values()) for lanes in wanted),
    )


def draw_step(trace: Trace, array: str, step: int) -> Picture:
    """Which lanes of the first warp want which bank, in a step of the tree, from 1 on.

    trace, array: as for `loads_by_step`.
    """
    lanes = _by_warp(_steps(trace, array)[step - 1])[0]
    addresses = tuple(int(one) * 4 if one >= 0 else None for one in lanes)
    return draw_banks(replace(trace.warp_access(array), addresses=addresses))


def turns_and_busy(trace: Trace, array: str) -> tuple[int, int]:
    """Turns of the recorded block's warps through the loop, and those in which a lane adds."""
    steps = _steps(trace, array)
    warps = steps[0].first.size // WARP
    return warps * len(steps), sum(len(_by_warp(step)) for step in steps)


def instructions_of_block(step: Step | Variant) -> int:
    """Instructions that the warps of a full block start, in the machine code for the device shown.

    Where the compiler is missing: from the record, which has the ladder's reduce0 to reduce3 with
    blocks of 128 and 256. CourseError for what it does not have.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_instructions(variant, arch)
    except CourseError:
        if not _is_of_the_ladder(variant) or (arch, str(variant)) not in recorded_instructions():
            raise
        return recorded_instructions()[arch, str(variant)]


def compiled_instructions(variant: Variant, arch: str) -> int:
    """The same, compiled here; CourseError without a compiler, and for code without one loop.

    Behind this loop all warps leave but the first.
    """
    code = xray(variant.kernel, variant.step.signature, arch)
    if len(code.loops) != 1:
        raise CourseError(
            f"The instructions of {variant.step.name} are not counted: its machine code has "
            f"{len(code.loops) or 'no'} loops, and one is needed. Compare kernels whose tree is "
            "one loop, such as reduce0 to reduce3."
        )
    loop = code.hot
    ends = [place for place, one in enumerate(code.code) if one.name == "EXIT"]
    leave = next(place for place in ends if place > loop.end)
    of_all = loop.start + len(loop.body) * round(block_of(variant).turns) + leave - loop.end
    of_first = next(place for place in ends if place > leave) - leave
    threads = variant.launch(ladder_of(variant.step).parse("1")).threads
    return threads // WARP * of_all + of_first


@dataclass(frozen=True)
class Recorded:
    """A row of the record: the instructions of a block, and the compiler that made them."""

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    instructions: int


def recorded_instructions() -> dict[tuple[str, str], int]:
    """The record, by architecture and kernel."""
    return {(row.arch, row.kernel): row.instructions for row in rows.read(FILE, Recorded)}


def recorded_cycles(step: Step | Variant, shape: str) -> float:
    """Cycles of an SM from one block to the next: its recorded time by its share of the blocks."""
    variant, device = as_variant(step), device_shown()
    launched = variant.launch(ladder_of(variant.step).parse(shape)).blocks
    cycles = recorded_ms(variant, shape) * 1e3 * device.boost_clock_mhz
    return cycles * device.sms / launched


def block_cycles(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Three estimates of what one block costs its SM, each alone, and the recorded cycles.

    Memory at the data sheet's bandwidth; shared memory at one wavefront per cycle; instructions at
    one per cycle and scheduler. steps: by the name that the reader sees, with _ for spaces. Of an
    edited copy there is no record, nor its instructions where the compiler is missing.
    """
    device = device_shown()
    schedulers = limits_of(device.compute_capability).sub_partitions
    bytes_per_cycle = device.memory_gb_per_s * 1e3 / device.boost_clock_mhz / device.sms
    rows, note = [], ""
    for name, step in steps.items():
        one, known = block_of(step), _is_of_the_ladder(as_variant(step))
        try:
            instructions = f"{instructions_of_block(step) / schedulers:.0f}"
        except CourseError as error:
            instructions, note = "–", str(error)
        rows.append(
            (
                name.replace("_", " "),
                f"{4 * one.elements / bytes_per_cycle:.0f}",
                f"{one.wavefronts:.0f}",
                instructions,
                f"{recorded_cycles(step, shape):.0f}" if known else "–",
            )
        )
    head = ("", "memory", "wavefronts", "instructions", "recorded")
    caption = f"Cycles that one block costs its SM, one {device.name}"
    return table(caption, head, rows, note)


def bandwidths(shape: str = "2^30", **steps: Step | Variant) -> Table:
    """Recorded times and rates, how much faster than the one before, the share of the peak.

    steps: by the name that the reader sees, with _ for spaces.
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
    return table(f"{shape} elements, recorded on one {device.name}", head, rows)


def _elements(variant: Variant) -> int:
    """Elements of a full block: the most that one block is launched for."""
    parse, elements = ladder_of(variant.step).parse, 1
    while variant.launch(parse(str(2 * elements))).blocks == 1:
        elements *= 2
    return elements


def _is_of_the_ladder(variant: Variant) -> bool:
    """Not an edited copy, which has the same name."""
    return any(variant.step is step for step in ladder_of(variant.step).steps)
