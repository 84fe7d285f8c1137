"""`python -m gemm_kernels pitfalls`: time two products and a copy, with right and wrong methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numba import cuda

from gemm_kernels import LADDER
from latency_kernels import copy
from utils.ladder.libraries import Execution
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape, ReduceShape
from utils.measuring.pitfalls import PitfallCase, pitfalls_command

PRODUCTS = (256, 512, 1024, 2048, 4096)
COPIES = tuple(2**exponent for exponent in (18, 20, 22, 24, 26))  # 2 MiB ... 512 MiB moved


def cases(
    products: tuple[int, ...] = PRODUCTS, copies: tuple[int, ...] = COPIES
) -> Iterator[PitfallCase]:
    """Yield a benchmark case per size of `naive`, then of `autotuned`, then of the copy.

    `products` are the sizes n of n×n products, and `copies` the numbers of float32 that are copied.
    """
    for name in ("naive", "autotuned"):
        for n in products:
            yield PitfallCase(name, n, None, partial(_product, name, n))
    for elements in copies:
        yield PitfallCase("copy", None, elements, partial(_copy, elements))


COMMAND = pitfalls_command(cases)


def _product(name: str, n: int) -> Execution:
    """Return a function () that starts an n×n product on the device by the step called `name`."""
    shape = GemmShape(n, n, n)
    inputs = tuple(cuda.to_device(draw("uniform", (n, n), seed)) for seed in (1, 2))
    out = cuda.device_array((n, n), np.float32)
    return LADDER.step(name).variant().at(shape).execution(shape, inputs, out)


def _copy(elements: int) -> Callable[[], None]:
    """Return a function () that starts a copy of `elements` float32 on the device."""
    x = cuda.to_device(draw("uniform", (elements,), 1))
    out = cuda.device_array(elements, np.float32)
    return copy.STEP.variant().execution(ReduceShape(elements), (x,), out)
