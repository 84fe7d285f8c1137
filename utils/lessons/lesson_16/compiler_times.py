"""The recorded times of the GPU steps, and of `sgemm` and `reduce` as called, by two compilers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from utils.compilers.choice import NUMBA_CUDA, NUMBA_CUDA_MLIR
from utils.measuring import rows
from utils.measuring.rows import Date
from utils.paths import DATA

MEASURED = DATA / "measured"
NOT_RECORDED = "They have not been recorded yet."
TIMES, CALLS = "compiler_times.csv", "compiler_calls.csv"


@dataclass(frozen=True)
class CompilerTime:
    """A row of `compiler_times.csv`: the time of a step as one compiler makes it.

    step: its name and constants. size: of the problem. compiler, version: of the kernel. toolkit:
    the version of the CUDA toolkit. time_ms, time_ms_min, time_ms_max: median, minimum and maximum
    of the repetitions. sm_clock_mhz: the SM clock meanwhile; None if it cannot be read. date: the
    day of the measurement.
    """

    device: str
    ladder: str
    step: str
    size: str
    compiler: str
    version: str
    toolkit: str
    time_ms: float
    time_ms_min: float
    time_ms_max: float
    sm_clock_mhz: float | None
    date: Date

    def __str__(self) -> str:
        return f"{self.step} at {self.size}, {self.compiler}: {self.time_ms:.4g} ms"


@dataclass(frozen=True)
class CompilerCall:
    """A row of `compiler_calls.csv`: the time of a call with the kernels of one compiler.

    function: "sgemm", "reduce" or "reduce into out". m, n, k, elements: the sizes; those that do
    not apply are None. layout: of the inputs. compiler, version: of the kernels. toolkit: the
    version of the CUDA toolkit. host_us, time_us: microseconds per call until it returns, and until
    the work is done. date: the day of the measurement.
    """

    device: str
    function: str
    m: int | None
    n: int | None
    k: int | None
    elements: int | None
    layout: str
    compiler: str
    version: str
    toolkit: str
    host_us: float
    time_us: float
    date: Date

    @property
    def size(self) -> str:
        """The sizes m, n and k as text, such as "512×512×512", or the elements as in "1,024"."""
        return f"{self.m}×{self.n}×{self.k}" if self.elements is None else f"{self.elements:,}"

    def __str__(self) -> str:
        times = f"{self.time_us:.4g} us, of which {self.host_us:.4g} us until it returns"
        return f"{self.function} of {self.size} ({self.layout}), {self.compiler}: {times}"


@dataclass(frozen=True)
class Pair:
    """The same step or call with both compilers: `first` is that of numba-cuda."""

    first: CompilerTime | CompilerCall
    second: CompilerTime | CompilerCall

    @property
    def ratio(self) -> float:
        """The time with numba-cuda-mlir divided by that with numba-cuda."""
        return _time(self.second) / _time(self.first)


def times() -> list[Pair]:
    """Return a Pair of rows per device, step and size recorded with both compilers.

    They are in the order of the records, device by device. The list is empty without a record.
    """
    return _pairs(TIMES, CompilerTime, lambda row: (row.device, row.step, row.size))


def calls() -> list[Pair]:
    """Return a Pair of rows per device, function, size and layout recorded with both compilers.

    They are in the order of the records, device by device. The list is empty without a record.
    """
    return _pairs(CALLS, CompilerCall, lambda row: (row.device, row.function, row.size, row.layout))


def _pairs(file: str, kind: type, key) -> list[Pair]:
    """Return a Pair per key that has rows of both compilers, from this file of all devices.

    Of several rows with one key and compiler, the last one counts. kind: the class of a row. key: a
    function from a row to what both rows of a pair have in common.
    """
    found: dict[tuple, dict] = {}
    for path in sorted(MEASURED.glob(f"*/{file}")):
        for row in rows.read(path, kind):
            found.setdefault(key(row), {})[row.compiler] = row
    names = NUMBA_CUDA.name, NUMBA_CUDA_MLIR.name
    return [Pair(*(both[name] for name in names)) for both in found.values() if len(both) == 2]


def _time(row: CompilerTime | CompilerCall) -> float:
    """Return the time of a step in ms, or that of a call in µs."""
    return row.time_ms if isinstance(row, CompilerTime) else row.time_us


def times_table() -> str:
    """Return a Markdown table of the recorded steps, and below it a sentence on the ratios.

    A row has the ms of a step with numba-cuda and with numba-cuda-mlir, and the second divided by
    the first. Without a record, return a sentence that says so.
    """
    if not times():
        return NOT_RECORDED
    lines = [
        "| step | size | numba-cuda, ms | numba-cuda-mlir, ms | ratio |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for pair in times():
        row = pair.first
        both = f"{row.time_ms:.4g} | {pair.second.time_ms:.4g}"
        lines.append(f"| `{row.step}` | {row.size} | {both} | {pair.ratio:.3f} |")
    return "\n".join([*lines, "", _summary(times())])


def calls_table() -> str:
    """Return a Markdown table of the recorded calls, and below it a sentence on the ratios.

    A row has the microseconds of a call with numba-cuda and with numba-cuda-mlir, their ratio, and
    the microseconds until the call returns with each of them. The time until a call returns is
    Python's part, but for `reduce`, which waits for its result. Without a record, return a sentence
    that says so.
    """
    if not calls():
        return NOT_RECORDED
    lines = [
        "| call | size | layout | numba-cuda, µs | numba-cuda-mlir, µs | ratio "
        "| until it returns, µs | until it returns with numba-cuda-mlir, µs |",
        f"| --- | --- | --- |{' ---: |' * 5}",
    ]
    for pair in calls():
        row, other = pair.first, pair.second
        cells = (row.function, row.size, row.layout, _us(row.time_us), _us(other.time_us),
                 f"{pair.ratio:.3f}", _us(row.host_us), _us(other.host_us))  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _summary(calls())])


def _us(value: float) -> str:
    """Return microseconds as text without the unit.

    From 1000 on it is a whole number with thousands separated; below 1000 it has four significant
    digits.
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _summary(pairs: Sequence[Pair]) -> str:
    """Return two sentences on pairs, of which there must be some.

    They name the device, the toolkit and the day of the first one, and the geometric mean of the
    ratios.
    """
    row = pairs[0].first
    mean = statistics.geometric_mean(pair.ratio for pair in pairs)
    return (
        f"On an {row.device}, with CUDA {row.toolkit}, {row.date}. The geometric mean of the "
        f"{len(pairs)} ratios is {mean:.3f}."
    )
