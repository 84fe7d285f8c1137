"""Record the instructions of a warp per tile for lesson 15, so that it needs no compiler.

    python -m tools.records.tile_iterations --out data/compiled/tile_iterations.csv

needs the compiler and no GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER
from utils.lessons.lesson_15.iterations import RecordedWay, compiled_ways
from utils.machine.versions import versions
from utils.measuring import rows

ARCH, STEPS = "sm_90", ("maxwell64", "maxwell256")


def recorded() -> Iterator[RecordedWay]:
    """Compile every step and yield a row per kind of warp: one loads a, the other b."""
    installed = versions()
    for name in STEPS:
        variant = LADDER.step(name).variant()
        for way in compiled_ways(variant, ARCH):
            yield RecordedWay(ARCH, installed.toolkit, installed.numba_cuda, str(variant), way)


def main() -> None:
    """Write the rows of all steps into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), RecordedWay)


if __name__ == "__main__":
    main()
