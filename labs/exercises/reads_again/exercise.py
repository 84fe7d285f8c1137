"""The product with two tiles of b, in which each sum reads the tile of a again."""

from dataclasses import replace

from labs.families.granularity import Granularity, coarsened_product
from labs.targets.repeated_reads import reads_per_multiply_add, warp_barrier_between_sums

_PRODUCT = coarsened_product(
    Granularity(tile=16, columns=2),
    constant="TILE",
    shapes=((32, 64, 48), (17, 42, 33), (20, 40, 7), (20, 10, 37)),
    name="reads_again",
    lesson="10",
    kind="change",
    lines_to_change=24,  # all lines: the starter has none
    title="Two loops instead of one",
    text=(
        "Begin with the product with two tiles of `b`, such as your right `two_tiles`. Its loop "
        "adds to both sums. Give each sum a loop of its own, one after the other, and let each "
        "loop read the words of `tile_a` itself. Everything else stays.",
        "The compiler sees that the second loop reads the same words, and keeps them. "
        "`cuda.syncwarp()` between the two loops forbids this: after it, another lane may have "
        "changed the words. About 4 lines change.",
    ),
    hints=(
        "The first loop adds to the first sum for all `i`, and then the second loop begins again "
        "with `i = 0`.",
        "The `syncwarp` is neither in the first loop nor in the second. All other barriers stay.",
    ),
    after="Nothing is better: it is an experiment. Loads, stores and barriers are as before, and "
    "only the reads of the tile of a are more.",
)
_AGAIN = (reads_per_multiply_add(2), warp_barrier_between_sums())
EXERCISE = replace(
    _PRODUCT,
    targets=(
        *(one for one in _PRODUCT.targets if one.what != "shared reads per multiply-add"),
        *_AGAIN,
    ),
    main=tuple(target.what for target in _AGAIN),
    plain_goals=tuple(target.words for target in _AGAIN),
    plain_usual_goals=("right at any shape", "loads, barriers and stores stay as they are"),
)
