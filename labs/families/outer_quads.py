"""The family of outer products by quads: a warp computes a tile of 16×32 of c from a and b.

A shape is (tiles down, tiles across). `c[i, j]` is `a[i] * b[j]`. A quad is four consecutive
elements, which one lane loads or stores at once.
"""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.target import Probes
from labs.families.lane_maps import COLUMNS, ROWS, primes, same_quad
from utils.ladder.step import Launch


def launch(shape: Shape) -> Launch:
    """Return a launch of one block of 32 threads per tile; the grid is (tiles across, tiles down).

    shape: (tiles down, tiles across).
    """
    down, across = shape
    return Launch(grid=(across, down), block=(32,))


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors a and b, float32, of 16 numbers per tile down and of 32 per tile across.

    They are different prime numbers in random order, so that a product identifies its factors.
    """
    m, n = shape[0] * ROWS, shape[1] * COLUMNS
    numbers = np.random.default_rng(seed).permutation(primes(m + n)).astype(np.float32)
    return numbers[:m].copy(), numbers[m:].copy()


def reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the outer product of a and b, float64, of shape (length of a, length of b)."""
    return np.outer(a.astype(np.float64), b)


def outer_quads(**fields) -> KernelExercise:
    """Return an exercise whose kernel (a, b, c) stores the outer product of a and b into c.

    fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(
        parameters=("a", "b", "c"),
        sizes=("tiles down", "across"),
        shapes=((2, 3), (1, 2), (3, 2), (1, 1)),
        of_blocks=True,
        launch=launch,
        inputs=inputs,
        reference=reference,
        probes=Probes(missing=(same_quad,)),
        **fields,
    )
