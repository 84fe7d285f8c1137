"""python -m gemm_kernels.cpu: verify, measure and record the CPU ladder; --bench: its bars."""

import argparse
import sys

from rich.console import Console

from gemm_kernels.cpu import LADDER, bench, beside
from utils.cli import REFUSED, main


def _with_what_stands_beside() -> int:
    """The ladder's command line, and below its table those of the libraries and the sources."""
    code = main(LADDER)
    if code == REFUSED or "--json" in sys.argv:
        return code
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--n", nargs="+", default=LADDER.quick)
    sizes = parser.parse_known_args()[0].n
    width = None if sys.stdout.isatty() else 120
    Console(width=width).print(beside.table([LADDER.parse(size) for size in sizes]))
    return code


if __name__ == "__main__":
    raise SystemExit(bench.main() if sys.argv[1:] == ["--bench"] else _with_what_stands_beside())
