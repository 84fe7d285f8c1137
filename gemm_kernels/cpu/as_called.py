"""`python -m gemm_kernels.cpu as-called`: time `matmul` against NumPy, each on one thread."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import partial

import numpy as np

from gemm_kernels.cpu.blas import matmul
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.measuring.as_called import CPU, CallCase, as_called_command

SMALLEST, LARGEST = 16, 1500
CUBES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
COUNT = 60


def cases(count: int = COUNT, seed: int = 1) -> Iterator[CallCase]:
    """Yield a benchmark case of `matmul` per cube in `CUBES`, then `count` cases of random shapes.

    The random sizes are log-uniform, and every third shape has only odd sizes. Every second random
    shape has both matrices in rows; in the others, each matrix is in rows or in columns.
    """
    generator = random.Random(seed)
    for n in CUBES:
        yield _case(GemmShape(n, n, n), ("rows", "rows"))
    for number in range(count):
        sides = [
            round(math.exp(generator.uniform(math.log(SMALLEST), math.log(LARGEST))))
            for _ in range(3)
        ]
        if number % 3 == 0:
            sides = [side | 1 for side in sides]
        layouts = [generator.choice(("rows", "columns")) for _ in range(2)]
        yield _case(GemmShape(*sides), ("rows", "rows") if number % 2 == 0 else tuple(layouts))


COMMAND = as_called_command(cases, COUNT, CPU)


def _case(shape: GemmShape, layouts: tuple[str, str]) -> CallCase:
    """Return the benchmark case of `matmul` for a shape.

    `layouts` are those of a and b, "rows" or "columns".
    """
    return CallCase(
        function="matmul", m=shape.m, n=shape.n, k=shape.k, elements=None,
        layout=", ".join(layouts), dtype="float32", bind=partial(_bind, shape, layouts),
    )  # fmt: skip


def _bind(shape: GemmShape, layouts: tuple[str, str]):
    """Return (call of `matmul`, {"NumPy": call of np.matmul}, None) for new matrices a and b.

    The calls take no arguments and return a·b. None means that there is no GPU to wait for.
    """
    a = _matrix((shape.m, shape.k), layouts[0], seed=1)
    b = _matrix((shape.k, shape.n), layouts[1], seed=2)
    return partial(matmul, a, b), {"NumPy": partial(np.matmul, a, b)}, None


def _matrix(sides: tuple[int, int], layout: str, seed: int) -> np.ndarray:
    """Return a random float32 matrix of shape `sides`, stored by "rows" or by "columns"."""
    values = draw("uniform", sides, seed)
    return values if layout == "rows" else np.asfortranarray(values)
