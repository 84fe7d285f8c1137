"""Other right answers to `order_saxpy`."""

RIGHT = {
    "the solution": [6, 2, 5, 4, 1],
    "a kernel": [("scaled = a * x[i]", "scaled = x[i] * a")],
    "a kernel with the work in the guard": [
        ("    if i >= out.size:\n        return\n    scaled = a * x[i]\n    out[i]",
         "    if i < out.size:\n        scaled = a * x[i]\n        out[i]")],
}  # fmt: skip
