"""A thread's sixteen sums, which a loop bound known only at run time has put into memory."""

from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.registers import no_local_memory, share_of_multiply_adds
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8), columns=16),
    name="sums_in_registers",
    lesson="16",
    title="Sixteen sums in registers",
    text=(
        "Each thread computes 16 elements of one row of `c`, 32 columns apart, and keeps their "
        "sums in a local array. The result is right at any shape, but the sums lie in local "
        "memory. Change the loops so that they stay in registers. About 6 lines.",
        "The launch is given: blocks of 32×8 threads. A block covers 512 columns of `c` and 8 "
        "rows, and the last block may reach beyond the edge with some of its columns.",
    ),
    shapes=((16, 1024, 6), (9, 530, 20), (17, 19, 23), (3, 600, 5), (1, 1, 1)),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(16)),
        essential(loads_per_multiply_add(1.0625)),
        no_local_memory(),
        share_of_multiply_adds(0.14),
    ),
    hints=(
        "An array can lie in registers where the compiler knows every index of it. Which loops "
        "over `j` end at a number that it knows, and which ones at a number of the launch?",
        "`range(16)` is such a number. Then each thread runs through all 16 columns, also through "
        "those that are outside of `c`.",
        "So each column needs a test of its own, `if col + 32 * j < n`, at the load of `b` and at "
        "the store. It takes the place of `mine`. A jump out of the loop, such as `break`, would "
        "again leave the number of turns to the launch.",
    ),
    after="That means: every index of the array is known to the compiler, and its elements are "
    "registers.",
)
