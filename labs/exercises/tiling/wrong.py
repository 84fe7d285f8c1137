"""Wrong answers to `tiling`: what `check` says, and the changes that earn it."""

LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
ZERO_A = "        tile_a[ty, tx] = float32(0)\n"
ZERO_B = "        tile_b[ty, tx] = float32(0)\n"
INSIDE_A = "row < m and start + tx < k"
INSIDE_B = "start + ty < k and col < n"
LOAD_A = f"        if {INSIDE_A}:\n            tile_a[ty, tx] = a[row, start + tx]\n"
LOAD_B = f"        if {INSIDE_B}:\n            tile_b[ty, tx] = b[start + ty, col]\n"
TURNS = "range(0, k, TILE)"
TERM = "total += tile_a[ty, i] * tile_b[i, tx]"
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
TOTAL = "    total = float32(0)\n"
ARRAY_B = "tile_b = cuda.shared.array((TILE, TILE), float32)"

WRONG = {
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "")],
        "no barrier at all": [(LOADED, ""), (USED, "")],
        "the first barrier before the loads": [(LOADED, ""), (ZERO_A, LOADED + ZERO_A)],
        "barriers behind the loop": [(LOADED, ""), (USED, ""),
            (STORE, f"    cuda.syncthreads()\n{STORE}")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "`cuda.syncthreads` in line 24": {
        "barriers that are not called": [("cuda.syncthreads()", "cuda.syncthreads")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The tile is "
    "loaded by 8 warps.": {"barriers of a warp": [("cuda.syncthreads()", "cuda.syncwarp()")]},
    "the branch `if row < m and col < n` of line 24": {
        "a barrier for threads with an element": [
            (LOADED, f"        if row < m and col < n:\n    {LOADED}")]},
    "the branch `if start + ty < k and col < n`": {
        "a barrier for threads that load": [(LOAD_B, LOAD_B + "            cuda.syncthreads()\n"),
            (LOADED, "")]},
    "the branch `if tx > 0`": {
        "a barrier for some threads": [(USED, f"        if tx > 0:\n    {USED}")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [
            (TOTAL, f"    if row >= m or col >= n:\n        return\n{TOTAL}")]},
    "18 barriers per tile": {
        "a barrier at each term": [(f"{TERM}\n", f"{TERM}\n            cuda.syncthreads()\n")]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "b stored transposed": [("tile_b[ty, tx]", "tile_b[tx, ty]")],
        "b read transposed": [("tile_b[i, tx]", "tile_b[tx, i]")]},
    "Lanes 0 and 2": {
        "b stored and read transposed": [("tile_b[ty, tx]", "tile_b[tx, ty]"),
            ("tile_b[i, tx]", "tile_b[tx, i]")]},
    "The tile of `{a}` is read transposed: its two indices are exchanged.": {
        "a read transposed": [("tile_a[ty, i]", "tile_a[i, ty]")]},
    "Both tiles are read transposed: their indices are exchanged.": {
        "both read transposed": [("tile_a[ty, i]", "tile_a[i, ty]"),
            ("tile_b[i, tx]", "tile_b[tx, i]")]},
    "In a tile of `{c}` all rows are alike: that of `{a}` is read with `tx` as its row.": {
        "tx for ty in the tile of a": [("tile_a[ty, i]", "tile_a[tx, i]")]},
    "In a tile of `{c}` all columns are alike: that of `{b}` is read with `ty` as its column.": {
        "ty for tx in the tile of b": [("tile_b[i, tx]", "tile_b[i, ty]")]},
    "Each tile of `{c}` is transposed: `tx` and `ty` are exchanged.": {
        "tx and ty exchanged in the sum": [(TERM, "total += tile_a[tx, i] * tile_b[i, ty]")]},
    "80 words apart, a whole row": {
        "tx and ty exchanged from the start": [("tx, ty = ", "ty, tx = ")]},
    "load `a` 80 words apart, a whole row": {
        "a loaded down its columns": [(LOAD_A, "        other = cuda.blockIdx.y * TILE + tx\n"
             "        if other < m and start + ty < k:\n"
             "            tile_a[tx, ty] = a[other, start + ty]\n"),
            (ZERO_A, "        tile_a[tx, ty] = float32(0)\n")]},
    "In a row of the tile of `{a}` all elements are alike: `{a}` is loaded with `ty` as "
    "its column.": {"ty for tx where a is loaded": [("start + tx", "start + ty")]},
    "In a column of the tile of `{b}` all elements are alike: `{b}` is loaded with `tx` as "
    "its row.": {"tx for ty where b is loaded": [("start + ty", "start + tx")]},
    "Every turn loads the same tile of `{a}`, the one at the column of the block.": {
        "the column of c where a is loaded": [("start + tx < k", "col < k"),
            ("a[row, start + tx]", "a[row, col]")]},
    "Every turn loads the same tile of `{b}`, the one at the row of the block.": {
        "the row of c where b is loaded": [("start + ty < k", "row < k"),
            ("b[start + ty, col]", "b[row, col]")]},
    "`{a}` is loaded with the number of the column instead of the row.": {
        "the column for the row of a": [("a[row, start", "a[col, start")]},
    "`{b}` is loaded with the number of the row instead of the column.": {
        "the row for the column of b": [("ty, col]", "ty, row]")]},
    "Every block loads the rows of `{a}` that the first blocks need.": {
        "the row of a without its block": [("a[row, start", "a[ty, start")]},
    "Every block loads the columns of `{b}` that the first blocks need.": {
        "the column of b without its block": [("ty, col]", "ty, tx]")]},
    "Every turn loads the first tile of `{a}` again.": {
        "a without the start": [("start + tx", "tx")]},
    "Every turn loads the first tile of `{b}` again.": {
        "b without the start": [("start + ty", "ty")]},
    "Only the terms of the first tile are in the sum, 5 times: every turn loads it again.": {
        "both without the start": [("start + tx", "tx"), ("start + ty", "ty")]},
    "Each turn starts one term further, and not one tile further: tiles overlap, and term 2 counts "
    "3 times.": {
        "the number of the tile for its start": [(TURNS, "range((k + TILE - 1) // TILE)")],
        "a loop by 1": [(TURNS, "range(0, k)")]},
    "The last tile is missing. It is not full: k = 33 is 2 times 16 and 1 more.": {
        "only whole tiles": [(TURNS, "range(0, k // TILE * TILE, TILE)")]},
    "6 tiles in place of 5": {
        "one tile too many": [(TURNS, "range(0, (k // TILE + 1) * TILE, TILE)")]},
    "The last tile is missing: the loop ends one tile too early.": {
        "one tile too few": [(TURNS, "range(0, k - TILE, TILE)")]},
    "The first tile is missing: the loop starts one tile too late.": {
        "the first tile left out": [(TURNS, "range(TILE, k, TILE)")]},
    "Only the terms of the first tile are in the sum.": {
        "only the first tile": [(TURNS, "range(0, TILE, TILE)")]},
    "All terms from i = 48 on are missing. 48 is n, the columns of `{b}`; a sum has k = "
    "80 terms.": {
        "a loop to n": [(TURNS, "range(0, n, TILE)")],
        "the term of a tested with n": [("start + tx < k", "start + tx < n")]},
    "All terms from i = 32 on are missing. 32 is m, the rows of `{a}`; a sum has k = 80 terms.": {
        "a loop to m": [(TURNS, "range(0, m, TILE)")],
        "the term of b tested with m": [("start + ty < k", "start + ty < m")],
        "m and k exchanged": [("(m, k), n", "(k, m), n")]},
    "`while start < k`": {
        "a loop for ever": [(f"for start in {TURNS}:", "start = 0\n    while start < k:")]},
    "The last tile reaches over the end of the sum, k = 33: this index goes from 33 to 47. No test "
    "stops it, or one that looks at something else.": {
        "the end of the sum not tested for a": [(INSIDE_A, "row < m")],
        "the end of the sum not tested for b": [(INSIDE_B, "col < n")],
        "tx tested in place of the term": [("and start + tx < k", "and tx < k")]},
    "That is one too far: the last term is k - 1 = 32. A test lets 33 pass: `<=` stands where `<` "
    "is meant, or `>` where `>=` is.": {
        "the term of a tested with <=": [("start + tx < k", "start + tx <= k")],
        "the term of b tested with <=": [("start + ty < k", "start + ty <= k")]},
    "At k = 80 every sum lacks the term i = 79: 1 of 80. Where does the loop start and end, and "
    "which part of it is left over?": {
        "the last term taken for outside": [("start + tx < k", "start + tx < k - 1")]},
    "It concerns 960 threads, with rows 17 to 31: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the row of a not tested": [(INSIDE_A, "start + tx < k")]},
    "Zero stands in row 31, and all others are right: a test takes what `{a}` has there for "
    "outside.": {
        "the last row of a taken for outside": [(INSIDE_A, "row < m - 1 and start + tx < k")]},
    "Zero stands in column 47, and all others are right: a test takes what `{b}` has there for "
    "outside.": {
        "the last column of b taken for outside": [(INSIDE_B, "start + ty < k and col < n - 1")]},
    "It concerns 448 threads, with columns 50 to 63: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the column of b not tested": [(INSIDE_B, "start + ty < k")]},
    "The terms 17 to 31 count twice. In the last tile, which is not full, they still stand where "
    "the turn before has stored them.": {"no zeros at all": [(ZERO_A, ""), (ZERO_B, "")]},
    "The tile reaches over the edge of the matrix there. No thread stores anything in that part of "
    "it, and it is read all the same.": {
        "no zeros in the tile of a": [(ZERO_A, "")],
        "no zeros in the tile of b": [(ZERO_B, "")]},
    "Here the inputs hold an infinity each. The last tile ends at term 23; behind it one tile "
    "still holds what the turn before has left there, and the other a zero. Infinity times 0 is "
    "NaN.": {"zeros in the tile of a once": [(ZERO_A, ""), (TOTAL, TOTAL + ZERO_A[4:])]},
    "Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "the total set at each tile": [(LOADED, f"{LOADED}    {TOTAL}")]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "the total set at each term": [("total += ", "total = ")]},
    "Every element is wrong by the same number, 1. With what value does the sum start?": {
        "the total starts at 1": [("total = float32(0)", "total = float32(1)")]},
    "Every term is subtracted, and not added.": {"terms taken away": [("total +=", "total -=")]},
    "A term is the sum of its two elements, and not their product.": {
        "terms added": [("i] * tile_b", "i] + tile_b")]},
    "works in float64": {
        "a float64 total": [("total = float32(0)", "total = 0.0")],
        "a float64 tile": [(ARRAY_B, ARRAY_B.replace("float32", "float64")),
            ("cuda, float32", "cuda, float32, float64")]},
    "Here the inputs hold an infinity each, and it is not in the result: somewhere between them a "
    "type does not hold what float32 holds.": {
        "a tile of whole numbers": [(ARRAY_B, ARRAY_B.replace("float32", "int32")),
            ("cuda, float32", "cuda, float32, int32")]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {"local arrays": [("cuda.shared.array", "cuda.local.array")]},
    "This launch has blocks of 16×16 threads, and your `TILE` is 8": {
        "tiles of 8": [("TILE = 16", "TILE = 8")]},
    "This launch has blocks of 16×16 threads, and your `TILE` is 32": {
        "tiles of 32": [("TILE = 16", "TILE = 32")]},
    "A tile of this launch has 16 rows and 16 columns; this array has 15 there.": {
        "an array of 15 columns": [(ARRAY_B, "tile_b = cuda.shared.array((TILE, LESS), float32)"),
            ("TILE = 16", "TILE = 16\nLESS = 15")]},
    "must be known before the kernel runs": {
        "a computed size": [(ARRAY_B, "tile_b = cuda.shared.array((TILE, TILE + 1), float32)")]},
    "every element of `b`": {
        "b from global memory": [(TERM, "if start + i < k and col < n:\n"
             "                total += tile_a[ty, i] * b[start + i, col]")]},
    "a load for each multiply-add": {
        "no tiles": [(ZERO_A, ""), (ZERO_B, ""), (LOAD_A, ""), (LOAD_B, ""), (LOADED, ""),
            (USED, ""), (TERM, "if row < m and start + i < k and col < n:\n"
             "                total += a[row, start + i] * b[start + i, col]")]},
    "load what others of them load": {
        "every thread loads a row": [(ZERO_A, ""), (LOAD_A,
             "        for j in range(TILE):\n            tile_a[ty, j] = "
             "a[row, start + j] if row < m and start + j < k else float32(0)\n")]},
    "only 2 of 32 lanes work": {
        "one thread loads a row": [(ZERO_A, ""), (LOAD_A,
             "        if tx == 0:\n            for j in range(TILE):\n"
             "                tile_a[ty, j] = "
             "a[row, start + j] if row < m and start + j < k else float32(0)\n")]},
    "The tile of `{b}` is multiplied with itself: nothing of `{a}` is in the result.": {
        "one tile for both": [("tile_b[", "tile_a[")]},
    "No line of your kernel stores into `{array}`.": {
        "nobody fills the tile of b": [(ZERO_B, ""), (LOAD_B, "")]},
    "In every tile the last term is missing: i = 15, 31, 47 ….": {
        "the sum ends one too early": [("range(TILE)", "range(TILE - 1)")]},
    "In every tile the first term is missing: i = 0, 16, 32 ….": {
        "the sum starts at 1": [("range(TILE)", "range(1, TILE)")]},
    "A tile has 16 of them, 0 to 15, and this index takes one more.": {
        "the sum takes one more": [("range(TILE)", "range(TILE + 1)")]},
    "This index goes on to 79: it is too large, or the array is too small.": {
        "the sum goes to k": [("range(TILE)", "range(k)")]},
    "Every term counts 2 times, and not once.": {
        "each term twice": [("tile_b[i, tx]\n", "(tile_b[i, tx] + tile_b[i, tx])\n")]},
    "no thread ever stores into `c`": {"no store": [(STORE, "    total += total\n")]},
    "It concerns 1,198 threads, with rows 17 to 31: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the store not tested": [(STORE, "    c[row, col] = total\n")]},
    "It concerns 238 threads, with columns 50 to 63: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the store tests rows alone": [(STORE, STORE.replace(" and col < n", ""))]},
    "That is one too far: the last row is 16. A test lets row 17 pass: `<=` stands where `<` is "
    "meant, or `>` where `>=` is.": {
        "the store tested with <=": [(STORE, STORE.replace("<", "<="))]},
    "The columns end at 33. That is k; `{c}` has 50 of them.": {
        "the store tested with k": [(STORE, STORE.replace("col < n", "col < k"))],
        "n taken from a": [("b.shape[1]", "a.shape[1]")]},
    "7,680 times for 1,536 elements of `c`. That is 5 stores": {
        "a store at each tile": [
            (STORE, "        if row < m and col < n:\n            c[row, col] = total\n")]},
    "other lines store 1,536 times. That is 6 stores for an element": {
        "a store at each tile and one behind": [
            (STORE, f"        if row < m and col < n:\n            c[row, col] = total\n{STORE}")]},
    "a kernel has none: a thread stores one element": {
        "an array copied": [
            (LOAD_A, "        tile_a[:] = a[row:row + TILE, start:start + TILE]\n")]},
    "Numba refuses it, too: write a loop": {
        "a product of NumPy's": [(TERM, "total += np.dot(tile_a[ty], tile_b[:, tx])"),
            ("from numba import", "import numpy as np\nfrom numba import")]},
    "a kernel computes element by element": {
        "a product of matrices": [(TERM, "total += tile_a[ty] @ tile_b[:, tx]")]},
    "the name tileb is not defined.": {
        "a name that is not defined": [("tile_b[i, tx]", "tileb[i, tx]")]},
    "On square matrices your result is the right one transposed: row and column are exchanged "
    "where `{c}` is stored.": {"stored transposed": [("c[row, col]", "c[col, row]")]},
    "before anything was stored": {"adds up in c": [("c[row, col] =", "c[row, col] +=")]},
    "Only rows 0 to 15 are written, as many as one block covers: all blocks compute the same rows. "
    "The number of the block is missing there.": {
        "stored in the first block": [("c[row, col]", "c[ty, tx]"),
            ("if row < m and col < n", "if ty < m and tx < n")],
        "rows of the first blocks": [("cuda.blockIdx.y * TILE + ty", "ty")]},
    "Only columns 0 to 15 are written, as many as one block covers: all blocks compute the same "
    "columns. The number of the block is missing there.": {
        "columns of the first blocks": [("cuda.blockIdx.x * TILE + tx", "tx")]},
    "As many columns are written as this grid has blocks along `y`, times 16: in your kernel "
    "`blockIdx.x` counts rows and `blockIdx.y` columns.": {
        "x and y of the block exchanged": [("blockIdx.y * TILE + ty", "blockIdx.x * TILE + ty"),
            ("cuda.blockIdx.x * TILE + tx", "cuda.blockIdx.y * TILE + tx")]},
    "First columns 0 to 15 are written, then those from 32 on: the next block, or the next thread, "
    "starts 32 further and leaves 16 out.": {
        "blocks two tiles apart": [("blockIdx.x * TILE", "blockIdx.x * 32")]},
}  # fmt: skip
