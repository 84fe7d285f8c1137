"""python -m gemm_kernels.cpu: verify, measure and record the CPU ladder; --bench: its bars."""

import sys

from gemm_kernels.cpu import LADDER, bench
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(bench.main() if sys.argv[1:] == ["--bench"] else main(LADDER))
