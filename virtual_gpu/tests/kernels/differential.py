"""Run the same kernels on this machine's CUDA device and on the virtual GPU, and compare.

``python -m virtual_gpu.tests.kernels.differential --record FILE.csv`` writes a row for every result: group,
case, dtype, elements, how many differ, the largest difference in units in the last place, and a
note; where the difference is known, its reason. It exits with 1 where a result differs in silence
by more than its tolerance and without a reason, or where the virtual GPU breaks down. Without a
device: ``--list`` names the kernels, ``--virtual-only`` compiles
each for a device and runs it on the virtual GPU, ``--host`` compares with Numba on the processor.
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
class Row:
    """One result of one kernel. ``verdict``: equal, within (its tolerance), different, refused by
    both, refused here, runs here only, finding, crash, or device failed."""

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
        """Why a result differs, where that is known."""
        name = f"{self.group} {self.case}"
        known = (why for pattern, why in KNOWN if re.fullmatch(pattern, name))
        return next(known, "") if self.verdict == "different" else ""

    @property
    def bad(self) -> bool:
        """Whether the virtual GPU is wrong here, as far as is known."""
        return self.verdict in BAD and not self.reason


@dataclass(frozen=True)
class Outcome:
    """What one side made of a kernel: its arrays, or why there are none."""

    arrays: tuple[np.ndarray, ...] | None
    problem: str = ""
    crashed: bool = False
    found: str = ""  # the first finding of the virtual GPU


def function_of(text: str) -> Callable:
    """The function that this text defines; the text stays in a file, where it is looked up."""
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
    """One folder for all texts of this process and its children."""
    folder = os.environ.get("DIFFERENTIAL_TEXTS")
    return folder or tempfile.gettempdir()


def arrays_of(kernel) -> tuple[np.ndarray, ...]:
    """Operands, then results that hold zeros."""
    return (*kernel.operands(), *(np.zeros(r.size, r.dtype) for r in kernel.results))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("Failed in")]
    return " ".join(f"{type(error).__name__}: {' '.join(told)}"[:300].split())


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
    """Whether Numba compiles it for a device."""
    from numba import cuda, typeof

    types = tuple(map(typeof, arrays_of(kernel)))
    try:
        cuda.compile_ptx(function_of(kernel.source()), types, cc=(9, 0))
    except Exception as error:  # whatever Numba's compiler raises
        return Outcome(None, _first_line(error))
    return Outcome(())


def on_host(kernel) -> Outcome:
    """A loop that Numba compiles for the processor, where that says the same."""
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
        seen = trace(cuda.jit(function_of(kernel.source())), GRID, BLOCK, *arrays)
    except VirtualGpuError as error:
        return Outcome(None, _first_line(error))
    except Exception as error:  # a defect of the virtual GPU, whatever it is
        return Outcome(None, _first_line(error), crashed=True)
    findings = [str(f) for f in seen.findings if not f.is_warning]
    return Outcome(arrays, found=findings[0] if findings else "")


def ulps(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Differences in units in the last place; NaN equals NaN, and -0 is one unit below 0.

    The parts of a complex number are measured in units of its larger part.
    """
    if theirs.dtype.kind == "c":
        return _complex_ulps(theirs, ours)
    if theirs.dtype.kind != "f":
        return np.where(theirs == ours, 0.0, np.inf)
    first, second = (_ordered(each) for each in (theirs, ours))
    high, low = np.maximum(first, second), np.minimum(first, second)
    apart = (high.astype(np.uint64) - low.astype(np.uint64)).astype(float)
    no_number = np.isnan(theirs), np.isnan(ours)
    apart[no_number[0] != no_number[1]] = np.inf
    apart[no_number[0] & no_number[1]] = 0
    return apart


def _ordered(numbers: np.ndarray) -> np.ndarray:
    """Integers that lie as the numbers do."""
    bits = np.ascontiguousarray(numbers).view(f"i{numbers.dtype.itemsize}").astype(np.int64)
    lowest = np.int64(-(2 ** (8 * numbers.dtype.itemsize - 1)))
    return np.where(bits < 0, lowest - bits - 1, bits)


def _complex_ulps(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    parts = [ulps(getattr(theirs, p).copy(), getattr(ours, p).copy()) for p in ("real", "imag")]
    size = np.maximum(abs(theirs.real), abs(theirs.imag))
    apart = []
    for name, own in zip(("real", "imag"), parts, strict=True):
        with np.errstate(all="ignore"):
            scaled = abs(getattr(theirs, name) - getattr(ours, name)) / np.spacing(size)
        apart.append(np.where(np.isfinite(scaled), np.minimum(scaled, own), own))
    return np.maximum(*apart)


def compared(theirs: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """How far apart the elements are."""
    if theirs.dtype.names is None:
        return ulps(theirs, ours)
    parts = [compared(theirs[n].copy(), ours[n].copy()) for n in theirs.dtype.names]
    return np.max([p.reshape(len(theirs), -1).max(axis=1) for p in parts], axis=0)


def rows_of(kernel, reference: Callable) -> Iterator[Row]:
    """Run it on both sides; where one takes it not, each of its results on its own."""
    theirs, ours = reference(kernel), on_virtual_gpu(kernel)
    if len(kernel.results) > 1 and (theirs.problem or ours.problem or ours.found):
        for one in kernel.alone():
            yield from rows_of(one, reference)
        return
    if theirs.arrays is None or ours.arrays is None or ours.found:
        yield from (_untold(kernel, result, theirs, ours) for result in kernel.results)
        return
    inputs = kernel.operands()
    for n, result in enumerate(kernel.results):
        at = len(inputs) + n
        if theirs.arrays:
            example = partial(_example, inputs, theirs.arrays[at], ours.arrays[at])
            apart = compared(theirs.arrays[at], ours.arrays[at])
            yield _row(kernel, result.label, result.dtype, apart, result.tolerance, example)
        else:
            note = theirs.problem and f"no reference: {theirs.problem}"
            yield _plain(kernel, result, note, "runs")
    for n, before in enumerate(inputs if theirs.arrays else ()):
        after = ours.arrays[n]
        apart = compared(theirs.arrays[n], after)
        if apart.any() or after.tobytes() != before.tobytes():
            example = partial(_example, inputs, theirs.arrays[n], after)
            yield _row(kernel, f"operand {n} afterwards", before.dtype, apart, 0, example)


def _plain(kernel, result, note: str, verdict: str) -> Row:
    case = f"{kernel.name}: {result.label}"
    return Row(kernel.group, case, str(result.dtype), 0, 0, 0, note, verdict)


def _untold(kernel, result, theirs: Outcome, ours: Outcome) -> Row:
    """A result that one side or both do not have."""
    if ours.crashed and theirs.arrays is not None:
        return _plain(kernel, result, ours.problem, "crash")
    if ours.found:
        return _plain(kernel, result, ours.found, "finding")
    if theirs.problem.startswith("CudaAPIError"):  # all later launches of this process fail, too
        return _plain(kernel, result, theirs.problem, "device failed")
    if theirs.arrays is None and ours.arrays is None:
        return _plain(kernel, result, f"refused by both: {theirs.problem}", "refused by both")
    if theirs.arrays is None:
        return _plain(kernel, result, f"Numba refuses it: {theirs.problem}", "runs here only")
    return _plain(kernel, result, ours.problem, "refused here")


def _row(kernel, label: str, dtype, apart: np.ndarray, allowed: float, example: Callable) -> Row:
    worst, differing = float(apart.max()), int(np.count_nonzero(apart))
    verdict = "equal" if not differing else "within" if worst <= allowed else "different"
    note = example(int(apart.argmax())) if differing else ""
    if verdict == "different":
        beyond = np.count_nonzero(apart > allowed)
        note = f"{beyond} beyond {allowed:g} ulp; {note}"
    case = f"{kernel.name}: {label}"
    return Row(kernel.group, case, str(dtype), len(apart), differing, worst, note, verdict)


def _example(inputs, theirs: np.ndarray, ours: np.ndarray, at: int) -> str:
    given = ", ".join(str(a[at]) for a in inputs if at < len(a))
    return f"of ({given}) there {theirs[at]}, here {ours[at]}"


def _silently(reference: Callable, numbers: Iterable[int]) -> list[Row]:
    """The rows of the kernels with these numbers; a process of its own runs it."""
    from .differential_cases import kernels

    warnings.simplefilter("ignore")
    made = kernels()
    with np.errstate(all="ignore"):
        return [row for number in numbers for row in rows_of(made[number], reference)]


def run(reference: Callable, numbers: list[int], jobs: int) -> list[Row]:
    """All rows, in the order of the kernels."""
    shares = [numbers[n::jobs] for n in range(min(jobs, len(numbers)))]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DIFFERENTIAL_TEXTS"] = folder
        if len(shares) < 2:
            return _silently(reference, numbers)
        # A process that has a CUDA context cannot be forked.
        with ProcessPoolExecutor(len(shares), multiprocessing.get_context("spawn")) as pool:
            parts = list(pool.map(partial(_silently, reference), shares))
    return sorted((row for part in parts for row in part), key=lambda row: (row.group, row.case))


def write(rows: list[Row], file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            fields = asdict(row)
            shown = {"worst_ulp": f"{row.worst_ulp:g}", "reason": row.reason}
            writer.writerow({**fields, **shown})


def summary(rows: list[Row]) -> str:
    """Groups by verdicts, then what is wrong."""
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

    named = [f"{kernel.group}/{kernel.name}" for kernel in kernels()]
    numbers = [n for n, name in enumerate(named) if chosen.only in name]
    if chosen.list:
        print(*(named[n] for n in numbers), sep="\n")
        return
    reference = on_host if chosen.host else compiled_only if chosen.virtual_only else on_device
    rows = run(reference, numbers, chosen.jobs)
    if chosen.record:
        write(rows, chosen.record)
    print(summary(rows))
    sys.exit(any(row.bad for row in rows))


if __name__ == "__main__":
    main()
