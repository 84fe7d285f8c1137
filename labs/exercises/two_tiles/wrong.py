"""Wrong answers to `two_tiles`: what `check` says, and the changes that earn it."""

LOADED = "        cuda.syncthreads()  # all three tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
ARRAY = "tile_b1 = cuda.shared.array((TILE, TILE), float32)"
INSIDE_A = "row < m and start + tx < k"
INSIDE_0 = "start + ty < k and col < n"
INSIDE_1 = "start + ty < k and next_col < n"
LOAD_1 = f"        tile_b1[ty, tx] = b[start + ty, next_col] if {INSIDE_1} else float32(0)\n"
FROM_A = "            from_a = tile_a[ty, i]\n"
TERM_0 = "            total0 += from_a * tile_b0[i, tx]\n"
TERM_1 = "            total1 += from_a * tile_b1[i, tx]\n"
STORE_1 = "    if row < m and next_col < n:\n        c[row, next_col] = total1\n"
NEXT = "next_col = col + TILE"
FIRST = "cuda.blockIdx.x * 2 * TILE + tx"
TURNS = "range(0, k, TILE)"

WRONG = {
    "Lane 0 stores 1 column, and the task says 2: a block covers 32 columns.": {
        "the second column neither loaded nor stored": [(STORE_1, "")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. It is 0: nothing was added to its sum.": {"the second sum forgotten": [(TERM_1, "")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. It holds what belongs in the first (columns 0 to 15 of the first block).": {
        "the second sum takes the first tile": [("from_a * tile_b1", "from_a * tile_b0")],
        "the second tile is loaded from the first columns": [
            ("b[start + ty, next_col]", "b[start + ty, col]")],
        "both stores take the first sum": [("= total1", "= total0")]},
    "The columns of a thread are exchanged: the first (columns 0 to 15 of the first block) holds "
    "what belongs in the second (columns 16 to 31 of the first block).": {
        "the sums exchanged": [("= total0", "= total"), ("= total1", "= total0"),
            ("= total\n", "= total1\n")]},
    "All columns of a thread are alike: they share one total.": {
        "one total for both": [("total1 +=", "total0 +="), ("= total1", "= total0")]},
    "Of the 2 elements of each thread the first (columns 0 to 15 of the first block) holds the "
    "sums of all elements of its thread, added up: their terms go into one total.": {
        "the terms of both go into the first total": [("total1 +=", "total0 +=")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. It holds the sums of all elements of its thread, added up: their terms go into one "
    "total.": {
        "the terms of both go into each total": [
            ("total1 += from_a", "total1 += from_a * tile_b0[i, tx] + from_a")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. In line {last load b} a tile is loaded from rows of `{b}` that lie 16 further down. It "
    "needs the same rows as the first tile, and other columns.": {
        "the second tile is the one below": [
            ("start + ty, next_col] if start + ty < k and next_col < n",
             "start + TILE + ty, col] if start + TILE + ty < k and col < n")],
        "the second tile is below and to the right": [(f"start + ty, next_col] if {INSIDE_1}",
             "start + TILE + ty, next_col] if start + TILE + ty < k and next_col < n")]},
    "Already in the first turn a tile is loaded from rows of `{b}` that lie 16 further down. It "
    "needs the same rows as the first tile, and other columns.": {
        "the second tile is below, and its row not tested": [
            ("b[start + ty, next_col]", "b[start + TILE + ty, next_col]")]},
    "One loop that adds to all sums": {
        "the tile of b filled twice": [("    " + ARRAY + "\n", ""), (LOAD_1, ""), (TERM_1, ""),
            (USED,
             "        cuda.syncthreads()\n" + LOAD_1.replace("tile_b1", "tile_b0")
             + "        cuda.syncthreads()\n        for i in range(TILE):\n" + FROM_A
             + TERM_1.replace("tile_b1", "tile_b0") + USED)],
        "a loop for each sum": [(TERM_1, "        for i in range(TILE):\n" + FROM_A + TERM_1)]},
    "And there were 5,120 stores for 3,840 elements: threads overlap. A block covers 32 columns. "
    "Is that how far the next block starts?": {
        "the blocks of before": [(FIRST, "cuda.blockIdx.x * TILE + tx")]},
    "2 words apart": {
        "columns side by side": [(FIRST, "2 * cuda.blockIdx.x * TILE + 2 * tx"),
            (NEXT, "next_col = col + 1")]},
    "Lane 0 stores columns 0, 1, 1 apart, and lane 1 begins only one further: they overlap, and a "
    "gap follows.": {"the next column": [(NEXT, "next_col = col + 1")]},
    "Lane 0 stores columns 0, 32, 32 apart: they reach beyond the 32 columns that a "
    "block covers.": {"two tiles further": [(NEXT, "next_col = col + 2 * TILE")]},
    "The first column of this thread, 66, is inside; a later one, 82, is not, and no test stops it "
    "there.": {
        "the second column not tested where b is loaded": [(INSIDE_1, "start + ty < k")],
        "the first column tested for the second": [(INSIDE_1, "start + ty < k and col < n")],
        "the second store not tested": [("row < m and next_col < n:", "row < m:")],
        "one test for both stores": [(STORE_1, "        c[row, next_col] = total1\n")]},
    "Column 66 belongs to a thread whose first column, 66, is inside and whose last, 82, is "
    "outside: what stops the last one stops them all.": {
        "the second decides for both stores": [
            ("    if row < m and col < n:\n        c[row, col] = total0\n", ""),
            (STORE_1, STORE_1 + "        c[row, col] = total0\n")]},
    "Of the 2 elements of each thread only the first (columns 0 to 15 of the first block) is "
    "wrong. Zero stands in column 66, and others of them are right: a test takes for outside what "
    "is inside there.": {"the second decides for both loads": [(INSIDE_0, INSIDE_1)]},
    "It concerns 720 threads, with rows 17 to 31: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the row of a not tested": [(INSIDE_A, "start + tx < k")]},
    "The last tile reaches over the end of the sum, k = 33: this index goes from 33 to 47. No test "
    "stops it, or one that looks at something else.": {
        "the end of the sum not tested for the second tile": [(INSIDE_1, "next_col < n")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "")],
        "the second tile loaded behind the barrier": [(LOAD_1, ""), (LOADED, LOADED + LOAD_1)]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [
            ("    total0 = ", "    if row >= m or col >= n:\n        return\n    total0 = ")]},
    "Of the 2 elements of each thread only the first (columns 0 to 15 of the first block) is "
    "wrong. It holds what belongs in the second (columns 16 to 31 of the first block).": {
        "one array for both tiles of b": [("tile_b1[", "tile_b0[")]},
    "all rows of `tile_b0` begin in the same bank": {
        "a wide array": [("    " + ARRAY + "\n", ""),
            ("tile_b0 = cuda.shared.array((TILE, TILE)", "tile_b0 = cuda.shared.array((TILE, 32)"),
            ("tile_b1[ty, tx]", "tile_b0[ty, tx + TILE]"),
            ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]")]},
    "A block has 16×16 threads. If each stores one element of `{tile b}`, its rows and columns are "
    "filled from 0 to 15.": {
        "a wide array whose second half nobody fills": [("    " + ARRAY + "\n", ""),
            ("tile_b0 = cuda.shared.array((TILE, TILE)", "tile_b0 = cuda.shared.array((TILE, 32)"),
            (LOAD_1, ""), ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]")]},
    "No line of your kernel stores into `{array}`.": {
        "the second tile never filled": [(LOAD_1, "")]},
    "2 reads from shared memory": {
        "the word of a read twice": [(FROM_A, ""), ("from_a *", "tile_a[ty, i] *")]},
    "read the same word of `tile_a`": {
        "the word of a read in a loop": [("    total0 = float32(0)\n    total1 = float32(0)\n",
             "    totals = cuda.local.array(2, float32)\n    for g in range(2):\n"
             "        totals[g] = float32(0)\n"), (FROM_A + TERM_0 + TERM_1,
             "            for g in range(2):\n" "                if g == 0:\n"
             "                    totals[0] += tile_a[ty, i] * tile_b0[i, tx]\n"
             "                else:\n"
             "                    totals[1] += tile_a[ty, i] * tile_b1[i, tx]\n"),
            ("= total0", "= totals[0]"), ("= total1", "= totals[1]")]},
    "source lines 20, 25": {
        "a from global memory": [(FROM_A,
             "            from_a = a[row, start + i] if row < m and start + i < k else "
             "float32(0)\n")]},
    "the target is once": {
        "two passes over the tiles of a": [(USED,
             USED + "        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k "
             "else float32(0)\n        cuda.syncthreads()\n")]},
    "8 tiles along k in place of 7": {
        "a loop that takes one more tile": [(TURNS, "range(0, k + TILE, TILE)")]},
    "All terms from i = 64 on are missing. 64 is n, the columns of `{b}`; a sum has k = "
    "112 terms.": {"a loop to n": [(TURNS, "range(0, n, TILE)")]},
    "The last tile is missing: the loop ends one tile too early.": {
        "the last tile left out": [(TURNS, "range(0, k - TILE, TILE)")]},
    "The last tile is missing. It is not full: k = 33 is 2 times 16 and 1 more.": {
        "only whole tiles": [(TURNS, "range(0, k // TILE * TILE, TILE)")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. Every element is wrong by the same number, 1. With what value does the sum start?": {
        "the second total begins with the first": [
            ("    total1 = float32(0)\n", "    total1 = float32(1)\n")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "the second total set at each tile": [(LOADED, LOADED + "        total1 = float32(0)\n")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. In every tile the last term is missing: i = 15, 31, 47 ….": {
        "the second sum ends early": [(TERM_1, "            if i < TILE - 1:\n    " + TERM_1)]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "the second tile read transposed": [("tile_b1[i, tx]", "tile_b1[tx, i]")]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "both tiles read transposed": [("tile_b0[i, tx]", "tile_b0[tx, i]"),
            ("tile_b1[i, tx]", "tile_b1[tx, i]")]},
    "works in float64": {"a float64 total": [("total1 = float32(0)", "total1 = 0.0")]},
    "your `TILE` is 32": {"tiles of 32": [("TILE = 16", "TILE = 32")]},
    "your `TILE` is 8": {"tiles of 8": [("TILE = 16", "TILE = 8")]},
    "stores for an element": {
        "a store at each tile": [(STORE_1, ""), (USED,
             USED + "        if row < m and next_col < n:\n"
             "            c[row, next_col] = total1\n")]},
    "sectors": {"tx and ty exchanged": [("tx, ty = ", "ty, tx = ")]},
    "The first column of this thread, 0, is inside; a later one, 64, is not. At this n every block "
    "lies inside: its columns lie too far apart.": {
        "stored transposed": [("c[row, next_col]", "c[next_col, row]")]},
    "All terms from i = 80 on are missing. 80 is m, the rows of `{a}`; a sum has k = 112 terms.": {
        "m and k exchanged": [("(m, k), n", "(k, m), n")]},
}  # fmt: skip
