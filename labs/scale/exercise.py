"""The first kernel: each thread scales one element."""

import numpy as np

from labs.run import Run
from labs.targets import (
    full_requests,
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.vectors import elementwise, numbers


def inputs(shape, seed):
    """x and factor, which is another one at each length; their products are exact."""
    return numbers(shape, seed), np.float32(shape[0] % 7 + 0.5)


def reference(x, factor):
    """factor · x, float64."""
    return x.astype(np.float64) * float(factor)


def other_arithmetic(seen: Run) -> str | None:
    """Other things that a kernel may do with x[i] and factor."""
    x, factor = (np.asarray(one, np.float64) for one in seen.inputs)
    number = np.arange(x.size)
    known = {
        "Each element is `factor + x[i]`: they are added, and not multiplied.": x + factor,
        "Each element is `x[i] - factor`, and not their product.": x - factor,
        "Each element is multiplied with `factor` twice.": factor * factor * x,
        "Each element is the one of `x`: `factor` is not in the result.": x,
        "Each element is divided by `factor`.": (x.astype(np.float32) / np.float32(factor)),
        "Each element is `x[i] * x[i]`: `factor` is not in the result.": x * x,
        "Each element is `factor * i`: the number of the element is scaled, and not `x[i]`.": (
            factor * number
        ),
        "Each element is `factor` alone: nothing of `x` is in the result.": factor + 0 * x,
        "Each element is `i`, the number of the element.": number,
        "Every element has the wrong sign.": -factor * x,
    }
    for sentence, value in known.items():
        if x.size > 1 and np.array_equal(seen.out, value):
            return sentence
    ratios = np.unique(seen.out.astype(np.float64) / x)
    if x.size > 1 and ratios.size == 1:
        return f"Each element is {ratios[0]:g} times the one of `x`, and `factor` is {factor:g}."
    return None


EXERCISE = elementwise(
    name="scale",
    lesson="00",
    title="Your first kernel",
    text=(
        "Write a kernel `scale(x, factor, out)` that stores `factor · x[i]` in `out[i]`, for every "
        "element. All threads execute the same lines, and each takes care of one element. About 3 "
        "lines.",
        "The launch is given: blocks of 256 threads, and as many of them as it takes to have a "
        "thread for each element. So the last block may have threads without an element.",
    ),
    parameters=("x", "factor", "out"),
    shapes=((1024,), (1000,), (257,), (31,), (1,)),
    inputs=inputs,
    reference=reference,
    wrong=(other_arithmetic,),
    targets=(
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        full_requests(),
    ),
    hints=(
        "Which element is yours? `cuda.grid(1)` is the number of your thread in the whole launch.",
        "1000 elements need 4 blocks of 256 threads, which are 1024 threads. What must the last 24 "
        "of them not do?",
        "Ask first whether there is such an element, `i < out.size`, and store under that test.",
    ),
    after="Each thread has done one element, and neighbouring threads have done neighbours.",
)
