"""The sum of float32 on the GPU, with one file per technique.

>>> total = run("reduce0", x)
>>> total = run("reduce0", x, BLOCK=512)
>>> largest = reduce(x, "max")
"""

import numpy as np

import kernels_anywhere  # noqa: F401
from reduce_kernels import (
    reduce0,
    reduce1,
    reduce2,
    reduce3,
    reduce4,
    reduce5,
    reduce6,
    reduce7,
    reduce8,
    reduce9,
    reduce_atomic,
    reduce_cooperative,
)
from reduce_kernels.reduction import reduce
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import CUB

__all__ = ["LADDER", "reduce", "run"]

LADDER = Ladder(
    name="reduce",
    title="Sum of float32 on the GPU",
    steps=(
        reduce0.STEP,
        reduce1.STEP,
        reduce2.STEP,
        reduce3.STEP,
        reduce4.STEP,
        reduce5.STEP,
        reduce6.STEP,
        reduce7.STEP,
        reduce8.STEP,
        reduce9.STEP,
        reduce_atomic.STEP,
        reduce_cooperative.STEP,
    ),
    sizes=("2^22", "2^25", "2^28", "2^30"),
    quick=("2^25", "2^28"),
    small="10007",
    library=CUB,
)


def run(step: str, x, **constants: int) -> np.float32:
    """Compute the sum of x with the step of the ladder that is called `step`.

    `x` is float32 with one dimension, in C order, on the host or on the device; an empty x sums to
    zero. `constants` are compile-time constants of the step, such as BLOCK=512. Returns a NumPy
    float32. Raises CourseError for an unknown step, for a constant or a value that the step does
    not have, and for an array of another dtype, order or shape.
    """
    return LADDER.run(step, x, **constants)[0]
