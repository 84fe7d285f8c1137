"""Other right answers to `row_gap`: changes of the solution that `check` accepts."""

from labs.exercises.row_gap.wrong import SHAPE, long

RIGHT = {
    "a gap of 12 words": long(140),
    "a gap of 20 words": long(148),
    "computed": [(SHAPE, "(8, 128 + 4)")],
    "the length as a constant": [("\n\n@cuda", "\nROW = 128 + 4\n\n\n@cuda"), (SHAPE, "(8, ROW)")],
}

# The tile may have more rows than are used, and the virtual GPU does not look at `alignment`.
_TILE = "tile = cuda.shared.array((8, 132), float32, alignment=16)"
HARMLESS = {f"constant_one_more in `{_TILE}`": "a spare row"}
