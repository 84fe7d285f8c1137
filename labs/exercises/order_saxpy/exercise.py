"""The lines of a guarded saxpy in disorder."""

import numpy as np

from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import essential
from labs.families.vectors import drawn_factor, elementwise, signed_numbers
from labs.targets import counts
from labs.targets.sharing import elements_per_thread

EXERCISE = elementwise(
    OrderExercise,
    name="order_saxpy",
    lesson="00",
    title="Order the lines of saxpy",
    text=(
        "Each thread stores `a * x[i] + y[i]` in `out[i]`, which is called saxpy. Put the lines of "
        "the kernel in order; two of them are too many. The answer is a list of line numbers.",
        "The launch has enough blocks of 256 threads for all elements.",
    ),
    parameters=("a", "x", "y", "out"),
    shapes=((1024,), (1000,), (257,), (31,), (1,)),
    inputs=lambda shape, seed: (
        drawn_factor(shape, seed), signed_numbers(shape, seed),
        signed_numbers(shape, seed + 1),
    ),
    reference=lambda a, x, y: float(a) * x.astype(np.float64) + y,
    targets=(
        counts.no_negative_index(), counts.one_store_per_element(), counts.no_float64(),
        essential(elements_per_thread(1)),
    ),
    plain_goals=("right at any length", "each thread takes one element"),
    plain_usual_goals=(
        "each element is stored once", "each element of an input is loaded at most 2 times",
        "no thread uses an index below 0", "no float64",
    ),
    above="""
from numba import cuda


@cuda.jit
def order_saxpy(a, x, y, out):
""",
    lines=(
        "    out[i] = scaled + y[i]",
        "    if i >= out.size:",
        "    i = cuda.threadIdx.x",
        "    scaled = a * x[i]",
        "        return",
        "    i = cuda.grid(1)",
        "    if i > out.size:",
    ),
    rules=(
        OrderRule(3, "Line 3 numbers the threads of a block, and this number begins again at 0 in "
                  "each block: with it, all blocks work on the same elements."),
        OrderRule(7, "Line 7 lets the thread go on whose `i` is `out.size`, and the last element "
                  "has the number `out.size - 1`."),
        OrderRule(2, "Line 2 compares `i` before any line has computed `i`.", after=(3, 6)),
        OrderRule(5, "Line 5 ends a thread without an element, and no guard is above it that finds "
                  "such threads.", after=(2, 7)),
        OrderRule(4, "Line 4 uses `i` before any line has computed `i`.", after=(3, 6)),
        OrderRule(4, "No guard is above line 4, so threads without an element read beyond the end "
                  "of `x`.", after=(2, 7)),
        OrderRule(1, "Line 1 stores `scaled` before any line has computed it.", after=(4,)),
    ),
    hints=(
        "Begin with the line that gives the thread its element. Which of the two candidates gives "
        "different numbers to the threads of different blocks?",
        "The guard comes before everything that reads or writes an array. A thread without an "
        "element returns there, and 1000 is no element of an array of 1000.",
    ),
    after="A thread asks first which element it has, then whether there is one, and then works.",
)  # fmt: skip
