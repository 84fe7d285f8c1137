"""Several elements of c per thread: what a multiply-add costs, and what the threads need for it."""

from __future__ import annotations

from collections.abc import Iterator

from utils.errors import CourseError
from utils.figures.grain_bars import draw_grain_bars
from utils.figures.look import number
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import loads_per_multiply_add, multiply_adds, watch
from utils.lessons.lesson import device_shown
from utils.lessons.recorded import share_of_peak
from utils.machine import devices
from utils.machine.occupancy import occupancy
from utils.measuring import records
from utils.virtual_gpu.pictures.svg import Picture


def words_per_multiply_add(**steps: Step | Variant) -> Table:
    """Words that threads load for each multiply-add, from shared memory and of a and b.

    steps: by the name that the reader sees, with _ for spaces.
    """
    rows = []
    for name, step in steps.items():
        seen = watch(step)
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
        yield _needs(f"{device}, grain {row.grain}", capability, across * down, *figures)


def _recorded(step: Step, constants: dict[str, int]) -> Iterator[tuple]:
    device = device_shown()
    frame = records.measured(device.name, step.ladder.name)
    for grain in sorted(step.choices["GRAIN"]):
        variant = step.variant(GRAIN=grain, **constants)
        found = frame[(frame["step"] == step.name) & (frame["params"] == variant.params)]
        for row in found.head(1).itertuples():
            figures = int(row.registers), int(row.shared_bytes)
            threads = variant.launch(step.ladder.parse("1024")).threads
            name = f"{device.name.split()[-1]}, grain {grain}"
            yield _needs(name, device.compute_capability, threads, *figures)


def _needs(
    name: str, capability: tuple[int, int], threads: int, registers: int, shared: int
) -> tuple:
    found = occupancy(capability, threads, registers, shared)
    share = f"{number(100 * found.fraction)} %"
    return name, registers, f"{shared:,}", found.blocks, share
