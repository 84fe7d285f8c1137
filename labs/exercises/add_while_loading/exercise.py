"""A block's sum whose first addition is made while the elements are loaded."""

from labs.families.reduction import (
    Sums,
    each_element_once,
    more_than_needed,
    reduction,
    tree_targets,
)
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from labs.targets.machine_code import loop_of_64_bits

EXERCISE = reduction(
    Sums(threads=256, each=2),
    constant="BLOCK",
    name="add_while_loading",
    lesson="18",
    title="Two elements for each thread",
    text=(
        "Each thread brings two elements of `x` to shared memory, already added. Behind these 4 "
        "lines comes the tree of the task before, or another one without bank conflicts.",
        "The launch is given: blocks of 256 threads, and one block for 512 elements. Block 0 adds "
        "elements 0 to 511, block 1 the next 512, and so on. So the last block may reach beyond "
        "the end of `x` with one element of a thread, or with both. Neighbouring threads load "
        "neighbouring elements (lesson 05).",
    ),
    shapes=((2048,), (2000,), (1300,), (513,), (257,), (33,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        each_element_once(),
        *tree_targets(),
    ),
    remarks=(more_than_needed(requests=45), loop_of_64_bits),
    main=("loads per element", "sectors per request", "shared requests per block"),
    plain_goals=(
        "each element of `x` is loaded once",
        "at most 4 sectors per request",
        "at most 64 requests to shared memory per block",
    ),
    plain_usual_goals=(
        "right at any shape",
        "each load serves a full warp",
        "many threads share the additions",
        "no index below 0",
        "one store per block",
        "no bank conflict, no float64, no atomic operations",
    ),
    hints=(
        "With which element does block 1 begin? Block 0 has 512 of them.",
        "If thread 0 took elements 0 and 1, and thread 1 elements 2 and 3, each load would leave "
        "out every second word. Which second element keeps neighbours together?",
        "The second element of a thread lies `BLOCK` further than the first. Each needs a test of "
        "its own, and what lies behind the end counts zero.",
    ),
    after="As many threads as before now serve twice as many elements.",
)
