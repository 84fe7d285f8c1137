"""Other right answers to `tiling`: changes of the solution that `check` accepts."""

from labs.exercises.tiling.wrong import (
    ARRAY_B,
    INSIDE_A,
    INSIDE_B,
    LOAD_A,
    LOAD_B,
    TURNS,
    USED,
    ZERO_A,
    ZERO_B,
)

IN_TURNS = """from numba import cuda, float32


@cuda.jit
def tiling(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    of_a = cuda.shared.array((2, 16, 16), float32)
    of_b = cuda.shared.array((2, 16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = float32(0)
    turn = 0
    for start in range(0, k, 16):
        of_a[turn, ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        of_b[turn, ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(16):
            total += of_a[turn, ty, i] * of_b[turn, i, tx]
        turn = 1 - turn
    if row < m and col < n:
        c[row, col] = total
"""

RIGHT = {
    "two tiles in turns": IN_TURNS,
    "a value or zero": [
        (ZERO_A + LOAD_A, f"        tile_a[ty, tx] = a[row, start + tx] if {INSIDE_A} "
         "else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        tile_b[ty, tx] = b[start + ty, col] if {INSIDE_B} "
         "else float32(0)\n"),
    ],
    "zero otherwise": [
        (ZERO_A, ""),
        (LOAD_A, f"{LOAD_A}        else:\n            tile_a[ty, tx] = float32(0)\n"),
    ],
    "numbers of tiles": [
        (TURNS, "range((k + TILE - 1) // TILE)"),
        ("start + tx", "start * TILE + tx"),
        ("start + ty", "start * TILE + ty"),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "sums that end with k, and no zeros": [
        (ZERO_A, ""), (ZERO_B, ""), ("range(TILE)", "range(min(TILE, k - start))"),
    ],
    "rows outside are not filled": [
        (ZERO_A + LOAD_A, "        if row < m:\n            tile_a[ty, tx] = a[row, start + tx] "
         "if start + tx < k else float32(0)\n"),
    ],
    "loaded ahead into registers": [
        (ZERO_A + LOAD_A, f"        of_a = a[row, start + tx] if {INSIDE_A} else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        of_b = b[start + ty, col] if {INSIDE_B} else float32(0)\n"
         "        cuda.syncthreads()\n"
         "        tile_a[ty, tx], tile_b[ty, tx] = of_a, of_b\n"),
        (USED, ""),
    ],
    "a padded tile": [
        (ARRAY_B, ARRAY_B.replace("(TILE, TILE)", "(TILE, WIDE)")),
        ("TILE = 16", "TILE = 16\nWIDE = 48"),
    ],
    "backwards": [(TURNS, "range((k - 1) // TILE * TILE, -1, -TILE)")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row, col]", "out[row, col]"),
    ],
}  # fmt: skip

# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero.
HARMLESS = {
    f"{rule} in `tile_{name}[ty, tx] = float32(0)`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for name in "ab"
}
