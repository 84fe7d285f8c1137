"""The family of matrix products by loops: functions of the CPU (a, b, c) with c = a·b.

Shapes, inputs and reference are those of products.py. The sizes are small: the check follows every
single load and store.
"""

from __future__ import annotations

from labs.exercise import Exercise, Probes
from labs.products import inputs, reference
from utils.ladder.step import Launch


def loop_product(**told) -> Exercise:
    """An exercise of this family; `told` are the fields of Exercise that the family leaves open."""
    return Exercise(
        decorator="njit",
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=lambda shape: Launch(grid=(1,), block=(1,)),
        inputs=inputs,
        reference=reference,
        probes=Probes(),
        **told,
    )
