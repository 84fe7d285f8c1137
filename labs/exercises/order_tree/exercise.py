"""The lines of a block's sum by a tree in disorder."""

from labs.checking.line_order import OrderExercise, OrderRule
from labs.checking.target import essential
from labs.families.reduction import (
    Sums,
    each_element_once,
    full_loads,
    no_atomics,
    no_bank_conflict,
    reduction,
)
from labs.targets.counts import (
    barriers_per_block,
    no_float64,
    no_negative_index,
    one_store_per_element,
)
from labs.targets.sharing import loads_of_one_thread

EXERCISE = reduction(
    Sums(threads=256),
    record=OrderExercise,
    constant="BLOCK",
    name="order_tree",
    lesson="18",
    title="Order the lines of a tree",
    text=(
        "Each block adds 256 elements of `x` by a tree in shared memory. Lines a to d load them, "
        "and lines e and f store the sum. Put the lines between them in order; two of them are "
        "too many. The answer is a list of line numbers.",
        "The launch is given: blocks of 256 threads, and one block for 256 elements.",
    ),
    shapes=((1024,), (1000,), (513,), (33,), (1,)),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), each_element_once(),
        no_bank_conflict(), barriers_per_block(9),
        essential(full_loads()), essential(no_atomics()),
        essential(loads_of_one_thread(26)),
    ),
    above="""
from numba import cuda, float32

BLOCK = 256


@cuda.jit
def order_tree(x, partials):
    shared = cuda.shared.array(BLOCK, float32)
    tid = cuda.threadIdx.x
    i = cuda.grid(1)
    shared[tid] = x[i] if i < x.size else float32(0)
""",
    below="""
    if tid == 0:
        partials[cuda.blockIdx.x] = shared[0]
""",
    lines=(
        "            shared[tid] += shared[tid + stride]",
        "        stride //= 2",
        "    while stride > 0:",
        "            cuda.syncthreads()",
        "    cuda.syncthreads()",
        "        if tid < stride:",
        "    stride = BLOCK // 2",
        "        cuda.syncthreads()",
        "        if tid + stride < BLOCK:",
    ),
    rules=(
        OrderRule(4, "Line 4 is a barrier in the branch of an `if`: threads that do not take the "
                  "branch never come to it, and the others wait for them."),
        OrderRule(9, "Line 9 lets too many threads add: some of them change a word that another "
                  "thread reads in the same step."),
        OrderRule(3, "Line 3 tests `stride` before any line has set it.", after=(7,)),
        OrderRule(6, "Line 6 uses `stride` before any line has set it.", after=(7,)),
        OrderRule(6, "Line 6 is above the loop, so the threads would be chosen only once.",
                  after=(3,)),
        OrderRule(1, "No test above line 1 chooses the threads that add, so the last threads read "
                  "beyond the end of `shared`.", after=(6, 9)),
        OrderRule(1, "Line 1 reads a word that another thread has stored in line d, and no barrier "
                  "is above it: the word may be read before it is there.", after=(5, 8)),
        OrderRule(2, "Line 2 halves `stride` before any thread has added: the pairs that are 128 "
                  "words apart are left out.", after=(1,)),
        OrderRule(8, "Line 8 is indented as a line of the loop, and is above the loop.",
                  after=(3,)),
    ),
    hints=(
        "What must be done once, before the first step of the tree? What in every step?",
        "A thread reads words that others have written. Between the writing and the reading there "
        "is a barrier, in the first step as in all others.",
        "A barrier is for all threads of the block, also for those that do not add.",
    ),
    after="Each step halves the threads that add, and a barrier separates it from the next.",
)  # fmt: skip
