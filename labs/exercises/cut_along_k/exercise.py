"""The partial sums of a product whose sums over k are cut in four slices."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.target import essential
from labs.families.product import inputs, loads_per_multiply_add
from labs.targets import counts
from labs.targets.loop_unrolling import iterations_per_multiply_add
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import elements_per_thread
from utils.division import cdiv
from utils.ladder.step import Launch

SLICES = 4


def partial_sums(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the four partial products, float64, (4, m, n); each adds about a quarter of k."""
    k = a.shape[1]
    ends = [piece * k // SLICES for piece in range(SLICES + 1)]
    wide = a.astype(np.float64)
    return np.stack([wide[:, i:j] @ b[i:j] for i, j in pairwise(ends)])


EXERCISE = KernelExercise(
    name="cut_along_k",
    lesson="17",
    title="A product in four slices",
    text=(
        "Cut the sums of c = a·b into `SLICES` slices along k. A thread adds the terms of one "
        "slice of one element, and stores the result in `partials[piece, row, col]`. Slice `piece` "
        "begins at term `piece * k // SLICES` and ends where the next slice begins. About 8 lines.",
        "The launch is given: blocks of 32×8 threads, enough blocks along `x` for the columns and "
        "along `y` for the rows, and `SLICES` blocks along `z`. `cuda.grid(2)` gives the same "
        "column and row in each of the slices. A slice may have no terms, and its sum is 0.",
    ),
    parameters=("a", "b", "partials"),
    sizes=("m", "n", "k"),
    shapes=((16, 64, 32), (9, 40, 27), (20, 33, 6), (5, 3, 2), (1, 1, 1)),
    launch=lambda shape: Launch(grid=(cdiv(shape[1], 32), cdiv(shape[0], 8), SLICES),
                                block=(32, 8)),
    inputs=inputs,
    reference=partial_sums,
    targets=(
        right_for_small_numbers(), counts.no_negative_index(), counts.one_store_per_element(),
        counts.no_float64(), counts.sectors_per_request(4), essential(elements_per_thread(1)),
        replace(loads_per_multiply_add(2), every_shape=True),
        iterations_per_multiply_add(1, with_rest=True),
    ),
    main=("loads per multiply-add", "iterations per multiply-add"),
    hints=(
        "The guard is that of any product: the row must be in `a`, and the column in `b`. The "
        "number of the slice is never too large.",
        "The loop of a whole product is `for i in range(k)`. Which two numbers does `range` get "
        "for a slice?",
        "If k is 27, the slices begin at 0, 6, 13 and 20. So compute the end from `piece + 1`, and "
        "not from a length.",
    ),
    after="There are four times as many blocks, and each thread loads a quarter of the words.",
)  # fmt: skip
