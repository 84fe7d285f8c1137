"""Other right answers to `ticket`: changes of the solution that `check` accepts."""

from labs.exercises.ticket.wrong import (
    ADD,
    DRAW,
    FENCE,
    LAST,
    LOOP,
    RESET,
    SECOND,
    TEST,
    WAIT,
)

INC = "atomic.inc(drawn, 0, cuda.gridDim.x - 1)"

# Right, and other than the solution.
RIGHT = {
    "the counter wraps": [("atomic.add(drawn, 0, 1)", INC), (RESET, "")],
    "the second fence before the barrier": [(SECOND, ""), (DRAW, DRAW + FENCE)],
    "the second fence in each thread behind the barrier": [
        (SECOND, ""), (WAIT, "    cuda.syncthreads()\n    cuda.threadfence()\n    if number"),
    ],
    "the second fence in one thread and a barrier": [
        (SECOND, LAST + "    " + FENCE + "        cuda.syncthreads()\n"),
    ],
    # The tree adds the same pairs of threads in the same order, so the bits repeat.
    "the shares of the threads shifted by the number of the block": [
        (LOOP, "        first = (cuda.threadIdx.x + cuda.blockIdx.x) % BLOCK\n"
         + LOOP.replace("cuda.threadIdx.x,", "first,")),
    ],
    "the partial sums from the last to the first": [
        (ADD, "            total += partials[partials.size - 1 - j]\n"),
    ],
    "the others leave": [(TEST, f"{TEST.replace('==', '!=')}\n        return\n    if True:")],
    "a flag in shared memory": [
        (DRAW, DRAW.rstrip() + " == cuda.gridDim.x - 1\n"), (TEST, "if number[0]:"),
    ],
    "the fence before a barrier, and another thread draws": [
        (DRAW, ""),
        (WAIT, "    cuda.syncthreads()\n    if cuda.threadIdx.x == 1:\n" + DRAW + WAIT),
    ],
    "gridDim for the size": [("partials.size", "cuda.gridDim.x")],
    "set back by an atomic": [(RESET, "            cuda.atomic.exch(drawn, 0, 0)\n")],
    "numbers from 1 on": [
        (DRAW, DRAW.replace("cuda.atomic", "1 + cuda.atomic")), (TEST, TEST.replace(" - 1", "")),
    ],
    "another thread draws": [
        (FENCE + DRAW, ""),
        (WAIT, "    cuda.syncthreads()\n    if cuda.threadIdx.x == 5:\n" + FENCE + DRAW + WAIT),
    ],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `number = cuda.shared.array(1, uint32)`": "a word that nobody uses",
    "float64 in `total = block_sum(x[i] if i < x.size else float32(0))`": (
        "`sums` makes it a float32"
    ),
} | {
    f"constant_one_less in `{line}`": "the last of one element is the first"
    for line in (
        "number[0] = cuda.atomic.add(drawn, 0, 1)",
        "if number[0] == cuda.gridDim.x - 1:",
        "out[0] = total",
        "drawn[0] = 0",
    )
}
