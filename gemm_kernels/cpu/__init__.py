"""Matrix multiplication on the CPU in strict float32: a ladder, and the functions at its end.

>>> c = run("loop_reordered", a, b)  # one step of the ladder
>>> c = matmul(a, b)  # the widest micro-kernel of this processor, one thread
>>> sgemm("N", "T", m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)  # the interface of BLAS
"""

import numpy as np

from gemm_kernels.cpu import (
    blocked,
    loop_reordered,
    micro_kernel_4x24,
    micro_kernel_6x16,
    micro_kernel_avx2,
    micro_kernel_avx512,
    naive,
    naive_column_major,
    naive_parallel,
    packed,
    parallel,
)
from gemm_kernels.cpu.blas import matmul, sgemm
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import NUMPY_BLAS

__all__ = ["LADDER", "matmul", "run", "sgemm"]

LADDER = Ladder(
    name="cpu",
    title="SGEMM on the CPU, against one thread of the library",
    steps=(
        naive.STEP,
        naive_column_major.STEP,
        naive_parallel.STEP,
        loop_reordered.STEP,
        blocked.STEP,
        packed.STEP,
        micro_kernel_6x16.STEP,
        micro_kernel_4x24.STEP,
        micro_kernel_avx2.STEP,
        micro_kernel_avx512.STEP,
        parallel.STEP,
    ),
    sizes=("64", "128", "256", "512", "1024", "2048", "2000x600x2000"),
    quick=("64", "128", "256", "512"),
    small="17x19x23",
    library=NUMPY_BLAS,
    on_gpu=False,
)


def run(step: str, a: np.ndarray, b: np.ndarray, **constants: int) -> np.ndarray:
    """Compute c = a·b with the step of the ladder that is called `step`.

    `a` is a float32 matrix of m×k, `b` of k×n, both in C order. `constants` are compile-time
    constants of the step. Returns a new float32 array of m×n. Raises CourseError for an unknown
    step, for a constant or a value that the step does not have, and for arrays of another dtype,
    order or shape.
    """
    return LADDER.run(step, a, b, **constants)
