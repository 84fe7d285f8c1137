"""The family of elementwise kernels of matrices: one thread computes each element of the result.

A shape is (m, n), the rows and columns. The launch has blocks of 32×8 threads, `x` for the columns
and `y` for the rows. The last blocks of both directions reach beyond the matrix.
"""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.target import Probes
from labs.families.product import Split
from labs.families.vectors import numbers
from utils.ladder.step import Launch

BLOCK = (32, 8)


def launch(shape: Shape) -> Launch:
    """Return a launch of 32×8 blocks that cover m rows and n columns, rounded up.

    The grid is (blocks along the columns, blocks along the rows). shape: (m, n).
    """
    return Split(block=BLOCK).launch((*shape, 1))


def matrix(shape: Shape, seed: int) -> np.ndarray:
    """Return the numbers from 1 to m·n in random order as a float32 matrix of shape (m, n)."""
    return numbers((shape[0] * shape[1],), seed).reshape(shape)


def elementwise(**fields) -> KernelExercise:
    """Return an exercise on matrices of m rows and n columns, launched in blocks of 32×8 threads.

    fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(sizes=("m", "n"), launch=launch, probes=Probes(), **fields)
