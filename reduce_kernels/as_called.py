"""`python -m reduce_kernels as-called`: time `reduce` against torch.sum and cupy.sum."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numba import cuda

from reduce_kernels.reduction import reduce
from utils.errors import CourseError
from utils.ladder.libraries import Execution
from utils.machine.versions import cupy, torch
from utils.measuring.as_called import GPU, CallCase, as_called_command

EXPONENTS = range(10, 31)
COUNT = 20


def cases(count: int = COUNT, seed: int = 1) -> Iterator[CallCase]:
    """Yield a benchmark case per length, first for `reduce(x)` and then for `reduce(x, out=out)`.

    The lengths are the powers of two in EXPONENTS and `count` random lengths, in both forms.
    """
    generator = random.Random(seed)
    lengths = [2**exponent for exponent in EXPONENTS]
    lengths += [round(2 ** generator.uniform(EXPONENTS[0], EXPONENTS[-1])) for _ in range(count)]
    for function, bind in (("reduce", _bind_waiting), ("reduce into out", _bind_into_out)):
        for elements in lengths:
            yield CallCase(
                function=function, m=None, n=None, k=None, elements=elements, layout="rows",
                dtype="float32", bind=partial(bind, elements),
            )  # fmt: skip


# Below 2²⁰ elements a call takes as long as its Python, which other programs on the host disturb.
COMMAND = as_called_command(cases, COUNT, replace(GPU, rounds=5))


def _bind_waiting(elements: int):
    """Return (`reduce(x)`, sums of the libraries, `reduce(x, out=out)`) for `elements` float32.

    The sums are a dict from the library's name to a function. All functions take no arguments. The
    first and those of the libraries wait for the result, and the last does not. Raises CourseError
    if no library is installed.
    """
    x, out = memory()[:elements], cuda.device_array(1, np.float32)
    libraries = {}
    if xp := cupy():
        array = xp.asarray(x)
        libraries["CuPy"] = lambda: xp.sum(array).item()
    if pytorch := torch():
        tensor = pytorch.as_tensor(x, device="cuda")
        libraries["PyTorch"] = lambda: pytorch.sum(tensor).item()
    return partial(reduce, x), _some(libraries), partial(reduce, x, out=out)


def _bind_into_out(elements: int):
    """Return (`reduce(x, out=out)`, sums of the libraries, None) for `elements` float32.

    The sums are a dict from the library's name to a function that stores its sum into an out. All
    functions take no arguments, and none waits for the result. Raises CourseError if no library is
    installed.
    """
    x, out = memory()[:elements], cuda.device_array(1, np.float32)
    libraries = {}
    if xp := cupy():
        array, result = xp.asarray(x), xp.empty((), np.float32)
        libraries["CuPy"] = partial(xp.sum, array, out=result)
    if pytorch := torch():
        tensor = pytorch.as_tensor(x, device="cuda")
        result = pytorch.empty((), dtype=tensor.dtype, device="cuda")
        libraries["PyTorch"] = partial(pytorch.sum, tensor, dim=0, out=result)
    return partial(reduce, x, out=out), _some(libraries), None


def _some(libraries: Mapping[str, Execution]) -> Mapping[str, Execution]:
    """Return `libraries`; raise CourseError if it is empty."""
    if not libraries:
        raise CourseError(
            "as-called compares with PyTorch and CuPy, and neither is here: install one of them."
        )
    return libraries


@cache
def memory():
    """Return a device array of random float32, as long as the longest case; it is cached."""
    elements = 2 ** EXPONENTS[-1]
    block = np.random.default_rng(1).random(1 << 22, np.float32)
    numbers = cuda.device_array(elements, np.float32)
    for start in range(0, elements, block.size):
        numbers[start : start + block.size].copy_to_device(block)
    return numbers
