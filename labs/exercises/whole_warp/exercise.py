"""A product by warps whose guard makes lanes leave, with four places for a guard."""

from labs.checking.target import essential
from labs.families.warp_products import loads_per_mma, one_mma_per_tile, warp_product
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element

EXERCISE = warp_product(
    name="whole_warp",
    lesson="22",
    kind="repair",
    title="A guard, four places",
    text=(
        "The kernel multiplies matrices of any size; outside of them its fragments hold zeros. Its "
        "guard is at place 1, and there it is wrong. At one of the four places a guard makes the "
        "kernel right at any shape. Move it there, and write it so that it fits that place.",
        "The launch is given: blocks of 32 threads, which are one warp, and one block for every "
        "16×8 of `c`. Blocks at the right edge and at the lower edge may reach beyond it.",
    ),
    shapes=((32, 24, 40), (35, 20, 44), (19, 29, 7), (5, 3, 1), (1, 1, 1)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(),
        essential(one_mma_per_tile()), loads_per_mma(),
    ),
    main=("mma missing or too many", "loads per mma"),
    hints=(
        "The mma is one instruction of 32 lanes. What does a lane without an element of `c` still "
        "hold that other lanes need?",
        "Which lines touch memory beyond a matrix, and which of them has no guard yet?",
        "At that place a lane has four sums, in two rows and two columns. Each has a `y` and an "
        "`x` of its own.",
    ),
    after="All 32 lanes multiply, and only those with an element of `c` store. A `return` at place "
    "1 would be harmless only if all lanes of a warp took it.",
)  # fmt: skip
