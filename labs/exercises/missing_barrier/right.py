"""Other right answers to `missing_barrier`: changes of the solution that `check` accepts."""

from labs.exercises.missing_barrier.wrong import ADD, HALF, TEST, WAIT

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
}  # fmt: skip

RIGHT = {
    "halved between": [
        (TEST + ADD + HALF, f"        step = stride\n{HALF}        if tid < step:\n"
         "            shared[tid] += shared[tid + step]\n"),
    ],
    "a tree by a range": [("    stride = BLOCK // 2\n    while stride > 0:\n",
                           "    for step in range(8):\n        stride = 128 >> step\n"),
                          (HALF, "")],
    "a test of its own": [(WAIT, f"        if stride > 0:\n    {WAIT}")],
}  # fmt: skip
