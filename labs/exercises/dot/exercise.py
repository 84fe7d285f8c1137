"""The part of a dot product that each block computes, by a tree in shared memory."""

import numpy as np

from labs.checking.job import Shape
from labs.families import reduction as family
from labs.families.vectors import numbers
from labs.targets import counts

SUMS = family.Sums(threads=256)
LARGEST_Y = 5  # 256 products of at most 1024 and 5 stay below 2**23: every float32 sum is exact


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y, both float32 of shape (n,).

    x has the numbers from 1 to n in random order, and y random numbers 1.5, 2.5, 3.5 and 4.5.
    """
    y = np.random.default_rng([seed, 1]).integers(1, LARGEST_Y, shape[0]) + 0.5
    return numbers(shape, seed), y.astype(np.float32)


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the sum of x·y over the elements of each block, float64 of shape (blocks,)."""
    return SUMS.reference(x.astype(np.float64) * y)


EXERCISE = family.reduction(
    SUMS,
    constant="BLOCK",
    name="dot",
    parameters=("x", "y", "partials"),
    inputs=inputs,
    reference=reference,
    lesson="18",
    title="A dot product, block by block",
    text=(
        "The dot product of `x` and `y` is the sum of all products `x[i] * y[i]`. Write a kernel "
        "in which each block adds the products of its 256 elements and stores their sum into "
        "`partials[cuda.blockIdx.x]`. Use a tree in shared memory, as in the task `tree`. About 13 "
        "lines.",
        "The launch is given: blocks of 256 threads, and one thread per element, so the last block "
        "may reach beyond the end of `x` and `y`, which have the same length.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        counts.no_negative_index(),
        counts.one_store_per_element(),
        counts.no_float64(),
        family.each_element_once(),
        family.each_element_once("y"),
        *family.tree_targets(),
    ),
    hints=(
        "A tree adds one number per thread. Which number does thread `tid` of block `b` bring, and "
        "which number does it bring if it has no elements?",
        "Each thread multiplies its two elements while it loads them, and stores the product into "
        "its word of one shared array. A thread beyond the end stores `float32(0)`.",
        "Then comes the tree of the task `tree`: a barrier, and for `stride` 128, 64, ... 1 the "
        "threads with `tid < stride` add `shared[tid + stride]` to `shared[tid]`, and all threads "
        "call `syncthreads`.",
        "At the end thread 0 stores `shared[0]` into `partials[cuda.blockIdx.x]`.",
    ),
    after="One array of shared memory is enough for two inputs, because each product is made in a "
    "register.",
)
