"""Time the solution of the exercise `wide_tiles` in turns with the course's two steps.

    python -m tools.records.wide_tiles wide-tiles --record

needs a CUDA device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemm_kernels import LADDER, wide_alone
from labs import EXERCISES
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Budget, Variant
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZE = 4096
VERIFIED = (GemmShape(128, 256, 128), GemmShape(256, 128, 384))


def variants() -> tuple[Variant, ...]:
    """Return `register_blocked`, `vectorized` with tiles of 8 steps of k, and the solution."""
    old, _, _, wide, _ = wide_alone.variants()
    exercise = EXERCISES["wide_tiles"]
    solution = replace(
        wide.step,
        name=exercise.name,
        build=lambda: exercise.solution,
        launch=lambda shape: exercise.launch((shape.m, shape.n, shape.k)),
        choices={},
        budget=Budget(),
        choose=None,
    )
    return old, wide, solution.variant()


def measured(device: str) -> Iterator[ProductTime]:
    """Yield the time of each kernel for matrices of size `SIZE`; the kernels are timed in turns.

    device: its name, for the rows. Raises CourseError if a kernel's product is wrong.
    """
    return time_products(LADDER, variants(), device, (SIZE,), VERIFIED)


EXPERIMENT = Experiment(
    name="wide-tiles",
    help="time the solution of the exercise wide_tiles",
    row=ProductTime,
    size="n",
    measured=measured,
)

if __name__ == "__main__":
    raise SystemExit(main("The exercise of lesson 13", (EXPERIMENT.command(),)))
