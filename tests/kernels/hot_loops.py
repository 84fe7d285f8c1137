"""Record the innermost loops that lessons show, for machines without a compiler.

    python -m tests.kernels.hot_loops --out data/compiled/hot_loops.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER
from utils.ladder.step import Variant
from utils.lessons.inner_loops import compiled_loop
from utils.machine.versions import versions

ARCH = "sm_90"
COLUMNS = ("arch", "toolkit", "numba_cuda", "kernel", "loads_first", "opcodes")


def variants() -> list[Variant]:
    return [
        LADDER.step("naive").variant(),
        *LADDER.step("unrolled").variants(),
        LADDER.step("tiled").variant(),
        *(LADDER.step("granularity").variant(GRAIN=grain, TILE=32) for grain in (2, 4)),
        *LADDER.step("ilp").variants(),
    ]


def rows() -> Iterator[tuple]:
    now = versions()
    for variant in variants():
        loop = compiled_loop(variant, ARCH)
        told = ARCH, now.toolkit, now.numba_cuda, variant, loop.loads_first
        yield (*told, " ".join(loop.opcodes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])


if __name__ == "__main__":
    main()
