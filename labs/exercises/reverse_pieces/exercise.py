"""A kernel that turns pieces around in one tile, and lacks its second barrier."""

from dataclasses import replace

import numpy as np

from labs.checking.target import essential
from labs.families.missing_waits import no_wait
from labs.families.shared_memory import computed_size
from labs.families.vectors import elementwise, numbers
from labs.targets import counts
from labs.targets.sharing import elements_per_thread, from_shared_memory
from utils.division import cdiv
from utils.ladder.step import Launch

PIECE, PIECES = 64, 4  # words of a piece, and pieces of a block


def reference(x):
    """Return x with each piece of 64 words turned around, float64 of the same shape.

    Zeros fill the last piece up to 64 words before it is turned.
    """
    padded = np.zeros(cdiv(len(x), PIECE) * PIECE)
    padded[: len(x)] = x
    return padded.reshape(-1, PIECE)[:, ::-1].ravel()[: len(x)]


_KERNEL = elementwise(
    name="reverse_pieces",
    lesson="07",
    kind="repair",
    title="The second barrier",
    text=(
        "Now each block turns four pieces of 64 words around, one after the other, in one tile. "
        "The kernel has the barrier of `reverse`, but it still has a race. Add one more barrier "
        "at one of the four places.",
        "The launch is given: blocks of 64 threads, and one block for 256 words. If `x` ends "
        "within a piece, zeros fill the tile.",
    ),
    parameters=("x", "out"),
    shapes=((1024,), (1000,), (333,), (64,), (1,)),
    launch=lambda shape: Launch(grid=(cdiv(shape[0], PIECE * PIECES),), block=(PIECE,)),
    inputs=lambda shape, seed: (numbers(shape, seed),),
    reference=reference,
    loads=1,
    targets=(
        counts.no_negative_index(), counts.one_store_per_element(), counts.no_float64(),
        counts.sectors_per_request(4), essential(elements_per_thread(4)),
        essential(from_shared_memory(1, "element")), counts.barriers_per_block(8),
    ),
    main=("barriers per block",),
    plain_goals=("right at any length", "at most two barriers per piece, so 8 per block"),
    plain_usual_goals=(
        "each thread stores four elements", "all words pass through shared memory",
        "neighbouring threads load and store neighbouring elements", "no index below 0",
        "no float64",
    ),
    hints=(
        "Draw two threads of different warps, one of them faster. The barrier stops the fast one "
        "in each piece. What may it do after the barrier while the slow one has not read its word "
        "yet?",
        "Follow the fast thread from its read of the tile to its next store there. The new "
        "barrier must be on this way, and all 64 threads must come to it.",
    ),
    after=(
        "No thread reads a word before it is stored, and none replaces a word before it is read."
    ),
)  # fmt: skip
EXERCISE = replace(
    _KERNEL, probes=replace(_KERNEL.probes, flaws=(no_wait,), refused=(computed_size,))
)
