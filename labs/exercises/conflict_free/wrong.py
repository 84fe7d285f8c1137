"""Wrong answers to `conflict_free`: what `check` says, and the changes that earn it."""

WIDE = "PADDED = 33  # one more than is stored in a row"
ARRAY_A = "tile_a = cuda.shared.array((SIDE, SIDE), float32)"
ARRAY_B = "tile_b = cuda.shared.array((SIDE, PADDED), float32)"
TRANSPOSED = (WIDE, "PADDED = 32")
INTO = "tile_b[tx, ty]"
FROM = "tile_b[tx, i]"
INSIDE = "start + ty < k and col < n"
LOAD = f"{INTO} = b[start + ty, col] if {INSIDE} else float32(0)"
TERM = "total += tile_a[ty, i] * tile_b[tx, i]"

WRONG = {
    "no tile is stored transposed any more": {
        "stored as it is read": [TRANSPOSED, (INTO, "tile_b[ty, tx]"), (FROM, "tile_b[i, tx]")]},
    "32 wavefronts": {
        "nothing changed": [TRANSPOSED],
        "twice as wide": [(WIDE, "PADDED = 64")]},
    "a store of `tile_b` takes 32 wavefronts": {
        "the tile of a padded": [TRANSPOSED,
            (ARRAY_A, ARRAY_A.replace("(SIDE, SIDE)", "(SIDE, 33)"))],
        "one more row": [(ARRAY_B, ARRAY_B.replace("(SIDE, PADDED)", "(PADDED, SIDE)"))],
        "only the terms rotated": [TRANSPOSED, ("[ty, i]", "[ty, (i + tx) % SIDE]"),
            ("[tx, i]", "[tx, (i + tx) % SIDE]")]},
    "Lanes 0 and 16": {"two more columns": [(WIDE, "PADDED = 34")]},
    "Lanes 0 and 8": {"four more columns": [(WIDE, "PADDED = 36")]},
    "a block has 49152": {"too wide for a block": [(WIDE, "PADDED = 401")]},
    "must be known before the kernel runs": {
        "a computed size": [("(SIDE, PADDED)", "(SIDE, SIDE + 1)")]},
    "your `SIDE` is 33": {"larger tiles": [("SIDE = 32", "SIDE = 33")]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "only the store turned": [(INTO, "tile_b[ty, tx]")],
        "only the load turned": [(FROM, "tile_b[i, tx]")]},
    "All elements of a tile of `{b}` are used, but in another order: where it is stored and where "
    "it is read do not agree.": {
        "only the store rotated": [(INTO, "tile_b[tx, (ty + tx) % SIDE]")],
        "only the load rotated": [(FROM, "tile_b[tx, (i + tx) % SIDE]")],
        "rotated both ways": [(INTO, "tile_b[tx, (ty + tx) % SIDE]"),
            (FROM, "tile_b[tx, (i - tx) % SIDE]")]},
    "This index goes on to 62: it is too large, or the array is too small.": {
        "rotated without end": [TRANSPOSED, (INTO, "tile_b[tx, ty + tx]"),
            (FROM, "tile_b[tx, i + tx]")]},
    "Two threads store different values into one element of the tile.": {
        "rotated by the wrong index": [(INTO, "tile_b[tx, (ty + ty) % SIDE]"),
            (FROM, "tile_b[tx, (i + ty) % SIDE]")]},
    "128 words apart, a whole row": {
        "global memory in another order": [(LOAD,
             "other = cuda.blockIdx.x * SIDE + ty\n        tile_b[ty, tx] = "
             "b[start + tx, other] if start + tx < k and other < n else float32(0)")]},
    "every element of `b`": {
        "b from global memory": [(TERM, "if start + i < k and col < n:\n"
             "                total += tile_a[ty, i] * b[start + i, col]")]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {"a local array": [(ARRAY_B, ARRAY_B.replace("shared", "local"))]},
    "works in float64": {
        "a float64 tile": [(ARRAY_B, ARRAY_B.replace("float32", "float64")),
            ("cuda, float32", "cuda, float32, float64")]},
    "A tile has 32 of them, 0 to 31, and this index takes one more.": {
        "the sum over the padding, too": [("range(SIDE)", "range(PADDED)")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [("        cuda.syncthreads()\n        for", "        for")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {
        "no barrier after the sums": [(f"{TERM}\n        cuda.syncthreads()\n", f"{TERM}\n")]},
    "a store of `tile_a` takes 32 wavefronts": {
        "the tile of a transposed, too": [("tile_a[ty, tx]", "tile_a[tx, ty]"),
            ("tile_a[ty, i]", "tile_a[i, ty]")]},
    "This index goes on to 1054: it is too large, or the array is too small.": {
        "a flat tile that is too small": [("(SIDE, PADDED)", "1024"),
            (INTO, "tile_b[tx * 33 + ty]"), (FROM, "tile_b[tx * 33 + i]")]},
    "It concerns 7,996 threads, with columns 98 to 127: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "no test at the load": [(f" if {INSIDE} else float32(0)", "")]},
}  # fmt: skip
