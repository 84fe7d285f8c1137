"""Record the loops over tiles that lesson 14 shows, for machines without a compiler.

    python -m tests.kernels.big_loops --out data/compiled/big_loops.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER
from utils.ladder.step import Variant
from utils.lessons.lesson_14.big_loop import compiled_big_loop
from utils.machine.versions import versions

ARCH = "sm_90"
COLUMNS = ("arch", "toolkit", "numba_cuda", "kernel", "reads", "names")


def variants() -> list[Variant]:
    names = ("vectorized", "double_buffered", "prefetch")
    return [LADDER.step(name).variant(BM=128, BN=128, BK=8) for name in names]


def rows() -> Iterator[tuple]:
    now = versions()
    for variant in variants():
        loop = compiled_big_loop(variant, ARCH)
        told = ARCH, now.toolkit, now.numba_cuda, variant, " ".join(map(str, loop.reads))
        yield (*told, " ".join(loop.names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])


if __name__ == "__main__":
    main()
