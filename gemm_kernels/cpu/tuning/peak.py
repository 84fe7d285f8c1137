"""The peak of one core: clock × FMA units × lanes × 2, and the rate that a loop of FMAs reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numba import float32, njit

from utils.intrinsics.simd import fmadd_row, load_row, set1, store_row
from utils.machine import processors
from utils.machine.devices import fraction_of_peak
from utils.machine.processors import INSTRUCTION_SETS
from utils.measuring.timing import time_cpu

PAIRS, CLOCK_TURNS = 16, 20_000
# Enough sums for two units, whose pipelines are 4 or 5 cycles deep, in 16 registers or more.
SUMS, FMA_TURNS = 12, 40_000
REPETITIONS, REPETITION_MS = 400, 0.5


@dataclass(frozen=True)
class Peak:
    """The computed and the measured peak of one core with vectors of `lanes` float32.

    clock_ghz: the clock during the measurement.
    fma_units: the units for such vectors; None if `data/cpus.csv` does not have the processor.
    measured: the rate of a loop of nothing but multiply-adds, in GFLOP/s.
    """

    lanes: int
    clock_ghz: float
    fma_units: int | None
    measured: float

    @property
    def computed(self) -> float | None:
        """The computed peak in GFLOP/s: measured clock × FMA units × lanes × 2.

        It is None if the number of FMA units is unknown.
        """
        return self.fma_units and self.clock_ghz * self.fma_units * self.lanes * 2

    @property
    def fraction(self) -> float | None:
        """Measured over computed rate, or None without `fma_units`; raises CourseError above 1."""
        what = f"The {INSTRUCTION_SETS[self.lanes]} FMA loop"
        return self.computed and fraction_of_peak(self.measured, self.computed, what)

    def __str__(self) -> str:
        name = INSTRUCTION_SETS[self.lanes]
        if self.computed is None:
            return f"{name}: {self.measured:.1f} GFLOP/s measured; FMA units unknown"
        return (
            f"{name}: {self.clock_ghz:.2f} GHz × {self.fma_units} FMA units × {self.lanes} floats "
            f"× 2 = {self.computed:.1f} GFLOP/s; measured {self.measured:.1f} ({self.fraction:.1%})"
        )


def peaks() -> list[Peak]:
    """Measure and return one peak per instruction set of this processor, the narrowest first.

    The clock and the loops are measured in interleaved samples. The fastest of many short samples
    counts, because on a busy machine only that one was undisturbed.
    """
    units = processors.current().fma_units
    widths = [lanes for lanes in INSTRUCTION_SETS if lanes <= processors.lanes()]
    clock = partial(_dependent, CLOCK_TURNS, 1, 3, 5)
    # The clock is measured before and after each loop, to notice a moment at which it was higher.
    rivals = [rival for lanes in widths for rival in (clock, fma_loop(lanes))] + [clock]
    timings = time_cpu(rivals, REPETITIONS, REPETITION_MS)
    clocks, loops = timings[::2], timings[1::2]
    ghz = 2 * PAIRS * CLOCK_TURNS / min(timing.min_ms for timing in clocks) / 1e6
    return [
        Peak(lanes, ghz, units.get(lanes), fma_loop_flops(lanes) / loop.min_ms / 1e6)
        for lanes, loop in zip(widths, loops, strict=True)
    ]


def settled_peaks(attempts: int = 3) -> list[Peak]:
    """Return the peaks, measured again while a loop is faster than its computed peak.

    That happens if the clock rose unnoticed. The result of the last of `attempts` measurements is
    returned even if a loop in it is too fast.
    """
    for _ in range(attempts):
        measured = peaks()
        if all(not peak.computed or peak.measured <= peak.computed for peak in measured):
            break
    return measured


@njit
def _dependent(turns, x, y, z):
    """Return x after `turns` times PAIRS pairs of an addition of y and an exclusive or with z.

    Each operation waits for the one before and takes one cycle, and none can be omitted.
    """
    for _ in range(turns):
        for _ in range(PAIRS):
            x = (x + y) ^ z
    return x


@cache
def fma_loop(lanes: int) -> Callable[[], None]:
    """Return a function () that executes a loop of nothing but multiply-adds of `lanes` float32."""

    @njit
    def repeat(turns, memory):
        factor = set1(float32(1e-9), lanes)
        sums = load_row(memory, 0, lanes, SUMS)
        for _ in range(turns):
            # No sum waits for another one, and nothing is loaded or stored.
            sums = fmadd_row(factor, sums, sums)
        store_row(memory, 0, sums)

    return partial(repeat, FMA_TURNS, np.linspace(1, 2, SUMS * lanes, dtype=np.float32))


def fma_loop_flops(lanes: int) -> int:
    """Return the floating-point operations in one execution of `fma_loop`.

    lanes: the number of float32 in its vectors.
    """
    return 2 * SUMS * lanes * FMA_TURNS
