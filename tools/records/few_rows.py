"""Time the product of lesson 17 that has few rows, 71×8852×8480, beside cuBLAS.

    python -m tools.records.few_rows few-rows --record

needs a CUDA device with CuPy. ``data/README.md`` describes a row.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from numba import cuda

from gemm_kernels import LADDER
from gemm_kernels.sgemm import sgemm
from utils.errors import CourseError
from utils.ladder.libraries import CUBLAS, Execution
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ShapeTime
from utils.measuring.timing import time_gpu

SHAPE = GemmShape(71, 8852, 8480)
FIRST = {"BM": 128, "BN": 256, "BK": 8, "TM": 16, "TN": 8, "BLOCKS": 1}  # the lesson's first tile
SMALLER = {"BM": 96, "BN": 128, "BK": 16, "TM": 12, "TN": 8, "BLOCKS": 3}
WAYS = {
    "128×256, not cut": {**FIRST, "SLICES": 1},
    "128×256, 3 slices": {**FIRST, "SLICES": 3},
    "96×128, not cut": {**SMALLER, "SLICES": 1},
    "96×128, 16 slices": {**SMALLER, "SLICES": 16},
}
OUR_CALL, LIBRARY = "sgemm", "cuBLAS"
ALLOWED = 1e-4  # of the largest element of c


def rivals(shape: GemmShape, inputs: tuple, out) -> Mapping[str, Execution]:
    """Return a dict from name to a function () that computes c = a·b, in the order of timing.

    All store c in `out`, except for the library, which has its own output. Raises CourseError
    without the library.
    """
    step = LADDER.step("autotuned")
    found = {
        name: step.variant(**constants).execution(shape, inputs, out)
        for name, constants in WAYS.items()
    }
    found[OUR_CALL] = partial(sgemm, *inputs, out)
    found[LIBRARY] = CUBLAS.bind(inputs, out)
    if found[LIBRARY] is None:
        raise CourseError("few-rows compares with cuBLAS through CuPy: install CuPy.")
    return found


def measured(device: str, shape: GemmShape = SHAPE) -> Iterator[ShapeTime]:
    """Yield the time of each way to compute the product; they are timed in turns.

    device: its name, for the rows. Raises CourseError if a product is wrong, or without CuPy.
    """
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    inputs = cuda.to_device(a), cuda.to_device(b)
    out = cuda.device_array((shape.m, shape.n), np.float32)
    timed = rivals(shape, inputs, out)
    right = a.astype(np.float64) @ b
    for name, run in timed.items():
        if name != LIBRARY:
            cuda.to_device(np.full((shape.m, shape.n), np.nan, np.float32), to=out)
            run()
            _require_right(name, out.copy_to_host(), right)
    for name, timing in zip(timed, time_gpu(list(timed.values())), strict=True):
        yield ShapeTime(
            device, name, shape.m, shape.n, shape.k, timing.median_ms, timing.min_ms,
            timing.max_ms, timing.sm_clock_mhz, datetime.date.today().isoformat(),
        )  # fmt: skip


def _require_right(name: str, product: np.ndarray, right: np.ndarray) -> None:
    """Raise CourseError if an element is off by more than `ALLOWED` of the largest, or NaN."""
    if not np.abs(product - right).max() <= ALLOWED * np.abs(right).max():
        raise CourseError(f"The product of {name} is wrong, so nothing is recorded.")


EXPERIMENT = Experiment(
    name="few-rows",
    help="time a product of few rows beside cuBLAS",
    row=ShapeTime,
    size="n",
    measured=measured,
)

if __name__ == "__main__":
    raise SystemExit(main("The product of lesson 17 with few rows", (EXPERIMENT.command(),)))
