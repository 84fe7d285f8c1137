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

# A word or a row more than is used changes nothing, and neither do two arrays of the same size.
_FROM = "from_a, from_b = cuda.local.array(8, float32), cuda.local.array(8, float32)"
HARMLESS = {
    "float64 in `sums[i, j] = float32(0)`": "it is stored as float32",
    "indices_exchanged in `sums[i, j] = float32(0)`": "all sums are set all the same",
    f"names_exchanged in `{_FROM}`": "both arrays are alike",
} | {
    f"constant_one_more in `{array}`": "a spare row or word"
    for array in (
        _FROM,
        "sa = cuda.shared.array((64, 8), float32)",
        "sb = cuda.shared.array((8, 64), float32)",
        "sums = cuda.local.array((8, 8), float32)",
    )
}
