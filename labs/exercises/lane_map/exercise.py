"""The choice of the quad that each lane reads, so that reads take the fewest wavefronts."""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.target import Probes, essential
from labs.families import lane_maps as probes
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.sharing import elements_per_thread
from utils.ladder.step import Launch


def launch(shape: Shape) -> Launch:
    """Return a launch with a warp per tile of 16×32. shape: numbers of tiles down and across."""
    down, across = shape
    return Launch(grid=(across, down), block=(32,))


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors a and b, float32, with 16 numbers per tile down and 32 per tile across.

    They are different prime numbers, so that each product reveals its two factors.
    """
    m, n = shape[0] * probes.ROWS, shape[1] * probes.COLUMNS
    numbers = np.random.default_rng(seed).permutation(probes.primes(m + n)).astype(np.float32)
    return numbers[:m].copy(), numbers[m:].copy()


EXERCISE = KernelExercise(
    name="lane_map",
    lesson="lane_maps",
    title="The lane map",
    text=(
        "One step of k, by one warp for each tile of 16×32 of `c`: `c[i, j]` is `a[i]` times "
        "`b[j]`. `sa` holds the 16 elements of `a` that the tile needs, four quads below each "
        "other. `sb` holds the 32 of `b`, eight quads side by side. Each lane computes one of the "
        "4×8 patches of `c`: 4×4 elements from a quad of `a` and a quad of `b`.",
        "Choose which patch belongs to which lane, numbers from 0: `down` is below 4 and `across` "
        "below 8. Read the quad `down` of `sa` and the quad `across` of `sb` with one `load4` "
        "each, and store the 16 products. Each read is to take the fewest wavefronts. About 6 "
        "lines. The sizes of `c` are multiples of 16 and 32, so there are no edges.",
    ),
    parameters=("a", "b", "c"),
    sizes=("tiles down", "across"),
    shapes=((2, 3), (1, 2), (3, 2), (1, 1)),
    of_blocks=True,
    launch=launch,
    inputs=inputs,
    reference=lambda a, b: np.outer(a.astype(np.float64), b),
    probes=Probes(
        constants=(probes.whole_arrays,),
        refused=(probes.fifth, probes.whole_quad, probes.no_four),
        missing=(probes.same_quad,),
    ),
    targets=(
        no_negative_index(),
        probes.one_store_per_element(),
        no_float64(),
        essential(elements_per_thread(probes.QUAD**2)),
        essential(probes.read_from("sa")),
        essential(probes.read_from("sb")),
        probes.wavefronts_of("sa"),
        probes.wavefronts_of("sb"),
    ),
    plain_goals=(
        "at most 2 wavefronts to read `sa`, and 2 to read `sb`",
        "each lane reads its quads from them, and stores 16 elements once",
    ),
    hints=(
        "Begin with lanes row by row: `down` is `lane // 8`, and `across` is `lane % 8`. The check "
        "then names the read that takes too long, and why.",
        "Write the number of a lane as five bits. Two of them make `down`, the other three make "
        "`across`. Neighbours differ in bit 0, next neighbours but one in bit 1.",
        "Two lanes with the same quad of `a` need different quads of `b`. So if neighbours are to "
        "share in one array, next neighbours but one must share in the other. Which bits does each "
        "of `down` and `across` have to leave out?",
        "`down` may have bit 0 and not bit 1, and `across` bit 1 and not bit 0. The other three "
        "bits are free: one of them for `down`, two for `across`. Bit p of a lane is "
        "`lane >> p & 1`.",
    ),
    after=(
        "Each read now serves half of the warp at once. Other maps do so, too: look at the "
        "solution's when you have your own."
    ),
)
