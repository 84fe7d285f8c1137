"""Other right answers to `without_remainder`: changes of the solution that `check` accepts."""

from labs.exercises.without_remainder.wrong import ADD, DOUBLE, LOOP, TEST

HARMLESS = {
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "size_one_less in `while stride < cuda.blockDim.x:`": "255 is no stride",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well",
}  # fmt: skip

RIGHT = {
    "shifted": [(TEST, "tid & ((stride << 1) - 1) == 0")],
    "an exclusive or": [(TEST, "tid ^ (tid & -2 * stride) == 0")],
    "a loop over the steps": [
        (f"{LOOP}:\n", "for step in range(8):\n        stride = 1 << step\n"),
        (f"        {DOUBLE}\n", ""),
    ],
    "the sum in a register": [
        (ADD, "total = shared[tid] + shared[tid + stride]\n            shared[tid] = total"),
    ],
    "not any bit": [(TEST, "not tid & (stride + stride - 1)")],
}  # fmt: skip
