"""Record profiler figures of a few kernels: how busy units are, and the reasons why warps wait.

    python -m tools.records.stalls --out FOLDER --raw FOLDER

needs a CUDA device and Nsight Compute (``ncu``). It writes ``profiler_figures.csv``,
``profiler_stalls.csv`` and ``profiler_instructions.csv`` into the first folder. The profiler's
output is stored in the second folder; if it is there already, it is read and nothing is launched.
``data/README.md`` describes a row.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pandas as pd
from numba import cuda

from gemm_kernels import LADDER
from utils.ladder.step import Variant
from utils.measuring.roofline import recorded

DEVICE, SIZE = "NVIDIA H200", "4096"
STEPS = ("naive", "tiled", "vectorized", "autotuned")
SHORT = STEPS[:2]  # kernels whose instructions are recorded one by one
# The profiler's first sections, and the traffic that the virtual GPU counts as well.
SECTIONS = (
    *("SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis"),
    *("SchedulerStats", "WarpStateStats", "Occupancy"),
)
METRICS = (
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "l1tex__t_bytes.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
)
VIEWS = {
    "details": [
        *("--page", "details"),
        *(part for name in SECTIONS for part in ("--section", name)),
    ],
    "metrics": ["--page", "raw", "--metrics"],
    "source": ["--page", "source", "--section", "SourceCounters", "--import-source", "no"],
}
STALL = re.compile(r"stall_(?!\w*_not_issued$)\w+")


def variants() -> list[Variant]:
    """Return a variant per step in `STEPS`, with the constants that were fastest in the records."""
    best = {
        variant.step.name: variant for variant, _ in recorded(LADDER, LADDER.parse(SIZE), DEVICE)
    }
    return [best[name] for name in STEPS]


def launch(size: str) -> None:
    """Launch each kernel twice on a problem of this size, and print its name.

    The first launch compiles, and only the second is profiled.
    """
    shape = LADDER.parse(size)
    for variant in variants():
        problem = variant.step.task.problem(shape, "uniform")
        inputs = tuple(map(cuda.to_device, problem.inputs))
        out = cuda.device_array((shape.m, shape.n), "float32")
        execute = variant.execution(shape, inputs, out)
        execute()
        cuda.synchronize()
        with cuda.profiling():
            execute()
            cuda.synchronize()
        print(variant, flush=True)


def profile(view: str, size: str) -> str:
    """Return the CSV text that the profiler prints for a view, over all kernels.

    view: a key of `VIEWS`. size: the size of the problem, such as "4096". Exits if the profiler
    fails.
    """
    command = ["ncu", "--clock-control", "none", "--profile-from-start", "off", "--csv"]
    command += ["--print-units", "base"]
    command += VIEWS[view] + ([",".join(_known_metrics())] if view == "metrics" else [])
    command += [sys.executable, "-W", "ignore", "-m", "tools.records.stalls", "--launch", size]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def _known_metrics() -> list[str]:
    """Return the `METRICS` that the profiler knows on this device, or all if it knows none.

    Unknown metrics are named on stderr.
    """
    output = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True).stdout
    names = set(output.split())
    known = [metric for metric in METRICS if metric.partition(".")[0] in names]
    for metric in sorted(set(METRICS) - set(known)):
        print(f"The profiler does not know {metric}: left out.", file=sys.stderr)
    return known or list(METRICS)


def figures(details: str, metrics: str) -> pd.DataFrame:
    """Return a table with a row per kernel and figure: kernel, figure, unit, value.

    kernel: the step's name with its constants; other kernels are left out. figure: the profiler's
    name for it. value: a float; figures that are no numbers are left out. details, metrics: the
    profiler's output for these views.
    """
    shown = _table(details, '"ID"').dropna(subset=["Metric Name", "Metric Value"])
    names = shown["Kernel Name"].map(_step_name)
    columns = (names, shown["Metric Name"], shown["Metric Unit"], shown["Metric Value"])
    rows = list(zip(*columns, strict=True))
    # The first row below the column names holds the units.
    raw = _table(metrics, '"ID"')
    units, values = raw.iloc[0], raw.dropna(subset=["ID"])
    rows += [
        (_step_name(row["Kernel Name"]), name, units[name], row[name])
        for _, row in values.iterrows()
        for name in METRICS
        if name in raw.columns
    ]
    table = pd.DataFrame(rows, columns=["kernel", "figure", "unit", "value"]).dropna(
        subset=["kernel"]
    )
    table["value"] = pd.to_numeric(table["value"].str.replace(",", ""), errors="coerce")
    return table.dropna(subset=["value"]).drop_duplicates(["kernel", "figure"])


def samples_of(source: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (kernel's name, table) with a row per instruction, in order.

    source: the profiler's output for this view. The columns are opcode and the number of samples
    per stall reason. Kernels other than the steps' own are left out. Exits if a table has no stall
    reasons.
    """
    for section in source[source.index('"Kernel Name"') :].split('"Kernel Name"')[1:]:
        name = _step_name(section.partition("\n")[0])
        if name is None:
            continue
        table = _table(section, '"Address"')
        reasons = [column for column in table.columns if STALL.fullmatch(column)]
        if not reasons:
            sys.exit(f"There are no stall reasons among {', '.join(table.columns)}.")
        samples = table[reasons].fillna("0").map(_number)
        samples.columns = [reason.removeprefix("stall_") for reason in reasons]
        samples.insert(0, "opcode", table["Source"].map(_opcode))
        yield name, samples


def stalls(source: str) -> pd.DataFrame:
    """Return a table with a row per kernel and stall reason: kernel, reason, samples.

    The samples are those of the whole kernel; reasons without samples, and kernels other than the
    steps' own, are left out. source: the profiler's output as text, as for `samples_of`.
    """
    rows = [
        (name, reason, samples)
        for name, table in samples_of(source)
        for reason, samples in table.drop(columns="opcode").sum().items()
        if samples
    ]
    return pd.DataFrame(rows, columns=["kernel", "reason", "samples"])


def sampled(source: str) -> pd.DataFrame:
    """Return a table with a row per instruction of the SHORT kernels that has samples.

    source: the profiler's output as text, as for `samples_of`. The columns are kernel (its name
    with its constants), place (the index of the instruction), opcode, samples, and reason (the most
    frequent stall reason, without "stall_").
    """
    rows = []
    for name, table in samples_of(source):
        if name.partition(" ")[0] not in SHORT:
            continue
        samples = table.drop(columns="opcode")
        for place, total in enumerate(samples.sum(axis=1)):
            if total:
                opcode, reason = table["opcode"].iloc[place], samples.iloc[place].idxmax()
                rows.append((name, place, opcode, total, reason))
    return pd.DataFrame(rows, columns=["kernel", "place", "opcode", "samples", "reason"])


def _step_name(kernel: str) -> str | None:
    """Return the name of a step with its constants, from the profiler's name of a kernel.

    Returns None for a kernel that is not one of `variants()`, such as the one that adds slices.
    """
    match = re.search(r"::(\w+)\[", kernel)
    return _names().get(match[1]) if match else None


@cache
def _names() -> dict[str, str]:
    """Return a dict from a step's name to its name with constants; the result is cached."""
    return {variant.step.name: str(variant) for variant in variants()}


def _table(text: str, begins: str) -> pd.DataFrame:
    """Return the CSV table in a text as strings; its header begins with the column `begins`.

    Lines that do not begin with a quotation mark are left out.
    """
    quoted = (line for line in text[text.index(begins) :].splitlines() if line.startswith('"'))
    return pd.read_csv(io.StringIO("\n".join(quoted)), dtype=str, index_col=False)


def _number(text: str) -> int:
    """Return the whole number in a text such as "1,234"."""
    return int(float(text.replace(",", "")))


def _opcode(instruction: str) -> str:
    """Return the opcode of an instruction, such as FFMA, without its predicate and operands."""
    return re.sub(r"^@!?U?P\w+\s+", "", instruction.strip()).partition(" ")[0].rstrip(";")


def _text_of(view: str, folder: Path) -> str:
    """Return the profiler's output for a view, from the folder if it is stored there.

    Otherwise the profiler runs, and its output is stored in the folder.
    """
    file = folder / f"{view}.txt"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(profile(view, SIZE), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Profile the kernels and write three tables, figures, stalls and instructions, into --out.

    The profiler's own text is kept in the folder --raw and used again. With --launch SIZE only the
    kernels are launched, which the profiler then observes. arguments: the words of the command
    line, by default those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="where the tables go")
    parser.add_argument("--raw", type=Path, help="where the profiler's own text is kept")
    parser.add_argument("--launch", metavar="SIZE", help="what the profiler is started over")
    options = parser.parse_args(arguments)
    if options.launch:
        launch(options.launch)
        return
    if not (options.out and options.raw):
        parser.error("--out and --raw are needed.")
    details, metrics, source = (_text_of(view, options.raw) for view in VIEWS)
    tables = {
        "profiler_figures": figures(details, metrics),
        "profiler_stalls": stalls(source),
        "profiler_instructions": sampled(source),
    }
    for name, table in tables.items():
        table.to_csv(options.out / f"{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
