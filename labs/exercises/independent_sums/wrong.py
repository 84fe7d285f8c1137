"""Wrong answers to `independent_sums`: what `check` says, and the changes that earn it."""

LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
FILLS = "        for g in range(4):\n            y, r"
INSIDE_A = "r < m and start + tx < k"
INSIDE_B = "start + y < k and col < n"
LOAD_B = f"            tile_b[y, tx] = b[start + y, col] if {INSIDE_B} else float32(0)\n"
FROM_B = "            from_b = tile_b[i, tx]\n"
SUMS = "            for g in range(4):\n                totals[g] +="
STORES = "    for g in range(4):\n        if row"
INSIDE_C = "row + 8 * g < m and col < n"
TURNS = "range(0, k, TILE)"
ZERO = "    for g in range(4):\n        totals[g] = float32(0)\n"

WRONG = {
    "The block has 32×8 threads, and a tile has 32×32 elements. So each thread must fill 4 of "
    "them, and here they fill at most 25% of `{tile a}`.": {
        "only a quarter of the tiles is filled": [(FILLS, FILLS.replace("4", "1"))]},
    "The block has 32×8 threads, and a tile has 32×32 elements. So each thread must fill 4 of "
    "them, and here they fill at most 50% of `{tile a}`.": {
        "half of the tiles is filled": [(FILLS, FILLS.replace("4", "2"))]},
    "The block has 32×8 threads, and a tile has 32×32 elements. So each thread must fill 4 of "
    "them, each in a row of its own. Here some rows are filled twice and others never.": {
        "one row of the tile of b for each thread": [
            (LOAD_B, LOAD_B.replace("tile_b[y, tx]", "tile_b[ty, tx]").replace("+ y", "+ ty"))],
        "rows four apart": [("8 * g", "4 * g")],
        "rows one apart": [("8 * g", "g")]},
    "This index goes on to 103: it is too large, or the array is too small.": {
        "rows 32 apart": [("8 * g", "32 * g")]},
    "Of the 32 rows that a block covers it writes 20; row 20 is the first that is missing. And it "
    "stores 32 rows in all: threads write the same rows. How far apart are the rows of "
    "one thread?": {"stores four apart": [("c[row + 8 * g, col]", "c[row + 4 * g, col]")]},
    "Of the 32 rows that a block covers it writes 8; row 8 is the first that is missing. So each "
    "thread writes 1, and the task says 4.": {
        "only one row stored": [(STORES, STORES.replace("4", "1"))]},
    "Of the 32 rows that a block covers it writes 24; row 24 is the first that is missing. So each "
    "thread writes 3, and the task says 4.": {
        "only three rows stored": [(STORES, STORES.replace("4", "3"))]},
    "Of the 4 elements of each thread only the fourth (rows 24 to 31 of the first block) is wrong. "
    "It is 0: nothing was added to its sum.": {"only three sums": [(SUMS, SUMS.replace("4", "3"))]},
    "All rows of a thread are alike: they share one total.": {
        "one total for all rows": [("totals[g] +=", "totals[0] +="),
            ("= totals[g]", "= totals[0]")]},
    "Of the 4 elements of each thread 3 are wrong, the first of them is the second (rows 8 to 15 "
    "of the first block). It holds what belongs in the first (rows 0 to 7 of the first block).": {
        "all rows store the first sum": [("= totals[g]", "= totals[0]")],
        "all sums take the first row of a": [("tile_a[ty + 8 * g, i]", "tile_a[ty, i]")],
        "the first row of a is loaded for all": [("a[r, start", "a[row, start")]},
    "The rows of a thread are exchanged: the first (rows 0 to 7 of the first block) holds what "
    "belongs in the fourth (rows 24 to 31 of the first block).": {
        "the sums in the wrong order": [("= totals[g]", "= totals[3 - g]")],
        "rows of the tile of a exchanged": [
            ("tile_a[ty + 8 * g, i]", "tile_a[ty + 24 - 8 * g, i]")]},
    "Each row of the tile of `{b}` holds one of its first 8 rows: all rows that a thread fills are "
    "loaded from the place of its first one.": {
        "the first row of b is loaded for all": [("b[start + y,", "b[start + ty,")]},
    "Each sum must begin at zero.": {
        "only the last row starts at 0": [(ZERO, "    totals[3] = float32(0)\n")]},
    "Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "the totals set at each tile": [(LOADED,
             LOADED + ZERO.replace("    for", "        for")
             .replace("    totals", "        totals"))]},
    "The first row of this thread, 33, is inside; a later one, 41, is not, and no test stops it "
    "there.": {
        "one test for all rows of c": [(INSIDE_C, "row < m and col < n")],
        "one test for all rows of a": [(INSIDE_A, "row < m and start + tx < k")],
        "the row of a not tested": [(INSIDE_A, "start + tx < k")]},
    "Row 32 belongs to a thread whose first row, 32, is inside and whose last, 56, is outside: "
    "what stops the last one stops them all.": {
        "the last row decides for all": [(INSIDE_C, "row + 24 < m and col < n")]},
    "It concerns 464 threads, with columns 35 to 63: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the column not tested at the store": [(INSIDE_C, "row + 8 * g < m")]},
    "The last tile reaches over the end of the sum, k = 77: this index goes from 77 to 95. No test "
    "stops it, or one that looks at something else.": {
        "the end of the sum not tested for b": [(INSIDE_B, "col < n")],
        "the first row of b tested for all": [(INSIDE_B, "start + ty < k and col < n")],
        "the end of the sum not tested for a": [(INSIDE_A, "r < m")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "barriers per tile": {
        "a barrier for each row": [(LOAD_B, LOAD_B + "            cuda.syncthreads()\n"),
            (LOADED, "")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [
            ("    totals = ", "    if row >= m or col >= n:\n        return\n    totals = ")]},
    "reads the same word of `tile_b`": {
        "the word of b read for each sum": [(FROM_B, ""), ("* from_b", "* tile_b[i, tx]")]},
    "the same words of `tile_b` in each turn of the loop": {
        "the sums one after the other": [
            (FROM_B + SUMS, "            for h in range(TILE):\n                totals[g] +="),
            ("        for i in range(TILE):\n", "        for g in range(4):\n"),
            ("tile_a[ty + 8 * g, i] * from_b", "tile_a[ty + 8 * g, h] * tile_b[h, tx]")]},
    "Line {load b} fills the tile, and two loops hold both this line and the sums. So the sums "
    "begin when some rows of the tile are not yet filled.": {
        "sums before the whole tile is filled": [(LOADED, ""),
            (USED, "            cuda.syncthreads()\n"),
            (LOAD_B, LOAD_B + "            cuda.syncthreads()\n"),
            ("        for i in range(TILE):\n" + FROM_B + SUMS,
             "            for i in range(TILE):\n                totals[g] +="),
            ("* from_b", "* tile_b[i, tx]")]},
    "All terms of a tile are multiplied with one word of the tile of `{b}`: its row is `ty` of the "
    "thread. A sum goes down a column, one row in each step.": {
        "the own row of the tile of b for all terms": [("tile_b[i, tx]", "tile_b[ty, tx]")]},
    "The word of the tile of `{b}` comes from column `ty` of the thread. An element of the result "
    "needs its own column.": {"the column of another thread": [("tile_b[i, tx]", "tile_b[i, ty]")]},
    "Of the 4 elements of each thread only the first (rows 0 to 7 of the first block) lacks a row, "
    "number 32: the test of its store stops threads that are inside.": {
        "the first row is stored only with the last": [(STORES + " + 8 * g < m and col < n:",
             "    for g in range(4):\n        "
             "if row + 8 * g + (24 if g == 0 else 0) < m and col < n:")]},
    "the target is once": {
        "b from global memory": [(FROM_B,
             "            from_b = b[start + i, col] if start + i < k and col < n else "
             "float32(0)\n")],
        "every thread loads the whole column": [
            (FILLS, "        for g in range(8):\n            y, r"),
            ("ty + 8 * g, row + 8 * g", "(ty + 8 * g) % TILE, row - ty + (ty + 8 * g) % TILE")]},
    "And there were 6,144 stores for 3,840 elements: threads overlap. A block covers 32 rows. Is "
    "that how far the next block starts?": {
        "the blocks of 32×32 threads": [
            ("cuda.blockIdx.y * TILE + ty", "cuda.blockIdx.y * 8 + ty")]},
    "The last tile is missing. It is not full: k = 77 is 2 times 32 and 13 more.": {
        "only whole tiles": [(TURNS, "range(0, k // TILE * TILE, TILE)")]},
    "6 tiles along k in place of 5": {
        "a loop that takes one more tile": [(TURNS, "range(0, k + TILE, TILE)")]},
    "All terms from i = 64 on are missing. 64 is m, the rows of `{a}`; a sum has k = 160 terms.": {
        "a loop to m": [(TURNS, "range(0, m, TILE)")],
        "m and k exchanged": [("(m, k), n", "(k, m), n")]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "the tile of b read transposed": [("tile_b[i, tx]", "tile_b[tx, i]")]},
    "The tile of `{a}` is read transposed: its two indices are exchanged.": {
        "the tile of a read transposed": [("tile_a[ty + 8 * g, i]", "tile_a[i, ty + 8 * g]")]},
    "32 wavefronts": {
        "b stored and read transposed": [("tile_b[y, tx]", "tile_b[tx, y]"),
            ("tile_b[i, tx]", "tile_b[tx, i]")]},
    "works in float64": {
        "float64 totals": [("(4, float32)", "(4, float64)"),
            ("cuda, float32", "cuda, float32, float64")]},
    "A thread has 4 sums, number 0 to 3.": {
        "three places for four sums": [("local.array(4", "local.array(3")]},
    "Every element is 0: nothing was added to the sums.": {
        "no sums": [(SUMS, SUMS.replace("4", "0"))]},
    "your `TILE` is 16": {"tiles of 16": [("TILE = 32", "TILE = 16")]},
    "A tile of this launch has 32 rows and 32 columns; this array has 8 there.": {
        "tiles of 8 rows": [("(TILE, TILE)", "(8, TILE)")]},
    "stores for an element": {
        "a store at each tile": [(STORES,
             STORES.replace("    for", "        for").replace("        if", "            if")),
            ("            c[row + 8 * g, col] = totals[g]", "                c[row + 8 * g, col] = "
             "totals[g]")]},
    "This index goes on to 55: it is too large, or the array is too small.": {
        "tx and ty exchanged": [("tx, ty = ", "ty, tx = ")]},
    "On square matrices your result is the right one transposed: row and column are exchanged "
    "where `{c}` is stored.": {
        "stored transposed": [("c[row + 8 * g, col]", "c[col, row + 8 * g]")]},
    "`{array}` is a shared array: all threads of a block add to the same sums.": {
        "a shared array of totals": [("cuda.local.array(4", "cuda.shared.array(4")]},
}  # fmt: skip
