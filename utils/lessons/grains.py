"""Several elements of c per thread: what a multiply-add costs, and what the threads need for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from utils.errors import CourseError
from utils.figures.grain_bars import draw_grain_bars
from utils.figures.look import number
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Card, Table, table
from utils.lessons.counting import loads_per_multiply_add, multiply_adds, watch
from utils.lessons.inner_loops import hot_loop
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import recorded_ms, share_of_peak
from utils.lessons.wavefronts import shared_memory_ms
from utils.machine import devices
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import records
from virtual_gpu import Trace
from virtual_gpu.pictures.svg import Picture

# It fits the blocks of all steps here, with one tile along k and one row of blocks.
SHAPE = "32x256x32"


@cache
def _seen(step: Step | Variant) -> Trace:
    return watch(step, SHAPE)


def words_per_multiply_add(**steps: Step | Variant) -> Table:
    """Words that threads load for each multiply-add, from shared memory and of a and b.

    steps: by the name that the reader sees, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        seen = _seen(step)
        loads = seen.accesses.query("kind == 'load' and space == 'global'")
        words = loads.groupby("array")["words"].sum() / multiply_adds(seen)
        shared = loads_per_multiply_add(seen, "shared")
        cells = (number(shared), *(_fraction(words[name]) for name in "ab"))
        rows.append((name.replace("_", " "), *cells))
    head = ("", "from shared memory", "of `a`, global", "of `b`, global")
    return table("Words loaded for each multiply-add, counted on the virtual GPU", head, rows)


def _fraction(value: float) -> str:
    """A small share as one over a whole number."""
    return f"1/{1 / value:.0f}"


def machine_wavefronts(step: Step | Variant) -> float:
    """Wavefronts for a multiply-add of a warp, by the machine code's reads of shared memory.

    A joined read (LDS.128) of words that all lanes share takes two, as the profiler's counts say
    of `tiled`, and one of a single word takes one; so it is right for kernels whose joined reads
    are all of this kind. CourseError where neither a compiler nor a record knows the loop.
    """
    loop, seen = hot_loop(step), _seen(step)
    reads = sum(1 + (code == "LDS.128") for code in loop.opcodes if code.startswith("LDS"))
    stores = WARP * seen.totals["shared_store_wavefronts"] / multiply_adds(seen)
    return reads / loop.multiply_adds + stores


def shared_estimates(shape: str = "4096", **steps: Step | Variant) -> Table | Card:
    """Reads in the source code, wavefronts of the machine code, the time they ask for, the record.

    An SM serves one wavefront per cycle, and nothing else takes time. steps: by the name that the
    reader sees, with _ for spaces. Where neither a compiler nor a record knows one of them a
    sentence takes the table's place.
    """
    rows = []
    for name, step in steps.items():
        try:
            asked = machine_wavefronts(step)
        except CourseError as error:
            return Card("ask", (f"{error} The lesson goes on without this table.",))
        times = shared_memory_ms(asked, shape), recorded_ms(step, shape)
        reads = loads_per_multiply_add(_seen(step), "shared")
        cells = number(reads), f"{asked:.2f}", *(f"{ms:.3g}\N{NO-BREAK SPACE}ms" for ms in times)
        rows.append((name.replace("_", "\N{NO-BREAK SPACE}"), *cells))
    head = ("", "reads in the source", "wavefronts", "estimate", "recorded")
    note = f"Estimate: one wavefront per cycle and SM, at {shape} on one {device_shown().name}."
    return table("Shared memory, for each multiply-add of a warp", head, rows, note)


def draw_grains(step: Step, *constants: dict[str, int]) -> Picture:
    """Shares of the peak at 1024 by grain: as published of a step of this name, and as recorded.

    constants: of the step besides GRAIN, a group of bars for each; none for a step that has no
    others. What is not recorded is left out.
    """
    device = device_shown()
    ours = {}
    for chosen in constants or ({},):
        told = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        shares = {
            grain: 100 * _share(step, GRAIN=grain, **chosen)
            for grain in sorted(step.choices["GRAIN"])
            if _is_recorded(step, GRAIN=grain, **chosen)
        }
        if shares:
            ours[f"{device.name}{', ' * bool(told)}{told}"] = shares
    title = "% of each GPU's peak, 1024×1024×1024"
    return draw_grain_bars(title, {**published_shares(step.name), **ours}, ours.keys())


def published_shares(kernel: str) -> dict[str, dict[int, float]]:
    """By GPU and block the percentages of the data sheet's peak by grain; 2^30 become 10^9."""
    frame = records.published("gemm_gpu")
    found: dict[str, dict[int, float]] = {}
    for row in frame[frame["kernel"] == kernel].itertuples():
        tile = row.block.partition("x")[0]
        gflops = float(row.gflops) * (2**30 / 1e9 if row.gflops_base == "2^30" else 1)
        percent = 100 * gflops / devices.find(row.device).peak_gflops
        found.setdefault(f"{row.device}, {row.year}, TILE = {tile}", {})[int(row.grain)] = percent
    return found


def _share(step: Step, **constants: int) -> float:
    return share_of_peak(step.variant(**constants), "1024")


def fastest_tile(step: Step, shape: str, **constants: int) -> int:
    """The TILE with which a step was recorded as the fastest. constants: of the step besides."""
    recorded = [tile for tile in step.choices["TILE"] if _is_recorded(step, TILE=tile, **constants)]
    return min(recorded, key=lambda tile: recorded_ms(step.variant(TILE=tile, **constants), shape))


def _is_recorded(step: Step, **constants: int) -> bool:
    try:
        _share(step, **constants)
    except CourseError:
        return False
    return True


def grain_costs(step: Step, published_on: str, **constants: int) -> Table:
    """What a thread and a block need for each grain, published and recorded, and what an SM holds.

    published_on: a device of `data/published/gemm_gpu.csv`, where the step has its name. constants:
    of the step besides GRAIN.
    """
    rows = [*_published(step.name, published_on), *_recorded(step, constants)]
    head = ("", "registers", "shared memory", "blocks on an SM", "occupancy")
    return table("Registers of a thread, bytes of shared memory of a block", head, rows)


def _published(kernel: str, device: str) -> Iterator[tuple]:
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
    device, ladder = device_shown(), ladder_of(step)
    frame = records.measured(device.name, ladder.name)
    for grain in sorted(step.choices["GRAIN"]):
        variant = step.variant(GRAIN=grain, **constants)
        found = frame[(frame["step"] == step.name) & (frame["params"] == variant.params)]
        for row in found.head(1).itertuples():
            figures = int(row.registers), int(row.shared_bytes)
            threads = variant.launch(ladder.parse("1024")).threads
            name = f"{device.name.split()[-1]}, grain\N{NO-BREAK SPACE}{grain}"
            yield _needs(name, device.compute_capability, threads, *figures)


def _needs(
    name: str, capability: tuple[int, int], threads: int, registers: int, shared: int
) -> tuple:
    found = occupancy(capability, threads, registers, shared)
    share = f"{number(100 * found.fraction)} %"
    return name, registers, f"{shared:,}", found.blocks, share


def trade(step: Step, shape: str = "4096", most: int = 8) -> Table:
    """Threads against sums: for each grain up to `most` what an SM holds, and the recorded time.

    A sum is under way in each resident thread as often as the thread has elements of c.
    """
    device, ladder, rows = device_shown(), ladder_of(step), []
    frame = records.measured(device.name, ladder.name)
    for grain in sorted(grain for grain in step.choices["GRAIN"] if grain <= most):
        variant = step.variant(GRAIN=grain)
        found = frame[(frame["step"] == step.name) & (frame["params"] == variant.params)].iloc[0]
        threads = variant.launch(ladder.parse(shape)).threads
        figures = int(found["registers"]), int(found["shared_bytes"])
        held = occupancy(device.compute_capability, threads, *figures)
        resident = WARP * held.warps
        rows.append(
            (
                f"grain\N{NO-BREAK SPACE}{grain}",
                f"{resident:,}",
                f"{number(100 * held.fraction)} %",
                f"{resident * grain:,}",
                f"{recorded_ms(variant, shape):.3g}\N{NO-BREAK SPACE}ms",
            )
        )
    head = ("", "threads on an SM", "occupancy", "sums under way", f"recorded at {shape}")
    return table(f"Threads and sums on an SM of one {device.name}", head, rows)
