"""Run the corpus under NVIDIA's compute-sanitizer, and write what it reports.

``python -m virtual_gpu.tests.kernels.sanitize --out FILE.csv`` runs every broken case under the
tool made for its kind of flaw, and every correct one under the tool for what makes it suspicious
(``--tools all``: under all four). One row per run:

case, corpus, kind, tool: what was run;
reported: whether the tool reported anything (empty: it failed and gave no summary);
hung: whether the run had to be ended;
result: ``right`` or ``wrong`` for a correct case that came to its end, else empty;
summary: the tool's own line.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from . import TOOLS, KernelCase
from .run_case import CASES

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT = 60  # seconds for one run, the start of Python and of the tool included
OPTIONS = (
    "--error-exitcode=9",
    "--check-exit-code=no",  # a kernel that faults makes Python exit with 1; that is no finding
    "--launch-timeout=60",
    "--max-connections=128",  # one port per run at the same time
)
TOOL_OPTIONS = {"memcheck": ("--report-api-errors=no",)}
SUMMARY = re.compile(r"^=+ (.*SUMMARY: (\d+).*)$", re.MULTILINE)
HUNG = re.compile(r"^Timeout \(", re.MULTILINE)
RESULT = re.compile(r"^(right|wrong)$", re.MULTILINE)


@dataclass(frozen=True)
class ToolResult:
    """The result of one case under one tool."""

    case: str
    corpus: str
    kind: str
    tool: str
    reported: bool | None
    hung: bool
    result: str
    summary: str


def main() -> None:
    options = parse_arguments()
    runs = [(c, tool) for c in CASES.values() for tool in tools_for(c, options.tools)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = pool.map(lambda run: run_under(options.sanitizer, *run), runs)
        table = pd.DataFrame(tqdm(rows, total=len(runs), desc="runs", unit="run", disable=None))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    table["reported"] = table["reported"].map({True: "true", False: "false"})
    table["hung"] = table["hung"].map({True: "true", False: "false"})
    table.to_csv(options.out, index=False, lineterminator="\n")
    print(totals(table))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the corpus under compute-sanitizer.")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--jobs", type=int, default=8, help="runs at the same time")
    help_tools = "for correct cases: the tool for what is suspicious, or all four"
    parser.add_argument("--tools", choices=("own", "all"), default="own", help=help_tools)
    parser.add_argument("--sanitizer", default="compute-sanitizer", help="the program to use")
    options = parser.parse_args()
    if shutil.which(options.sanitizer) is None:
        parser.error(f"{options.sanitizer} was not found; it comes with the CUDA toolkit.")
    return options


def tools_for(case: KernelCase, choice: str) -> tuple[str, ...]:
    """Return the names of the tools that a case is run under."""
    if case.corpus == "correct" and choice == "all":
        return tuple(TOOLS.values())
    return (case.tool,)


def run_under(sanitizer: str, case: KernelCase, tool: str) -> ToolResult:
    """Run one case under one tool of compute-sanitizer and return the result."""
    command = [
        sanitizer, "--tool", tool, *OPTIONS, *TOOL_OPTIONS.get(tool, ()),
        sys.executable, "-m", "virtual_gpu.tests.kernels.run_case", case.name,
    ]  # fmt: skip
    output, in_time = captured(command)
    hung = not in_time or HUNG.search(output) is not None
    summary, result = SUMMARY.search(output), RESULT.search(output)
    return ToolResult(
        case.name, case.corpus, case.kind, tool,
        reported=is_reported(summary, hung),
        hung=hung,
        result=result[1] if result else "",
        summary=summary[1].strip() if summary else last_line(output),
    )  # fmt: skip


def is_reported(summary: re.Match | None, hung: bool) -> bool | None:
    """Return True if the tool reported a flaw, or None if it failed and gave no summary.

    A tool that hangs along with its kernel has reported nothing.
    """
    if summary is None:
        return False if hung else None
    return summary[2] != "0"


def captured(command: list[str]) -> tuple[str, bool]:
    """Run a command; return its output, and False if it was killed because of the time limit."""
    with tempfile.TemporaryFile() as file:  # a pipe could be held open by a process that survives
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT, start_new_session=True
        )
        try:
            process.wait(TIMEOUT)
            in_time = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            in_time = False
        file.seek(0)
        return file.read().decode(errors="replace"), in_time


def last_line(output: str) -> str:
    return (output.strip().splitlines() or [""])[-1]


def totals(table: pd.DataFrame) -> str:
    """Return runs, reports, hangs, wrong results and missing summaries by corpus and tool."""
    counted = table.assign(
        runs=1,
        reported=table["reported"] == "true",
        hung=table["hung"] == "true",
        wrong=(table["corpus"] == "correct") & (table["result"] != "right"),
        no_summary=table["reported"].isna(),
    )
    columns = ["runs", "reported", "hung", "wrong", "no_summary"]
    return counted.groupby(["corpus", "tool"])[columns].sum().to_string()


if __name__ == "__main__":
    main()
