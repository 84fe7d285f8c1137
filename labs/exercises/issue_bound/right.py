"""Other right answers to `issue_bound`: changes of the solution that `check` accepts."""

from labs.exercises.issue_bound.wrong import CYCLES, RESULT, SHARE

RIGHT = {
    "one expression": [(RESULT, "min(100, 3200 * multiply_adds / (lanes * instructions))")],
    "a test": [(RESULT, "100 if share > 1 else 100 * share")],
    "cycles of the slower of the two": [
        (RESULT, "100 * multiply_adds * 32 / lanes / max(instructions, multiply_adds * 32 / lanes)")
    ],
    "the share first": [(RESULT, "100 * min(1, share)")],
    "the share in other words": [
        (CYCLES, "lanes / 32"), (SHARE, "multiply_adds / (cycles_of_a_multiply_add * instructions)")
    ],
}  # fmt: skip
