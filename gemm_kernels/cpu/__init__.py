"""Matrix multiplication on the CPU, c = a·b in strict float32, one thread.

>>> c = run("loop_reordered", a, b)
"""

import numpy as np

from gemm_kernels.cpu import loop_reordered, naive
from utils.steps import Ladder, bind_function
from utils.timing import NUMPY_BLAS

LADDER = Ladder(
    name="cpu",
    title="SGEMM on one CPU thread",
    steps=(naive.STEP, loop_reordered.STEP),
    sizes=("64", "128", "256", "512", "1024", "2000x600x2000"),
    quick=("64", "128", "256", "512"),
    small="17x19x23",
    library=NUMPY_BLAS,
    bind=bind_function,
    on_gpu=False,
)


def run(step: str, a: np.ndarray, b: np.ndarray, **constants: int) -> np.ndarray:
    """c = a·b by one step of the ladder.

    a: float32, m×k; b: float32, k×n; both in C order.
    Returns a new float32 array, m×n.
    Raises CourseError when the step, a constant or an array does not fit.
    """
    return LADDER.run(step, a, b, **constants)
