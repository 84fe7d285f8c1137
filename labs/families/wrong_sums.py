"""Which elements a wrong sum of a block holds: the kernel is launched again with other numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.phrasing import counted, element
from labs.checking.run import Run, run
from labs.families.sums import Sums
from virtual_gpu import VirtualGpuError

DIGITS, BASE = 8, 8  # 8 digits of 3 bits: float32 holds every whole number below 2^24
MOST = 4096  # its square is 2^24
PAIRS = "Which pairs of words does each step add, and where does it leave their sums?"


def wrong_sums(sums: Sums) -> tuple[Callable[[Run], str | None], ...]:
    """Return what wrong sums show, in the order in which it is asked."""
    every = (
        partial(_every_one_so_often, sums),
        partial(_of_another_block, sums),
        partial(_how_often_each, sums),
        partial(_largest, sums),
        partial(_no_sum, sums),
        partial(_one_by_one, sums),
        partial(_right_ones, sums),
    )
    return (_not_from_x, *every)


def _again(seen: Run, x: np.ndarray) -> np.ndarray | None:
    """The result of the same kernel for other numbers, float64; None where it does not run."""
    other = replace(seen.job, inputs=lambda shape, seed: (x, *seen.inputs[1:]))
    try:
        return run(other, seen.kernel, seen.shape, seen.patience).out.astype(np.float64)
    except VirtualGpuError:
        return None


def _first_wrong(seen: Run) -> int:
    return int(np.flatnonzero(seen.wrong)[0])


def _not_from_x(seen: Run) -> str | None:
    """Where all of x is zero, the sums are not."""
    first = _first_wrong(seen)
    out = _again(seen, np.zeros(seen.shape[0], np.float32))
    if out is None or out[first] == 0:
        return None
    x = seen.names["x"]
    return (
        f"Also where all of `{x}` is zero, {element(seen.result, [first])} is {out[first]:g}: "
        f"something is added that does not come from `{x}`."
    )


def _every_one_so_often(sums: Sums, seen: Run) -> str | None:
    """The sum is a multiple of the right one."""
    first = _first_wrong(seen)
    if len(sums.own(first, seen.shape[0])) < 2:
        return None
    times = seen.out[first] / seen.right[first]
    if times < 2 or times != round(times):
        return None
    return f"Every element counts {times:g} times in {element(seen.result, [first])}."


def _of_another_block(sums: Sums, seen: Run) -> str | None:
    """Elements in a sum that belong to another one."""
    first, n = _first_wrong(seen), seen.shape[0]
    own = sums.own(first, n)
    if len(own) == n:
        return None
    x = np.full(n, MOST, np.float32)
    x[own.start : own.stop] = 1
    out = _again(seen, x)
    if out is None or not np.isfinite(out[first]) or out[first] < MOST:
        return None
    for other in range(seen.out.size):
        theirs = sums.own(other, n)
        if other == first:
            continue
        x = np.zeros(n, np.float32)
        x[theirs.start : theirs.stop] = 1
        count = _again(seen, x)[first]
        if count > 0:
            first_of, last_of = (f"`{seen.names['x']}[{at}]`" for at in (theirs[0], theirs[-1]))
            return (
                f"{counted(round(count), 'addition')} to this sum "
                f"{'takes' if count == 1 else 'take'} elements from {first_of} to {last_of}. These "
                f"belong to block {other}, whose sum is {element(seen.result, [other])}."
            )
    return None


def _times_each(sums: Sums, seen: Run, result: int) -> np.ndarray | None:
    """How often each of its own elements is in a sum: whole numbers below 8.

    None where they do not explain the wrong value.
    """
    own = sums.own(result, seen.shape[0])
    times = np.zeros(len(own))
    for start in range(0, len(own), DIGITS):
        few = own[start : start + DIGITS]
        x = np.zeros(seen.shape[0], np.float32)
        x[few.start : few.stop] = float(BASE) ** np.arange(len(few))
        out = _again(seen, x)
        if out is None or not np.isfinite(out[result]) or not 0 <= out[result] < BASE**DIGITS:
            return None
        times[start : start + len(few)] = int(out[result]) // BASE ** np.arange(len(few)) % BASE
    explained = times @ seen.inputs[0][own.start : own.stop].astype(np.float64)
    return times if explained == seen.out[result] else None


def _how_often_each(sums: Sums, seen: Run) -> str | None:
    """Elements that are missing, or count more than once."""
    first = _first_wrong(seen)
    times = _times_each(sums, seen, first)
    if times is None:
        return None
    own, name = sums.own(first, seen.shape[0]), seen.names["x"]
    lost, kept = np.flatnonzero(times == 0), np.flatnonzero(times)
    if kept.size == 1:
        often = "" if times[kept[0]] == 1 else f" {times[kept[0]]:g} times"
        held = f"This sum holds {element(name, [own[kept[0]]])}{often} and nothing else."
        if first != 1 or len(own) == 1:
            return held
        return (
            f"{held} That of block 0 is right. Which number in the tree is another one in each "
            "block?"
        )
    said, twice = [], np.flatnonzero(times > 1)
    if lost.size:
        which = f"{lost.size} of its {len(own)} elements" if len(own) > 1 else "its only element"
        said.append(f"This sum lacks {which}: {_few(name, own, lost)}.")
        said.append(_why_lost(seen, lost, len(own), bool(twice.size)))
    if twice.size == 1:
        said.append(f"{_few(name, own, twice)} counts {times[twice[0]]:g} times.")
    elif twice.size:
        most = times.max()
        often = f"all {most:g} times" if times[twice].min() == most else f"up to {most:g} times"
        many = f"{twice.size} of its {len(own)} elements count more than once"
        said.append(f"{many}, {often}: {_few(name, own, twice)}.")
    return " ".join(one for one in said if one) or None


def _few(name: str, own: range, which: np.ndarray) -> str:
    if which.size > 3 and which[-1] - which[0] == which.size - 1:
        return f"{element(name, [own[which[0]]])} to {element(name, [own[which[-1]]])}"
    first = ", ".join(element(name, [own[one]]) for one in which[:3])
    return first + (" …" if which.size > 3 else "")


def _why_lost(seen: Run, lost: np.ndarray, length: int, others_twice: bool) -> str:
    """Elements that are never loaded; steps of a tree that are missing; else a question."""
    n, loaded = seen.shape[0], seen.total("x", "load", "words")
    if loaded < n:
        what = f"{counted(loaded, 'word')} of `{seen.names['x']}`"
        return f"In all, {what} {'is' if loaded == 1 else 'are'} loaded, and it has {n:,}."
    # A step of the distance 2^b adds what has the bit b in its number.
    bits = [1 << bit for bit in range(length.bit_length()) if 1 << bit in lost]
    if np.array_equal(lost, np.flatnonzero(np.arange(length) & sum(bits))):
        apart = " and ".join(filter(None, (", ".join(map(str, bits[:-1])), str(bits[-1]))))
        return f"What lies {apart} apart is never added."
    if others_twice:
        return ""
    if lost[-1] - lost[0] == lost.size - 1:
        return "They are loaded. What becomes of them?"
    return PAIRS


def _largest(sums: Sums, seen: Run) -> str | None:
    """The maximum, or the minimum, of a block."""
    first = _first_wrong(seen)
    own = sums.own(first, seen.shape[0])
    part = seen.inputs[0][own.start : own.stop]
    for what, value in (("largest", part.max()), ("smallest", part.min())):
        if part.size > 1 and seen.out[first] == value:
            return f"That is the {what} of its elements, and not their sum."
    return None


def _no_sum(sums: Sums, seen: Run) -> str | None:
    """Twice the numbers do not give twice the result."""
    first, ones = _first_wrong(seen), np.ones(seen.shape[0], np.float32)
    once, twice = _again(seen, ones), _again(seen, 2 * ones)
    if once is None or twice is None or twice[first] == 2 * once[first]:
        return None
    return (
        f"Where all elements of `{seen.names['x']}` are 1 it is {once[first]:g}, and where all are "
        f"2 it is {twice[first]:g}. A sum would be twice as large."
    )


def _one_by_one(sums: Sums, seen: Run) -> str | None:
    """How often single elements are in a sum, where that is not said by digits."""
    first, n = _first_wrong(seen), seen.shape[0]
    own = sums.own(first, n)
    for place in (0, *(1 << bit for bit in range(len(own).bit_length())), len(own) - 1):
        if place >= len(own):
            continue
        x = np.zeros(n, np.float32)
        x[own[place]] = 1
        out = _again(seen, x)
        if out is not None and np.isfinite(out[first]) and out[first] != 1:
            name = element(seen.names["x"], [own[place]])
            if out[first] == 0:
                return f"{name} is not in this sum. {PAIRS}"
            return f"{name} counts {out[first]:g} times in this sum, and not once."
    return None


def _right_ones(sums: Sums, seen: Run) -> str | None:
    """The wrong sums are those of the last block, which is not full."""
    wrong = np.flatnonzero(seen.wrong)
    n, last = seen.shape[0], seen.out.size - 1
    if sums.whole or not np.array_equal(wrong, [last]) or n % sums.per_block == 0 or last == 0:
        return None
    return (
        f"Only the sum of the last block is wrong, which has {len(sums.own(last, n))} elements for "
        f"{sums.per_block}."
    )
