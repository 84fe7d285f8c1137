"""`python -m tensor_kernels registers-alone`: time `mma` whose fragments stay in registers.

A warp loads its fragments once and multiplies them again and again, so the loop has no access to
memory. This shows the rate that `mma.sync` reaches with a number of warps on an SM and a number of
independent sums in each warp.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product

import numpy as np
from numba import cuda, float32, uint16, uint32
from numba.types import float16

from tensor_kernels.parts.fragments import clear, multiply_bfloat16, multiply_by_16, store_sums
from utils.errors import CourseError
from utils.ladder.libraries import Execution
from utils.ladder.problems import KINDS, Problem, judge, poisoned
from utils.ladder.shapes import GemmShape
from utils.ladder.tasks import ERROR_PER_MMA, TENSOR_GEMM, TENSOR_GEMM_BFLOAT16
from utils.machine import devices
from utils.machine.occupancy import WARP
from utils.measuring.experiment import Experiment
from utils.measuring.rows import Date
from utils.measuring.timing import Timing, time_gpu

M, N, K = 16, 8, 16  # the sizes of one mma: 16×16 of a times 16×8 of b
# Instruction -> the task that has its inputs, the type of their elements, and how to multiply.
INSTRUCTIONS = {
    "mma_m16n8k16": (TENSOR_GEMM, float16, multiply_by_16),
    "mma_m16n8k16_bf16": (TENSOR_GEMM_BFLOAT16, uint16, multiply_bfloat16),
}
OF_A_WARP = (1, 2, 4, 8)  # accumulators
OF_AN_SM = (4, 8, 16)  # warps, which are one block
# Turns of a launch: sums of integers up to 49·16 stay below 2^24 and are exact, and a launch takes
# much longer than the gap between two launches.
TURNS = 2**14
UNROLL = 4  # turns of one iteration, so that little else than mma is left in the loop


@dataclass(frozen=True)
class MmaRate:
    """The rate of an mma whose fragments stay in registers, on one device.

    kernel: the instruction, by its name in `utils.intrinsics.tensor`. accumulators: the independent
    products of a warp, each with sums of its own. warps: the number of warps on an SM. time_ms,
    time_ms_min, time_ms_max: median, minimum and maximum of the repetitions of a launch. tflops:
    10¹² operations per second, by the median. efficiency: their fraction of the data sheet's peak,
    None where none is listed. sm_clock_mhz: the SM clock meanwhile; None if it cannot be read.
    date: the day of the measurement.
    """

    device: str
    kernel: str
    accumulators: int
    warps: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    tflops: float
    efficiency: float | None
    sm_clock_mhz: float | None
    date: Date


@cache
def build(instruction: str, ACCUMULATORS: int):
    """Return the kernel (a, b, c, turns) that computes c = turns · (a·b), as a sum of products.

    `instruction` is a key of INSTRUCTIONS. A warp multiplies its own 16 rows of a, which has 16
    columns, by b, which has 8·ACCUMULATORS. `turns` is a multiple of UNROLL.
    """
    _, dtype, multiply = INSTRUCTIONS[instruction]

    @cuda.jit
    def registers_alone(a, b, c, turns):
        sums = cuda.local.array((1, ACCUMULATORS, 4), float32)
        of_a = cuda.local.array((1, 8), dtype)
        of_b = cuda.local.array((ACCUMULATORS, 4), dtype)
        thread = uint32(cuda.grid(1))
        row, lane = thread // WARP * M, thread % WARP
        group, pair = lane // 4, lane % 4 * 2

        for i in range(8):
            of_a[0, i] = a[row + group + i // 2 % 2 * 8, pair + i % 2 + i // 4 * 8]
        for j in range(ACCUMULATORS):
            for i in range(4):
                of_b[j, i] = b[pair + i % 2 + i // 2 * 8, j * N + group]
        clear(sums)
        turn = uint32(0)
        while turn < turns:
            for _ in range(UNROLL):
                multiply(of_a, of_b, sums)
            turn = uint32(turn + UNROLL)

        store_sums(c, row, 0, lane, sums)

    return registers_alone


@dataclass(frozen=True)
class Case:
    """One kernel and its launch; the fields have the meaning of those of `MmaRate`."""

    kernel: str
    accumulators: int
    warps: int

    def __str__(self) -> str:
        return f"{self.kernel} with {self.accumulators} accumulators and {self.warps} warps"

    def shape(self, sms: int) -> GemmShape:
        """Return the sizes of a·b if there is one block on each of `sms` SMs."""
        return GemmShape(sms * self.warps * M, self.accumulators * N, K)

    def problem(self, sms: int, turns: int, kind: str) -> Problem:
        """Return the problem c = turns · (a·b), for a kind of random numbers such as "uniform"."""
        once = INSTRUCTIONS[self.kernel][0].problem(self.shape(sms), kind)
        return replace(
            once,
            reference=once.reference * turns,
            scale=once.scale * turns,
            allowed=once.allowed and ERROR_PER_MMA * turns,
        )

    def launch(self, sms: int, turns: int, kind: str) -> Launch:
        """Return a Launch with one block on each of `sms` SMs, whose output is full of NaN.

        `turns` and `kind`, of the random numbers, are those of `problem`.
        """
        problem = self.problem(sms, turns, kind)
        out = cuda.to_device(poisoned(problem.reference.shape))
        kernel = build(self.kernel, self.accumulators)[sms, WARP * self.warps]
        arguments = *map(cuda.to_device, problem.inputs), out, np.uint32(turns)
        return Launch(self, problem, out, partial(kernel, *arguments))


@dataclass(frozen=True, eq=False)
class Launch:
    """A case with its problem, its output on the device, and a function () that launches it."""

    case: Case
    problem: Problem
    out: object
    execute: Execution

    def require_right(self) -> None:
        """Raise CourseError unless the output is right, all of it."""
        verdict = judge(self.problem, self.out)
        if not verdict.passed:
            raise CourseError(f"{self.case} is {verdict}; nothing is measured with it.")


CASES = tuple(Case(*values) for values in product(INSTRUCTIONS, OF_A_WARP, OF_AN_SM))


def recorded_rates() -> tuple[MmaRate, ...]:
    """Return the rates of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, cases: Sequence[Case] = CASES, turns: int = TURNS) -> Iterator[MmaRate]:
    """Yield the rate of each case; the repetitions of all cases are interleaved.

    `device` is the name for the rows. `turns` is a multiple of UNROLL, at most TURNS. Raises
    CourseError if a sum is wrong, before the timing or after it, and for a rate above the peak of
    the current device.
    """
    sms = devices.current().sms
    for case, kind in product(cases, KINDS):
        launch = case.launch(sms, turns, kind)
        launch.execute()
        launch.require_right()
    timed = [case.launch(sms, turns, "uniform") for case in cases]
    timings = time_gpu([launch.execute for launch in timed])
    for launch, timing in zip(timed, timings, strict=True):
        launch.require_right()
        yield _rate(device, launch.case, launch.case.shape(sms).flops * turns, timing)


def _rate(device: str, case: Case, flops: int, timing: Timing) -> MmaRate:
    """Return the row of a case on a device, whose launch has this many operations.

    Raises CourseError for a rate above the peak of the current device.
    """
    gflops, peak = flops / timing.median_ms / 1e6, devices.current().tensor_gflops
    efficiency = devices.fraction_of_peak(gflops, peak, str(case)) if peak else None
    return MmaRate(
        device, case.kernel, case.accumulators, case.warps, timing.median_ms, timing.min_ms,
        timing.max_ms, gflops / 1e3, efficiency, timing.sm_clock_mhz,
        datetime.date.today().isoformat(),
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="registers-alone",
    help="time mma whose fragments stay in registers",
    row=MmaRate,
    size="accumulators",
    measured=measured,
    figures=(
        ("warps per SM", "warps"), ("ms", "time_ms"), ("least", "time_ms_min"),
        ("most", "time_ms_max"), ("TFLOP/s", "tflops"), ("of the peak", "efficiency"),
        ("MHz", "sm_clock_mhz"),
    ),
)  # fmt: skip
COMMAND = EXPERIMENT.command()
