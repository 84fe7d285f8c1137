"""Compare the x-ray with the driver: registers, memory and threads of many different kernels.

``python -m tools.records.resources --out FILE.csv`` needs a CUDA device, and cuobjdump and nvdisasm
in addition to the toolkit. The table has one row per kernel and figure: kernel, figure, driver,
xray. Both come from the same compiler, so they must be equal.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from numba import cuda, float32, int32, uint32, void

import gemm_kernels
import latency_kernels
import reduce_kernels
from gpu_xray import xray
from utils.intrinsics.wide_memory import commit_copies, copy4_async, load4, store4, wait_copies

VECTORS = void(float32[::1], float32[::1])
TABLE = np.linspace(1, 2, 32, dtype=np.float32) ** 3
DRIVER = {
    "registers": "get_regs_per_thread",
    "shared_bytes": "get_shared_mem_per_block",
    "local_bytes": "get_local_mem_per_thread",
    "constant_bytes": "get_const_mem_size",
    "max_threads": "get_max_threads_per_block",
}


@cuda.jit
def reverse_async(x, out):
    """Copy 128 numbers to out with one warp, with the order of their groups of four reversed."""
    tile = cuda.shared.array((32, 4), float32, alignment=16)
    t = uint32(cuda.threadIdx.x)
    copy4_async(tile, (t, 0), x, 4 * t)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    store4(out, 4 * t, load4(tile, (31 - t, 0)))


@cuda.jit
def dynamic_shared(x, out):
    """Copy x to out with each pair of neighbours exchanged, through dynamic shared memory."""
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[t ^ 1]


@cuda.jit
def local_array(x, out):
    """Add the numbers of x up in a local array, by their integer part, and store one sum in out[0].

    It is the sum of the numbers with the same integer part as x[0].
    """
    counts = cuda.local.array(40, float32)
    for j in range(40):
        counts[j] = float32(0)
    for j in range(x.size):
        counts[int32(x[j])] += x[j]
    out[0] = counts[int32(x[0])]


@cuda.jit
def constant_array(x, out):
    """Store element int(x[0]) of a constant array in out[t], t being the thread."""
    table = cuda.const.array_like(TABLE)
    out[cuda.threadIdx.x] = table[int32(x[0])]


@cuda.jit(device=True)
def divided(a, b):
    """Return a / b."""
    return a / b


@cuda.jit
def device_function(x, out):
    """Divide each x[t] by out[t] with a device function, and store the quotient in out[t]."""
    t = cuda.grid(1)
    out[t] = divided(x[t], out[t])


def kernels() -> Iterator[tuple[str, object, object]]:
    """Yield (name, kernel, signature) of every kernel for which resources are compared.

    name: the variant or function, with its compile options, such as "fma_loop, lto=False". kernel:
    the dispatcher. signature: the Numba signature to compile it for.
    """
    for package in (gemm_kernels, reduce_kernels, latency_kernels):
        for step in package.LADDER.steps:
            for variant in step.variants():
                yield str(variant), variant.kernel, step.signature
    for kernel in (reverse_async, dynamic_shared, local_array, constant_array, device_function):
        yield kernel.py_func.__name__, kernel, VECTORS
    fma_loop = latency_kernels.LADDER.step("fma_loop").build().py_func
    yield "fma_loop, launch_bounds=512", cuda.jit(launch_bounds=512)(fma_loop), VECTORS
    yield "fma_loop, launch_bounds=(256, 6)", cuda.jit(launch_bounds=(256, 6))(fma_loop), VECTORS
    for registers in (24, 32, 40, 56, 64, 72, 80):
        limited = cuda.jit(max_registers=registers)(fma_loop)
        yield f"fma_loop, max_registers={registers}", limited, VECTORS
    yield "fma_loop, lto=False", cuda.jit(fma_loop, lto=False), VECTORS
    yield "device_function, fastmath", cuda.jit(fastmath=True)(device_function.py_func), VECTORS


def rows() -> pd.DataFrame:
    """Return a table with a row per kernel and figure: kernel, figure, driver, xray.

    driver and xray are the values that the two report. All cores compile.
    """
    count = len(list(kernels()))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        all_rows = [row for rows in pool.map(rows_of, range(count)) for row in rows]
    return pd.DataFrame(all_rows, columns=["kernel", "figure", "driver", "xray"])


def rows_of(index: int) -> list[tuple[str, str, int, int]]:
    """Return the rows of the kernel at this index of `kernels()`: (kernel, figure, driver, xray).

    The kernel is compiled twice, by Numba for the device and by the x-ray.
    """
    name, kernel, signature = next(itertools.islice(kernels(), index, None))
    arch = "sm_{}{}".format(*cuda.get_current_device().compute_capability)
    kernel.compile(signature.args)
    report = xray(kernel, signature, arch)
    return [
        (name, figure, getattr(kernel, method)(signature), getattr(report, figure))
        for figure, method in DRIVER.items()
    ]


def main() -> None:
    """Write the table into the file of --out, and print the figures that differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    table = rows()
    table.to_csv(options.out, index=False)
    print(table[table["driver"] != table["xray"]].to_string(), f"of {len(table)} figures differ")


if __name__ == "__main__":
    main()
