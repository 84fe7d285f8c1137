"""Rows of a thread that are apart, so that the reads of a's tile have no bank conflict."""

import math

from labs.checking.exercise import KernelExercise
from labs.checking.job import in_steps
from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Probes, Target, essential
from labs.families import product
from labs.families.shared_memory import meeting
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import elements_per_thread, from_shared_memory
from labs.targets.stores import store_wavefronts
from utils.ladder.step import Launch
from utils.machine.occupancy import WARP
from utils.translation import translate

TILE, THREADS = 64, 64
EACH = 64  # multiply-adds of a thread per step of k


def launch(shape) -> Launch:
    """Return a launch with a block of 64 threads per 64×64 tile of c.

    shape: (m, n, k), with m and n divisible by 64.
    """
    m, n, _ = shape
    return Launch(grid=(n // TILE, m // TILE), block=(THREADS,))


def read_wavefronts(at_most: float) -> Target:
    """Return the target of at most `at_most` wavefronts of a warp to read both tiles per step of k.

    The reads of shared memory are counted at the first shape.
    """

    def reads(run: Run):
        counts = run.trace.access_counts
        return [one for one in counts if (one.space, one.kind) == ("shared", "load")]

    def measure(run: Run) -> float:
        return sum(one.wavefronts for one in reads(run)) * EACH * WARP / math.prod(run.shape)

    def cause(run: Run, value: float) -> str:
        worst = max(reads(run), key=lambda one: one.wavefronts / one.requests)
        return translate(
            "in each step of k a warp takes {value:.3g} wavefronts to read both tiles, and the "
            "target is {at_most:g}. {where}: a read of `{array}` takes {each:.3g}. {meeting}",
            value=value,
            at_most=at_most,
            where=at_line(worst.site).capitalize(),
            array=worst.array,
            each=worst.wavefronts / worst.requests,
            meeting=meeting(worst),
        )

    words = f"at most {at_most:g} wavefronts of a warp to read both tiles per step of k"
    return Target("wavefronts to read both tiles", at_most, words, measure, cause)


EXERCISE = KernelExercise(
    name="rows_apart",
    lesson="12",
    kind="change",
    title="Eight rows, no bank conflict",
    text=(
        "The kernel is right. A block computes 64×64 elements of `c`, and each of its 64 threads "
        "8×8 of them: the rows `y`, `y + apart`, `y + 2 * apart` and so on, eight in all, in eight "
        "neighbouring columns. But each read of `sa` takes 4 wavefronts. Choose other rows for the "
        "threads, so that all reads of a warp in a step of k take at most 24 wavefronts instead "
        "of 48. Change one line, and leave the tiles as they are.",
        "The launch is given, a block for every 64×64 elements of `c`. `m` and `n` are multiples "
        "of 64 and `k` of 8, so there are no edges.",
    ),
    parameters=("a", "b", "c"),
    sizes=("m", "n", "k"),
    shapes=((64, 128, 24), (128, 64, 8), (64, 64, 16), (64, 64, 8)),
    vary=in_steps(TILE, TILE, 8),
    launch=launch,
    inputs=product.inputs,
    reference=product.reference,
    targets=(
        right_for_small_numbers(),
        no_negative_index(),
        one_store_per_element(),
        no_float64(),
        essential(product.loads_per_multiply_add(2 / TILE)),
        essential(from_shared_memory(0.25)),
        essential(elements_per_thread(EACH)),
        store_wavefronts(1),
        read_wavefronts(24),
    ),
    probes=Probes(wrong=WRONG_PRODUCTS),
    main=("wavefronts to read both tiles",),
    plain_goals=(
        "at most 24 wavefronts of a warp to read both tiles in a step of k",
        "all else as it is: 64 elements per thread, stores into the tiles without conflicts",
    ),
    hints=(
        "In one read of `sa`, `i` and `z` are the same for all 32 lanes. Which four values does "
        "`y` have in a warp? How many words are these rows apart?",
        "A row of `sa` has 8 words. Four words of one column are in different banks if their rows "
        "are neighbours.",
        "If the threads with `t // 8 == 0` begin in row 0, and those with `t // 8 == 1` in row 1, "
        "which row is the second one of the first of them? All 64 rows must have a thread.",
    ),
    after="In each step of k the reads of a warp take half of the wavefronts.",
)
