"""What bounds a kernel: ceilings that were measured, work that was counted, and the time between.

A launch must do its arithmetic, move its bytes, pass its accesses through the pipe to shared memory
and the L1 cache, and start its instructions. Each of these has a ceiling; the slowest of them is a
lower bound of the time.

What the bound leaves out is the time in which everything is free and somebody waits: for memory to
answer or at a barrier. It takes the L1 cache to keep all that a block has touched and nothing of
other blocks, and to hand out four sectors at once whichever lines they lie in; and DRAM to move
each byte once. Without the machine code of a hot loop with multiply-adds it misses the instructions
for addresses, branches and loops, so the estimate of a reduction, which has no such loop, is far
below its time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from gpu_xray import widths, xray
from utils.errors import CourseError
from utils.ladder.explain import count_step
from utils.ladder.ladder import Ladder
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.ladder.step import Variant
from utils.ladder.tasks import Shape, Work
from utils.machine import devices
from utils.machine.devices import Device
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records
from utils.measuring.timing import time_cpu
from virtual_gpu import VirtualGpuError
from virtual_gpu.counts.transactions import BANK_BYTES, BANKS, SECTOR_BYTES

# One wavefront of the pipe that serves shared memory and the L1 cache.
WAVEFRONT_BYTES = BANKS * BANK_BYTES
SECTORS_PER_WAVEFRONT = WAVEFRONT_BYTES // SECTOR_BYTES
# Whole tiles of every kernel, and enough of them to fill a pipeline of several stages.
SHORT_K = (64, 128)


@dataclass(frozen=True)
class Ceilings:
    """What a device reached in the micro-benchmarks.

    where: the device, and how it is known. gflops: 10^9 floating-point operations a second.
    gb_per_s: 10^9 bytes a second by memory, such as {"DRAM": 4294}; the outermost memory first.
    instructions: 10^9 instructions of warps a second; None for a CPU.
    """

    where: str
    gflops: float
    gb_per_s: Mapping[str, float]
    instructions: float | None = None


@dataclass(frozen=True)
class Counts:
    """What one launch asks of the device.

    flops: floating-point operations. dram_bytes: what must move at least. l2_bytes: what the blocks
    touch, each sector once per block, because the L1 cache keeps it for the rest of the block.
    wavefronts: of the pipe to shared memory and the L1 cache. instructions: of warps, and the slots
    that pass because operands meet in a register bank. blocks: of the grid, before tiles are cut
    along k.
    """

    flops: float
    dram_bytes: float
    l2_bytes: float
    wavefronts: float
    instructions: float
    blocks: int


@dataclass(frozen=True)
class HotLoop:
    """The innermost hot loop of a kernel's machine code, in which it spends its time.

    instructions: all of them. ffma: float32 multiply-adds among them. shared_loads: loads from
    shared memory by their width in bits per thread, such as {32: 4, 128: 1}. waits: cycles in which
    it starts nothing because operands meet in a register bank.
    """

    instructions: int
    ffma: int
    shared_loads: Mapping[int, int]
    waits: float = 0.0


def gpu_ceilings(device: Device) -> Ceilings:
    """The ceilings that `python -m latency_kernels --record` found on a device.

    CourseError if it was not run there, or without one of its steps.
    """
    frame = records.measured(device.name, "latency")
    best = frame.groupby("step")[["gflops", "gb_per_s", "sm_clock_mhz"]].max()
    needed = {"copy", "l2_read", "shared_read", "fma_loop"}
    if missing := sorted(needed - set(best.index)):
        raise CourseError(
            f"The records of {device.name} lack {', '.join(missing)}: run "
            "python -m latency_kernels --record on it."
        )
    memories = {"DRAM": "copy", "L2": "l2_read", "shared": "shared_read"}
    clock = best["sm_clock_mhz"]["fma_loop"]
    schedulers = limits_of(device.compute_capability).sub_partitions
    return Ceilings(
        where=f"{device.name}, recorded {frame['date'].max()}",
        gflops=float(best["gflops"]["fma_loop"]),
        gb_per_s={memory: float(best["gb_per_s"][step]) for memory, step in memories.items()},
        instructions=float(schedulers * device.sms * clock / 1000),
    )


def cpu_ceilings(mib: int = 256, n: int = 1024) -> Ceilings:
    """The ceilings of one thread of this machine's processor, measured now.

    mib: the size of the arrays that are copied, in MiB. n: the size of the product that NumPy's
    BLAS computes, which is as close to the peak of the arithmetic as a program comes.
    """
    source = np.ones(mib * 2**20 // FLOAT32_BYTES, np.float32)
    target = np.empty_like(source)
    a = np.ones((n, n), np.float32)
    copied, multiplied = time_cpu([lambda: np.copyto(target, source), lambda: a @ a])
    return Ceilings(
        where=f"{devices.cpu_name()}, one thread, measured here on {time.strftime('%Y-%m-%d')}",
        gflops=GemmShape(n, n, n).flops / multiplied.median_ms / 1e6,
        gb_per_s={"DRAM": 2 * source.nbytes / copied.median_ms / 1e6},
    )


def hot_loop_of(variant: Variant, arch: str = "sm_90") -> HotLoop | None:
    """The hot loop that the x-ray finds in the machine code; None without a compiler or a loop."""
    try:
        seen = xray(variant.kernel, variant.step.signature, arch)
    except CourseError:
        return None
    hot = seen.hot
    if hot is None:
        return None
    widths_of_loads = widths.count_widths(hot.body, widths.LOADS)
    shared = {
        int(name.removeprefix("LDS.")): loads
        for name, loads in widths_of_loads.items()
        if name.startswith("LDS.")
    }
    return HotLoop(len(hot.body), hot.ffma, shared, seen.bank_conflicts.waits)


def counted(variant: Variant, shape: Shape, hot: HotLoop | None = None) -> Counts:
    """What the main kernel of a step asks for, counted on the virtual GPU and never executed whole.

    One block is run, and its counts stand for every block of the grid. hot: what the machine code
    makes of it; without it only the instructions that the source code names are counted, so that
    addresses and loops are missing, and each read from shared memory is taken for one instruction.
    CourseError if the virtual GPU cannot run the step.
    """
    (total, blocks), work = _of_one_block(variant, shape), variant.step.task.work(shape)
    requests = total["global_load_requests"] + total["global_store_requests"]
    sectors = total["global_load_sectors"] + total["global_store_sectors"]
    shared_loads = total["shared_load_requests"]
    # A product multiplies and adds in one instruction, a sum only adds.
    operations = work.flops / 2 / blocks if work.flops else total["float32_ops"]
    arithmetic = operations / WARP
    instructions = arithmetic + requests + shared_loads
    instructions += total["shared_store_requests"] + total["barriers"]
    load_wavefronts = total["shared_load_wavefronts"]
    if hot and hot.ffma and work.flops:
        instructions = arithmetic * (hot.instructions + hot.waits) / hot.ffma
        if shared_loads:
            per_read = load_wavefronts / shared_loads
            load_wavefronts *= _merged(hot, shared_loads / arithmetic, per_read)
    # A request takes at least one, also if all its lanes want the same word.
    wavefronts = load_wavefronts + total["shared_store_wavefronts"]
    wavefronts += max(requests, sectors / SECTORS_PER_WAVEFRONT)
    return Counts(
        flops=float(work.flops or blocks * total["float32_ops"]),
        dram_bytes=_least_bytes(work, shape),
        l2_bytes=float(blocks * total["footprint_bytes"]),
        wavefronts=float(blocks * wavefronts),
        instructions=float(blocks * instructions),
        blocks=blocks,
    )


def _of_one_block(variant: Variant, shape: Shape) -> tuple[pd.Series, int]:
    """The totals of one block and its footprint, and how many such blocks do all the work.

    What a block of a product counts grows evenly with k, so a long product is never run: two short
    ones say how its counts grow. A step may cut some tiles of a long product along k, for which it
    starts more blocks; all of them together do what the uncut ones of a short product would.
    Where the grids of the short products differ, the block is run as it is.
    """
    blocks = variant.launch(shape).blocks
    if not isinstance(shape, GemmShape) or shape.k <= max(SHORT_K):
        return _traced(variant, shape), blocks
    short, longer = (replace(shape, k=k) for k in SHORT_K)
    grid = variant.launch(short)
    if grid != variant.launch(longer):
        return _traced(variant, shape), blocks
    first, second = _traced(variant, short), _traced(variant, longer)
    grown = (second - first) * (shape.k - short.k) / (longer.k - short.k)
    return first + grown, grid.blocks


def _traced(variant: Variant, shape: Shape) -> pd.Series:
    return _traced_once(variant, shape).copy()


@cache
def _traced_once(variant: Variant, shape: Shape) -> pd.Series:
    """A run takes a second or more, and a page asks for the same counts again and again."""
    try:
        found = count_step(variant, shape, blocks=1)
    except VirtualGpuError as error:
        raise CourseError(f"{variant} cannot be counted block by block: {error}") from error
    return pd.concat([found.totals, pd.Series({"footprint_bytes": found.footprint_bytes})])


def _least_bytes(work: Work, shape: Shape) -> float:
    """What must come from DRAM or go there: with an endless cache each byte moves once."""
    if work.bytes is None:
        # A ceiling of arithmetic moves next to nothing.
        return float(shape.bytes_min) if isinstance(shape, GemmShape) else 0.0
    return 0.0 if work.cached else float(work.bytes)


def _merged(hot: HotLoop, reads_per_ffma: float, per_read: float) -> float:
    """The part of the source code's wavefronts that is left when the assembler has joined reads.

    reads_per_ffma: reads from shared memory in the source code. per_read: their wavefronts. An
    H200 answers a joined read that all lanes share with 8 bytes per lane and cycle. Lanes that meet
    in the bank of their first words meet in those of the others at the same time, and these are
    other banks: the joined read waits for its neighbours once, where each of the reads would have.
    """
    reads = reads_per_ffma * hot.ffma
    if reads <= sum(hot.shared_loads.values()):
        return 1.0
    cycles = sum(max(bits // 64, per_read) * loads for bits, loads in hot.shared_loads.items())
    return min(1.0, cycles / (reads * per_read))


def times(counts: Counts, ceilings: Ceilings) -> dict[str, float]:
    """For each of a GPU's resources, the milliseconds that it is busy at its ceiling."""
    return {
        "arithmetic": counts.flops / ceilings.gflops / 1e6,
        "DRAM": counts.dram_bytes / ceilings.gb_per_s["DRAM"] / 1e6,
        "L2": counts.l2_bytes / ceilings.gb_per_s["L2"] / 1e6,
        "shared memory and L1": (
            counts.wavefronts * WAVEFRONT_BYTES / ceilings.gb_per_s["shared"] / 1e6
        ),
        "issue slots": counts.instructions / ceilings.instructions / 1e6,
    }


def tail(blocks: int, blocks_per_sm: int, sms: int) -> float:
    """How much longer whole waves of blocks take than the blocks would, evenly spread; from 1.

    A wave is all the blocks that the device holds at once; the last one may be nearly empty.
    """
    waves = blocks / (blocks_per_sm * sms)
    return math.ceil(waves) / waves


def points(
    ladder: Ladder,
    size: str,
    where: str,
    memory: str = "DRAM",
    hot_loop: Callable[[Variant], HotLoop | None] = hot_loop_of,
) -> pd.DataFrame:
    """Where each recorded step stands on a roofline, with its best constants.

    where: the name of the device or processor that was recorded. memory: "DRAM" for the bytes that
    must move at least (the ideal); "L2" or "shared" for those that were counted on the virtual GPU.
    Columns: label, intensity (operations per byte), gflops. A step that cannot be counted is left
    out. CourseError if nothing is recorded there at that size.
    """
    shape, rows = ladder.parse(size), []
    for variant, record in recorded(ladder, shape, where):
        work = variant.step.task.work(shape)
        flops, moved = work.flops or shape.flops, _least_bytes(work, shape)
        if memory != "DRAM":
            try:
                counts = counted(variant, shape, hot_loop(variant))
            except CourseError:
                continue
            moved = counts.l2_bytes if memory == "L2" else WAVEFRONT_BYTES * counts.wavefronts
        if moved:
            gflops = flops / record.time_ms / 1e6
            rows.append({"label": variant.step.name, "intensity": flops / moved, "gflops": gflops})
    return pd.DataFrame(rows, columns=["label", "intensity", "gflops"])


def estimates(
    ladder: Ladder,
    size: str,
    device: Device,
    hot_loop: Callable[[Variant], HotLoop | None] = hot_loop_of,
    with_tail: bool = False,
) -> pd.DataFrame:
    """The estimated beside the recorded time of every recorded step, with its best constants.

    One row per step, in the ladder's order: the milliseconds of each resource, `limit` (the slowest
    of them), `estimate_ms`, `recorded_ms`, and `error` (the estimate over the record, less one).
    hot_loop: what the machine code of a variant spends its time in. with_tail: whole waves of
    blocks. A step that cannot be counted is left out.
    CourseError if nothing is recorded on the device at that size.
    """
    ceilings, shape = gpu_ceilings(device), ladder.parse(size)
    rows = {}
    for variant, record in recorded(ladder, shape, device.name):
        try:
            counts = counted(variant, shape, hot_loop(variant))
        except CourseError:
            continue
        each = times(counts, ceilings)
        limit = max(each, key=each.get)
        factor = _tail_of(variant, shape, record, device) if with_tail else 1
        rows[str(variant)] = each | {
            "limit": limit,
            "estimate_ms": each[limit] * factor,
            "recorded_ms": record.time_ms,
            "error": each[limit] * factor / record.time_ms - 1,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def out_of_order(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs of rows of `estimates` that the estimate puts in another order than the record does.

    The first is the one that the estimate takes for the faster.
    """
    ordered = table.sort_values("estimate_ms")["recorded_ms"]
    return [
        (fast, slow)
        for place, fast in enumerate(ordered.index)
        for slow in ordered.index[place + 1 :]
        if ordered[fast] > ordered[slow]
    ]


def recorded(ladder: Ladder, shape: Shape, where: str) -> Iterable[tuple[Variant, object]]:
    """Each step with the constants that were fastest at this shape, and their record.

    where: the name of the device or processor. Steps without a record are left out; CourseError if
    there is none with one.
    """
    frame = records.measured(where, ladder.name)
    for name, value in vars(shape).items():
        frame = frame[frame[name] == value]
    if frame.empty:
        raise CourseError(
            f"Nothing is recorded for {ladder.title} at {shape} on {where}: choose another "
            "size, or record it there."
        )
    best = {row.step: row for row in records.fastest(frame).itertuples()}
    for step in ladder.steps:
        if step.name in best:
            yield step.named(best[step.name].params), best[step.name]


def _tail_of(variant: Variant, shape: Shape, record, device: Device) -> float:
    launch = variant.launch(shape)
    found = occupancy(
        device.compute_capability, launch.threads, int(record.registers), int(record.shared_bytes)
    )
    return tail(launch.blocks, found.blocks, device.sms)
