"""Pictures of the product's loop: its instructions, the times that they need, and its waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from numba import float32

from gemm_kernels import LADDER
from gpu_xray.loops import PRODUCTS
from gpu_xray.sass import Instruction
from utils.division import cdiv
from utils.errors import CourseError
from utils.figures import instruction_strip
from utils.figures.resource_bars import draw_resources
from utils.ladder import kept_functions
from utils.ladder.shapes import in_print
from utils.ladder.step import Step, Variant
from utils.lessons import load_waits
from utils.lessons.cards import Card, Table, table
from utils.lessons.comparison import nothing_yet
from utils.lessons.compiled_loops import listing
from utils.lessons.counting import (
    as_variant,
    cache_lines_per_multiply_add,
    estimated_ms,
    one_per_cycle_ms,
    watch,
)
from utils.lessons.edits import Edit, edited
from utils.lessons.inner_loops import draw_loops, hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import mine
from utils.lessons.recorded import ms_if_any, record_of, recorded_ms
from utils.machine.devices import REFERENCE, slug
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records, rows
from utils.measuring.kernel_times import ProductTime
from utils.measuring.profiled_launches import counters_of, states_of
from utils.paths import DATA
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

TASK = "unroll"
WITH_RANGE = "naive with range"  # its name in the record of listings
TERMS = 16  # multiply-adds in each drawing of a loop
COVERED = ("256", "2048", "4096")  # n in the table of what hides a wait
PROFILED = ("512", "2048", "4096", "8192")  # n in the table of what warps did
REGISTERS = 32  # of a thread, in `naive` and all unrolled variants
UNROLL_FACTORS = (1, 2, 4, 8, 16)  # those with a recorded time at 4096
SCHEDULERS = 4  # of an SM
SMALLEST_SHOWN = 1024  # n in the table of `while` and `for`
# Lanes of an SM for integer instructions, by "Throughput of Native Arithmetic Instructions" in
# NVIDIA's CUDA C++ Programming Guide, compute capability 9.0. IMAD is executed elsewhere.
INTEGER_LANES = 64
INTEGER = ("IADD3", "ISETP", "LEA", "LOP3", "SEL", "SHF")
RESOURCES = ("instructions", "cache_lines")
# A column of the table of what warps did -> the state of a warp, as the profiler names it.
STATES = {"for a word": "long_scoreboard", "for the queue": "lg_throttle"}


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
        """Return a time as text, such as "2.46 ms", or "–" if it is None or 0.

        what: the name of its field, such as "recorded" or "cache_lines".
        """
        ms = getattr(self, what)
        return f"{ms:#.3g}".rstrip(".") + "\N{NO-BREAK SPACE}ms" if ms else "–"


def draw_instructions(**steps: Step | Variant) -> Picture | Card:
    """Draw the instructions of each loop for 16 multiply-adds, and those of the reader's `unroll`.

    steps: the keyword is the name in the picture, with _ for spaces. Return a card instead if the
    reader has no right kernel yet, or if one of the loops is neither compiled here nor recorded,
    which for the reader's own kernel means that it cannot be compiled here.
    """
    if not kept_functions.kept_text(TASK):
        return nothing_yet(TASK)
    try:
        return draw_loops(TERMS, **steps, **{"your last right kernel": mine(TASK)})
    except CourseError as error:
        return Card("ask", (translate("{error} The lesson goes on without it.", error=error),))


def draw_times(shape: str, **steps: Step | Variant) -> Picture:
    """Draw two estimates of each step at a shape as bars above the bar of its recorded time.

    The estimates are those of instructions and of cache lines; all times are ms on the device
    shown. A step without a record at this shape has only its estimates. shape: n of an n×n product.
    steps: the keyword is the name in the picture, with _ for spaces.
    """
    times = {name.replace("_", " "): _times_of(step, shape) for name, step in steps.items()}
    where = translate("n = {n}, one {device}", n=in_print(shape), device=device_shown().name)
    return draw_resources(where, times, RESOURCES, mark_bound=True)


def draw_waits(**steps: Step | Variant) -> Picture:
    """Draw the loads and multiply-adds of each loop for 16 multiply-adds, with bars for waits.

    steps: recorded ones; the keyword is the name in the picture, with _ for spaces.
    """
    loops = {}
    for name, step in steps.items():
        code = _code(as_variant(step))
        count = len(load_waits.groups_between_waits(code)) - 1
        loops[f"{name.replace('_', ' ')}: {count} waits"] = code
    return load_waits.draw_waits(
        loops, translate("Loads and multiply-adds, in the order of the machine code")
    )


def draw_order(**steps: Step | Variant) -> Picture:
    """Draw one iteration of the machine code of each step, with a bar where a warp waits for loads.

    steps: recorded ones; the keyword is the name in the picture, with _ for spaces.
    """
    loops = {}
    for name, step in steps.items():
        code = listing(str(as_variant(step)))
        waits = load_waits.waits_before(code)
        loops[name.replace("_", " ")] = [
            (one.opcode, before) for one, before in zip(code, waits, strict=True)
        ]
    return instruction_strip.draw_waiting(translate("One iteration in machine code"), loops)


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


def integer_cycles(name: str = WITH_RANGE) -> float:
    """Return the cycles of an SM for the integer instructions of a warp's multiply-add.

    These are the instructions of `INTEGER` in a recorded loop. name: that of its listing.
    """
    names = [one.name for one in listing(name)]
    integers, multiply_adds = (sum(one in kind for one in names) for kind in (INTEGER, PRODUCTS))
    return integers / multiply_adds * WARP / INTEGER_LANES


def range_times() -> dict[str, dict[int, float]]:
    """Return kernel -> n -> recorded ms of an n×n product on the reference device.

    The kernels are `naive`, `naive` with a `for` loop and two unrolled ones, by their names in the
    record: "naive", `WITH_RANGE`, "unrolled UNROLL=1" and "unrolled UNROLL=4". Their runs
    alternated.
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

    The columns are the instructions and the waits for 16 multiply-adds, the recorded median in ms,
    and the least and most ms of the repetitions.
    """
    unrolled = LADDER.step("unrolled")
    variants = {f"UNROLL = {factor}": unrolled.variant(UNROLL=factor) for factor in UNROLL_FACTORS}
    variants["naive"] = LADDER.step("naive").variant()
    cells = [
        (
            f"`{name}`",
            f"{TERMS * hot_loop(variant).per_multiply_add:g}",
            f"{waits(variant):g}",
            f"{(record := record_of(variant, '4096')).time_ms:.1f} ms",
            f"{record.time_ms_min:.1f} to {record.time_ms_max:.1f}",
        )
        for name, variant in sorted(variants.items(), key=lambda pair: -recorded_ms(pair[1]))
    ]
    caption = translate("The loops for 16 multiply-adds, and the product at n = 4096")
    return table(caption, ("", "instructions", "waits", "median", "all repetitions"), cells)


def cover() -> dict[str, tuple[int, int, float]]:
    """Return n -> (number of other warps, cycles of their work, cycles of a load's latency).

    The other warps are those that an SM holds besides one that waits, in a launch of `naive`. Their
    work is what all of them together have for the SM between two of their waits, one cycle per
    cache line. The latency is recorded: that of L2 if three n×n matrices fit into it, else that of
    DRAM. The keys are those of `COVERED`.
    """
    device, naive = device_shown(), LADDER.step("naive")
    cycles = cache_lines_per_multiply_add(watch(naive)) * TERMS / waits(naive)
    found = {}
    for size in COVERED:
        launch = naive.launch(LADDER.parse(size))
        fit = occupancy(device.compute_capability, threads=launch.threads, registers=REGISTERS)
        blocks = min(fit.blocks, cdiv(launch.blocks, device.sms))
        others = blocks * launch.threads // WARP - 1
        fits = 3 * int(size) ** 2 * float32.bitwidth // 8 <= device.l2_kib * 1024
        found[size] = others, round(others * cycles), _latency("L2" if fits else "DRAM")
    return found


def compare_cover() -> Table:
    """Return a table of the work that hides a wait of `naive`, and of a load's latency, per size.

    The columns are n; the warps of an SM besides the one that waits; the cycles for which their
    work keeps the SM busy; the latency in cycles; and how many times faster than `naive` the kernel
    unrolled by 4 is by the record.
    """
    naive, by_four = LADDER.step("naive"), LADDER.step("unrolled").variant(UNROLL=4)
    cells = [
        (
            size,
            str(others),
            str(work),
            f"about {latency:.0f}",
            f"{recorded_ms(naive, size) / recorded_ms(by_four, size):.2f}",
        )
        for size, (others, work, latency) in cover().items()
    ]
    caption = translate("Can other warps hide a wait of `naive`?")
    head = ("n", "other warps", "cycles of work", "cycles of a load", "gain by unrolling")
    return table(caption, head, cells)


def cycles_in_states(step: Step | Variant, size: str) -> dict[str, float]:
    """Return state -> the cycles that a warp is in it per multiply-add of a profiled launch.

    The keys are those of `STATES`, then "the rest", which is the sum of all other states, and
    "together", the sum of all. The caches are hot. size: n of the n×n product. Raises CourseError
    if this launch was not profiled.
    """
    counters = counters_of(str(as_variant(step)), "x".join([size] * 3), "warm")
    instructions = counters["instructions"] / (int(size) ** 3 / WARP)
    each = {state: instructions * value for state, value in states_of(counters).items()}
    waits_for = {words: each.pop(state) for words, state in STATES.items()}
    rest = sum(each.values())
    return {**waits_for, "the rest": rest, "together": sum(waits_for.values()) + rest}


def compare_states(sizes: Sequence[str] = PROFILED, factors: Sequence[int] = (4,)) -> Table:
    """Return a table of what a warp does, with a row per size and kernel.

    The kernels are `naive` and then `unrolled` by each of the factors. The first column is n and
    the kernel, and the others are the cycles of `cycles_in_states`. sizes: each n.
    """
    unrolled = LADDER.step("unrolled")
    kernels = {"naive": LADDER.step("naive")}
    kernels |= {f"by {factor}": unrolled.variant(UNROLL=factor) for factor in factors}
    cells = [
        (f"{size}, {name}", *(f"{cycles:.0f}" for cycles in cycles_in_states(step, size).values()))
        for size in sizes
        for name, step in kernels.items()
    ]
    caption = translate("Cycles of a warp per multiply-add, one {device}", device=REFERENCE)
    head = ("n and kernel", *cycles_in_states(kernels["naive"], sizes[0]))
    return table(caption, head, cells)


def bound_ms(n: int, instructions: float, lines: float, sms: int, mhz: float) -> float:
    """Return the least time of an n×n product in ms, for readers without a right `least_ms`.

    instructions, lines: instructions and cache lines of a warp per multiply-add. sms: the number of
    SMs. mhz: their clock.
    """
    cycles = max(instructions / SCHEDULERS, lines)
    return n**3 / WARP / sms * cycles / mhz / 1000


def _latency(where: str) -> float:
    """Return the recorded latency of a load in cycles, rounded to tens; where: "L2" or "DRAM"."""
    curves = pd.read_csv(records.file_of(device_shown().name, "latency_curves"))
    latency = curves[curves["experiment"] == "latency"].set_index("what")["value"]
    return float(round(latency[where], -1))


def _code(variant: Variant) -> list[Instruction]:
    """Return the recorded instructions of as many iterations as make 16 multiply-adds, in order.

    They are those of at least one iteration of the kernel's loop.
    """
    code = list(listing(str(variant)))
    multiply_adds = sum(one.name in PRODUCTS for one in code)
    return code * max(1, round(TERMS / multiply_adds))


def _times_of(step: Step | Variant, shape: str) -> LoopTimes:
    """Return the estimated and the recorded ms of a step at a shape, on the device shown."""
    schedulers = limits_of(device_shown().compute_capability).sub_partitions
    return LoopTimes(
        recorded=ms_if_any(as_variant(step), shape),
        instructions=one_per_cycle_ms(hot_loop(step).per_multiply_add / schedulers, shape),
        cache_lines=estimated_ms(watch(step), shape),
    )
