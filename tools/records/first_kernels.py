"""Time the kernels of lesson 00: one element per thread, and four elements in two orders.

    python -m tools.records.first_kernels first-kernels --record

needs a CUDA device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from functools import partial

import numpy as np
from numba import cuda

from labs import EXERCISES
from utils.errors import CourseError
from utils.ladder.problems import draw
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ArrayTime
from utils.measuring.timing import time_gpu

ELEMENTS = (2**20, 2**28)
FACTOR = np.float32(2)
KERNELS = {
    "scale": EXERCISES["scale"].solution,
    "sectors starter": EXERCISES["sectors"].starter,
    "sectors solution": EXERCISES["sectors"].solution,
}
PER_THREAD = {"scale": 1, "sectors starter": 4, "sectors solution": 4}
THREADS = 256


def measured(device: str) -> Iterator[ArrayTime]:
    """Yield the time of each kernel at each length; the kernels are timed in turns.

    The rows of one length are together. device: its name, for the rows. Raises CourseError if the
    result of a kernel is wrong.
    """
    for elements in ELEMENTS:
        host = draw("uniform", (elements,), 1)
        x, out = cuda.to_device(host), cuda.device_array(elements, np.float32)
        runs = []
        for name, kernel in KERNELS.items():
            launch = kernel[elements // (PER_THREAD[name] * THREADS), THREADS]
            cuda.to_device(np.full(elements, np.nan, np.float32), to=out)
            launch(x, FACTOR, out)
            if not np.array_equal(out.copy_to_host(), FACTOR * host):
                raise CourseError(f"The result of {name} is wrong, so nothing is recorded.")
            runs.append(partial(launch, x, FACTOR, out))
        for name, timing in zip(KERNELS, time_gpu(runs), strict=True):
            yield ArrayTime(
                device, name, elements, timing.median_ms, timing.min_ms, timing.max_ms,
                timing.sm_clock_mhz, datetime.date.today().isoformat(),
            )  # fmt: skip


EXPERIMENT = Experiment(
    name="first-kernels",
    help="time the kernels of lesson 00",
    row=ArrayTime,
    size="elements",
    measured=measured,
)

if __name__ == "__main__":
    raise SystemExit(main("The kernels of lesson 00", (EXPERIMENT.command(),)))
