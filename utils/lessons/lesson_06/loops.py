"""Pictures of the product's loop: its instructions, the times that they need, and its waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemm_kernels import LADDER
from gpu_xray import xray
from gpu_xray.loops import PRODUCTS
from gpu_xray.sass import Instruction
from utils.errors import CourseError
from utils.figures import instruction_strip
from utils.figures.resource_bars import draw_resources
from utils.ladder import kept_functions
from utils.ladder.shapes import in_print
from utils.ladder.step import Step, Variant
from utils.lessons import load_waits
from utils.lessons.cards import Card, Stack, Table, table
from utils.lessons.comparison import nothing_yet
from utils.lessons.compiled_loops import ARCH, listed_kernels, listing
from utils.lessons.counting import as_variant, estimated_ms, one_per_cycle_ms, watch
from utils.lessons.edits import Edit, edited
from utils.lessons.inner_loops import draw_loops, hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import is_mine, mine
from utils.lessons.recorded import ms_if_any, recorded_ms
from utils.machine.devices import REFERENCE, slug
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

TASK = "unroll"
WITH_RANGE = "naive with range"  # its name in the record of listings
TERMS = 16  # multiply-adds in each drawing of a loop
UNROLL_FACTORS = (1, 2, 4, 8, 16)  # those with a recorded time at 4096
SCHEDULERS = 4  # of an SM
SMALLEST_SHOWN = 1024  # n in the table of `while` and `for`
RESOURCES = ("instructions", "cache_lines")
Steps = dict[str, Step | Variant]


@dataclass(frozen=True)
class LoopTimes:
    """Milliseconds of one product: an estimate per resource, and the recorded time, if any.

    instructions: one per cycle and scheduler. cache_lines: one per cycle and SM. at_most: False,
    because no estimate is an upper bound.
    """

    recorded: float | None
    instructions: float
    cache_lines: float
    at_most: bool = False

    def words(self, what: str) -> str:
        """Return the text of a bar, such as "2.46 ms", or "–" for no time; what: its field."""
        ms = getattr(self, what)
        return f"{ms:#.3g}".rstrip(".") + "\N{NO-BREAK SPACE}ms" if ms else "–"


def draw_instructions(**steps: Step | Variant) -> Picture | Card:
    """Draw the instructions of each loop for 16 multiply-adds, and those of the reader's `unroll`.

    steps: the keyword is the name in the picture, with _ for spaces. Return a card if the reader
    has no right kernel yet, or if it cannot be compiled here.
    """
    return _with_yours(lambda loops: draw_loops(TERMS, **loops), steps)


def draw_times(shape: str, **steps: Step | Variant) -> Picture:
    """Draw the two estimates of each step at a shape as bars above the bar of its recorded time.

    shape: n of an n×n product. steps: the keyword is the name in the picture, with _ for spaces.
    """
    times = {name.replace("_", " "): _times_of(step, shape) for name, step in steps.items()}
    where = translate("n = {n}, one {device}", n=in_print(shape), device=device_shown().name)
    return draw_resources(where, times, RESOURCES, mark_bound=True)


def draw_times_with_yours(shape: str, **steps: Step | Variant) -> Picture | Stack:
    """Draw what `draw_times` draws, with the reader's `unroll` below, which has no recorded time.

    If the reader has no right kernel yet, or if it cannot be compiled here, a card says so below
    the steps.
    """
    shown = _with_yours(lambda loops: draw_times(shape, **loops), steps)
    return Stack((draw_times(shape, **steps), shown)) if isinstance(shown, Card) else shown


def draw_waits(**steps: Step | Variant) -> Picture:
    """Draw the loads and multiply-adds of each loop for 16 multiply-adds, with bars for waits.

    steps: recorded ones; the keyword is the name in the picture, with _ for spaces.
    """
    return _waits(steps)


def draw_your_waits(**steps: Step | Variant) -> Picture | Card:
    """Draw what `draw_waits` draws for these steps, with the reader's `unroll` below.

    steps: recorded ones; the keyword is the name in the picture. Return a card if the reader has no
    right kernel yet, or if it cannot be compiled here.
    """
    return _with_yours(_waits, steps)


def with_range() -> Step:
    """Return the step `naive` with `for i in range(k)` instead of its `while` loop."""
    changes = (
        Edit("    i = 0\n", ""),
        Edit("    while i < k:\n", "    for i in range(k):\n"),
        Edit("        i += 1\n", ""),
    )
    return edited(LADDER.step("naive").file, *changes).STEP


def range_cost() -> tuple[float, Picture]:
    """Return the instructions per multiply-add of `naive` with `range`, and a picture of two loops.

    The picture has one iteration of the `while` loop and of the `for` loop. Both are recorded, so
    no compiler is needed.
    """
    codes = {"while": listing("naive"), "for": listing(WITH_RANGE)}
    strips = {f"{name} loop": ([one.opcode for one in codes[name]], 1) for name in codes}
    cost = len(codes["for"]) / sum(one.name in PRODUCTS for one in codes["for"])
    return cost, instruction_strip.draw_loops("One iteration of the loop in machine code", strips)


def range_times() -> dict[str, dict[int, float]]:
    """Return kernel -> n -> recorded ms of an n×n product by `naive`, by its `for` loop and others.

    They were timed in turns on the reference device.
    """
    found: dict[str, dict[int, float]] = {}
    for row in rows.read(DATA / "measured" / slug(REFERENCE) / "for_loop.csv", ProductTime):
        found.setdefault(row.kernel, {})[row.n] = row.time_ms
    return found


def show_range_times() -> Table:
    """Return a table of the recorded ms of `naive` and of its `for` loop, one row per n from 1024.

    The columns are n, the ms of the `while` loop and of the `for` loop, and the second ÷ the first.
    """
    timed = range_times()
    cells = [
        (n, f"{ms:.4g}", f"{timed[WITH_RANGE][n]:.4g}", f"{timed[WITH_RANGE][n] / ms:.1f}")
        for n, ms in timed["naive"].items()
        if n >= SMALLEST_SHOWN
    ]
    caption = translate("Recorded ms, one {device}", device=REFERENCE)
    return table(caption, ("n", "while", "for", "factor"), cells)


def waits(step: Step | Variant) -> float:
    """Return how often a warp waits for its loads during 16 multiply-adds of a step's loop."""
    return TERMS / 8 * load_waits.waits_per_8(_code(as_variant(step)))


def compare_variants() -> Table:
    """Return a table of `naive` and all unrolled variants at 4096, the slowest by the record first.

    The columns are the instructions and the waits for 16 multiply-adds, and the recorded ms.
    """
    unrolled = LADDER.step("unrolled")
    variants = {f"UNROLL = {factor}": unrolled.variant(UNROLL=factor) for factor in UNROLL_FACTORS}
    variants["naive"] = LADDER.step("naive").variant()
    cells = [
        (
            f"`{name}`",
            f"{TERMS * hot_loop(variant).per_multiply_add:g}",
            f"{waits(variant):g}",
            f"{recorded_ms(variant):.1f} ms",
        )
        for name, variant in sorted(variants.items(), key=lambda pair: -recorded_ms(pair[1]))
    ]
    caption = translate("The loops for 16 multiply-adds, and the product at n = 4096")
    return table(caption, ("", "instructions", "waits", "recorded"), cells)


def bound_ms(n: int, instructions: float, lines: float, sms: int, mhz: float) -> float:
    """Return the least time of an n×n product in ms, for readers without a right `least_ms`.

    instructions, lines: instructions and cache lines of a warp per multiply-add. sms: the number of
    SMs. mhz: their clock.
    """
    cycles = max(instructions / SCHEDULERS, lines)
    return n**3 / WARP / sms * cycles / mhz / 1000


def _with_yours(draw: Callable[[Steps], Picture], steps: Steps) -> Picture | Card:
    """Return what `draw` makes of the steps and of the reader's `unroll`, or a card instead.

    The card says that the reader has no right kernel yet, or why its code cannot be shown.
    """
    if not kept_functions.kept_text(TASK):
        return nothing_yet(TASK)
    try:
        return draw({**steps, "your last right kernel": mine(TASK)})
    except CourseError as error:
        return Card("ask", (translate("{error} The lesson goes on without it.", error=error),))


def _waits(steps: Steps) -> Picture:
    """Draw the waits of each loop for 16 multiply-adds; steps: by the name shown."""
    loops = {}
    for name, step in steps.items():
        code = _code(as_variant(step))
        count = len(load_waits.groups_between_waits(code)) - 1
        loops[f"{name.replace('_', ' ')}: {count} waits"] = code
    return load_waits.draw_waits(
        loops, translate("Loads and multiply-adds, in the order of the machine code")
    )


def _code(variant: Variant) -> list[Instruction]:
    """Return the iterations of a loop that make 16 multiply-adds, at least one iteration.

    The instructions are recorded ones; the reader's kernel is compiled. Raises CourseError if that
    is not possible.
    """
    if not is_mine(variant) and str(variant) in listed_kernels():
        code = list(listing(str(variant)))
    else:
        report = xray(variant.kernel, variant.step.signature, ARCH)
        if report.hot is None or not report.hot.ffma:
            raise CourseError(translate("The machine code of this kernel has no loop."))
        code = list(report.hot.body)
    multiply_adds = sum(one.name in PRODUCTS for one in code)
    return code * max(1, round(TERMS / multiply_adds))


def _times_of(step: Step | Variant, shape: str) -> LoopTimes:
    """Return the estimated times and the recorded time of a step at a shape."""
    schedulers = limits_of(device_shown().compute_capability).sub_partitions
    return LoopTimes(
        recorded=ms_if_any(as_variant(step), shape),
        instructions=one_per_cycle_ms(hot_loop(step).per_multiply_add / schedulers, shape),
        cache_lines=estimated_ms(watch(step), shape),
    )
