"""Granularity, the elements of c per thread: loads per multiply-add, resources, and speed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache

from utils.errors import CourseError
from utils.figures.grain_bars import draw_grain_bars
from utils.figures.look import number
from utils.ladder.ladder import is_of_a_ladder, ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import (
    as_step,
    as_variant,
    loads_per_multiply_add,
    multiply_adds,
    watch,
)
from utils.lessons.inner_loops import hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import NOTHING, ms_if_any, recorded_ms, share_of_peak
from utils.lessons.wavefronts import shared_memory_ms
from utils.machine import devices
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import records
from virtual_gpu import Trace
from virtual_gpu.pictures.svg import Picture

# A multiple of the tiles of all steps here, with one tile along k and one row of blocks.
SHAPE = "32x256x32"


@cache
def _trace(step: Step | Variant) -> Trace:
    """Return the trace of a step at `SHAPE`; the result is cached."""
    return watch(step, SHAPE)


def words_per_multiply_add(**steps: Step | Variant) -> Table:
    """Return a table of the words that a thread loads per multiply-add, one row per step.

    The columns are the words from shared memory, and those of a and of b from global memory. steps:
    one per row; the keyword is the row's name, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        trace = _trace(step)
        loads = trace.accesses.query("kind == 'load' and space == 'global'")
        words = loads.groupby("array")["words"].sum() / multiply_adds(trace)
        shared = loads_per_multiply_add(trace, "shared")
        factors = list(inspect.signature(as_variant(step).kernel.py_func).parameters)[:2]
        cells = (number(shared), *(_fraction(words.get(name, 0.0)) for name in factors))
        rows.append((name.replace("_", " "), *cells))
    head = ("", "from shared memory", "of `a`, global", "of `b`, global")
    return table("Words loaded for each multiply-add, counted on the virtual GPU", head, rows)


def _fraction(value: float) -> str:
    """Return a number between 0 and 1 as the nearest unit fraction, such as "1/32".

    0 and numbers from 1 on have three significant digits.
    """
    return f"1/{1 / value:.0f}" if 0 < value < 1 else number(value)


def _ms(value: float | None) -> str:
    """Return a time in ms as text, such as "1.2 ms"; "–" for None and 0.

    It has three significant digits and a no-break space.
    """
    return f"{value:.3g}\N{NO-BREAK SPACE}ms" if value else NOTHING


def _with(step: Step | Variant, constant: str) -> Step:
    """Return the Step that is given, or that the given variant belongs to, if it has `constant`.

    constant: the name of a constant of which records compare several values, such as "GRAIN".
    Raises CourseError if the step lacks the constant or is of no ladder.
    """
    step = as_step(step)
    if constant not in step.choices or not is_of_a_ladder(step):
        raise CourseError(
            f"{step.name} has no records with several values of {constant}: choose a step of the "
            "course, such as granularity."
        )
    return step


def machine_wavefronts(step: Step | Variant) -> float:
    """Return the shared-memory wavefronts per warp-wide multiply-add, with reads as compiled.

    The reads come from the machine code of the hot loop, the stores from the virtual GPU. A read
    counts as one wavefront, but a wide read (LDS.128) counts as two. The profiler confirms this for
    `tiled`, where all lanes read the same words; the result is right only for kernels whose wide
    reads are all of this kind. Raises CourseError if neither the compiler nor the record has the
    loop.
    """
    loop, trace = hot_loop(step), _trace(step)
    reads = sum(1 + (code == "LDS.128") for code in loop.opcodes if code.startswith("LDS"))
    stores = WARP * trace.totals["shared_store_wavefronts"] / multiply_adds(trace)
    return reads / loop.multiply_adds + stores


def shared_estimates(shape: str = "4096", **steps: Step | Variant) -> Table | Card:
    """Return a table of the shared-memory accesses per multiply-add and the time of each step.

    The columns are the words that a thread reads in the source code, the wavefronts of a warp in
    the machine code, and the estimated and the recorded time in ms. The estimate assumes that an SM
    serves one wavefront per cycle and never waits. Without a record the last cell is "–". shape: as
    on the command line. steps: one per row; the keyword is the row's name, with _ for spaces. If
    neither the compiler nor the record has one of the loops, return a Card that says so.
    """
    rows = []
    for name, step in steps.items():
        try:
            wavefronts = machine_wavefronts(step)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        times = shared_memory_ms(wavefronts, shape), ms_if_any(step, shape)
        reads = number(loads_per_multiply_add(_trace(step), "shared"))
        cells = reads, f"{wavefronts:.2f}", *(_ms(ms) for ms in times)
        rows.append((name.replace("_", "\N{NO-BREAK SPACE}"), *cells))
    head = ("", "reads in the source", "wavefronts", "estimate", "recorded")
    note = f"Estimate: one wavefront per cycle and SM, at {shape} on one {device_shown().name}."
    return table("Shared memory, for each multiply-add of a warp", head, rows, note)


def draw_grains(step: Step, *constants: dict[str, int]) -> Picture:
    """Draw bars of the published and recorded speed of a step at 1024×1024×1024, by grain.

    The speed is in percent of the peak of each GPU. The grain is the number of elements of c per
    thread. The published speeds are those of a kernel with the step's name. constants: the values
    of the step's constants besides GRAIN, one dict per group of recorded bars; none if GRAIN is its
    only constant. Bars without a record are left out. Raises CourseError for a step that is of no
    ladder or has no GRAIN.
    """
    device, step = device_shown(), _with(step, "GRAIN")
    recorded = {}
    for others in constants or ({},):
        words = ", ".join(f"{name} = {value}" for name, value in others.items())
        shares = {
            grain: 100 * _share(step, GRAIN=grain, **others)
            for grain in sorted(step.choices["GRAIN"])
            if _is_recorded(step, GRAIN=grain, **others)
        }
        if shares:
            recorded[f"{device.name}{', ' * bool(words)}{words}"] = shares
    title = "% of each GPU's peak, 1024×1024×1024"
    return draw_grain_bars(title, {**published_shares(step.name), **recorded}, recorded.keys())


def published_shares(kernel: str) -> dict[str, dict[int, float]]:
    """Return the published speeds of a kernel in percent of the data sheet's peak of each GPU.

    The outer key names GPU, year and tile, such as "Tesla K40, 2014, TILE = 16", and the inner key
    is the grain. kernel: its name in `data/published/gemm_gpu.csv`; without any row of this name
    the result is empty. Rates that a document gives in units of 2^30 are converted to units of
    10^9.
    """
    frame = records.published("gemm_gpu")
    shares: dict[str, dict[int, float]] = {}
    for row in frame[frame["kernel"] == kernel].itertuples():
        tile = row.block.partition("x")[0]
        gflops = float(row.gflops) * (2**30 / 1e9 if row.gflops_base == "2^30" else 1)
        percent = 100 * gflops / devices.find(row.device).peak_gflops
        shares.setdefault(f"{row.device}, {row.year}, TILE = {tile}", {})[int(row.grain)] = percent
    return shares


def _share(step: Step, **constants: int) -> float:
    """Return the share of the peak at 1024×1024×1024, a fraction, recorded on the device shown.

    Raises CourseError if nothing is recorded.
    """
    return share_of_peak(step.variant(**constants), "1024")


def fastest_tile(step: Step, shape: str, **constants: int) -> int:
    """Return the value of TILE with the shortest recorded time at a shape.

    Only tiles that are also recorded at 1024×1024×1024 are compared. shape: as on the command line.
    constants: the values of the step's other constants. Raises CourseError if there is no such
    tile, or if one of them has no record at the shape.
    """
    step = _with(step, "TILE")
    recorded = [tile for tile in step.choices["TILE"] if _is_recorded(step, TILE=tile, **constants)]
    if not recorded:
        raise CourseError(f"No tile of {step.name} is recorded: choose a step of the course.")
    return min(recorded, key=lambda tile: recorded_ms(step.variant(TILE=tile, **constants), shape))


def _is_recorded(step: Step, **constants: int) -> bool:
    """Return True if the step with these constants has a recorded share at 1024×1024×1024."""
    try:
        _share(step, **constants)
    except CourseError:
        return False
    return True


def grain_costs(step: Step, published_on: str, **constants: int) -> Table:
    """Return a table of the resources that a step needs and its occupancy, one row per grain.

    The columns are the registers per thread, the bytes of shared memory per block, the resident
    blocks per SM and the occupancy in percent. The rows published for one device come first, then
    those recorded on the device shown. published_on: a device of `data/published/gemm_gpu.csv` that
    has this step. constants: the values of the step's constants besides GRAIN. Raises CourseError
    for a step that is of no ladder or has no GRAIN.
    """
    step = _with(step, "GRAIN")
    rows = [*_published(step.name, published_on), *_recorded(step, constants)]
    head = ("", "registers", "shared memory", "blocks on an SM", "occupancy")
    return table("Registers of a thread, bytes of shared memory of a block", head, rows)


def _published(kernel: str, device: str) -> Iterator[tuple]:
    """Yield a row of five cells per published grain of a kernel on a device.

    The rows are in the order of the data. The cells are: device and grain, registers per thread,
    bytes of shared memory per block, resident blocks per SM, and occupancy in percent. kernel: its
    name in `data/published/gemm_gpu.csv`.
    """
    frame = records.published("gemm_gpu")
    capability = devices.find(device).compute_capability
    for row in frame[(frame["kernel"] == kernel) & (frame["device"] == device)].itertuples():
        across, down = map(int, row.block.split("x"))
        figures = int(row.registers), int(row.shared_bytes)
        yield _needs(
            f"{device.split()[-1]}, grain\N{NO-BREAK SPACE}{row.grain}",
            capability,
            across * down,
            *figures,
        )


def _recorded(step: Step, constants: dict[str, int]) -> Iterator[tuple]:
    """Yield a row of five cells per recorded grain of a step, in ascending order of the grain.

    The cells are: device and grain, registers per thread, bytes of shared memory per block,
    resident blocks per SM, and occupancy in percent. The records are those of the device shown.
    constants: the step's other constants.
    """
    device, ladder = device_shown(), ladder_of(step)
    frame = records.measured(device.name, ladder.name)
    for grain in sorted(step.choices["GRAIN"]):
        variant = step.variant(GRAIN=grain, **constants)
        matches = frame[(frame["step"] == step.name) & (frame["params"] == variant.params)]
        for row in matches.head(1).itertuples():
            figures = int(row.registers), int(row.shared_bytes)
            threads = variant.launch(ladder.parse("1024")).threads
            name = f"{device.name.split()[-1]}, grain\N{NO-BREAK SPACE}{grain}"
            yield _needs(name, device.compute_capability, threads, *figures)


def _needs(
    name: str, capability: tuple[int, int], threads: int, registers: int, shared: int
) -> tuple:
    """Return the five cells of a row on a kernel's resources.

    They are: name, registers, bytes of shared memory, resident blocks per SM, occupancy. Registers
    and blocks are ints. The bytes are text such as "16,384", and the occupancy is text in percent.
    capability: the compute capability. threads: per block. registers: per thread. shared: bytes per
    block.
    """
    resident = occupancy(capability, threads, registers, shared)
    share = f"{number(100 * resident.fraction)} %"
    return name, registers, f"{shared:,}", resident.blocks, share


def trade(step: Step, shape: str = "4096", most: int = 8) -> Table | Card:
    """Return a table of wavefronts, occupancy, sums and the speed of a step, one row per grain.

    The columns are the shared-memory wavefronts per multiply-add of a warp, the occupancy in
    percent, the independent sums on an SM, and the recorded time in ms at `shape`. Each resident
    thread has one sum per element of c that it computes. most: the largest grain shown; each grain
    up to it must have a record on the device shown. If neither the compiler nor the record has one
    of the loops, return a Card that says so.
    """
    step = _with(step, "GRAIN")
    device, ladder, rows = device_shown(), ladder_of(step), []
    frame = records.measured(device.name, ladder.name)
    for grain in sorted(grain for grain in step.choices["GRAIN"] if grain <= most):
        variant = step.variant(GRAIN=grain)
        try:
            wavefronts = machine_wavefronts(variant)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        row = frame[(frame["step"] == step.name) & (frame["params"] == variant.params)].iloc[0]
        threads = variant.launch(ladder.parse(shape)).threads
        figures = int(row["registers"]), int(row["shared_bytes"])
        on_sm = occupancy(device.compute_capability, threads, *figures)
        rows.append(
            (
                f"grain\N{NO-BREAK SPACE}{grain}",
                f"{wavefronts:.2f}",
                f"{number(100 * on_sm.fraction)} %",
                f"{WARP * on_sm.warps * grain:,}",
                f"{recorded_ms(variant, shape):.3g}\N{NO-BREAK SPACE}ms",
            )
        )
    head = ("", "wavefronts", "occupancy", "sums on an SM", f"recorded at {shape}")
    return table(f"Reads, threads and sums of one {device.name}", head, rows)
