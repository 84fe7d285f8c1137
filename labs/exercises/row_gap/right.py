"""Other right answers to `row_gap`: changes of the solution that `check` accepts."""

from labs.exercises.row_gap.wrong import long

RIGHT = {
    "a gap of 12 words": long(140),
    "a gap of 20 words": long(148),
    "computed": [("ROW = 132", "ROW = 128 + 4")],
    "the length at the array": [("ROW = 132\n", "WORDS, GAP = 128, 4\nROW = WORDS + GAP\n")],
}

# The tile may have more rows than are used, and the virtual GPU does not look at `alignment`.
_TILE = "tile = cuda.shared.array((8, ROW), float32, alignment=16)"
HARMLESS = {
    f"constant_one_{way} in `{_TILE}`": "a spare row, or another alignment"
    for way in ("more", "less")
}
