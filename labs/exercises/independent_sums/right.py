"""Other right answers to `independent_sums`: changes of the solution that `check` accepts."""

from labs.exercises.independent_sums.wrong import FILLS, INSIDE_A, LOAD_B, STORES, TURNS, USED, ZERO

LOAD_A = f"            tile_a[y, tx] = a[r, start + tx] if {INSIDE_A} else float32(0)\n"
TERM = "totals[g] += tile_a[ty + 8 * g, i] * from_b"

RIGHT = {
    "rows side by side": [
        ("y, r = ty + 8 * g, row + 8 * g", "y, r = 4 * ty + g, row + 3 * ty + g"),
        ("tile_a[ty + 8 * g, i]", "tile_a[4 * ty + g, i]"),
        ("row + 8 * g", "row + 3 * ty + g"),
    ],
    "filled in another order than computed": [
        ("y, r = ty + 8 * g, row + 8 * g", "y, r = 4 * ty + g, row + 3 * ty + g"),
    ],
    "four names": [
        ("    totals = cuda.local.array(4, float32)\n" + ZERO,
         "    t0 = t1 = t2 = t3 = float32(0)\n"),
        ("            for g in range(4):\n                " + TERM + "\n",
         "            t0 += tile_a[ty, i] * from_b\n"
         "            t1 += tile_a[ty + 8, i] * from_b\n"
         "            t2 += tile_a[ty + 16, i] * from_b\n"
         "            t3 += tile_a[ty + 24, i] * from_b\n"),
        (STORES, "    totals = cuda.local.array(4, float32)\n    totals[0], totals[1] = t0, t1\n"
         "    totals[2], totals[3] = t2, t3\n" + STORES),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "a loop by rows": [
        (FILLS, "        for g in range(0, 32, 8):\n            y, r"),
        ("ty + 8 * g, row + 8 * g", "ty + g, row + g"),
    ],
    "two loops for the tiles": [
        (LOAD_B, "        for g in range(4):\n            y = ty + 8 * g\n" + LOAD_B),
    ],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row + ", "out[row + "),
    ],
}  # fmt: skip

# Beyond the end of the sum a tile may hold anything finite, as long as the other holds zero.
HARMLESS = {
    "float64 in `totals[g] = float32(0)`": "it is float32 in an array of float32",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a spare total is not used",
} | {
    f"{rule} in `{load.strip()}`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for load in (LOAD_A, LOAD_B)
}
