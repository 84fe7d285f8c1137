"""The instructions of a warp for one tile of a product, and what fills the issue slots.

Half of the warps of a Maxwell design load a and half b, so the machine code of an iteration has two
ways. `warp_tiled` has the same tile and one way. `python -m tools.records.tile_iterations` records
them for machines without a compiler.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpu_xray import XRay, xray
from gpu_xray.loops import Loop
from utils.errors import CourseError
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.counting import as_variant
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import record_of
from utils.machine.occupancy import occupancy
from utils.measuring import rows
from utils.paths import DATA

FILE = DATA / "compiled" / "tile_iterations.csv"
MULTIPLY_ADD, BRANCH, LOAD, STORE, BARRIER = "FFMA", "BRA", "LDG", "STS", "BAR"
LOADS_AND_STORES = (LOAD, "LDS", STORE)


@dataclass(frozen=True)
class Way:
    """The instructions of one warp for one tile.

    mix: name of an instruction -> how many of them the warp issues. before_barrier: the number of
    multiply-adds between the warp's last store to shared memory and the barrier that follows it.
    """

    mix: Mapping[str, int]
    before_barrier: int


@dataclass(frozen=True)
class RecordedWay:
    """A row of the record: the instructions of one warp for one tile, and their compiler.

    arch: the architecture, such as "sm_90". toolkit, numba_cuda: the compiler's versions. kernel:
    the step with its constants.
    """

    arch: str
    toolkit: str
    numba_cuda: str
    kernel: str
    way: Way


@dataclass(frozen=True)
class IssueSlots:
    """What fills the issue slots of a launch: fractions of all slots, which add up to 1.

    multiply_adds: slots with a multiply-add. loads_and_stores: with a load or a store. others: with
    an instruction of another kind. last_round: slots of SMs that have fewer blocks than they could
    hold in the last round of blocks. rest: what is left, which was not measured.
    """

    multiply_adds: float
    loads_and_stores: float
    others: float
    last_round: float
    rest: float


def ways_of(step: Step | Variant) -> tuple[Way, ...]:
    """Return the instructions per tile of a warp that loads a, and of one that loads b.

    There is only one way if each warp loads both. The way with fewer instructions comes first. The
    kernel is compiled here for the device shown. The record is read if there is no compiler, or if
    the loop over tiles does not have exactly one loop in it. Raise CourseError if the record does
    not have it either.
    """
    variant, arch = as_variant(step), device_shown().arch
    try:
        return compiled_ways(variant, arch)
    except CourseError:
        found = [
            row.way
            for row in rows.read(FILE, RecordedWay)
            if (row.arch, row.kernel) == (arch, str(variant))
        ]
        if not found:
            raise
        return tuple(found)


def instructions_per_tile(step: Step | Variant) -> float:
    """Return the mean number of instructions that a warp issues for one tile."""
    ways = ways_of(step)
    return sum(sum(way.mix.values()) for way in ways) / len(ways)


def multiply_adds_per_tile(step: Step | Variant) -> int:
    """Return the number of multiply-adds that a warp issues for one tile."""
    return ways_of(step)[0].mix[MULTIPLY_ADD]


def multiply_adds_before_barrier(step: Step | Variant) -> float:
    """Return the mean multiply-adds of a warp between its last store for a tile and the barrier."""
    ways = ways_of(step)
    return sum(way.before_barrier for way in ways) / len(ways)


def loads_and_stores_per_tile(step: Step | Variant) -> float:
    """Return the mean number of loads and stores of global or shared memory per warp and tile."""
    ways = ways_of(step)
    return sum(way.mix.get(name, 0) for way in ways for name in LOADS_AND_STORES) / len(ways)


def compiled_ways(variant: Variant, arch: str) -> tuple[Way, ...]:
    """Compile a variant and return the instructions of one warp for one tile, per kind of warp.

    There are two kinds if some warps load a and others b, with the fewer instructions first. arch:
    text such as "sm_90". Raises CourseError without a compiler, and unless the loop over tiles has
    exactly one loop in it.
    """
    code = xray(variant.kernel, variant.step.signature, arch)
    big = max(code.loops, key=lambda loop: loop.end - loop.start)
    inside = [one for one in code.loops if big.start < one.start and one.end <= big.end]
    if len(inside) != 1:
        raise CourseError(f"The loop over tiles of {variant} does not have exactly one loop in it.")
    decided = sorted({one.predicate for one in code.code[big.start : big.end] if _may_jump(one)})
    answers = itertools.product((False, True), repeat=len(decided))
    walks = [
        _walk(code, big, inside[0], dict(zip(decided, answer, strict=True))) for answer in answers
    ]
    # Without its last global load, a warp is at the edge of the matrix.
    most = max(walk.count(LOAD) for walk in walks)
    whole = {
        tuple(sorted(Counter(walk).items())): _before_barrier(walk)
        for walk in walks
        if walk.count(LOAD) == most
    }
    ways = (Way(dict(mix), before) for mix, before in whole.items())
    return tuple(sorted(ways, key=lambda way: sum(way.mix.values())))


def _before_barrier(names: Sequence[str]) -> int:
    """Return the number of multiply-adds from the last store before the first barrier to it.

    The store is one to shared memory. names: the instructions of an iteration, in order.
    """
    barrier = names.index(BARRIER)
    last_store = barrier - 1 - names[barrier - 1 :: -1].index(STORE)
    return names[last_store:barrier].count(MULTIPLY_ADD)


def _may_jump(instruction) -> bool:
    return instruction.name == BRANCH and bool(instruction.predicate)


def _walk(code: XRay, big: Loop, small: Loop, taken: Mapping[str, bool]) -> list[str]:
    """Return the names of the instructions in one iteration of the loop `big`, in their order.

    small: the loop in it, which runs until a tile is multiplied. taken: predicate -> True if a
    branch with this predicate is taken; the branch at the end of `big` is not followed.
    """
    names, index = [], big.start
    while index <= big.end:
        if index == small.start:
            names += [one.name for one in small.body] * _iterations_of_inner(big, small)
            index = small.end + 1
            continue
        instruction = code.code[index]
        names.append(instruction.name)
        jumps = instruction.name == BRANCH and index < big.end
        jumps = jumps and (not instruction.predicate or taken[instruction.predicate])
        index = instruction.target if jumps else index + 1
    return names


def _iterations_of_inner(big: Loop, small: Loop) -> int:
    """Return how often the inner loop runs per tile: it has the steps that `big` leaves out.

    A tile has 8 steps of 8×8 multiply-adds.
    """
    return (8**3 - big.ffma) // small.ffma


def slots_of(step: Step | Variant, shape: str = "4096") -> IssueSlots:
    """Return what fills the issue slots of a recorded launch of a product.

    The peak of the data sheet has a multiply-add in each slot. shape: the problem size as on the
    command line. Raises CourseError if the launch has no record, or if neither the compiler nor the
    record of tiles has the kernel.
    """
    variant, device = as_variant(step), device_shown()
    record = record_of(variant, shape)
    launch = variant.launch(ladder_of(variant.step).parse(shape))
    figures = launch.threads, record.registers, record.shared_bytes
    at_a_time = occupancy(device.compute_capability, *figures).blocks * device.sms
    idle = 1 - launch.blocks / (math.ceil(launch.blocks / at_a_time) * at_a_time)
    useful = record.gflops / device.fp32_gflops
    per_instruction = useful / multiply_adds_per_tile(variant)
    memory = per_instruction * loads_and_stores_per_tile(variant)
    others = per_instruction * instructions_per_tile(variant) - useful - memory
    return IssueSlots(useful, memory, others, idle, 1 - useful - memory - others - idle)
