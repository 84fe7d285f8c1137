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
    tests_per_multiply_add,
)
from labs.targets.sharing import elements_per_thread

EXERCISE = matrix_product(
    Split(block=(32, 8)),
    name="unroll",
    lesson="06",
    title="Four terms per iteration",
    text=(
        "Unroll the loop of the product by 4: each iteration adds four terms of the sum, and then "
        "adds 4 to `i`. Write about 10 lines instead of the loop.",
        "The launch is given: blocks of 32×8 threads. `k` can be any number from 1 on, so some "
        "terms may be left over. Keep `while` loops for `i`.",
        "Iterations over a `range` of constants, such as `range(4)`, are not counted if they are "
        "at most 16, because the compiler writes them out.",
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
        iterations_per_multiply_add(0.25, with_rest=True),
        tests_per_multiply_add(0.5),
        instructions_per_multiply_add(6.5),
    ),
    main=(
        "iterations per multiply-add", "tests per multiply-add", "instructions per multiply-add",
    ),
    plain_goals=(
        "at most 0.25 loop iterations per multiply-add, and at most 0.5 tests",
        "at most 6.5 instructions per multiply-add in the machine code, instead of 7.75",
    ),
    plain_usual_goals=(
        "right at any shape", "each thread computes and stores one element", "no float64",
        "at most 4 sectors per request, by full warps", "a loop that goes on until `k`",
    ),
    hints=(
        "Write the four lines that add the terms `i`, `i + 1`, `i + 2` and `i + 3`. Then add 4 to "
        "`i`. How long may this loop run, so that `i + 3` is still a term?",
        "The largest multiple of 4 that is not above `k` is `k - k % 4`. Up to there an "
        "iteration has all of its four terms.",
        "A second loop, with one term per iteration, goes on with the same `i` and ends at `k`. It "
        "has 0 to 3 iterations.",
        "Too many instructions? Is the test `i + 4 <= k`? The compiler does not unroll such a "
        "loop any further. Write `i + 3 < k`, which allows the same iterations, and it does.",
    ),
    after="That means: several terms share one test and one jump, and no term is lost at any k.",
)
