"""Record the innermost loops that lessons show, for machines without a compiler.

    python -m tools.records.hot_loops --out data/compiled/hot_loops.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER, ilp_alone, tiles_alone, wide_alone
from utils.ladder.step import Variant
from utils.lessons.inner_loops import RecordedInnerLoop, compiled_loop
from utils.machine.versions import versions
from utils.measuring import rows

ARCH = "sm_90"


def variants() -> list[Variant]:
    """Return the variants of products whose innermost loop a lesson shows.

    They are steps of the GPU ladder, first `naive`, and kernels of the experiments `ilp_alone`,
    `wide_alone` and `tiles_alone`.
    """
    return [
        LADDER.step("naive").variant(),
        *LADDER.step("unrolled").variants(),
        LADDER.step("tiled").variant(),
        *(LADDER.step("granularity").variant(GRAIN=grain, TILE=32) for grain in (1, 2, 4)),
        *LADDER.step("ilp").variants(),
        *(one for one in ilp_alone.variants() if one.step.module == ilp_alone.__name__),
        *wide_alone.variants()[:4],
        *(one for one in tiles_alone.variants() if one.step.module == tiles_alone.__name__),
    ]


def recorded() -> Iterator[RecordedInnerLoop]:
    """Compile the kernels of `variants()` for `ARCH` and yield a row per kernel.

    A row holds the innermost loop, the versions of the compiler, and the kernel's name.
    """
    installed = versions()
    for variant in variants():
        loop = compiled_loop(variant, ARCH)
        yield RecordedInnerLoop(ARCH, installed.toolkit, installed.numba_cuda, str(variant), loop)


def main() -> None:
    """Write the rows of all variants into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), RecordedInnerLoop)


if __name__ == "__main__":
    main()
