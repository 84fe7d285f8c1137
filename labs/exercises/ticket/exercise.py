"""A sum in one launch, in which tickets identify the block that finishes last."""

from labs.families.single_pass_reduction import sum_in_one_launch

EXERCISE = sum_in_one_launch(
    name="ticket",
    lesson="20",
    title="One launch with a ticket",
    text=(
        "With two launches each block leaves its total in `partials[cuda.blockIdx.x]`, and a "
        "second kernel adds these. Do both in one launch. `drawn[0]` counts the tickets that were "
        "drawn and is 0 before the launch. Each block leaves its total and draws one ticket. The "
        "block that draws the last one adds all partial sums and stores the result in `out[0]`. "
        "About 12 lines.",
        "The launch is given: blocks of 64 threads, one element of `x` for each thread, and as "
        "many elements in `partials` as there are blocks. There may be more blocks than threads "
        "in a block. `partials` holds what other launches have left there. The next launch uses "
        "the same counter, so after the launch it must be 0 again. `number` is a word of shared "
        "memory for the number of the block's ticket. CUDA's rules ask for two fences, as in the "
        "task with the pairs of blocks.",
    ),
    main=(
        "blocks that wait",
        "loads without a fence",
        "counter off by",
        "other bits from another block",
    ),
    plain_goals=(
        "the block that draws the last ticket adds, and no block waits",
        "two fences at the right places",
        "the same bits, whichever block adds",
    ),
    plain_usual_goals=(
        "right results",
        "each element of x and each partial sum read once, by full warps where there is enough",
        "no float64, and no atomics on the result",
    ),
    hints=(
        "`cuda.atomic.add(drawn, 0, 1)` adds 1 to `drawn[0]` and returns what stood there before. "
        "Two blocks can never get the same number. One thread of the block draws, and the others "
        "learn the number from shared memory, after a barrier.",
        "The blocks draw the numbers 0, 1, 2 … Which number does the last of `cuda.gridDim.x` "
        "blocks get?",
        "The block with the last ticket knows that all others have drawn theirs. Which two "
        "accesses of another block must it see in this order? And which two accesses of its own "
        "must stay in order? A fence counts for the thread that passes it. If only one thread "
        "passes it, a barrier behind it makes the other threads of the block wait.",
        "The last block adds `partials` with all its threads: thread t takes the elements t, t + "
        "64, and so on, as many as there are. Then `block_sum` adds what the threads have. Thread "
        "0 stores the result, and sets the counter back.",
    ),
    after=(
        "One launch, and no block waited for another one. The bits of the result repeat: the "
        "additions and their order are the same, whichever block comes last."
    ),
)
