"""A GPU or a CPU with the four methods of `queue_model.ModelDevice`, to benchmark real work.

A CPU has no queue, so one worker thread plays its role: work that is submitted to it runs in order,
and the submitter goes on at once.
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
    """Compute c = a·b; the innermost loop goes along a row of b and of c."""
    for i in range(c.shape[0]):
        c[i] = 0
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


class CpuQueue:
    """A queue on one CPU thread that runs a float32 product of n×n matrices.

    `name` describes the product and the processor in words.
    """

    n = ON_CPU
    name = f"a {ON_CPU}×{ON_CPU} product on one CPU thread"

    def __init__(self) -> None:
        self._arrays = (*_inputs(self.n), np.empty((self.n, self.n), np.float32))
        self._flushing = np.ones(CACHE_BYTES // 4, np.float32)
        self._worker = ThreadPoolExecutor(1)
        self._kernel, self._last = None, None  # the compiled kernel; the Future submitted last

    def launch(self) -> None:
        """Submit the product to the worker thread; the first launch compiles it first."""
        if self._kernel is None:
            self._kernel = njit("void(f4[:,::1], f4[:,::1], f4[:,::1])", nogil=True)(multiply)
        self._last = self._worker.submit(self._kernel, *self._arrays)

    def flush(self) -> None:
        """Submit a read of more memory than the caches hold, which evicts the matrices."""
        self._last = self._worker.submit(self._flushing.sum)

    def synchronize(self) -> None:
        """Wait until all submitted work is done."""
        if self._last is not None:
            self._last.result()

    def now(self) -> float:
        """Return the host's clock in seconds, from `time.perf_counter`."""
        return time.perf_counter()


class GpuQueue:
    """The GPU's default stream; `launch()` multiplies n×n matrices with a kernel of a ladder.

    `name` describes the kernel, the GPU and the size in words. `flush()` flushes the cache,
    `synchronize()` waits for the GPU, and `now()` returns the clock's time in seconds.
    """

    n = ON_GPU

    def __init__(self, variant: Variant, device: Device) -> None:
        self.name = f"{variant} on your {device.name}, matrices of {ON_GPU}×{ON_GPU}"
        shape = GemmShape(self.n, self.n, self.n)
        arrays = tuple(map(cuda.to_device, _inputs(self.n)))
        out = cuda.device_array((self.n, self.n), np.float32)
        launch = variant.launch(shape)
        # A new kernel, so that its first launch compiles even if the ladder's kernel has run.
        kernel = cuda.jit(variant.kernel.py_func)
        self.launch = partial(kernel[launch.grid, launch.block], *arrays, out)
        self.flush = flush_of(device)
        self.synchronize = cuda.synchronize
        self.now = time.perf_counter


def _inputs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two random n×n float32 matrices."""
    return draw("uniform", (n, n), 1), draw("uniform", (n, n), 2)
