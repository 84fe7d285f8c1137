"""Other right answers to `order_saxpy`."""

RIGHT = {
    "the solution": [5, 2, 4, 1],
    "a number that is replaced": [3, 5, 2, 4, 1],
    "a kernel": [("scaled = a * x[i]", "scaled = x[i] * a")],
}
