"""Other right answers to `single_precision`: changes of the solution that `check` accepts."""

from labs.exercises.single_precision.wrong import START, SUM

RIGHT = {
    "begins with the first product": [
        (START, "a[row, 0] * b[0, col]"), ("    i = 0\n", "    i = 1\n"),
    ],
    "a difference of two": [(START, "float32(1) - float32(1)")],
    "range": [
        ("    i = 0\n    while i < k:\n", "    for i in range(k):\n"),
        ("        i += 1\n", ""),
    ],
    "zero times the first element": [(START, "a[row, 0] * float32(0)")],
    "a negative zero": [(START, "float32(-0.0)")],
    "a longer form": [(SUM, "total = total + a[row, i] * b[i, col]")],
}  # fmt: skip
