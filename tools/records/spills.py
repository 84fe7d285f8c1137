"""Time kernels whose numbers do not stay in registers, and the same kernels with numbers that do.

    python -m tools.records.spills --out FILE.csv

needs a CUDA device. The kernels are the loop of multiply-adds with fewer and fewer registers, and
the product of the exercise ``sums_in_registers`` before and after, and with other indices.
``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import cuda, float32, int32, uint32

from labs import EXERCISES
from latency_kernels import LADDER as CEILINGS
from utils.ladder.problems import draw, poisoned
from utils.lessons.lesson_16.reading_machine_code import SpillRecord
from utils.measuring import rows
from utils.measuring.rows import Date
from utils.measuring.timing import time_gpu

LIMITS = (None, 80, 72, 64, 48)
ACCUMULATORS, SIDE = "2^28", 4096
NAME = "sums_in_registers"


@dataclass(frozen=True)
class Rival:
    """One kernel to be timed, with its arguments on the device.

    kernel: the name in the record. registers: the greatest number of registers per thread, or None
    without a limit. function: the dispatcher. grid, block: of the launch. right: the right result.
    flops: floating-point operations of one launch.
    """

    kernel: str
    registers: int | None
    function: Callable
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple
    right: np.ndarray
    flops: float

    def run(self) -> None:
        """Launch the kernel without waiting for it."""
        self.function[self.grid, self.block](*self.arguments)


def loops(accumulators: str = ACCUMULATORS) -> Iterator[Rival]:
    """Yield the kernel `fma_loop` once per limit on its registers in `LIMITS`.

    accumulators: the size of the problem, such as "2^28".
    """
    step, shape = CEILINGS.step("fma_loop"), CEILINGS.parse(accumulators)
    problem, launch = step.task.problem(shape, "integers"), step.variant().launch(shape)
    python, flops = step.build().py_func, step.task.work(shape).flops
    for limit in LIMITS:
        kernel = cuda.jit(max_registers=limit)(python)
        arguments = tuple(map(cuda.to_device, (*problem.inputs, poisoned(problem.reference.shape))))
        how = launch.grid, launch.block, arguments
        yield Rival("fma_loop", limit, kernel, *how, problem.reference, flops)


def product_with(index: Callable) -> Callable:
    """Return the exercise's solution as a kernel (a, b, c) that calls `index` on row and column.

    index: a type or a device function that Numba can call with an int64.
    """

    @cuda.jit
    def product(a, b, c):
        m, n, k = a.shape[0], b.shape[1], a.shape[1]
        row = index(cuda.blockIdx.y * 8 + cuda.threadIdx.y)
        col = index(cuda.blockIdx.x * 256 + cuda.threadIdx.x)
        if row >= m or col >= n:
            return
        totals = cuda.local.array(8, float32)
        for j in range(8):
            totals[j] = float32(0)
        i = 0
        while i < k:
            from_a = a[row, i]
            for j in range(8):
                if col + 32 * j < n:
                    totals[j] += from_a * b[i, col + 32 * j]
            i += 1
        for j in range(8):
            if col + 32 * j < n:
                c[row, col + 32 * j] = totals[j]

    return product


@cuda.jit(device=True)
def without_sign(index):
    """Return a row or column, which is at least 0, as an int64 of which the compiler knows it."""
    return index & 0xFFFFFFFF


in_32_bits, with_a_sign_in_32_bits, without_a_sign_in_64_bits = map(
    product_with, (uint32, int32, without_sign)
)
# Name in the record, after the exercise's -> kernel.
PRODUCTS = {
    "starter": EXERCISES[NAME].starter,
    "solution": EXERCISES[NAME].solution,
    "in 32 bits": in_32_bits,
    "in 32 bits with a sign": with_a_sign_in_32_bits,
    "in 64 bits without a sign": without_a_sign_in_64_bits,
}


def products(side: int = SIDE) -> Iterator[Rival]:
    """Yield the starter and the solution of the exercise, and the solution with other indices.

    They multiply square matrices. side: the number of rows and columns of the matrices.
    """
    a, b = draw("integers", (side, side), 1), draw("integers", (side, side), 2)
    launch = EXERCISES[NAME].launch((side, side, side))
    right = a.astype(np.float64) @ b
    for name, kernel in PRODUCTS.items():
        arguments = tuple(map(cuda.to_device, (a, b, poisoned((side, side)))))
        how = launch.grid, launch.block, arguments
        yield Rival(f"{NAME} {name}", None, kernel, *how, right, 2.0 * side**3)


def recorded(rivals: list[Rival]) -> Iterator[SpillRecord]:
    """Time all kernels, with interleaved repetitions, and yield a row per kernel.

    Exits with a sentence if the result of a kernel is wrong.
    """
    timings = time_gpu([rival.run for rival in rivals])
    for rival, timing in zip(rivals, timings, strict=True):
        if not np.array_equal(rival.arguments[-1].copy_to_host(), rival.right):
            raise SystemExit(f"{rival.kernel} is wrong; nothing is recorded.")
        (registers,) = rival.function.get_regs_per_thread().values()
        (local_bytes,) = rival.function.get_local_mem_per_thread().values()
        yield SpillRecord(
            kernel=rival.kernel, max_registers=rival.registers, registers=registers,
            local_bytes=local_bytes, gflops=rival.flops / timing.median_ms / 1e6,
            time_ms=timing.median_ms, time_ms_min=timing.min_ms, time_ms_max=timing.max_ms,
            sm_clock_mhz=timing.sm_clock_mhz, date=Date(datetime.date.today().isoformat()),
        )  # fmt: skip


def main() -> None:
    """Time all kernels and write their rows into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    all_rows = [*recorded(list(loops())), *recorded(list(products()))]
    rows.write(options.out, all_rows, SpillRecord)


if __name__ == "__main__":
    main()
