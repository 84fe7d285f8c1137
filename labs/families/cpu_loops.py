"""The family of matrix products by loops: CPU functions (a, b, c) with c = a·b.

Shapes, inputs and reference are those of `product`. The sizes are small, because the check follows
every single load and store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.product import inputs, reference
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount


def loop_product(**fields) -> KernelExercise:
    """Return an exercise whose CPU function (a, b, c) stores the product a·b into c with loops.

    fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(
        decorator="njit",
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=lambda shape: Launch(grid=(1,), block=(1,)),
        inputs=inputs,
        reference=reference,
        probes=Probes(
            refused=(_whole_arrays, _shared_among_cores), wrong=WRONG_PRODUCTS
        ),
        **fields,
    )


def accesses_per_multiply_add(at_most: float) -> Target:
    """Return the target of at most `at_most` loads and stores of a, b and c per multiply-add."""

    def accesses(run: Run) -> list[AccessCount]:
        return [one for one in run.trace.access_counts if one.space == "global"]

    def measure(run: Run) -> float:
        return sum(one.words for one in accesses(run)) / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        most = max(accesses(run), key=lambda one: one.words)
        return translate(
            "a multiply-add costs {value:.3g} loads and stores, and the target is {at_most:g}: the "
            "elements of `a`, `b` and `c` are loaded, and `c` is stored. Most of them are in "
            "{where}, which makes {words}. Which of them does the product not need?",
            value=value,
            at_most=at_most,
            where=at_line(most.site),
            words=counted(most.words, most.kind),
        )

    words = f"at most {at_most:g} loads and stores per multiply-add"
    return Target("loads and stores per multiply-add", at_most, words, measure, cause)


def _whole_arrays(function: Callable, story: str) -> str | None:
    """Return a sentence if a function that is refused computes with whole arrays, else None.

    story: the error message.
    """
    if not re.search("MatMult|an? (2D |1D )?array", story):
        return None
    return translate("Write the loop over the elements out.")


def _shared_among_cores(function: Callable, story: str) -> str | None:
    """Return a sentence if a function cannot be compiled because of `prange`, else None.

    story: the error message.
    """
    if "prange" not in story:
        return None
    return translate(
        "This task is about one core: `prange` shares a loop among several, `range` does not."
    )


