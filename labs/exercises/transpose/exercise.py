"""The transpose through a tile in shared memory, so that loads and stores go along rows."""

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.target import Target, essential
from labs.families.product import Split
from labs.families.tiled import no_bank_conflict, probes
from labs.families.vectors import numbers
from labs.targets import counts
from labs.targets.sharing import (
    elements_per_thread,
    from_shared_memory,
    full_shared_requests,
    loads_by_all_threads,
)


def inputs(shape, seed):
    """Return a tuple with a, float32 of shape (m, n): 0.5, 1, 1.5 … in random order, each once.

    shape: (m, n).
    """
    return (numbers((shape[0] * shape[1],), seed).reshape(shape) / 2,)


def reference(a):
    """Return the transpose of a, float64 of shape (n, m)."""
    return a.T.astype(np.float64)


def loaded_once() -> Target:
    """Return the target of at most one load per element of a from global memory, at every shape."""

    def measure(run):
        return run.total("a", "load", "lanes") / run.out.size

    def cause(run, value):
        lines = ", ".join(str(one.site.line) for one in run.accesses("a"))
        return (
            f"each element of `{run.names['a']}` is loaded {value:.3g} times (source lines "
            f"{lines}); the target is once."
        )

    return Target("loads per element", 1, "each element is loaded once", measure, cause, True)


EXERCISE = KernelExercise(
    name="transpose",
    lesson="07",
    title="The transpose",
    text=(
        "Store the transpose of `a` in `out`: `a` has m rows and n columns, `out` has n rows and m "
        "columns, and `out[j, i]` is `a[i, j]`. A plain copy goes along the rows of one array and "
        "down the columns of the other. Use a tile in shared memory, so that each request to "
        "global memory goes along a row. About 8 lines.",
        "The launch is given: blocks of 32×32 threads, `x` for the columns of `a` and `y` for its "
        "rows, rounded up to whole blocks. No size need be a multiple of 32. The shape of a shared "
        "array is a number or the name of a constant, computed outside of the kernel.",
    ),
    parameters=("a", "out"),
    sizes=("m", "n"),
    shapes=((64, 96), (70, 40), (33, 95), (20, 50), (1, 1)),
    launch=lambda shape: Split(block=(32, 32)).launch((*shape, 1)),
    inputs=inputs,
    reference=reference,
    probes=probes(32, "SIDE"),
    targets=(
        counts.no_negative_index(),
        counts.one_store_per_element(),
        counts.no_float64(),
        loaded_once(),
        counts.sectors_per_request(4, with_edges=True),
        essential(counts.full_requests()),
        essential(elements_per_thread(1)),
        essential(loads_by_all_threads(lambda run: 1, "a")),
        essential(from_shared_memory(1, "element")),
        essential(full_shared_requests()),
        no_bank_conflict(),
        counts.barriers_per_block(1),
    ),
    hints=(
        "The elements that a block loads form a tile of `out`, too. Where in `out` is this tile, "
        "and what are its first row and column in `a`?",
        "For the store, give each thread a new place in `out`: row `cuda.blockIdx.x * SIDE + ty` "
        "and column `cuda.blockIdx.y * SIDE + tx`. Neighbouring threads then store neighbouring "
        "elements. Another thread has loaded the element that yours needs: which element of the "
        "tile is it, and when is it there?",
        "The threads with an element of `a` are not those with an element of `out`. Test `row` and "
        "`col` once for the load and once for the store, each time against the sizes of that "
        "array. All threads must come to `cuda.syncthreads()`.",
        "A warp stores a row of the tile and reads a column. If a row has 32 words, all words of a "
        "column are in one bank. How long must a row be so that they are in 32 different banks?",
    ),
    after="Loads and stores both go along rows. Only shared memory is read down a column.",
)
