"""Time the loops of lesson 06: `naive` with `while` and with `range`, and unrolled by 1 and by 4.

    python -m tools.records.for_loop for-loop --record

needs a CUDA device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemm_kernels import LADDER
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.lessons.lesson_06.loops import WITH_RANGE, with_range
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (256, 512, 1024, 2048, 4096, 8192)
VERIFIED = (GemmShape(35, 36, 44),)


def variants() -> tuple[Variant, ...]:
    """Return the kernels in the order in which they are timed.

    Both forms of `naive` come first, and then `unrolled` by 1 and by 4.
    """
    unrolled = LADDER.step("unrolled")
    steps = LADDER.step("naive"), replace(with_range(), name=WITH_RANGE)
    unrolled_by = (unrolled.variant(UNROLL=factor) for factor in (1, 4))
    return (*(step.variant() for step in steps), *unrolled_by)


def measured(device: str) -> Iterator[ProductTime]:
    """Yield the time of each kernel for matrices of each size; the kernels are timed in turns.

    device: its name, for the rows. Raises CourseError if a kernel's product is wrong.
    """
    return time_products(LADDER, variants(), device, SIZES, VERIFIED)


EXPERIMENT = Experiment(
    name="for-loop",
    help="time naive with while and with range",
    row=ProductTime,
    size="n",
    measured=measured,
)

if __name__ == "__main__":
    raise SystemExit(main("The loops of lesson 06", (EXPERIMENT.command(),)))
