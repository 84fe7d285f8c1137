"""The first kernel: each thread scales one element."""

from labs.checking.target import essential
from labs.families.vectors import scaling
from labs.targets.counts import (
    full_requests,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = scaling(
    name="scale",
    lesson="00",
    title="Your first kernel",
    text=(
        "Write a kernel `scale(x, factor, out)` that stores `factor · x[i]` in `out[i]`, for every "
        "element. About 3 lines.",
        "The launch is given: blocks of 256 threads, and enough of them for all elements. The last "
        "block may have threads without an element.",
    ),
    shapes=((1024,), (1000,), (257,), (31,), (1,)),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(1)),
    ),
    main=("elements per thread",),
    plain_goals=(
        "right at any length",
        "each thread takes one element, and neighbouring threads take neighbouring elements",
    ),
    plain_usual_goals=(
        "each element is stored once", "each element of `x` is loaded at most 2 times",
        "no thread uses an index below 0", "no float64",
    ),
    hints=(
        "Which element is yours? `cuda.grid(1)` is the number of your thread in the whole launch.",
        "1000 elements need 4 blocks of 256 threads, which are 1024 threads. What must the last 24 "
        "of them not do?",
        "Ask first whether there is such an element, `i < out.size`, and store under that test.",
    ),
    after="Each thread has done one element, and neighbouring threads have done neighbours.",
)
