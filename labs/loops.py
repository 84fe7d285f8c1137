"""The family of matrix products by loops: functions of the CPU (a, b, c) with c = a·b.

Shapes, inputs and reference are those of products.py. The sizes are small: the check follows every
single load and store.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from labs.exercise import Exercise, Probes
from labs.product_probes import (
    ends_at_another_size,
    exchanged,
    leaves_a_matrix,
    what_it_counts,
)
from labs.product_sums import wrong_sums
from labs.products import inputs, reference
from labs.run import Run
from labs.words import up_to
from utils.ladder.step import Launch
from utils.virtual_gpu import Finding


def loop_product(**told) -> Exercise:
    """An exercise of this family; `told` are the fields of Exercise that the family leaves open."""
    return Exercise(
        decorator="njit",
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=lambda shape: Launch(grid=(1,), block=(1,)),
        inputs=inputs,
        reference=reference,
        probes=Probes(
            refused=(_whole_arrays, _shared_among_cores),
            findings=(_exchanged_outside, _past_the_end),
            unwritten=(exchanged, ends_at_another_size, _only_the_last_column),
            wrong=(
                exchanged,
                _one_total_for_all_columns,
                _only_the_last_column,
                _left_at_zero,
                _another_row_of_b,
                *wrong_sums(None),
            ),
        ),
        **told,
    )


def _whole_arrays(function: Callable, story: str) -> str | None:
    if not re.search("MatMult|an? (2D |1D )?array", story):
        return None
    return "Write the loop over the elements out."


def _shared_among_cores(function: Callable, story: str) -> str | None:
    if "prange" not in story:
        return None
    return "This task is about one core: `prange` shares a loop among several, `range` does not."


def _exchanged_outside(seen: Run, finding: Finding) -> str | None:
    return exchanged(seen) if leaves_a_matrix(seen, finding) else None


def _past_the_end(seen: Run, finding: Finding) -> str | None:
    """An index goes further than what it counts."""
    if not leaves_a_matrix(seen, finding):
        return None
    what, size = what_it_counts(seen, finding)
    low, high = finding.index_range
    story = f"This index counts the {what}s, 0 to {size - 1}"
    if low == high == size:
        return f"{story}, and the loop takes one more, {size}."
    ends = [name for name, other in zip("mnk", seen.shape) if other == high + 1]
    where = f" That is where {ends[0]} ends." if ends else ""
    return f"{story}, and here it goes from {low} to {high}.{where}"


def _one_total_for_all_columns(seen: Run) -> str | None:
    """From a column to the next one the result grows by a term: nothing is set back between."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    grows = np.diff(seen.out.astype(np.float64), axis=1)
    if not grows.size or not np.array_equal(grows, np.outer(a[:, -1], b[-1, 1:])):
        return None
    return (
        f"From each column to the next, `{seen.result}` grows by one term: a single sum gathers "
        "the terms of all columns, and each column stores what is in it so far."
    )


def _only_the_last_column(seen: Run) -> str | None:
    """Nothing but the last column is done: the line stands below the loop over the columns."""
    untouched = seen.unwritten | (seen.out == 0)
    last = seen.shape[1] - 1
    if not last or not untouched[:, :last].all() or untouched[:, last].all():
        return None
    done = "is written" if seen.unwritten.any() else "has its terms"
    return (
        f"Only the last column, {last}, {done}: the line that should do it for each column runs "
        "once, when the loop over the columns is over."
    )


def _another_row_of_b(seen: Run) -> str | None:
    """The row of b is the row of c, and not the number of the term."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    if len(a) > len(b) or not np.array_equal(seen.out, a.sum(axis=1)[:, None] * b[: len(a)]):
        return None
    return (
        f"In row r of `{seen.result}` all terms take their element of row r of "
        f"`{seen.names['b']}`: that index does not change with the term."
    )


def _left_at_zero(seen: Run) -> str | None:
    """Rows or columns from some on are zero: the loop that adds ends too early."""
    sizes = dict(zip(seen.shape, "mnk"))
    for axis, what in ((0, "column"), (1, "row")):
        empty = (seen.out == 0).all(axis=axis) & (seen.right != 0).any(axis=axis)
        done = int(np.argmax(empty))
        if done and empty[done:].all() and not seen.wrong.take(range(done), axis=1 - axis).any():
            name = f" That is {sizes[done]}." if done in sizes else ""
            return (
                f"{up_to(what, done).capitalize()} right, and no term was added to the others: "
                f"the loop that adds ends at {done}.{name}"
            )
    return None
