"""Record the instructions of a block that lesson 18 shows, for machines without a compiler.

    python -m tests.kernels.block_instructions --out data/compiled/block_instructions.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from reduce_kernels import LADDER
from utils.ladder.step import Variant
from utils.lessons.block_sums import compiled_instructions
from utils.machine.versions import versions

ARCH = "sm_90"
COLUMNS = ("arch", "toolkit", "numba_cuda", "kernel", "instructions")


def variants() -> list[Variant]:
    steps = [LADDER.step(f"reduce{number}") for number in range(4)]
    return [step.variant(BLOCK=size) for step in steps for size in (128, 256)]


def rows() -> Iterator[tuple]:
    now = versions()
    for variant in variants():
        found = compiled_instructions(variant, ARCH)
        yield ARCH, now.toolkit, now.numba_cuda, variant, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])


if __name__ == "__main__":
    main()
