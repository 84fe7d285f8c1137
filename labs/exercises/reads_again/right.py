"""Other right answers to `reads_again`: changes of the solution that `check` accepts."""

from labs.exercises.reads_again.wrong import (
    ARRAYS,
    FIRST,
    INSIDE_0,
    INSIDE_1,
    INSIDE_A,
    SECOND,
    STEPS,
    SYNC,
)

TOTALS = "    total0 = float32(0)\n    total1 = float32(0)\n"

RIGHT = {
    "the second sum first": [
        (f"{STEPS}{FIRST}{SYNC}{STEPS}{SECOND}", f"{STEPS}{SECOND}{SYNC}{STEPS}{FIRST}"),
    ],
    "a name for the word of a": [
        (FIRST, "            of_a = tile_a[ty, i]\n            total0 += of_a * tile_b0[i, tx]\n"),
        (SECOND, "            of_a = tile_a[ty, i]\n            total1 += of_a * tile_b1[i, tx]\n"),
    ],
    "a loop over the sums": [
        (TOTALS, "    totals = cuda.local.array(2, float32)\n"
                 "    totals[0] = totals[1] = float32(0)\n"),
        (ARRAYS, "    tiles = cuda.shared.array((2, TILE, TILE), float32)\n"),
        (f"{STEPS}{FIRST}{SYNC}{STEPS}{SECOND}",
         "        for g in range(2):\n            for i in range(TILE):\n"
         "                totals[g] += tile_a[ty, i] * tiles[g, i, tx]\n"
         "            cuda.syncwarp()\n"),
        ("tile_b0[", "tiles[0, "), ("tile_b1[", "tiles[1, "),
        ("= total0", "= totals[0]"), ("= total1", "= totals[1]"),
    ],
    "other names for the steps": [
        (SECOND, SECOND.replace("[ty, i]", "[ty, j]").replace("[i, tx]", "[j, tx]")),
        (f"{SYNC}        for i in", f"{SYNC}        for j in"),
    ],
}  # fmt: skip

# Beyond the end of the sum a tile may hold anything finite, as long as the other holds zero.
HARMLESS = {
    f"{rule} in `tile_{name}[ty, tx] = {value} else float32(0)`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for name, value in (
        ("a", f"a[row, start + tx] if {INSIDE_A}"),
        ("b0", f"b[start + ty, col] if {INSIDE_0}"),
        ("b1", f"b[start + ty, next_col] if {INSIDE_1}"),
    )
}
