"""`python -m reduce_kernels bits`: add the same array again and again, and count different results.

Blocks of `reduce_atomic` add their sums to the result in the order in which they finish; the last
block of `reduce9` adds them in the order of their numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import cuda

from reduce_kernels import LADDER
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.ladder.shapes import ReduceShape
from utils.machine.devices import REFERENCE
from utils.measuring.experiment import Experiment
from utils.measuring.rows import Date

STEPS = ("reduce_atomic", "reduce9")
ELEMENTS = (2**22, 2**26)
RUNS = 1000


@dataclass(frozen=True)
class BitsOfSum:
    """A row of `bits.csv`: the results of one kernel that added the same array many times.

    runs: the number of sums. different: the number of results whose bits differ from one another.
    most_common: the number of runs with the most frequent result. lowest, highest: the results as
    hexadecimal numbers of Python. exact: the sum in float64, as such a number. counts: the number
    of runs with each float32 from the lowest to the highest result. device, kernel: their names.
    elements: the length of the array. date: the day of the measurement.
    """

    device: str
    kernel: str
    elements: int
    runs: int
    different: int
    most_common: int
    lowest: str
    highest: str
    exact: str
    counts: tuple[int, ...]
    date: Date


def recorded_bits() -> tuple[BitsOfSum, ...]:
    """Return the rows of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def recorded_row(kernel: str, elements: int = ELEMENTS[0]) -> BitsOfSum:
    """Return the record of the reference device for a kernel that added this many floats.

    Raises StopIteration if there is none.
    """
    wanted = (REFERENCE, kernel, elements)
    return next(row for row in recorded_bits() if (row.device, row.kernel, row.elements) == wanted)


def measured(device: str, runs: int = RUNS) -> Iterator[BitsOfSum]:
    """Yield a row per length and kernel, of `runs` sums each.

    `device` is the name for the rows. Raises CourseError if a sum differs by more than about 0.01%
    from the exact one.
    """
    for elements in ELEMENTS:
        host = draw("uniform", (elements,), 1)
        x, out = cuda.to_device(host), cuda.device_array(1, np.float32)
        exact = float(host.sum(dtype=np.float64))
        for name in STEPS:
            execute = LADDER.step(name).variant().execution(ReduceShape(elements), (x,), out)
            sums = np.array([_sum(execute, out) for _ in range(runs)])
            if not np.allclose(sums, exact, rtol=1e-4):
                raise CourseError(f"A sum of {name} is wrong, so nothing is recorded.")
            _, counts = np.unique(sums.view(np.uint32), return_counts=True)
            yield BitsOfSum(
                device, name, elements, runs, len(counts), int(counts.max()),
                float(sums.min()).hex(), float(sums.max()).hex(), exact.hex(), _counts(sums),
                datetime.date.today().isoformat(),
            )  # fmt: skip


def _counts(sums: np.ndarray) -> tuple[int, ...]:
    """Return how often each float32 from the lowest to the highest of the sums is among them."""
    counts, value = [], sums.min()
    while value <= sums.max():
        counts.append(int(np.count_nonzero(sums == value)))
        value = np.nextafter(value, np.float32(np.inf))
    return tuple(counts)


def _sum(execute, out) -> np.float32:
    """Call `execute`, which stores a sum in the device array `out`, and return this sum."""
    execute()
    return out.copy_to_host()[0]


EXPERIMENT = Experiment(
    name="bits",
    help="add the same array again and again, and count the different results",
    row=BitsOfSum,
    size="elements",
    measured=measured,
    figures=(("runs", "runs"), ("different results", "different")),
)
COMMAND = EXPERIMENT.command()
