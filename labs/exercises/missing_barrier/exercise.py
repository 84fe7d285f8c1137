"""A block's sum whose only barrier is at the wrong place, with four places for it."""

from labs.checking.target import essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    full_loads,
    no_atomics,
    reduction,
)
from labs.targets.counts import (
    barriers_per_block,
    no_float64,
    no_negative_index,
    one_store_per_element,
)
from labs.targets.sharing import loads_of_one_thread

EXERCISE = reduction(
    Sums(threads=256),
    constant="BLOCK",
    name="missing_barrier",
    lesson="18",
    kind="repair",
    title="One barrier, four places",
    text=(
        "Each block adds 256 elements of `x` by a tree. The kernel has one `cuda.syncthreads()`, "
        "at place 3, and there it is wrong. Four places are offered, and at one of them this one "
        "barrier is enough. Move it there, and add no other.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), each_element_once(),
        barriers_per_block(8), essential(full_loads()), essential(no_atomics()),
        essential(loads_of_one_thread(26)),
    ),
    main=("barriers per block",),
    plain_goals=("right at any shape", "at most 8 barriers per block"),
    plain_usual_goals=(
        "each element of x is loaded once and by full warps",
        "many threads share the additions", "no index below 0", "one store per block",
        "no float64, no atomic operations",
    ),
    hints=(
        "A thread reads words that others have written: in the first step of the tree those of the "
        "load, in every later step the sums of the step before. How many such borders are there?",
        "All threads of the block must come to the barrier, also those that add nothing in this "
        "step.",
        "Follow the way from the load to the first addition, and from one addition to the next. "
        "Which place is on both ways?",
    ),
    after="One line separates the load from the first step, and each step from the next.",
)  # fmt: skip
