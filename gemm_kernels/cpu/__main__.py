"""`python -m gemm_kernels.cpu`: verify, measure, record and draw the CPU ladder of SGEMM."""

import argparse
import os
import subprocess
import sys
from dataclasses import replace

from rich.console import Console

from gemm_kernels.cpu import LADDER, as_called
from gemm_kernels.cpu.tuning import bench, library_rates
from utils.figures.plot_command import plot_command
from utils.measuring.command_line import main
from utils.measuring.measure_command import measure_command

LADDER_ALONE = measure_command(LADDER)


def measure(options: argparse.Namespace) -> int:
    """Measure and print the ladder and, below it, the libraries' rates here and published rates.

    With `options.record`, the rates of the libraries are recorded, too. With `options.json`, only
    the ladder is printed. Returns the exit code of the command that measures the ladder alone.
    """
    code = LADDER_ALONE.run(options)
    if options.record:
        library_rates.record(options.n or LADDER.sizes)
    if not options.json:
        width = None if sys.stdout.isatty() else 120
        shapes = [LADDER.parse(size) for size in options.n or LADDER.quick]
        Console(width=width).print(library_rates.table(shapes))
    return code


COMMANDS = (
    replace(LADDER_ALONE, run=measure), plot_command(LADDER), bench.COMMAND, as_called.COMMAND
)  # fmt: skip


def with_own_choice(arguments: list[str]) -> int:
    """Run the command line with OpenBLAS's own choice of kernels, and return the exit code.

    If an environment variable would change that choice, the command runs in a new process without
    the variable.
    """
    if not any(name in os.environ for name in bench.CHOICES):
        return main(LADDER.title, COMMANDS, arguments)
    # OpenBLAS has already read the variables: only a fresh process gets the library's own choice.
    environment = {key: text for key, text in os.environ.items() if key not in bench.CHOICES}
    command = [sys.executable, "-m", __spec__.parent, *arguments]
    return subprocess.call(command, env=environment)


if __name__ == "__main__":
    raise SystemExit(with_own_choice(sys.argv[1:]))
