"""A block's sum whose threads add two elements each before the tree, and are to add eight."""

from labs.checking.target import essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    full_loads,
    no_atomics,
    no_bank_conflict,
    reduction,
    shared_requests_per_block,
)
from labs.targets.counts import (
    barriers_per_block,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import loads_of_one_thread

EXERCISE = reduction(
    Sums(threads=256, each=8),
    constant="BLOCK",
    name="eight_elements",
    lesson="19",
    title="Eight elements for each thread",
    text=(
        "Each thread of this kernel adds two elements, and then comes the tree. Change the lines "
        "above the tree: each thread adds eight. About 4 lines.",
        "The launch is given: blocks of 256 threads, and one block for 2,048 elements. Block 0 "
        "adds elements 0 to 2047, block 1 the next 2,048, and so on. So the last block may reach "
        "beyond the end of `x`. Neighbouring threads load neighbouring elements.",
    ),
    shapes=((4096,), (4000,), (2500,), (2049,), (513,), (33,), (1,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), each_element_once(),
        essential(full_loads()), sectors_per_request(4), essential(no_atomics()),
        shared_requests_per_block(64), essential(loads_of_one_thread(40)), no_bank_conflict(),
        barriers_per_block(9),
    ),
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
        "With which element does block 1 begin? Block 0 has 2,048 of them.",
        "In one step of a loop the 256 threads of a block load 256 neighbouring elements. How far "
        "on is the element that a thread loads in the next step?",
        "Each of the eight elements may be beyond the end of `x`, so each needs a test.",
    ),
    after="A quarter of the blocks, and of the trees, now serve as many elements.",
)  # fmt: skip
