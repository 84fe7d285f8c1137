"""Counts of one kernel and the bounds on its time that follow from them, at a lesson's shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_xray import xray
from utils.errors import CourseError
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Variant
from utils.ladder.tasks import Shape
from utils.lessons.block_sums import issued_by_block
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.lesson import device_shown
from utils.machine.occupancy import WARP
from utils.measuring import roofline
from utils.measuring.roofline import Ceilings, HotLoopCounts

DRAM, L2 = "bytes from DRAM", "bytes from L2"
ON_CHIP, ISSUE = "shared memory and L1", "issue slots"


@dataclass(frozen=True)
class Bound:
    """The milliseconds for which a launch keeps a resource busy.

    least_ms: equal to `ms`, or less if the count is known only between two bounds; then `ms` is the
    upper bound.
    """

    ms: float
    least_ms: float

    @property
    def at_most(self) -> bool:
        """True if `ms` is an upper bound, False if it is what the count says."""
        return self.least_ms < self.ms


def _exact(ms: float) -> Bound:
    """Return the Bound of a time, in ms, whose count is exact."""
    return Bound(ms, ms)


@dataclass(frozen=True)
class Memory:
    """The memory traffic of a kernel per request and per unit of work, as ratios.

    They are those of a full thread block of a large problem. sectors: 32-byte sectors per request
    of a warp to global memory, loads and stores. words: words loaded from global memory per
    multiply-add of a product; None for other tasks. wavefronts: of loads and stores of shared
    memory, per multiply-add of a warp or per 32 elements. barriers: barriers of a warp per 32
    elements; None for a product.
    """

    sectors: float
    words: float | None
    wavefronts: float
    barriers: float | None


@dataclass(frozen=True)
class Compiled:
    """The resources of one thread in a compiled kernel.

    registers: their number. spilled: bytes of spilled registers. loads: the number of global loads
    before the first instruction that uses a loaded value.
    """

    registers: int
    spilled: int
    loads: int


def memory_of(variant: Variant, shape: str) -> Memory:
    """Return the memory traffic of a kernel, from the counts of one block on the virtual GPU.

    The counts are per request, per multiply-add or per element, as `Memory` says. shape: as on the
    command line, such as "4096". Raises CourseError if the virtual GPU cannot run the step.
    """
    problem = ladder_of(variant.step).parse(shape)
    total, blocks = roofline.counts_of_block(variant, problem)
    requests = total["global_load_requests"] + total["global_store_requests"]
    sectors = total["global_load_sectors"] + total["global_store_sectors"]
    wavefronts = total["shared_load_wavefronts"] + total["shared_store_wavefronts"]
    work = variant.step.task.work(problem)
    if work.flops:
        units = work.flops / 2 / blocks
        words, barriers = total["global_load_bytes"] / 4 / units, None
    else:
        units = problem.elements / blocks
        words, barriers = None, WARP * total["barriers"] / units
    return Memory(sectors / requests, words, WARP * wavefronts / units, barriers)


def compiled_of(variant: Variant) -> Compiled:
    """Compile the kernel for the device shown, and return the resources of one thread.

    Raises CourseError without a compiler.
    """
    code = xray(variant.kernel, variant.step.signature, device_shown().arch)
    return Compiled(code.registers, code.spill_bytes, code.loads_before_use)


def bounds_of(variant: Variant, shape: str) -> Mapping[str, Bound]:
    """Return resource -> Bound: the ms for which a launch keeps each resource of the device busy.

    The device is the one shown. The resources are "bytes from DRAM" or, for a product, "bytes from
    L2"; "shared memory and L1"; and "issue slots", which are left out if the machine code is not
    known or cannot be counted. DRAM is taken at the data sheet's bandwidth, which no kernel can
    exceed, and is left out if that is not known; L2, shared memory and L1 at the rates recorded on
    the device. shape: as on the command line. Raises CourseError if the device has no recorded
    ceilings, or if the virtual GPU cannot run the step.
    """
    ceilings = roofline.gpu_ceilings(device_shown())
    problem, hot = ladder_of(variant.step).parse(shape), hot_loop_if_any(variant)
    counts = roofline.counted(variant, problem, hot)
    times = roofline.times(counts, ceilings)
    is_product = bool(variant.step.task.work(problem).flops)
    memory = {L2: times["L2"]} if is_product else _time_of_dram(counts.dram_bytes)
    busy = {**memory, ON_CHIP: times[ON_CHIP]}
    bounds = {resource: _exact(ms) for resource, ms in busy.items()}
    issue = None
    if is_product and hot:
        issue = _exact(times[ISSUE])
    elif not is_product:
        issue = _issue_of_blocks(variant, problem, ceilings)
    return {**bounds, ISSUE: issue} if issue else bounds


def tightest(bounds: Mapping[str, Bound]) -> tuple[str, float]:
    """Return (resource, milliseconds) of the resource that is busy longest.

    bounds: resource -> Bound. For a count that is known only between two bounds, the lower one is
    compared and returned.
    """
    name = max(bounds, key=lambda one: bounds[one].least_ms)
    return name, bounds[name].least_ms


def hot_loop_if_any(variant: Variant) -> HotLoopCounts | None:
    """Return the hot loop with multiply-adds: compiled here, or else recorded for a ladder's step.

    Returns None if neither is possible, and if the hot loop has no multiply-adds.
    """
    hot = roofline.hot_loop_of(variant, device_shown().arch)
    if hot is None and is_of_a_ladder(variant.step):
        try:
            hot = recorded_loop(str(variant)).hot_loop
        except CourseError:
            return None
    return hot if hot and hot.ffma else None


def _time_of_dram(moved: float) -> dict[str, float]:
    """Return {DRAM: ms to move these bytes at the data sheet's rate}; {} without such a rate."""
    rate = device_shown().peak_gb_per_s
    return {DRAM: moved / rate / 1e6} if rate else {}


def _issue_of_blocks(variant: Variant, shape: Shape, ceilings: Ceilings) -> Bound | None:
    """Return the ms to issue the instructions of all blocks of a reduction; None if unknown."""
    try:
        issued = issued_by_block(variant)
    except CourseError:
        return None
    blocks = variant.launch(shape).blocks
    most, least = (
        instructions * blocks / ceilings.instructions / 1e6
        for instructions in (issued.number, issued.fewest)
    )
    return Bound(most, least)
