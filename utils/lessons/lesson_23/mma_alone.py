"""The rate of `mma` on fragments that stay in registers, and the kernel that cuBLAS launches."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from tensor_kernels.mma_pipelined import MT, NT
from tensor_kernels.registers_alone import EXPERIMENT, TURNS, K, M, MmaRate, N
from utils.figures import page
from utils.figures.labels import label_ends
from utils.figures.look import COLOURS, INK, MARKERS, new_figure, style, with_alt
from utils.ladder.step import Launch
from utils.lessons.cards import Table, table
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_23.feeding import SIDE, shares
from utils.lessons.lesson_23.machine_code import LADDER, PIPELINED, blocks_of
from utils.lessons.recorded import record_of, row_with, rows_of
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring.library_kernels import FILE, LibraryKernel
from virtual_gpu.pictures.svg import Picture

INSTRUCTION = "mma_m16n8k16"
KIB = 1024  # bytes
OPERATIONS = 4096  # per cycle on the tensor cores of an SM of an H200, by the data sheet


def rates() -> tuple[MmaRate, ...]:
    """Return the recorded rows of the instruction `INSTRUCTION`, which `mma_pipelined` uses.

    There is one row per number of warps and of accumulators. They are those of the device shown or,
    if it has no such record, of the reference device.
    """
    return tuple(row for row in rows_of(EXPERIMENT.file, MmaRate) if row.kernel == INSTRUCTION)


def schedulers() -> int:
    """Return the number of schedulers of an SM of the device shown."""
    return limits_of(device_shown().compute_capability).sub_partitions


def in_flight(row: MmaRate) -> int:
    """Return the number of independent mma that the warps of one scheduler have."""
    return row.accumulators * row.warps // schedulers()


def cycles_per_mma(row: MmaRate) -> float:
    """Return the cycles from the start of one mma to that of the next one on a scheduler."""
    return row.time_ms * row.sm_clock_mhz * 1e3 / (TURNS * in_flight(row))


def latency() -> float:
    """Return the cycles from one mma to the next if each one needs the sums of the one before."""
    return cycles_per_mma(row_with(rates(), accumulators=1, warps=schedulers()))


def cycles_at_the_peak() -> float:
    """Return the cycles from one mma to the next on a scheduler at the data sheet's peak."""
    return schedulers() * 2 * M * N * K / OPERATIONS


def needed() -> int:
    """Return how many mma a scheduler must have in flight for the data sheet's peak, at least."""
    return math.ceil(latency() / cycles_at_the_peak())


def best() -> MmaRate:
    """Return the row of `rates` with the most TFLOP/s."""
    return max(rates(), key=lambda row: row.tflops)


def product_ms() -> float:
    """Return the ms that the mma of a product at 4096 need at the highest recorded rate."""
    return 2 * int(SIDE) ** 3 / best().tflops / 1e9


def in_flight_of_pipelined() -> int:
    """Return the number of independent mma per scheduler that `mma_pipelined` has."""
    return MT * NT * blocks_of(PIPELINED) * _launch().threads // WARP // schedulers()


def _launch() -> Launch:
    """Return the launch of `mma_pipelined` at 4096."""
    return PIPELINED.launch(LADDER.parse(SIDE), **PIPELINED.constants())


def draw_share() -> Picture:
    """Draw the share of the peak that mma reaches against the independent mma of a scheduler.

    A line has the rates of one number of warps. `mma_pipelined` is a point, and cuBLAS a line.
    """
    row, reached = best(), shares()
    title = "mma on fragments that stay in registers"
    where = (
        f"share of the data sheet's peak, by warps per scheduler; one {row.device}, recorded "
        f"{row.date}"
    )
    own = in_flight_of_pipelined(), 100 * reached[PIPELINED.name], INK
    library = own[0], 100 * reached["cuBLAS"], INK
    with style():
        figure = new_figure(title, where, height=3.1)
        axes = figure.add_subplot()
        ends = _draw_lines(axes)
        axes.plot(*own[:2], "*", markersize=12, color=INK)
        axes.axhline(library[1], color=INK, linewidth=1, linestyle="--")
        _scale(axes, own[0])
        label_ends(axes, {**ends, PIPELINED.name: own, "cuBLAS": library})
    said = "; ".join(f"{in_flight(one)}: {one.efficiency:.0%}" for one in rates())
    alt = (
        f"{title}: {where}, against the independent mma per scheduler. {said}. {PIPELINED.name} "
        f"has {own[0]} and reaches {own[1]:.0f} %, and cuBLAS reaches {library[1]:.0f} %."
    )
    return Picture(page.as_html(with_alt(figure, alt)), alt)


def _draw_lines(axes: Axes) -> dict[str, tuple[float, float, str]]:
    """Draw a line per number of warps; return label -> (x, y, colour) of its right end.

    x is the number of independent mma per scheduler, and y the percentage of the peak. A label is
    the warps per scheduler, such as "2 warps".
    """
    ends = {}
    for number, warps in enumerate(sorted({row.warps for row in rates()})):
        line = [(in_flight(row), 100 * row.efficiency) for row in rates() if row.warps == warps]
        colour, count = COLOURS[number], warps // schedulers()
        axes.plot(*zip(*line, strict=True), color=colour, marker=MARKERS[number])
        ends[f"{count} warp{'s' if count > 1 else ''}"] = (*line[-1], colour)
    return ends


def _scale(axes: Axes, last: int) -> None:
    """Set the scales and names of both axes. last: the end of the horizontal one."""
    ticks = [2**power for power in range(last.bit_length())]
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, 1.1 * last)
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 20), [f"{share} %" for share in range(0, 101, 20)])
    axes.minorticks_off()
    axes.set_xlabel("independent mma per scheduler")
    axes.grid()


def library_kernel() -> LibraryKernel:
    """Return the recorded kernel of cuBLAS for the product of float16 at 4096.

    The record is that of the device shown or, if it has none, that of the reference device. Raises
    CourseError if it does not have this product.
    """
    return row_with(rows_of(FILE, LibraryKernel), elements="float16", n=int(SIDE))


def beside_cublas() -> Table:
    """Return a table that compares `mma_pipelined` with the kernel of cuBLAS, a column each.

    The rows are the blocks, the blocks that an SM holds, the threads per block, the registers per
    thread, the shared memory per block, and the share of the peak.
    """
    ours, library, launch = record_of(PIPELINED, SIDE), library_kernel(), _launch()
    threads, blocks = (math.prod(size) for size in (library.block, library.grid))
    held = occupancy(
        device_shown().compute_capability, threads, library.registers, library.dynamic_shared_bytes
    )
    reached = [shares()[name] for name in (PIPELINED.name, "cuBLAS")]
    rows = [
        ("blocks", f"{math.prod(launch.grid):,}", f"{blocks:,}"),
        ("blocks that an SM holds", str(blocks_of(PIPELINED)), str(held.blocks)),
        ("threads per block", str(launch.threads), str(threads)),
        ("registers per thread", str(ours.registers), str(library.registers)),
        ("shared memory per block",
         *(f"{size / KIB:.0f} KiB" for size in (ours.shared_bytes, library.dynamic_shared_bytes))),
        ("share of the peak", *(f"{100 * share:.0f} %" for share in reached)),
    ]  # fmt: skip
    head = ("", PIPELINED.name.removeprefix("mma_"), "cuBLAS")
    return table(f"mma_pipelined and the kernel of cuBLAS at {SIDE}", head, rows)
