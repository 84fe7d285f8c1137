"""`python -m gemm_kernels transfers`: time copies, and the product of `naive` with transfers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from numba import get_num_threads

from gemm_kernels import cpu, naive
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.measuring.transfer_experiments import (
    Experiment,
    copies,
    host_arrays,
    parts,
    products,
    ten_products,
)
from utils.measuring.transfers import SizeExperiments, transfers_command

BYTES = tuple(2**exponent for exponent in range(16, 29, 2))  # 64 KiB ... 256 MiB
PRODUCTS = (64, 128, 256, 512, 1024, 2048)
# The shape of Araujo, who multiplies ten times on a CPU and on a GPU.
PUBLISHED = GemmShape(2000, 600, 2000)
CPU_STEPS = ("naive", "naive_parallel", "parallel")


def sizes() -> Iterator[SizeExperiments]:
    """Yield the experiments of one size at a time, in three groups.

    The groups are copies of the sizes in BYTES, products of n×n for n in PRODUCTS, and the product
    of the shape PUBLISHED.
    """
    for size in BYTES:
        elements = size // FLOAT32_BYTES
        yield SizeExperiments(elements, copies(elements))
    for n in PRODUCTS:
        shape = GemmShape(n, n, n)
        ways = chain(products(shape, kernel(shape)), on_cpu(shape, ["parallel"]))
        yield SizeExperiments(shape, ways, on_host=True)
    on_gpu = (ways(PUBLISHED, kernel(PUBLISHED)) for ways in (products, parts, ten_products))
    yield SizeExperiments(PUBLISHED, chain(*on_gpu, on_cpu(PUBLISHED, CPU_STEPS)), on_host=True)


def kernel(shape: GemmShape) -> Callable:
    """Return a function (a, b, c) that launches the kernel `naive` with the grid for this shape."""
    launch = naive.launch(shape)
    return naive.naive[launch.grid, launch.block]


def on_cpu(shape: GemmShape, steps: Sequence[str]) -> Iterator[Experiment]:
    """Yield an experiment per name in `steps`: a product by that step of the CPU ladder.

    An experiment has the name "cpu_" and the step's name. All of them use the same host arrays.
    """
    arrays = host_arrays(shape)
    for step in steps:
        function = cpu.LADDER.step(step).variant().kernel
        threads = get_num_threads() if "parallel" in step else 1
        yield Experiment(f"cpu_{step}", f"THREADS={threads}", partial(function, *arrays))


COMMAND = transfers_command(sizes)
