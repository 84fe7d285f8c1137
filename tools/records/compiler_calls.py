"""Time `sgemm` and `reduce` as a user calls them, with the kernels of each compiler in turns.

`tools.records.compiler_times` is the command that records these times.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from types import ModuleType

import numpy as np

from gpu_xray.versions import toolkit
from utils.compilers.choice import Compiler
from utils.compilers.imports import module_of
from utils.errors import CourseError
from utils.ladder.libraries import Execution
from utils.ladder.memory import on_device
from utils.ladder.problems import draw
from utils.ladder.shapes import GemmShape
from utils.lessons.lesson_16.compiler_times import CompilerCall
from utils.measuring.as_called import SEED, compared
from utils.measuring.rows import Date

PRODUCT = "sgemm"
# (m, n, k, layout of a, layout of b). They need few kernels, because numba-cuda-mlir takes up to
# half a minute to compile one of them.
PRODUCTS = (
    (512, 512, 512, "rows", "rows"),
    (1024, 1024, 1024, "rows", "rows"),
    (4096, 4096, 4096, "rows", "rows"),
    (8192, 8192, 8192, "rows", "rows"),
    (4095, 4097, 4093, "rows", "rows"),
    (741, 228, 1498, "rows", "rows"),
    (6653, 279, 111, "rows", "rows"),
    (352, 38, 113, "off", "off"),
    (1955, 172, 2184, "every other", "off"),
)
LENGTHS = tuple(2**exponent for exponent in range(10, 31, 4))
# The sizes at which results are checked before a function is timed, on no boundary of a block.
SMALL, SHORT = GemmShape(33, 35, 37), 5001


@dataclass(frozen=True)
class CompilerCase:
    """A call to time: the function's name, the sizes as in `CompilerCall`, and the layout.

    bind: a function that returns the call, made with a compiler, as a function without arguments.
    It takes the module `as_called` of the function's package, made with that compiler.
    """

    function: str
    sizes: tuple[int | None, int | None, int | None, int | None]
    layout: str
    bind: Callable[[ModuleType], Execution]


def measured(
    device: str, compilers: Sequence[Compiler], cases=None, compare=compared
) -> Iterator[CompilerCall]:
    """Yield a row per call and compiler, call by call, after checking results at small sizes.

    device: its name. cases: the calls, by default those of `all_cases`. compare: `compared`, or a
    function with its first two parameters and result. Raises CourseError if a result is wrong.
    """
    modules = {each.name: _modules(each) for each in compilers}
    for name, (products, reductions) in modules.items():
        require_right(name, products, reductions)
    generator = random.Random(SEED)
    for case in cases or all_cases():
        position = 0 if case.function == PRODUCT else 1
        calls = {name: case.bind(pair[position]) for name, pair in modules.items()}
        times = compare(calls, generator)
        m, n, k, elements = case.sizes
        for compiler in compilers:
            yield CompilerCall(
                device=device, function=case.function, m=m, n=n, k=k, elements=elements,
                layout=case.layout, compiler=compiler.name, version=compiler.version,
                toolkit=toolkit(), host_us=times[compiler.name].host_us,
                time_us=times[compiler.name].time_us,
                date=Date(datetime.date.today().isoformat()),
            )  # fmt: skip


def _modules(compiler: Compiler) -> tuple[ModuleType, ModuleType]:
    """Return the modules `as_called` of products and of reductions, made with this compiler."""
    products = module_of("gemm_kernels.as_called", compiler)
    return products, module_of("reduce_kernels.as_called", compiler)


def require_right(compiler: str, products: ModuleType, reductions: ModuleType) -> None:
    """Raise CourseError unless `sgemm` and `reduce` are right for integers at small sizes.

    compiler: its name. products, reductions: the modules `as_called`, made with it.
    """
    m, n, k = astuple(SMALL)
    a, b, x = draw("integers", (m, k), 1), draw("integers", (k, n), 2), draw("integers", SHORT, 3)
    if not np.array_equal(products.sgemm(a, b), a @ b) or reductions.reduce(x) != x.sum():
        raise CourseError(f"sgemm or reduce with the kernels of {compiler} gives a wrong result.")


def all_cases() -> Iterator[CompilerCase]:
    """Yield the products of `PRODUCTS`, then two reductions for each of `LENGTHS`.

    The first of the two waits for its result, and the second one does not.
    """
    for m, n, k, *layouts in PRODUCTS:
        yield product_case(GemmShape(m, n, k), *layouts)
    for elements in LENGTHS:
        yield from reduction_cases(elements)


def product_case(shape: GemmShape, of_a: str, of_b: str) -> CompilerCase:
    """Return the case of one product; `of_a` and `of_b` are names in `as_called.LAYOUTS`."""

    def bind(module: ModuleType) -> Execution:
        a = module.matrix(0, (shape.m, shape.k), of_a)
        b = module.matrix(1, (shape.k, shape.n), of_b)
        return partial(module.sgemm, a, b, module.matrix(2, (shape.m, shape.n), "rows"))

    return CompilerCase(PRODUCT, (*astuple(shape), None), f"{of_a}, {of_b}", bind)


def reduction_cases(elements: int) -> tuple[CompilerCase, CompilerCase]:
    """Return the cases of `reduce(x)`, which waits, and of `reduce(x, out=out)`."""

    def waiting(module: ModuleType) -> Execution:
        return partial(module.reduce, module.memory()[:elements])

    def into_out(module: ModuleType) -> Execution:
        return partial(waiting(module), out=on_device(1, np.float32))

    sizes = None, None, None, elements
    return (
        CompilerCase("reduce", sizes, "rows", waiting),
        CompilerCase("reduce into out", sizes, "rows", into_out),
    )
