"""Compact encodings of the data of a movie, which player.js decodes."""

from __future__ import annotations

import math

import numpy as np


def addresses(first: np.ndarray, block: tuple[int, int, int]) -> dict:
    """Return a dict that encodes one element index per thread; -1 marks an inactive thread.

    If the indices are a linear function of the thread's position (x, y, z) in the block, ``at``
    holds [offset, stride by x, stride by y, stride by z]. Otherwise ``steps`` holds the first index
    and then the differences between successive active threads, encoded by ``runs``. ``who`` holds
    the active threads, encoded by ``spans``; the key is missing if all threads are active.
    """
    number, active = np.arange(len(first)), np.flatnonzero(first >= 0)
    x, y, _ = block
    terms = np.stack([np.ones_like(number), number % x, number // x % y, number // (x * y)], 1)
    active_terms = terms[active].astype(float)
    fit, *_ = np.linalg.lstsq(active_terms, first[active].astype(float), rcond=None)
    fit = np.rint(fit).astype(int)
    if (terms[active] @ fit == first[active]).all():
        code: dict = {"at": fit.tolist()}
    else:
        code = {"steps": runs(np.diff(first[active], prepend=0).tolist())}
    if len(active) < len(first):
        code["who"] = spans(active)
    return code


def spans(numbers: np.ndarray) -> list[int]:
    """Return ascending numbers as a flat list [first, length, first, length, ...] of their runs.

    Each pair describes a run of consecutive numbers.
    """
    starts = np.flatnonzero(np.r_[True, np.diff(numbers) != 1])
    lengths = np.diff(np.r_[starts, len(numbers)])
    return np.stack([numbers[starts], lengths], 1).ravel().tolist()


def runs(entries: list) -> list:
    """Return entries as a flat list [entry, repetitions, entry, repetitions, ...]."""
    coded: list = []
    for entry in entries:
        if coded and coded[-2] == entry:
            coded[-1] += 1
        else:
            coded += [entry, 1]
    return coded


def shown_values(values: np.ndarray) -> list:
    """Return the values as texts for the cells of an array, encoded by ``runs``.

    Whole numbers below 10,000 in absolute value are written in full, other finite real numbers with
    three significant digits, and all others as Python writes them.
    """
    return runs([_short(value) for value in values.ravel().tolist()])


def _short(value) -> str:
    """Return a number as a short text, such as ``12``, ``.5`` or ``1.2e5``.

    A whole number below 10,000 in absolute value is written in full, and any other real number with
    three significant digits. A complex number, an infinity and a NaN are as Python writes them.
    """
    if isinstance(value, complex) or not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 10_000:
        return str(int(value))
    short = f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")
    return short.replace("0.", ".", 1) if abs(value) < 1 else short
