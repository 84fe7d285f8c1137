"""Record the executed instructions of lesson 18's reductions, and how busy the schedulers are.

    python -m tools.records.issue_slots --out FILE.csv

needs a CUDA device and Nsight Compute (``ncu``). ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import cuda

from reduce_kernels.remainder import IssueSlots, variants
from tools.records.profiler import lines_of, profiled_text
from utils.errors import CourseError
from utils.ladder.shapes import ReduceShape
from utils.machine import devices
from utils.measuring import rows

ELEMENTS = 2**25
INSTRUCTIONS = "smsp__inst_executed.sum"
BUSY = "smsp__issue_active.avg.pct_of_peak_sustained_active"


def launch() -> None:
    """Launch each kernel, with its second pass, twice; only the second launch is profiled."""
    x = cuda.to_device(np.ones(ELEMENTS, np.float32))
    out = cuda.device_array(1, np.float32)
    for variant in variants():
        execute = variant.execution(ReduceShape(ELEMENTS), (x,), out)
        execute()
        cuda.synchronize()
        with cuda.profiling():
            execute()
            cuda.synchronize()


def profile(metrics: str = f"{INSTRUCTIONS},{BUSY}") -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails.

    It has a line per launch and metric, which `launches_of` reads. metrics: their names, as the
    profiler's option `--metrics` takes them.
    """
    names = "|".join(variant.step.name for variant in variants())
    options = ["--profile-from-start", "off", "-k", f"regex:{names}", "--metrics", metrics]
    return profiled_text(options, "tools.records.issue_slots", "--launch")


def launches_of(text: str, kernel: str) -> dict[str, float]:
    """Return a dict from metric to its value for the launch of a kernel.

    text: the output of `profile`. Raises CourseError if the kernel was not launched.
    """
    values = {
        row["Metric Name"]: float(row["Metric Value"].replace(",", ""))
        for row in lines_of(text)
        if f"{kernel}[" in row["Kernel Name"]
    }
    if not values:
        raise CourseError(
            f"The profiler's output has no launch of {kernel}: see whether ncu may read the "
            "counters, and whether the kernel was launched."
        )
    return values


def rows_of(text: str, device: str) -> Iterator[IssueSlots]:
    """Yield a row per kernel, in the order of `variants`.

    text: the output of `profile`. Raises CourseError if it has no launch of one of the kernels.
    """
    for variant in variants():
        values = launches_of(text, variant.step.name)
        yield IssueSlots(
            device, variant.step.name, ELEMENTS, int(values[INSTRUCTIONS]), values[BUSY] / 100
        )


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
    rows.write(options.out, rows_of(profile(), devices.current().name), IssueSlots)


if __name__ == "__main__":
    main()
