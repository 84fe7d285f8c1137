"""Other right answers to `swizzled_tile`: changes of the solution that `check` accepts."""

from labs.exercises.swizzled_tile.wrong import LOAD, STORE, both

HARMLESS = {
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
    "doubled in `sums[i] = float32(0)`": "twice zero is zero",
}  # fmt: skip

RIGHT = {
    "the next group for each row": both("(x + y % 8 * 8) % 64"),
    "backwards": both("(x - y * 8) % 64"),
    "chunks, not elements": both("(x // 8 ^ y % 8) * 8"),
    "bits": both("x ^ (y & 7) << 3"),
    "a name for the column": [
        (STORE, "place = x ^ (y % 8) * 8\n        store8(tile, (y, place), load8(a, (row + y, x)))"),
        (LOAD, "place = x ^ (y % 8) * 8\n        ldmatrix_x4(of_a, tile, (y, place))")],
}  # fmt: skip
