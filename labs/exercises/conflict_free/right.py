"""Other right answers to `conflict_free`: changes of the solution that `check` accepts."""

from labs.exercises.conflict_free.wrong import ARRAY_A, FROM, INTO, TRANSPOSED, WIDE

RIGHT = {
    "three more columns": [(WIDE, "PADDED = 35")],
    "rotated rows": [
        TRANSPOSED,
        (INTO, "tile_b[tx, (ty + tx) % SIDE]"),
        (FROM, "tile_b[tx, (i + tx) % SIDE]"),
    ],
    "columns exchanged by bits": [
        TRANSPOSED,
        (INTO, "tile_b[tx, ty ^ tx]"),
        (FROM, "tile_b[tx, i ^ tx]"),
    ],
    "a flat tile": [
        ("(SIDE, PADDED)", "1056"),
        (INTO, "tile_b[tx * 33 + ty]"),
        (FROM, "tile_b[tx * 33 + i]"),
    ],
    "both tiles padded": [(ARRAY_A, ARRAY_A.replace("(SIDE, SIDE)", "(SIDE, PADDED)"))],
}

# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero.
HARMLESS = {
    f"{rule} in `{element} = ": "the other tile holds zero there"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for element in ("tile_a[ty, tx]", "tile_b[tx, ty]")
}
