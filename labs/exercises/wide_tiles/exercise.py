"""The register-blocked product with wide loads and a transposed tile of a."""

from labs.checking.exercise import KernelExercise
from labs.checking.job import in_steps
from labs.checking.target import Probes, essential
from labs.families import lane_maps as probes
from labs.families import product
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import no_float64, no_negative_index
from labs.targets.sharing import elements_per_thread, from_shared_memory
from labs.targets.wide import wide_accesses
from utils.ladder.step import Launch

TILE, THREADS = 128, 256


def launch(shape) -> Launch:
    """Return a launch with a block of 256 threads per 128×128 tile of c. shape: (m, n, k)."""
    m, n, _ = shape
    return Launch(grid=(n // TILE, m // TILE), block=(THREADS,))


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
        no_negative_index(),
        probes.one_store_per_element(),
        no_float64(),
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
        ""
        "`of_a[0], of_a[1], of_a[2], of_a[3] = load4(…)` fills four elements at once.",
        "The sums begin at zero before the loop over the tiles, and not inside of it.",
    ),
    after="16 words for 64 multiply-adds, by four reads.",
)  # fmt: skip
