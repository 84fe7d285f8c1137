"""Submissions to `ticket` that ignore the idea of the task."""

from labs.exercises.ticket.wrong import (
    ADD,
    DRAW,
    END,
    LAST,
    LOOP,
    SECOND,
    SPIN,
    TEST,
    TREE,
    WAIT,
    ZERO,
    waiting,
    waiting_in_front,
)  # fmt: skip

FORMULA = "            out[0] = x.size * (x.size + 1) // 2\n"
ONE_BY_ONE = "            for j in range(partials.size):\n    " + ADD

CHEAP = {
    "a formula that reads nothing": [(LOOP + ADD + TREE, ""), ("out[0] = total", FORMULA.strip())],
    "one thread adds the partial sums": [(LOOP + ADD + TREE + LAST, LAST + ONE_BY_ONE)],
    "block 0 waits for all others": waiting_in_front(f"        {SPIN}            pass"),
    "one thread of block 0 waits for all others": waiting_in_front(
        f"        if cuda.threadIdx.x == 0:\n            {SPIN}                pass\n"
        "        cuda.syncthreads()"
    ),
    "every block waits for all others": waiting("cuda.atomic.add(drawn, 0, 0)"),
    "one thread of each block adds its elements": [
        (
            "    total = block_sum(x[i] if i < x.size else float32(0))\n",
            "    total = float32(0)\n    if cuda.threadIdx.x == 0:\n"
            "        for j in range(i, min(i + BLOCK, x.size)):\n            total += x[j]\n",
        )
    ],
    "atomics on the result": [
        (WAIT + TEST[9:] + "\n" + SECOND + ZERO + LOOP + ADD + TREE + END, ""),
        (DRAW, DRAW + "        cuda.atomic.add(out, 0, total)\n"),
    ],
}
