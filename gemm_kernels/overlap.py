"""`python -m gemm_kernels overlap`: time a product whose copies run beside its kernels.

The rows of a are cut into slices. For each slice, the host copies it to the device, launches the
kernel, and copies its rows of c back, all in one stream. With several streams the copy of one slice
may run beside the kernel of another one.
"""

from __future__ import annotations

import datetime
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numba import cuda

from gemm_kernels import naive
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch
from utils.measuring.experiment import Experiment
from utils.measuring.rows import Date
from utils.measuring.transfer_experiments import copied, host_arrays

# The shape of Araujo, as in the record of transfers, and the same with eight times as many rows.
SHAPES = (GemmShape(2000, 600, 2000), GemmShape(16000, 600, 2000))
# (memory, streams, slices)
WAYS = tuple(
    (memory, streams, slices)
    for memory in ("pageable", "pinned")
    for streams, slices in ((1, 1), (1, 4), (2, 4), (4, 4), (2, 8), (4, 8), (4, 16))
)
REPETITIONS = 15
PARTS = ("copy_in", "kernel", "copy_out")


@dataclass(frozen=True)
class OverlapTime:
    """A row of `overlap.csv`: the time of one product, or of one part of one slice of it.

    kernel: the way of copying, such as "pinned STREAMS=2 SLICES=4". m, n, k: the shape of the
    product. part: "product" for the whole, as the host sees it; else "copy_b", "copy_in", "kernel"
    or "copy_out". slice: the number of the slice, -1 for the whole and for b. time_ms, time_ms_min,
    time_ms_max: of a product, median, minimum and maximum of the repetitions; of a part, its time
    in the repetition with the median time, three times. start_ms: when a part began, from the start
    of that repetition; 0 for the whole. device: the GPU's name. date: the day of the measurement.
    """

    device: str
    kernel: str
    m: int
    n: int
    k: int
    part: str
    slice: int
    start_ms: float
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    date: Date


@dataclass(frozen=True)
class Arrays:
    """The arrays of one product: (a, b, c) on the host, and (a, b, c) on the device."""

    host: tuple
    device: tuple


def recorded_times() -> tuple[OverlapTime, ...]:
    """Return the rows of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, shapes: Sequence[GemmShape] = SHAPES) -> Iterator[OverlapTime]:
    """Yield the rows of all ways to copy and compute in slices, shape by shape; see `OverlapTime`.

    Per way, the row of the whole product comes first and then those of its parts. `device` is the
    name for the rows. Raises CourseError if a product is wrong.
    """
    today = datetime.date.today().isoformat()
    for shape, (memory, streams, slices) in product(shapes, WAYS):
        way = f"{memory} STREAMS={streams} SLICES={slices}"
        arrays = arrays_in(memory, shape)
        sliced = Slices(shape, arrays, streams, slices)
        sliced.run()
        verify(way, arrays.host)
        runs = sorted((sliced.run() for _ in range(REPETITIONS)), key=lambda run: run[0])
        times = [run[0] for run in runs]
        parts = runs[REPETITIONS // 2][1]
        size = (device, way, shape.m, shape.n, shape.k)
        spread = (statistics.median(times), min(times), max(times))
        yield OverlapTime(*size, "product", -1, 0.0, *spread, today)
        for part, number, start, end in parts:
            yield OverlapTime(*size, part, number, start, *[end - start] * 3, today)


def arrays_in(memory: str, shape: GemmShape) -> Arrays:
    """Return the arrays of a product with host arrays in "pageable" or "pinned" `memory`.

    On the host a and b hold random numbers, and c zeros. The arrays on the device are
    uninitialised.
    """
    host = host_arrays(shape)
    if memory == "pinned":
        host = tuple(copied(array, cuda.pinned_array) for array in host)
    return Arrays(host, tuple(cuda.device_array(array.shape, array.dtype) for array in host))


def verify(way: str, host: tuple) -> None:
    """Raise CourseError unless c is the product of a and b, up to the rounding of k float32 sums.

    way: the name of the way, for the message. host: the arrays a, b, c.
    """
    a, b, c = host
    right = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a).astype(np.float64) @ np.abs(b) * a.shape[1] * np.finfo(np.float32).eps
    if not (np.abs(c - right) <= bound).all():
        raise CourseError(f"The product of {way} is wrong, so it is not timed: mend it.")


class Slices:
    """A product in slices of the rows of a and c, with slice i in stream i mod number of streams.

    All that costs time on the host, except the copies and launches, is done here, once: the parts
    of the arrays, the launches and the events. `b` and `c` are in host memory, and `on_b` is b on
    the device. The event `ready` begins the product, and `b_is_there` is recorded after the copy of
    b.
    """

    def __init__(self, shape: GemmShape, arrays: Arrays, streams: int, slices: int):
        edges = [shape.m * number // slices for number in range(slices + 1)]
        (a, self.b, self.c), (on_a, self.on_b, on_c) = arrays.host, arrays.device
        launches = [naive.launch(GemmShape(m, shape.n, shape.k)) for m in np.diff(edges).tolist()]
        self.streams = [cuda.stream() for _ in range(streams)]
        self.ready, self.b_is_there = cuda.event(), cuda.event()
        self.slices = [
            Slice(
                self.streams[number % streams], launches[number],
                (a[low:high], self.c[low:high]), (on_a[low:high], on_c[low:high]),
                [cuda.event() for _ in range(1 + len(PARTS))],
            )
            for number, (low, high) in enumerate(pairwise(edges))
        ]  # fmt: skip

    def run(self) -> tuple[float, list[tuple[str, int, float, float]]]:
        """Compute the product once; return its milliseconds and its parts.

        The milliseconds are the host's, from before the first copy until c is in host memory. A
        part is (name, number of the slice, start, end) with times of the GPU in milliseconds from
        its first copy on. The first part is "copy_b" with slice -1. Then each slice, from 0 on, has
        "copy_in", "kernel" and "copy_out", in this order.
        """
        self.c[...] = np.nan
        cuda.synchronize()
        begin = time.perf_counter()
        first, *others = self.streams
        self.ready.record(first)
        self.on_b.copy_to_device(self.b, stream=first)
        self.b_is_there.record(first)
        for stream in others:
            self.b_is_there.wait(stream)
        for part in self.slices:
            part.enqueue(self.on_b)
        for stream in self.streams:
            stream.synchronize()
        wall = 1e3 * (time.perf_counter() - begin)
        parts = [("copy_b", -1, 0.0, self.ready.elapsed_time(self.b_is_there))]
        for number, part in enumerate(self.slices):
            at = [self.ready.elapsed_time(event) for event in part.events]
            parts += [(name, number, *two) for name, two in zip(PARTS, pairwise(at), strict=True)]
        return wall, parts


@dataclass(frozen=True)
class Slice:
    """The work on some rows of a and c, in one stream.

    stream: Numba's stream. launch: the grid and block of the kernel for these rows. host, device:
    the pair (rows of a, rows of c) in host memory, and the pair in device memory. events: four CUDA
    events, which are recorded before the copy of a, after it, after the kernel, and after the copy
    of c.
    """

    stream: object
    launch: Launch
    host: tuple
    device: tuple
    events: list

    def enqueue(self, on_b) -> None:
        """Put both copies and the kernel into the stream; with pinned memory this does not wait.

        Four events are recorded there, too: before the copy of a, after it, after the kernel, and
        after the copy of c. on_b: the array b on the device, which must hold b when the stream
        reaches the kernel.
        """
        (a, c), (on_a, on_c), stream = self.host, self.device, self.stream
        before, copied_in, computed, copied_out = self.events
        before.record(stream)
        on_a.copy_to_device(a, stream=stream)
        copied_in.record(stream)
        naive.naive[self.launch.grid, self.launch.block, stream](on_a, on_b, on_c)
        computed.record(stream)
        on_c.copy_to_host(c, stream=stream)
        copied_out.record(stream)


EXPERIMENT = Experiment(
    name="overlap",
    help="time a product whose copies run beside its kernels, in slices and streams",
    row=OverlapTime,
    size="m",
    measured=measured,
    printed=lambda row: row.part == "product",
)
COMMAND = EXPERIMENT.command()
