"""The lines of an outer product in registers, in disorder."""

from labs.checking.job import in_steps
from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import Probes, essential
from labs.exercises.eight_rows.exercise import shared_loads
from labs.families import product
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element
from labs.targets.other_size import right_for_small_numbers
from labs.targets.sharing import elements_per_thread, from_shared_memory
from utils.ladder.step import Launch

TILE, THREADS, EACH = 32, 64, 4  # of a block, in a block, and a side of a thread's tile


def launch(shape) -> Launch:
    """Return a launch with a block of 64 threads per 32×32 tile of c.

    shape: (m, n, k), with m and n divisible by 32.
    """
    m, n, _ = shape
    return Launch(grid=(n // TILE, m // TILE), block=(THREADS,))


EXERCISE = OrderExercise(
    name="order_outer_product",
    lesson="12",
    title="Order the lines of an outer product",
    text=(
        "A block computes 32×32 elements of `c`, and each of its 64 threads a thread tile of 4×4 "
        "from row `y` and column `x` on. Lines a to m set the sums to zero and load both tiles, "
        "and lines n and o store the sums. Put the lines between them in order, so that a "
        "thread reads 8 words for 16 multiply-adds; two lines are too many. The answer is a list "
        "of line numbers.",
        "The launch is given, a block for every 32×32 elements of `c`. `m` and `n` are multiples "
        "of 32 and `k` of 8, so there are no edges.",
    ),
    parameters=("a", "b", "c"),
    sizes=("m", "n", "k"),
    shapes=((64, 96, 24), (32, 64, 40), (64, 32, 16), (32, 32, 8)),
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
        essential(from_shared_memory(2 / EACH)),
        essential(elements_per_thread(EACH**2)),
        shared_loads(2 / EACH),
    ),
    probes=Probes(wrong=WRONG_PRODUCTS),
    main=("shared loads per multiply-add",),
    plain_goals=("a thread reads 8 words of shared memory for 16 multiply-adds",),
    plain_usual_goals=(
        "right at any shape, and one store per element", "each thread stores 16 elements",
        "a block loads each element of its tiles once", "no index below 0, no float64",
    ),
    above="""
from numba import cuda, float32


@cuda.jit
def order_outer_product(a, b, c):
    sa = cuda.shared.array((32, 8), float32)
    sb = cuda.shared.array((8, 32), float32)
    sums = cuda.local.array((4, 4), float32)
    from_a, from_b = cuda.local.array(4, float32), cuda.local.array(4, float32)
    t, row, col = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    y, x = t // 8 * 4, t % 8 * 4
    for e in range(16):
        sums[e // 4, e % 4] = float32(0)
    for start in range(0, a.shape[1], 8):
        for e in range(t, 256, 64):
            sa[e // 8, e % 8] = a[row + e // 8, start + e % 8]
            sb[e // 32, e % 32] = b[start + e // 32, col + e % 32]
        cuda.syncthreads()
""",
    below="""
    for e in range(16):
        c[row + y + e // 4, col + x + e % 4] = sums[e // 4, e % 4]
""",
    lines=(
        "                    sums[p, q] += from_a[p] * from_b[q]",
        "            for j in range(4):",
        "        cuda.syncthreads()",
        "                from_a[i] = sa[y + i, z]",
        "                for q in range(4):",
        "        for z in range(8):",
        "                    sums[p, q] += sa[y + p, z] * sb[z, x + q]",
        "            for p in range(4):",
        "                from_b[j] = sb[z, x + j]",
        "            cuda.syncthreads()",
        "            for i in range(4):",
    ),
    rules=(
        OrderRule(10, "Line 10 is a barrier in each step of k. The tiles change only after eight "
                  "steps, so one barrier after all of them is enough."),
        OrderRule(7, "Line 7 reads two words for each multiply-add: 32 words for the 16 of a "
                  "thread, instead of 8."),
        OrderRule(11, "Line 11 begins a loop of one step of k, and no line above it takes the "
                  "steps.", after=(6,)),
        OrderRule(2, "Line 2 begins a loop of one step of k, and no line above it takes the "
                  "steps.", after=(6,)),
        OrderRule(8, "Line 8 begins a loop of one step of k, and no line above it takes the "
                  "steps.", after=(6,)),
        OrderRule(4, "Line 4 uses `i` before any line has set it.", after=(11,)),
        OrderRule(9, "Line 9 uses `j` before any line has set it.", after=(2,)),
        OrderRule(5, "Line 5 is above the loop over `p`, and is indented as a line of it.",
                  after=(8,)),
        OrderRule(1, "Line 1 uses `q` before any line has set it.", after=(5,)),
        OrderRule(1, "Line 1 multiplies the words of `a` before the thread has read them.",
                  after=(4,)),
        OrderRule(1, "Line 1 multiplies the words of `b` before the thread has read them.",
                  after=(9,)),
        OrderRule(3, "Line 3 ends the loop over `z`, so the lines of its loop must be above it.",
                  after=(1, 7)),
    ),
    hints=(
        "One step of k has three parts: four words of a column of `sa`, four words of a row of "
        "`sb`, and each of them times each.",
        "What a thread has read must be in registers before the two loops that multiply begin. "
        "Which of the lines with `sums` reads no shared memory?",
        "The block goes on to the next tiles after all eight steps. When must the threads wait?",
    ),
    after="Four words of a column, four words of a row, 16 multiply-adds, and no read between.",
)  # fmt: skip
