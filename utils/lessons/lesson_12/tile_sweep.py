"""Recorded times of all block and thread tiles of a step."""

from __future__ import annotations

from collections.abc import Mapping

from utils.ladder.step import Step, Variant
from utils.lessons.lesson import device_shown
from utils.lessons.lesson_12.heat_map import draw_heat_map
from utils.lessons.recorded import recorded_ms
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
