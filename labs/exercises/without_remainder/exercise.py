"""The first tree of the reduction, whose remainder is to be replaced."""

from labs.checking.target import essential
from labs.families.adding_threads import same_adding_threads
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
from labs.targets.divisions import no_division_in_loops
from labs.targets.machine_code import condition_of_64_bits
from labs.targets.sharing import loads_of_one_thread

EXERCISE = reduction(
    Sums(threads=256),
    constant="BLOCK",
    name="without_remainder",
    lesson="18",
    kind="change",
    title="The same threads without a remainder",
    text=(
        "In each step of this tree a thread adds if its number is a multiple of `2 * stride`. "
        "Change the line that finds this out: in each step the same threads add, and no remainder "
        "is left. Keep what you compute in 32 bits with `uint32(…)`, as the given line does.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), each_element_once(),
        same_adding_threads(), no_division_in_loops(most_iterations=8), barriers_per_block(9),
        essential(full_loads()),
        essential(no_atomics()), essential(loads_of_one_thread(26)),
    ),
    remarks=(condition_of_64_bits(instructions=13),),
    main=("divisions in loops", "threads that add more or less often", "barriers per block"),
    plain_goals=(
        "no remainder and no division in the loop", "the same threads add in each step",
        "at most 9 barriers per block",
    ),
    plain_usual_goals=(
        "right at any shape", "each element of x is loaded once and by full warps",
        "many threads share the additions", "no index below 0", "one store per block",
        "no float64, no atomic operations",
    ),
    hints=(
        "`stride` is 1, 2, 4 and so on, so `2 * stride` is a power of two. Write 8 and its "
        "multiples 16, 24 and 32 in binary. Which of their bits are always 0?",
        "The remainder by 8 is the number in the last three bits, and `&` with 7 keeps only "
        "these. Which number keeps the last bits for any power of two?",
    ),
    after="The same threads add, and no remainder is left in the loop.",
)  # fmt: skip
