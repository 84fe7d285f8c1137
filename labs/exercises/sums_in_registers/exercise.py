"""A thread's eight sums, which an index known only at run time has put into memory."""

from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product, one_load_per_term
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.registers import no_local_memory, no_shared_memory, share_of_multiply_adds
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8), columns=8),
    name="sums_in_registers",
    lesson="16",
    kind="change",
    lines_to_change=2,
    title="Eight sums in registers",
    text=(
        "Each thread computes 8 elements of one row of `c`, 32 columns apart. The result is "
        "right, but the sums are in local memory. Change two lines at most, so that they stay in "
        "registers. A thread may take its columns in any order.",
        "The launch is given: blocks of 32×8 threads, which cover 256 columns of `c` and 8 rows.",
    ),
    shapes=((16, 512, 6), (9, 270, 20), (19, 17, 23), (3, 330, 5), (1, 1, 1)),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(8)),
        essential(loads_per_multiply_add(1.125)),
        essential(one_load_per_term("a")),
        essential(no_shared_memory()),
        no_local_memory(),
        essential(share_of_multiply_adds(0.10)),
    ),
    hints=(
        "An array can be in registers where the compiler knows every index of it. The loop over "
        "`k` uses `totals[j]`. From what is `j` computed there?",
        "`range(8)` is a number that the compiler knows, so it writes the loop out, and `step` is "
        "a constant in each copy. `cuda.threadIdx.y` is known only when the kernel runs.",
        "If every warp begins with the same column, `j` is as well known as `step`.",
    ),
    after="That means: every index of the array is known to the compiler, and its elements are "
    "registers.",
)
