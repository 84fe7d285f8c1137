"""Numbers of many threads in few: what player.js takes apart again."""

from __future__ import annotations

import math

import numpy as np


def addresses(first: np.ndarray, block: tuple[int, int, int]) -> dict:
    """One element number per thread, -1 where it takes no part.

    ``at``: [offset, per x, per y, per z] where that gives all of them, else ``steps``: differences
    from one to the next, as runs. ``who``: [first, length, ...] of the threads that take part,
    where not all do.
    """
    number, active = np.arange(len(first)), np.flatnonzero(first >= 0)
    x, y, _ = block
    place = np.stack([np.ones_like(number), number % x, number // x % y, number // (x * y)], 1)
    chosen = place[active].astype(float)
    fit, *_ = np.linalg.lstsq(chosen, first[active].astype(float), rcond=None)
    fit = np.rint(fit).astype(int)
    if (place[active] @ fit == first[active]).all():
        code: dict = {"at": fit.tolist()}
    else:
        code = {"steps": runs(np.diff(first[active], prepend=0).tolist())}
    if len(active) < len(first):
        code["who"] = spans(active)
    return code


def spans(numbers: np.ndarray) -> list[int]:
    """Rising numbers as [first, length, first, length, ...]."""
    starts = np.flatnonzero(np.r_[True, np.diff(numbers) != 1])
    lengths = np.diff(np.r_[starts, len(numbers)])
    return np.stack([numbers[starts], lengths], 1).ravel().tolist()


def runs(entries: list) -> list:
    """Entries as [entry, how often, entry, how often, ...]."""
    coded: list = []
    for entry in entries:
        if coded and coded[-2] == entry:
            coded[-1] += 1
        else:
            coded += [entry, 1]
    return coded


def shown_values(values: np.ndarray) -> list:
    """Values as they are written into a cell, as runs: at most three digits that count."""
    return runs([_short(value) for value in values.ravel().tolist()])


def _short(value) -> str:
    if isinstance(value, complex) or not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 10_000:
        return str(int(value))
    short = f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")
    return short.replace("0.", ".", 1) if abs(value) < 1 else short
