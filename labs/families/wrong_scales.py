"""Probes for kernels that should multiply x by a factor and store something else.

They determine from the values of the result what was stored. Some launch the kernel again with
another factor. The job's parameters are x, the factor and the result.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labs.checking.run import Run, run_kernel
from utils.translation import translate
from virtual_gpu import VirtualGpuError

CHANGED = 2.75  # is added to the factor


def another_number(run: Run) -> str | None:
    """Return sentences if the result is x times another number than the factor, or None.

    The sentences also say so if the kernel does not use the factor.
    """
    x, factor = run.inputs
    largest = int(np.abs(x).argmax())
    times = float(run.out[largest]) / float(x[largest])
    if not np.allclose(run.out, times * x.astype(np.float64), rtol=1e-5):
        return None
    names = {"x": run.names["x"], "factor": run.names["factor"]}
    if times == -float(factor):
        return translate("Every element has the wrong sign.")
    told = translate(
        "Each element is {times:.6g} times the one of `{x}`, and `{factor}` is {value:g}.",
        times=times,
        value=factor,
        **names,
    )
    return " ".join(filter(None, (told, unused_factor(run))))


def unused_factor(run: Run) -> str | None:
    """Return a sentence if the result is the same with another factor, else None.

    The kernel is launched again with that factor. Also returns None if this launch fails.
    """
    other = replace(
        run.job, inputs=lambda shape, seed: (run.inputs[0], np.float32(run.inputs[1] + CHANGED))
    )
    try:
        again = run_kernel(other, run.kernel, run.shape, run.patience, counts=False)
    except VirtualGpuError:
        return None
    if not np.array_equal(again.out, run.out, equal_nan=True):
        return None
    return translate(
        "`{factor}` is not used: with another value of it the result is the same.",
        factor=run.names["factor"],
    )


def changed_elements(run: Run) -> str | None:
    """Return a sentence if the kernel used |x|, or x without its fractions, instead of x.

    Returns None otherwise.
    """
    x, factor = run.inputs
    name = run.names["x"]
    if np.array_equal(run.out, run.job.reference(np.abs(x), factor)):
        return translate(
            "The result is that of `abs({x}[i])`: negative elements have lost their sign.", x=name
        )
    if np.array_equal(run.out, run.job.reference(np.trunc(x), factor)):
        return translate(
            "The result is that of `int({x}[i])`: the fraction of each element is cut off.", x=name
        )
    return None


# In the order in which they are called.
WRONG_SCALES = (another_number, changed_elements, unused_factor)
