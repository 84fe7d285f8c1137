"""Ask the driver for the occupancy of kernels and write its answers as data.

``python -m tools.records.occupancy --out FOLDER`` needs a CUDA device. It writes two tables, one
row per question and answer:

- ``occupancy.csv``: how many blocks an SM holds, by cuOccupancyMaxActiveBlocksPerMultiprocessor;
- ``block_size.csv``: the best block size, by cuOccupancyMaxPotentialBlockSize.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pandas as pd
from cuda.bindings import driver
from numba import cuda, float32, void

KIB = 1024
SIGNATURE = void(float32[::1])
# Registers are allocated in units of 8 per thread, so each unit is tried at both edges.
REGISTERS = (24, 31, 32, 33, 40, 41, 48, 49, 56, 57, 64, 65, 72, 73, 80, 81, 96, 97, 104, 105, 127)
REGISTERS += (128, 129, 168, 169, 255)
THREADS = (1, 31, 32, 33, 64, 96, 100, 128, 129, 160, 192, 250, 256, 320, 384, 500, 512, 640, 1000)
STATIC_BYTES = (4, 1020, 1024, 7168, 7172, 16384, 20000, 49152)
# Sizes to which an H200's shared memory can be set; the driver reserves 1 KiB per block.
STEPS_KIB = (8, 16, 32, 64, 100, 132, 164, 196, 228)
DYNAMIC_BYTES = (
    *(0, 1, 127, 128, 129, 1023, 1024, 1025, 2048, 3000, 5000, 6144, 10000, 24 * KIB),
    *(48 * KIB + more for more in (-1, 0, 1)),
    *((step - 1) * KIB + more for step in STEPS_KIB for more in (-128, 0, 1)),
    *((228 // blocks - 1) * KIB + more for blocks in (2, 3, 4, 5, 7, 9) for more in (0, 1)),
)
CARVEOUTS = (0, 1, 4, 25, 50, 75, 99, 100)


@cache
def with_registers(most: int) -> Callable:
    """Return a kernel that keeps 200 values at once, limited to `most` registers per thread."""

    @cuda.jit(max_registers=most)
    def kernel(x):
        values = cuda.local.array(200, float32)
        total = float32(0)
        for i in range(200):
            values[i] = x[i]
            total += values[i]
        # The sum needs all values, and each value is needed again, so all stay in registers.
        for i in range(200):
            x[i] = values[i] * total

    return kernel


@cache
def with_static_shared(size: int) -> Callable:
    """Return a kernel with few registers and a static shared array of ``size`` bytes."""
    elements = size // 4

    @cuda.jit
    def kernel(x):
        shared = cuda.shared.array(elements, float32)
        i = cuda.threadIdx.x
        shared[i % elements] = x[i]
        cuda.syncthreads()
        x[i] = shared[elements - 1 - i % elements]

    return kernel


@cuda.jit
def plain(x):
    """Add 1 to every element; the kernel uses few registers and no shared memory."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += float32(1)


class DriverFunction:
    """A compiled kernel as the driver has loaded it.

    registers: per thread. static_bytes: static shared memory per block. max_threads: the largest
    block. handle: the CUfunction.
    """

    def __init__(self, kernel: Callable):
        kernel.compile(SIGNATURE)
        (compiled,) = kernel.overloads.values()
        function = compiled._codelibrary.get_cufunc()
        self.registers = function.attrs.regs
        self.static_bytes = function.attrs.shared
        self.max_threads = function.attrs.maxthreads
        # Attributes belong to the kernel that is loaded in this context.
        self.handle = ask("cuKernelGetFunction", driver.CUkernel(int(function.handle)))

    def set(self, attribute: str, value: int) -> None:
        """Set an attribute of the kernel in the driver, such as "MAX_DYNAMIC_SHARED_SIZE_BYTES"."""
        name = f"CU_FUNC_ATTRIBUTE_{attribute}"
        ask("cuFuncSetAttribute", self.handle, getattr(driver.CUfunction_attribute, name), value)

    def blocks(self, threads: int, dynamic_bytes: int) -> int:
        """Return the number of blocks of this many threads that an SM holds, by the driver.

        dynamic_bytes: the dynamic shared memory of a block.
        """
        call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        return ask(call, self.handle, threads, dynamic_bytes)

    def best_block(self, bytes_per_thread: int, dynamic_bytes: int) -> int:
        """Return the number of threads per block that the driver suggests.

        The dynamic shared memory of a block is `bytes_per_thread` times its threads, or
        `dynamic_bytes` if that is 0.
        """
        by_size = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda n: bytes_per_thread * n)
        address = ctypes.cast(by_size, ctypes.c_void_p).value if bytes_per_thread else 0
        mapping = driver.CUoccupancyB2DSize(address)
        call = "cuOccupancyMaxPotentialBlockSize"
        return ask(call, self.handle, mapping, dynamic_bytes, 0)[1]


def ask(call: str, *arguments):
    """Return the result of a driver function: one value, or a list of several.

    call: the name of the function. Exits if the driver returns an error code.
    """
    code, *results = getattr(driver, call)(*arguments)
    if code != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"{call} failed: {code}")
    return results[0] if len(results) == 1 else results


def questions() -> Iterator[dict]:
    """Yield rows for occupancy.csv: how many blocks of a kernel an SM holds, by the driver.

    The keys are registers, static_bytes, dynamic_bytes, threads, carveout (in percent, None for the
    default) and blocks.
    """
    for count in REGISTERS:
        yield from _answers(DriverFunction(with_registers(count)), THREADS, (0,))
    for size in STATIC_BYTES:
        function = DriverFunction(with_static_shared(size))
        yield from _answers(function, (32, 100, 256, 512), (0, 100, 1024, 30000))
    function = DriverFunction(plain)
    yield from _answers(function, (32, 100, 128, 256, 1024), DYNAMIC_BYTES)
    for carveout in CARVEOUTS:
        function.set("PREFERRED_SHARED_MEMORY_CARVEOUT", carveout)
        for row in _answers(function, (64, 256), (0, 1024, 7168, 7169, 20000, 50000, 120000)):
            yield row | {"carveout": carveout}


def _answers(
    function: DriverFunction, sizes: tuple[int, ...], dynamic: tuple[int, ...]
) -> Iterator[dict]:
    """Yield a row of occupancy.csv per block size and number of dynamic bytes.

    sizes: threads per block. dynamic: bytes; more than a block may have are left out.
    """
    optin = cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    function.set("MAX_DYNAMIC_SHARED_SIZE_BYTES", optin - function.static_bytes)
    for dynamic_bytes in dynamic:
        if function.static_bytes + dynamic_bytes > optin:
            continue
        for threads in sizes:
            yield {
                "registers": function.registers,
                "static_bytes": function.static_bytes,
                "dynamic_bytes": dynamic_bytes,
                "threads": threads,
                "carveout": None,
                "blocks": function.blocks(threads, dynamic_bytes),
            }


def block_questions() -> Iterator[dict]:
    """Yield rows for block_size.csv: block sizes in threads that the driver suggests for kernels.

    The keys are registers, static_bytes, max_threads, bytes_per_thread, dynamic_bytes and threads.
    """
    kernels = [*map(with_registers, REGISTERS), *map(with_static_shared, STATIC_BYTES), plain]
    for kernel in kernels:
        function = DriverFunction(kernel)
        for per_thread, dynamic_bytes in [(0, 0), (0, 1024), (0, 20000), (4, 0), (8, 0), (40, 0)]:
            yield {
                "registers": function.registers,
                "static_bytes": function.static_bytes,
                "max_threads": function.max_threads,
                "bytes_per_thread": per_thread,
                "dynamic_bytes": dynamic_bytes,
                "threads": function.best_block(per_thread, dynamic_bytes),
            }


def main() -> None:
    """Ask the driver, write the two tables into the folder of --out, and print their lengths."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args().out
    for name, rows in (("occupancy", questions()), ("block_size", block_questions())):
        table = pd.DataFrame(rows).convert_dtypes().drop_duplicates()
        table.to_csv(folder / f"{name}.csv", index=False)
        print(name, len(table))


if __name__ == "__main__":
    main()
