"""The target that a kernel is right for numbers of another size, and not for whole numbers alone.

The inputs of sums and products are whole numbers, so that results are exact. A kernel could convert
them to integers, and add these. It would be wrong for all numbers with fractions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.job import Shape
from labs.checking.phrasing import counted, element
from labs.checking.run import Run, run_kernel
from labs.checking.target import Target, essential
from utils.translation import translate
from virtual_gpu import VirtualGpuError

SMALLEST = 20  # the inputs are divided by 2 to this power at least
POWERS = 10  # from which one is drawn


def right_for_small_numbers() -> Target:
    """Return the target that a kernel is right if its inputs are divided by a power of two.

    The power is drawn from the seed of the run. The sums and products of floats stay exact, and
    integers become zero. One block is launched again; the count is the number of elements that it
    stores with another value than the right one. If this launch fails, the count is the number of
    all elements of the result.
    """

    def wrong(run: Run) -> tuple[Run, np.ndarray]:
        """Return the run with small numbers, and which elements are stored with a wrong value.

        The latter is a bool array of the result's shape. Only the drawn block is launched.
        """
        power = SMALLEST + run.seed % POWERS
        job = replace(run.job, inputs=partial(_divided, run.job.inputs, power))
        block = run.drawn_block
        again = run_kernel(
            job, run.kernel, run.shape, run.patience, blocks=1, record=block, seed=run.seed,
            counts=False,
        )  # fmt: skip
        return again, ~again.unwritten & again.wrong

    def measure(run: Run) -> float:
        try:
            return float(wrong(run)[1].sum())
        except VirtualGpuError:
            return float(run.out.size)

    def cause(run: Run, value: float) -> str:
        again, where = wrong(run)
        first = tuple(map(int, np.argwhere(where)[0]))
        return translate(
            "if the numbers of the input are 2^{power} times smaller, {elements} of a block are "
            "wrong, such as {element}: it is {value:.3g}, and {right:.3g} is right. Is a number "
            "converted to an integer?",
            power=SMALLEST + run.seed % POWERS,
            elements=counted(int(value), "element"),
            element=element(run.result, first),
            value=float(again.out[first]),
            right=float(again.right[first]),
        )

    words = "right for numbers with fractions, too"
    return essential(Target("elements wrong for small numbers", 0, words, measure, cause))


def _divided(inputs, power: int, shape: Shape, seed: int) -> tuple:
    """Return the inputs of a job, with all arrays of float32 divided by 2 to a power.

    inputs: returns the inputs for a shape and a seed.
    """
    given = inputs(shape, seed)
    return tuple(
        one / np.float32(2**power)
        if isinstance(one, np.ndarray) and one.dtype == np.float32
        else one
        for one in given
    )
