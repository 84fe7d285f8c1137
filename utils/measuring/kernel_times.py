"""Rows of experiments that time kernels in turns, by the size of a product or of an array."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import cuda

from utils.errors import CourseError
from utils.ladder.ladder import Ladder
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.ladder.step import Variant
from utils.ladder.verify import verify_all
from utils.measuring.rows import Date
from utils.measuring.timing import time_gpu


@dataclass(frozen=True)
class ProductTime:
    """The time of one kernel for n×n matrices on one device.

    kernel: the name of the kernel and its constants, such as "four_chains" or "ilp GRAIN=4".
    time_ms, time_ms_min, time_ms_max: median, minimum and maximum of the repetitions. sm_clock_mhz:
    the SM clock meanwhile; None if it cannot be read. date: the day of the measurement.
    """

    device: str
    kernel: str
    n: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date


@dataclass(frozen=True)
class ShapeTime:
    """The time of one product of an m×k and a k×n matrix on one device.

    kernel: a block tile of `autotuned` and its slices, or `sgemm`, the course's function with
    Python included, or the library. time_ms, time_ms_min, time_ms_max: median, minimum and maximum
    of the repetitions. sm_clock_mhz: the SM clock meanwhile; None if it cannot be read. date: the
    day of the measurement.
    """

    device: str
    kernel: str
    m: int
    n: int
    k: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date


@dataclass(frozen=True)
class ArrayTime:
    """The time of one kernel for an array of float32 on one device.

    kernel: its name, such as "reduce0". elements: the length of the array. time_ms, time_ms_min,
    time_ms_max: median, minimum and maximum of the repetitions. sm_clock_mhz: the SM clock
    meanwhile; None if it cannot be read. date: the day of the measurement.
    """

    device: str
    kernel: str
    elements: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date


@dataclass(frozen=True)
class LaunchTime:
    """A row of `single_launch.csv`: the times of one kernel, or of one way to sum, on one device.

    kernel: its name. elements: the length of the array. launches: their number in one execution.
    time_ms, time_ms_min, time_ms_max: median, minimum and maximum of the repetitions on the GPU,
    where each execution reads another copy of the array, from memory. hot_ms: the median if all
    executions read the same array. host_us, call_us: microseconds per execution in a burst that
    reads this same array, until Python is done and until the GPU is done. sm_clock_mhz: the SM
    clock meanwhile; None if it cannot be read. date: the day of the measurement.
    """

    device: str
    kernel: str
    elements: int
    launches: int
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    hot_ms: float
    host_us: float
    call_us: float
    sm_clock_mhz: float | None
    date: Date


def time_products(
    ladder: Ladder,
    variants: Sequence[Variant],
    device: str,
    sizes: Sequence[int],
    verified: Sequence[GemmShape],
) -> Iterator[ProductTime]:
    """Yield a row per size and variant: the variant's time for the product of n×n matrices.

    All variants of a size are timed before the next size, with interleaved repetitions. Their rows
    come in the order of `variants`. device: its name, for the rows. sizes: the values of n.
    verified: shapes at which each variant is verified before the first row. Raises CourseError if a
    product is wrong.
    """
    for shape in verified:
        require_right(ladder, variants, shape)
    for n in sizes:
        shape = GemmShape(n, n, n)
        inputs = tuple(cuda.to_device(draw("uniform", (n, n), seed)) for seed in (1, 2))
        out = cuda.device_array((n, n), np.float32)
        timings = time_gpu([variant.execution(shape, inputs, out) for variant in variants])
        for variant, timing in zip(variants, timings, strict=True):
            yield ProductTime(
                device, str(variant), n, timing.median_ms, timing.min_ms, timing.max_ms,
                timing.sm_clock_mhz, datetime.date.today().isoformat(),
            )  # fmt: skip


def require_right(ladder: Ladder, timed: Sequence[Variant], shape: GemmShape) -> None:
    """Raise CourseError if the product of one of the variants is wrong at this shape."""
    for variant, verdict in zip(timed, verify_all(ladder, timed, shape), strict=True):
        if not verdict.passed:
            raise CourseError(
                f"The product of {variant} is wrong at {shape}, so it is not timed: mend "
                "the kernel."
            )


def time_sums(
    variants: Sequence[Variant], device: str, lengths: Sequence[int]
) -> Iterator[ArrayTime]:
    """Yield a row per length and variant: the variant's times in ms for one sum.

    All variants of a length are timed before the next length, with interleaved repetitions. Their
    rows come in the order of `variants`. The sums are not verified. device: its name, for the rows.
    lengths: numbers of float32 that are summed.
    """
    for elements in lengths:
        shape = ReduceShape(elements)
        x = cuda.to_device(draw("uniform", (elements,), 1))
        out = cuda.device_array(1, np.float32)
        timings = time_gpu([variant.execution(shape, (x,), out) for variant in variants])
        for variant, timing in zip(variants, timings, strict=True):
            yield ArrayTime(
                device, variant.step.name, elements, timing.median_ms, timing.min_ms,
                timing.max_ms, timing.sm_clock_mhz, datetime.date.today().isoformat(),
            )  # fmt: skip


def require_right_sum(variant: Variant, added: slice = slice(None)) -> None:
    """Raise CourseError unless the kernel's sum of 5,120 whole numbers is exact.

    added: a slice of the elements that count in the expected sum, for a kernel that leaves some out
    on purpose; by default all count.
    """
    x, out = np.arange(5120, dtype=np.float32) % 7, cuda.to_device(np.full(1, np.nan, np.float32))
    variant.execution(ReduceShape(x.size), (cuda.to_device(x),), out)()
    if out.copy_to_host()[0] != x[added].sum():
        raise CourseError(f"The sum of {variant} is wrong, so it is not timed: mend the kernel.")
