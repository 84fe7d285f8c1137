"""What stands beside the ladder: libraries on one thread here, and the table of the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from utils.ladder.libraries import NUMPY_BLAS, ONEDNN
from utils.ladder.problems import draw, poisoned
from utils.ladder.shapes import GemmShape
from utils.machine import processors
from utils.measuring import records
from utils.measuring.timing import time_cpu


def table(shapes: Sequence[GemmShape]) -> Table:
    """GFLOP/s of NumPy and, where it is installed, oneDNN; and what was published for the shape."""
    title = f"{processors.current().sentence} NumPy has {processors.blas()}."
    beside = Table(title=title, title_justify="left", box=box.SIMPLE)
    for header in ("shape", "who", "GFLOP/s", "where"):
        beside.add_column(header, justify="right" if header == "GFLOP/s" else "left")
    for shape in shapes:
        for who, gflops, where in (*_libraries(shape), *_published(shape)):
            beside.add_row(str(shape), who, f"{gflops:.1f}", where)
    return beside


def _libraries(shape: GemmShape) -> Iterator[tuple[str, float, str]]:
    inputs = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    out = poisoned((shape.m, shape.n))
    bound = {library.name: library.bind(inputs, out) for library in (NUMPY_BLAS, ONEDNN)}
    present = {name: execution for name, execution in bound.items() if execution}
    for name, timing in zip(present, time_cpu(list(present.values()))):
        where = f"here, {processors.current().name}, one thread"
        yield name, shape.flops / timing.median_ms / 1e6, where


def _published(shape: GemmShape) -> Iterator[tuple[str, float, str]]:
    frame = records.published("gemm_cpu")
    same = (frame["m"] == shape.m) & (frame["n"] == shape.n) & (frame["k"] == shape.k)
    for row in frame[same].astype(object).where(frame.notna(), None).itertuples():
        gflops = row.gflops or shape.flops / row.time_s / 1e9
        threads = "one thread" if row.threads == 1 else f"{row.threads} threads"
        yield row.kernel, gflops, f"published, {row.cpu}, {row.clock_ghz} GHz, {threads}"
