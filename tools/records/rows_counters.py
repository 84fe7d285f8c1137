"""Record the executed instructions and the wavefronts of lesson 12's kernels.

    python -m tools.records.rows_counters --out FILE.csv

needs a CUDA device and Nsight Compute (``ncu``). ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import cuda

from gemm_kernels import rows_apart
from gemm_kernels.wide_alone import WideCounters
from tools.records.profiler import lines_of, profiled_text
from tools.records.wide_counters import METRICS, SIZE
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import rows


def launch() -> None:
    """Launch each kernel of `rows_apart` once, in order."""
    x = cuda.to_device(np.ones((SIZE, SIZE), np.float32))
    out = cuda.device_array((SIZE, SIZE), np.float32)
    for variant in rows_apart.variants():
        variant.execution(GemmShape(SIZE, SIZE, SIZE), (x, x), out)()
    cuda.synchronize()


def profile() -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails."""
    options = ["--metrics", ",".join(METRICS)]
    return profiled_text(options, "tools.records.rows_counters", "--launch")


def rows_of(text: str, device: str) -> Iterator[WideCounters]:
    """Yield a row per kernel, in the order of `rows_apart.variants`; text: the profiler's CSV."""
    launches: dict[int, dict[str, int]] = {}
    for row in lines_of(text):
        value = int(row["Metric Value"].replace(",", ""))
        launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = value
    for variant, number in zip(rows_apart.variants(), sorted(launches), strict=True):
        figures = (launches[number][name] for name in METRICS)
        yield WideCounters(device, str(variant), SIZE, *figures)


def main() -> None:
    """Profile the kernels and write the rows into the file of the option --out.

    With --launch, only launch the kernels, which the profiler then observes.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--launch", action="store_true", help="only launch the kernels once")
    options = parser.parse_args()
    if options.launch:
        launch()
        return
    rows.write(options.out, rows_of(profile(), devices.current().name), WideCounters)


if __name__ == "__main__":
    main()
