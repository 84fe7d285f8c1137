"""A kernel for a matrix with a wrong guard, and four guards to choose from."""

import numpy as np

from labs.checking.target import essential
from labs.families.matrices import elementwise, matrix
from labs.families.vectors import drawn_factor
from labs.targets import counts
from labs.targets.sharing import elements_per_thread

EXERCISE = elementwise(
    name="fix_guard",
    lesson="00",
    kind="repair",
    title="One guard of four",
    text=(
        "The kernel stores `factor * x[row, col]` in `out[row, col]`. Its guard is wrong, and "
        "four guards are offered below it, of which one is right at any shape. Replace the guard "
        "by one of them.",
        "The launch is given: blocks of 32×8 threads, `x` for the columns and `y` for the rows, "
        "and enough blocks for the whole matrix. Blocks at the right edge and at the lower edge "
        "may reach beyond it.",
    ),
    parameters=("x", "factor", "out"),
    shapes=((16, 64), (20, 50), (9, 96), (40, 33), (3, 5), (1, 1)),
    inputs=lambda shape, seed: (matrix(shape, seed), drawn_factor(shape, seed)),
    reference=lambda x, factor: x.astype(np.float64) * float(factor),
    targets=(
        counts.no_negative_index(), essential(counts.one_store_per_element()),
        counts.no_float64(),
        counts.sectors_per_request(4, with_edges=True), essential(elements_per_thread(1)),
    ),
    hints=(
        "Take a matrix of 20 rows and 50 columns. The launch has 24 rows and 64 columns of "
        "threads. Which of the guards stops thread (10, 60)? Which stops thread (22, 10)?",
        "A thread has an element only if its row is in the matrix, and its column is, too. "
        "`shape[0]` is the number of rows.",
    ),
    after="Each direction has an edge of its own, and the guard asks about both.",
)  # fmt: skip
