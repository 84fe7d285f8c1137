"""Tells which elements of a result no thread has written when it is copied to the host."""

from __future__ import annotations

import warnings

import numpy as np

from .transfers import line_in_program


def warn_of_gaps(unwritten: np.ndarray, kernels: tuple[str, ...], by: str) -> None:
    """Warn that a copy to the host takes elements which no thread has written.

    The warning is a UserWarning at the program's line. ``unwritten`` is a boolean array that marks
    these elements; some of its entries are True and some are False. ``kernels`` are the names of
    the kernels that have stored to the array, and ``by`` names the function that copies.
    """
    file, line = line_in_program()
    count = int(np.count_nonzero(unwritten))
    names = " and ".join(f"{name}()" for name in kernels)
    message = (
        f"{by} at line {line} copies {count:,} of {unwritten.size:,} elements that {names} has not "
        f"written: {pattern(unwritten)}. Their content is arbitrary; is there a thread for each?"
    )
    warnings.warn_explicit(message, UserWarning, file, line)


def pattern(unwritten: np.ndarray) -> str:
    """Return text that says which elements of a boolean array are True.

    It is such as ``the last 3 elements, from 61 on``. If they do not fill whole rows, columns or
    other slices, it names only the first: ``the first of them is [0, 5]``.
    """
    for axis, size in enumerate(unwritten.shape):
        along = unwritten.any(axis=tuple(a for a in range(unwritten.ndim) if a != axis))
        whole = unwritten.all(axis=tuple(a for a in range(unwritten.ndim) if a != axis))
        if (along == whole).all():
            return _along(np.flatnonzero(whole), size, axis, unwritten.ndim)
    first = tuple(int(i) for i in np.argwhere(unwritten)[0])
    return f"the first of them is {list(first)}"


def _along(indices: np.ndarray, size: int, axis: int, ndim: int) -> str:
    """Return text that describes ascending indices along dimension ``axis`` of ``ndim``.

    ``size`` is the extent of the dimension. The text is such as ``rows 2 to 5``, ``the last 3 rows,
    from 61 on``, ``one in 2 rows, from 1 on`` or ``index 3``. Irregular indices are counted, and
    their first two runs are named.
    """
    rows = ("rows", "columns")[axis] if ndim == 2 else f"indices of dimension {axis}"
    what = "elements" if ndim == 1 else rows
    first, last, steps = int(indices[0]), int(indices[-1]), np.diff(indices)
    if len(indices) == 1:
        return f"index {first}" + ("" if ndim == 1 else f" of dimension {axis}")
    if (steps == 1).all():
        if last == size - 1:
            return f"the last {len(indices):,} {what}, from {first} on"
        return f"{what} {first} to {last}"
    if len(indices) == 2:
        return f"{what} {first} and {last}"
    if (steps == steps[0]).all():
        return f"one in {int(steps[0])} {what}, from {first} on"
    return f"{len(indices):,} {what}, of which the first are {_runs(indices)}"


def _runs(indices: np.ndarray) -> str:
    """Return the first two runs of neighbouring indices as text, such as ``3 and 64 to 127``."""
    runs = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)[:2]
    return " and ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
