"""Check results: random inputs, an output full of NaN, a float64 reference, an error bound.

There are two kinds of inputs, because each one misses an error that the other one catches:

- "uniform": float32 from [-1, 1), signs mixed. Rounding errors appear, so the bound is tested.
- "integers": odd integers from -7 to 7. Every product and every partial sum is an integer below
  2^24 and therefore exact in float32, in any order. The result must equal the reference, so a
  single element that was skipped, read twice or read from the wrong address shows at any size.

An input of ones is not offered, because a kernel that reads the wrong row passes with ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from utils.ladder.shapes import GemmShape, ReduceShape
from utils.machine.versions import cupy

KINDS = ("integers", "uniform")


@dataclass(frozen=True, eq=False)
class Problem:
    """Inputs of a task at a shape and the reference result, with the error that is allowed.

    A result is right if ‖out - reference‖ / scale ≤ allowed and no element is NaN. `inputs` are
    arrays on the host, with the dtype of the task. `scale` is a norm of the result or of the
    inputs. `allowed` is 0 if float32 is exact for these inputs. `reference` is float64: a CuPy
    array if a GPU computed it and will compare, a NumPy array otherwise.
    """

    shape: GemmShape | ReduceShape
    inputs: tuple[np.ndarray, ...]
    reference: np.ndarray
    scale: float
    allowed: float


@dataclass(frozen=True)
class StepVerdict:
    """The judgement of one result; `str(verdict)` is a sentence on it.

    `error` is ‖out - reference‖ / scale, or infinity if the result contains NaN or has another
    shape. `allowed` is the greatest error of a right result. `unwritten` is the number of NaN.
    """

    error: float
    allowed: float
    unwritten: int = 0

    @property
    def passed(self) -> bool:
        """True if the error is at most the allowed error."""
        return self.error <= self.allowed

    def __str__(self) -> str:
        if self.passed:
            return f"right: error {self.error:.1e}, allowed {self.allowed:.1e}"
        if self.unwritten:
            return f"wrong: {self.unwritten} elements are NaN, never written or made from one"
        return f"wrong: error {self.error:.1e}, allowed {self.allowed:.1e}"


def draw(kind: str, size: int | tuple[int, ...], seed: int) -> np.ndarray:
    """Return a float32 array of random numbers, reproducible by the seed.

    kind: "integers" gives odd integers from -7 to 7, "uniform" gives numbers from [-1, 1). size:
    the number of elements or the shape.
    """
    generator = np.random.default_rng(seed)
    # Computed in place, because a sum may have 2^30 elements.
    if kind == "integers":
        values = generator.integers(-4, 4, size, np.int8).astype(np.float32)
        values *= np.float32(2)
        values += np.float32(1)
        return values
    values = generator.random(size, np.float32)
    values *= np.float32(2)
    values -= np.float32(1)
    return values


def bfloat16_bits(x: np.ndarray) -> np.ndarray:
    """Return float32 numbers rounded to bfloat16, to the nearest or the even one, as uint16 bits.

    bfloat16 is the upper half of float32. NumPy has no dtype for it. Must not hold NaN.
    """
    bits = x.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> 16).astype(
        np.uint16
    )


def of_bfloat16(bits: np.ndarray) -> np.ndarray:
    """Return the bfloat16 numbers with these bits, a uint16 array, as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def poisoned(size: tuple[int, ...]) -> np.ndarray:
    """Return a float32 array of this shape full of NaN, which stay where nothing is written."""
    return np.full(size, np.nan, np.float32)


def judge(problem: Problem, out) -> StepVerdict:
    """Compare a result, on the host or on the device, with the reference and return the verdict.

    The error is the Euclidean norm of the difference divided by the problem's scale, or the norm
    itself if the scale is 0. A result of another shape or with NaN has an infinite error.
    """
    xp = np if isinstance(problem.reference, np.ndarray) else cupy()
    if xp is np and hasattr(out, "copy_to_host"):
        out = out.copy_to_host()
    out = xp.asarray(out)
    if out.shape != problem.reference.shape:
        return StepVerdict(math.inf, problem.allowed)
    unwritten = int(xp.isnan(out).sum())
    if unwritten:
        return StepVerdict(math.inf, problem.allowed, unwritten)
    difference = float(xp.linalg.norm(out - problem.reference))
    return StepVerdict(difference / problem.scale if problem.scale else difference, problem.allowed)
