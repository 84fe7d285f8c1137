"""Other right answers to `order_tree`."""

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well",
}  # fmt: skip

RIGHT = {
    "the solution": [5, 7, 3, 6, 1, 8, 2],
    "the barrier last": [7, 5, 3, 6, 1, 2, 8],
    "one barrier, at the head of the loop": [7, 3, 8, 6, 1, 2],
}
