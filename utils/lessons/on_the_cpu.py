"""A product on one core: what it asks of the caches, and what the compiler made of its loops.

A function of the CPU is followed on the virtual GPU as a kernel of one thread, load by load.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

from utils.errors import CourseError
from utils.figures.look import number
from utils.ladder.problems import draw
from utils.ladder.step import Step
from utils.lessons.cards import Table, table
from utils.virtual_gpu import Trace, trace
from utils.virtual_gpu.recorder import Event
from utils.xray import assembly

LINE_BYTES = 64  # of a cache line, on x86 and on most others
MOST_EVENTS = 100_000
# A cache so small that a small product does not fit into it: 2 KiB.
FEW_LINES = 32


def follow(step: Step, shape: str) -> Trace:
    """A step of the CPU ladder, every load and store of it in order.

    shape: as on the command line, such as "2x64x64"; small, because 5,000 multiply-adds take a
    second.
    """
    size = step.ladder.parse(shape)
    a, b = draw("integers", (size.m, size.k), 1), draw("integers", (size.k, size.n), 2)
    c = draw("integers", (size.m, size.n), 3)
    return trace(step.variant().kernel, 1, 1, a, b, c, record=0, events=MOST_EVENTS)


def lines_touched(followed: Trace, array: str, turns: int) -> int:
    """Different cache lines of an array that its first loads want. turns: how many loads."""
    loads = [one for one in _events(followed) if (one.array, one.kind) == (array, "load")]
    return len({_line(one) for one in loads[:turns]})


def cache_misses(followed: Trace, lines: int = FEW_LINES) -> dict[str, float]:
    """For each array how many cache lines a multiply-add brings into a cache that began empty.

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
    work = followed.totals["float32_ops"] / 2
    return {name: count / work for name, count in sorted(missed.items())}


def count_misses(lines: int = FEW_LINES, **followed: Trace) -> Table:
    """Cache lines brought per multiply-add, by array. followed: by the name that is shown."""
    rows = []
    for name, one in followed.items():
        missed = cache_misses(one, lines)
        cells = [number(missed.get(array, 0)) for array in "abc"]
        rows.append((f"`{name}`", *cells, number(sum(missed.values()))))
    caption = f"Cache lines brought for one multiply-add, cache of {lines} lines"
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


def multiplications(*steps: Step) -> Table:
    """Multiply instructions in the machine code for this processor, by the floats of each.

    They are counted once each, however often they are executed; the code holds every version of
    the loop that the compiler made.
    """
    found = {step.name: assembly.multiplications(_machine_code(step)) for step in steps}
    widths = sorted({1, *(lanes for counts in found.values() for lanes in counts)})
    head = ("", *(f"{lanes} at once" if lanes > 1 else "one float" for lanes in widths))
    rows = [
        (f"`{name}`", *(str(counts.get(lanes, 0)) for lanes in widths))
        for name, counts in found.items()
    ]
    return table("Instructions that multiply, in the machine code for this CPU", head, rows)


def vector_loop(step: Step) -> str:
    """The machine code of the loop with most vector multiplications, as LLVM writes it."""
    return assembly.vector_loop(_machine_code(step)).strip("\n")


def _machine_code(step: Step) -> str:
    function = step.variant().kernel
    a = draw("integers", (2, 2), 1)
    function(a, a, a.copy())  # compiles
    return "\n".join(function.inspect_asm().values())
