"""The store of c through shared memory, so that each request writes whole rows."""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.target import Probes, essential
from labs.families import whole_rows as probes
from labs.targets.counts import (
    full_requests,
    no_float64,
    no_negative_index,
    one_store_per_element,
)
from labs.targets.sharing import elements_per_thread, from_shared_memory
from utils.division import cdiv
from utils.ladder.step import Launch


def launch(shape: Shape) -> Launch:
    """Return a launch with a warp per tile of 16×32, rounded up. shape: (m, n) of c."""
    m, n = shape
    return Launch(grid=(cdiv(n, probes.COLUMNS), cdiv(m, probes.ROWS)), block=(32,))


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """Return a tuple with x, float32, which has the shape of c rounded up to whole tiles.

    Within c, its elements are different numbers above 0; beyond c, they are 0. shape: (m, n) of c.
    """
    m, n = shape
    grid = launch(shape).grid
    x = np.zeros((grid[1] * probes.ROWS, grid[0] * probes.COLUMNS), np.float32)
    x[:m, :n] = 1 + np.random.default_rng(seed).permutation(m * n).reshape(m, n)
    return (x,)


def reference(x: np.ndarray) -> np.ndarray:
    """Return the part of x that lies within c, float64 of shape (m, n)."""
    return x[: (x > 0).any(axis=1).sum(), : (x > 0).any(axis=0).sum()].astype(np.float64)


EXERCISE = KernelExercise(
    name="whole_rows",
    lesson="15",
    title="C through shared memory",
    text=(
        "A product is done, and each lane has a quad of `c` in registers, by the zig-zag. The "
        "given lines load it from `x`, so that the check can compare; leave them as they are. Let "
        "every store request write 32 neighbours of one row of `c`.",
        "`rows` has room for four rows of the tile; give its rows a length without bank conflicts. "
        "Pass the first row of every quad through it, then the second, and so on. Write about 8 "
        "lines.",
        "A row of `c` may begin at any word, so no `store4` can write to it, and the last tiles "
        "hang over the edge. The launch is given: one warp per tile of 16×32.",
    ),
    parameters=("x", "c"),
    sizes=("m", "n"),
    shapes=((32, 96), (35, 70), (13, 33), (16, 31), (1, 1)),
    launch=launch,
    inputs=inputs,
    reference=reference,
    probes=Probes(
        constants=(probes.other_arguments,),
        refused=(probes.local_rows,),
        flaws=(probes.barrier_of_some_lanes,),
    ),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        essential(probes.loaded_once()),
        probes.sectors_of_stores(),
        essential(from_shared_memory(1, "element")),
        essential(full_requests()),
        essential(elements_per_thread(probes.QUAD**2)),
        probes.no_conflicts(),
    ),
    remarks=(probes.length_of_rows,),
    hints=(
        "Begin with i = 0, the first row of every quad. The quads lie four below each other, so "
        "these are rows 0, 4, 8 and 12 of the tile: lane by lane they go to `rows[down]`, four "
        "words from `across * 4` on.",
        "When all lanes have stored, read `rows` in another way: lane by lane along a row. Then a "
        "request stores 32 neighbours of a row of `c`. Which row of the tile is `rows[r]` at i?",
        "`cuda.syncwarp()` lets the lanes of a warp wait for each other. You need one before other "
        "lanes read, and one before the next i replaces what they read.",
        "All lanes must come to each `syncwarp`, so test the edges where you store into `c`.",
    ),
    after="Each request now stores 32 neighbours of a row, in the four sectors that they need.",
)
