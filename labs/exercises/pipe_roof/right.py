"""Other right answers to `pipe_roof`: changes of the solution that `check` accepts."""

from labs.exercises.pipe_roof.wrong import MOVED, OPERATIONS, RESULT

RIGHT = {
    "each by itself": [(MOVED, "128 * rows + 128 * broadcasts")],
    "lanes times words": [(MOVED, "32 * 4 * (rows + broadcasts)")],
    "wavefronts": [(MOVED, "rows + broadcasts"), (RESULT, "min(peak, operations / (128 * moved) * "
                                                          "bandwidth)")],
    "one expression": [(RESULT, "min(peak, multiply_adds / (rows + broadcasts) / 2 * bandwidth)")],
    "cycles": [(RESULT, "min(peak, operations / ((rows + broadcasts) / (bandwidth / 128)))")],
    "a test": [(RESULT, "peak if operations * bandwidth > peak * moved else "
                        "operations * bandwidth / moved")],
    "64 operations": [(OPERATIONS, "64 * multiply_adds")],
}  # fmt: skip
