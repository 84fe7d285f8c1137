"""Time the small tiles of lesson 14, by the multiply-adds between their loads and their stores.

    python -m tools.records.loads_between loads-between --record

needs a CUDA device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemm_kernels import LADDER
from labs import EXERCISES
from labs.exercises.double_buffer import solution
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Budget, Variant
from utils.lessons.edits import Edit, edited
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (2048, 4096)
VERIFIED = (GemmShape(35, 36, 44),)
MINUS = Edit("side ^= uint32(1)", "side = 1 - side")
RANGE = (
    Edit("start, side = uint32(0), uint32(0)", "side = uint32(0)"),
    Edit(
        "while start < k:\n        start = uint32(start + TILE)\n",
        "for start in range(TILE, k + TILE, TILE):\n",
    ),
)


def kernels() -> dict:
    """Return a dict from name to kernel of a product with tiles of 16×16, in the order of timing.

    The starter and `order_loads` have one buffer. All others are the solution of `double_buffer`
    with another loop or with another change of its buffers.
    """
    exercise = EXERCISES["double_buffer"]
    return {
        "starter": exercise.starter,
        "order_loads": EXERCISES["order_loads"].solution,
        "while, 1 - side": edited(solution, MINUS).double_buffer,
        "while, side ^ 1": exercise.solution,
        "range, 1 - side": edited(solution, *RANGE, MINUS).double_buffer,
        "range, side ^ 1": edited(solution, *RANGE).double_buffer,
    }


def variants() -> tuple[Variant, ...]:
    """Return the kernels of `kernels()` as variants, with the launch of `double_buffer`."""
    exercise, tiled = EXERCISES["double_buffer"], LADDER.step("tiled")
    steps = (
        replace(
            tiled,
            name=name,
            build=lambda kernel=kernel: kernel,
            launch=lambda shape: exercise.launch((shape.m, shape.n, shape.k)),
            choices={},
            budget=Budget(),
        )
        for name, kernel in kernels().items()
    )
    return tuple(step.variant() for step in steps)


def measured(device: str) -> Iterator[ProductTime]:
    """Yield the time of each kernel for matrices of each size; the kernels are timed in turns.

    device: its name, for the rows. Raises CourseError if a kernel's product is wrong.
    """
    return time_products(LADDER, variants(), device, SIZES, VERIFIED)


EXPERIMENT = Experiment(
    name="loads-between",
    help="time early and late loads of small tiles",
    row=ProductTime,
    size="n",
    measured=measured,
)

if __name__ == "__main__":
    raise SystemExit(main("The small tiles of lesson 14", (EXPERIMENT.command(),)))
