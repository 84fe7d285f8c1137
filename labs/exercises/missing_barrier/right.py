"""Other right answers to `missing_barrier`: changes of the solution that `check` accepts."""

from labs.exercises.missing_barrier.wrong import ADD, DOUBLE, TEST, WAIT

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "size_one_less in `while stride < cuda.blockDim.x:`": "255 is no stride",
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
}  # fmt: skip

RIGHT = {
    "doubled between": [
        (TEST + ADD + DOUBLE, f"        step = stride\n{DOUBLE}        if tid % stride == 0:\n"
         "            shared[tid] += shared[tid + step]\n"),
    ],
    "a tree by a range": [("    stride = uint32(1)\n    while stride < cuda.blockDim.x:\n",
                           "    for step in range(8):\n        stride = 1 << step\n"),
                          (DOUBLE, "")],
    "a test of its own": [(WAIT, f"        if stride > 0:\n    {WAIT}")],
    "a test without a remainder": [(TEST, "        if tid & uint32(2 * stride - 1) == 0:\n")],
}  # fmt: skip
