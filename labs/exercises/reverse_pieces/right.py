"""Other right answers to `reverse_pieces`: changes of the solution that `check` accepts."""

from labs.exercises.reverse_pieces.wrong import END, INDEX, LOAD, STORE, WAIT

RIGHT = {
    "place 1": [(END, STORE), (INDEX, INDEX + WAIT)],
    "a tile for every piece": [
        (END, STORE), ("array(64,", "array((4, 64),"), ("tile[t]", "tile[piece, t]"),
        ("tile[63 - t]", "tile[piece, 63 - t]"),
    ],
    "two tiles in turns": [
        (END, STORE), ("array(64,", "array((2, 64),"), ("tile[t]", "tile[piece % 2, t]"),
        ("tile[63 - t]", "tile[piece % 2, 63 - t]"),
    ],
    "not after the last piece": [(END, f"{STORE}        if piece < PIECES - 1:\n    {WAIT}")],
    "read before the test": [
        (WAIT + "        if i < x.size:\n" + END,
         WAIT + "        word = tile[63 - t]\n" + WAIT
         + "        if i < x.size:\n            out[i] = word\n"),
    ],
    "zeros by a branch": [
        (LOAD, "        if i < x.size:\n            tile[t] = x[i]\n"
         "        else:\n            tile[t] = float32(0)\n"),
    ],
}  # fmt: skip

HARMLESS = {
    "float64 in `tile[t] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
    "constant_one_more in `tile = cuda.shared.array(64, float32)`":
        "the last word of the tile is never used",
}  # fmt: skip
