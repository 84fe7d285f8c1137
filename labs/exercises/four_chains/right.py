"""Other right answers to `four_chains`: changes of the solution that `check` accepts."""

from labs.exercises.four_chains.wrong import STORE, SUM

RIGHT = {
    "by the last two bits": [(SUM, "totals[i & 3] +=")],
    "another sum first": [(SUM, "totals[(i + 1) % 4] +=")],
    "eight neighbours in each sum": [(SUM, "totals[i // 8] +=")],
    "eight sums": [("array(4,", "array(8,"), ("range(4)", "range(8)"), ("i % 4", "i % 8"),
                   (STORE, f"{STORE} + totals[4] + totals[5] + totals[6] + totals[7]")],
    "added in pairs": [(STORE, "(totals[0] + totals[1]) + (totals[2] + totals[3])")],
}  # fmt: skip
