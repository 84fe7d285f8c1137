"""The tasks of the micro-benchmarks: shapes, inputs, references and amounts of work.

They allow the checks of every other kernel. The elements of a shape count accumulators, sums or
reads.
"""

from collections.abc import Sequence

import numpy as np
from numba import float32, void

from utils.division import cdiv
from utils.ladder.problems import Problem, draw
from utils.ladder.shapes import FLOAT32_BYTES, ReduceShape, parse_reduce
from utils.ladder.tasks import Task, TaskWork, check_vector

# Per thread: a patch of 8×8 accumulators, and the number of additions to each of them.
PATCH = 8
ITERATIONS = 1024
LANES = 32
# Shared memory: rows of 32 floats, the rows that a thread reads per iteration, and the iterations.
ROWS = 64
PER_TURN = 8
TURNS = 256
# The L2 cache: windows of 16 KiB, 16 MiB in all. In each iteration a block reads one window, with
# IN_FLIGHT loads of 16 bytes per thread; the next window is STRIDE windows further on.
WINDOWS = 1024
L2_BLOCK = 256
IN_FLIGHT = 4
WINDOW = 4 * L2_BLOCK * IN_FLIGHT
L2_TURNS = 8
STRIDE = WINDOWS // L2_TURNS
L2_READS = 4 * IN_FLIGHT * L2_TURNS  # per thread
# A micro-benchmark reads the same few elements again and again, whatever its shape.
FMA_INPUTS = LANES + 2 * PATCH
SHARED_INPUTS = ROWS * LANES
L2_INPUTS = WINDOWS * WINDOW


def _threads(accumulators: int) -> int:
    """Return the number of threads that have this many accumulators, 64 each."""
    return cdiv(accumulators, PATCH**2)


def _shared_threads(sums: int) -> int:
    """Return the number of threads that have this many sums, PER_TURN each."""
    return cdiv(sums, PER_TURN)


def _l2_threads(reads: int) -> int:
    """Return the number of threads that make this many reads of a float32, L2_READS each."""
    return cdiv(reads, L2_READS)


def _fma_problem(shape: ReduceShape, kind: str) -> Problem:
    """Return the problem whose lane l sums ITERATIONS · x[l + i] · x[l + 8 + j] over i, j < 8.

    `kind` is a kind of random numbers for x, such as "uniform" or "integers".
    """
    x = draw(kind, FMA_INPUTS, seed=1)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), PATCH)[: LANES + PATCH]
    sums, sizes = windows.sum(axis=1), np.abs(windows).sum(axis=1)

    def per_lane(per_window: np.ndarray) -> np.ndarray:
        return ITERATIONS * per_window[:LANES] * per_window[PATCH:]

    threads = _threads(shape.elements)
    chain = ITERATIONS + PATCH**2
    return _sums(shape, kind, x, (per_lane(sums), per_lane(sizes)), threads, chain)


def _shared_problem(shape: ReduceShape, kind: str) -> Problem:
    """Return the problem whose thread in lane l sums element l of every row of x, repeatedly.

    Each row is added TURNS · PER_TURN / ROWS times. `kind` is a kind of random numbers for x, such
    as "uniform" or "integers".
    """
    x = draw(kind, SHARED_INPUTS, seed=1)
    rows = x.reshape(ROWS, LANES).astype(np.float64) * (TURNS * PER_TURN // ROWS)
    sums = rows.sum(axis=0), np.abs(rows).sum(axis=0)
    return _sums(shape, kind, x, sums, _shared_threads(shape.elements), TURNS + PER_TURN)


def _l2_problem(shape: ReduceShape, kind: str) -> Problem:
    """Return the problem whose block b sums the windows (b + STRIDE · turn) mod WINDOWS of x.

    `turn` counts from 0 to L2_TURNS - 1. `kind` is a kind of random numbers for x, such as
    "uniform" or "integers".
    """
    x = draw(kind, L2_INPUTS, seed=1)
    # The axes are window, load, thread, and element of the load.
    parts = x.reshape(WINDOWS, IN_FLIGHT, L2_BLOCK, 4).astype(np.float64)
    sums = [
        # Summed over windows with stride STRIDE, whose blocks all have the same sum.
        np.tile(values.sum(axis=(1, 3)).reshape(L2_TURNS, STRIDE * L2_BLOCK).sum(axis=0), L2_TURNS)
        for values in (parts, np.abs(parts))
    ]
    return _sums(shape, kind, x, sums, _l2_threads(shape.elements), L2_TURNS * IN_FLIGHT + 2)


def _sums(
    shape: ReduceShape, kind: str, x: np.ndarray, sums: Sequence, threads: int, chain: int
) -> Problem:
    """Return the problem with the input x whose reference holds one sum per thread.

    `sums` holds the sums of a few threads and the sums of their absolute values; both repeat for
    all threads. `chain` is the number of additions to one sum, which bounds its rounding error; for
    the `kind` "integers" no error is allowed.
    """
    reference, sizes = (np.resize(values, threads) for values in sums)
    return Problem(
        shape,
        (x,),
        reference=reference,
        scale=float(np.linalg.norm(sizes)),
        # |error| ≤ h·u·Σ|terms| for a chain of h additions (Higham, 1993; see `ladder.tasks`).
        allowed=0.0 if kind == "integers" else chain * 2.0**-24,
    )


def _copy_problem(shape: ReduceShape, kind: str) -> Problem:
    """Return the problem of a copy, whose reference is its input.

    `kind` is a kind of random numbers for the input, such as "uniform" or "integers".
    """
    x = draw(kind, shape.elements, seed=1)
    return Problem(shape, (x,), reference=x, scale=1.0, allowed=0.0)


VECTOR_TO_VECTOR = void(float32[::1], float32[::1])

FMA = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    input_shapes=lambda shape: ((FMA_INPUTS,),),
    output_shape=lambda accumulators: (_threads(accumulators),),
    problem=_fma_problem,
    work=lambda shape: TaskWork(flops=2 * ITERATIONS * PATCH**2 * _threads(shape.elements)),
    signature=VECTOR_TO_VECTOR,
)

COPY = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    input_shapes=lambda shape: ((shape.elements,),),
    output_shape=lambda elements: (elements,),
    problem=_copy_problem,
    work=lambda shape: TaskWork(bytes=2 * shape.bytes_min),
    signature=VECTOR_TO_VECTOR,
)

SHARED = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    input_shapes=lambda shape: ((SHARED_INPUTS,),),
    output_shape=lambda sums: (_shared_threads(sums),),
    problem=_shared_problem,
    work=lambda shape: TaskWork(
        bytes=FLOAT32_BYTES * TURNS * PER_TURN * _shared_threads(shape.elements), cached=True
    ),
    signature=VECTOR_TO_VECTOR,
)

L2 = Task(
    parse=parse_reduce,
    shape=ReduceShape,
    check=check_vector,
    input_shapes=lambda shape: ((L2_INPUTS,),),
    output_shape=lambda reads: (_l2_threads(reads),),
    problem=_l2_problem,
    work=lambda shape: TaskWork(
        bytes=FLOAT32_BYTES * L2_READS * _l2_threads(shape.elements), cached=True
    ),
    signature=VECTOR_TO_VECTOR,
)
