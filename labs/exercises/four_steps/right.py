"""Other right answers to `four_steps`: changes of the solution that `check` accepts."""

from labs.exercises.four_steps.wrong import FOUR, INDICES, READ_A, READ_B, STEPS

ROW_COL = "row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx"
BODY = (
    f"                from_b = {READ_B}\n                for g in range(4):\n"
    f"                    totals[g] += {READ_A} * from_b\n"
)
FOUR_PRODUCTS = """\
            w0, w1 = tile_b[i, tx], tile_b[i + 1, tx]
            w2, w3 = tile_b[i + 2, tx], tile_b[i + 3, tx]
            for g in range(4):
                y = ty + 8 * g
                totals[g] += (tile_a[y, i] * w0 + tile_a[y, i + 1] * w1
                              + tile_a[y, i + 2] * w2 + tile_a[y, i + 3] * w3)
            i = uint32(i + 4)
"""

RIGHT = {
    "a while loop": [
        (f"        {STEPS}\n", "        first = 0\n        while first < TILE:\n"),
        (BODY, f"{BODY}            first += 4\n"),
        (INDICES, "tx, ty = cuda.threadIdx.x, cuda.threadIdx.y"),
    ],
    "all indices without a sign": [
        (ROW_COL, "row = uint32(cuda.blockIdx.y * TILE + ty)\n"
                  "    col = uint32(cuda.blockIdx.x * TILE + tx)"),
    ],
    "only the row without a sign": [
        (INDICES, "tx, ty = cuda.threadIdx.x, uint32(cuda.threadIdx.y)"),
    ],
    "four products in one sum": [
        (f"        {STEPS}\n", "        i = uint32(0)\n        while i < TILE:\n"),
        (f"            {FOUR}\n{BODY}", FOUR_PRODUCTS),
    ],
    "a name for the step": [
        (BODY, "                i = first + u\n" + BODY.replace("first + u", "i")),
    ],
}  # fmt: skip
LOADS = (
    "tile_a[y, tx] = a[r, start + tx] if r < m and start + tx < k else float32(0)",
    "tile_b[y, tx] = b[start + y, col] if start + y < k and col < n else float32(0)",
)
HARMLESS = {
    "float64 in `totals[g] = float32(0)`": "it is float32 in an array of float32",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a spare total is not used",
} | {
    f"{rule} in `{line}`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for line in LOADS
}
