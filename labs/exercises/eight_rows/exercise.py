"""A product in which each thread computes eight rows of a column of c in registers."""

import math
from dataclasses import replace

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Probes, Target, essential
from labs.families import product
from labs.families.register_tiles import BK, BM, BN, THREADS, TM, loaded_again, other_sizes
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
    wavefronts_per_request,
)
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import (
    elements_per_thread,
    from_shared_memory,
    full_shared_requests,
    loads_by_all_threads,
)
from utils.division import cdiv
from utils.ladder.step import Launch


def launch(shape) -> Launch:
    """Return a launch with a block of 256 threads per 32×64 tile of c. shape: (m, n, k)."""
    m, n, _ = shape
    return Launch(grid=(cdiv(n, BN), cdiv(m, BM)), block=(THREADS,))


def words_of_a_thread(run: Run) -> int:
    """Return how many words of a and b each thread loads if all load equally many."""
    return cdiv(run.shape[2], BK) * BK * (BM + BN) // THREADS


def shared_loads(at_most: float) -> Target:
    """Return the target of at most `at_most` words read from shared memory per multiply-add."""

    def loads(run: Run):
        counts = run.trace.access_counts
        return [one for one in counts if (one.space, one.kind) == ("shared", "load")]

    def measure(run: Run) -> float:
        return sum(one.lanes for one in loads(run)) / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        work = math.prod(run.shape)
        made = run.trace.totals["float32_ops"] / 2 / work
        if made > 1:
            return (
                f"for each multiply-add that is needed your kernel makes {made:.3g}: its loop over "
                f"the tiles goes on behind k = {run.shape[2]}, where all terms are zero."
            )
        loaded = ", ".join(
            f"{one.lanes / work:.4g} of `{one.array}` at {at_line(one.site)}"
            for one in sorted(loads(run), key=lambda one: -one.lanes)[:2]
        )
        return (
            f"a multiply-add costs {value:.4g} words from shared memory, {loaded}; the target is "
            f"{at_most:g}. Which word can serve several multiply-adds?"
        )

    words = f"at most {at_most:g} words from shared memory per multiply-add"
    return Target("shared loads per multiply-add", at_most, words, measure, cause)


def barriers_per_tile() -> Target:
    """Return the target of at most 2 barriers of a thread per tile of BK terms, at every shape."""

    def measure(run: Run) -> float:
        warps = launch(run.shape).blocks * THREADS // 32
        passed = sum(line.barriers for line in run.trace.counts.values())
        return passed / warps / cdiv(run.shape[2], BK)

    def cause(run: Run, value: float) -> str:
        lines = {site: one.barriers for site, one in run.trace.counts.items() if one.barriers}
        return (
            f"a thread passes {value:.3g} barriers for every {BK} terms, and the target is 2. Most "
            f"of them stand at {at_line(max(lines, key=lines.get))}."
        )

    return Target("barriers per tile", 2, "at most 2 barriers per tile", measure, cause, True)


EXERCISE = KernelExercise(
    name="eight_rows",
    lesson="12",
    title="Eight rows of c per thread",
    text=(
        "A block computes 32×64 elements of `c`, and each of its 256 threads computes eight of "
        "them: rows `y` to `y + 7` of column `x` of the block's tile. The tile of `a` is loaded "
        "already. Load the tile of `b`, keep eight sums in registers, and let each word that a "
        "thread reads from the tile of `b` serve all eight. About 16 lines.",
        "The launch is given, a block for every 32×64 elements of `c`, rounded up. No size need be "
        "a multiple of anything.",
    ),
    hints=(
        "The tile of `b` has 16 rows of 64 words. The thread takes the words number `t`, "
        "`t + THREADS` and so on. In which row and column of this tile does word number `e` lie? "
        "It is not the line of `a` again.",
        "`cuda.local.array(TM, float32)` holds the sums. A loop sets each of them to `float32(0)`, "
        "once, before all tiles.",
        "For each `z` of the tile: read `sb[z, x]` into a variable. Then, for each `i`, read one "
        "word of column `z` of the tile of `a`, and add the product to `sums[i]`.",
        "Two barriers, as in lesson 07: one when both tiles are complete, one when nobody needs "
        "them any more. No thread may leave early. At the end each row is tested by itself.",
    ),
    after="One word of `b` now serves eight multiply-adds; a word of `a` still serves one.",
    parameters=("a", "b", "c"),
    sizes=("m", "n", "k"),
    shapes=((64, 128, 96), (33, 130, 33), (36, 32, 55), (20, 67, 7), (1, 1, 1)),
    launch=launch,
    inputs=product.inputs,
    reference=product.reference,
    targets=(
        right_for_small_numbers(),
        one_store_per_element(),
        no_float64(),
        replace(
            product.loads_per_multiply_add(1 / BM + 1 / BN),
            words="a block loads each element of its tiles once",
            cause=loaded_again,
        ),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(TM)),
        essential(loads_by_all_threads(words_of_a_thread, "a", "b")),
        essential(from_shared_memory((1 + 1 / TM) / 2)),
        essential(full_shared_requests()),
        wavefronts_per_request(1),
        shared_loads(1 + 1 / TM),
        barriers_per_tile(),
    ),
    probes=Probes(constants=(other_sizes,), wrong=WRONG_PRODUCTS),
)
