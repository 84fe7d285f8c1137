"""python -m latency_kernels: verify, measure and record the ceilings of this device."""

from latency_kernels import LADDER
from utils.cli import main

if __name__ == "__main__":
    raise SystemExit(main(LADDER))
