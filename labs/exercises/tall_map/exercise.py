"""The lane map of a tall tile, which is to be repaired in one line."""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.target import Probes, essential
from labs.families import lane_maps as probes
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.sharing import elements_per_thread
from utils.ladder.step import Launch

ROWS, COLUMNS = 32, 16


def inputs(shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors a and b, float32, with as many numbers as the tiles have rows and columns.

    They are different prime numbers, so that each product reveals its two factors. shape: the
    numbers of tiles down and across.
    """
    m, n = shape[0] * ROWS, shape[1] * COLUMNS
    numbers = np.random.default_rng(seed).permutation(probes.primes(m + n)).astype(np.float32)
    return numbers[:m].copy(), numbers[m:].copy()


EXERCISE = KernelExercise(
    name="tall_map",
    lesson="lane_maps",
    kind="repair",
    title="A tall tile",
    text=(
        "As in the task before, but the tile of a warp is 32×16: eight patches down and four "
        "across. The map in the kernel gives the same patch to several lanes. Write this line "
        "anew, so that each lane has its own patch and both reads take two wavefronts.",
        "The launch is given, a warp for each tile. The sizes of `c` are multiples of 32 and 16.",
    ),
    parameters=("a", "b", "c"),
    sizes=("tiles down", "across"),
    shapes=((2, 3), (1, 2), (3, 2), (1, 1)),
    of_blocks=True,
    launch=lambda shape: Launch(grid=shape[::-1], block=(32,)),
    inputs=inputs,
    reference=lambda a, b: np.outer(a.astype(np.float64), b),
    probes=Probes(
        refused=(probes.fifth, probes.whole_quad, probes.no_four),
        missing=(probes.same_quad,),
    ),
    targets=(
        no_negative_index(), probes.one_store_per_element(), no_float64(),
        essential(elements_per_thread(16)),
        essential(probes.read_from("sa")), essential(probes.read_from("sb")),
        probes.wavefronts_of("sa"), probes.wavefronts_of("sb"),
    ),
    main=("wavefronts to read sa", "wavefronts to read sb"),
    plain_goals=(
        "at most 2 wavefronts to read `sa`, and 2 to read `sb`",
        "each lane reads its quads from them, and stores 16 elements once",
    ),
    hints=(
        "A right map gives 32 lanes 32 different patches, so each of the five bits of a lane must "
        "be in one of the two numbers.",
        "Lanes 0 and 1 differ in bit 0, lanes 0 and 2 in bit 1. Give `down` only one of these two "
        "bits, and `across` the other.",
        "`lane >> 1 & 7` has the bits 1, 2 and 3, so `across` needs the bits 0 and 4. Bit 0 is "
        "`lane & 1`, and bit 4 counts two: `lane >> 3 & 2`. `|` puts bits together.",
    ),
    after="In both reads all lanes agree with a partner, so half of the warp is served at a time.",
)  # fmt: skip
