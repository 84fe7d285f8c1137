"""Three elementwise launches of a neural network in one kernel."""

from dataclasses import replace

import numpy as np

from labs.checking.job import Shape
from labs.checking.run import Run
from labs.checking.target import essential
from labs.families.vectors import drawn_factor, elementwise, signed_numbers
from labs.targets.counts import (
    no_float64,
    no_negative_index,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.registers import no_shared_memory
from labs.targets.sharing import elements_per_thread


def arguments(shape: Shape, seed: int) -> tuple[np.ndarray, np.float32, np.float32, np.ndarray]:
    """Return (x, mean, scale, y): float32 arrays of shape (n,) and two float32 numbers."""
    mean, scale = (drawn_factor(shape, own) for own in (seed, seed + 1000))
    return signed_numbers(shape, seed), mean, scale, 2 * signed_numbers(shape, seed + 1)


def added_and_cut(x: np.ndarray, mean: np.float32, scale: np.float32, y: np.ndarray) -> np.ndarray:
    """Return max((x - mean) · scale + y, 0) as a float64 array."""
    return np.maximum((x.astype(np.float64) - float(mean)) * float(scale) + y, 0)


STORES, FLOAT64 = one_store_per_element(), no_float64()


def through_memory(run: Run, value: float) -> str:
    """Return a sentence on too many stores into the result, for a target on stores.

    If the kernel also reads the result, the sentence says that its steps go through memory;
    otherwise it is the usual one of this target. value: the stores per element.
    """
    if not run.total(run.job.result, "load", "lanes"):
        return STORES.cause(run, value)
    return (
        f"the kernel stores {value:.3g} values per element in `{run.result}`, and reads them again "
        f"from there. `{run.result}` is memory, too, so each of these values passes it twice."
    )


def zero_of_float64(run: Run) -> str | None:
    """Return a remark if a right kernel works in float64, as `max(value, 0.0)` does, else None."""
    operations = FLOAT64.measure(run)
    return FLOAT64.cause(run, operations) if operations else None


EXERCISE = elementwise(
    name="fused",
    lesson="21",
    title="One launch for three",
    text=(
        "Write the kernel `fused(x, mean, scale, y, out)`. It does the work of the three launches: "
        "it takes `mean` from each element of `x`, multiplies by `scale`, adds the element of `y`, "
        "and stores the result in `out`, or 0 where the result is negative. About 4 lines.",
        "`mean` and `scale` are numbers. The launch is given: blocks of 256 threads, and a thread "
        "for each element. The last block may have threads without an element.",
    ),
    parameters=("x", "mean", "scale", "y", "out"),
    shapes=((1024,), (1000,), (257,), (31,), (1,)),
    inputs=arguments,
    reference=added_and_cut,
    targets=(
        no_negative_index(), essential(replace(STORES, cause=through_memory)),
        sectors_per_request(4), essential(elements_per_thread(1)), no_shared_memory(),
    ),
    main=("stores per element",),
    plain_goals=("right at any length", "each element of `out` is stored once"),
    plain_usual_goals=(
        "each thread stores one element, and neighbouring threads take neighbouring elements",
        "no index below 0",
    ),
    hints=(
        "The first two launches store their results only for the launch after them to read. A "
        "thread can keep such a value in a variable until the last step.",
        "`max` of two numbers works in a kernel, and so does an `if`. `float32(0)` is a zero "
        "that does not make the result float64.",
    ),
    remarks=(zero_of_float64,),
    after="The values between the steps stay in registers, and memory never sees them.",
)  # fmt: skip
