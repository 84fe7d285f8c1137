"""The largest element of each block, by a tree in shared memory."""

from dataclasses import replace

import numpy as np

from labs.checking.job import Shape
from labs.families import reduction as family
from labs.targets import counts

THREADS = 256


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray]:
    """Return a tuple with x: different whole numbers in random order, float32, of shape (n,).

    If all blocks are full, x has both signs. Otherwise all are negative, and below -1e30 if there
    is only one block. For the shape (1,), the element is minus infinity. So no finite padding is
    right.
    """
    if shape == (1,):
        return (np.full(1, -np.inf, np.float32),)
    (x,) = family.inputs(shape, seed)
    if shape[0] % THREADS == 0:
        return (x - shape[0] // 2,)
    return (-x if shape[0] > THREADS else -x * np.float32(2**100),)


def reference(x: np.ndarray) -> np.ndarray:
    """Return the largest element of each block, float64 of shape (blocks,)."""
    return np.maximum.reduceat(x.astype(np.float64), np.arange(0, x.size, THREADS))


EXERCISE = family.reduction(
    family.Sums(THREADS),
    constant="BLOCK",
    name="maximum",
    parameters=("x", "largest"),
    inputs=inputs,
    reference=reference,
    lesson="18",
    title="The largest element of each block",
    text=(
        "Write a kernel in which each block finds the largest of its 256 elements of `x` and "
        "stores it into `largest[cuda.blockIdx.x]`. Use a tree in shared memory, as in the task "
        "`tree`. About 10 lines.",
        "The launch is given: blocks of 256 threads, and one thread per element, so the last block "
        "may reach beyond the end of `x`. An element is any float32 except NaN. All of them may be "
        "negative.",
    ),
    shapes=((1024,), (1000,), (513,), (200,), (33,), (1,)),
    targets=(
        counts.no_negative_index(),
        counts.one_store_per_element(),
        counts.no_float64(),
        # At other shapes, threads beyond the end may load an element of their block again.
        replace(family.each_element_once(), every_shape=False),
        *family.tree_targets(),
    ),
    hints=(
        "The barriers, the strides and the active threads are those of a tree that adds. Only the "
        "operation on two numbers differs: a step keeps the larger one.",
        "The tree reads the words of all 256 threads, also of those beyond the end of `x`. A sum "
        "pads these words with 0, because 0 changes no sum. Which number changes no maximum?",
        "0 is larger than a negative element. Minus infinity is larger than none: write "
        "`float32(-math.inf)`, and import the module `math` above the kernel.",
        "Load `x[i]`, or minus infinity beyond the end, into `shared[tid]`, then `syncthreads`. "
        "For `stride` 128, 64, ... 1: threads with `tid < stride` store `max(shared[tid], "
        "shared[tid + stride])` into `shared[tid]`, then all threads call `syncthreads`. At the "
        "end thread 0 stores `shared[0]`.",
    ),
    after="The tree of a sum finds a maximum, too: only the operation and its padding changed.",
)
