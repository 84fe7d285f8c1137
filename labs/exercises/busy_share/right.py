"""Other right answers to `busy_share`: changes of the solution that `check` accepts."""

from labs.exercises.busy_share.wrong import LONGEST, MOVED, RESULT

RIGHT = {
    "milliseconds first": [(LONGEST, f"1000 * {LONGEST}"), (RESULT, "seconds / ms * 100")],
    "one factor": [(RESULT, "1e5 * seconds / ms")],
    "a list": [(MOVED, "[operations / 65_108, dram / 4_294, l2 / 10_231]"),
               (LONGEST, "max(max(moved), wavefronts / 258, instructions / 1_045)")],
    "rates in lists": [
        (MOVED, "(operations, dram, l2, wavefronts, instructions)"),
        (LONGEST, "max(count / rate for count, rate in "
                  "zip(moved, (65_108, 4_294, 10_231, 258, 1_045)))")],
    "seconds": [(RESULT, "100 * seconds / (ms / 1000)")],
}  # fmt: skip
