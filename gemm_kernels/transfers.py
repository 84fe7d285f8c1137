"""`python -m gemm_kernels transfers`: copies, and the product of `naive` with all that it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from numba import get_num_threads

from gemm_kernels import cpu, naive
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.measuring.transfers import Timed, transfers_command
from utils.measuring.ways_to_copy import (
    Experiment,
    copies,
    host_arrays,
    parts,
    products,
    ten_products,
)

BYTES = tuple(2**exponent for exponent in range(16, 29, 2))  # 64 KiB ... 256 MiB
PRODUCTS = (64, 128, 256, 512, 1024, 2048)
# Of Araujo, who multiplies ten times on a CPU and on a GPU.
PUBLISHED = GemmShape(2000, 600, 2000)
RUNGS = ("naive", "naive_parallel", "parallel")  # of the CPU's ladder


def sizes() -> Iterator[Timed]:
    """Copies of every size, square products, and the one that was published."""
    for size in BYTES:
        elements = size // FLOAT32_BYTES
        yield Timed(elements, copies(elements))
    for n in PRODUCTS:
        shape = GemmShape(n, n, n)
        ways = chain(products(shape, kernel(shape)), on_cpu(shape, ["parallel"]))
        yield Timed(shape, ways, on_host=True)
    on_gpu = (ways(PUBLISHED, kernel(PUBLISHED)) for ways in (products, parts, ten_products))
    yield Timed(PUBLISHED, chain(*on_gpu, on_cpu(PUBLISHED, RUNGS)), on_host=True)


def kernel(shape: GemmShape) -> Callable:
    """`naive` with its launch, to be called with the arrays."""
    launch = naive.launch(shape)
    return naive.naive[launch.grid, launch.block]


def on_cpu(shape: GemmShape, rungs: Sequence[str]) -> Iterator[Experiment]:
    """One product on the host by steps of the CPU's ladder."""
    arrays = host_arrays(shape)
    for rung in rungs:
        function = cpu.LADDER.step(rung).variant().kernel
        threads = get_num_threads() if "parallel" in rung else 1
        yield Experiment(f"cpu_{rung}", f"THREADS={threads}", partial(function, *arrays))


COMMAND = transfers_command(sizes)
