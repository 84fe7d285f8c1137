"""Other right answers to `rows_apart`: changes of the solution that `check` accepts."""

from labs.exercises.rows_apart.wrong import LINE

RIGHT = {
    "computed": [(LINE, "y, apart, x = t // 8, 64 // 8, t % 8 * 8")],
    "as two bit operations": [(LINE, "y, apart, x = t >> 3, 8, (t & 7) * 8")],
    "in three lines": [(LINE, "y = t // 8\n    apart = 8\n    x = t % 8 * 8")],
    "columns apart, too": [
        (LINE, "y, apart, x = t // 8, 8, t % 8"), ("x + j]", "x + 8 * j]")],
    "lanes below each other, rows apart": [
        (LINE, "y, apart, x = t % 8, 8, t // 8 * 8")],
    "pairs of neighbouring threads": [
        (LINE, "y, apart, x = t // 8 % 4 + t // 32 * 32, 4, t % 8 * 8")],
}  # fmt: skip

HARMLESS = {
    "float64 in `sums[i, j] = float32(0)`": "it is stored as float32",
}
