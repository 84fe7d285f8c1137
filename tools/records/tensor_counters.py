"""Record what the profiler counts in the steps on tensor cores, to compare the virtual GPU with it.

    python -m tools.records.tensor_counters --out FILE.csv

needs a CUDA device and Nsight Compute (``ncu``). ``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from numba import cuda

from tensor_kernels import LADDER
from utils.ladder.problems import poisoned
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Step
from utils.machine import devices
from utils.measuring import rows
from virtual_gpu.tests.kernels.profile import COUNTERS

# A block and a part of one in each direction, and a tile of k that is not full.
SHAPE = GemmShape(131, 136, 88)
# LDSM may be missing among the loads of COUNTERS, and these two always have it.
METRICS = {
    **COUNTERS,
    "ldmatrix_requests": "smsp__inst_executed_op_ldsm.sum",
    "ldmatrix_and_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
}
# Counters of the virtual GPU that are numbers of executed instructions of one opcode.
OPCODES = {"mma": "HMMA", "ldmatrix": "LDSM", "async_copies": "LDGSTS"}


@dataclass(frozen=True)
class TensorCount:
    """What the profiler counted in one launch of a step for matrices of m×k and k×n.

    counter: a name of `virtual_gpu.counts.counters.LineCount`, or one of METRICS.
    """

    device: str
    kernel: str
    m: int
    n: int
    k: int
    counter: str
    value: int


def steps() -> list[Step]:
    """Return the steps that the current device can run, in the order of the ladder."""
    capability = cuda.get_current_device().compute_capability
    return [step for step in LADDER.steps if step.runs_on(capability)]


def launch() -> None:
    """Launch each step once, in the order of the ladder."""
    for step in steps():
        inputs = tuple(map(cuda.to_device, step.task.problem(SHAPE, "integers").inputs))
        out = cuda.to_device(poisoned((SHAPE.m, SHAPE.n)))
        step.variant().execution(SHAPE, inputs, out)()
    cuda.synchronize()


def profiled(*options: str) -> str:
    """Return what the profiler prints with these options; exit if the profiler fails."""
    command = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", *options]
    command += ["--kernel-name", "regex:mma_", sys.executable, "-W", "ignore", "-m"]
    command += ["tools.records.tensor_counters", "--launch"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def memory_counters(text: str) -> dict[str, dict[str, int]]:
    """Return, by kernel's name, a dict from counter to value.

    text: the profiler's page "raw" as CSV. The counters are the keys of METRICS.
    """
    table = csv.DictReader(io.StringIO(text[text.index('"ID"') :]))
    return {
        _kernel(row["Kernel Name"]): {
            counter: _number(row[metric]) for counter, metric in METRICS.items()
        }
        for row in table
        if row["ID"]  # below the header is a row of units
    }


def opcode_counters(text: str) -> dict[str, dict[str, int]]:
    """Return, by kernel's name, a dict from counter to number of executed instructions.

    text: the profiler's page "source" as CSV, with a section per kernel: first the kernel's name,
    then a row per instruction. The counters are the keys of OPCODES.
    """
    found = {}
    for section in text.split('"Kernel Name"')[1:]:
        name = _kernel(section.partition("\n")[0])
        lines = [line for line in section.splitlines() if line.startswith('"')]
        header = next(number for number, line in enumerate(lines) if '"Address"' in line)
        executed: Counter[str] = Counter()
        for row in csv.DictReader(lines[header:]):
            words = [word for word in row["Source"].split() if not word.startswith("@")]
            executed[words[0].partition(".")[0]] += _number(_column(row, "Instructions Executed"))
        found[name] = {counter: executed[opcode] for counter, opcode in OPCODES.items()}
    return found


def _kernel(text: str) -> str:
    """Return the Python name of a kernel, from the long name that the profiler shows."""
    return text.strip('," \r').partition("[")[0].rpartition("::")[2]


def _column(row: dict[str, str], name: str) -> str:
    """Return the row's text in this column, whose name some versions begin with "# "."""
    return row[name] if name in row else row[f"# {name}"]


def _number(text: str) -> int:
    """Return the number in a text whose digits the profiler groups by commas."""
    return int(float(text.replace(",", "")))


def counts(device: str) -> Iterator[TensorCount]:
    """Profile the steps and yield a row per step and counter."""
    memory = memory_counters(profiled("--page", "raw", "--metrics", ",".join(METRICS.values())))
    source = "--page", "source", "--section", "SourceCounters", "--import-source", "no"
    opcodes = opcode_counters(profiled(*source))
    for step in steps():
        for counter, value in (memory[step.name] | opcodes[step.name]).items():
            yield TensorCount(device, step.name, SHAPE.m, SHAPE.n, SHAPE.k, counter, value)


def main() -> None:
    """Profile the steps and write the rows into the file of the option --out.

    With --launch, only launch the steps, which the profiler then observes.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--launch", action="store_true", help="only launch the steps once")
    options = parser.parse_args()
    if options.launch:
        launch()
        return
    rows.write(options.out, counts(devices.current().name), TensorCount)


if __name__ == "__main__":
    main()
