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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numba import cuda
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gemm_kernels import naive
from gemm_kernels.unified_memory import managed
from utils.errors import CourseError
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
REPETITIONS = 9
PAGE_BYTES = 4096

Prefetch = Callable[[np.ndarray, bool], None]


@dataclass(frozen=True)
class Experiment:
    """Something to time. prepare runs before each repetition and is not timed.

    execute returns None, or milliseconds that it measured itself. It need not wait for the GPU.
    """

    step: str
    params: str
    execute: Callable[[], float | None]
    prepare: Callable[[], object] = lambda: None


@cuda.jit
def touch(x):
    """Read and write every element, so that every page is needed where the kernel runs."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = -x[i]


def prefetch(array: np.ndarray, to_device: bool) -> None:
    """Ask the driver to migrate a managed array; returns at once."""
    from cuda.bindings import driver

    kinds = driver.CUmemLocationType
    place = driver.CUmemLocation()
    place.type = kinds.CU_MEM_LOCATION_TYPE_DEVICE if to_device else kinds.CU_MEM_LOCATION_TYPE_HOST
    place.id = 0
    # CUDA 12 has the call that takes a location under another name.
    call = getattr(driver, "cuMemPrefetchAsync_v2", driver.cuMemPrefetchAsync)
    address = array.__cuda_array_interface__["data"][0]
    (error,) = call(address, array.nbytes, place, 0, 0)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise CourseError(f"The driver cannot prefetch managed memory here ({error.name}).")


def copies(elements: int, prefetch: Prefetch = prefetch) -> Iterator[Experiment]:
    """Every way to move so many float32 between host and device, in both directions."""
    on_device = cuda.to_device(np.ones(elements, np.float32))
    pinned = cuda.pinned_array(elements, np.float32)
    pinned[...] = 1
    for step, host in (("pageable", np.ones(elements, np.float32)), ("pinned", pinned)):
        yield Experiment(step, "DIRECTION=to_device", partial(on_device.copy_to_device, host))
        yield Experiment(step, "DIRECTION=to_host", partial(_copy_to_host, on_device, host))

    pages = managed(np.ones(elements, np.float32))
    on_host = np.asarray(pages)

    def use_on_device():
        touch[1024, 256](pages)

    def use_on_host():
        on_host[:: PAGE_BYTES // FLOAT32_BYTES].sum()

    yield Experiment("managed", "DIRECTION=to_device", use_on_device, use_on_host)
    yield Experiment("managed", "DIRECTION=to_host", use_on_host, use_on_device)
    there, back = partial(prefetch, pages, True), partial(prefetch, pages, False)
    yield Experiment("managed_prefetch", "DIRECTION=to_device", there, use_on_host)
    yield Experiment("managed_prefetch", "DIRECTION=to_host", back, use_on_device)


def products(n: int, prefetch: Prefetch = prefetch) -> Iterator[Experiment]:
    """One product of n×n from arrays on the host to a result on the host, several ways.

    The GPU's are the kernel of `naive`: WHAT=wall is everything, WHAT=kernel the kernel's own time.
    """
    a, b, c = draw("uniform", (n, n), 1), draw("uniform", (n, n), 2), np.empty((n, n), np.float32)
    launch = naive.launch(GemmShape(n, n, n))
    kernel = naive.naive[launch.grid, launch.block]
    on_device = cuda.to_device(a), cuda.to_device(b), cuda.to_device(c)

    def with_copies():
        to = cuda.to_device(a), cuda.to_device(b), cuda.device_array((n, n), np.float32)
        kernel(*to)
        to[2].copy_to_host(c)

    yield Experiment("product_with_copies", "WHAT=wall", with_copies)
    yield Experiment("product_with_copies", "WHAT=kernel", partial(_kernel_ms, kernel, on_device))

    arrays = managed(a), managed(b), managed(c)
    result = np.asarray(arrays[2])

    def bring_back():
        for array in arrays:
            array[...] = 1

    def with_managed():
        kernel(*arrays)
        cuda.synchronize()
        result.sum()

    def send():
        bring_back()
        for array in arrays:
            prefetch(array, True)

    on_arrays = partial(_kernel_ms, kernel, arrays)
    yield Experiment("product_managed", "WHAT=wall", with_managed, bring_back)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=first", on_arrays, bring_back)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=second", on_arrays)
    yield Experiment("product_managed", "WHAT=kernel TOUCH=prefetched", on_arrays, send)


def _copy_to_host(array, host: np.ndarray) -> None:
    array.copy_to_host(host)


def _kernel_ms(kernel: Callable, arrays: tuple) -> float:
    start, end = cuda.event(), cuda.event()
    start.record()
    kernel(*arrays)
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


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


def product_record(device: str, n: int, experiment: Experiment) -> Record:
    """Time one way to compute a product of n×n."""
    times = timed(experiment)
    shape = GemmShape(n, n, n)
    rate = shape.flops / times["time_ms"] / 1e6
    return _record(device, experiment, **asdict(shape), gflops=rate, **times)


def host_record(device: str, n: int) -> Record:
    """Time NumPy's BLAS on one thread of the host; `device` is the GPU that it is compared with."""
    a, b, c = draw("uniform", (n, n), 1), draw("uniform", (n, n), 2), np.empty((n, n), np.float32)
    product = Experiment("product_numpy", "THREADS=1", partial(np.matmul, a, b, out=c))
    (timing,) = time_cpu([product.execute])
    times = _times(timing.median_ms, timing.min_ms, timing.max_ms)
    shape = GemmShape(n, n, n)
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
        for experiment in products(n):
            yield product_record(device, n, experiment)
        yield host_record(device, n)


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--record", action="store_true", help="write the figures to data/measured")


def _run(options: argparse.Namespace) -> int:
    device = device_for("transfers")
    per_size, per_product = 8, 7
    total = per_size * len(BYTES) + per_product * len(PRODUCTS)
    console = Console(stderr=True)
    rows = list(track(measure(device.name), "Transfers", total, console=console))
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
        size = f"{row.elements * FLOAT32_BYTES // 1024} KiB" if row.elements else f"{row.n}×{row.n}"
        rate = f"{row.gb_per_s:.1f} GB/s" if row.gb_per_s else f"{row.gflops:.0f} GFLOP/s"
        table.add_row(row.step, row.params, size, f"{row.time_ms:.4g}", rate)
    return table
