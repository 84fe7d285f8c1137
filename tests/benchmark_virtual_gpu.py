"""How fast is the virtual GPU, with every check on, and how much faster than Numba's simulator?

Four workloads run on the virtual GPU; the tiled product also runs in the simulator, in a process of
its own because the simulator replaces the compiler, and the ratio is printed.

    python -m tests.benchmark_virtual_gpu [--n 128] [--tile 16]
"""

import argparse
import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

REPETITIONS = 5


def _matrices(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random((n, n), np.float32), rng.random((n, n), np.float32)


def product(n: int, step: str, **constants: int) -> Callable[[], None]:
    """One n×n×n product by a step of the ladder, checked against NumPy."""
    from gemm_kernels import run

    a, b = _matrices(n)
    return lambda: np.testing.assert_allclose(run(step, a, b, **constants), a @ b, rtol=1e-4)


def reduction(elements: int) -> Callable[[], None]:
    """One sum by the ladder's reduce0, checked against NumPy."""
    from reduce_kernels import run

    x = np.random.default_rng(0).random(elements, np.float32)
    return lambda: np.testing.assert_allclose(run("reduce0", x), x.sum(), rtol=1e-5)


def seconds_of(work: Callable[[], None], repetitions: int = REPETITIONS) -> float:
    """The median time."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def seconds_of_simulator(n: int, tile: int) -> float:
    """The time of one tiled product in Numba's simulator, in a new process."""
    options = ["--n", str(n), "--tile", str(tile), "--simulator"]
    command = [sys.executable, "-m", __spec__.name, *options]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout)


def product_of_simulator(n: int, tile: int) -> Callable[[], None]:
    """One product by `tiled`, whose file is loaded alone.

    Its package holds steps whose intrinsics the simulator does not know.
    """
    from utils.ladder.shapes import GemmShape

    file = Path(__file__).parents[1] / "gemm_kernels" / "tiled.py"
    spec = importlib.util.spec_from_file_location("tiled", file)
    tiled = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tiled)
    (a, b), c = _matrices(n), np.empty((n, n), np.float32)
    launch = tiled.launch(GemmShape(n, n, n), TILE=tile)

    def work():
        tiled.build(tile)[launch.grid, launch.block](a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4)

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=128, help="size of the tiled product")
    parser.add_argument("--tile", type=int, default=16, choices=(8, 16, 32))
    parser.add_argument("--simulator", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.simulator:
        print(seconds_of(product_of_simulator(options.n, options.tile), repetitions=1))
        return
    product(8, "tiled", TILE=8)()  # warms up: typing rules and NumPy
    virtual = seconds_of(product(options.n, "tiled", TILE=options.tile))
    print(f"tiled {options.n}³: {virtual:.3f} s on the virtual GPU, median of {REPETITIONS}")
    for name, work in {
        "tiled 256³": product(256, "tiled", TILE=options.tile),
        "register-blocked 256³": product(256, "register_blocked", BM=128, BN=128, TM=8, TN=8),
        "sum of 2^20": reduction(2**20),
    }.items():
        print(f"{name}: {seconds_of(work):.3f} s on the virtual GPU", flush=True)
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"largest memory of the process: {kib / 2**20:.2f} GiB")
    simulator = seconds_of_simulator(options.n, options.tile)
    ratio = simulator / virtual
    print(f"tiled {options.n}³: {simulator:.1f} s in Numba's simulator, {ratio:.0f} times as long")


if __name__ == "__main__":
    main()
