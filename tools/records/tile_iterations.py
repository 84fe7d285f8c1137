"""Record the instructions of a warp per tile that lessons count, without a compiler at hand.

    python -m tools.records.tile_iterations --out data/compiled/tile_iterations.csv

needs the compiler and no GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER
from gemm_kernels.parts.lane_maps import LANE_MAPS
from utils.lessons.tile_iterations import RecordedWay, compiled_ways
from utils.machine.versions import versions
from utils.measuring import rows

ARCH = "sm_90"
WARP_TILED = LADDER.step("warp_tiled")
VARIANTS = (
    LADDER.step("maxwell64").variant(),
    LADDER.step("maxwell256").variant(),
    LADDER.step("prefetch").variant(),
    *(WARP_TILED.variant(LANES=number, BK=8) for number in range(len(LANE_MAPS))),
)


def recorded() -> Iterator[RecordedWay]:
    """Compile the kernels in `VARIANTS` for `ARCH`; yield a warp's instructions per tile as rows.

    A variant has two rows if some warps load tiles of a and others tiles of b, and else one row.
    """
    installed = versions()
    for variant in VARIANTS:
        for way in compiled_ways(variant, ARCH):
            yield RecordedWay(ARCH, installed.toolkit, installed.numba_cuda, str(variant), way)


def main() -> None:
    """Write the rows that `recorded` yields into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), RecordedWay)


if __name__ == "__main__":
    main()
