"""Other right answers to `two_tiles`: changes of the solution that `check` accepts."""

from labs.exercises.two_tiles.wrong import (
    ARRAY,
    FIRST,
    INSIDE_0,
    INSIDE_1,
    INSIDE_A,
    LOAD_1,
    TERM_0,
    TERM_1,
    TURNS,
    USED,
)

RIGHT = {
    "an array of totals": [
        ("    total0 = float32(0)\n    total1 = float32(0)\n",
         "    totals = cuda.local.array(2, float32)\n    for g in range(2):\n"
         "        totals[g] = float32(0)\n"),
        ("total0 +=", "totals[0] +="), ("total1 +=", "totals[1] +="),
        ("= total0", "= totals[0]"), ("= total1", "= totals[1]"),
    ],
    "an array of two tiles": [
        ("    " + ARRAY + "\n", ""),
        ("tile_b0 = cuda.shared.array((TILE, TILE)", "tiles = cuda.shared.array((2, TILE, TILE)"),
        ("tile_b0[", "tiles[0, "), ("tile_b1[", "tiles[1, "),
    ],
    "a wide array with longer rows": [
        ("    " + ARRAY + "\n", ""),
        ("tile_b0 = cuda.shared.array((TILE, TILE)", "tile_b0 = cuda.shared.array((TILE, 48)"),
        ("tile_b1[ty, tx]", "tile_b0[ty, tx + TILE]"),
        ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]"),
    ],
    "loaded ahead into registers": [
        (LOAD_1, f"        of_b = b[start + ty, next_col] if {INSIDE_1} else float32(0)\n"
         "        tile_b1[ty, tx] = of_b\n"),
    ],
    "the sums in one line": [
        (TERM_0 + TERM_1, "            total0, total1 = total0 + from_a * tile_b0[i, tx], total1 + "
         "from_a * tile_b1[i, tx]\n"),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "loads in branches": [
        (LOAD_1, "        tile_b1[ty, tx] = float32(0)\n        if start + ty < k:\n"
         "            if next_col < n:\n"
         "                tile_b1[ty, tx] = b[start + ty, next_col]\n"),
    ],
    "the block of 32 columns": [(FIRST, "cuda.blockIdx.x * 32 + tx")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row, ", "out[row, "),
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
