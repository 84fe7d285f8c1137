"""The order of three loops."""

from labs.checking.target import essential
from labs.families.cpu_loops import accesses_per_multiply_add, loop_product
from labs.targets.counts import inner_stride, no_float64, no_negative_index

EXERCISE = loop_product(
    name="loop_order",
    lesson="02",
    title="The order of the loops",
    text=(
        "The function below is right, and slow: its innermost loop goes down a column of `b`. "
        "Change the order of the loops, so that the innermost one goes along rows in every array "
        "that it walks through. About 6 source lines.",
        "It runs on one core of the CPU. `a` is m×k, `b` is k×n and `c` is m×n. `c` holds no zeros "
        "when your function begins: the check fills it with NaN.",
    ),
    shapes=((3, 24, 6), (5, 3, 7), (3, 17, 4), (1, 9, 1), (4, 1, 6), (1, 1, 1)),
    targets=(
        no_negative_index(),
        no_float64(),
        essential(accesses_per_multiply_add(4.5)),
        essential(inner_stride(1, "b", "c")),
    ),
    hints=(
        "Which of the three numbers, `row`, `col` or `i`, must change fastest, so that both `b` "
        "and `c` are walked along a row?",
        "Now the terms of one sum come at very different times. So a sum cannot wait in a "
        "variable of its own until it is complete: where can it grow?",
        "In `c` itself, with `+=`. What must be there before the first term comes, and in which "
        "loop is that done?",
    ),
    after="The innermost loop now goes from each element to its neighbour.",
)
