"""The register-blocked product with wide loads and a transposed tile of a."""

from __future__ import annotations

import ast
import math

from labs.checking.exercise import KernelExercise
from labs.checking.job import in_steps
from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Probes, essential
from labs.families import lane_maps as probes
from labs.families import product
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.machine_code import machine_code
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import elements_per_thread, from_shared_memory
from labs.targets.wide import aligned_arrays, wide_accesses
from utils.ladder.step import Launch
from utils.machine.occupancy import WARP
from utils.translation import translate

TILE, THREADS = 128, 256
EACH = 64  # multiply-adds of a thread per step of k
COURSE_READS = 20  # wavefronts of a warp per step of k to read both tiles


def launch(shape) -> Launch:
    """Return a launch with a block of 256 threads per 128×128 tile of c.

    shape: (m, n, k), with m and n divisible by 128.
    """
    m, n, _ = shape
    return Launch(grid=(n // TILE, m // TILE), block=(THREADS,))


def one_step_per_iteration(run: Run) -> str | None:
    """Return a sentence if the compiled loop makes one step of k per iteration, else None.

    It is also None if the kernel has a `while`, and without a compiler.
    """
    code = machine_code(run)
    has_while = any(isinstance(node, ast.While) for node in ast.walk(run.tree))
    if has_while or code is None or code.hot is None or code.hot.ffma != EACH:
        return None
    return translate(
        "In machine code the loop over the steps of k has one step per iteration, and {ratio:.2f} "
        "instructions per multiply-add. The compiler writes out the steps of a `while` one after "
        "the other, which needs fewer.",
        ratio=len(code.hot.body) / code.hot.ffma,
    )


def stores_that_conflict(run: Run) -> str | None:
    """Return a sentence on a store into a tile that takes more wavefronts than it must, or None."""
    for one in run.trace.access_counts:
        if (one.space, one.kind) == ("shared", "store") and one.wavefronts > one.fewest_wavefronts:
            return translate(
                "In {where}, a store into `{array}` takes {value:.3g} wavefronts, because lanes "
                "meet in the same banks. A gap behind each row prevents this, as in `row_gap`.",
                where=at_line(one.site),
                array=one.array,
                value=one.wavefronts / one.requests,
            )
    return None


def cheaper_reads(run: Run) -> str | None:
    """Return a sentence if the reads take fewer wavefronts than those of the course, or None."""
    steps = math.prod(run.shape) / EACH / WARP
    counts = run.trace.access_counts
    reads = [one for one in counts if (one.space, one.kind) == ("shared", "load")]
    value = sum(one.wavefronts for one in reads) / steps
    if value >= COURSE_READS:
        return None
    return translate(
        "Your reads take {value:.3g} wavefronts per step of k, and those of the course's "
        "`vectorized` take {course}. The extra lesson *Lane maps* is about such places.",
        value=value,
        course=COURSE_READS,
    )


EXERCISE = KernelExercise(
    name="wide_tiles",
    lesson="13",
    title="The product with wide loads",
    text=(
        "A block computes 128×128 elements of `c`, and each of its 256 threads 8×8 of them, as in "
        "lesson 12. One iteration takes 8 steps of k. Set the sums to zero. Load the thread's four "
        "words of `a`, in row `t // 2` of the tile, and store them transposed in `sa`. Load its "
        "four words of `b`, in row `t // 32` of the tile, and store them in `sb`. In each step "
        "fill `of_a` with the words of `sa` from `y` on, and `of_b` with those of `sb` from `x` "
        "on, by two `load4` each. About 12 lines.",
        "The launch is given, a block for every 128×128 elements of `c`. `m` and `n` are multiples "
        "of 128 and `k` of 8, so there are no edges.",
    ),
    parameters=("a", "b", "c"),
    sizes=("m", "n", "k"),
    shapes=((128, 256, 24), (256, 128, 8), (128, 128, 16), (128, 128, 8)),
    vary=in_steps(TILE, TILE, 8),
    launch=launch,
    inputs=product.inputs,
    reference=product.reference,
    probes=Probes(
        constants=(probes.whole_arrays,), refused=(probes.fifth, probes.no_four),
        wrong=WRONG_PRODUCTS,
    ),
    targets=(
        right_for_small_numbers(),
        no_negative_index(),
        probes.one_store_per_element(),
        no_float64(),
        aligned_arrays(),
        product.loads_per_multiply_add(2 / TILE),
        essential(wide_accesses("global", "load")),
        essential(wide_accesses("shared", "load")),
        essential(from_shared_memory(0.25)),
        essential(elements_per_thread(64)),
    ),
    main=("narrow loads of global memory", "narrow loads of shared memory"),
    plain_goals=(
        "each load from global and from shared memory moves 128 bits",
        "a block loads each element of its tiles once",
        "each thread stores its 64 elements once",
    ),
    hints=(
        "The tile of `a` has two quads in a row, so thread `t` takes row `t // 2`, from column "
        "`t % 2 * 4` on. In `sa` rows and columns are exchanged, as in the task before.",
        "The tile of `b` has 32 quads in a row and is not turned: one `load4`, one `store4`.",
        "`load4(sa, (z, y))` has four rows of `a` at step `z`, and the next four begin at `y + 4`. "
        "`of_a[0], of_a[1], of_a[2], of_a[3] = load4(…)` fills four elements at once.",
        "The sums begin at zero before the loop over the tiles, and not inside of it.",
    ),
    after="16 words for 64 multiply-adds, by four reads.",
    remarks=(one_step_per_iteration, stores_that_conflict, cheaper_reads),
)  # fmt: skip
