"""Record the instructions of a block that lesson 18 shows, for machines without a compiler.

    python -m tools.records.block_instructions --out data/compiled/block_instructions.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from reduce_kernels import LADDER
from reduce_kernels.remainder import WARPS_LEAVE, WITHOUT_REMAINDER
from utils.ladder.step import Variant
from utils.lessons.block_sums import RecordedBlock, compiled_instructions
from utils.machine.versions import versions
from utils.measuring import rows

ARCH = "sm_90"


def variants() -> list[Variant]:
    """Return the kernels of lesson 18 that its bars show, each with 128 and 256 threads.

    They are reduce0 to reduce3, reduce0 without its remainder, and reduce3 whose idle warps leave.
    """
    own = (WITHOUT_REMAINDER, WARPS_LEAVE)
    steps = [*(LADDER.step(f"reduce{number}") for number in range(4)), *own]
    return [step.variant(BLOCK=size) for step in steps for size in (128, 256)]


def recorded() -> Iterator[RecordedBlock]:
    """Compile the kernels of `variants()` for `ARCH` and yield a row per kernel.

    A row holds the instructions that a full block issues, the versions of the compiler, and the
    kernel's name.
    """
    installed = versions()
    for variant in variants():
        counts = compiled_instructions(variant, ARCH)
        yield RecordedBlock(ARCH, installed.toolkit, installed.numba_cuda, str(variant), counts)


def main() -> None:
    """Write the rows of all variants into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), RecordedBlock)


if __name__ == "__main__":
    main()
