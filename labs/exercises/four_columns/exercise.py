"""Four elements of c per thread: one load of a serves four multiply-adds."""

from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product, one_load_per_term
from labs.families.product_stores import PROBES
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8), columns=4),
    name="four_columns",
    lesson="05",
    probes=PROBES,
    title="Four elements of c per thread",
    text=(
        "Each thread computes four elements of one row of `c`, so that what it loads of `a` serves "
        "all four. Write the kernel: about 15 lines in place of the old loop.",
        "The launch is given: blocks of 32×8 threads. A block covers 128 columns of `c` (along "
        "`x`) and 8 rows (along `y`); which four columns a thread takes is yours to choose.",
    ),
    shapes=((16, 256, 12), (9, 130, 20), (17, 19, 23), (65, 33, 70), (1, 1, 1)),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(4)),
        loads_per_multiply_add(1.25),
        one_load_per_term("a"),
    ),
    hints=(
        "Count the loads of one turn: one word of `a`, and one word of `b` for each of your four "
        "columns. Five loads, four multiply-adds.",
        "Four totals, `t0` to `t3`, are enough. An array needs `cuda.local.array(4, float32)`, and "
        "a loop that fills it with `float32(0)`.",
        "A block covers 128 columns. The first column of a thread is "
        "`cuda.blockIdx.x * 128 + cuda.threadIdx.x`, the others lie 32, 64 and 96 further on. "
        "Neighbours then still load neighbours.",
        "The last block can reach beyond the edge of `c` with some of its columns. Test each "
        "column by itself, at the load and at the store.",
    ),
    after="That means: each element of `a` that a thread loads now serves four multiply-adds.",
)
