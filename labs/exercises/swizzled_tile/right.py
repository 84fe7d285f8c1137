"""Other right answers to `swizzled_tile`: changes of the solution that `check` accepts."""

from labs.exercises.swizzled_tile.wrong import LOAD, STORE, both

PLACE = "place = x ^ (y % 8) * 8\n        "

HARMLESS = {
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
    "doubled in `sums[i] = float32(0)`": "twice zero is zero",
}  # fmt: skip

RIGHT = {
    "the next group for each row": both("(x + y % 8 * 8) % 64"),
    "backwards": both("(x - y * 8) % 64"),
    "chunks, not elements": both("(x // 8 ^ y % 8) * 8"),
    "the remainder of the whole": both("x ^ y * 8 % 64"),
    "by the lane that loads": [(LOAD, LOAD.replace("y % 8", "lane % 8"))],
    "bits": both("x ^ (y & 7) << 3"),
    "a name for the column": [
        (STORE, PLACE + STORE.replace("x ^ y % 8 * 8", "place")),
        (LOAD, PLACE + LOAD.replace("x ^ y % 8 * 8", "place"))],
}  # fmt: skip
