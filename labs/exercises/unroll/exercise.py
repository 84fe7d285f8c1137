"""The loop over k unrolled by 4: one test and one jump for four terms of the sum."""

from labs.checking.target import essential
from labs.families.product import Split, matrix_product
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.loop_unrolling import (
    instructions_per_multiply_add,
    iterations_per_multiply_add,
    terms_per_iteration,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8)),
    name="unroll",
    lesson="06",
    title="Four terms a turn",
    text=(
        "Unroll the loop of the product by 4: each turn adds four terms of the sum, and then goes "
        "4 further. About 10 lines in place of the loop.",
        "The launch is given: blocks of 32×8 threads. `k` can be any number from 1 on, so a part "
        "of the sum may be left over.",
        "A loop over a `range` of constants with at most 16 turns, such as `range(4)`, is not "
        "counted as turns: the compiler writes it out.",
    ),
    shapes=(
        (32, 64, 24),
        (25, 33, 21),
        (17, 19, 23),
        (7, 40, 22),
        (5, 8, 3),
        (8, 8, 2),
        (1, 1, 1),
    ),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(1)),
        essential(terms_per_iteration(16)),
        iterations_per_multiply_add(0.25),
        instructions_per_multiply_add(9),
    ),
    hints=(
        "Write the four lines that add the terms `i`, `i + 1`, `i + 2` and `i + 3`. Then add 4 to "
        "`i`. How long may this loop run, so that `i + 3` is still a term?",
        "The largest multiple of 4 that is not above `k` is `k - k % 4`. Up to there a turn has "
        "all of its four terms.",
        "A second loop, one term a turn, goes on with the same `i` and ends at `k`. It has 0 to 3 "
        "turns.",
        "Too many instructions? Begin with `i = 0` and let a `while` loop add to it. Of the index "
        "of a `range` the compiler does not know that it is never negative.",
    ),
    after="That means: four terms share one test and one jump, and no term is lost at any k.",
)
