"""How long does the first launch of a kernel take, with an empty and with a filled cache of types?

    python -m tools.first_launch [--size 256] [--repetitions 3]

Six GEMM steps are traced twice in a new process: first with an empty cache, then, in the next
process, with the cache that the first one filled. Times are the process's own processor time; the
median of the repetitions counts. The target is a filled cache at no more than 1.2 times the second
trace in the same process.
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
    """Return the processor seconds of the imports, of the first trace of all steps in this process
    and of the second."""
    begin = time.process_time()
    from gemm_kernels import LADDER
    from utils.ladder.explain import trace_step

    seconds = {"imports": time.process_time() - begin}
    shape = LADDER.parse("x".join([str(size)] * 3))
    variants = [LADDER.step(name).variant() for name in STEPS]
    for turn in ("first", "second"):
        begin = time.process_time()
        for variant in variants:
            trace_step(variant, shape)
        seconds[turn] = time.process_time() - begin
    return seconds


def in_new_process(size: int, cache: str) -> dict[str, float]:
    """Return what `measure_here` says in a process with this cache."""
    variables = {
        **os.environ, "VIRTUAL_GPU_CACHE": cache, "VIRTUAL_GPU_CACHE_READ_ONLY": "0",
        "VIRTUAL_GPU_PROGRESS": "0",
        "OPENBLAS_NUM_THREADS": "1",  # threads that wait for work would count, too
    }  # fmt: skip
    command = [sys.executable, "-m", "tools.first_launch", "--here", "--size", str(size)]
    ended = subprocess.run(
        command, cwd=ROOT, env=variables, check=True, capture_output=True, text=True
    )
    return json.loads(ended.stdout.splitlines()[-1])


def compare(size: int, repetitions: int) -> None:
    """Print the medians for an empty cache, a filled one, and the second trace."""
    seen: dict[str, list[dict[str, float]]] = {"off": [], "empty": [], "filled": []}
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            seen["off"].append(in_new_process(size, "off"))
            seen["empty"].append(in_new_process(size, folder))
            seen["filled"].append(in_new_process(size, folder))
    print(f"Processor seconds of {len(STEPS)} GEMM steps at {size}³, median of {repetitions}")
    for cache, runs in seen.items():
        imports, first, second = (
            statistics.median(run[turn] for run in runs) for turn in ("imports", "first", "second")
        )
        ratio = statistics.median(run["first"] / run["second"] for run in runs)
        print(
            f"cache {cache:7} imports {imports:.2f}, first trace {first:.2f}, "
            f"second trace {second:.2f}: ratio {ratio:.2f}"
        )
    print(f"target: at most {TARGET} with a filled cache")


def main() -> None:
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
