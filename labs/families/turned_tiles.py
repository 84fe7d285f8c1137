"""The family of transposed columns: kernels (x, out) that store the m×8 matrix x as 8×m, by tiles.

A shape is (m,), and m is a multiple of 128. A block of 256 threads transposes 128 rows of x, and
each thread loads and stores four elements.
"""

from __future__ import annotations

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape, in_steps
from labs.checking.target import Probes, Target, essential
from labs.families import lane_maps as probes
from labs.families.matrices import matrix
from labs.targets.counts import (
    barriers_per_block,
    input_loads_per_element,
    no_float64,
    no_negative_index,
    sectors_per_request,
)
from labs.targets.sharing import elements_per_thread, from_shared_memory
from labs.targets.wide import aligned_arrays, wide_accesses
from utils.ladder.step import Launch

ROWS, COLUMNS, THREADS = 128, 8, 256
FEW_SECTORS = sectors_per_request(16)  # those of 32 lanes that load 16 bytes each


def launch(shape: Shape) -> Launch:
    """Return a launch with a block of 256 threads per 128 rows of x, rounded down. shape: (m,)."""
    return Launch(grid=(shape[0] // ROWS,), block=(THREADS,))


def turned_tiles(*targets, coalesced: Target = FEW_SECTORS, **fields) -> KernelExercise:
    """Return an exercise whose kernel (x, out) stores the transpose of the m×8 matrix x into out.

    targets: targets of this exercise, in addition to those of the family. coalesced: the target of
    coalesced requests to global memory. fields: the remaining fields of KernelExercise.
    """
    return KernelExercise(
        parameters=("x", "out"),
        sizes=("m",),
        shapes=((512,), (256,), (640,), (128,)),
        vary=in_steps(ROWS),
        launch=launch,
        inputs=lambda shape, seed: (matrix((shape[0], COLUMNS), seed),),
        reference=lambda x: x.T.astype(np.float64),
        probes=Probes(refused=(probes.fifth, probes.no_four), constants=(probes.whole_arrays,)),
        targets=(
            no_negative_index(),
            probes.one_store_per_element("out"),
            no_float64(),
            aligned_arrays(),
            *targets,
            essential(from_shared_memory(1, "element")),
            barriers_per_block(1),
            input_loads_per_element(1),
            coalesced,
            essential(wide_accesses("global", "load")),
            essential(wide_accesses("global", "store")),
            essential(wide_accesses("shared", "load")),
            essential(elements_per_thread(4)),
        ),
        **fields,
    )
