"""One sum of a product in four parts, so that an addition need not wait for the one before it."""

from labs.families.cpu_loops import loop_product, terms_in_turn
from labs.targets.chains import independent_chains
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element

K = 16  # terms of a sum at the first shape


def wider(shape, random):
    """Return a random shape (m, n, k) with 1 to 6 more columns than `shape`, and the same m and k.

    m stays, because a target needs a row per term.
    """
    m, n, k = shape
    return m, n + random.randint(1, 6), k


_CHAINS = (independent_chains(4, K), terms_in_turn(4))
EXERCISE = loop_product(
    name="partial_sums",
    lesson="02",
    kind="change",
    lines_to_change=6,
    title="Four partial sums for one element",
    text=(
        "This is the product of `naive`, with k innermost. It has four sums, but it adds all terms "
        "to the first one. Give each sum a quarter of the terms, and keep the order of the loops. "
        "About 6 lines change.",
        "Four multiply-adds in a row go to four different sums. k need not be a multiple of 4, so "
        "up to three terms are left over.",
    ),
    shapes=((16, 2, K), (5, 3, 7), (2, 3, 6), (1, 2, 5), (2, 1, 3), (1, 1, 1)),
    whole=wider,
    targets=(no_negative_index(), one_store_per_element(), no_float64(), *_CHAINS),
    main=tuple(target.what for target in _CHAINS),
    plain_goals=(
        "each sum has a quarter of the terms",
        "four multiply-adds in a row go to four different sums",
    ),
    plain_usual_goals=("right at any shape", "one store per element, no float64"),
    hints=(
        "If an iteration takes the terms i, i + 1, i + 2 and i + 3, where does the next iteration "
        "begin? `range` has a third number.",
        "`range(0, k - k % 4, 4)` takes whole groups of four terms. A loop of its own, from "
        "`k - k % 4` on, takes the terms that are left over.",
    ),
    after="Four additions in a row do not wait for each other, and the loops keep their order.",
)
