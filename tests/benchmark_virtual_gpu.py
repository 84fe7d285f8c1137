"""How much faster is the virtual GPU than Numba's own simulator, at the same kernel?

Both run the tiled product in one run of this program: the virtual GPU here, with every check on,
and the simulator in a process of its own, because it replaces the compiler.

    python -m tests.benchmark_virtual_gpu [--n 128] [--tile 16]
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

REPETITIONS = 5


def seconds_of_tiled(n: int, tile: int, repetitions: int) -> float:
    """The median time of one n×n×n product, checked against NumPy."""
    from gemm_kernels import run

    rng = np.random.default_rng(0)
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        c = run("tiled", a, b, TILE=tile)
        times.append(time.perf_counter() - start)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    return statistics.median(times)


def seconds_of_simulator(n: int, tile: int) -> float:
    """The time of one product in Numba's simulator, in a new process."""
    options = ["--n", str(n), "--tile", str(tile), "--simulator"]
    command = [sys.executable, "-m", __spec__.name, *options]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=128, help="size of the square matrices")
    parser.add_argument("--tile", type=int, default=16, choices=(8, 16, 32))
    parser.add_argument("--simulator", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.simulator:
        print(seconds_of_tiled(options.n, options.tile, repetitions=1))
        return
    seconds_of_tiled(8, 8, repetitions=1)  # warms up: typing rules and NumPy
    virtual = seconds_of_tiled(options.n, options.tile, REPETITIONS)
    print(f"virtual GPU, all checks on: {virtual:.3f} s (median of {REPETITIONS})", flush=True)
    simulator = seconds_of_simulator(options.n, options.tile)
    print(f"Numba's simulator:          {simulator:.3f} s")
    print(f"ratio:                      {simulator / virtual:.0f}")


if __name__ == "__main__":
    main()
