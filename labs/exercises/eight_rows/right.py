"""Other right answers to `eight_rows`: changes of the solution that `check` accepts."""

from labs.exercises.eight_rows.wrong import INNER, LOAD_B, PLACE, SET, TURNS, USED, WALK_B

LOAD_A = "sa[i, z] = a[row + i, start + z] if row + i < m and start + z < k else float32(0)"

# What lies outside may be anything in one of the tiles, as long as it is zero in the other.
HARMLESS = {"float64 in `sums[i] = float32(0)`": "it is stored as float32"} | {
    f"{rule} in `{place.strip()}`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for place in (LOAD_A, LOAD_B)
}

RIGHT = {
    "rows of a thread four apart": [
        (PLACE, "y, x = t // BN, t % BN"),
        ("sa[y + i, z]", "sa[y + 4 * i, z]"),
        ("row + y + i", "row + y + 4 * i"),
    ],
    "the walk as a number of loads": [
        (WALK_B, "        for load in range(4):\n            e = t + load * THREADS\n"
         "            z, j = e // BN, e % BN\n"),
    ],
    "the walk by rows": [
        (WALK_B + LOAD_B, "        for z in range(t // BN, BK, THREADS // BN):\n"
         "            sb[z, x] = b[start + z, col + x] if start + z < k and col + x < n "
         "else float32(0)\n"),
    ],
    "a's column in registers, too": [
        (SET, SET + "    from_a = cuda.local.array(TM, float32)\n"),
        (INNER, "            for i in range(TM):\n                from_a[i] = sa[y + i, z]\n"
         "            for i in range(TM):\n                sums[i] += from_a[i] * from_b\n"),
    ],
    "tiles of 32 terms": [("BK, TM = 32, 64, 16, 8", "BK, TM = 32, 64, 32, 8")],
    "a while loop": [
        (f"    for start in {TURNS}:", "    start = 0\n    while start < k:"),
        (USED, f"{USED}        start += BK\n"),
    ],
    "backwards": [(TURNS, "range((k - 1) // BK * BK, -1, -BK)")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row", "out[row"),
    ],
}  # fmt: skip
