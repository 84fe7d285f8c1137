"""python -m gemm_kernels.cpu: verify, measure and record the CPU ladder of SGEMM."""

from gemm_kernels.cpu import LADDER
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(main(LADDER))
