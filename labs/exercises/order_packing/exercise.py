"""The lines that pack a matrix into panels in disorder."""

import numpy as np

from labs.checking.job import Shape, in_steps
from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import essential
from labs.targets import counts
from utils.ladder.step import Launch

WIDTH = 8  # columns of a panel


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """Return a tuple with b, a k×n float32 matrix of 1 to k·n in random order. shape: (k, n)."""
    k, n = shape
    numbers = np.random.default_rng(seed).permutation(k * n) + 1
    return (numbers.astype(np.float32).reshape(k, n),)


def reference(b: np.ndarray) -> np.ndarray:
    """Return the panels of b, one after the other and each row by row, as a 1D float64 array."""
    k, n = b.shape
    return b.astype(np.float64).reshape(k, n // WIDTH, WIDTH).swapaxes(0, 1).ravel()


EXERCISE = OrderExercise(
    name="order_packing",
    lesson="03",
    title="Order the lines of packing",
    decorator="njit",
    text=(
        "`b` has k rows, and n columns, a multiple of 8. The lines copy it into `panels`, an array "
        "with one dimension: first all steps of the first 8 columns, then all steps of the next 8 "
        "columns, and so on. Put them in order; two of them are too many. The answer is a list of "
        "line numbers.",
    ),
    parameters=("b", "panels"),
    sizes=("k", "n"),
    shapes=((4, 16), (3, 40), (7, 8), (1, 24), (1, 8)),
    vary=in_steps(1, WIDTH),
    whole=in_steps(1, WIDTH),
    launch=lambda shape: Launch(grid=(1,), block=(1,)),
    inputs=inputs,
    reference=reference,
    targets=(
        counts.no_negative_index(), counts.one_store_per_element(), counts.no_float64(),
        essential(counts.inner_stride(1, "b", "panels")),
    ),
    plain_goals=("the innermost loop goes from each element to its neighbour",),
    above="""
from numba import njit


@njit
def order_packing(b, panels):
    k, n = b.shape
""",
    lines=(
        "    for p in range(k):",
        "            for col in range(first, first + 8):",
        "                at += 1",
        "    for first in range(0, n, 8):",
        "                panels[at] = b[p, col]",
        "        for first in range(0, n, 8):",
        "    at = 0",
        "        for p in range(k):",
    ),
    rules=(
        OrderRule(1, "Line 1 is one of the two that are too many. As the outermost loop it copies "
                  "the whole first row of `b`, then the whole second row, and `b` already has this "
                  "order."),
        OrderRule(6, "Line 6 goes to the next panel after one step only, and a panel has all "
                  "steps."),
        OrderRule(8, "Line 8 is indented as a line of the loop over the panels, and is above it.",
                  after=(4,)),
        OrderRule(2, "Line 2 uses `first` before any line has set it.", after=(4, 6)),
        OrderRule(2, "Line 2 is above the loop over the steps, so it cannot be inside it.",
                  after=(1, 8)),
        OrderRule(5, "Line 5 uses `at` before any line has set it.", after=(7,)),
        OrderRule(5, "Line 5 uses `col` before any line has set it.", after=(2,)),
        OrderRule(3, "Line 3 adds to `at` before any line has set it.", after=(7,)),
        OrderRule(3, "Line 3 goes on by one before the first element is stored, so place 0 stays "
                  "empty.", after=(5,)),
    ),
    hints=(
        "`at` is the place of the next element, and it only grows. So the elements must come in "
        "the order in which the panels hold them.",
        "All of panel 0 comes before the first element of panel 1. Which loop is outermost, then: "
        "the one over the steps or the one over the panels?",
    ),
    after="The micro-kernel now reads its vectors one behind the other.",
)  # fmt: skip
