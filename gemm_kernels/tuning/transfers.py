"""What it costs to get the data to the GPU and back: copies, managed memory, and a whole product.

`python -m gemm_kernels transfers` measures and records it. All times are the host's, from the
call to the end of the work, unless they are called a kernel's.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import chain

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gemm_kernels.tuning.transfer_experiments import (
    Experiment,
    copies,
    on_cpu,
    parts,
    products,
    ten_products,
)
from utils.ladder.problems import draw
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.machine.versions import versions
from utils.measuring import records
from utils.measuring.command_line import Command, device_for
from utils.measuring.records import Record
from utils.measuring.timing import time_cpu

LADDER = "transfers"
BYTES = tuple(2**exponent for exponent in range(16, 29, 2))  # 64 KiB ... 256 MiB
PRODUCTS = (64, 128, 256, 512, 1024, 2048)
# Of the source that multiplies ten times on a CPU and on a GPU.
SOURCE = GemmShape(2000, 600, 2000)
RUNGS = ("naive", "naive_parallel", "parallel")  # of the CPU's ladder
REPETITIONS = 9


def timed(experiment: Experiment) -> dict[str, float]:
    """The columns of a record that hold times: median, minimum and maximum, in milliseconds."""
    times = []
    # The first compiles, and makes the pages that later ones find.
    for _ in range(1 + REPETITIONS):
        experiment.prepare()
        cuda.synchronize()
        start = time.perf_counter()
        own = experiment.execute()
        cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start) if own is None else own)
    return _times(statistics.median(times[1:]), min(times[1:]), max(times[1:]))


def _times(median: float, least: float, most: float) -> dict[str, float]:
    return {"time_ms": median, "time_ms_min": least, "time_ms_max": most}


def copy_record(device: str, elements: int, experiment: Experiment) -> Record:
    """Time one way to move so many float32."""
    times = timed(experiment)
    rate = elements * FLOAT32_BYTES / times["time_ms"] / 1e6
    return _record(device, experiment, elements=elements, gb_per_s=rate, **times)


def product_record(device: str, shape: GemmShape, experiment: Experiment) -> Record:
    """Time one way to compute a product of this shape, or several together, or a part of one."""
    times = timed(experiment)
    rate = experiment.products * shape.flops / times["time_ms"] / 1e6
    return _record(device, experiment, **asdict(shape), gflops=rate or None, **times)


def host_record(device: str, shape: GemmShape) -> Record:
    """Time NumPy's BLAS on one thread of the host; `device` is the GPU that it is compared with."""
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    c = np.empty((shape.m, shape.n), np.float32)
    product = Experiment("product_numpy", "THREADS=1", partial(np.matmul, a, b, out=c))
    (timing,) = time_cpu([product.execute])
    times = _times(timing.median_ms, timing.min_ms, timing.max_ms)
    rate = shape.flops / timing.median_ms / 1e6
    return _record(device, product, **asdict(shape), gflops=rate, **times)


def _record(device: str, experiment: Experiment, **facts) -> Record:
    what = {"ladder": LADDER, "step": experiment.step, "params": experiment.params}
    today = datetime.date.today().isoformat()
    empty = dict.fromkeys(records.COLUMNS)
    return Record(**empty | asdict(versions()) | what | {"device": device, "date": today} | facts)


def measure(device: str) -> Iterator[Record]:
    """Everything that this module measures, for the GPU of that name."""
    for size in BYTES:
        elements = size // FLOAT32_BYTES
        for experiment in copies(elements):
            yield copy_record(device, elements, experiment)
    for n in PRODUCTS:
        shape = GemmShape(n, n, n)
        for experiment in chain(products(shape), on_cpu(shape, ["parallel"])):
            yield product_record(device, shape, experiment)
        yield host_record(device, shape)
    of_source = (products(SOURCE), parts(SOURCE), ten_products(SOURCE), on_cpu(SOURCE, RUNGS))
    for experiment in chain(*of_source):
        yield product_record(device, SOURCE, experiment)
    yield host_record(device, SOURCE)


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(options: argparse.Namespace) -> int:
    device = device_for("transfers")
    rows = list(track(measure(device.name), "Transfers", console=Console(stderr=True)))
    Console().print(_table(rows))
    if options.record:
        path = records.file_of(device.name, LADDER)
        records.write(rows, path, list(dict.fromkeys(row.step for row in rows)))
        print(f"Recorded in {path.relative_to(records.DATA.parent)}.", file=sys.stderr)
    return 0


COMMAND = Command(
    "transfers", "measure what the way to the GPU and back costs, and unified memory",
    _configure, _run,
)  # fmt: skip


def _table(rows: list[Record]) -> Table:
    table = Table("step", "", "size", "ms", "rate", title="Transfers")
    for row in rows:
        shape = f"{row.m}×{row.n}×{row.k}"
        size = f"{row.elements * FLOAT32_BYTES // 1024} KiB" if row.elements else shape
        table.add_row(row.step, row.params, size, f"{row.time_ms:.4g}", _rate(row))
    return table


def _rate(row: Record) -> str:
    if row.gb_per_s:
        return f"{row.gb_per_s:.1f} GB/s"
    return f"{row.gflops:.0f} GFLOP/s" if row.gflops else ""
