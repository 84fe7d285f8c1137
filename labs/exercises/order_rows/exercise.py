"""The lines of a product with four rows per thread in disorder."""

from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import essential
from labs.families.product import Split, loads_per_multiply_add, matrix_product, one_load_per_term
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8), rows=4),
    record=OrderExercise,
    name="order_rows",
    lesson="05",
    title="Order the lines of a product with four rows per thread",
    text=(
        "Each thread computes four elements of a column of `c`, whose rows are 8 apart. What it "
        "loads of `b` serves all four. Put the lines of its loops in order; two of them are too "
        "many. The answer is a list of line numbers.",
        "The launch is given: blocks of 32×8 threads. A block covers 32 columns of `c` (along "
        "`x`) and 32 rows (along `y`).",
    ),
    shapes=((32, 64, 12), (9, 33, 20), (41, 19, 23), (65, 33, 70), (1, 1, 1)),
    targets=(
        one_store_per_element(), no_float64(), sectors_per_request(4),
        essential(full_requests()), essential(elements_per_thread(4)),
        loads_per_multiply_add(1.25), essential(one_load_per_term("b")),
    ),
    main=("loads per multiply-add",),
    above="""
from numba import cuda, float32


@cuda.jit
def order_rows(a, b, c):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    if col >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
""",
    below="""
    for j in range(4):
        if row + 8 * j < m:
            c[row + 8 * j, col] = totals[j]
""",
    lines=(
        "            if row + 8 * j < m:",
        "            from_b = b[i, col]",
        "    for i in range(k):",
        "                totals[j] += a[row + 8 * j, i] * from_b",
        "        from_b = b[i, col]",
        "        for j in range(4):",
        "    from_b = b[row, col]",
    ),
    rules=(
        OrderRule(2, "Line 2 is in the loop over `j`: it loads the same word of `b` again for each "
                  "of the four rows, so a multiply-add needs two loads."),
        OrderRule(7, "Line 7 is above the loop over `i`: all terms of the sums would take the same "
                  "word of `b`."),
        OrderRule(5, "Line 5 uses `i` before any line has set it.", after=(3,)),
        OrderRule(6, "Line 6 is indented as a line of the loop over `i`, and is above that loop.",
                  after=(3,)),
        OrderRule(1, "Line 1 uses the `j` of the loop above, which has ended: no line has opened "
                  "the loop over the four rows.", after=(6,)),
        OrderRule(4, "Line 4 adds before any line has loaded the word of `b`.", after=(2, 5, 7)),
        OrderRule(4, "No test is above line 4, so threads without a row read below the last row of "
                  "`a`.", after=(1,)),
    ),
    hints=(
        "One word of `b` serves four multiply-adds. So which loop is inside of the other one?",
        "The word of `b` changes with `i` and not with `j`. Where is it loaded once for each `i`?",
        "Each row needs its own test, because the last rows of a thread can be below `c`.",
    ),
    after="In each iteration over `i` a thread loads five words, for four multiply-adds.",
)  # fmt: skip
