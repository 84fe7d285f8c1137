"""Probes for wrong sums of blocks: they launch the kernel again with chosen inputs.

From the results they determine which elements of x a wrong sum holds, and how often.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.phrasing import counted, element
from labs.checking.run import Run, run_kernel
from labs.families.sums import Sums
from utils.translation import translate
from virtual_gpu import VirtualGpuError

DIGITS, BASE = 8, 8  # 8 digits of 3 bits, because float32 holds every whole number below 2^24
MOST = 4096  # the square root of 2^24
PAIRS = "Which pairs of words does each step add, and where does it leave their sums?"


def wrong_sums(sums: Sums) -> tuple[Callable[[Run], str | None], ...]:
    """Return the probes for wrong sums, in the order in which they are called.

    Each takes a run and returns sentences on the mistake, or None if it does not recognise one.
    sums: which elements each right sum adds.
    """
    every = (
        partial(_every_element_repeated, sums),
        partial(_of_another_block, sums),
        partial(_counts_by_element, sums),
        partial(_largest, sums),
        partial(_not_linear, sums),
        partial(_one_by_one, sums),
        partial(_last_block, sums),
    )
    return (_not_from_x, *every)


def _run_with(run: Run, x: np.ndarray) -> np.ndarray | None:
    """Launch the kernel again with another x and return its result as a float64 array.

    Returns None if the launch fails.
    """
    other = replace(run.job, inputs=lambda shape, seed: (x, *run.inputs[1:]))
    try:
        again = run_kernel(other, run.kernel, run.shape, run.patience, counts=False)
    except VirtualGpuError:
        return None
    return again.out.astype(np.float64)


def _first_wrong(run: Run) -> int:
    """Return the index of the first wrong element of the result."""
    return int(np.flatnonzero(run.wrong)[0])


def _not_from_x(run: Run) -> str | None:
    """Return a sentence if the first wrong sum is not zero although all of x is zero, else None.

    The kernel is launched again with such an x. Also returns None if this launch fails.
    """
    first = _first_wrong(run)
    out = _run_with(run, np.zeros(run.shape[0], np.float32))
    if out is None or out[first] == 0:
        return None
    x = run.names["x"]
    return translate(
        "Also where all of `{x}` is zero, {element} is {out:g}: something is added that does "
        "not come from `{x}`.",
        x=x,
        element=element(run.result, [first]),
        out=out[first],
    )


def _every_element_repeated(sums: Sums, run: Run) -> str | None:
    """Return a sentence if the first wrong sum is 2, 3, … times the right one, else None.

    Also returns None for a sum of one element.
    """
    first = _first_wrong(run)
    if len(sums.elements_of(first, run.shape[0])) < 2:
        return None
    times = run.out[first] / run.right[first]
    if times < 2 or times != round(times):
        return None
    return translate(
        "Every element counts {times:g} times in {element}.",
        times=times,
        element=element(run.result, [first]),
    )


def _of_another_block(sums: Sums, run: Run) -> str | None:
    """Return sentences if the first wrong sum holds elements of another block's sum, else None."""
    first, n = _first_wrong(run), run.shape[0]
    own = sums.elements_of(first, n)
    if len(own) == n:
        return None
    x = np.full(n, MOST, np.float32)
    x[own.start : own.stop] = 1
    out = _run_with(run, x)
    if out is None or not np.isfinite(out[first]) or out[first] < MOST:
        return None
    for other in range(run.out.size):
        others = sums.elements_of(other, n)
        if other == first:
            continue
        x = np.zeros(n, np.float32)
        x[others.start : others.stop] = 1
        count = _run_with(run, x)[first]
        if count > 0:
            first_of, last_of = (f"`{run.names['x']}[{at}]`" for at in (others[0], others[-1]))
            return (
                f"{_as_many(run, first, own)}{counted(round(count), 'addition')} to this sum "
                f"{'takes' if count == 1 else 'take'} elements from {first_of} to {last_of}. These "
                f"belong to block {other}, whose sum is {element(run.result, [other])}."
            )
    return None


def _as_many(run: Run, result: int, own: range) -> str:
    """Return a sentence and a space if a wrong sum adds the right number of elements, else "".

    The elements themselves are others than the task asks for. result: the index of the sum. own:
    the indices of the elements that the task asks for.
    """
    out = _run_with(run, np.ones(run.shape[0], np.float32))
    if out is None or out[result] != len(own):
        return ""
    told = translate(
        "This sum has {elements}, as many as the task asks for, but other ones than {first} to "
        "{last}.",
        elements=counted(len(own), "element"),
        first=element(run.names["x"], [own[0]]),
        last=element(run.names["x"], [own[-1]]),
    )
    return f"{told} "


def _element_counts(sums: Sums, run: Run, result: int) -> np.ndarray | None:
    """Return how often one sum adds each of its own elements, a float64 array of whole numbers.

    The array has one entry per element that the task asks for, each from 0 to 7. Returns None if
    these numbers do not explain the wrong value, or if a launch fails. The kernel is launched once
    per 8 elements. result: the index of the sum.
    """
    own = sums.elements_of(result, run.shape[0])
    times = np.zeros(len(own))
    for start in range(0, len(own), DIGITS):
        few = own[start : start + DIGITS]
        x = np.zeros(run.shape[0], np.float32)
        x[few.start : few.stop] = float(BASE) ** np.arange(len(few))
        out = _run_with(run, x)
        if out is None or not np.isfinite(out[result]) or not 0 <= out[result] < BASE**DIGITS:
            return None
        times[start : start + len(few)] = int(out[result]) // BASE ** np.arange(len(few)) % BASE
    explained = times @ run.inputs[0][own.start : own.stop].astype(np.float64)
    return times if explained == run.out[result] else None


def _counts_by_element(sums: Sums, run: Run) -> str | None:
    """Return sentences on elements that the first wrong sum lacks or repeats, or None.

    Returns None, too, if it cannot be found out how often each element counts.
    """
    first = _first_wrong(run)
    times = _element_counts(sums, run, first)
    if times is None:
        return None
    own, name = sums.elements_of(first, run.shape[0]), run.names["x"]
    lost, kept = np.flatnonzero(times == 0), np.flatnonzero(times)
    if kept.size == 1:
        often = "" if times[kept[0]] == 1 else f" {times[kept[0]]:g} times"
        sentence = f"This sum holds {element(name, [own[kept[0]]])}{often} and nothing else."
        if first != 1 or len(own) == 1:
            return sentence
        return translate(
            "{sentence} That of block 0 is right. Which number in the tree is another one in "
            "each block?",
            sentence=sentence,
        )
    sentences, twice = [], np.flatnonzero(times > 1)
    if lost.size:
        which = f"{lost.size} of its {len(own)} elements" if len(own) > 1 else "its only element"
        sentences.append(f"This sum lacks {which}: {_few(name, own, lost)}.")
        sentences.append(_why_lost(run, lost, len(own), bool(twice.size)))
    if twice.size == 1:
        sentences.append(f"{_few(name, own, twice)} counts {times[twice[0]]:g} times.")
    elif twice.size:
        most = times.max()
        often = f"all {most:g} times" if times[twice].min() == most else f"up to {most:g} times"
        many = f"{twice.size} of its {len(own)} elements count more than once"
        sentences.append(f"{many}, {often}: {_few(name, own, twice)}.")
    return " ".join(one for one in sentences if one) or None


def _few(name: str, own: range, which: np.ndarray) -> str:
    """Return a phrase on elements of x: a range if they are consecutive, else the first three.

    name: the reader's name of x. own: the indices of a sum's elements. which: positions in `own`.
    """
    if which.size > 3 and which[-1] - which[0] == which.size - 1:
        return f"{element(name, [own[which[0]]])} to {element(name, [own[which[-1]]])}"
    first = ", ".join(element(name, [own[one]]) for one in which[:3])
    return first + (" …" if which.size > 3 else "")


def _why_lost(run: Run, lost: np.ndarray, length: int, others_twice: bool) -> str:
    """Return a sentence on why a sum lacks elements, a question to the reader, or "".

    The sentence says that they are never loaded, or that a step of the tree is missing. If neither
    is so, a question is returned, or "" if other elements count more than once. lost: the positions
    of the missing elements in the sum. length: the number of elements of the sum. others_twice:
    True if other elements count more than once.
    """
    n, loaded = run.shape[0], run.total("x", "load", "words")
    if loaded < n:
        what = f"{counted(loaded, 'word')} of `{run.names['x']}`"
        counts = f"In all, {what} {'is' if loaded == 1 else 'are'} loaded, and it has {n:,}."
        return " ".join(filter(None, (counts, _chosen_sum(run))))
    # A step of the tree with the distance 2^b adds the elements whose index has bit b set.
    bits = [1 << bit for bit in range(length.bit_length()) if 1 << bit in lost]
    if np.array_equal(lost, np.flatnonzero(np.arange(length) & sum(bits))):
        distances = " and ".join(filter(None, (", ".join(map(str, bits[:-1])), str(bits[-1]))))
        return translate("What lies {distances} apart is never added.", distances=distances)
    if others_twice:
        return ""
    if lost[-1] - lost[0] == lost.size - 1:
        return translate("They are loaded. What becomes of them?")
    return PAIRS


def _chosen_sum(run: Run) -> str | None:
    """Return a sentence on a conditional expression that decides on a sum with x, or None.

    Python reads `a + b if test else c` as `(a + b) if test else c`.
    """
    x = run.names["x"]
    for node in ast.walk(run.tree):
        if not isinstance(node, ast.IfExp):
            continue
        is_first = _adds_element(node.body, x) and not _elements(node.orelse, x)
        if is_first or _adds_element(node.orelse, x):
            return translate(
                "The `if` in line {line} decides on `{body}` or `{orelse}`, and not on one element "
                "alone: a parenthesis is missing.",
                line=node.lineno,
                body=ast.unparse(node.body),
                orelse=ast.unparse(node.orelse),
            )
    return None


def _adds_element(node: ast.expr, x: str) -> bool:
    """Return True for a sum with an element of the array x as one of its terms."""
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    return is_sum and any(one in (node.left, node.right) for one in _elements(node, x))


def _elements(node: ast.expr, x: str) -> list[ast.Subscript]:
    """Return the elements of the array x in an expression."""
    found = (one for one in ast.walk(node) if isinstance(one, ast.Subscript))
    return [one for one in found if ast.unparse(one.value) == x]


def _largest(sums: Sums, run: Run) -> str | None:
    """Return a sentence if the first wrong sum is its elements' maximum or minimum, else None.

    Also returns None for a sum of one element.
    """
    first = _first_wrong(run)
    own = sums.elements_of(first, run.shape[0])
    part = run.inputs[0][own.start : own.stop]
    for what, value in (("largest", part.max()), ("smallest", part.min())):
        if part.size > 1 and run.out[first] == value:
            return translate("That is the {what} of its elements, and not their sum.", what=what)
    return None


def _not_linear(sums: Sums, run: Run) -> str | None:
    """Return a sentence if doubling x does not double the first wrong sum, else None.

    The kernel is launched again with an x of ones and with an x of twos. Also returns None if one
    of these launches fails.
    """
    first, ones = _first_wrong(run), np.ones(run.shape[0], np.float32)
    once, twice = _run_with(run, ones), _run_with(run, 2 * ones)
    if once is None or twice is None or twice[first] == 2 * once[first]:
        return None
    return translate(
        "Where all elements of `{x}` are 1 it is {once:g}, and where all are 2 it is "
        "{twice:g}. A sum would be twice as large.",
        x=run.names["x"],
        once=once[first],
        twice=twice[first],
    )


def _one_by_one(sums: Sums, run: Run) -> str | None:
    """Return a sentence on one missing or repeated element of the first wrong sum, or None.

    Only the sum's first and last elements and those at powers of two are tried, with one launch
    each.
    """
    first, n = _first_wrong(run), run.shape[0]
    own = sums.elements_of(first, n)
    for position in (0, *(1 << bit for bit in range(len(own).bit_length())), len(own) - 1):
        if position >= len(own):
            continue
        x = np.zeros(n, np.float32)
        x[own[position]] = 1
        out = _run_with(run, x)
        if out is not None and np.isfinite(out[first]) and out[first] != 1:
            name = element(run.names["x"], [own[position]])
            if out[first] == 0:
                return translate("{name} is not in this sum. {pairs}", name=name, pairs=PAIRS)
            return translate(
                "{name} counts {out:g} times in this sum, and not once.", name=name, out=out[first]
            )
    return None


def _last_block(sums: Sums, run: Run) -> str | None:
    """Return a sentence if only the sum of the last, partial block is wrong, else None."""
    wrong = np.flatnonzero(run.wrong)
    n, last = run.shape[0], run.out.size - 1
    if sums.whole or not np.array_equal(wrong, [last]) or n % sums.per_block == 0 or last == 0:
        return None
    return translate(
        "Only the sum of the last block is wrong, which has {count} elements for {per_block}.",
        count=len(sums.elements_of(last, n)),
        per_block=sums.per_block,
    )
