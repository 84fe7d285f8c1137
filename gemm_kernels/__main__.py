"""python -m gemm_kernels: verify, measure and record the GPU ladder of SGEMM.

python -m gemm_kernels --transfers: measure and record what the way to the GPU and back costs.
"""

import sys

from gemm_kernels import LADDER, transfers
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(transfers.main() if sys.argv[1:] == ["--transfers"] else main(LADDER))
