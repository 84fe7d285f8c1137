"""Other right answers to `lane_of`: changes of the solution that `check` accepts."""

from labs.exercises.lane_of.wrong import GROUP, PAIR, RESULT

RIGHT = {
    "bits": [(GROUP, "row & 7"), (PAIR, "k >> 1"), (RESULT, "group << 2 | pair")],
    "elements counted": [(RESULT, "(8 * group + k) // 2")],
    "a test": [(GROUP, "row if row < 8 else row - 8")],
    "whole numbers of floats": [(PAIR, "int(k / 2)")],
    "the remainder last": [(GROUP, "row"), (RESULT, "(4 * group + pair) % 32")],
}  # fmt: skip
