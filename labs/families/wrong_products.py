"""Which terms a wrong matrix product holds, told by its values.

They are compared with what a mistake would give, and by least squares over the terms
a[row, i]·b[i, col], which says how often each of them is in the sum.
"""

from __future__ import annotations

import numpy as np

from labs.checking.phrasing import up_to
from labs.checking.run import Run

NEAR = 3  # terms: as far apart as those of a loop that is unrolled by 4


def _shifted(seen: Run) -> str | None:
    """Each row, or column, holds the product of its neighbour."""
    sides = ((0, "row", "above", "below"), (1, "column", "on its left", "on its right"))
    for axis, what, before, after in sides:
        out, right = (np.moveaxis(one, axis, 0) for one in (seen.out, seen.right))
        for way, mine, theirs in ((before, out[1:], right[:-1]), (after, out[:-1], right[1:])):
            if len(mine) > 1 and np.array_equal(mine, theirs):
                return (
                    f"Each {what} of `{seen.result}` holds the product of the {what} {way}: the "
                    f"{what} is off by one."
                )
    return None


def _inputs_out_of_step(seen: Run) -> str | None:
    """The two factors of a term belong to different terms."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    for step in (1, -1) if len(b) > 1 else ():
        moved = np.roll(a, -step, axis=1)
        cut = a[:, step:] @ b[:-step] if step > 0 else a[:, :step] @ b[-step:]
        if np.array_equal(seen.out, cut) or np.array_equal(seen.out, moved @ b):
            names = seen.names
            return (
                f"`{names['a']}` is read one column {'ahead' if step > 0 else 'behind'}: at term i "
                f"its column is i {'+' if step > 0 else '-'} 1, and the row of `{names['b']}` is i."
            )
    return None


def _lost_or_repeated_terms(seen: Run) -> str | None:
    """Terms of the sum that are missing, or count more than once."""
    found = _times_each_term(seen)
    if found is None:
        return None
    lost = np.flatnonzero(found == 0)
    if lost.size == found.size - 1 and found[-1] == 1:
        return "Every element holds only the last term of its sum: each turn forgets those before."
    if lost.size == found.size - 1 and found[0] == 1:
        return "Every element holds only the first term of its sum: no later turn adds to it."
    if lost.size:
        return _lost_terms(seen, found, lost)
    if (found == found[0]).all():
        return f"Every term counts {found[0]:g} times, and not once."
    odd = int(np.flatnonzero(found != 1)[0])
    return f"The term i = {odd} counts {found[odd]:g} times in every sum, and not once."


def _lost_terms(seen: Run, found: np.ndarray, lost: np.ndarray) -> str:
    m, n, k = seen.shape
    sizes = {m: f"m, the rows of `{seen.result}`", n: f"n, the columns of `{seen.result}`"}
    ends = sizes.get(int(lost[0]))
    if ends and lost.size == k - lost[0]:
        return f"The loop ends at {lost[0]}. That is {ends}; a sum has k = {k} terms."
    if lost.size == k:
        return "No term of the sum is in the result."
    few = ", ".join(map(str, lost[:3])) + (" …" if lost.size > 3 else "")
    what = "the term" if lost.size == 1 else "the terms"
    story = f"At k = {k} every sum lacks {what} i = {few}: {lost.size} of {k}."
    twice = np.flatnonzero(found > 1)
    if twice.size:
        return f"{story} The term i = {twice[0]} counts {found[twice[0]]:g} times."
    if np.array_equal(lost, np.arange(lost.size)):
        return (
            f"{story} The last {k - lost.size} are right: does a turn forget those before, or does "
            "the loop begin too late?"
        )
    apart = np.unique(np.diff(lost))
    if apart.size == 1 and apart[0] > 1:
        return f"{story} They lie {apart[0]} apart: which terms does one turn of the loop add?"
    return f"{story} Where does the loop start and end, and which part of it is left over?"


def _times_each_term(seen: Run) -> np.ndarray | None:
    """How often each term a[row, i]·b[i, col] is in the sums, where that explains them all."""
    m, n, k = seen.shape
    elements = [(row, col) for row in range(m) for col in range(n)][: 4 * k]
    if len(elements) < 2 * k or not np.isfinite(seen.out).all():
        return None
    found = _fit(seen, elements)
    if found is None:
        return None
    a, b = (one.astype(np.float64) for one in seen.inputs)
    return found if np.allclose((a * found) @ b, seen.out) else None


def _fit(seen: Run, elements: list[tuple[int, int]]) -> np.ndarray | None:
    """By least squares over these elements how often each term is in them, if whole numbers."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    terms = np.array([a[row] * b[:, col] for row, col in elements])
    values = np.array([seen.out[row, col] for row, col in elements], np.float64)
    # The normal equations are exact here, and on a busy machine far faster than all the elements.
    found = np.round(np.linalg.lstsq(terms.T @ terms, terms.T @ values, rcond=None)[0], 6)
    whole = np.allclose(found, np.round(found)) and np.allclose(terms @ found, values)
    return np.round(found) + 0.0 if whole else None


def _other_partners(seen: Run) -> str | None:
    """Factors of a term that are added, or that belong to two terms near each other."""
    m, n, k = seen.shape
    places = [(i, j) for i in range(k) for j in range(max(0, i - NEAR), min(k, i + NEAR + 1))]
    if m * n < 3 * len(places) or not np.isfinite(seen.out).all():
        return None
    a, b = (one.astype(np.float64) for one in seen.inputs)
    rows, columns = (one.ravel() for one in np.indices((m, n)))
    products = [a[rows, i] * b[j, columns] for i, j in places]
    parts = np.stack([*products, *a.T[:, rows], *b[:, columns]], axis=1)
    values = seen.out.ravel().astype(np.float64)
    found = np.linalg.lstsq(parts.T @ parts, parts.T @ values, rcond=None)[0]
    times = np.round(found)
    if not (np.allclose(found, times, atol=1e-6) and np.array_equal(parts @ times, values)):
        return None
    alone = np.flatnonzero(times[len(places) : len(places) + k])
    if alone.size:
        return (
            f"The term i = {alone[0]} is the sum of its two elements, and not their product. This "
            f"concerns {alone.size} of the {k} terms."
        )
    apart = [place for place, count in zip(places, times) if count and place[0] != place[1]]
    if not apart:
        return None
    (i, j), names = apart[0], seen.names
    return (
        f"The column {i} of `{names['a']}` meets the row {j} of `{names['b']}`: within one term "
        f"both must be the same i. That happens {len(apart)} times in every sum."
    )


def _one_factor_for_all_terms(seen: Run) -> str | None:
    """One element of a, or of b, is multiplied with all elements of the other input."""
    a, b = (one.astype(np.float64) for one in seen.inputs)
    for i in {0, len(b) - 1}:
        for name, value in (
            ("a", np.outer(a[:, i], b.sum(axis=0))),
            ("b", np.outer(a.sum(axis=1), b[i])),
        ):
            if len(b) > 1 and np.array_equal(seen.out, value):
                return (
                    f"All terms of a sum take the same element of `{seen.names[name]}`, the one of "
                    f"i = {i}: it is not loaded again at each turn."
                )
    return None


def _constant_off(seen: Run) -> str | None:
    off = np.unique(seen.out - seen.right)
    if off.size != 1:
        return None
    return (
        f"Every element is wrong by the same number, {off[0]:g}. With what value does the sum "
        "start?"
    )


def _added(seen: Run) -> str | None:
    """a + b in place of a·b."""
    a, b = seen.inputs
    added = a.sum(axis=1, dtype=np.float64)[:, None] + b.sum(axis=0, dtype=np.float64)
    if not np.array_equal(seen.out, added):
        return None
    return "A term is the sum of its two elements, and not their product."


def _other_columns_result(seen: Run) -> str | None:
    """A column holds what another one should hold."""
    first = int(np.flatnonzero(seen.wrong.any(axis=0))[0])
    for column in range(seen.shape[1]):
        if len(seen.right) > 2 and np.array_equal(seen.out[:, first], seen.right[:, column]):
            return (
                f"Column {first} of `{seen.result}` holds the product that belongs in column "
                f"{column}."
            )
    return None


def _some_are_right(seen: Run) -> str | None:
    """The first columns are right in all rows, or the first rows in all columns."""
    for axis, what in ((0, "column"), (1, "row")):
        first = int(np.flatnonzero(seen.wrong.any(axis=axis))[0])
        if first:
            whole = up_to(what, first)
            return (
                f"{whole[:1].upper()}{whole[1:]} right; what serves the {what}s from {first} on "
                "goes wrong."
            )
    return None


def _scaled(seen: Run) -> str | None:
    """Every element is the right one times the same number."""
    known = seen.right != 0
    ratio = np.unique((seen.out[known] / seen.right[known]).astype(np.float32))
    if known.sum() < 2 or ratio.max() - ratio.min() > 1e-5 or seen.out[~known].any():
        return None
    return f"Every element is {ratio[0]:.4g} times what it should be."


def _all_alike(seen: Run) -> str | None:
    """The result does not depend on the row, or on the column."""
    for axis, what, other in ((0, "row", "b"), (1, "column", "a")):
        if min(seen.out.shape) > 1 and (seen.out == seen.out.take([0], axis=axis)).all():
            return (
                f"All {what}s of `{seen.result}` are alike: what is added up depends on "
                f"`{seen.names[other]}` alone."
            )
    return None


def _of_numbers(seen: Run) -> str | None:
    """What the values of a product of two inputs hold, where all of them are finite."""
    if len(seen.inputs) != 2:  # a kernel with tiles that multiplies nothing
        return None
    if not (np.isfinite(seen.out).all() and np.isfinite(seen.right).all()):
        return None
    return next((told for probe in _IN_ORDER if (told := probe(seen))), None)


_IN_ORDER = (
    _shifted,
    _inputs_out_of_step,
    _one_factor_for_all_terms,
    _lost_or_repeated_terms,
    _other_partners,
    _constant_off,
    _added,
    _scaled,
    _all_alike,
    _other_columns_result,
    _some_are_right,
)
WRONG_PRODUCTS = (_of_numbers,)
