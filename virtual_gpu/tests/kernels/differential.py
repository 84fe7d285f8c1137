"""Run the same kernels on this machine's CUDA device and on the virtual GPU, and compare.

``python -m virtual_gpu.tests.kernels.differential --record FILE.csv`` writes a row for every
result: group, case, dtype, number of elements, number of differing elements, the largest difference
in units in the last place, a note, and the reason of a known difference. It exits with 1 if a
result differs silently by more than its tolerance and without a reason, or if the virtual GPU
breaks down. Without a device: ``--list`` names the kernels, ``--virtual-only`` compiles each for a
device and runs it on the virtual GPU, ``--host`` compares with Numba on the processor.
"""

from __future__ import annotations

import argparse
import cmath
import collections
import csv
import math
import multiprocessing
import operator
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

FIELDS = (
    *("group", "case", "dtype", "elements", "differing", "worst_ulp", "note", "verdict", "reason"),
)
# Differences that stay: a pattern of group and case, and why.
KNOWN = (
    (r"operators .*complex.*: \*\*", "the last places of a complex power, which grow with it"),
    (r"(operators .*complex.*: /|numpy complex.*|cmath complex.*)",
     "complex numbers at infinities and NaN, and near them"),
    (r".*(gamma|normcdf).*", "CUDA's gamma function near its zeros and poles, and far tails"),
    (r"libdevice .*: (sin|cos)pi", "the last places far from zero"),
    (r"atomics add_float32.*", "an atomic addition of float32 makes zero of subnormal numbers"),
    (r"math .*: math.copysign.*", "the sign of NaN"),
    (r"unary int16: -a", "the compiler negates the lowest int16 in 32 bits"),
)  # fmt: skip
BAD = ("different", "finding", "crash", "device failed")  # verdicts with which this script fails
Pair = collections.namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Comparison:
    """One result of one kernel.

    ``verdict`` is equal, within (its tolerance), different, refused by both, refused here, runs
    here only, finding, crash, or device failed.
    """

    group: str
    case: str
    dtype: str
    elements: int
    differing: int
    worst_ulp: float
    note: str
    verdict: str

    @property
    def reason(self) -> str:
        """The reason of a difference, if it is known, else ""."""
        name = f"{self.group} {self.case}"
        known = (why for pattern, why in KNOWN if re.fullmatch(pattern, name))
        return next(known, "") if self.verdict == "different" else ""

    @property
    def bad(self) -> bool:
        """True if the virtual GPU is wrong here, as far as is known."""
        return self.verdict in BAD and not self.reason


@dataclass(frozen=True)
class Outcome:
    """The outcome of a kernel on one machine: its arrays, or the reason why there are none."""

    arrays: tuple[np.ndarray, ...] | None
    problem: str = ""
    crashed: bool = False
    finding: str = ""  # the first finding of the virtual GPU


def function_of(text: str) -> Callable:
    """Return the function that a text defines; Numba looks the text up in its file."""
    from numba import cuda, types
    from numba.cuda import libdevice, random

    file = Path(tempfile.mkdtemp(dir=_folder())) / "kernel.py"
    file.write_text(text)
    names = {
        "cuda": cuda, "types": types, "libdevice": libdevice, "random": random, "math": math,
        "cmath": cmath, "np": np, "operator": operator, "Pair": Pair,
    }  # fmt: skip
    exec(compile(text, str(file), "exec"), names)
    return names["kernel"]


def _folder() -> str:
    """Return one folder for all texts of this process and its children."""
    folder = os.environ.get("DIFFERENTIAL_TEXTS")
    return folder or tempfile.gettempdir()


def arrays_of(kernel) -> tuple[np.ndarray, ...]:
    """Return the operands of a kernel, then its results, which hold zeros."""
    return (*kernel.operands(), *(np.zeros(r.size, r.dtype) for r in kernel.results))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentences = [line for line in lines if not line.startswith("Failed in")]
    return " ".join(f"{type(error).__name__}: {' '.join(sentences)}"[:300].split())


def on_device(kernel) -> Outcome:
    from numba import cuda

    from .differential_cases import BLOCK, GRID

    arrays = arrays_of(kernel)
    try:
        cuda.jit(function_of(kernel.source()))[GRID, BLOCK](*arrays)
        cuda.synchronize()
    except Exception as error:  # whatever Numba's compiler raises
        return Outcome(None, _first_line(error))
    return Outcome(arrays)


def compiled_only(kernel) -> Outcome:
    """Compile a kernel for a device with Numba, without running it."""
    from numba import cuda, typeof

    types = tuple(map(typeof, arrays_of(kernel)))
    try:
        cuda.compile_ptx(function_of(kernel.source()), types, cc=(9, 0))
    except Exception as error:  # whatever Numba's compiler raises
        return Outcome(None, _first_line(error))
    return Outcome(())


def on_host(kernel) -> Outcome:
    """Run an elementwise kernel as a loop that Numba compiles for the processor."""
    import numba

    if not kernel.elementwise:
        return Outcome((), "not for a processor")
    arrays = arrays_of(kernel)
    text = kernel.source("for i in range(i0.size):", indent="        ")
    try:
        numba.njit(function_of(text), error_model="numpy")(*arrays)
    except Exception as error:  # whatever Numba's compiler raises
        return Outcome((), _first_line(error))
    return Outcome(arrays)


def on_virtual_gpu(kernel) -> Outcome:
    from numba import cuda

    from virtual_gpu import VirtualGpuError, trace

    from .differential_cases import BLOCK, GRID

    arrays = arrays_of(kernel)
    try:
        run = trace(cuda.jit(function_of(kernel.source())), GRID, BLOCK, *arrays)
    except VirtualGpuError as error:
        return Outcome(None, _first_line(error))
    except Exception as error:  # a defect of the virtual GPU, whatever it is
        return Outcome(None, _first_line(error), crashed=True)
    findings = [str(f) for f in run.findings if not f.is_warning]
    return Outcome(arrays, finding=findings[0] if findings else "")


def ulps(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """Return differences in units in the last place; NaN equals NaN, and -0 is one unit below 0.

    The parts of a complex number are measured in units of its larger part.
    """
    if expected.dtype.kind == "c":
        return _complex_ulps(expected, actual)
    if expected.dtype.kind != "f":
        return np.where(expected == actual, 0.0, np.inf)
    first, second = (_ordered(each) for each in (expected, actual))
    high, low = np.maximum(first, second), np.minimum(first, second)
    distance = (high.astype(np.uint64) - low.astype(np.uint64)).astype(float)
    no_number = np.isnan(expected), np.isnan(actual)
    distance[no_number[0] != no_number[1]] = np.inf
    distance[no_number[0] & no_number[1]] = 0
    return distance


def _ordered(numbers: np.ndarray) -> np.ndarray:
    """Return integers in the order of the floats."""
    bits = np.ascontiguousarray(numbers).view(f"i{numbers.dtype.itemsize}").astype(np.int64)
    lowest = np.int64(-(2 ** (8 * numbers.dtype.itemsize - 1)))
    return np.where(bits < 0, lowest - bits - 1, bits)


def _complex_ulps(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    parts = [ulps(getattr(expected, p).copy(), getattr(actual, p).copy()) for p in ("real", "imag")]
    size = np.maximum(abs(expected.real), abs(expected.imag))
    distances = []
    for name, own in zip(("real", "imag"), parts, strict=True):
        with np.errstate(all="ignore"):
            scaled = abs(getattr(expected, name) - getattr(actual, name)) / np.spacing(size)
        distances.append(np.where(np.isfinite(scaled), np.minimum(scaled, own), own))
    return np.maximum(*distances)


def compared(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """Return the difference of each element, in units in the last place."""
    if expected.dtype.names is None:
        return ulps(expected, actual)
    parts = [compared(expected[n].copy(), actual[n].copy()) for n in expected.dtype.names]
    return np.max([p.reshape(len(expected), -1).max(axis=1) for p in parts], axis=0)


def rows_of(kernel, reference: Callable) -> Iterator[Comparison]:
    """Run a kernel on both machines; if one refuses it, run each of its results by itself."""
    expected, actual = reference(kernel), on_virtual_gpu(kernel)
    if len(kernel.results) > 1 and (expected.problem or actual.problem or actual.finding):
        for single in kernel.alone():
            yield from rows_of(single, reference)
        return
    if expected.arrays is None or actual.arrays is None or actual.finding:
        yield from (_without_arrays(kernel, result, expected, actual) for result in kernel.results)
        return
    inputs = kernel.operands()
    for n, result in enumerate(kernel.results):
        index = len(inputs) + n
        if expected.arrays:
            example = partial(_example, inputs, expected.arrays[index], actual.arrays[index])
            distance = compared(expected.arrays[index], actual.arrays[index])
            yield _row(kernel, result.label, result.dtype, distance, result.tolerance, example)
        else:
            note = expected.problem and f"no reference: {expected.problem}"
            yield _plain(kernel, result, note, "runs")
    for n, before in enumerate(inputs if expected.arrays else ()):
        after = actual.arrays[n]
        distance = compared(expected.arrays[n], after)
        if distance.any() or after.tobytes() != before.tobytes():
            example = partial(_example, inputs, expected.arrays[n], after)
            yield _row(kernel, f"operand {n} afterwards", before.dtype, distance, 0, example)


def _plain(kernel, result, note: str, verdict: str) -> Comparison:
    case = f"{kernel.name}: {result.label}"
    return Comparison(kernel.group, case, str(result.dtype), 0, 0, 0, note, verdict)


def _without_arrays(kernel, result, expected: Outcome, actual: Outcome) -> Comparison:
    """Return the row of a result that one machine, or both, do not have."""
    if actual.crashed and expected.arrays is not None:
        return _plain(kernel, result, actual.problem, "crash")
    if actual.finding:
        return _plain(kernel, result, actual.finding, "finding")
    if expected.problem.startswith("CudaAPIError"):  # all later launches of this process fail, too
        return _plain(kernel, result, expected.problem, "device failed")
    if expected.arrays is None and actual.arrays is None:
        return _plain(kernel, result, f"refused by both: {expected.problem}", "refused by both")
    if expected.arrays is None:
        return _plain(kernel, result, f"Numba refuses it: {expected.problem}", "runs here only")
    return _plain(kernel, result, actual.problem, "refused here")


def _row(
    kernel, label: str, dtype, distance: np.ndarray, allowed: float, example: Callable
) -> Comparison:
    worst, differing = float(distance.max()), int(np.count_nonzero(distance))
    verdict = "equal" if not differing else "within" if worst <= allowed else "different"
    note = example(int(distance.argmax())) if differing else ""
    if verdict == "different":
        beyond = np.count_nonzero(distance > allowed)
        note = f"{beyond} beyond {allowed:g} ulp; {note}"
    case = f"{kernel.name}: {label}"
    figures = len(distance), differing, worst
    return Comparison(kernel.group, case, str(dtype), *figures, note, verdict)


def _example(inputs, expected: np.ndarray, actual: np.ndarray, index: int) -> str:
    operands = ", ".join(str(a[index]) for a in inputs if index < len(a))
    return f"of ({operands}) there {expected[index]}, here {actual[index]}"


def _silently(reference: Callable, numbers: Iterable[int]) -> list[Comparison]:
    """Return the rows of the kernels with these numbers; called in a process of its own."""
    from .differential_cases import kernels

    warnings.simplefilter("ignore")
    all_kernels = kernels()
    with np.errstate(all="ignore"):
        return [row for number in numbers for row in rows_of(all_kernels[number], reference)]


def run(reference: Callable, numbers: list[int], jobs: int) -> list[Comparison]:
    """Return all rows, in the order of the kernels."""
    shares = [numbers[n::jobs] for n in range(min(jobs, len(numbers)))]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DIFFERENTIAL_TEXTS"] = folder
        if len(shares) < 2:
            return _silently(reference, numbers)
        # A process that has a CUDA context cannot be forked.
        with ProcessPoolExecutor(len(shares), multiprocessing.get_context("spawn")) as pool:
            parts = list(pool.map(partial(_silently, reference), shares))
    return sorted((row for part in parts for row in part), key=lambda row: (row.group, row.case))


def write(rows: list[Comparison], file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            fields = asdict(row)
            shown = {"worst_ulp": f"{row.worst_ulp:g}", "reason": row.reason}
            writer.writerow({**fields, **shown})


def summary(rows: list[Comparison]) -> str:
    """Return the number of results per group and verdict, then the results that are wrong."""
    counts = collections.Counter((row.group, row.verdict) for row in rows)
    lines = [f"{group:12} {verdict:16} {count:6}" for (group, verdict), count in counts.items()]
    shown = [row for row in rows if row.bad or row.verdict == "runs here only"]
    lines += [f"{r.verdict}: {r.group} {r.case} -> {r.dtype}: {r.note}" for r in shown]
    return "\n".join(lines)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, help="write the rows to this CSV file")
    parser.add_argument("--list", action="store_true", help="name the kernels and end")
    parser.add_argument("--virtual-only", action="store_true", help="compile, and run here")
    parser.add_argument("--host", action="store_true", help="compare with Numba on the processor")
    parser.add_argument("--only", default="", help="kernels whose group and name contain this")
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    return parser.parse_args()


def _has_device() -> bool:
    from numba import cuda

    return cuda.is_available()


def main() -> None:
    chosen = options()
    if not (chosen.list or chosen.virtual_only or chosen.host) and not _has_device():
        sys.exit("No CUDA device is found; use --virtual-only or --host, or a machine with a GPU.")
    # It imports the project, which makes a virtual device where there is none.
    from .differential_cases import kernels

    names = [f"{kernel.group}/{kernel.name}" for kernel in kernels()]
    numbers = [n for n, name in enumerate(names) if chosen.only in name]
    if chosen.list:
        print(*(names[n] for n in numbers), sep="\n")
        return
    reference = on_host if chosen.host else compiled_only if chosen.virtual_only else on_device
    rows = run(reference, numbers, chosen.jobs)
    if chosen.record:
        write(rows, chosen.record)
    print(summary(rows))
    sys.exit(any(row.bad for row in rows))


if __name__ == "__main__":
    main()
