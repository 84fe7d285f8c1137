"""Count operations and traffic of every recorded product, for lessons that show all of them.

    python -m tools.records.counted_steps

needs no GPU and no compiler: the loops are those of ``python -m tools.records.compiled_loops``. It
writes ``data/counted/steps.csv``.
"""

from __future__ import annotations

from collections.abc import Iterator

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.ladder.step import Variant
from utils.ladder.tasks import Shape
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.lesson_21.counted_steps import DIGITS, FILE, CountedStep
from utils.measuring import rows
from utils.measuring.roofline import LaunchCounts, counted, recorded

DEVICE, SIZE = "NVIDIA H200", "4096"


def steps() -> Iterator[tuple[Variant, Shape]]:
    """Yield (variant, shape) per step of products that is recorded at `SIZE` on `DEVICE`.

    The variant has the constants that were fastest there; the shape is always that of `SIZE`.
    """
    shape = LADDER.parse(SIZE)
    for variant, _ in recorded(LADDER, shape, DEVICE):
        yield variant, shape


def count(variant: Variant, shape: Shape) -> LaunchCounts:
    """Return the counted work of one launch of a product, using the compiled loop in the records.

    Raises CourseError if the virtual GPU cannot run the step.
    """
    return counted(variant, shape, recorded_loop(str(variant)).hot_loop)


def main() -> None:
    """Count every recorded product, write the table, and name products not counted."""
    counts = []
    for variant, shape in steps():
        try:
            counts.append(CountedStep(str(variant), str(shape), count(variant, shape)))
        except CourseError as error:
            print(f"Left out: {error}")
    rows.write(FILE, counts, CountedStep, DIGITS)


if __name__ == "__main__":
    main()
