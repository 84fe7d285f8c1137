"""The lines of a loop that is unrolled by two, in disorder."""

from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import essential
from labs.families.product import Split, matrix_product
from labs.targets.counts import (
    full_requests,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.loop_unrolling import iterations_per_multiply_add, terms_per_iteration
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8)),
    record=OrderExercise,
    name="order_by_two",
    lesson="06",
    title="Order the lines of a loop unrolled by two",
    text=(
        "Each iteration of the loop adds two terms of the sum. If `k` is odd, one term is left "
        "over. Put the lines in order; two of them are too many. The answer is a list of line "
        "numbers.",
        "The launch is given: blocks of 32×8 threads, and one thread for each element of `c`.",
    ),
    shapes=((16, 64, 24), (9, 33, 21), (17, 19, 23), (7, 40, 3), (8, 8, 2), (1, 1, 1)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), sectors_per_request(4),
        essential(full_requests()), essential(elements_per_thread(1)),
        essential(terms_per_iteration(16)), iterations_per_multiply_add(0.5, with_rest=True),
    ),
    main=("iterations per multiply-add",),
    plain_goals=("two terms per iteration",),
    plain_usual_goals=(
        "right at any shape", "each thread stores one element", "no index below 0", "no float64",
    ),
    above="""
from numba import cuda, float32, uint32


@cuda.jit
def order_by_two(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    x, y = cuda.grid(2)
    row, col = uint32(y), uint32(x)
    if row >= m or col >= n:
        return
    total = float32(0)
""",
    below="""
    c[row, col] = total
""",
    lines=(
        "        i += 2",
        "    if i < k:",
        "        total += a[row, i + 1] * b[i + 1, col]",
        "    while i < k:",
        "        total += a[row, k - 1] * b[k - 1, col]",
        "    i = 0",
        "    while i + 1 < k:",
        "        total += a[row, i] * b[i, col]",
        "    while i + 2 < k:",
    ),
    rules=(
        OrderRule(4, "Line 4 tests `i` before any line has set it.", after=(6,)),
        OrderRule(7, "Line 7 tests `i` before any line has set it.", after=(6,)),
        OrderRule(9, "Line 9 tests `i` before any line has set it.", after=(6,)),
        OrderRule(2, "Line 2 tests `i` before any line has set it.", after=(6,)),
        OrderRule(2, "Line 2 asks whether a term is left over, and no loop is above it.",
                  after=(4, 7, 9)),
        OrderRule(1, "Line 1 goes to the next two terms before the first term of this iteration "
                  "has been added.", after=(8,)),
        OrderRule(1, "Line 1 goes to the next two terms before the second term of this iteration "
                  "has been added.", after=(3,)),
        OrderRule(5, "Line 5 adds the last term of the sum. It may run at most once, and only if "
                  "this term is left over. No `if` above it asks that.", after=(2,)),
    ),
    hints=(
        "Begin with the first value of `i`. Then choose the test of the loop: write down the "
        "values of `i` for `k` = 4 and for `k` = 5.",
        "An iteration adds the terms `i` and `i + 1`. For which values of `i` are both of them "
        "terms of the sum?",
        "After the loop there is either no term left or one. This needs an `if` and no loop.",
    ),
    after="Two terms share one test, one jump and one `i += 2`, and no term is lost if k is odd.",
)  # fmt: skip
