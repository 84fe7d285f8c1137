"""A strided product to repair in one line."""

from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product
from labs.families.product_stores import PROBES
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8)),
    name="coalescing",
    lesson="05",
    probes=PROBES,
    kind="change",
    title="Repair the kernel",
    text=(
        "Each thread computes one element of `c`, and the lanes of a warp go down a column. Let "
        "them go along a row. You change one line.",
        "The launch is given: blocks of 32×8 threads. A block covers 32 columns of `c` (along `x`) "
        "and 8 rows (along `y`), and the grid is rounded up to whole blocks.",
    ),
    shapes=((16, 128, 24), (9, 130, 20), (17, 19, 23), (65, 33, 70), (1, 1, 1)),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4, with_edges=True),
        essential(full_requests()),
        essential(elements_per_thread(1)),
        loads_per_multiply_add(2),
    ),
    hints=(
        "In the picture of the 8 lanes, one direction needs 9 sectors and the other one 2. Which "
        "direction do the lanes of this kernel take?",
        "Lanes of a warp differ in `x`. Neighbours in memory are neighbours along a row. So what "
        "must `x` count?",
        "`x` counts columns, `y` counts rows. The test at the edge and the loop stay as they are.",
    ),
    after=(
        "The 32 words of `b` that a warp loads at a time are in four sectors, and it uses all of "
        "their bytes."
    ),
)
