"""python -m gemm_kernels: verify, measure and record the GPU ladder of SGEMM.

python -m gemm_kernels --transfers: measure and record what the way to the GPU and back costs.
python -m gemm_kernels --tune: find the constants of `autotuned` for this device.
"""

import sys

from gemm_kernels import LADDER, autotune, transfers
from utils.cli import main


def _main(arguments: list[str]) -> int:
    if arguments == ["--transfers"]:
        return transfers.main()
    if arguments[:1] == ["--tune"]:
        return autotune.main(arguments[1:])
    return main(LADDER)


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1:]))
