"""Matrix products with the reader's micro-kernels, timed on this machine."""

from __future__ import annotations

from collections.abc import Callable

from gemm_kernels.cpu.tuning.reader_kernel import rates
from labs.by_name import check
from labs.exercises import find
from utils.figures.kernel_bars import Bar, draw_groups
from utils.lessons.cards import Card
from utils.machine import processors
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

SIZE = 256
# The share of the peak that the sums of a solution allow: 2 or 4 in the 8 places of two units with
# a latency of 4 cycles.
BOUNDS = {"micro_kernel": 0.25, "four_sums": 0.5}


def at_work(**micro_kernels: Callable) -> Picture | Card:
    """Time micro-kernels alone and in products, and return a picture with bars of GFLOP/s.

    A micro-kernel alone reads panels of 256 steps that stay in the nearest cache. The picture also
    has bars of multiply-adds alone and of NumPy's BLAS, and a dashed line at the bound of an
    exercise's sums. All are timed alternately on one core.

    Each function is judged by `check` before, which stores it if it passes. A function with a right
    result is timed. If it is not right, or misses a target, the solution is timed, too, unless this
    copy of the course has no solutions. If it is not right and there is no solution, nothing is
    timed, and a card that says so is returned instead of the picture. micro_kernels: the reader's
    functions by the names of their exercises.
    """
    timed, bounds = {}, {}
    for name, own in micro_kernels.items():
        verdict, exercise = check(name, own), find(name)
        if verdict.passed or verdict.counts:  # counts are taken only if the tile is right
            timed[translate("your {name}", name=name)] = own
        elif not exercise.has("solution"):
            sentence = translate("Nothing was timed: your {name} is not right yet.", name=name)
            return Card("ask", (sentence,))
        if not verdict.passed and exercise.has("solution"):
            heading = translate("the solution of {name}: yours is not finished yet", name=name)
            timed[heading] = exercise.solution
        bounds |= {heading: BOUNDS[name] for heading in timed if heading not in bounds}
    gflops = rates(*timed.values(), size=SIZE)

    def bar(role: str, rate: float) -> Bar:
        return Bar(role, rate, f"{rate:.1f}, {rate / gflops.fma_loop:.0%}")

    rows = zip(timed, gflops.alone, gflops.products, strict=True)
    groups = {name: [bar("mine", alone), bar("before", product)] for name, alone, product in rows}
    limits = {heading: share * gflops.fma_loop for heading, share in bounds.items()}
    size = f"{SIZE}×{SIZE}×{SIZE}"
    multiply_adds = translate("nothing but multiply-adds with vectors of 8: 100 %")
    groups[multiply_adds] = [bar("course", gflops.fma_loop)]
    library = translate("the product of {size} by NumPy's BLAS", size=size)
    groups[library] = [bar("library", gflops.numpy)]
    names = {
        "mine": translate("a micro-kernel alone, 256 steps; dashed: the bound of its sums"),
        "before": translate("a product of {size} with it", size=size),
    }
    title = translate("GFLOP/s, measured here on one core")
    return draw_groups(title, processors.current().sentence, names, groups, limits)
