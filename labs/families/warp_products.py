"""The family of products on tensor cores: kernels (a, b, c) with c = a·b, one warp per 16×8 of c.

A shape is (m, n, k): a is m×k and b is k×n, both float16; c is m×n, float32. All elements are small
whole numbers, so every sum is exact. A block is one warp, and the grid has a block per 16×8 of c,
along n first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families import product
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import barriers_of_block
from utils.division import cdiv
from utils.ladder.step import Launch
from utils.translation import translate

M, N, K = 16, 8, 8  # of one mma
WARP = 32
LOADS = 6  # elements of a and b that a lane loads per mma


def warp_product(**fields) -> KernelExercise:
    """Return an exercise whose kernel (a, b, c) stores a·b into c, with one warp per 16×8 of c.

    fields: the remaining fields of KernelExercise.
    """
    return _product(launch, **fields)


def two_warp_product(**fields) -> KernelExercise:
    """Return an exercise whose kernel (a, b, c) stores a·b into c, with two warps per 32×8 of c.

    Both warps are in one block, and each has 16×8 of c, one part above the other. fields: the
    remaining fields of KernelExercise.
    """
    return _product(launch_two_warps, **fields)


def _product(launch: Callable[[Shape], Launch], **fields) -> KernelExercise:
    """Return an exercise whose kernel (a, b, c) stores the product a·b into c.

    launch: returns the launch for a shape (m, n, k). fields: the remaining fields of
    KernelExercise.
    """
    return KernelExercise(
        parameters=("a", "b", "c"),
        sizes=("m", "n", "k"),
        launch=launch,
        inputs=inputs,
        reference=product.reference,
        probes=Probes(missing=(no_store,), wrong=WRONG_PRODUCTS, refused=(chunk_into_one_element,)),
        **fields,
    )


def launch(shape: Shape) -> Launch:
    """Return the launch with a warp per 16×8 of c.

    Each block has one warp. The grid is (blocks along n, blocks along m). shape: (m, n, k).
    """
    m, n, _ = shape
    return Launch(grid=(cdiv(n, N), cdiv(m, M)), block=(WARP,))


def launch_two_warps(shape: Shape) -> Launch:
    """Return the launch with a block of two warps per 32×8 of c.

    The grid is (blocks along n, blocks along m). shape: (m, n, k).
    """
    m, n, _ = shape
    return Launch(grid=(cdiv(n, N), cdiv(m, 2 * M)), block=(2 * WARP,))


def inputs(shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random matrices a, of shape (m, k), and b, of shape (k, n), in float16.

    All elements are odd whole numbers from -7 to 7. shape: (m, n, k).
    """
    a, b = product.inputs(shape, seed)
    return a.astype(np.float16), b.astype(np.float16)


def no_store(run: Run) -> str:
    """Return sentences on elements of c that no lane stores.

    They say that no line stores into c at all if this is so, and else ask where the four sums of a
    lane belong.
    """
    if not run.total("c", "store", "requests"):
        return translate("No line of your kernel stores into `{result}`.", result=run.result)
    return translate(
        "No lane stores into them. A lane has four sums: into which row and which column of "
        "`{result}` does each of them go?",
        result=run.result,
    )


def chunk_into_one_element(kernel, message: str) -> str | None:
    """Return a sentence on an index that stores a chunk of eight elements, or None.

    kernel: the refused kernel; it is not used. message: why it does not run.
    """
    if "storing to " not in message or "from this value" not in message:
        return None
    return translate(
        "An index names one element, and a chunk has eight. `store8` stores a whole chunk."
    )


def _mma_needed(run: Run, steps: int = K) -> int:
    """Return the number of mma instructions that a product of the run's shape needs.

    steps: those of k that one mma takes.
    """
    return math.prod(map(cdiv, run.shape, (M, N, steps)))


def one_mma_per_tile(steps: int = K) -> Target:
    """Return the target of exactly one mma per 16×8 of c and `steps` of k.

    The count is how far the number of mma instructions is from that number, per such tile, at every
    shape.
    """

    def measure(run: Run) -> float:
        needed = _mma_needed(run, steps)
        return abs(run.trace.totals["mma"] - needed) / needed

    def cause(run: Run, value: float) -> str:
        return translate(
            "this product needs {needed} of 16×8×{steps}, and your kernel executes {executed}. "
            "Each warp needs one for every {steps} steps of k.",
            needed=counted(_mma_needed(run, steps), "mma instruction"),
            steps=steps,
            executed=int(run.trace.totals["mma"]),
        )

    words = f"one mma for every 16×8 of `c` and {steps} of k"
    return Target("mma missing or too many", 0, words, measure, cause, every_shape=True)


def loads_per_mma() -> Target:
    """Return the target of at most 6 loads of a warp from a and b per mma, at the first shape.

    The loads are divided by the number of mma instructions that the product needs, whatever the
    number that the kernel executes.
    """

    def measure(run: Run) -> float:
        loads = sum(run.total(one, "load", "requests") for one in ("a", "b"))
        return loads / _mma_needed(run)

    def cause(run: Run, value: float) -> str:
        return translate(
            "a warp loads {value:.3g} times from `{a}` and `{b}` per mma. A lane holds {loads} "
            "elements of them, so {loads} loads are enough.",
            value=value,
            a=run.names["a"],
            b=run.names["b"],
            loads=LOADS,
        )

    words = f"at most {LOADS} loads of a warp from `a` and `b` per mma"
    return Target("loads per mma", LOADS, words, measure, cause)


def ldmatrix_per_mma() -> Target:
    """Return the target of exactly one ldmatrix for every two mma of 16×8×8, at the first shape.

    The count is how far the number of ldmatrix instructions is from that number, per such pair.
    """

    def needed(run: Run) -> int:
        return _mma_needed(run) // 2

    def measure(run: Run) -> float:
        return abs(run.trace.totals["ldmatrix"] - needed(run)) / needed(run)

    def cause(run: Run, value: float) -> str:
        return translate(
            "this product needs {needed}, and your kernel executes {executed}. One `ldmatrix_x4` "
            "loads the fragments of `{a}` for two mma.",
            needed=counted(needed(run), "ldmatrix instruction"),
            executed=int(run.trace.totals["ldmatrix"]),
            a=run.names["a"],
        )

    words = "one `ldmatrix_x4` for every two mma"
    return Target("ldmatrix missing or too many", 0, words, measure, cause)


def shared_bytes(at_most: int) -> Target:
    """Return the target of at most this many bytes of shared memory per block.

    The count is the number of bytes from the first to the last that a block accesses, 0 if it
    accesses none.
    """

    def measure(run: Run) -> float:
        shared = [one for one in run.trace.access_counts if one.space == "shared" and one.first]
        if not shared:
            return 0
        first = min(int(lanes[lanes >= 0].min()) for one in shared for lanes in one.first)
        return max(int(max(map(np.max, one.first))) + one.bytes_per_lane for one in shared) - first

    def cause(run: Run, value: float) -> str:
        return translate(
            "from the first to the last element that a block uses, its tile has {bytes:,} bytes, "
            "and 16×64 float16 have {at_most:,}. Longer rows cure the conflicts, too. Here the "
            "tile must not grow.",
            bytes=int(value),
            at_most=at_most,
        )

    words = f"at most {at_most:,} bytes of shared memory per block"
    return Target("bytes of shared memory", at_most, words, measure, cause)


def barriers_per_iteration(steps: int, ahead: int) -> Target:
    """Return the target of at most one barrier per block and iteration of a loop over tiles of k.

    steps: those of k in one tile. ahead: the iterations before the first tile is multiplied.
    """

    def iterations(run: Run) -> int:
        return run.shape[2] // steps + ahead

    def measure(run: Run) -> float:
        return barriers_of_block(run) / iterations(run)

    def cause(run: Run, value: float) -> str:
        lines = ", ".join(str(site.line) for site, one in run.trace.counts.items() if one.barriers)
        return translate(
            "each block passes {barriers:.4g} barriers (source lines {lines}) in {iterations} "
            "iterations. One per iteration is enough.",
            barriers=barriers_of_block(run),
            lines=lines,
            iterations=iterations(run),
        )

    return Target("barriers per iteration", 1, "at most one barrier per iteration", measure, cause)
