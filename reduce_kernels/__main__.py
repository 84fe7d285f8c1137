"""python -m reduce_kernels: verify, measure and record the ladder of reductions."""

from reduce_kernels import LADDER
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(main(LADDER))
