"""Other right answers to `attainable`: changes of the solution that `check` accepts."""

from labs.exercises.attainable.wrong import RESULT

RIGHT = {
    "one expression": [(RESULT, "min(peak, BM * BN / (BM + BN) / 2 * bandwidth)")],
    "a test": [(RESULT, "peak if intensity * bandwidth > peak else intensity * bandwidth")],
    "harmonic": [(RESULT, "min(peak, bandwidth / (2 / BM + 2 / BN))")],
    "times first": [(RESULT, "min(operations * bandwidth / moved, peak)")],
}
