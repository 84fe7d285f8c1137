"""Wrong answers to `transpose`: what `check` says, and the changes that earn it."""

WIDE = "PADDED = 33  # one more than is stored in a row"
ROOM = "    tile = cuda.shared.array((SIDE, PADDED), float32)\n"
IN_A, INTO = "row < m and col < n", "tile[ty, tx]"
LOADS = f"    if {IN_A}:\n        {INTO} = a[row, col]\n"
WAIT = "    cuda.syncthreads()  # the tile is complete\n"
TURN = "    row, col = cuda.blockIdx.x * SIDE + ty, cuda.blockIdx.y * SIDE + tx  # in out\n"
IN_OUT, FROM = "row < n and col < m", "tile[tx, ty]"
STORES = f"    if {IN_OUT}:\n        out[row, col] = {FROM}\n"
BODY = f"{ROOM}{LOADS}{WAIT}{TURN}{STORES}"
AS_IN_A = [(TURN, ""), (IN_OUT, IN_A)]  # one place for the load and the store
EXCHANGED = (TURN, "    row, col = col, row\n")
BACK = ("out[row, col]", "out[col, row]")

WRONG = {
    "store `out` 64 words apart, a whole row": {
        "a plain copy": [(BODY, f"    if {IN_A}:\n        out[col, row] = a[row, col]\n")],
        "down the columns of out": [*AS_IN_A, BACK, (FROM, INTO)],
        "row and column exchanged": [EXCHANGED, (FROM, INTO)],
    },
    "load `a` 96 words apart, a whole row": {
        "a plain copy down a": [(BODY, TURN + STORES.replace(FROM, "a[col, row]"))],
        "tx and ty exchanged": [("tx, ty = ", "ty, tx = ")],
    },
    "is loaded 2 times": {"the tile not used": [(FROM, "a[col, row]")]},
    "32 wavefronts": {"rows of 32 words": [(WIDE, "PADDED = 32")]},
    "so they meet in bank 0": {
        "34 columns": [(WIDE, "PADDED = 34")], "40 columns": [(WIDE, "PADDED = 40")],
        "one more row": [("(SIDE, PADDED)", "(PADDED, SIDE)")],
        "a float64 tile": [("float32", "float64")],
    },
    "must be known before the kernel runs": {"a computed size": [("PADDED)", "SIDE + 1)")]},
    "your `SIDE` is 33": {"a larger side": [("SIDE = 32", "SIDE = 33")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier": [(WAIT, "")],
        "the barrier before the loads": [(WAIT, ""), (ROOM, ROOM + WAIT)],
        "the barrier after the stores": [(WAIT, ""), (STORES, STORES + WAIT)],
    },
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The tile is "
    "loaded by 32 warps.": {"a barrier of a warp": [("syncthreads", "syncwarp")]},
    "brackets are missing": {"a barrier that is not called": [("syncthreads()", "syncthreads")]},
    "the branch `if row < m and col < n`": {"a barrier in the branch": [(WAIT, f"    {WAIT}")]},
    "passes 2 barriers": {"a second barrier": [(STORES, STORES + WAIT)]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{a}`. But these threads have elements of `{out}` to store.": {
        "some threads leave": [(ROOM, f"{ROOM}    if row >= m or col >= n:\n        return\n")],
    },
    "is a local array": {"a tile for each thread": [("shared", "local")]},
    "No line of your kernel stores into `tile`": {"no loads": [(LOADS, "")]},
    "Line {load a} fills the tile, but nothing goes from there to `{out}`: the store is missing, "
    "or its test stops every thread.": {
        "no stores": [(STORES, "")],
        "the test turned round": [(IN_OUT, "row >= n and col >= m")],
    },
    "`cuda.blockIdx.x` counts columns of `{a}`, and here it counts columns of `{out}` as well. But "
    "`{out}` has as many columns as `{a}` has rows.": {
        "copied": [(BODY, f"    if {IN_A}:\n        out[row, col] = a[row, col]\n")],
        "the place in a": AS_IN_A,
        "indices exchanged twice": [BACK],
    },
    "Each block stores its tile at the place that the tile has in `{a}`. So as many rows are "
    "written as the grid has blocks along `y`, times 32.": {
        "the blocks not exchanged": [(TURN, "")],
        "indices exchanged twice, with their test": [BACK, (IN_OUT, "col < n and row < m")],
    },
    "Each tile is in the right place in `{out}`, but its elements are in the order of `{a}`.": {
        "read as stored": [(FROM, INTO)],
        "stored transposed, too": [(INTO, FROM)],
        "exchanged in the tile and in out": [*AS_IN_A, BACK],
        "row and column exchanged, and the tile": [EXCHANGED],
    },
    "The rows end at 64. That is m, the rows of `{a}`; `{out}` has n = 96 rows.": {
        "the sizes exchanged at the store": [(IN_OUT, IN_A)],
        "m and n exchanged": [("m, n = ", "n, m = ")],
    },
    "No thread of this block has loaded anything. Either the test before line {load a} compares "
    "rows with n and columns with m, or `cuda.blockIdx.x` counts rows there.": {
        "the sizes exchanged at the load": [(IN_A, IN_OUT)],
        "x and y exchanged": [("row, col = cuda.blockIdx.y", "col, row = cuda.blockIdx.y")],
    },
    "The last tiles reach over the edge of `{array}`. No test stops this index there, or the "
    "test looks at another row or column.": {
        "no test at the load": [(IN_A, "True")], "none at the store": [(IN_OUT, "True")],
        "one test for both": [(TURN, f"    inside = {IN_A}\n{TURN}"), (IN_OUT, "inside")],
        "no row test, a": [(IN_A, "col < n")], "no column test, a": [(IN_A, "row < m")],
        "no row test, out": [(IN_OUT, "col < m")], "no column test, out": [(IN_OUT, "row < n")],
    },
    "That is one too far: a test lets the index pass that is equal to the size.": {
        "<= at the load": [("row < m and col <", "row <= m and col <=")],
        "<= at the store": [("row < n and col <", "row <= n and col <=")],
        "col <= n": [("col < n", "col <= n")], "col <= m": [("col < m", "col <= m")],
    },
    "The test before line {load a} stops the last row or column of `{a}`, which is inside.": {
        "a row too few": [("row < m", "row < m - 1")],
        "a column too few": [("col < n", "col < n - 1")],
    },
    "The test before line {store out} stops the last row or column of `{out}`, which is inside.": {
        "a row of out too few": [("row < n", "row < n - 1")],
        "a column of out too few": [("col < m", "col < m - 1")],
    },
    "This array is too small for a tile of 32×32.": {"31 columns": [(WIDE, "PADDED = 31")]},
    "A tile has rows and columns 0 to 31, and this index counts those of the whole matrix.": {
        "into row, col": [(INTO, "tile[row, col]")], "from col, row": [(FROM, "tile[col, row]")],
    },
    "All blocks store into the same rows or columns of `{out}`, as many as one block covers: the "
    "number of the block is missing there.": {
        "only the first tile": [(TURN, "    row, col = ty, tx\n")],
        "only the first columns": [("cuda.blockIdx.y * SIDE + tx", "tx")],
        "only the first rows": [("cuda.blockIdx.x * SIDE + ty", "ty")],
    },
    "Two threads store different elements of `{a}` into one element of the tile.": {
        "a row for a tile": [("(SIDE, PADDED)", "SIDE"), (INTO, "tile[tx]"), (FROM, "tile[ty]")],
        "into one column": [(INTO, "tile[ty, 0]")], "into the diagonal": [(INTO, "tile[tx, tx]")],
    },
    "The fractions are lost: the tile holds whole numbers.": {"int32 tile": [("float32", "int32")]},
    "before anything was stored": {"adds": [("] = tile", "] += tile")]},
    "changes `a`, which is an input": {"in place": [("out[row, col]", "a[row, col]")]},
    "a kernel has none": {"whole arrays": [(BODY, "    out[:] = a.T\n")]},
}  # fmt: skip
