"""A bound on the time of a kernel, from measured ceilings and counted work.

A launch must do its arithmetic, move its bytes, pass its accesses through the pipe to shared memory
and the L1 cache, and issue its instructions. Each of these has a ceiling, and the slowest of them
is a lower bound of the time.

The bound leaves out the time in which all resources are free and warps wait: for memory to answer
or at a barrier. It assumes that the L1 cache keeps everything that a block has touched and nothing
of other blocks, that the cache returns four sectors at once whichever lines they are in, and that
DRAM moves each byte once. Without the machine code of a hot loop with multiply-adds, the bound
misses the instructions for addresses, branches and loops. A reduction has no such loop, so its
estimate is far below its time.
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
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape, ReduceShape
from utils.ladder.step import Variant
from utils.ladder.tasks import Shape, TaskWork
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
# Both are whole tiles of every kernel, and enough tiles to fill a pipeline of several stages.
SHORT_K = (64, 128)
SHORT = 2**20  # elements of a copy that is long enough for full blocks


@dataclass(frozen=True)
class Ceilings:
    """The rates that a device reached in the micro-benchmarks.

    where: the device, and the date or the source of the measurement.
    gflops: 10^9 floating-point operations per second.
    gb_per_s: memory -> 10^9 bytes per second, such as {"DRAM": 4294}; the outermost memory first.
    instructions: 10^9 warp instructions per second; None for a CPU.
    """

    where: str
    gflops: float
    gb_per_s: Mapping[str, float]
    instructions: float | None = None


@dataclass(frozen=True)
class LaunchCounts:
    """The work that one launch asks of the device.

    flops: floating-point operations.
    dram_bytes: the least number of bytes that must move.
    l2_bytes: the bytes that the blocks touch, each sector once per block, because the L1 cache
        keeps it for the rest of the block.
    wavefronts: wavefronts of the pipe to shared memory and the L1 cache.
    instructions: warp instructions, and issue slots lost to register bank conflicts.
    blocks: the number of thread blocks whose work this is; tiles cut along k count as one block.
    """

    flops: float
    dram_bytes: float
    l2_bytes: float
    wavefronts: float
    instructions: float
    blocks: int


@dataclass(frozen=True)
class HotLoopCounts:
    """Counts of a kernel's hot loop, the innermost loop of machine code where it spends its time.

    instructions: the number of instructions in one iteration.
    ffma: the float32 multiply-adds among them.
    shared_loads: width in bits per thread -> number of loads from shared memory, such as {32: 4,
        128: 1}.
    waits: cycles without an issued instruction because of register bank conflicts.
    """

    instructions: int
    ffma: int
    shared_loads: Mapping[int, int]
    waits: float = 0.0


def gpu_ceilings(device: Device) -> Ceilings:
    """Return the ceilings that `python -m latency_kernels --record` measured on a device.

    They are the best recorded rates, for the memories "DRAM", "L2" and "shared"; the rate of
    instructions follows from the clock of the FMA loop. Raises CourseError if one of its steps was
    not recorded there.
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
    """Measure and return the ceilings of one thread of this machine's processor.

    `gb_per_s` has the one key "DRAM", and `instructions` is None.
    `mib` is the size of the array that is copied, in MiB. `n` is the size of the product that
    NumPy's BLAS computes, which comes as close to the peak of arithmetic as a program does.
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


def hot_loop_of(variant: Variant, arch: str = "sm_90") -> HotLoopCounts | None:
    """Return the counts of the hot loop that the x-ray finds in the machine code for `arch`.

    It is None if the kernel has no such loop, and if the x-ray raises CourseError: without a
    compiler, for an unknown `arch`, or for a kernel that does not compile.
    """
    try:
        report = xray(variant.kernel, variant.step.signature, arch)
    except CourseError:
        return None
    hot = report.hot
    if hot is None:
        return None
    widths_of_loads = widths.count_widths(hot.body, widths.LOADS)
    shared = {
        int(name.removeprefix("LDS.")): loads
        for name, loads in widths_of_loads.items()
        if name.startswith("LDS.")
    }
    return HotLoopCounts(len(hot.body), hot.ffma, shared, report.bank_conflicts.waits)


def counted(variant: Variant, shape: Shape, hot: HotLoopCounts | None = None) -> LaunchCounts:
    """Return the work of a step's main kernel, counted on the virtual GPU from one block.

    The counts are those of the whole launch. One block is run, and the counts of the other blocks
    are assumed to be the same. `hot` is the loop in the machine code. Without it, only the
    instructions that the source code names are counted, so that addresses and loops are missing,
    and each read from shared memory counts as one instruction. Raises CourseError if the virtual
    GPU cannot run the step.
    """
    (total, blocks), work = counts_of_block(variant, shape), variant.step.task.work(shape)
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
    # A request takes at least one wavefront, even if all its lanes want the same word.
    wavefronts = load_wavefronts + total["shared_store_wavefronts"]
    wavefronts += max(requests, sectors / SECTORS_PER_WAVEFRONT)
    return LaunchCounts(
        flops=float(work.flops or blocks * total["float32_ops"]),
        dram_bytes=_least_bytes(work, shape),
        l2_bytes=float(blocks * total["footprint_bytes"]),
        wavefronts=float(blocks * wavefronts),
        instructions=float(blocks * instructions),
        blocks=blocks,
    )


def counts_of_block(variant: Variant, shape: Shape) -> tuple[pd.Series, int]:
    """Return (counts of one block, number of such blocks in the whole launch).

    The counts are a Series by counter name, with the block's `footprint_bytes`. They grow linearly
    with k for a product, so for a k above 128 a block of two short products is run, and their
    counts are extrapolated to k. A step may cut some tiles of a long product along k and launch
    more blocks for them; all of these blocks together do the work of the uncut blocks of a short
    product. If the grids of the two short products differ, the block of the long product is run
    instead. Raises CourseError if the virtual GPU cannot run the block.
    """
    blocks = variant.launch(shape).blocks
    if isinstance(shape, ReduceShape):
        return _traced(variant, _shorter(variant, shape)), blocks
    if shape.k <= max(SHORT_K):
        return _traced(variant, shape), blocks
    short, longer = (replace(shape, k=k) for k in SHORT_K)
    grid = variant.launch(short)
    if grid != variant.launch(longer):
        return _traced(variant, shape), blocks
    first, second = _traced(variant, short), _traced(variant, longer)
    grown = (second - first) * (shape.k - short.k) / (longer.k - short.k)
    return first + grown, grid.blocks


def _shorter(variant: Variant, shape: ReduceShape) -> ReduceShape:
    """Return a smaller shape whose first block does the same; the shape itself if there is none.

    Only a copy has a smaller one: the number of elements that its block moves does not depend on
    the size, while the grid of a reduction may.
    """
    is_copy = variant.step.task.output_shape(shape.elements) == (shape.elements,)
    return ReduceShape(min(shape.elements, SHORT)) if is_copy else shape


def _traced(variant: Variant, shape: Shape) -> pd.Series:
    """Return counter name -> count of one block, as a new Series."""
    return _traced_once(variant, shape).copy()


@cache
def _traced_once(variant: Variant, shape: Shape) -> pd.Series:
    """Run one block and return its counts and `footprint_bytes`, by counter name.

    The result is cached, because a run takes a second or more. Raises CourseError if the virtual
    GPU cannot run the block.
    """
    try:
        trace = count_step(variant, shape, blocks=1)
    except VirtualGpuError as error:
        raise CourseError(f"{variant} cannot be counted block by block: {error}") from error
    return pd.concat([trace.totals, pd.Series({"footprint_bytes": trace.footprint_bytes})])


def _least_bytes(work: TaskWork, shape: Shape) -> float:
    """Return the bytes that a launch moves to and from DRAM if each byte moves only once.

    The result is 0 if the bytes come from a cache, and for arithmetic other than a matrix product.
    """
    if work.bytes is None:
        # A ceiling of arithmetic moves next to nothing.
        return float(shape.bytes_min) if isinstance(shape, GemmShape) else 0.0
    return 0.0 if work.cached else float(work.bytes)


def _merged(hot: HotLoopCounts, reads_per_ffma: float, per_read: float) -> float:
    """Return the fraction of the load wavefronts that is left after the assembler has merged reads.

    `reads_per_ffma` is the number of reads from shared memory per multiply-add in the source code,
    and `per_read` the wavefronts of one read. An H200 answers a merged read that all lanes share
    with 8 bytes per lane and cycle. Lanes whose first words conflict in a bank conflict in the
    banks of the other words as well, but at the same time. So a merged read waits only once, while
    single reads would each have waited.
    """
    reads = reads_per_ffma * hot.ffma
    if reads <= sum(hot.shared_loads.values()):
        return 1.0
    cycles = sum(max(bits // 64, per_read) * loads for bits, loads in hot.shared_loads.items())
    return min(1.0, cycles / (reads * per_read))


def times(counts: LaunchCounts, ceilings: Ceilings) -> dict[str, float]:
    """Return resource -> milliseconds for which the launch keeps it busy, at these ceilings.

    The resources are "arithmetic", "DRAM", "L2", "shared memory and L1" and "issue slots".
    """
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
    """Return the slowdown, at least 1, from a partial last wave: waves rounded up over waves.

    A wave is all the blocks that the device holds at once.
    """
    waves = blocks / (blocks_per_sm * sms)
    return math.ceil(waves) / waves


def points(
    ladder: Ladder,
    size: str,
    where: str,
    memory: str = "DRAM",
    hot_loop: Callable[[Variant], HotLoopCounts | None] = hot_loop_of,
) -> pd.DataFrame:
    """Return a table with the point of each recorded step on a roofline, with its best constants.

    There is a row per step, in the ladder's order, with the columns label (the step's name),
    intensity (operations per byte) and gflops. `where` is the name of the device or processor of
    the record. `memory` is "DRAM" for the bytes that must move at least, or "L2" or "shared" for
    the bytes that the virtual GPU counts. `hot_loop` returns the hot loop of a variant. A step that
    cannot be counted or that moves no bytes is left out. Raises CourseError if nothing is recorded
    there at that size.
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
    hot_loop: Callable[[Variant], HotLoopCounts | None] = hot_loop_of,
    with_tail: bool = False,
) -> pd.DataFrame:
    """Return a table of estimated and recorded times of the recorded steps, with best constants.

    There is one row per step, in the ladder's order, with the variant's name as index. The columns
    are the milliseconds of each resource, `limit` (the slowest resource), `estimate_ms`,
    `recorded_ms`, and `error` (estimate over record, minus one). `hot_loop` returns the hot loop of
    a variant. With `with_tail`, the estimate counts whole waves of blocks. A step that cannot be
    counted is left out. Raises CourseError if nothing is recorded on the device at that size, or
    if the device's ceilings are not recorded.
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
    """Return pairs of variants that the estimates order differently than the records do.

    table: a result of `estimates`. Each pair holds two index labels of the table, first the variant
    whose estimate is faster.
    """
    ordered = table.sort_values("estimate_ms")["recorded_ms"]
    return [
        (fast, slow)
        for position, fast in enumerate(ordered.index)
        for slow in ordered.index[position + 1 :]
        if ordered[fast] > ordered[slow]
    ]


def recorded(ladder: Ladder, shape: Shape, where: str) -> Iterable[tuple[Variant, object]]:
    """Yield (variant, record) per recorded step, with the fastest constants at this shape.

    The record is a named tuple with the columns of `records.measured`. The steps are in the
    ladder's order. `where` is the name of the device or processor. Raises CourseError if no step
    has a record.
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
    """Return the factor, at least 1, by which a partial last wave slows a variant down.

    The registers and the shared memory of a block are those of `record`.
    """
    launch = variant.launch(shape)
    resident = occupancy(
        device.compute_capability, launch.threads, int(record.registers), int(record.shared_bytes)
    )
    return tail(launch.blocks, resident.blocks, device.sms)
