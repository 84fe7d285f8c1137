"""Record the loops over tiles that lesson 14 shows, for machines without a compiler.

    python -m tools.records.big_loops --out data/compiled/big_loops.csv

needs the compiler and no GPU. Use the toolkit with which the times were recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gemm_kernels import LADDER, buffers_alone
from utils.ladder.step import Variant
from utils.lessons.lesson_14.big_loop import RecordedBigLoop, compiled_big_loop
from utils.machine.versions import versions
from utils.measuring import rows

ARCH = "sm_90"


def variants() -> list[Variant]:
    """Return the variants for which lesson 14 compares the loop over tiles.

    They are the kernels of `buffers_alone`, and then `vectorized`, `double_buffered`, `prefetch`
    and `warp_tiled`. All have tiles of 128×128×8 and 8×8 elements of c per thread.
    """
    _, *alone, _ = buffers_alone.variants()
    names = ("vectorized", "double_buffered", "prefetch")
    steps = [LADDER.step(name).variant(BM=128, BN=128, BK=8) for name in names]
    return [*alone, *steps, LADDER.step("warp_tiled").variant(LANES=0, BK=8)]


def recorded() -> Iterator[RecordedBigLoop]:
    """Compile the kernels of `variants()` for `ARCH` and yield a row per kernel.

    A row holds the loop over tiles, the versions of the compiler, and the kernel's name.
    """
    installed = versions()
    for variant in variants():
        loop = compiled_big_loop(variant, ARCH)
        yield RecordedBigLoop(ARCH, installed.toolkit, installed.numba_cuda, str(variant), loop)


def main() -> None:
    """Write the rows of all variants into the file of the option --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows.write(options.out, recorded(), RecordedBigLoop)


if __name__ == "__main__":
    main()
