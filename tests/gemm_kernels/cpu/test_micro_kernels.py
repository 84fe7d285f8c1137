"""The hot loops of the micro-kernels, as they are compiled for several processors.

Each processor has a process of its own, which compiles the tiles of this file and runs none.
"""

import dataclasses
import functools
import json
import platform
from pathlib import Path

import pytest
from numba import float32, intp, types

from gemm_kernels.cpu import (
    micro_kernel_4x24,
    micro_kernel_6x16,
    micro_kernel_avx2,
    micro_kernel_avx512,
)
from gemm_kernels.cpu.engine.matrices import Matrix
from gemm_kernels.cpu.engine.tiles import Panel
from gpu_xray.assembly import PROCESSORS, InstructionCounts, count, hot_loop, start_elsewhere
from utils.intrinsics.simd import POINTER
from utils.machine import processors

ARRAY = types.Array(types.float32, 1, "C")
MATRIX = types.NamedTuple((POINTER, *[intp] * 4), Matrix)
PANEL = types.NamedTuple((POINTER, POINTER, intp, intp, POINTER, intp), Panel)
# Rows of sums, vectors in each, and the widest vectors that the tile needs.
SHAPES = {
    "6x16": (6, 2, 8),
    "4x24": (4, 3, 8),
    "avx2": (4, 3, 8),
    "avx2 packs": (4, 3, 8),
    "avx512": (8, 3, 16),
    "avx512 packs": (8, 3, 16),
}


def tiles():
    """Return every tile by its name, and the types of its arguments."""
    yield "6x16", micro_kernel_6x16.tile_6x16, (intp, ARRAY, ARRAY, MATRIX)
    yield "4x24", micro_kernel_4x24.tile_4x24, (MATRIX, ARRAY, MATRIX)
    for name, step in {"avx2": micro_kernel_avx2, "avx512": micro_kernel_avx512}.items():
        if processors.lanes() >= step.LANES:
            arguments = (float32, MATRIX, PANEL, float32, MATRIX)
            yield name, step.tile_of(step.VECTORS, False), arguments
            yield f"{name} packs", step.tile_of(step.VECTORS, True), arguments


def look() -> dict[str, tuple[dict[str, int], int]]:
    """Return the instructions of each tile's hot loop, and the number that use the stack."""
    looked = {}
    for name, tile, arguments in tiles():
        tile.compile(arguments)
        loop = hot_loop(tile)
        looked[name] = dataclasses.asdict(count(loop)), loop.count("(%rsp)")
    return looked


@functools.cache
def elsewhere() -> dict[str, dict[str, tuple[InstructionCounts, int]]]:
    """Return the hot loops for each of the `PROCESSORS`; four processes compile at a time."""
    started = {
        name: start_elsewhere(name, __file__, Path(__file__).parents[3]) for name in PROCESSORS
    }
    looked = {}
    for name, process in started.items():
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        looked[name] = {
            tile: (InstructionCounts(**counts), stack)
            for tile, (counts, stack) in json.loads(printed).items()
        }
    return looked


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="compiles for x86"
)
@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("tile", SHAPES)
def test_the_hot_loop_holds_its_sums_in_registers(tile, processor):
    rows, vectors, lanes = SHAPES[tile]
    if lanes > PROCESSORS[processor]:
        pytest.skip(f"{processor} has vectors of {PROCESSORS[processor]}")
    counts, stack = elsewhere()[processor][tile]
    turns = counts.fma // (rows * vectors)
    assert turns >= 1
    assert counts.fma == turns * rows * vectors
    assert counts.broadcasts == turns * rows
    assert counts.spills == 0
    if "packs" in tile:
        # Each row of b is stored on its way; edges take another way through the same loop.
        assert counts.stores >= vectors
    else:
        assert (counts.loads, counts.stores) == (turns * vectors, 0)
        # Addresses are in registers, too, because the rows of a group have a constant stride.
        assert stack <= 2 * turns
        assert counts.fma / counts.all > 0.4


if __name__ == "__main__":
    print(json.dumps(look()))
