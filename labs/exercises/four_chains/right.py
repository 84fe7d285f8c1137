"""Other right answers to `four_chains`: changes of the solution that `check` accepts."""

from labs.exercises.four_chains.wrong import STEPS, STORE, SUM

RIGHT = {
    "by the last two bits": [(SUM, "totals[i & 3] +=")],
    "another sum first": [(SUM, "totals[(i + 1) % 4] +=")],
    "in another order": [(STEPS, "for u in range(TILE):\n            i = u % 4 * 8 + u // 4"),
                         (SUM, "totals[u % 4] +=")],
    "eight sums": [("array(4,", "array(8,"), ("range(4)", "range(8)"), ("i % 4", "i % 8"),
                   (STORE, f"{STORE} + totals[4] + totals[5] + totals[6] + totals[7]")],
    "added in pairs": [(STORE, "(totals[0] + totals[1]) + (totals[2] + totals[3])")],
}  # fmt: skip

# Beyond the end of the sum a tile may hold anything finite, as long as the other holds zero.
LOADS = (
    "tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)",
    "tile_b[ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)",
)
HARMLESS = {
    "float64 in `totals[j] = float32(0)`": "it is float32 in an array of float32",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a spare total is not used",
} | {
    f"{rule} in `{load}`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for load in LOADS
}
