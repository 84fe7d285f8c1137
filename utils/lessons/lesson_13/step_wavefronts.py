"""The wavefronts that a warp takes in one step of k, as bars, and the times that follow from them.

They are what passes shared memory and the L1 cache: the reads of both tiles, the stores into them,
and the loads of their words from global memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from utils.figures.look import number
from utils.figures.roles import MATRIX_A, MATRIX_B
from utils.ladder.step import Variant
from utils.lessons.cards import Stack, Table, table
from utils.lessons.counting import multiply_adds, watch
from utils.lessons.inner_loops import hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import twins
from utils.machine import devices
from utils.machine.devices import Device
from utils.machine.occupancy import WARP, limits_of
from utils.measuring.roofline import SECTORS_PER_WAVEFRONT
from virtual_gpu import Trace
from virtual_gpu.counts.transactions import Pattern, wavefronts
from virtual_gpu.pictures.svg import GREEN, GREY, PURPLE, Picture, legend, rect, svg, text

SHAPE, SIZE = "128x128x16", 4096
QUAD = 16  # bytes
WHITE = "fill:#fff"
EACH = 64  # multiply-adds of a thread per step of k
DEPTH = 8  # steps of k of a tile
COLOURS = {
    "reads_of_a": MATRIX_A, "reads_of_b": MATRIX_B, "tile_stores": PURPLE, "tile_loads": GREEN
}  # fmt: skip
_LEFT, _UNIT, _HEIGHT, _ROW = 112, 9, 22, 34
_LONGEST, _LINE = 250, 44  # the longest bar of recorded times, and the height of its row


@dataclass(frozen=True)
class StepCounts:
    """The wavefronts of a warp per step of k.

    reads: tile -> (reads, wavefronts of one read), "sa" and "sb". stores: of the stores into both
    tiles. loads: of the loads of the tiles' words from global memory.
    """

    reads: Mapping[str, tuple[int, float]]
    stores: float
    loads: float

    @property
    def read_wavefronts(self) -> float:
        """The wavefronts of a warp's reads of both tiles in one step of k."""
        return sum(count * each for count, each in self.reads.values())

    @property
    def total(self) -> float:
        """The wavefronts of a warp's reads, stores and loads in one step of k."""
        return self.read_wavefronts + self.stores + self.loads

    def alone_ms(self, device: Device) -> float:
        """Return the ms of a product of size `SIZE` if an SM serves one wavefront per cycle.

        The clock is the device's boost clock.
        """
        steps = SIZE**3 / EACH / WARP
        return self.total * steps / device.sms / device.boost_clock_mhz / 1e3


@cache
def count_step(variant: Variant) -> StepCounts:
    """Count the wavefronts of a warp per step of k for a kernel with 8×8 elements of c per thread.

    The reads are those of machine code: words of a row of "sb" are read four at a time, because the
    compiler joins such reads, and the words of a column one by one.
    """
    trace = watch(variant, SHAPE)
    totals, steps = trace.totals, multiply_adds(trace) / WARP / EACH
    sectors = totals["global_load_sectors"] / SECTORS_PER_WAVEFRONT
    return StepCounts(
        reads=_reads(trace, steps),
        stores=float(totals["shared_store_wavefronts"] / steps),
        loads=float(max(totals["global_load_requests"], sectors) / steps),
    )


def _reads(trace: Trace, steps: float) -> dict[str, tuple[int, float]]:
    """Return tile -> (number of reads, mean wavefronts of one read) of a warp in one step of k.

    The tiles are "sa" and "sb", and the trace has `steps` steps in all. Words of "sb" count as read
    four at a time.
    """
    found, loads = {}, trace.accesses.query("kind == 'load' and space == 'shared'")
    for tile, counts in loads.groupby("array"):
        sums, access = counts.sum(numeric_only=True), trace.warp_access(tile)
        requests, each = sums["requests"] / steps, sums["wavefronts"] / sums["requests"]
        if tile == "sb" and access.itemsize < QUAD:
            requests *= access.itemsize / QUAD
            first = np.array(access.addresses)[None]
            each = wavefronts(Pattern(first, np.ones_like(first, bool)), QUAD)
        found[tile] = round(requests), float(each)
    return found


def draw_step_wavefronts(**variants: Variant) -> Picture:
    """Draw a bar per kernel: the wavefronts of one warp in one step of k.

    The parts of a bar are, from left to right, the reads of each tile from shared memory, the
    stores into both tiles, and the loads from global memory. variants: the keyword is the name that
    the reader sees. Each has 8×8 elements of c per thread.
    """
    counts = {name: count_step(one) for name, one in variants.items()}
    body, words = "", []
    for row, (name, one) in enumerate(counts.items()):
        x, y = _LEFT, row * _ROW + 4
        body += text(0, y + 16, name, 13)
        for amount, label, colour in _parts(one):
            width = amount * _UNIT
            body += rect(x, y, width - 1, _HEIGHT, colour)
            body += text(x + width / 2, y + 16, label, 12, "middle", style=WHITE)
            x += width
        body += text(x + 6, y + 16, number(one.total), 13, font_weight="bold")
        parts = ", ".join(
            f"{count} reads of {tile} with {number(each)} wavefronts each"
            for tile, (count, each) in one.reads.items()
        )
        words.append(
            f"{name}: {parts}, {number(one.stores)} for stores, {number(one.loads)} for loads, "
            f"{number(one.total)} in all."
        )
    alt = "Wavefronts of a warp in one step of k. " + " ".join(words)
    width = _LEFT + 34 * _UNIT + 34
    drawn = svg(width, len(counts) * _ROW + 4, body, alt, widest=width)
    return Picture(legend(**COLOURS) + drawn, alt)


def _parts(counts: StepCounts) -> Iterable[tuple[float, str, str]]:
    """Yield (wavefronts, label, colour) of each part of a bar, from left to right.

    The wavefronts are those of a warp in one step of k. The parts are the reads of a and of b, the
    stores, and the loads. The last two have the label "".
    """
    for (reads, each), colour in zip(counts.reads.values(), (MATRIX_A, MATRIX_B), strict=True):
        yield reads * each, f"{reads}×{number(each)}", colour
    yield counts.stores, "", PURPLE
    yield counts.loads, "", GREEN


def compare_steps(mine: Variant) -> Table:
    """Return a table of the wavefronts of the reader's kernel beside those of the course's steps.

    mine: the reader's right kernel for `wide_tiles`. The rows are the step before, which is
    `register_blocked`, the reader's kernel, and `vectorized`. The columns are the wavefronts of
    reads, of stores and loads, and of all, in one step of k of a warp, and the ms of the product at
    one wavefront per cycle on the device shown.
    """
    twin = twins()["wide_tiles"]
    kernels = {
        twin.before.step.name: twin.before,
        "your wide_tiles": mine,
        twin.step.name: twin.variant,
    }
    device, rows = device_shown(), []
    for name, one in kernels.items():
        counts = count_step(one)
        parts = counts.read_wavefronts, counts.stores + counts.loads, counts.total
        rows.append((name, *map(number, parts), f"{counts.alone_ms(device):.2f} ms"))
    head = ("", "reads", "stores and loads", "in all", "at one per cycle")
    return table("Wavefronts of a warp in one step of k", head, rows, _note(device))


def compare_changes(timed: Iterable, kernels: Iterable[Variant]) -> Stack:
    """Return bars of the recorded times of an experiment, and a table of the kernels' counts.

    The columns of the table are the wavefronts of a warp per step of k, and a warp's instructions
    for one tile in the innermost loop and around it. timed: rows of `wide_alone.csv`, as
    `gemm_kernels.wide_alone.recorded_times()` returns them. kernels: from top to bottom, each with
    8×8 elements of c per thread.
    """
    timed, kernels = list(timed), list(kernels)
    device, all_ms = devices.find(timed[0].device), recorded_ms(timed)
    rows = [
        (one.step.name, number(count_step(one).total), *instructions_of_tile(one, device.arch))
        for one in kernels
    ]
    head = (
        "",
        "wavefronts of a step, by our count",
        "instructions of a tile, innermost loop",
        "instructions of a tile, around it",
    )
    note = f"Instructions that a warp executes for one tile of 8 steps, compiled for {device.arch}."
    drawn = draw_times({one: all_ms[str(one)] for one in kernels}, device)
    return Stack((drawn, table("The same four kernels, counted", head, rows, note)))


def instructions_of_tile(variant: Variant, arch: str) -> tuple[int, int]:
    """Return the instructions of a warp for one tile: (in the innermost loop, around this loop).

    variant: a kernel with 8×8 elements of c per thread and tiles of `DEPTH` steps of k. arch: the
    architecture to compile for, such as "sm_90". Raises CourseError if neither the compiler nor the
    record has the kernel.
    """
    loop = hot_loop(variant, arch)
    per_tile = EACH * DEPTH
    return round(loop.per_multiply_add * per_tile), round(loop.around * per_tile)


def main_saving(before: Variant, after: Variant) -> str:
    """Return the words for the count that saves the most time between two kernels.

    They are a choice of question 13.cause, such as "fewer wavefronts". Both kernels have 8×8
    elements of c per thread. The device is the reference device.
    """
    device = devices.find(devices.REFERENCE)
    pairs = zip(*(instructions_of_tile(one, device.arch) for one in (before, after)), strict=True)
    inside, around = ((old - new) * instruction_ms(device) for old, new in pairs)
    wavefronts = count_step(before).alone_ms(device) - count_step(after).alone_ms(device)
    saved = {
        "fewer wavefronts": wavefronts,
        "fewer instructions in the innermost loop": inside,
        "fewer instructions around it": around,
    }
    return max(saved, key=saved.get)


def instruction_ms(device: Device) -> float:
    """Return the ms of one instruction per tile and warp, in a product of size `SIZE`.

    Each scheduler of the device issues one instruction per cycle.
    """
    tiles = SIZE**3 / EACH / WARP / DEPTH
    schedulers = device.sms * limits_of(device.compute_capability).sub_partitions
    return tiles / schedulers / device.boost_clock_mhz / 1e3


def show_profile(counted: Mapping) -> Table:
    """Return a table of the profiler's counts, one row per kernel.

    The columns are the wavefronts per step of k, of shared and of global memory, and the
    instructions per tile, each of one warp.
    counted: kernel -> row of `wide_counters.csv`, as `wide_alone.recorded_counters` returns it.
    """
    rows = []
    for one in counted.values():
        steps = one.n**3 / EACH / WARP
        per_tile = one.instructions / steps * DEPTH
        shared, rest = one.shared_wavefronts, one.wavefronts - one.shared_wavefronts
        wavefronts = f"{shared / steps:.1f}", f"{rest / steps:.2f}"
        rows.append((one.kernel, *wavefronts, f"{per_tile:.0f}"))
    head = ("", "shared memory", "global memory", "instructions")
    caption = (
        "Wavefronts of a step and instructions of a tile, counted by the profiler for one warp, at "
        f"{one.n}×{one.n}, one {one.device}"
    )
    return table(caption, head, rows)


def draw_times(ms: Mapping[Variant, float], device: Device) -> Picture:
    """Draw a bar per recorded time, and in it the time of all wavefronts at one per cycle.

    ms: kernel -> ms at `SIZE` on `device`, from top to bottom. Beside each time but the first
    is by how many ms it is less than the time above.
    """
    body, words, before = "", [], None
    unit = _LONGEST / max(ms.values())
    for row, (one, time) in enumerate(ms.items()):
        x, y, counts, name = _LEFT, row * _LINE + 4, count_step(one), one.step.name
        alone = counts.alone_ms(device)
        body += text(0, y + 16, name, 13)
        for amount, _, colour in _parts(counts):
            width = amount / counts.total * alone * unit
            body += rect(x, y, width - 1, _HEIGHT, colour)
            x += width
        end = _LEFT + time * unit
        body += rect(x, y, end - x, _HEIGHT, GREY)
        body += text(end + 6, y + 16, f"{time:.2f} ms", 13, font_weight="bold")
        less = f"{before - time:.3f} less" if before else ""
        body += text(end + 70, y + 16, less, 12)
        body += text(_LEFT, y + _HEIGHT + 14, f"{alone:.2f} ms of it for wavefronts", 12)
        words.append(f"{name}: {time:.2f} ms {less}, {alone:.2f} ms of it for wavefronts")
        before = time
    title = f"Recorded times at {SIZE}×{SIZE}, one {device.name}"
    alt = f"{title}. {'; '.join(words)}."
    drawn = svg(_LEFT + _LONGEST + 106, len(ms) * _LINE + 10, body, alt, widest=540)
    colours = legend(**COLOURS) + legend(remaining_time=GREY)
    return Picture(f"<div><b>{title}</b></div>{colours}{drawn}", alt)


def _note(device: Device) -> str:
    return (
        f"At one per cycle: the time if each SM serves one wavefront per cycle. n = {SIZE}, one "
        f"{device.name}."
    )


def recorded_ms(timed: Iterable) -> dict[str, float]:
    """Return kernel -> recorded ms at `SIZE` on the first row's device.

    timed: rows of `wide_alone.csv`, as `gemm_kernels.wide_alone.recorded_times()` returns them. The
    names have the constants, if the kernel has any.
    """
    timed = list(timed)
    own = [row for row in timed if (row.device, row.n) == (timed[0].device, SIZE)]
    return {row.kernel: row.time_ms for row in own}
