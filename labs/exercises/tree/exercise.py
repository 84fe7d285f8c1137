"""A block's sum by a tree in which neighbouring threads work, without bank conflicts."""

from labs.checking.target import essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    fewer_than_the_course,
    reduction,
    tree_targets,
)
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from labs.targets.machine_code import loop_of_64_bits

REQUESTS, WAVEFRONTS = "shared requests per block", "wavefronts per request"

EXERCISE = reduction(
    Sums(threads=256),
    constant="BLOCK",
    name="tree",
    lesson="18",
    title="Another tree",
    text=(
        "The kernel adds 256 elements of `x` in each block by the tree of `reduce1`, and its sums "
        "are right. But the lanes of a warp meet in the banks. Choose other pairs of words, so "
        "that no request has a bank conflict and no further warp adds. About 6 lines replace the "
        "loop.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements, so the last "
        "block may reach beyond the end of `x`. Which elements of its block a thread adds is yours "
        "to choose. Keep the numbers in 32 bits with `uint32(…)`: in Numba the result of "
        "`uint32 >> uint32` has 64 bits.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        each_element_once(),
        # The starter has conflicts, and the tree of reduce0 has too many requests.
        *(
            essential(one) if one.what in (REQUESTS, WAVEFRONTS) else one for one in tree_targets()
        ),
    ),
    main=(WAVEFRONTS, REQUESTS, "barriers per block"),
    remarks=(fewer_than_the_course(requests=45, barriers=9), loop_of_64_bits),
    plain_goals=(
        "no bank conflict",
        "at most 64 requests to shared memory per block",
        "at most 9 barriers per block",
    ),
    plain_usual_goals=(
        "right at any shape",
        "each element of x is loaded once and by full warps",
        "many threads share the additions",
        "no index below 0",
        "one store per block",
        "no float64, no atomic operations",
    ),
    hints=(
        "32 words in a row are in 32 banks. Which words must the lanes of a warp touch, so that no "
        "two of them meet?",
        "Neighbouring threads touch neighbouring words if thread `tid` adds to word `tid`. Where "
        "are the words that it adds?",
        "In the first step the block has 256 words, and 128 threads. Thread 0 can add word 128 to "
        "word 0, thread 1 word 129 to word 1, and so on. Then 128 words are left.",
        "Let `stride` begin with half of the block, and halve it in each iteration by "
        "`stride = uint32(stride >> uint32(1))`. Threads below `stride` add, and all threads come "
        "to the barrier.",
    ),
    after="As many additions in fewer wavefronts: no two lanes of a request meet in a bank.",
)
