"""A GPU or a CPU with the four methods of `queue_model.ModelDevice`, for benchmarks of real work.

A CPU has no queue of its own. One worker thread is one: work that is handed to it runs in order,
and who hands it over goes on at once.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numba import cuda, njit

from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Variant
from utils.machine.devices import Device
from utils.measuring.pitfalls import flush_of

CACHE_BYTES = 2**28  # more than the caches of most processors
ON_CPU, ON_GPU = 256, 1024  # n of the product: some milliseconds, and little memory


def multiply(a, b, c):
    """c = a·b row by row: the innermost loop goes along a row of b and of c."""
    for i in range(c.shape[0]):
        c[i] = 0
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


class CpuQueue:
    """A product of n×n on one thread of this computer's CPU, float32. name: what it is."""

    n = ON_CPU
    name = f"a {ON_CPU}×{ON_CPU} product on one CPU thread"

    def __init__(self) -> None:
        self._arrays = (*_inputs(self.n), np.empty((self.n, self.n), np.float32))
        self._much = np.ones(CACHE_BYTES // 4, np.float32)
        self._worker = ThreadPoolExecutor(1)
        self._kernel, self._last = None, None  # compiled; the Future of what came last

    def launch(self) -> None:
        """Hand the product over; the first time, compile it before."""
        if self._kernel is None:
            self._kernel = njit("void(f4[:,::1], f4[:,::1], f4[:,::1])", nogil=True)(multiply)
        self._last = self._worker.submit(self._kernel, *self._arrays)

    def flush(self) -> None:
        """Hand over the reading of so much memory that the caches hold nothing else."""
        self._last = self._worker.submit(self._much.sum)

    def synchronize(self) -> None:
        """Wait until all that was handed over is done."""
        if self._last is not None:
            self._last.result()

    def now(self) -> float:
        """The clock in seconds."""
        return time.perf_counter()


class GpuQueue:
    """A product of n×n by a kernel of the ladder on this computer's GPU. name: what it is."""

    n = ON_GPU

    def __init__(self, variant: Variant, device: Device) -> None:
        self.name = f"{variant} on your {device.name}, matrices of {ON_GPU}×{ON_GPU}"
        shape = GemmShape(self.n, self.n, self.n)
        arrays = tuple(map(cuda.to_device, _inputs(self.n)))
        out = cuda.device_array((self.n, self.n), np.float32)
        where = variant.launch(shape)
        # A new one, so that its first launch compiles even where the ladder's kernel has run.
        kernel = cuda.jit(variant.kernel.py_func)
        self.launch = partial(kernel[where.grid, where.block], *arrays, out)
        self.flush = flush_of(device)
        self.synchronize = cuda.synchronize
        self.now = time.perf_counter


def _inputs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return draw("uniform", (n, n), 1), draw("uniform", (n, n), 2)
