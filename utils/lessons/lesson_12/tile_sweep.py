"""Recorded times of all block and thread tiles of a step, and tables of their counts."""

from __future__ import annotations

from collections.abc import Mapping

from utils.ladder.ladder import ladder_of
from utils.ladder.step import Step, Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import loads_per_multiply_add, per_request, watch
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_12.heat_map import draw_heat_map
from utils.lessons.recorded import duration, record_of, recorded_ms
from utils.machine.occupancy import occupancy
from virtual_gpu.pictures.svg import Picture


def draw_sweep(step: Step, shape: str = "4096") -> Picture:
    """Draw a heat map of a step's recorded times in ms, with thread tiles by block tiles.

    All variants of the step are drawn; each has the constants BM, BN, TM and TN. `shape` is the
    problem size as on the command line. Raise CourseError if a variant has no record.
    """
    cells = {
        _tiles(variant): recorded_ms(variant, shape)
        for variant in sorted(step.variants(), key=lambda one: _order(one.constants))
    }
    title = f"{step.name} at {shape}, one {device_shown().name}"
    return draw_heat_map(title, ("thread tile", "block tile"), cells, "ms")


def _tiles(variant: Variant) -> tuple[str, str]:
    """Return the thread tile and the block tile as text, such as ("8×8", "128×128")."""
    c = variant.constants
    return f"{c['TM']}×{c['TN']}", f"{c['BM']}×{c['BN']}"


def _order(c: Mapping[str, int]) -> tuple[int, ...]:
    """Return the key by which the heat map's variants are sorted: (TM, TN, BM, BN).

    c: the constants of a variant.
    """
    return c["TM"], c["TN"], c["BM"], c["BN"]


def thread_tiles(*variants: Variant, shape: str = "4096") -> Table:
    """Return a table of variants with a thread tile TM×TN, one row per variant.

    The columns are the words loaded from shared memory per multiply-add, the wavefronts per load of
    `sa`, the resident warps per SM, and the recorded time at `shape`. The first two are counted on
    the virtual GPU. The warps follow from the registers and shared memory of the record. Raise
    CourseError if a variant has no record.
    """
    rows = []
    for variant in variants:
        record = record_of(variant, shape)
        threads = variant.launch(ladder_of(variant.step).parse(shape)).threads
        resources = record.registers, record.shared_bytes
        resident = occupancy(device_shown().compute_capability, threads, *resources)
        run = watch(variant, "128x128x32")
        rows.append(
            (
                " in ".join(_tiles(variant)),
                f"{loads_per_multiply_add(run, 'shared'):.3g}",
                f"{per_request(run, 'sa', 'wavefronts'):g}",
                resident.warps,
                duration(record.time_ms),
            )
        )
    head = ("", "words from shared", "wavefronts, `sa`", "resident warps", "recorded")
    return table(f"At {shape}, one {device_shown().name}", head, rows)
