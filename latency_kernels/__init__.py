"""Micro-benchmarks that measure the rates which this device reaches without obstacles.

Such a rate is called a ceiling.
"""

import kernels_anywhere  # noqa: F401
from latency_kernels import copy, fma_loop, l2_read, shared_read
from utils.ladder.ladder import Ladder

LADDER = Ladder(
    name="latency",
    title="Measured ceilings of the GPU",
    steps=(fma_loop.STEP, shared_read.STEP, l2_read.STEP, copy.STEP),
    sizes=("2^28", "2^30"),
    quick=("2^28",),
    small="10007",
)
