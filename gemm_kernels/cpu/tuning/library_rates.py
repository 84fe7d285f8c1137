"""The rates of libraries on one thread of this machine, and the published rates."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
from rich import box
from rich.table import Table

from utils.ladder.libraries import NUMPY_BLAS, ONEDNN
from utils.ladder.problems import draw, poisoned
from utils.ladder.shapes import GemmShape, parse_gemm
from utils.machine import devices, processors
from utils.machine.versions import versions
from utils.measuring import records
from utils.measuring.records import Record
from utils.measuring.timing import Timing, time_cpu

LIBRARIES = "cpu_libraries"  # the name of their records
# oneDNN reads this environment variable once, before its first call.
LIMIT, AVX2 = "ONEDNN_MAX_CPU_ISA", "AVX2"


def table(shapes: Sequence[GemmShape]) -> Table:
    """Time NumPy and, if it is installed, oneDNN, and return a table of their GFLOP/s.

    The published rates of the same shapes are in further rows. The columns are the shape, whose
    rate it is, the GFLOP/s, and where they were measured.
    """
    title = f"{processors.current().sentence} NumPy has {processors.blas()}."
    rates = Table(title=title, title_justify="left", box=box.SIMPLE)
    for header in ("shape", "who", "GFLOP/s", "where"):
        rates.add_column(header, justify="right" if header == "GFLOP/s" else "left")
    for shape in shapes:
        for who, gflops, where in (*_libraries(shape), *_published(shape)):
            rates.add_row(str(shape), who, f"{gflops:.1f}", where)
    return rates


def record(sizes: Sequence[str]) -> None:
    """Record NumPy's BLAS and, if it is installed, oneDNN.

    On a processor with wider vectors, oneDNN is recorded once more, limited to AVX2.
    `sizes` are as on the command line. All run on one thread; the file is
    `data/measured/<cpu>/cpu_libraries.csv`.
    """
    write([parse_gemm(size) for size in sizes])
    one = np.ones((1, 1), np.float32)
    if ONEDNN.bind((one, one), one) and processors.lanes() > 8:
        command = [sys.executable, "-m", "gemm_kernels.cpu.tuning.library_rates", *sizes]
        subprocess.check_call(command, env=os.environ | {LIMIT: AVX2})


def write(shapes: Sequence[GemmShape]) -> None:
    """Time the libraries in interleaved repetitions, and record each shape as soon as it is timed.

    If this process limits oneDNN to AVX2, only oneDNN is recorded. The path of the record is
    printed on stderr.
    """
    path = records.file_of(devices.cpu_name(), LIBRARIES)
    for shape in shapes:
        timed = dict(_timed(shape))
        numpy = timed[NUMPY_BLAS.name]
        recorded = [name for name in timed if name != NUMPY_BLAS.name or not _is_limited()]
        records.write([_row(shape, name, timed[name], numpy) for name in recorded], path)
    print(f"Recorded in {path.relative_to(records.DATA.parent)}.", file=sys.stderr)


def _row(shape: GemmShape, name: str, timing: Timing, numpy: Timing) -> Record:
    """Return the record of a library's time at one shape.

    `name` is the library's. `timing` is its time, and `numpy` is NumPy's time in the same run,
    which the record has as `library_ms`.
    """
    facts = {
        "device": devices.cpu_name(),
        "date": datetime.date.today().isoformat(),
        "ladder": LIBRARIES,
        "step": name,
        "time_ms": timing.median_ms,
        "time_ms_min": timing.min_ms,
        "time_ms_max": timing.max_ms,
        "gflops": shape.flops / timing.median_ms / 1e6,
        "library": NUMPY_BLAS.name,
        "library_ms": numpy.median_ms,
    }
    empty = dict.fromkeys(records.COLUMNS)
    return Record(**empty | asdict(versions()) | asdict(shape) | facts)


def _is_limited() -> bool:
    """Return True if oneDNN is limited to AVX2 by its environment variable, whose name is LIMIT."""
    return os.environ.get(LIMIT) == AVX2


def _timed(shape: GemmShape) -> Iterator[tuple[str, Timing]]:
    """Time the installed libraries on one thread, interleaved; return (name, Timing) pairs.

    NumPy's is the first. The result is an iterator.
    """
    inputs = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    out = poisoned((shape.m, shape.n))
    limited = f"{ONEDNN.name} ({AVX2})" if _is_limited() else ONEDNN.name
    names = {NUMPY_BLAS.name: NUMPY_BLAS, limited: ONEDNN}
    bound = {name: library.bind(inputs, out) for name, library in names.items()}
    present = {name: execution for name, execution in bound.items() if execution}
    return zip(present, time_cpu(list(present.values())), strict=True)


def _libraries(shape: GemmShape) -> Iterator[tuple[str, float, str]]:
    """Time the installed libraries and yield (name, GFLOP/s, where it was measured) of each.

    The last item is a text such as "here, Xeon Platinum 8260Y, one thread".
    """
    for name, timing in _timed(shape):
        where = f"here, {processors.current().name}, one thread"
        yield name, shape.flops / timing.median_ms / 1e6, where


def _published(shape: GemmShape) -> Iterator[tuple[str, float, str]]:
    """Yield (kernel, GFLOP/s, where it was measured) of each published rate at this shape.

    The last item is a text with the processor, its clock and the threads, such as "published, Xeon
    Platinum 8260Y, 2.5 GHz, one thread".
    """
    frame = records.published("gemm_cpu")
    same = (frame["m"] == shape.m) & (frame["n"] == shape.n) & (frame["k"] == shape.k)
    for row in frame[same].astype(object).where(frame.notna(), None).itertuples():
        gflops = row.gflops or shape.flops / row.time_s / 1e9
        threads = "one thread" if row.threads == 1 else f"{row.threads} threads"
        yield row.kernel, gflops, f"published, {row.cpu}, {row.clock_ghz} GHz, {threads}"


if __name__ == "__main__":
    write([parse_gemm(size) for size in sys.argv[1:]])
