"""Record which kernels cuBLAS launches for the products on tensor cores that it is timed with.

    python -m tools.records.library_kernels --record

needs a CUDA device, CuPy, and Nsight Compute (``ncu``). It replaces ``library_kernels.csv`` in the
folder of the device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import datetime
import re
from collections.abc import Iterator

import numpy as np
from numba import cuda

from tools.records.profiler import lines_of, profiled_text
from utils.errors import CourseError
from utils.ladder.libraries import CUBLAS_TENSOR
from utils.ladder.problems import bfloat16_bits, draw
from utils.ladder.shapes import GemmShape
from utils.machine.devices import slug
from utils.machine.versions import cupy
from utils.measuring import rows
from utils.measuring.command_line import Command, device_for, main
from utils.measuring.library_kernels import FILE, LibraryKernel
from utils.paths import DATA

SHAPE = GemmShape(4096, 4096, 4096)
# The elements of a and b -> how they come from float32.
STORED = {"float16": lambda x: x.astype(np.float16), "bfloat16": bfloat16_bits}
DYNAMIC, REGISTERS = "launch__shared_mem_per_block_dynamic", "launch__registers_per_thread"
METRICS = (DYNAMIC, REGISTERS)


def launch(elements: str, shape: GemmShape = SHAPE) -> None:
    """Compute the product by cuBLAS twice, of which the profiler sees the second.

    elements: a key of STORED. Raises CourseError without CuPy.
    """
    a, b = draw("uniform", (shape.m, shape.k), 1), draw("uniform", (shape.k, shape.n), 2)
    inputs = tuple(cuda.to_device(STORED[elements](x)) for x in (a, b))
    execute = CUBLAS_TENSOR.bind(inputs, cuda.device_array((shape.m, shape.n), np.float32))
    if execute is None:
        raise CourseError("library_kernels asks cuBLAS through CuPy: install CuPy.")
    execute()
    cuda.synchronize()
    with cuda.profiling():
        execute()
        cuda.synchronize()


def profile(elements: str) -> str:
    """Return the CSV text that the profiler prints for one product; exit if the profiler fails."""
    options = ["--profile-from-start", "off", "--metrics", ",".join(METRICS)]
    return profiled_text(options, "tools.records.library_kernels", "--launch", elements)


def rows_of(text: str, elements: str, device: str, version: int) -> Iterator[LibraryKernel]:
    """Yield a row per kernel that the profiler saw, in the order of the launches.

    text: what `profile` returns. version: cuBLAS's. The other arguments are columns of a row.
    """
    launches: dict[str, dict[str, str]] = {}
    for line in lines_of(text):
        metric = {line["Metric Name"]: line["Metric Value"]}
        launches[line["ID"]] = launches.get(line["ID"], line) | metric
    for one in launches.values():
        yield LibraryKernel(
            device, elements, SHAPE.m, SHAPE.n, SHAPE.k, one["Kernel Name"],
            _sizes(one["Grid Size"]), _sizes(one["Block Size"]), _number(one[DYNAMIC]),
            _number(one[REGISTERS]), version, datetime.date.today().isoformat(),
        )  # fmt: skip


def _sizes(text: str) -> tuple[int, ...]:
    """Return the whole numbers in a text such as "(132, 1, 1)"."""
    return tuple(map(int, re.findall(r"\d+", text)))


def _number(text: str) -> int:
    """Return the number in a text whose digits the profiler groups by commas."""
    return int(float(text.replace(",", "")))


def cublas_version() -> int:
    """Return the number of cuBLAS's version; raise CourseError without CuPy or a GPU."""
    xp = cupy()
    if xp is None:
        raise CourseError("library_kernels asks cuBLAS through CuPy: install CuPy.")
    from cupy_backends.cuda.libs import cublas

    return cublas.getVersion(xp.cuda.device.get_cublas_handle())


def _configure(parser: argparse.ArgumentParser) -> None:
    """Add the options --record, and --launch ELEMENTS, which only computes that product."""
    parser.add_argument("--record", action="store_true", help="write the rows to data/measured")
    parser.add_argument("--launch", choices=STORED, help="what the profiler is started over")


def _run(options: argparse.Namespace) -> int:
    """Profile a product per kind of elements, print the kernels, and record them with --record.

    Returns the exit code 0. Raises CourseError without a GPU or CuPy.
    """
    if options.launch:
        launch(options.launch)
        return 0
    device, version = device_for("library-kernels").name, cublas_version()
    found = [row for each in STORED for row in rows_of(profile(each), each, device, version)]
    print(*found, sep="\n")
    if options.record:
        rows.write(DATA / "measured" / slug(device) / FILE, found, LibraryKernel)
    return 0


COMMAND = Command("library-kernels", "find the kernels that cuBLAS launches", _configure, _run)

if __name__ == "__main__":
    raise SystemExit(main("cuBLAS's kernels for products on tensor cores", (COMMAND,)))
