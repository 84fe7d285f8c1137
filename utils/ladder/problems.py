"""Is a result right? Random inputs, an output full of NaN, a float64 reference, a stated bound.

Two kinds of inputs, because each misses something that the other sees:

- "uniform": float32 from [-1, 1), signs mixed. Errors of rounding appear, so the bound is tested.
- "integers": odd integers from -7 to 7. Every product and every partial sum is an integer below
  2^24 and therefore exact in float32, in any order: the result must equal the reference, and a
  single element that was skipped, read twice or taken from the wrong place is seen at any size.

An input of ones is not among them: with ones a kernel passes that reads the wrong row.
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
    """Inputs, and what a right result is: ‖out - reference‖ / scale ≤ allowed, and no NaN.

    inputs: float32 arrays on the host. allowed: 0 where float32 is exact.
    reference: float64, as a NumPy array, or as a CuPy array where a GPU made it and compares.
    """

    shape: GemmShape | ReduceShape
    inputs: tuple[np.ndarray, ...]
    reference: np.ndarray
    scale: float
    allowed: float


@dataclass(frozen=True)
class Verdict:
    """error: ‖out - reference‖ / scale, infinite where there is NaN. unwritten: how many NaN."""

    error: float
    allowed: float
    unwritten: int = 0

    @property
    def passed(self) -> bool:
        return self.error <= self.allowed

    def __str__(self) -> str:
        if self.passed:
            return f"right: error {self.error:.1e}, allowed {self.allowed:.1e}"
        if self.unwritten:
            return f"wrong: {self.unwritten} elements are NaN, never written or made from one"
        return f"wrong: error {self.error:.1e}, allowed {self.allowed:.1e}"


def draw(kind: str, size: int | tuple[int, ...], seed: int) -> np.ndarray:
    """Random float32 of one of the KINDS."""
    generator = np.random.default_rng(seed)
    # In place, because a sum may have 2^30 elements.
    if kind == "integers":
        values = generator.integers(-4, 4, size, np.int8).astype(np.float32)
        values *= np.float32(2)
        values += np.float32(1)
        return values
    values = generator.random(size, np.float32)
    values *= np.float32(2)
    values -= np.float32(1)
    return values


def poisoned(size: tuple[int, ...]) -> np.ndarray:
    """A float32 array of NaN: what a kernel does not write stays visible."""
    return np.full(size, np.nan, np.float32)


def judge(problem: Problem, out) -> Verdict:
    """Compare every element of a result, on the host or on the device, with the reference."""
    xp = np if isinstance(problem.reference, np.ndarray) else cupy()
    if xp is np and hasattr(out, "copy_to_host"):
        out = out.copy_to_host()
    out = xp.asarray(out)
    if out.shape != problem.reference.shape:
        return Verdict(math.inf, problem.allowed)
    unwritten = int(xp.isnan(out).sum())
    if unwritten:
        return Verdict(math.inf, problem.allowed, unwritten)
    difference = float(xp.linalg.norm(out - problem.reference))
    return Verdict(difference / problem.scale if problem.scale else difference, problem.allowed)
