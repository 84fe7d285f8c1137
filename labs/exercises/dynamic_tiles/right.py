"""Other right answers to `dynamic_tiles`: changes of the solution that `check` accepts."""

from labs.exercises.dynamic_tiles.wrong import (
    ARRAY,
    INSIDE_A,
    INSIDE_B,
    LOAD_A,
    LOAD_B,
    OF_A,
    OF_B,
    READ_A,
    READ_B,
    SECOND,
    SIDE,
    TURNS,
    ZERO_A,
    ZERO_B,
)

RIGHT = {
    "a value or zero": [
        (ZERO_A + LOAD_A, f"        {OF_A} = a[row, start + tx] if {INSIDE_A} else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        {OF_B} = b[start + ty, col] if {INSIDE_B} else float32(0)\n"),
    ],
    "the tile of b first": [
        (OF_B, "tiles[MINE]"), (OF_A, OF_B), ("tiles[MINE]", OF_A),
        (READ_B, "tiles[i * side + tx]"), (READ_A, "tiles[second + ty * side + i]"),
    ],
    "a name for the own element": [
        (f"    {SECOND}", f"    mine = ty * side + tx\n    {SECOND}"),
        (OF_A, "tiles[mine]"), (OF_B, "tiles[second + mine]"),
    ],
    "from the size of the array": [(SECOND, "second = tiles.size // 2")],
    "the other side of the block": [(SIDE, "side = cuda.blockDim.y")],
    "two slices": [
        (f"    {SECOND}", "    of_a, of_b = tiles[:side * side], tiles[side * side:]\n"
         f"    {SECOND}"),
        (OF_A, "of_a[ty * side + tx]"), (OF_B, "of_b[ty * side + tx]"),
        (READ_A, "of_a[ty * side + i]"), (READ_B, "of_b[i * side + tx]"),
    ],
    "two names of one memory": [
        (ARRAY, f"{ARRAY}\n    same = cuda.shared.array(0, float32)"),
        (OF_B, "same[second + ty * side + tx]"), (READ_B, "same[second + i * side + tx]"),
    ],
    "numbers of tiles": [
        (TURNS, "range((k + side - 1) // side)"),
        ("start + tx", "start * side + tx"), ("start + ty", "start * side + ty"),
    ],
    "sums that end with k": [
        (ZERO_A, ""), (ZERO_B, ""), ("range(side)", "range(min(side, k - start))"),
    ],
}  # fmt: skip

# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero.
HARMLESS = {"x_for_y in `side = cuda.blockDim.x`": "blocks are square"} | {
    f"{rule} in `{element} = float32(0)`": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for element in (OF_A, OF_B)
}
