"""The sub-command `transfers`: measure the cost of moving data to the GPU and back.

All times are the host's, from the call until the work is done, unless they are called a kernel's.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track
from rich.table import Table

from utils.ladder.problems import draw
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.machine.versions import versions
from utils.measuring import records
from utils.measuring.command_line import Command, device_for
from utils.measuring.records import Record
from utils.measuring.timing import time_cpu
from utils.measuring.transfer_experiments import Experiment

LADDER = "transfers"
REPETITIONS = 9


def timed(experiment: Experiment) -> dict[str, float]:
    """Time an experiment and return the time columns of a record.

    They are time_ms, time_ms_min and time_ms_max: median, minimum and maximum of the ms per
    repetition, which executes the experiment once. The ms are those that `execute` returns, or
    else the host's until the GPU is done. The first repetition is not counted.
    """
    times = []
    # The first repetition is not counted: it compiles the kernel and allocates the pages.
    for _ in range(1 + REPETITIONS):
        experiment.prepare()
        cuda.synchronize()
        start = time.perf_counter()
        own = experiment.execute()
        cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start) if own is None else own)
    return _times(statistics.median(times[1:]), min(times[1:]), max(times[1:]))


def _times(median: float, least: float, most: float) -> dict[str, float]:
    """Return the columns time_ms, time_ms_min and time_ms_max of a record."""
    return {"time_ms": median, "time_ms_min": least, "time_ms_max": most}


def copy_record(device: str, elements: int, experiment: Experiment) -> Record:
    """Time one way to move `elements` float32, and return its record with its GB/s.

    device: the GPU's name.
    """
    times = timed(experiment)
    rate = elements * FLOAT32_BYTES / times["time_ms"] / 1e6
    return _record(device, experiment, elements=elements, gb_per_s=rate, **times)


def product_record(device: str, shape: GemmShape, experiment: Experiment) -> Record:
    """Time an experiment on a product of this shape, and return its record with its GFLOP/s.

    device: the GPU's name. If the experiment computes only a part of a product, it has no GFLOP/s.
    """
    times = timed(experiment)
    rate = experiment.products * shape.flops / times["time_ms"] / 1e6
    return _record(device, experiment, **asdict(shape), gflops=rate or None, **times)


def host_record(device: str, shape: GemmShape) -> Record:
    """Time NumPy's product on one host thread and return its record.

    `device` is the GPU that NumPy is compared with and under which the record is filed.
    """
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    c = np.empty((shape.m, shape.n), np.float32)
    product = Experiment("product_numpy", "THREADS=1", partial(np.matmul, a, b, out=c))
    (timing,) = time_cpu([product.execute])
    times = _times(timing.median_ms, timing.min_ms, timing.max_ms)
    rate = shape.flops / timing.median_ms / 1e6
    return _record(device, product, **asdict(shape), gflops=rate, **times)


def _record(device: str, experiment: Experiment, **facts) -> Record:
    """Return the record of an experiment, dated today, with the columns in `facts`.

    It also has the device and the software versions. All other columns are None.
    """
    identity = {"ladder": LADDER, "step": experiment.step, "params": experiment.params}
    today = datetime.date.today().isoformat()
    empty = dict.fromkeys(records.COLUMNS)
    dated = {"device": device, "date": today}
    return Record(**empty | asdict(versions()) | identity | dated | facts)


@dataclass(frozen=True)
class SizeExperiments:
    """The experiments at one size: the elements of a copy, or the shape of a product.

    If `on_host` is true, NumPy on one host thread is timed as well.
    """

    size: int | GemmShape
    experiments: Iterable[Experiment]
    on_host: bool = False


def measure(device: str, sizes: Iterable[SizeExperiments]) -> Iterator[Record]:
    """Time all experiments of all sizes and yield their records, filed under the GPU `device`.

    They come size by size, in the order of the experiments. NumPy's record is the last of its size.
    """
    for each in sizes:
        record = product_record if isinstance(each.size, GemmShape) else copy_record
        for experiment in each.experiments:
            yield record(device, each.size, experiment)
        if each.on_host:
            yield host_record(device, each.size)


def transfers_command(sizes: Callable[[], Iterable[SizeExperiments]]) -> Command:
    """Return the sub-command `transfers`; `sizes()` returns the experiments to time."""
    return Command(
        "transfers",
        "measure what the way to the GPU and back costs, and unified memory",
        _configure,
        partial(_run, sizes),
    )


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(sizes: Callable[[], Iterable[SizeExperiments]], options: argparse.Namespace) -> int:
    """Time all experiments on the current GPU, print a table, record it with --record; return 0.

    `sizes()` returns the experiments. Raises CourseError without a GPU.
    """
    device = device_for("transfers")
    rows = list(track(measure(device.name, sizes()), "Transfers", console=Console(stderr=True)))
    Console().print(_table(rows))
    if options.record:
        path = records.file_of(device.name, LADDER)
        records.write(rows, path, list(dict.fromkeys(row.step for row in rows)))
        print(f"Recorded in {path.relative_to(records.DATA.parent)}.", file=sys.stderr)
    return 0


def _table(rows: list[Record]) -> Table:
    """Return the printed table, one line per record: step, constants, size, time in ms and rate."""
    table = Table("step", "", "size", "ms", "rate", title="Transfers")
    for row in rows:
        shape = f"{row.m}×{row.n}×{row.k}"
        size = f"{row.elements * FLOAT32_BYTES // 1024} KiB" if row.elements else shape
        table.add_row(row.step, row.params, size, f"{row.time_ms:.4g}", _rate(row))
    return table


def _rate(row: Record) -> str:
    """Return the speed of a record as text; "" if it has none.

    The text is such as "12.3 GB/s" or "4567 GFLOP/s".
    """
    if row.gb_per_s:
        return f"{row.gb_per_s:.1f} GB/s"
    return f"{row.gflops:.0f} GFLOP/s" if row.gflops else ""
