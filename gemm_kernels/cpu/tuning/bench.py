"""Measure whether the CPU ladder meets its requirements: `python -m gemm_kernels.cpu bench`.

A requirement, which the output calls a bar, is a fraction of another rate: of a library, of a loop
of multiply-adds, or of the same step at another size or number of threads.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from gemm_kernels.cpu import micro_kernel_avx2, micro_kernel_avx512, parallel
from gemm_kernels.cpu.tuning.peak import fma_loop, fma_loop_flops, settled_peaks
from utils.ladder.libraries import NUMPY_BLAS, ONEDNN
from utils.ladder.problems import draw, poisoned
from utils.ladder.shapes import GemmShape, parse_gemm
from utils.machine import processors
from utils.measuring.command_line import Command
from utils.measuring.timing import Timing, time_cpu

SIZES = ("256", "512", "1024", "2048", "2000x600x2000")
# 480 is a multiple of the sides of all tiles; the others exceed one by 1 up to almost a tile.
WHOLE, EDGES = "480", ("481", "487", "495", "503", "511", "513", "521", "527")
PARALLEL = ("1024", "2048")
# Short repetitions, because on a busy machine other programs spoil each one that they interrupt.
REPETITIONS, REPETITION_MS, SECONDS = 200, 1.0, 2.0
# The pages of the arrays decide which cache sets they use, which can cost one of two rivals 10 %.
# So each round has its own pages, and the median of the rounds' ratios counts.
ROUNDS = 5
ATTEMPTS = 20
# Variables that would change the rivals: the library's own choice of kernel is the one to beat.
CHOICES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
SETTINGS = (*CHOICES, "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
AVX2, AVX512 = micro_kernel_avx2.STEP, micro_kernel_avx512.STEP


@dataclass(frozen=True)
class Requirement:
    """A rate that a step must reach, as a fraction of another rate.

    text: the sentence that is printed.
    needed: the least fraction.
    value: the measured fraction, or None if it was not measured.
    """

    text: str
    needed: float
    value: float | None

    @property
    def held(self) -> bool | None:
        """True if `value` is at least `needed`, else False; None if it was not measured."""
        return None if self.value is None else self.value >= self.needed


def run(options: argparse.Namespace) -> int:
    """Run `measure` in a fresh process; return its exit code, 1 if a requirement failed, else 0.

    The process has no settings that would slow a library. `options` are ignored.
    """
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    environment["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    # Each thread stays on a core of its own: a scheduler may put both on one core to save energy.
    environment["OMP_PROC_BIND"] = "true"
    return subprocess.call([sys.executable, "-m", __spec__.name], env=environment)


def measure() -> int:
    """Measure the peak and all requirements, print them, and return 1 if one was missed, else 0."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(processors.current().sentence, _surroundings())
    with pinned(2) as cores:
        _start_threads()
        with pinned(1):
            ceilings = settled_peaks(ATTEMPTS)
            for peak in ceilings:
                console.print(str(peak))
            bars = [*_one_thread(console), *_edges(console)]
        if cores == 2:
            bars += _two_threads(console)
        else:
            bars.append(Requirement("parallel: 2 threads against 1", 1.8, None))
    console.print(_table("Bars", [_verdict(bar) for bar in bars]))
    return int(any(bar.held is False for bar in bars))


def _start_threads() -> None:
    """Run a small product with OpenMP, so that its threads start now, on all allowed cores.

    Otherwise oneDNN could load OpenMP later, while only one core is allowed.
    """
    one = np.zeros((1, 1), np.float32)
    parallel.STEP.build()(one, one, one.copy())


@contextlib.contextmanager
def pinned(cores: int) -> Iterator[int]:
    """Keep this process on `cores` of its cores, or on as many as there are; yield their number.

    Afterwards the process may use all its cores again. Where the system has no such call, the
    process may move from core to core, which costs time.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield min(cores, os.cpu_count() or 1)
        return
    allowed = os.sched_getaffinity(0)
    chosen = sorted(allowed)[-cores:]
    os.sched_setaffinity(0, chosen)
    try:
        yield len(chosen)
    finally:
        os.sched_setaffinity(0, allowed)


def _surroundings() -> str:
    """Return a sentence on the versions, the load of the machine, and which repetitions count."""
    load = f"load {os.getloadavg()[0]:.1f}, " if hasattr(os, "getloadavg") else ""
    return (
        f"Numba {numba.__version__}, NumPy {np.__version__} with {processors.blas()}; {load}the "
        f"fastest repetition of each counts, and the median of {ROUNDS} rounds on memory of their "
        "own."
    )


COMMAND = Command(
    "bench",
    "measure the ladder's bars against NumPy and oneDNN, alone on the machine (about a minute)",
    lambda parser: None,
    run,
)

Rivals = Mapping[str, Callable[[], object]]


def _rounds(
    shape: GemmShape, rivals_of: Callable[[tuple, np.ndarray], Rivals]
) -> list[dict[str, Timing]]:
    """Time functions in interleaved repetitions, and return a dict from name to Timing per round.

    There are ROUNDS rounds, in their order. `rivals_of(inputs, out)` returns the functions to time,
    a dict from name to function without arguments.
    Each round has new arrays (a, b) and a new out, with the same numbers.
    """
    rounds, all_arrays = [], []
    for _ in range(ROUNDS):
        a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
        c = poisoned((shape.m, shape.n))
        # The arrays stay alive, because otherwise the next round would get the same pages.
        all_arrays.append((a, b, c))
        rivals = rivals_of((a, b), c)
        repetitions = _repetitions(shape, len(rivals))
        timings = time_cpu(list(rivals.values()), repetitions, REPETITION_MS)
        rounds.append(dict(zip(rivals, timings, strict=True)))
    return rounds


def _present(rivals: Mapping[str, Callable[[], object] | None]) -> Rivals:
    """Return a dict of the entries of `rivals` whose function is not None, in the same order."""
    return {name: execution for name, execution in rivals.items() if execution}


def _ratio(rounds: Sequence[Mapping[str, Timing]], library: str, step: str) -> float | None:
    """Return the library's shortest time over the step's, the median of all rounds.

    Both are names in `rounds`. Returns None if the library was not timed.
    """
    if library not in rounds[0]:
        return None
    return statistics.median(each[library].min_ms / each[step].min_ms for each in rounds)


def _repetitions(shape: GemmShape, rivals: int) -> int:
    """Return how often each of `rivals` functions is repeated: at most REPETITIONS, at least 7.

    A larger product is repeated less.
    """
    seconds_each = rivals * max(REPETITION_MS / 1e3, shape.flops / 50e9)
    return max(7, min(REPETITIONS, round(SECONDS / seconds_each)))


def _on_threads(threads: int, execution) -> None:
    """Call the function `execution` on `threads` of Numba's threads."""
    numba.set_num_threads(threads)
    execution()


def _one_thread(console: Console) -> list[Requirement]:
    """Time steps and libraries on one thread, print their rates, and return the requirements.

    Each step that this processor can run has a requirement per size of SIZES, whose value is None
    if its library is missing. The AVX2 step has another one at 1024, against the FMA loop.
    """
    steps = [step for step, lanes in ((AVX2, 8), (AVX512, 16)) if lanes <= processors.lanes()]
    limited, loop = f"{ONEDNN.name} (AVX2)", "FMA loop (AVX2)"

    def rivals_of(inputs, out):
        blas = {NUMPY_BLAS.name: NUMPY_BLAS.bind(inputs, out), limited: ONEDNN.bind(inputs, out)}
        ladder = {step.name: partial(step.build(), *inputs, out) for step in steps}
        return _present(blas | ladder | ({loop: fma_loop(8)} if AVX2 in steps else {}))

    lines, bars = [], []
    for size in SIZES:
        shape = parse_gemm(size)
        rounds = _rounds(shape, rivals_of)
        lines += [_line(shape, name, rounds, NUMPY_BLAS.name) for name in rounds[0] if name != loop]
        if AVX512 in steps:
            needed = 0.95 if shape.m == 256 else 1.0
            value = _ratio(rounds, NUMPY_BLAS.name, AVX512.name)
            bars.append(Requirement(f"{AVX512.name} / NumPy at {shape}", needed, value))
        if AVX2 in steps:
            value = _ratio(rounds, limited, AVX2.name)
            bars.append(Requirement(f"{AVX2.name} / oneDNN limited to AVX2 at {shape}", 1.0, value))
        if AVX2 in steps and shape.m == 1024:
            value = _ratio(rounds, loop, AVX2.name) * shape.flops / fma_loop_flops(8)
            bars.append(Requirement(f"{AVX2.name} / FMA loop of AVX2 at {shape}", 0.9, value))
    console.print(_table("One thread", lines))
    return bars


def _edges(console: Console) -> list[Requirement]:
    """Time each step at sizes that are no multiple of a tile and at one that is, and print rates.

    Returns one requirement per step that this processor can run: the worst rate of those sizes must
    be at least 0.9 of the rate at the multiple.
    """
    lines, bars = [], []
    for step, lanes in ((AVX2, 8), (AVX512, 16)):
        if lanes > processors.lanes():
            continue
        rates = {}
        for size in (WHOLE, *EDGES):
            shape = parse_gemm(size)
            rounds = _rounds(
                shape,
                lambda inputs, out, step=step: {step.name: partial(step.build(), *inputs, out)},
            )
            rates[size] = shape.flops / _fastest(rounds, step.name).min_ms
            lines.append(_line(shape, step.name, rounds))
        worst = min(EDGES, key=rates.get)
        text = f"{step.name}: the worst edge ({worst}) against {WHOLE}"
        bars.append(Requirement(text, 0.9, rates[worst] / rates[WHOLE]))
    console.print(_table("Edges", lines))
    return bars


def _two_threads(console: Console) -> list[Requirement]:
    """Time `parallel` on one and two threads, print rates, and return a requirement per size.

    The value of a requirement is the time of one thread over that of two.
    """
    one, two = "parallel, 1 thread", "parallel, 2 threads"

    def rivals_of(inputs, out):
        execution = partial(parallel.STEP.build(), *inputs, out)
        return {
            name: partial(_on_threads, threads, execution) for name, threads in ((one, 1), (two, 2))
        }

    lines, bars = [], []
    for size in PARALLEL:
        shape = parse_gemm(size)
        rounds = _rounds(shape, rivals_of)
        lines += [_line(shape, name, rounds, one) for name in (one, two)]
        value = _ratio(rounds, one, two)
        bars.append(Requirement(f"parallel: 2 threads / 1 at {shape}", 1.8, value))
    console.print(_table("Threads", lines))
    return bars


def _fastest(rounds: Sequence[Mapping[str, Timing]], name: str) -> Timing:
    """Return the Timing of `name` from the round with its fastest repetition of all rounds."""
    return min((each[name] for each in rounds), key=lambda timing: timing.min_ms)


def _line(
    shape: GemmShape, name: str, rounds: Sequence[Mapping[str, Timing]], rival: str | None = None
) -> dict[str, str]:
    """Return a row of a table, a dict from header to text, with the rates of `name` at a shape.

    The rates are in GFLOP/s: that of the fastest repetition, the median of its round, and the range
    of the rounds' fastest repetitions. If `rival` is given, the row also has the rival's time over
    that of `name`. `rounds` must have both names.
    """
    best = _fastest(rounds, name)
    rates = [shape.flops / each[name].min_ms / 1e6 for each in rounds]
    line = {
        "shape": str(shape),
        "who": name,
        "GFLOP/s": f"{max(rates):.1f}",
        "median": f"{shape.flops / best.median_ms / 1e6:.1f}",
        "rounds": f"{min(rates):.1f} – {max(rates):.1f}",
    }
    return line | ({"ratio": f"{_ratio(rounds, rival, name):.3f}"} if rival else {})


def _verdict(bar: Requirement) -> dict[str, str]:
    """Return a row of the table of requirements, a dict from header to text.

    The columns are the sentence, the least fraction, the measured one ("" if there is none), and
    "held", "MISSED" in red, or "not measured".
    """
    held = {True: "held", False: "[bold red]MISSED[/]", None: "not measured"}[bar.held]
    value = "" if bar.value is None else f"{bar.value:.3f}"
    return {"bar": bar.text, "needed": f"{bar.needed:.2f}", "reached": value, "": held}


def _table(title: str, lines: Sequence[dict[str, str]]) -> Table:
    """Return a table with these rows, which are dicts from header to text.

    There must be at least one row, and all must have the same headers.
    """
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for header in lines[0]:
        table.add_column(header, justify="left" if header in ("shape", "who", "bar") else "right")
    for line in lines:
        table.add_row(*line.values())
    return table


if __name__ == "__main__":
    raise SystemExit(measure())
