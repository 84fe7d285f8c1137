"""`python -m gemm_kernels as-called`: time `sgemm` against torch.matmul and cupy.matmul."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from functools import cache, partial

import numpy as np
from numba import cuda

from gemm_kernels.sgemm import sgemm
from utils.errors import CourseError
from utils.ladder.libraries import Execution
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.machine.versions import cupy, torch
from utils.measuring.as_called import CallCase, as_called_command

SMALLEST, LARGEST = 32, 9400
CUBES = (256, 512, 1024, 2048, 4096, 8192)
COUNT = 200
# The layouts of a matrix: (rows, columns) -> (stride of a row, stride of a column, first offset),
# in elements. Libraries and `sgemm` take these arrays as they are.
LAYOUTS = {
    "rows": lambda rows, columns: (columns, 1, 0),
    "columns": lambda rows, columns: (1, rows, 0),
    "gaps": lambda rows, columns: (columns + 4, 1, 0),
    "off": lambda rows, columns: (columns, 1, 1),
    "every other": lambda rows, columns: (2 * columns, 2, 0),
}


def shapes(count: int, seed: int) -> Iterator[tuple[GemmShape, str, str]]:
    """Yield (shape, layout of a, layout of b) for `count` random shapes.

    The layouts are names in `LAYOUTS`: every second shape has "rows" for both, the others have
    random ones. The sizes are log-uniform from SMALLEST to LARGEST, and every third shape has only
    odd sizes.
    """
    generator = random.Random(seed)
    names = list(LAYOUTS)
    for number in range(count):
        sides = [
            round(math.exp(generator.uniform(math.log(SMALLEST), math.log(LARGEST))))
            for _ in range(3)
        ]
        if number % 3 == 0:
            sides = [side | 1 for side in sides]
        plain = number % 2 == 0
        layouts = ("rows", "rows") if plain else (generator.choice(names), generator.choice(names))
        yield GemmShape(*sides), *layouts


def cases(count: int = COUNT, seed: int = 1) -> Iterator[CallCase]:
    """Yield a benchmark case of `sgemm` per cube in `CUBES`, then one per random shape of `shapes`.

    `count` is the number of random shapes, and `seed` determines them.
    """
    wanted = [(GemmShape(n, n, n), "rows", "rows") for n in CUBES]
    for shape, of_a, of_b in [*wanted, *shapes(count, seed)]:
        yield CallCase(
            function="sgemm", m=shape.m, n=shape.n, k=shape.k, elements=None,
            layout=f"{of_a}, {of_b}", dtype="float32", bind=partial(_bind, shape, of_a, of_b),
        )  # fmt: skip


COMMAND = as_called_command(cases, COUNT)


def _bind(shape: GemmShape, of_a: str, of_b: str):
    """Return (call of `sgemm`, calls of libraries, None) for a shape and the layouts of a and b.

    The calls of libraries are a dict from the library's name to a call. Each call computes a·b and
    takes no arguments. None means that `sgemm` does not wait for the GPU. All arrays are on the
    device, and out is stored by rows.
    """
    a = matrix(0, (shape.m, shape.k), of_a)
    b = matrix(1, (shape.k, shape.n), of_b)
    out = matrix(2, (shape.m, shape.n), "rows")
    return partial(sgemm, a, b, out), _libraries(a, b, out), None


def _libraries(a, b, out) -> Mapping[str, Execution]:
    """Return a dict from a library's name to a function without arguments that stores a·b in out.

    The libraries are CuPy and PyTorch, as far as they are installed; they use the memory of a, b
    and out. Raises CourseError if neither is installed.
    """
    libraries = {}
    if xp := cupy():
        libraries["CuPy"] = partial(xp.matmul, xp.asarray(a), xp.asarray(b), out=xp.asarray(out))
    if pytorch := torch():
        ta, tb, tout = (pytorch.as_tensor(x, device="cuda") for x in (a, b, out))
        libraries["PyTorch"] = partial(pytorch.matmul, ta, tb, out=tout)
    if not libraries:
        raise CourseError(
            "as-called compares with PyTorch and CuPy, and neither is here: install one of them."
        )
    return libraries


@cache
def _memory(number: int):
    """Return a flat device array of random float32 that is large enough for any matrix here.

    `number` is 0 for a, 1 for b and 2 for out. Each array is made once and cached.
    """
    elements = 2 * (LARGEST + 8) * (LARGEST + 8)
    block = np.random.default_rng(number).random(1 << 20, np.float32)
    memory = cuda.device_array(elements, np.float32)
    for start in range(0, elements, block.size):
        part = memory[start : start + block.size]
        part.copy_to_device(block[: part.size])
    return memory


def matrix(number: int, sides: tuple[int, int], layout: str):
    """Return a float32 device array of shape `sides` whose strides follow a layout of `LAYOUTS`.

    It is a view of the cached random numbers of matrix `number`, which is 0 for a, 1 for b and 2
    for out.
    """
    memory = _memory(number)
    row, column, first = LAYOUTS[layout](*sides)
    interface = memory.__cuda_array_interface__
    pointer = interface["data"][0] + FLOAT32_BYTES * first
    return cuda.from_cuda_array_interface(
        {
            "shape": sides, "strides": (FLOAT32_BYTES * row, FLOAT32_BYTES * column),
            "typestr": interface["typestr"], "data": (pointer, False), "version": 3,
        },
        owner=memory,
    )  # fmt: skip
