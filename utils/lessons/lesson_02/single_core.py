"""Analyses of a product on one CPU core: cache misses, machine code and speed.

To count cache misses, a CPU function runs on the virtual GPU as a kernel of one thread, which
records each load and store. Functions that take a step of the CPU ladder also take a function of
the reader's own under `@njit`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from numba.core.registry import CPUDispatcher

from gpu_xray import assembly
from utils.errors import CourseError
from utils.figures.look import factor
from utils.ladder.problems import draw, poisoned
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.lessons.cards import Card, Table, table
from utils.lessons.published import published_gflops
from utils.lessons.recorded import CPU, XEON, duration, recorded_ms
from utils.machine import processors
from utils.measuring.timing import time_cpu
from virtual_gpu import Trace, trace
from virtual_gpu.counts.recorder import Event

LINE_BYTES = 64  # bytes per cache line on x86 and most other CPUs
MOST_EVENTS = 100_000
# A cache of 2 KiB, too small for even a small product.
FEW_LINES = 32
SIZES = ("64", "128", "256", "512", "1024", "2048")

CpuKernel = Step | Callable


def follow(kernel: CpuKernel, shape: str) -> Trace:
    """Run a product on one simulated thread and record all its loads and stores in order.

    Parameters
    ----------
    kernel : Step or callable
        A step of the CPU ladder, or a function (a, b, c) under `@njit`.
    shape : str
        m×n×k as on the command line, such as "2x64x64". Keep it small: 5,000 multiply-adds take a
        second.

    Returns
    -------
    Trace
        The recorded loads and stores.
    """
    size = GEMM.parse(shape)
    a, b = draw("integers", (size.m, size.k), 1), draw("integers", (size.k, size.n), 2)
    c = draw("integers", (size.m, size.n), 3)
    return trace(_function(kernel), 1, 1, a, b, c, record=0, events=MOST_EVENTS)


def cache_misses(recorded: Trace, lines: int = FEW_LINES) -> dict[str, int]:
    """Count the cache lines that each array loads into an initially empty cache.

    Parameters
    ----------
    recorded : Trace
        A trace from `follow`.
    lines : int
        The capacity of the cache in lines. The model is fully associative and replaces the least
        recently used line.

    Returns
    -------
    dict of str to int
        Misses by array name.
    """
    held: OrderedDict[tuple[str, int], None] = OrderedDict()
    misses = Counter({one.name: 0 for one in recorded.recording.arrays})
    for event in _events(recorded):
        line = event.array, _line(event)
        if line in held:
            held.move_to_end(line)
            continue
        misses[event.array] += 1
        held[line] = None
        if len(held) > lines:
            held.popitem(last=False)
    return dict(sorted(misses.items()))


def count_misses(lines: int = FEW_LINES, **traces: Trace) -> Table:
    """Tabulate cache misses by array.

    Parameters
    ----------
    lines : int
        The capacity of the cache in lines.
    **traces : Trace
        Traces of one and the same product, by the name that the reader sees.
    """
    rows = []
    for name, one in traces.items():
        misses = cache_misses(one, lines)
        cells = [f"{misses.get(array, 0):,}" for array in "abc"]
        rows.append((f"`{name}`", *cells, f"{sum(misses.values()):,}"))
    work = max(one.totals["float32_ops"] for one in traces.values()) / 2
    caption = f"Cache lines that came for {work:,.0f} multiply-adds, into a cache of {lines}"
    return table(caption, ("", "`a`", "`b`", "`c`", "together"), rows)


def _events(recorded: Trace) -> tuple[Event, ...]:
    recording = recorded.recording
    if recording.left_out:
        raise CourseError(
            f"{recording.left_out:,} loads and stores of {recorded.kernel} were not recorded: "
            "follow a smaller product."
        )
    return recording.events


def _line(event: Event) -> int:
    return int(event.first[0]) * 4 // LINE_BYTES


def multiplications(*kernels: CpuKernel) -> Table:
    """Tabulate the multiply instructions in this CPU's machine code, by floats per instruction.

    Each instruction counts once, however often it is executed. The code contains every version of
    the loop that the compiler made.
    """
    by_kernel = [(_name(one), assembly.multiplications(_machine_code(one))) for one in kernels]
    widths = sorted({1, *(floats for _, counts in by_kernel for floats in counts)})
    head = ("", *(f"{floats} at once" if floats > 1 else "one float" for floats in widths))
    rows = [
        (f"`{name}`", *(str(counts.get(floats, 0)) for floats in widths))
        for name, counts in by_kernel
    ]
    return table("Instructions that multiply, in the machine code for this CPU", head, rows)


def vector_loop(kernel: CpuKernel) -> str:
    """Return the assembly of the loop with the most vector multiplications, in LLVM's syntax."""
    return assembly.vector_loop(_machine_code(kernel)).strip("\n")


def time_here(*kernels: CpuKernel, shape: str = "512") -> Table:
    """Time products on one core of this computer, and compare each with the first.

    Parameters
    ----------
    *kernels : Step or callable
        Steps of the CPU ladder, or functions under `@njit`.
    shape : str
        m×n×k as on the command line.

    Returns
    -------
    Table
        The shortest of three repetitions per function, and its speed-up over the first function.
    """
    size = GEMM.parse(shape)
    a, b = draw("uniform", (size.m, size.k), 1), draw("uniform", (size.k, size.n), 2)
    calls = [partial(_function(one), a, b, poisoned((size.m, size.n))) for one in kernels]
    times = [timing.min_ms for timing in time_cpu(calls, repetitions=3, repetition_ms=1)]
    rows = [
        (f"`{_name(one)}`", duration(ms), factor(times[0] / ms))
        for one, ms in zip(kernels, times, strict=True)
    ]
    columns = 3 if len(kernels) > 1 else 2   # a single function has no speed-up
    head = ("", "time", "faster")[:columns]
    return table(f"{size}, measured here on one core", head, [row[:columns] for row in rows])


def faster_by_size(slow: Step, fast: Step) -> Table:
    """Tabulate the speed-up of `fast` over `slow` on two CPUs, and that of Gray and others 2022."""
    rows = [
        (size, *(_recorded_factor(slow, fast, size, on) for on in (CPU, XEON)), _published(size))
        for size in SIZES
    ]
    caption = f"How many times faster `{fast.name}` was than `{slow.name}`"
    return table(caption, ("m = n = k", CPU, "our Xeon", "the source's Xeon"), rows)


def _recorded_factor(slow: Step, fast: Step, size: str, on: str) -> str:
    try:
        return factor(recorded_ms(slow, size, on) / recorded_ms(fast, size, on))
    except CourseError:  # not recorded at this size
        return "–"


def _published(size: str) -> str:
    """Format the speed-up that Gray and others 2022 published; their sizes end at 1024."""
    try:
        rates = [published_gflops(name, int(size)) for name in ("naive", "loop_reordered")]
    except CourseError:
        return "–"
    return factor(rates[1] / rates[0])


def peak_of_core(peaks: Sequence) -> Table | Card:
    """Tabulate the peak of one core, factor by factor.

    Parameters
    ----------
    peaks : sequence
        Peaks as `gemm_kernels.cpu.tuning.peak` measures them, one per vector width.

    Returns
    -------
    Table or Card
        A card with a sentence if this processor has no vector unit that could be measured.
    """
    if not peaks:
        return Card("ask", (processors.current().sentence,))
    columns = [
        (
            f"{peak.clock_ghz:.2f} GHz",
            str(peak.fma_units or "not known"),
            str(peak.lanes),
            f"{peak.computed:.0f} GFLOP/s" if peak.computed else "not known",
            f"{peak.measured:.0f} GFLOP/s",
        )
        for peak in peaks
    ]
    terms = ("clock", "FMA units", "floats in a vector", "peak, computed", "measured")
    head = ("", *(processors.INSTRUCTION_SETS[peak.lanes] for peak in peaks))
    moved = any(peak.computed and peak.measured > peak.computed for peak in peaks)
    note = "The clock moved while it was measured: run this cell again." if moved else ""
    return table("One core of this computer", head, list(zip(terms, *columns, strict=True)), note)


def _function(kernel: CpuKernel) -> CPUDispatcher:
    function = kernel.variant().kernel if isinstance(kernel, Step) else kernel
    if not isinstance(function, CPUDispatcher):
        raise CourseError(
            f"{_name(kernel)} is not a CPU function that Numba compiles: write @njit above it."
        )
    return function


def _name(kernel: CpuKernel) -> str:
    return kernel.name if isinstance(kernel, Step) else getattr(kernel, "__name__", repr(kernel))


def _machine_code(kernel: CpuKernel) -> str:
    function = _function(kernel)
    a = draw("integers", (2, 2), 1)
    function(a, a, a.copy())  # the first call compiles
    return "\n".join(assembly.compiled_here(function).inspect_asm().values())
