"""Other right answers to `gflops`: changes of the solution that `check` accepts."""

from labs.exercises.gflops.wrong import OPERATIONS, RETURN, SECONDS

RIGHT = {
    "in one line": [(RETURN, "return 2 * m * n * k / us / 1000")],
    "floats": [(SECONDS, "us * 1e-6"), ("10**9", "1e9")],
    "elements first": [(OPERATIONS, "(m * n) * (2 * k)")],
    "multiplications and additions": [(OPERATIONS, "m * n * k + m * n * k")],
    "milliseconds between": [(SECONDS, "(us / 1000) / 1000")],
    "a number of NumPy": [
        (SECONDS, "np.float64(us) / 1e6"),
        ("def gflops", "import numpy as np\n\n\ndef gflops"),
    ],
    "per second, then giga": [
        (RETURN, "per_second = operations / seconds\n    return per_second / 1_000_000_000")],
}  # fmt: skip
