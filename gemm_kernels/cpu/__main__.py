"""python -m gemm_kernels.cpu: verify, measure and record the CPU ladder of SGEMM.

python -m gemm_kernels.cpu --bench: measure the ladder's bars against NumPy and oneDNN.
"""

import argparse
import os
import subprocess
import sys

from rich.console import Console

from gemm_kernels.cpu import LADDER, bench, beside
from utils.cli import REFUSED, main

BENCH = "--bench, alone: measure the ladder's bars against NumPy and oneDNN (about a minute)"


def _with_what_stands_beside() -> int:
    """The ladder's command line, and below its table those of the libraries and the sources."""
    code = main(LADDER, epilog=BENCH)
    if code == REFUSED or "--json" in sys.argv:
        return code
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--n", nargs="+", default=LADDER.quick)
    sizes = parser.parse_known_args()[0].n
    width = None if sys.stdout.isatty() else 120
    Console(width=width).print(beside.table([LADDER.parse(size) for size in sizes]))
    return code


def _main(arguments: list[str]) -> int:
    if arguments == ["--bench"]:
        return bench.main()
    if any(name in os.environ for name in bench.CHOICES):
        # OpenBLAS has read them by now: only a fresh process gets the library's own choice.
        environment = {key: text for key, text in os.environ.items() if key not in bench.CHOICES}
        command = [sys.executable, "-m", __spec__.parent, *arguments]
        return subprocess.call(command, env=environment)
    return _with_what_stands_beside()


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
