"""Record the executed instructions and the wavefronts of lesson 13's four products.

    python -m tools.records.wide_counters --out FILE.csv

needs a CUDA device and Nsight Compute (``ncu``). ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import cuda

from gemm_kernels import wide_alone
from gemm_kernels.wide_alone import WideCounters
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import rows

SIZE = 1024
PIPE = "l1tex__data_pipe_lsu_wavefronts"
METRICS = ("smsp__inst_executed.sum", f"{PIPE}_mem_shared.sum", f"{PIPE}.sum")


def launch() -> None:
    """Launch each of the first four kernels of `wide_alone.variants` once, in their order."""
    x = cuda.to_device(np.ones((SIZE, SIZE), np.float32))
    out = cuda.device_array((SIZE, SIZE), np.float32)
    for variant in wide_alone.variants()[:4]:
        variant.execution(GemmShape(SIZE, SIZE, SIZE), (x, x), out)()
    cuda.synchronize()


def profile() -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails."""
    command = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--metrics"]
    command += [",".join(METRICS), sys.executable, "-m", "tools.records.wide_counters", "--launch"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def rows_of(text: str, device: str) -> Iterator[WideCounters]:
    """Yield a row for each of the first four kernels of `wide_alone.variants`, in their order.

    text: the output of the profiler that `profile` returns.
    """
    table = list(csv.DictReader(io.StringIO(text[text.index('"ID"') :])))
    for variant in wide_alone.variants()[:4]:
        values = {
            row["Metric Name"]: int(row["Metric Value"].replace(",", ""))
            for row in table
            if f"{variant.step.name}[" in row["Kernel Name"]
        }
        yield WideCounters(device, variant.step.name, SIZE, *(values[name] for name in METRICS))


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
