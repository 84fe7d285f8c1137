"""The family of matrix products by loops: CPU functions (a, b, c) with c = a·b.

Shapes, inputs and reference are those of `product`. The sizes are small, because the check follows
every single load and store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run, run_kernel
from labs.checking.target import Probes, Target, essential
from labs.families.product import inputs, reference
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.chains import LARGE
from labs.targets.other_size import right_for_small_numbers
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu.counts.counters import AccessCount


def loop_product(targets: tuple[Target, ...], **fields) -> KernelExercise:
    """Return an exercise whose CPU function (a, b, c) stores the product a·b into c with loops.

    targets: the exercise's own targets; that the function is right for small numbers comes first in
    any case. fields: the remaining fields of KernelExercise.
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
        targets=(right_for_small_numbers(), *targets),
        **fields,
    )


def accesses_per_multiply_add(at_most: float) -> Target:
    """Return the target of at most `at_most` loads and stores of a, b and c per multiply-add.

    They are counted in words, at the first shape.
    """

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


def terms_in_turn(count: int) -> Target:
    """Return the target that `count` multiply-adds in a row add to `count` different sums.

    The multiply-adds are the first `count` of c[0, 0]. They are tested by a second run, in which
    each row r has one term 2^24, which multiply-add r adds, and all its other terms are 1. Each 1
    that is added later to the same sum is lost. The multiply-adds are in different sums if all
    these rows lose the same number of ones. The count is the number of rows that do not lose as
    many as row 0, and its limit is 0. The first shape must have at least `count` rows.
    """

    def uneven(run: Run) -> list[int]:
        order = [int(one.first[0]) for one in run.samples[0].events if one.array == "a"][:count]
        job = replace(run.job, inputs=partial(_one_large_term_per_row, order))
        out = run_kernel(job, run.kernel, run.shape, run.patience, blocks=1).out[:count, 0]
        return [row for row in range(count) if out[row] != out[0]]

    def measure(run: Run) -> float:
        return len(uneven(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "the sums are computed one after the other, so neighbouring multiply-adds still add to "
            "the same sum, and each waits for the one before. Give any {count} multiply-adds in a "
            "row to {count} different sums.",
            count=count,
        )

    words = f"{count} multiply-adds in a row go to {count} different sums"
    return essential(Target("neighbours in one sum", 0, words, measure, cause))


def _one_large_term_per_row(
    order: Sequence[int], shape: Shape, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b of ones, except for one 2^24 in each of the first rows of a, float32.

    Their shapes are (m, k) and (k, n). Row r of a has 2^24 at term order[r]; rows from len(order)
    on have only ones. shape: (m, n, k). seed: not used.
    """
    m, n, k = shape
    a = np.ones((m, k), np.float32)
    for row, term in enumerate(order):
        a[row, term] = LARGE
    return a, np.ones((k, n), np.float32)


def _whole_arrays(function: Callable, story: str) -> str | None:
    """Return a sentence if a function was refused because of whole arrays, else None.

    The message must name a type of array or a matrix product. function: not used. story: the
    message.
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


