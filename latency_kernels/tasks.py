"""What the two ceilings compute, so that they are checked like every other kernel."""

import numpy as np
from numba import float32, void

from utils.shapes import ReduceShape, parse_reduce
from utils.tasks import Task, Work, check_vector
from utils.verify import Problem, draw

# Per thread: a patch of 8×8 accumulators, and how often each of them is added to.
PATCH = 8
ITERATIONS = 1024
LANES = 32


def _threads(accumulators: int) -> int:
    return -(-accumulators // PATCH**2)


def _fma_problem(shape: ReduceShape, kind: str) -> Problem:
    """The thread in lane l sums ITERATIONS · x[l + i] · x[l + 8 + j] over i, j < 8."""
    x = draw(kind, LANES + 2 * PATCH, seed=1)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), PATCH)[: LANES + PATCH]
    sums, sizes = windows.sum(axis=1), np.abs(windows).sum(axis=1)
    repeats = -(-_threads(shape.elements) // LANES)

    def of_every_thread(per_window: np.ndarray) -> np.ndarray:
        per_lane = ITERATIONS * per_window[:LANES] * per_window[PATCH:]
        return np.tile(per_lane, repeats)[: _threads(shape.elements)]

    # |error| ≤ h·u·Σ|terms| for a chain of h additions (Higham, 1993; see utils/tasks.py).
    chain = ITERATIONS + PATCH**2
    return Problem(
        shape,
        (x,),
        reference=of_every_thread(sums),
        scale=float(np.linalg.norm(of_every_thread(sizes))),
        allowed=0.0 if kind == "integers" else chain * 2.0**-24,
    )


def _copy_problem(shape: ReduceShape, kind: str) -> Problem:
    x = draw(kind, shape.elements, seed=1)
    return Problem(shape, (x,), reference=x, scale=1.0, allowed=0.0)


VECTOR_TO_VECTOR = void(float32[::1], float32[::1])

FMA = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    output_shape=lambda accumulators: (_threads(accumulators),),
    problem=_fma_problem,
    work=lambda shape: Work(flops=2 * ITERATIONS * PATCH**2 * _threads(shape.elements)),
    signature=VECTOR_TO_VECTOR,
)

COPY = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    output_shape=lambda elements: (elements,),
    problem=_copy_problem,
    work=lambda shape: Work(bytes=2 * shape.bytes_min),
    signature=VECTOR_TO_VECTOR,
)
