"""What the loops of the steps on tensor cores are made of, and what an SM holds of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from gpu_xray import xray
from tensor_kernels import LADDER
from utils.errors import CourseError
from utils.ladder.step import Step
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import one_per_cycle_ms
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_23.feeding import (
    SIDE,
    STEPS,
    SWIZZLED,
    compared,
    filling_ms,
    speedup,
    wavefronts_ms,
)
from utils.lessons.recorded import record_of, recorded_ms
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.translation import translate

PIPELINED = LADDER.step("mma_pipelined")
SIZES = {"1688": (16, 8, 8), "16816": (16, 8, 16)}  # of an HMMA, as its name spells them


@dataclass(frozen=True)
class Loop:
    """One iteration of the loop over k in machine code.

    size: m, n and k of one HMMA. hmma: the number of HMMA. others: that of other instructions.
    """

    size: tuple[int, int, int]
    hmma: int
    others: int

    @property
    def others_per_hmma(self) -> float:
        """The number of other instructions per HMMA."""
        return self.others / self.hmma


@cache
def loop_of(step: Step) -> Loop | None:
    """Return the loop of a step, compiled for the device shown; None without a compiler."""
    try:
        report = xray(step.variant().kernel, step.signature, device_shown().arch)
    except CourseError:
        return None
    found = ((one.body, [i for i in one.body if i.name == "HMMA"]) for one in report.loops)
    body, hmma = next((body, hmma) for body, hmma in found if hmma)
    return Loop(SIZES[hmma[0].opcode.split(".")[1]], len(hmma), len(body) - len(hmma))


def blocks_of(step: Step) -> int:
    """Return the number of blocks of a step that an SM of the device shown holds at 4096.

    It follows from the registers and the shared memory in the record of the step.
    """
    record = record_of(step, SIDE)
    threads = math.prod(step.launch(LADDER.parse(SIDE), **step.constants()).block)
    capability = device_shown().compute_capability
    return occupancy(capability, threads, record.registers, record.shared_bytes).blocks


def loops_table() -> Table | Card:
    """Return a table of the loops over k of the four steps; a card without a compiler.

    It has a row per step. The columns are the size of an HMMA, the other instructions per HMMA, the
    registers per thread, and the blocks that an SM holds.
    """
    loops = {LADDER.step(name): loop_of(LADDER.step(name)) for name in STEPS}
    if None in loops.values():
        return Card("ask", (translate("The machine code needs a compiler for GPUs."),))
    rows = [
        (step.name.removeprefix("mma_"), "×".join(map(str, loop.size)),
         f"{loop.others_per_hmma:.1f}", str(record_of(step, SIDE).registers), str(blocks_of(step)))
        for step, loop in loops.items()
    ]  # fmt: skip
    return table(
        f"Machine code for {device_shown().arch}, and the blocks of an SM",
        ("mma_…", "size of an HMMA", "others per HMMA", "registers per thread", "blocks per SM"),
        rows,
    )


def instructions_ms(step: Step) -> float | None:
    """Return the ms in which the schedulers start a step's instructions at 4096, one per cycle.

    The result is None without a compiler.
    """
    if (loop := loop_of(step)) is None:
        return None
    m, n, k = loop.size
    schedulers = limits_of(device_shown().compute_capability).sub_partitions
    return one_per_cycle_ms(WARP * (1 + loop.others_per_hmma) / schedulers / (m * n * k), SIDE)


def tensor_ms() -> float:
    """Return the ms that the tensor cores need at 4096, by the data sheet."""
    return 2 * int(SIDE) ** 3 / device_shown().tensor_gflops / 1e6


def needs_of(step: Step) -> dict[str, float]:
    """Return resource -> ms that a step takes at 4096 if it waits for this resource alone.

    Instructions are left out without a compiler.
    """
    needs = {
        "tensor cores, data sheet": tensor_ms(),
        "wavefronts of `ldmatrix`": wavefronts_ms(step),
        "wavefronts that fill tiles": filling_ms(step),
    }
    slots = instructions_ms(step)
    return needs if slots is None else {**needs, "start of all instructions": slots}


def needs_table() -> Table:
    """Return a table of the ms that mma_swizzled and mma_pipelined need at 4096, a column each.

    It has a row per resource of `needs_of`, one for their sum, and one for the recorded time.
    """
    steps = (SWIZZLED, PIPELINED)
    needs = [needs_of(step) for step in steps]
    sums = [sum(one.values()) for one in needs]
    rows = [(what, *(f"{one[what]:.3f}" for one in needs)) for what in needs[0]]
    rows += [("all one after the other", *(f"{ms:.3f}" for ms in sums)),
             ("recorded", *(f"{recorded_ms(step, SIDE):.3f}" for step in steps))]  # fmt: skip
    names = [step.name.removeprefix("mma_") for step in steps]
    return table(f"ms of mma_swizzled and mma_pipelined at {SIDE}", ("", *names), rows)


def gain() -> float:
    """Return how many times as fast mma_pipelined is as mma_swizzled, by the record at 4096."""
    return recorded_ms(SWIZZLED, SIDE) / recorded_ms(PIPELINED, SIDE)


def compared_gain() -> str:
    """Return "less", "about as much" or "more": `gain` compared with `speedup`, the swizzle's gain.

    The result is a choice of a question.
    """
    return compared(gain(), speedup())
