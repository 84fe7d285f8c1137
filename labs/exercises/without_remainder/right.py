"""Other right answers to `without_remainder`: changes of the solution that `check` accepts."""

from labs.exercises.without_remainder.wrong import ADD, LOOP, TEST

HARMLESS = {
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
    "size_one_less in `while stride < BLOCK:`": "255 is no stride",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well",
}  # fmt: skip

RIGHT = {
    "other threads": [
        (f"if {TEST}:", "first = 2 * stride * tid\n        if first < BLOCK:"),
        (ADD, "shared[first] += shared[first + stride]"),
    ],
    "halves": [(LOOP, "stride = BLOCK // 2\n    while stride > 0"), (TEST, "tid < stride"),
               ("stride *= 2", "stride //= 2")],
    "shifted": [(TEST, "tid & ((stride << 1) - 1) == 0")],
    "additions that nobody needs": [(TEST, "tid & stride == 0")],
    "not any bit": [(TEST, "not tid & (stride + stride - 1)")],
}  # fmt: skip
