"""The bars of the CPU ladder, for anyone to measure: python -m gemm_kernels.cpu --bench."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from gemm_kernels.cpu import micro_kernel_avx2, micro_kernel_avx512, parallel
from gemm_kernels.cpu.peak import Peak, peaks
from utils import cpu
from utils.onednn import ONEDNN
from utils.shapes import GemmShape, parse_gemm
from utils.timing import NUMPY_BLAS, Timing, time_cpu
from utils.verify import draw, poisoned

SIZES = ("256", "512", "1024", "2048", "2000x600x2000")
# 480 is a multiple of the sides of all tiles; the others are not, by 1 up to almost a tile.
WHOLE, EDGES = "480", ("481", "487", "495", "503", "511", "513", "521", "527")
PARALLEL = ("1024", "2048")
# Short repetitions, because a neighbour on a busy machine spoils each that it interrupts.
REPETITIONS, REPETITION_MS, SECONDS = 200, 1.0, 8.0
ATTEMPTS = 5
# What would change the rivals: the library's own choice of kernel is the one to beat.
CHOICES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
SETTINGS = (*CHOICES, "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
AVX2, AVX512 = micro_kernel_avx2.STEP, micro_kernel_avx512.STEP


@dataclass(frozen=True)
class Bar:
    """One requirement. value: what was reached, as a fraction; None where it was not measured."""

    text: str
    needed: float
    value: float | None

    @property
    def held(self) -> bool | None:
        return None if self.value is None else self.value >= self.needed


def main() -> int:
    """Measure in a fresh process without settings that slow a rival; 1 if a bar is missed."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    environment["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    # A thread stays on a core of its own: a scheduler may put both on one to save energy.
    environment["OMP_PROC_BIND"] = "true"
    return subprocess.call([sys.executable, "-m", __spec__.name], env=environment)


def measure() -> int:
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(cpu.current().sentence, _surroundings())
    with pinned(2) as cores:
        _start_threads()
        with pinned(1):
            ceilings = _ceilings()
            for peak in ceilings:
                console.print(str(peak))
            bars = [*_one_thread(console, ceilings), *_edges(console)]
        if cores == 2:
            bars += _two_threads(console)
        else:
            bars.append(Bar("parallel: 2 threads against 1", 1.8, None))
    console.print(_table("Bars", [_verdict(bar) for bar in bars]))
    return int(any(bar.held is False for bar in bars))


def _start_threads() -> None:
    """OpenMP shares out the cores as its library is loaded: oneDNN would load it with only one."""
    side = np.zeros((1, 1), np.float32)
    parallel.STEP.build()(side, side, side.copy())


def _ceilings() -> list[Peak]:
    """The peaks, measured again where the clock rose unseen: a loop was then above its peak."""
    for _ in range(ATTEMPTS):
        ceilings = peaks()
        if all(not peak.computed or peak.measured <= peak.computed for peak in ceilings):
            break
    return ceilings


@contextlib.contextmanager
def pinned(cores: int) -> Iterator[int]:
    """Keep this process on so many of its cores, if there are; gives the number.

    Where the system cannot do that, the process may move from core to core, which costs time.
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
    load = f"load {os.getloadavg()[0]:.1f}, " if hasattr(os, "getloadavg") else ""
    return (
        f"Numba {numba.__version__}, NumPy {np.__version__} with {cpu.blas()}; {load}the fastest "
        "repetition of each counts."
    )


def _timed(shape: GemmShape, steps: Sequence, libraries: Sequence = ()) -> list[Timing | None]:
    """A Timing for each library and step, measured in turns; None for a library that is missing."""
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    c = poisoned((shape.m, shape.n))
    rivals = [library.bind((a, b), c) for library in libraries]
    rivals += [partial(step.build(), a, b, c) for step in steps]
    present = [rival for rival in rivals if rival]
    timings = iter(time_cpu(present, _repetitions(shape, len(present)), REPETITION_MS))
    return [next(timings) if rival else None for rival in rivals]


def _repetitions(shape: GemmShape, rivals: int) -> int:
    """A large product takes longer than a repetition should, so there are fewer of them."""
    seconds_each = rivals * max(REPETITION_MS / 1e3, shape.flops / 50e9)
    return max(7, min(REPETITIONS, round(SECONDS / seconds_each)))


def _on_threads(threads: int, execution) -> None:
    numba.set_num_threads(threads)
    execution()


def _one_thread(console: Console, ceilings: Sequence[Peak]) -> list[Bar]:
    steps = [step for step, lanes in ((AVX2, 8), (AVX512, 16)) if lanes <= cpu.lanes()]
    names = [NUMPY_BLAS.name, f"{ONEDNN.name} (AVX2)", *(step.name for step in steps)]
    lines, bars = [], []
    for size in SIZES:
        shape = parse_gemm(size)
        timings = dict(zip(names, _timed(shape, steps, (NUMPY_BLAS, ONEDNN))))
        blas = timings[NUMPY_BLAS.name]
        for name, timing in timings.items():
            if timing:
                lines.append(_line(shape, name, timing, blas))
        if wide := timings.get(AVX512.name):
            needed = 0.95 if shape.m == 256 else 1.0
            bars.append(Bar(f"{AVX512.name} / NumPy at {shape}", needed, _ratio(blas, wide)))
        if narrow := timings.get(AVX2.name):
            rival = timings[f"{ONEDNN.name} (AVX2)"]
            value = rival and _ratio(rival, narrow)
            bars.append(Bar(f"{AVX2.name} / oneDNN limited to AVX2 at {shape}", 1.0, value))
            if shape.m == 1024:
                value = shape.flops / narrow.min_ms / 1e6 / ceilings[0].measured
                bars.append(Bar(f"{AVX2.name} / FMA loop of AVX2 at {shape}", 0.9, value))
    console.print(_table("One thread", lines))
    return bars


def _edges(console: Console) -> list[Bar]:
    """What a size costs that is no multiple of a tile, against one that is."""
    lines, bars = [], []
    for step, lanes in ((AVX2, 8), (AVX512, 16)):
        if lanes > cpu.lanes():
            continue
        rates = {}
        for size in (WHOLE, *EDGES):
            shape = parse_gemm(size)
            (timing,) = _timed(shape, [step])
            rates[size] = shape.flops / timing.min_ms
            lines.append(_line(shape, step.name, timing, None))
        worst = min(EDGES, key=rates.get)
        text = f"{step.name}: the worst edge ({worst}) against {WHOLE}"
        bars.append(Bar(text, 0.9, rates[worst] / rates[WHOLE]))
    console.print(_table("Edges", lines))
    return bars


def _two_threads(console: Console) -> list[Bar]:
    lines, bars = [], []
    for size in PARALLEL:
        shape = parse_gemm(size)
        a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
        execution = partial(parallel.STEP.build(), a, b, poisoned((shape.m, shape.n)))
        rivals = [partial(_on_threads, threads, execution) for threads in (1, 2)]
        times = dict(zip((1, 2), time_cpu(rivals, _repetitions(shape, 2), REPETITION_MS)))
        for threads, timing in times.items():
            lines.append(_line(shape, f"parallel, {threads} threads", timing, times[1]))
        bars.append(Bar(f"parallel: 2 threads / 1 at {shape}", 1.8, _ratio(times[1], times[2])))
    console.print(_table("Threads", lines))
    return bars


def _ratio(theirs: Timing, ours: Timing) -> float:
    return theirs.min_ms / ours.min_ms


def _line(shape: GemmShape, name: str, timing: Timing, rival: Timing | None) -> dict[str, str]:
    line = {
        "shape": str(shape),
        "who": name,
        "GFLOP/s": f"{shape.flops / timing.min_ms / 1e6:.1f}",
        "median": f"{shape.flops / timing.median_ms / 1e6:.1f}",
        "spread": f"{(timing.max_ms - timing.min_ms) / timing.median_ms:.0%}",
    }
    return line | ({"ratio": f"{_ratio(rival, timing):.3f}"} if rival else {})


def _verdict(bar: Bar) -> dict[str, str]:
    held = {True: "held", False: "[bold red]MISSED[/]", None: "not measured"}[bar.held]
    value = "" if bar.value is None else f"{bar.value:.3f}"
    return {"bar": bar.text, "needed": f"{bar.needed:.2f}", "reached": value, "": held}


def _table(title: str, lines: Sequence[dict[str, str]]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for header in lines[0]:
        table.add_column(header, justify="left" if header in ("shape", "who", "bar") else "right")
    for line in lines:
        table.add_row(*line.values())
    return table


if __name__ == "__main__":
    raise SystemExit(measure())
