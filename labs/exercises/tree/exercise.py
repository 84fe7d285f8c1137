"""A block's sum by a tree in which neighbouring threads work, without bank conflicts."""

from labs.families.reduction import Sums, each_element_once, reduction, tree_targets
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element

EXERCISE = reduction(
    Sums(threads=256),
    constant="BLOCK",
    name="tree",
    lesson="18",
    title="Another tree",
    text=(
        "The kernel adds 256 elements of `x` in each block, and its sums are right. But all warps "
        "stay busy in each step, with ever fewer lanes. Choose other pairs: in each step the "
        "threads that add are neighbours, and so are the words that they touch. About 6 lines in "
        "place of the loop.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements, so the last "
        "block may reach beyond the end of `x`. Which elements of its block a thread adds is yours "
        "to choose.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        each_element_once(),
        *tree_targets(),
    ),
    main=("shared requests per block", "wavefronts per request", "barriers per block"),
    hints=(
        "A warp is done with a step when none of its 32 threads adds. So let threads 0, 1, 2 … "
        "add, without gaps, and the others be idle.",
        "Neighbouring threads then touch neighbouring words if thread `tid` adds to word `tid`. "
        "Where do the words lie that it adds?",
        "In the first step the block has 256 words, and 128 threads. Thread 0 can add word 128 to "
        "word 0, thread 1 word 129 to word 1, and so on. Then 128 words are left.",
        "Let `stride` begin with half of the block, and halve it in each turn (`//= 2`). Threads "
        "below `stride` add, and all threads come to the barrier.",
    ),
    after="The same additions in fewer requests: the warps that have nothing to add do nothing.",
)
