"""How fast is the virtual GPU, with every check and every count on?

    python -m virtual_gpu.tests.benchmark [--against FOLDER] [--repetitions 3] [--few-threads]

Each workload runs in a process of its own: an import, or one step traced twice. The first trace
includes what Numba does once in a process, such as filling its tables of types. With ``--against``
another checkout of this project runs the same in turn, and ratios are printed. Times are the
process's own processor time, which other programs disturb less than the clock does; the median
counts. At the end a small tiled product runs in Numba's simulator, and its one launch is
compared with the best of twenty here. Launches in which few threads do all the work are compared
by the medians of seven launches, after one that is not counted.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[2]
WORKLOADS = (
    "import virtual_gpu",
    "gemm register_blocked 512",
    "gemm warp_tiled 512",
    "gemm tiled 256",
    "reduce reduce6 16777216",
)
WORKLOADS_OF_FEW_THREADS = (
    "one thread, 20,000 elements",
    "block matching, 64 threads",
    "rotated boxes, 10 threads",
)
N, TILE = 128, 16  # of the product that the simulator can run as well


def _processor_seconds(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _import() -> None:
    import virtual_gpu  # noqa: F401


def _trace(package: str, step: str, size: str) -> Callable[[], None]:
    from utils.ladder.explain import trace_step

    ladder = importlib.import_module(f"{package}_kernels").LADDER
    shape = ladder.parse("x".join([size] * 3) if package == "gemm" else size)
    variant = ladder.step(step).variant()

    def work():
        if trace_step(variant, shape).findings:
            raise SystemExit(f"{step} has findings")

    return work


def run_here(workload: str) -> dict[str, float]:
    """Run one workload in this process; return its seconds and the process's peak memory in GiB."""
    words = workload.split()
    if words[0] == "import":
        seconds = {"first": _processor_seconds(_import)}
    else:
        work = _trace(*words)
        seconds = {"first": _processor_seconds(work), "again": _processor_seconds(work)}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**seconds, "gib": memory / 2**20}


def _in_process(folder: Path, options: list[str], **environment: str) -> str:
    command = [sys.executable, str(Path(__file__).resolve()), *options]
    variables = {**os.environ, "PYTHONPATH": str(folder), "VIRTUAL_GPU_PROGRESS": "0"}
    variables["VIRTUAL_GPU_CACHE"] = "off"  # the first trace asks Numba for all types
    result = subprocess.run(
        command, cwd=folder, env={**variables, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return result.stdout.splitlines()[-1]


def compare(workload: str, folders: list[Path], repetitions: int) -> None:
    """Print one workload's time in each folder, run alternately, and the ratio of first to last."""
    runs: dict[Path, list[dict]] = {folder: [] for folder in folders}
    for _ in range(repetitions):
        for folder in folders:
            runs[folder].append(json.loads(_in_process(folder, ["--workload", workload])))
    memory = max(run["gib"] for run in runs[folders[-1]])
    for trace in [name for name in runs[folders[0]][0] if name != "gib"]:
        seconds = [statistics.median(run[trace] for run in runs[folder]) for folder in folders]
        ratio = f"  {seconds[0] / seconds[-1]:.2f} times as fast" if len(folders) > 1 else ""
        times = " → ".join(f"{s:.2f} s" for s in seconds)
        print(f"{workload:26} {trace:5}  {times}{ratio}  ({memory:.2f} GiB)", flush=True)


def small_product(repetitions: int) -> float:
    """Return the best time of one tiled product, on the virtual GPU or in Numba's simulator.

    The kernel's file is loaded alone, because its package holds steps that the simulator does not
    know.
    """
    from numba.core import config

    from utils.ladder.shapes import GemmShape

    if not config.ENABLE_CUDASIM:
        import virtual_gpu

        virtual_gpu.install()
    tiled = _loaded(HERE / "gemm_kernels" / "tiled.py")
    rng = np.random.default_rng(0)
    a, b = rng.random((N, N), np.float32), rng.random((N, N), np.float32)
    want = a @ b  # once: NumPy's threads go on waiting for work for a while, which counts as time
    launch, times = tiled.launch(GemmShape(N, N, N), TILE=TILE), []
    for _ in range(repetitions):
        c = np.full((N, N), np.nan, np.float32)
        times.append(
            _processor_seconds(lambda c=c: tiled.build(TILE)[launch.grid, launch.block](a, b, c))
        )
        np.testing.assert_allclose(c, want, rtol=1e-4)
    return min(times)


def few_threads(name: str) -> float:
    """Return the median time of a launch of few threads, here or in Numba's simulator.

    The first launch, which includes what Numba does once, is left out.
    """
    from numba.core import config

    if not config.ENABLE_CUDASIM:
        import virtual_gpu

        virtual_gpu.install()
    kernels = _loaded(HERE / "virtual_gpu" / "tests" / "kernels" / "few_threads.py")
    kernel, grid, block, arguments = kernels.WORKLOADS[name]()
    times = [_processor_seconds(lambda: kernel[grid, block](*arguments)) for _ in range(8)]
    return statistics.median(times[1:])


def _loaded(file: Path):
    """Return a module that is loaded from its file alone."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare_few_threads(repetitions: int) -> None:
    """Print the times of launches of few threads here and in Numba's simulator, run alternately."""
    for name in WORKLOADS_OF_FEW_THREADS:
        here, simulator = [], []
        for _ in range(repetitions):
            here.append(float(_in_process(HERE, ["--few", name])))
            options = {"NUMBA_ENABLE_CUDASIM": "1"}
            simulator.append(float(_in_process(HERE, ["--few", name], **options)))
        ratio = statistics.median(s / h for s, h in zip(simulator, here, strict=True))
        print(
            f"{name}: {statistics.median(here):.4f} s; in Numba's simulator "
            f"{statistics.median(simulator):.4f} s, {ratio:.1f} times as long"
        )


def compare_with_simulator() -> None:
    """Print the times of a small product on the virtual GPU and in Numba's simulator."""
    here = float(_in_process(HERE, ["--small", "20"]))
    simulator = float(_in_process(HERE, ["--small", "1"], NUMBA_ENABLE_CUDASIM="1"))
    print(
        f"tiled {N}³, launched: {here:.3f} s; in Numba's simulator {simulator:.1f} s, "
        f"{simulator / here:.0f} times as long"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout of this project")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--workload", choices=WORKLOADS, help=argparse.SUPPRESS)
    parser.add_argument("--small", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--few", choices=WORKLOADS_OF_FEW_THREADS, help=argparse.SUPPRESS)
    parser.add_argument(
        "--few-threads", action="store_true", help="only the launches of few threads"
    )
    options = parser.parse_args()
    if options.workload:
        print(json.dumps(run_here(options.workload)))
    elif options.small:
        print(small_product(options.small))
    elif options.few:
        print(few_threads(options.few))
    elif options.few_threads:
        compare_few_threads(options.repetitions)
    else:
        folders = [options.against.resolve()] if options.against else []
        for workload in WORKLOADS:
            compare(workload, [*folders, HERE], options.repetitions)
        compare_with_simulator()
        compare_few_threads(options.repetitions)


if __name__ == "__main__":
    main()
