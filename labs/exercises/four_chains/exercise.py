"""The tiled product with four sums for each element, of which only one is used."""

from dataclasses import replace

from labs.families.tiled import tiled_product
from labs.targets.chains import beyond_the_sums, independent_chains, neighbours_apart

TILE, ALONG_K = 32, 5  # ALONG_K: the tiles along k at the first shape
_PRODUCT = tiled_product(
    tile=TILE,
    constant="TILE",
    whole=(2, 1, ALONG_K),
    name="four_chains",
    lesson="11",
    kind="change",
    title="Four sums for one element",
    text=(
        "This is the tiled product: blocks of 32×32 threads, and one element of `c` per thread. A "
        "thread has four sums and adds them at the end. But it uses only the first one, so each "
        "multiply-add waits for the one before it. Change one line, so that each of the four sums "
        "gets a quarter of the terms.",
    ),
    hints=(
        "The terms 0, 4, 8 and so on can share a sum, the terms 1, 5, 9 another one. Which sum is "
        "that of term `i`?",
        "The remainder of `i` divided by 4 is 0, 1, 2, 3, 0, 1 and so on.",
    ),
    after="Four multiply-adds in a row do not wait for each other. No read was saved.",
)
_CHAINS = (independent_chains(4, TILE * ALONG_K), neighbours_apart(4))
EXERCISE = replace(
    _PRODUCT,
    targets=(*_PRODUCT.targets, *_CHAINS),
    probes=replace(_PRODUCT.probes, flaws=(*_PRODUCT.probes.flaws, beyond_the_sums)),
    main=tuple(target.what for target in _CHAINS),
    plain_goals=tuple(target.words for target in _CHAINS),
    plain_usual_goals=(
        "right at any shape",
        "tiles, reads, barriers and the store stay as they are",
    ),
)
