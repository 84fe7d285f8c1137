"""Other right answers to `double_buffer`: changes of the solution that `check` accepts."""

from labs.exercises.double_buffer.wrong import (
    BARRIER,
    COMMENT,
    END,
    FIRST_A,
    FIRST_B,
    FLIP,
    FROM_HERE,
    LOADED,
    NEXT,
    NEXT_A,
    NEXT_B,
    PUT,
    PUT_A,
    PUT_B,
    STORE,
    SUMS,
    TURNS,
)

START = "start, side = uint32(0), uint32(0)"
VALUE_A, VALUE_B = (line.split(" = ")[1].strip() for line in (NEXT_A, NEXT_B))

# Small slips that change nothing. What fills up one tile meets zeros of the other, so it may be
# any finite number, and where it is a float64 the store makes it a float32.
HARMLESS = {
    f"{slip} in `{line.strip()}`": "the other tile holds zero there"
    for slip in ("constant_one_less", "constant_one_more", "float64")
    for line in (FIRST_A, FIRST_B, NEXT_A, NEXT_B)
} | {
    f"names_exchanged in `{START}`": "both are 0",
    f"constant_one_more in `{START}`": "it may begin with side 1",
    "constant_one_more in `tile_a = cuda.shared.array((2, TILE, TILE), float32)`": "a spare side",
    "constant_one_more in `tile_b = cuda.shared.array((2, TILE, TILE), float32)`": "a spare side",
}

RIGHT = {
    "the side by a difference": [(FLIP, "        side = 1 - side\n")],
    "a loop over a range": [
        (START, "side = uint32(0)"), (TURNS + NEXT, "for start in range(TILE, k + TILE, TILE):\n"),
    ],
    "the side from the number of the tile": [
        (FLIP, "        side = start // TILE % 2\n"),
    ],
    "the barrier before the sums": [
        (END, PUT), (SUMS, BARRIER + SUMS), (LOADED, "    while"),
    ],
    "the last tile behind the loop": [
        (TURNS, "while start + TILE < k:\n"),
        (STORE, SUMS.replace("        for", "    for").replace("            total", "        total")
         + STORE),
    ],
    "nothing loaded in the last turn": [
        (FROM_HERE + NEXT_A + NEXT_B,
         "        if start < k:\n    " + NEXT_A + "    " + NEXT_B),
        (COMMENT + FLIP + END,
         "        if start < k:\n    " + FLIP + "    " + PUT_A + "    " + PUT_B + "    " + BARRIER),
    ],
    "three sides": [
        ("(2, TILE", "(3, TILE"), (FLIP, "        side = (side + 1) % 3\n"),
    ],
    "one array of four": [
        ("    tile_b = cuda.shared.array((2, TILE, TILE), float32)\n", ""),
        ("(2, TILE", "(4, TILE"), ("tile_b[side", "tile_a[2 + side"),
    ],
    "zeros by if": [
        (NEXT_A, "        next_a = float32(0)\n        if row < m and start + tx < k:\n"
         "            next_a = a[row, start + tx]\n"),
    ],
    "both loads in one statement": [
        (NEXT_A + NEXT_B, f"        next_a, next_b = ({VALUE_A}), ({VALUE_B})\n"),
    ],
    "registers in a local array": [
        ("    total = float32(0)\n",
         "    total = float32(0)\n    ahead = cuda.local.array(2, float32)\n"),
        ("next_a", "ahead[0]"), ("next_b", "ahead[1]"),
    ],
    "terms from below": [(SUMS, SUMS.replace("range(TILE)", "range(TILE - 1, -1, -1)"))],
}  # fmt: skip
