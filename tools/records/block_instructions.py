"""Record the instructions of a block that lesson 18 shows, for machines without a compiler.

    python -m tools.records.block_instructions --out data/compiled/block_instructions.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from reduce_kernels import LADDER
from utils.ladder.step import Variant
from utils.lessons.block_sums import Recorded, compiled_instructions
from utils.machine.versions import versions
from utils.measuring import rows

ARCH = "sm_90"


def variants() -> list[Variant]:
    steps = [LADDER.step(f"reduce{number}") for number in range(4)]
    return [step.variant(BLOCK=size) for step in steps for size in (128, 256)]


def recorded() -> Iterator[Recorded]:
    now = versions()
    for variant in variants():
        found = compiled_instructions(variant, ARCH)
        yield Recorded(ARCH, now.toolkit, now.numba_cuda, str(variant), found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), Recorded)


if __name__ == "__main__":
    main()
