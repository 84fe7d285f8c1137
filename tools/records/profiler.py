"""Runs a command of the course under Nsight Compute (``ncu``) and reads what it prints."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Sequence

OPTIONS = ("--clock-control", "none", "--csv", "--print-units", "base")


def profiled_text(options: Sequence[str], module: str, *arguments: str) -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails.

    options: the profiler's own besides OPTIONS. module: the name of the module that Python runs,
    with these arguments, while the profiler observes it.
    """
    command = ["ncu", *OPTIONS, *options, sys.executable, "-W", "ignore", "-m", module, *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode or '"ID"' not in result.stdout:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def lines_of(text: str) -> list[dict[str, str]]:
    """Return the lines of the profiler's table, each as a dict from the column's title.

    The table has a line per launch and metric. text: what `profiled_text` returns.
    """
    return list(csv.DictReader(io.StringIO(text[text.index('"ID"') :])))
