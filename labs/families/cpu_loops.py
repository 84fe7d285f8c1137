"""The family of matrix products by loops: CPU functions (a, b, c) with c = a·b.

Shapes, inputs and reference are those of `product`. The sizes are small, because the check follows
every single load and store.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from labs.checking.exercise import KernelExercise
from labs.checking.target import Probes
from labs.families.product import inputs, reference
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.ladder.step import Launch
from utils.translation import translate


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


def _whole_arrays(function: Callable, story: str) -> str | None:
    if not re.search("MatMult|an? (2D |1D )?array", story):
        return None
    return translate("Write the loop over the elements out.")


def _shared_among_cores(function: Callable, story: str) -> str | None:
    if "prange" not in story:
        return None
    return translate(
        "This task is about one core: `prange` shares a loop among several, `range` does not."
    )


