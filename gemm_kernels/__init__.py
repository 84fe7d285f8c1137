"""Matrix multiplication on the GPU, c = a·b in strict float32, with one file per technique.

>>> c = run("naive", a, b)
>>> c = run("tiled", a, b, TILE=16)
>>> c = sgemm(a, b)  # any shape, with the kernel that should be fastest for it
"""

import numpy as np

import kernels_anywhere  # noqa: F401
from gemm_kernels import (
    async_copy,
    autotuned,
    double_buffered,
    granularity,
    guard_free,
    ilp,
    maxwell64,
    maxwell256,
    multi_output,
    multi_output_by_column,
    naive,
    naive_strided,
    prefetch,
    register_banks,
    register_blocked,
    register_blocked_1d,
    split_k,
    tiled,
    tiled_dynamic,
    tiled_padded,
    tiled_rectangular,
    tiled_transposed,
    unified_memory,
    unrolled,
    vectorized,
    warp_tiled,
)
from gemm_kernels.sgemm import sgemm
from utils.ladder.ladder import Ladder
from utils.ladder.libraries import CUBLAS

__all__ = ["LADDER", "run", "sgemm"]

LADDER = Ladder(
    name="gemm",
    title="SGEMM on the GPU",
    steps=(
        naive_strided.STEP,
        naive.STEP,
        unified_memory.STEP,
        unrolled.STEP,
        multi_output_by_column.STEP,
        multi_output.STEP,
        tiled.STEP,
        tiled_dynamic.STEP,
        tiled_transposed.STEP,
        tiled_padded.STEP,
        granularity.STEP,
        ilp.STEP,
        tiled_rectangular.STEP,
        register_blocked_1d.STEP,
        register_blocked.STEP,
        vectorized.STEP,
        double_buffered.STEP,
        prefetch.STEP,
        warp_tiled.STEP,
        maxwell64.STEP,
        maxwell256.STEP,
        async_copy.STEP,
        guard_free.STEP,
        register_banks.STEP,
        split_k.STEP,
        autotuned.STEP,
    ),
    sizes=("256", "512", "1024", "2048", "4096", "8192", "2000x600x2000"),
    quick=("1024", "4096"),
    sweep=("4096",),
    small="35x36x44",
    library=CUBLAS,
)


def run(step: str, a, b, **constants: int) -> np.ndarray:
    """Compute c = a·b with the step of the ladder that is called `step`.

    `a` is a float32 matrix of m×k, `b` of k×n, both in C order, on the host or on the device.
    `constants` are compile-time constants of the step, such as TILE=16. Returns a new float32 array
    of m×n on the host. Raises CourseError for an unknown step, for a constant or a value that the
    step does not have, and for arrays of another dtype, order or shape.
    """
    return LADDER.run(step, a, b, **constants)
