"""python -m gemm_kernels: verify, measure and record the GPU ladder of SGEMM."""

from gemm_kernels import LADDER
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(main(LADDER))
