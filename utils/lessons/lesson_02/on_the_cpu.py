"""A product on one core: what it asks of the caches, what the compiler made of it, how fast it is.

A function of the CPU is followed on the virtual GPU as a kernel of one thread, load by load. Where
a step of the CPU ladder is asked for, a function of the reader's under `@njit` will do as well.
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

LINE_BYTES = 64  # of a cache line, on x86 and on most others
MOST_EVENTS = 100_000
# A cache so small that a small product does not fit into it: 2 KiB.
FEW_LINES = 32
SIZES = ("64", "128", "256", "512", "1024", "2048")

Shown = Step | Callable


def follow(shown: Shown, shape: str) -> Trace:
    """A product on one core, every load and store of it in order.

    shape: m×n×k as on the command line, such as "2x64x64"; small, because 5,000 multiply-adds take
    a second.
    """
    size = GEMM.parse(shape)
    a, b = draw("integers", (size.m, size.k), 1), draw("integers", (size.k, size.n), 2)
    c = draw("integers", (size.m, size.n), 3)
    return trace(_function(shown), 1, 1, a, b, c, record=0, events=MOST_EVENTS)


def cache_misses(followed: Trace, lines: int = FEW_LINES) -> dict[str, int]:
    """For each array how many cache lines come into a cache that began empty.

    lines: how many the cache holds. It is a simple one: a line may stand anywhere in it, and a new
    one takes the place of the one that was used least recently.
    """
    held: OrderedDict[tuple[str, int], None] = OrderedDict()
    missed = Counter({one.name: 0 for one in followed.recording.arrays})
    for event in _events(followed):
        line = event.array, _line(event)
        if line in held:
            held.move_to_end(line)
            continue
        missed[event.array] += 1
        held[line] = None
        if len(held) > lines:
            held.popitem(last=False)
    return dict(sorted(missed.items()))


def count_misses(lines: int = FEW_LINES, **followed: Trace) -> Table:
    """Cache lines that come, by array. followed: by the name that is shown, all of one product."""
    rows = []
    for name, one in followed.items():
        missed = cache_misses(one, lines)
        cells = [f"{missed.get(array, 0):,}" for array in "abc"]
        rows.append((f"`{name}`", *cells, f"{sum(missed.values()):,}"))
    work = max(one.totals["float32_ops"] for one in followed.values()) / 2
    caption = f"Cache lines that came for {work:,.0f} multiply-adds, into a cache of {lines}"
    return table(caption, ("", "`a`", "`b`", "`c`", "together"), rows)


def _events(followed: Trace) -> tuple[Event, ...]:
    recording = followed.recording
    if recording.left_out:
        raise CourseError(
            f"{recording.left_out:,} loads and stores of {followed.kernel} were not kept: follow a "
            "smaller product."
        )
    return recording.events


def _line(event: Event) -> int:
    return int(event.first[0]) * 4 // LINE_BYTES


def multiplications(*shown: Shown) -> Table:
    """Multiply instructions in the machine code for this processor, by the floats of each.

    They are counted once each, however often they are executed; the code holds every version of
    the loop that the compiler made.
    """
    found = [(_name(one), assembly.multiplications(_machine_code(one))) for one in shown]
    widths = sorted({1, *(floats for _, counts in found for floats in counts)})
    head = ("", *(f"{floats} at once" if floats > 1 else "one float" for floats in widths))
    rows = [
        (f"`{name}`", *(str(counts.get(floats, 0)) for floats in widths)) for name, counts in found
    ]
    return table("Instructions that multiply, in the machine code for this CPU", head, rows)


def vector_loop(shown: Shown) -> str:
    """The machine code of the loop with most vector multiplications, as LLVM writes it."""
    return assembly.vector_loop(_machine_code(shown)).strip("\n")


def time_here(*shown: Shown, shape: str = "512") -> Table:
    """Products on one core of this computer, the fastest of a few; how much faster than the first.

    shape: m×n×k as on the command line.
    """
    size = GEMM.parse(shape)
    a, b = draw("uniform", (size.m, size.k), 1), draw("uniform", (size.k, size.n), 2)
    rivals = [partial(_function(one), a, b, poisoned((size.m, size.n))) for one in shown]
    times = [timing.min_ms for timing in time_cpu(rivals, repetitions=3, repetition_ms=1)]
    rows = [
        (f"`{_name(one)}`", duration(ms), factor(times[0] / ms))
        for one, ms in zip(shown, times, strict=True)
    ]
    columns = 3 if len(shown) > 1 else 2  # one alone is faster than nothing
    head = ("", "time", "faster")[:columns]
    return table(f"{size}, measured here on one core", head, [row[:columns] for row in rows])


def faster_by_size(slow: Step, fast: Step) -> Table:
    """How many times faster one step was: two CPUs of ours and the one of Gray and others 2022."""
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
    """Of the two functions of Gray and others 2022; it stops at 1024."""
    try:
        rates = [published_gflops(name, int(size)) for name in ("naive", "loop_reordered")]
    except CourseError:
        return "–"
    return factor(rates[1] / rates[0])


def peak_of_core(peaks: Sequence) -> Table | Card:
    """The peaks of one core, term by term. peaks: as `gemm_kernels.cpu.tuning.peak` measures them.

    A card where this processor has no vectors that could be measured.
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


def _function(shown: Shown) -> CPUDispatcher:
    function = shown.variant().kernel if isinstance(shown, Step) else shown
    if not isinstance(function, CPUDispatcher):
        raise CourseError(
            f"{_name(shown)} is no function of the CPU that Numba compiles: write @njit above it."
        )
    return function


def _name(shown: Shown) -> str:
    return shown.name if isinstance(shown, Step) else getattr(shown, "__name__", repr(shown))


def _machine_code(shown: Shown) -> str:
    function = _function(shown)
    a = draw("integers", (2, 2), 1)
    function(a, a, a.copy())  # compiles
    return "\n".join(function.inspect_asm().values())
