"""A timeline of a pipeline of three stages, and a run of a kernel without empty groups."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np

from utils.lessons.cards import Stack
from utils.lessons.code import show_numbered
from utils.lessons.edits import Edit, edited
from utils.lessons.findings import findings
from virtual_gpu import Trace
from virtual_gpu import trace as run_traced
from virtual_gpu.pictures.svg import BLUE, GREY, ORANGE, Picture, legend, rect, svg, text

STAGES, TILES = 3, 5
AHEAD = STAGES - 1
WIDE, HIGH, LEFT, TOP = 49, 38, 62, 44
COMMIT = "        commit_copies()\n"


def draw_stages() -> Picture:
    """Draw what is in the three stages, one below the other, in each iteration from the left."""
    iterations = range(TILES + AHEAD)
    said = ". ".join(f"Iteration {number}: {words_of(number)}" for number in iterations)
    alt = f"Three stages over {len(iterations)} iterations. {said}."
    body = text(0, 15, f"{TILES} tiles in {STAGES} stages", 14, font_weight="bold")
    body += text(0, TOP - 8, "iteration", 12) + "".join(map(_column, iterations))
    for stage in range(STAGES):
        body += text(0, TOP + stage * HIGH + 23, f"stage {stage}", 13)
    drawn = svg(LEFT + len(iterations) * WIDE, TOP + STAGES * HIGH + 2, body, alt, widest=560)
    return Picture(legend(copies_in_flight=BLUE, multiplied=ORANGE, free=GREY) + drawn, alt)


def state(stage: int, iteration: int) -> tuple[str, str]:
    """Return (what happens in a stage during an iteration, the colour for it).

    The first is text: "free", or such as "tile 2 is multiplied" or "tile 3 is being copied".
    """
    for tile in (iteration - AHEAD, iteration - 1, iteration):
        if 0 <= tile < TILES and tile % STAGES == stage:
            if tile == iteration - AHEAD:
                return f"tile {tile} is multiplied", ORANGE
            return f"tile {tile} is being copied", BLUE
    return "free", GREY


def words_of(iteration: int) -> str:
    """Return a phrase on all stages in an iteration."""
    return ", ".join(f"in stage {stage} {state(stage, iteration)[0]}" for stage in range(STAGES))


def late_commit(solution) -> ModuleType:
    """Return the module of the solution of `stage_ready`, changed to commit only what it copies.

    After wait and barrier of an iteration, all but the newest group have arrived. That needs a
    group per iteration: here the last tile's group stays the newest one, and its load is a race.
    """
    return edited(sys.modules[solution.py_func.__module__], Edit(COMMIT, f"    {COMMIT}"))


def run(module: ModuleType) -> Trace:
    """Return the trace of the kernel `stage_ready` of a module, at 4 tiles of k."""
    a, b = np.ones((32, 64), np.float16), np.ones((64, 8), np.float16)
    return run_traced(module.stage_ready, 1, 64, a, b, np.zeros((32, 8), np.float32))


def explained(module: ModuleType, traced: Trace) -> Stack:
    """Return what a run of a module's `stage_ready` found, below the numbered lines of its loop."""
    loop = show_numbered(module, "for start in range", "mma_m16n8k16(sums")
    return Stack((loop, findings(traced)))


def outcome(traced: Trace) -> str:
    """Return "it reads too early" if a run has findings, else "it is right".

    The result is a choice of a question.
    """
    return "it reads too early" if traced.findings else "it is right"


def _column(number: int) -> str:
    """Return the SVG of the three stages in one iteration, below its number."""
    x = LEFT + number * WIDE
    body = text(x + WIDE / 2, TOP - 8, number, 12, "middle")
    for stage in range(STAGES):
        what, colour = state(stage, number)
        y = TOP + stage * HIGH
        body += rect(x + 1, y + 1, WIDE - 2, HIGH - 2, colour)
        tile = what.partition(" is ")[0]
        body += text(x + WIDE / 2, y + 23, tile, 13, "middle", style="fill:#fff")
    return body
