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

from gemm_kernels.cpu import LADDER
from gpu_xray import assembly
from utils.errors import CourseError
from utils.figures.look import factor
from utils.ladder.problems import draw, poisoned
from utils.ladder.step import Step, Variant
from utils.ladder.tasks import GEMM
from utils.lessons import own_kernels
from utils.lessons.cards import Card, Stack, Table, table
from utils.lessons.counting import as_step, as_variant, name_of
from utils.lessons.recorded import CPU, XEON, duration, recorded_ms
from utils.machine import processors
from utils.measuring.timing import Timing, time_cpu
from utils.translation import translate
from virtual_gpu import Trace, trace
from virtual_gpu.counts.recorder import Event

LINE_BYTES = 64  # bytes per cache line on x86 and most other CPUs
MOST_EVENTS = 100_000
# A cache of 2 KiB, too small for even a small product.
FEW_LINES = 32
REPETITIONS = 7  # of a time on this computer
CLEARLY = 1.3  # times faster, so that four sums count as faster than one
SIZES = ("64", "128", "256", "512", "1024", "2048")

CpuKernel = Step | Variant | Callable


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
        A trace whose `recording` holds the loads and stores in order, at most 100,000.

    Raises
    ------
    CourseError
        If `kernel` is a function without `@njit`.
    """
    size = GEMM.parse(shape)
    a, b = draw("integers", (size.m, size.k), 1), draw("integers", (size.k, size.n), 2)
    c = draw("integers", (size.m, size.n), 3)
    return trace(_function(kernel), 1, 1, a, b, c, record=0, events=MOST_EVENTS)


def cache_misses(recorded: Trace, lines: int = FEW_LINES) -> dict[str, int]:
    """Count the cache misses of each array in a simulated cache that is empty at first.

    A miss loads one cache line of 64 bytes.

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
        The number of misses by the name of the array, in alphabetical order.

    Raises
    ------
    CourseError
        If the trace did not record all loads and stores.
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
    """Return a table of cache misses: one row per trace, columns for a, b, c and their sum.

    Parameters
    ----------
    lines : int
        The capacity of the cache in lines.
    **traces : Trace
        Traces from `follow` of the same product, by the name that the reader sees.

    Raises
    ------
    CourseError
        If a trace did not record all loads and stores.
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
    """Return all recorded loads and stores; raise CourseError if some were not recorded."""
    recording = recorded.recording
    if recording.left_out:
        raise CourseError(
            f"{recording.left_out:,} loads and stores of {recorded.kernel} were not recorded: "
            "follow a smaller product."
        )
    return recording.events


def _line(event: Event) -> int:
    """Return the index of an event's cache line, counted from the start of its float32 array."""
    return int(event.first[0]) * 4 // LINE_BYTES


def beside_the_course(mine: Variant) -> Stack:
    """Return tables that compare the reader's loop order with the course's and the step before.

    mine: the reader's own function as a step. The first table counts cache misses of a product of
    1×16×64, and the second has the times of a 512×512×512 product on this computer.
    """
    twin = own_kernels.twins()[mine.step.name]
    steps = {twin.before.step.name: twin.before, f"your {mine.step.name}": mine,
             twin.step.name: twin.variant}  # fmt: skip
    misses = count_misses(**{name: follow(step, "1x16x64") for name, step in steps.items()})
    return Stack((misses, time_here(*steps.values(), shape="512")))


def beside_one_sum(mine: CPUDispatcher) -> Stack:
    """Return tables that compare the reader's four sums with `naive`, which has one.

    mine: the reader's function under `@njit`. The first table counts the multiply instructions in
    the machine code. The second has the times of a 64×4096 matrix times a vector on this computer.
    A card follows if the reader's function is not clearly faster.
    """
    naive, shape = LADDER.step("naive"), "64x1x4096"
    timings = _time_kernels((naive, mine), shape)
    one, four = (timing.median_ms for timing in timings)
    counts, times = multiplications(naive, mine), _times_table((naive, mine), shape, timings)
    return Stack((counts, times, *([] if one >= CLEARLY * four else [_not_faster()])))


def _not_faster() -> Card:
    """Return the card for four right sums that are not faster than one."""
    sentence = translate(
        "Your four sums are right, but they are not clearly faster here. Something else in your "
        "loop takes time. For example, with `range(0, k - 3, 4)` the compiler does not know that "
        "`i` is never negative. It tests each index, because a negative one counts from the end. "
        "Try `range(0, k - k % 4, 4)` with four terms per iteration."
    )
    return Card("ask", (sentence,))


def multiplications(*kernels: CpuKernel) -> Table:
    """Return a table of the number of multiply instructions in the machine code for this CPU.

    It has one row per kernel, and one column per number of floats that an instruction multiplies.
    Multiply-adds are counted too. Each instruction counts once, however often it is executed. The
    code contains every version of the loop that the compiler made. kernels: steps of the CPU
    ladder, or functions under `@njit`.
    """
    by_kernel = [(_name(one), assembly.multiplications(_machine_code(one))) for one in kernels]
    widths = sorted({1, *(floats for _, counts in by_kernel for floats in counts)})
    head = ("", *(f"{floats} at once" if floats > 1 else "one float" for floats in widths))
    rows = [
        (f"`{name}`", *(str(counts.get(floats, 0)) for floats in widths))
        for name, counts in by_kernel
    ]
    return table("Instructions that multiply, in the machine code for this CPU", head, rows)


NO_VECTORS = "This machine code has no vector multiplication: it multiplies one pair at a time."


def vector_loop(kernel: CpuKernel) -> str:
    """Return the piece of a kernel's assembly with the most vector multiplications, as text.

    A piece is the code between two labels in LLVM's syntax, without the labels. For
    `loop_reordered` it is the loop with vectors, up to its jump back. In larger kernels it may be a
    part of a loop, or code outside of loops. Returns `NO_VECTORS`, a sentence, if the machine code
    has no vector multiplication. kernel: a step of the CPU ladder, or a function under `@njit`.
    """
    return assembly.vector_loop(_machine_code(kernel)).strip("\n") or NO_VECTORS


def time_here(*kernels: CpuKernel, shape: str = "512") -> Table:
    """Time products on one core of this computer, and compare each with the first product.

    Parameters
    ----------
    *kernels : Step or callable
        Steps of the CPU ladder, or functions under `@njit`.
    shape : str
        m×n×k as on the command line.

    Returns
    -------
    Table
        One row per function: the median of seven times, the shortest and the longest of them, and
        the speed-up of its median over the first function. A single function has no speed-up.
    """
    return _times_table(kernels, shape, _time_kernels(kernels, shape))


def _time_kernels(kernels: Sequence[CpuKernel], shape: str) -> list[Timing]:
    """Return the Timing of each kernel for a product of `shape`, on one core of this computer."""
    size = GEMM.parse(shape)
    a, b = draw("uniform", (size.m, size.k), 1), draw("uniform", (size.k, size.n), 2)
    calls = [partial(_function(one), a, b, poisoned((size.m, size.n))) for one in kernels]
    return time_cpu(calls, repetitions=REPETITIONS, repetition_ms=1)


def _times_table(kernels: Sequence[CpuKernel], shape: str, times: Sequence[Timing]) -> Table:
    """Return the table of `time_here` for kernels and their times."""
    rows = [
        (f"`{_name(one)}`", duration(timing.median_ms),
         f"{duration(timing.min_ms)} … {duration(timing.max_ms)}",
         factor(times[0].median_ms / timing.median_ms))
        for one, timing in zip(kernels, times, strict=True)
    ]  # fmt: skip
    columns = 4 if len(kernels) > 1 else 3  # a single function has no speed-up
    head = ("", "median", "shortest … longest", "faster")[:columns]
    caption = f"{GEMM.parse(shape)}, measured here on one core, {REPETITIONS} times"
    return table(caption, head, [row[:columns] for row in rows])


def faster_by_size(slow: Step, fast: Step) -> Table:
    """Return a table of the recorded speed-up of `fast` over `slow`, one row per square size.

    The columns are the size and our two CPUs. A cell without a record is "–".
    """
    rows = [
        (size, *(_recorded_factor(slow, fast, size, on) for on in (CPU, XEON))) for size in SIZES
    ]
    caption = f"How many times faster `{name_of(fast)}` was than `{name_of(slow)}`"
    return table(caption, ("m = n = k", CPU, "our Xeon"), rows)


def _recorded_factor(slow: Step, fast: Step, size: str, on: str) -> str:
    """Return a recorded speed-up as text; "–" if a time is not recorded.

    size: n of the n×n matrices. on: the processor.
    """
    try:
        return factor(recorded_ms(slow, size, on) / recorded_ms(fast, size, on))
    except CourseError:  # not recorded at this size
        return "–"


def peak_of_core(peaks: Sequence) -> Table | Card:
    """Return a table of the peak of one core and the factors that it is computed from.

    Parameters
    ----------
    peaks : sequence
        Peaks as `gemm_kernels.cpu.tuning.peak` measures them, one per vector width.

    Returns
    -------
    Table or Card
        A table with one column per vector width, and rows for the clock in GHz, the FMA units, the
        floats in a vector, and the computed and the measured peak in GFLOP/s. FMA units and
        computed peak are "not known" if `peaks` does not have them. A note below asks to run the
        cell again if a measured peak is above the computed one. If `peaks` is empty, a card with a
        sentence about this processor.
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
    """Return the function of a step, or a function itself, compiled by Numba for the CPU.

    Raises CourseError for a function without `@njit`, and for a kernel of a GPU.
    """
    function = as_variant(kernel).kernel if isinstance(kernel, Step | Variant) else kernel
    if not isinstance(function, CPUDispatcher):
        raise CourseError(
            f"{_name(kernel)} is not a CPU function that Numba compiles: write @njit above it."
        )
    return function


def _name(kernel: CpuKernel) -> str:
    """Return the name of a step or function, without constants."""
    if isinstance(kernel, Step | Variant):
        return as_step(kernel).name
    return getattr(kernel, "__name__", repr(kernel))


def _machine_code(kernel: CpuKernel) -> str:
    """Call a function with float32 matrices, and return its assembly for this CPU as text.

    The text also has the code for all other types with which the function was called before.
    """
    function = _function(kernel)
    a = draw("integers", (2, 2), 1)
    function(a, a, a.copy())  # the first call compiles
    return "\n".join(assembly.compiled_here(function).inspect_asm().values())
