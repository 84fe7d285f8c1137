"""Other right answers to `row_length`: changes of the solution that `check` accepts."""

from labs.exercises.row_length.wrong import LENGTH, PLACE, STORE

RIGHT = {
    "rows of 80 words": [(LENGTH, "(4, 80)")],
    "two more rows": [(LENGTH, "(6, 48)")],
    "a gap within the row": [
        (PLACE, "(down, 8 + across * 4)"), ("rows[r, lane]", "rows[r, 8 + lane]")],
    "another order in rows of 32": [
        (LENGTH, "(4, 32)"), (PLACE, "(down, (across ^ (down & 1) * 4) * 4)"),
        ("rows[r, lane]", "rows[r, lane ^ (r & 1) * 16]")],
    "words one by one, rows of 33": [
        (LENGTH, "(4, 33)"),
        (STORE, "for j in range(4):\n"
         "        rows[down, across * 4 + j] = four[j]")],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `rows = cuda.shared.array(": "a spare row",
}
