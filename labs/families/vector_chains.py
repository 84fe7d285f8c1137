"""The steps of a micro-kernel that wait for each other, found by the rounding of float32.

A float32 loses each 1 that is added to 2^24. So if one term of a sum is 2^24 and others are 1, the
sum lacks the ones that are added to the same chain later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.job import Shape
from labs.checking.run import Run, run_kernel
from labs.checking.target import Target, essential
from labs.families.micro_kernels import LANES, ROWS, operators
from labs.targets.chains import LARGE
from utils.translation import translate

MORE = 3  # how many lengths of a longer sum are drawn
LAST = 8  # multiply-adds of vectors that add the sums of the rows at the end
WHOLE = 8  # with a multiple of these steps, both chains have the same even number of steps
ROUNDED = 2  # ones that may be lost where the sums of a row are added at the end


def steps_in_a_chain(k: int) -> Target:
    """Return the target that at most half of a row's steps along k are added to the same sum.

    The steps of a sum form a chain, because each addition needs the result of the one before. The
    count is the number of steps in the chain of row 0's first step. It is found at the first shape,
    which has `k` steps; at a shape with another number of steps it is scaled to `k`. It is `k`,
    too, if in row 1 neighbouring steps are added to the same sum, and if more than LAST
    multiply-adds do not belong to a step, because these could join the chains. If the number of
    steps is not a multiple of WHOLE, a count that exceeds the limit by less than 1 is returned as
    the limit. The launch has two to four times `k` steps, drawn from the seed, and as many more as
    the shape has left over, so that chains are long enough to be seen and a kernel cannot know
    their length.
    """
    at_most = k // 2

    def longer(run: Run) -> Run:
        return run.at((k * (2 + run.seed % MORE) + run.shape[0] % WHOLE,))

    def measure(run: Run) -> float:
        run = longer(run)
        longest, together = _chains(run)
        hidden = together or _others(run) > LAST
        count = k if hidden else longest * k / run.shape[0]
        return at_most if at_most < count < at_most + 1 and run.shape[0] % WHOLE else count

    def cause(run: Run, value: float) -> str:
        run = longer(run)
        longest, _ = _chains(run)
        if (others := _others(run)) > LAST:
            return translate(
                "{steps} steps need {needed} multiply-adds of vectors, and the kernel makes "
                "{others} more. To add the sums at the end it needs {last} at most. A sum that is "
                "added to another one in the loop must wait for it.",
                steps=run.shape[0],
                needed=ROWS * run.shape[0],
                others=others,
                last=LAST,
            )
        if 2 * longest > run.shape[0]:
            return translate(
                "{terms} of the {steps} steps of row 0 are added to one sum, each to the result "
                "of the one before, and the target is {fewer}. Rounding shows it: a product of "
                "2^24 makes all ones that follow in its chain disappear.",
                terms=longest,
                steps=run.shape[0],
                fewer=run.shape[0] // 2,
            )
        first, *others = _order_of_steps(run)[1:]
        return translate(
            "in row 1, some of the steps {later} … are added to the same sum as step {first}. "
            "Steps that follow each other need different sums, in both rows.",
            later=", ".join(map(str, others[:6:2])),
            first=first,
        )

    words = "two neighbouring steps never add to the same sum, and each sum gets half of the steps"
    return essential(Target("steps in the longest chain", at_most, words, measure, cause))


def _others(run: Run) -> int:
    """Return how many multiply-adds of vectors a kernel makes besides one per row and step."""
    made = run.trace.totals["float32_ops"] // (2 * LANES)
    return int(made) - ROWS * run.shape[0]


def _chains(run: Run) -> tuple[int, int]:
    """Return two numbers of steps that the results of another launch show by rounding.

    The first number is how many steps are in the same chain as the first step of row 0. The second
    one is how many of the steps 2, 4, 6, … of row 1 are in the same chain as step 1, counted from 0
    in the order in which the kernel loads the vectors of b; it is 0 if they are too few to tell.
    The launch has the inputs of `_large_terms`. If the kernel does not load each step of b, the
    result is (number of steps, 0).
    """
    order = _order_of_steps(run)
    if len(order) != run.shape[0]:
        return run.shape[0], 0
    job = replace(run.job, inputs=partial(_large_terms, order))
    again = run_kernel(job, run.kernel, run.shape, run.patience, counts=False)
    missing = again.right - again.out.astype(np.float64)
    waiting = int(missing[LANES])
    return int(missing[0]) + 1, waiting if waiting > ROUNDED else 0


def _order_of_steps(run: Run) -> list[int]:
    """Return the steps along k in the order in which the kernel first loads their vector of b.

    A step is its number from 0, and each is there once.
    """
    name = run.names["b"]
    loads = [one for one in run.samples[0].events if (one.array, one.kind) == (name, "load")]
    return list(dict.fromkeys(int(one.first[0]) // LANES for one in loads))


def _large_terms(order: Sequence[int], shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (a, b), flat float32 panels whose product shows by rounding which steps share a chain.

    All of b is 1. In row 0 of a, the first step is 2^24 and all others are 1; the second one is 0
    if this makes the number of ones in the other chain even. In row 1, the second step is 2^24,
    every second one after it is 1, and all others are 0. The number of these ones is even, so that
    their sum can be added to 2^24. order: the steps in the order in which the kernel takes them.
    shape: (k,). seed: not used.
    """
    (k,) = shape
    a = np.zeros((k, ROWS), np.float32)
    a[:, 0], a[order[0], 0] = 1, LARGE
    a[order[1], 0] = k // 2 % 2 == 0  # each half has an even number of ones
    a[order[1], 1] = LARGE
    a[order[2 : 2 + (k - 2) // 4 * 4 : 2], 1] = 1
    return a.ravel(), np.ones(k * LANES, np.float32)


def added_with_a_sign(kernel, message: str) -> str | None:
    """Return a sentence if the compiler refuses `+` or `*` between vectors, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    return operators(kernel, message) if "<built-in function" in message else None
