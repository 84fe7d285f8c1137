"""Matrix multiplication on tensor cores, c = a·b of 16-bit matrices, with one file per technique.

>>> c = run("mma_naive", a, b)
>>> c = run("mma_pipelined", a, b, STAGES=2)
"""

import numpy as np

import kernels_anywhere  # noqa: F401
from tensor_kernels import mma_bfloat16, mma_naive, mma_pipelined, mma_shared, mma_swizzled
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import CUBLAS_TENSOR

__all__ = ["LADDER", "run"]

LADDER = Ladder(
    name="tensor",
    title="Products on tensor cores",
    steps=(
        mma_naive.STEP,
        mma_shared.STEP,
        mma_swizzled.STEP,
        mma_pipelined.STEP,
        mma_bfloat16.STEP,
    ),
    sizes=("512", "1024", "2048", "4096", "8192"),
    quick=("1024", "4096"),
    sweep=("4096",),
    small="35x40x56",
    library=CUBLAS_TENSOR,
)


def run(step: str, a, b, **constants: int) -> np.ndarray:
    """Compute c = a·b with the step of the ladder that is called `step`.

    `a` is a float16 matrix of m×k, `b` of k×n, both in C order, on the host or on the device. For
    "mma_bfloat16" they are the bits of bfloat16 as uint16, such as `bfloat16_bits` of
    `utils.ladder.problems` returns. `constants` are compile-time constants of the step, such as
    STAGES=2. Returns a new float32 array of m×n on the host. Raises CourseError for an unknown
    step, for a constant or a value that the step does not have, and for arrays of another dtype,
    order or shape.
    """
    return LADDER.run(step, a, b, **constants)
