"""Other right answers to `transpose`: changes of the solution that `check` accepts."""

from labs.exercises.transpose.wrong import FROM, IN_A, INTO, LOADS, STORES, TURN, WIDE

UNPADDED = (WIDE, "PADDED = 32")
RIGHT = {
    "three more columns": [(WIDE, "PADDED = 35")],
    "stored transposed": [(INTO, "tile[:]"), (FROM, INTO), ("tile[:]", FROM)],
    "columns rotated": [
        UNPADDED, (INTO, "tile[ty, (tx + ty) % SIDE]"), (FROM, "tile[tx, (ty + tx) % SIDE]"),
    ],
    "a flat tile": [
        ("(SIDE, PADDED)", "1056"), (INTO, "tile[ty * PADDED + tx]"), (FROM, "tile[tx * 33 + ty]"),
    ],
    "zeros outside": [(LOADS, f"    {INTO} = a[row, col] if {IN_A} else float32(0)\n")],
    "other names": [
        (TURN + STORES, "    y, x = cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx\n"
         f"    if x < out.shape[1] and y < out.shape[0]:\n        out[y, x] = {FROM}\n"),
    ],
    "leaves after the barrier": [
        (STORES, f"    if row >= n or col >= m:\n        return\n    out[row, col] = {FROM}\n"),
    ],
}  # fmt: skip
