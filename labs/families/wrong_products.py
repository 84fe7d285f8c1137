"""Probes for wrong matrix products: they determine the mistake from the values of the result.

Some compare the result with what a mistake would give. Others fit, by least squares, how often each
term a[row, i]·b[i, col] is in the sums.
"""

from __future__ import annotations

import numpy as np

from labs.checking.phrasing import up_to
from labs.checking.run import Run
from utils.translation import translate

NEAR = 3  # the largest distance between the terms of a loop that is unrolled by 4


def _shifted(run: Run) -> str | None:
    """Return a sentence if each row, or column, holds the product of its neighbour, else None."""
    sides = ((0, "row", "above", "below"), (1, "column", "on its left", "on its right"))
    for axis, what, before, after in sides:
        out, right = (np.moveaxis(one, axis, 0) for one in (run.out, run.right))
        pairs = ((before, out[1:], right[:-1]), (after, out[:-1], right[1:]))
        for neighbour, part, expected in pairs:
            if len(part) > 1 and np.array_equal(part, expected):
                return translate(
                    "Each {what} of `{result}` holds the product of the {what} {neighbour}: "
                    "the {what} is off by one.",
                    what=what,
                    result=run.result,
                    neighbour=neighbour,
                )
    return None


def _inputs_misaligned(run: Run) -> str | None:
    """Return a sentence if a's column index is one more, or less, than b's row index, else None."""
    a, b = (one.astype(np.float64) for one in run.inputs)
    for step in (1, -1) if len(b) > 1 else ():
        moved = np.roll(a, -step, axis=1)
        cut = a[:, step:] @ b[:-step] if step > 0 else a[:, :step] @ b[-step:]
        if np.array_equal(run.out, cut) or np.array_equal(run.out, moved @ b):
            names = run.names
            return (
                f"`{names['a']}` is read one column {'ahead' if step > 0 else 'behind'}: at term i "
                f"its column is i {'+' if step > 0 else '-'} 1, and the row of `{names['b']}` is i."
            )
    return None


def _lost_or_repeated_terms(run: Run) -> str | None:
    """Return sentences on terms that every sum lacks or has more than once, or None.

    They are None if `_times_each_term` cannot tell how often each term is in a sum.
    """
    counts = _times_each_term(run)
    if counts is None:
        return None
    lost = np.flatnonzero(counts == 0)
    if lost.size == counts.size - 1 and counts[-1] == 1:
        return translate(
            "Every element holds only the last term of its sum: each turn forgets those before."
        )
    if lost.size == counts.size - 1 and counts[0] == 1:
        return translate(
            "Every element holds only the first term of its sum: no later turn adds to it."
        )
    if lost.size:
        return _lost_terms(run, counts, lost)
    if (counts == counts[0]).all():
        return translate("Every term counts {counts:g} times, and not once.", counts=counts[0])
    odd = int(np.flatnonzero(counts != 1)[0])
    return translate(
        "The term i = {odd} counts {counts:g} times in every sum, and not once.",
        odd=odd,
        counts=counts[odd],
    )


def _lost_terms(run: Run, counts: np.ndarray, lost: np.ndarray) -> str:
    """Return sentences on the terms that every sum lacks.

    counts: how often each term is in every sum, shape (k,). lost: the indices of the missing terms.
    """
    m, n, k = run.shape
    sizes = {m: f"m, the rows of `{run.result}`", n: f"n, the columns of `{run.result}`"}
    ends = sizes.get(int(lost[0]))
    if ends and lost.size == k - lost[0]:
        return translate(
            "The loop ends at {lost}. That is {ends}; a sum has k = {k} terms.",
            lost=lost[0],
            ends=ends,
            k=k,
        )
    if lost.size == k:
        return translate("No term of the sum is in the result.")
    few = ", ".join(map(str, lost[:3])) + (" …" if lost.size > 3 else "")
    what = "the term" if lost.size == 1 else "the terms"
    story = f"At k = {k} every sum lacks {what} i = {few}: {lost.size} of {k}."
    twice = np.flatnonzero(counts > 1)
    if twice.size:
        return translate(
            "{story} The term i = {twice} counts {counts:g} times.",
            story=story,
            twice=twice[0],
            counts=counts[twice[0]],
        )
    if np.array_equal(lost, np.arange(lost.size)):
        return translate(
            "{story} The last {count} are right: does a turn forget those before, or does the "
            "loop begin too late?",
            story=story,
            count=k - lost.size,
        )
    distances = np.unique(np.diff(lost))
    if distances.size == 1 and distances[0] > 1:
        return translate(
            "{story} They lie {distances} apart: which terms does one turn of the loop add?",
            story=story,
            distances=distances[0],
        )
    return translate(
        "{story} Where does the loop start and end, and which part of it is left over?", story=story
    )


def _times_each_term(run: Run) -> np.ndarray | None:
    """Return how often each term a[row, i]·b[i, col] is in every sum, or None.

    The counts are whole numbers as float64, of shape (k,). Returns None if no counts explain all
    elements of the result, or if the result has too few elements to determine them.
    """
    m, n, k = run.shape
    elements = [(row, col) for row in range(m) for col in range(n)][: 4 * k]
    if len(elements) < 2 * k or not np.isfinite(run.out).all():
        return None
    counts = _fit(run, elements)
    if counts is None:
        return None
    a, b = (one.astype(np.float64) for one in run.inputs)
    return counts if np.allclose((a * counts) @ b, run.out) else None


def _fit(run: Run, elements: list[tuple[int, int]]) -> np.ndarray | None:
    """Return how often each of the k terms is in these elements of the result, or None.

    The counts are whole numbers as float64, of shape (k,). Returns None if no whole numbers explain
    the elements. elements: pairs (row, column) of the result.
    """
    a, b = (one.astype(np.float64) for one in run.inputs)
    terms = np.array([a[row] * b[:, col] for row, col in elements])
    values = np.array([run.out[row, col] for row, col in elements], np.float64)
    # The normal equations are exact here, and far faster on a busy machine than the full system.
    counts = np.round(np.linalg.lstsq(terms.T @ terms, terms.T @ values, rcond=None)[0], 6)
    whole = np.allclose(counts, np.round(counts)) and np.allclose(terms @ counts, values)
    return np.round(counts) + 0.0 if whole else None


def _other_partners(run: Run) -> str | None:
    """Return sentences if the terms of the sums combine wrong elements of a and b, or None.

    Recognised are terms a[row, i]·b[j, col] with j within 3 of i, and terms a[row, i] + b[i, col].
    Returns None, too, if the result has too few elements to tell, or elements that are not finite.
    """
    m, n, k = run.shape
    pairs = [(i, j) for i in range(k) for j in range(max(0, i - NEAR), min(k, i + NEAR + 1))]
    if m * n < 3 * len(pairs) or not np.isfinite(run.out).all():
        return None
    a, b = (one.astype(np.float64) for one in run.inputs)
    rows, columns = (one.ravel() for one in np.indices((m, n)))
    products = [a[rows, i] * b[j, columns] for i, j in pairs]
    parts = np.stack([*products, *a.T[:, rows], *b[:, columns]], axis=1)
    values = run.out.ravel().astype(np.float64)
    coefficients = np.linalg.lstsq(parts.T @ parts, parts.T @ values, rcond=None)[0]
    times = np.round(coefficients)
    if not (np.allclose(coefficients, times, atol=1e-6) and np.array_equal(parts @ times, values)):
        return None
    added = np.flatnonzero(times[len(pairs) : len(pairs) + k])
    if added.size:
        return translate(
            "The term i = {added} is the sum of its two elements, and not their product. This "
            "concerns {size} of the {k} terms.",
            added=added[0],
            size=added.size,
            k=k,
        )
    mismatched = [pair for pair, count in zip(pairs, times) if count and pair[0] != pair[1]]
    if not mismatched:
        return None
    (i, j), names = mismatched[0], run.names
    return translate(
        "The column {i} of `{a}` meets the row {j} of `{b}`: within one term both must be the "
        "same i. That happens {count} times in every sum.",
        i=i,
        a=names["a"],
        j=j,
        b=names["b"],
        count=len(mismatched),
    )


def _one_factor_for_all_terms(run: Run) -> str | None:
    """Return a sentence if all terms of a sum use the same element of a, or of b, else None.

    Only the first and the last index along k are tried.
    """
    a, b = (one.astype(np.float64) for one in run.inputs)
    for i in {0, len(b) - 1}:
        for name, value in (
            ("a", np.outer(a[:, i], b.sum(axis=0))),
            ("b", np.outer(a.sum(axis=1), b[i])),
        ):
            if len(b) > 1 and np.array_equal(run.out, value):
                return translate(
                    "All terms of a sum take the same element of `{names}`, the one of i = "
                    "{i}: it is not loaded again at each turn.",
                    names=run.names[name],
                    i=i,
                )
    return None


def _constant_off(run: Run) -> str | None:
    """Return a sentence if the result differs from the right one by a constant, else None."""
    off = np.unique(run.out - run.right)
    if off.size != 1:
        return None
    return translate(
        "Every element is wrong by the same number, {off:g}. With what value does the sum start?",
        off=off[0],
    )


def _added(run: Run) -> str | None:
    """Return a sentence if the terms of the sums are a + b instead of a·b, else None."""
    a, b = run.inputs
    added = a.sum(axis=1, dtype=np.float64)[:, None] + b.sum(axis=0, dtype=np.float64)
    if not np.array_equal(run.out, added):
        return None
    return translate("A term is the sum of its two elements, and not their product.")


def _other_columns_result(run: Run) -> str | None:
    """Return a sentence if the first wrong column holds another column's product, else None.

    Also returns None for a result of fewer than three rows.
    """
    first = int(np.flatnonzero(run.wrong.any(axis=0))[0])
    for column in range(run.shape[1]):
        if len(run.right) > 2 and np.array_equal(run.out[:, first], run.right[:, column]):
            return translate(
                "Column {first} of `{result}` holds the product that belongs in column {column}.",
                first=first,
                result=run.result,
                column=column,
            )
    return None


def _some_are_right(run: Run) -> str | None:
    """Return a sentence if the first columns are all right, or else the first rows, else None."""
    for axis, what in ((0, "column"), (1, "row")):
        first = int(np.flatnonzero(run.wrong.any(axis=axis))[0])
        if first:
            whole = up_to(what, first)
            return translate(
                "{upper}{whole} right; what serves the {what}s from {first} on goes wrong.",
                upper=whole[:1].upper(),
                whole=whole[1:],
                what=what,
                first=first,
            )
    return None


def _scaled(run: Run) -> str | None:
    """Return a sentence if the result is the right one times a constant, else None."""
    known = run.right != 0
    ratio = np.unique((run.out[known] / run.right[known]).astype(np.float32))
    if known.sum() < 2 or ratio.max() - ratio.min() > 1e-5 or run.out[~known].any():
        return None
    return translate("Every element is {ratio:.4g} times what it should be.", ratio=ratio[0])


def _all_alike(run: Run) -> str | None:
    """Return a sentence if all rows of the result are equal, or all columns, else None.

    Also returns None for a result with only one row or only one column.
    """
    for axis, what, other in ((0, "row", "b"), (1, "column", "a")):
        if min(run.out.shape) > 1 and (run.out == run.out.take([0], axis=axis)).all():
            return translate(
                "All {what}s of `{result}` are alike: what is added up depends on `{names}` alone.",
                what=what,
                result=run.result,
                names=run.names[other],
            )
    return None


def _of_numbers(run: Run) -> str | None:
    """Return the answer of the first probe in `_PROBES` that recognises the wrong product, or None.

    Also returns None if a value of the result is not finite, or if the kernel does not have two
    inputs.
    """
    if len(run.inputs) != 2:  # a kernel with tiles that computes no product
        return None
    if not (np.isfinite(run.out).all() and np.isfinite(run.right).all()):
        return None
    return next((sentence for probe in _PROBES if (sentence := probe(run))), None)


_PROBES = (
    _shifted,
    _inputs_misaligned,
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
