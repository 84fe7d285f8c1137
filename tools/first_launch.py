"""Measure the first launch of a kernel with an empty and with a filled cache of types.

    python -m tools.first_launch [--size 256] [--repetitions 3]

Six GEMM steps are traced twice in a new process, first with an empty cache, then, in the next
process, with the cache that the first one filled. Times are the process's own processor time, as
medians of the repetitions. With a filled cache, the first trace should take at most 1.2 times as
long as the second trace in the same process.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
STEPS = ("naive", "tiled", "register_blocked", "vectorized", "double_buffered", "warp_tiled")
TARGET = 1.2


def measure_here(size: int) -> dict[str, float]:
    """Return processor seconds of this process: {"imports": …, "first": …, "second": …}.

    "first" and "second" are the first and the second trace of all steps. size: the number of rows
    of the square matrices.
    """
    begin = time.process_time()
    from gemm_kernels import LADDER
    from utils.ladder.explain import trace_step

    seconds = {"imports": time.process_time() - begin}
    shape = LADDER.parse("x".join([str(size)] * 3))
    variants = [LADDER.step(name).variant() for name in STEPS]
    for trace in ("first", "second"):
        begin = time.process_time()
        for variant in variants:
            trace_step(variant, shape)
        seconds[trace] = time.process_time() - begin
    return seconds


def in_new_process(size: int, cache: str) -> dict[str, float]:
    """Return the result of `measure_here` in a new process.

    cache: the folder of the cache of types, or "off".
    """
    variables = {
        **os.environ, "VIRTUAL_GPU_CACHE": cache, "VIRTUAL_GPU_CACHE_READ_ONLY": "0",
        "VIRTUAL_GPU_PROGRESS": "0",
        "OPENBLAS_NUM_THREADS": "1",  # waiting threads would add processor time
    }  # fmt: skip
    command = [sys.executable, "-m", "tools.first_launch", "--here", "--size", str(size)]
    result = subprocess.run(
        command, cwd=ROOT, env=variables, check=True, capture_output=True, text=True
    )
    return json.loads(result.stdout.splitlines()[-1])


def compare(size: int, repetitions: int) -> None:
    """Print medians in processor seconds: of the imports, and of the first and the second trace.

    There is a line for each state of the cache: off, empty and filled. Each line ends with the
    ratio of the two traces. size: the number of rows of the matrices. repetitions: the number of
    measurements of each.
    """
    runs_by_cache: dict[str, list[dict[str, float]]] = {"off": [], "empty": [], "filled": []}
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            runs_by_cache["off"].append(in_new_process(size, "off"))
            runs_by_cache["empty"].append(in_new_process(size, folder))
            runs_by_cache["filled"].append(in_new_process(size, folder))
    print(f"Processor seconds of {len(STEPS)} GEMM steps at {size}³, median of {repetitions}")
    for cache, runs in runs_by_cache.items():
        imports, first, second = (
            statistics.median(run[part] for run in runs) for part in ("imports", "first", "second")
        )
        ratio = statistics.median(run["first"] / run["second"] for run in runs)
        print(
            f"cache {cache:7} imports {imports:.2f}, first trace {first:.2f}, "
            f"second trace {second:.2f}: ratio {ratio:.2f}"
        )
    print(f"target: at most {TARGET} with a filled cache")


def main() -> None:
    """Print what `compare` prints, or with --here the times of `measure_here` as JSON.

    The option --size is the number of rows of the matrices, --repetitions that of measurements.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure_here(options.size)))
    else:
        compare(options.size, options.repetitions)


if __name__ == "__main__":
    main()
