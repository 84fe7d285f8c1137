"""Wrong answers to `eight_rows`: what `check` says, and the changes that earn it."""

LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
INSIDE_B = "start + z < k and col + j < n"
LOAD_B = f"            sb[z, j] = b[start + z, col + j] if {INSIDE_B} else float32(0)\n"
WALK_B = "        for e in range(t, BK * BN, THREADS):\n            z, j = e // BN, e % BN\n"
PLACE = "y, x = t // BN * TM, t % BN"
SET = "    for i in range(TM):\n        sums[i] = float32(0)\n"
TURNS = "range(0, k, BK)"
READ = "            from_b = sb[z, x]  # one read, for TM multiply-adds\n"
INNER = "            for i in range(TM):\n                sums[i] += sa[y + i, z] * from_b\n"
TERM = "sums[i] += sa[y + i, z] * from_b"
TEST = "if row + y + i < m and col + x < n"
STORE = "            c[row + y + i, col + x] = sums[i]\n"
STORES = f"    for i in range(TM):\n        {TEST}:\n{STORE}"
FROM_B = "b[start + z, col + x] if start + z < k and col + x < n else float32(0)"


def deeper(text):
    """The same lines one level further in."""
    return "".join(f"    {line}\n" for line in text.splitlines())


WRONG = {
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "")],
        "no barrier at all": [(LOADED, ""), (USED, "")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "brackets are missing": {
        "barriers that are not called": [("cuda.syncthreads()", "cuda.syncthreads")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The tile is "
    "loaded by 8 warps.": {"barriers of a warp": [("syncthreads()", "syncwarp()")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [
            (SET, f"    if row + y >= m or col + x >= n:\n        return\n{SET}")]},
    "stands in the branch `if col + x < n`": {
        "a barrier for some threads": [(LOADED, f"        if col + x < n:\n    {LOADED}")]},
    "18 barriers for every 16 terms": {
        "a barrier at each term": [(INNER, f"{INNER}            cuda.syncthreads()\n")]},
    "`{tile b}` has 16 rows of 64 elements, and here its elements are counted in rows of 16. That "
    "is as long as a row of the tile of `{a}`.": {
        "the tile of b walked as that of a": [
            ("z, j = e // BN, e % BN", "z, j = e // BK, e % BK")]},
    "`{tile a}` has 32 rows of 16 elements, and here its elements are counted in rows of 64. That "
    "is as long as a row of the tile of `{b}`.": {
        "the tile of a walked as that of b": [
            ("i, z = e // BK, e % BK", "i, z = e // BN, e % BN")]},
    "Element 16 of a tile with rows of 64 lies in row 0 and column 16: the two are exchanged.": {
        "row and column of the walk exchanged": [
            ("z, j = e // BN, e % BN", "j, z = e // BN, e % BN")]},
    "Only the first 512 elements of `{tile b}` are filled, and it has 1,024. 512 is how many the "
    "tile of `{a}` has.": {
        "as many words of b as of a": [
            ("range(t, BK * BN, THREADS)", "range(t, BM * BK, THREADS)")]},
    "Only the first 256 elements of `{tile b}` are filled, and it has 1,024. A block has 256 "
    "threads: how many elements must each of them load?": {
        "one word of b for each thread": [(WALK_B, WALK_B.replace("BK * BN", "THREADS"))]},
    "every element of `b`": {
        "a walk in steps of a row": [("range(t, BK * BN, THREADS)", "range(t, BK * BN, BN)")],
        "no tile of b": [(WALK_B + LOAD_B, ""), (READ, f"            from_b = {FROM_B}\n")]},
    "far more turns than the task needs": {
        "every thread loads all of b's tile": [("range(t, BK * BN, THREADS)", "range(BK * BN)")],
        "a loop by 1": [(TURNS, "range(0, k)")]},
    "In a block only rows 0 to 10 are written: threads of a column begin one row apart, and each "
    "computes 8 rows, so they overlap.": {
        "threads one row apart": [(PLACE, "y, x = t // BN, t % BN")]},
    "wavefront": {
        "t counts down the columns": [(PLACE, "y, x = t % (BM // TM) * TM, t // (BM // TM)")]},
    "`{tile a}` has 32 rows, 0 to 31, and this index goes on to 70.": {
        "x and y exchanged": [(PLACE, "x, y = t // BN * TM, t % BN")]},
    "A local array holds anything at first, and `{array}` is added to before anything is stored in "
    "it.": {"sums that are not set": [(SET, "")]},
    "Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "sums set at each tile": [(LOADED, LOADED + deeper(SET))]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "sums set at each term": [(TERM, TERM.replace("+=", "="))]},
    "Rows 0 to 7 of `{c}` are alike, and so are those of every other thread: its 8 rows share one "
    "sum.": {
        "one sum": [(SET, "    total = float32(0)\n"), (TERM, "total += sa[y + i, z] * from_b"),
            ("= sums[i]\n", "= total\n")]},
    "the target is 1.125": {
        "b read for each multiply-add": [(READ, ""), ("* from_b", "* sb[z, x]")]},
    "Every term of a tile is multiplied with its first row of `{b}`: what a thread has read from "
    "the tile of `{b}` is not read again for each term.": {
        "b read once for a tile": [(READ, ""), ("        for z in range(BK):\n",
             "        from_b = sb[0, x]\n        for z in range(BK):\n")]},
    "Rows 0 to 7 of `{c}` are alike, and so on: all 8 rows of a thread hold what belongs in its "
    "row 0. Does each sum take its own row of `{a}`, and is each stored in its own row?": {
        "the same row of a for all sums": [("sa[y + i, z]", "sa[y, z]")],
        "the first sum in all rows": [("= sums[i]\n", "= sums[0]\n")]},
    "Rows 0 to 7 are right; what serves the rows from 8 on goes wrong.": {
        "rows of the first thread": [("sa[y + i, z]", "sa[i, z]")]},
    "`{tile a}` has 16 columns, 0 to 15, and this index goes on to 31. It has 32 rows: are the two "
    "exchanged?": {"a's tile read transposed": [("sa[y + i, z]", "sa[z, y + i]")]},
    "`{tile b}` has 16 rows, 0 to 15, and this index goes on to 63. It has 64 columns: are the two "
    "exchanged?": {"b's tile read transposed": [("sb[z, x]", "sb[x, z]")]},
    "The columns of `{b}` are counted from the row of the block, and not from its column.": {
        "row for column of b": [("col + j", "row + j")]},
    "Every block loads the columns of `{b}` that the first blocks need.": {
        "b without its block": [("b[start + z, col + j]", "b[start + z, j]")]},
    "Every turn loads the first tile of `{b}` again.": {
        "b without the start": [("b[start + z, col", "b[z, col")]},
    "Every turn loads the first tile of `{a}` again.": {
        "a without the start": [("a[row + i, start + z]", "a[row + i, z]")]},
    "Every block loads the rows of `{a}` that the first blocks need.": {
        "a without its block": [("a[row + i, start", "a[i, start")]},
    "The last tile reaches over the end of the sum, k = 33: this index goes from 33 to 47. No test "
    "stops it, or one that looks at something else.": {
        "the end of the sum not tested": [(INSIDE_B, "col + j < n")]},
    "That is one too far: the last term is k - 1 = 32. A test lets 33 pass: `<=` stands where `<` "
    "is meant, or `>` where `>=` is.": {
        "the end of the sum tested with <=": [("start + z < k and col", "start + z <= k and col")]},
    "It concerns 496 threads, with columns 130 to 191: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the column of b not tested": [(INSIDE_B, "start + z < k")]},
    "The tile reaches over the edge of the matrix there. No thread stores anything in that part of "
    "it, and it is read all the same.": {
        "no zeros in b's tile": [(LOAD_B,
             f"            if {INSIDE_B}:\n                sb[z, j] = b[start + z, col + j]\n")]},
    "no thread ever stores into `c`": {"no store": [(STORES, "")]},
    "Only every 8th row is written: a thread stores one of its 8 sums.": {
        "one of eight stored": [(STORES,
             "    if row + y < m and col + x < n:\n        c[row + y, col + x] = sums[0]\n")]},
    "Only every 8th row is written, and each of its elements 8 times: a thread stores all of its "
    "sums into the same row.": {
        "all stored in one row": [("c[row + y + i, col + x]", "c[row + y, col + x]")]},
    "In a block only rows 0 to 7 are written: the first row of a thread, which is 0, 8, 16 …, is "
    "missing where it stores.": {
        "stored without y": [("c[row + y + i, col + x]", "c[row + i, col + x]")]},
    "It concerns 1,016 threads, with rows 33 to 63: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the store not tested": [(f"        {TEST}:\n{STORE}", STORE[4:])]},
    "The last row is 32, and rows 33 to 39 belong to threads whose first row, 32, is inside: your "
    "test asks only for the first of the 8 rows of a thread, and lets all of them pass.": {
        "the first row decides": [(TEST, "if row + y < m and col + x < n")],
        "the first row decides, before the loop": [
            (STORES, f"    if row + y < m and col + x < n:\n        for i in range(TM):\n{STORE}")],
        "the first row decides, by a return": [(STORES,
             f"    if row + y >= m or col + x >= n:\n        return\n"
             f"    for i in range(TM):\n{STORE[4:]}")]},
    "Row 32 belongs to a thread whose first row is inside and whose last, 39, is outside: what "
    "stops the last one stops them all.": {
        "the last row decides": [(TEST, "if row + y + TM <= m and col + x < n")]},
    "It concerns 310 threads, with columns 130 to 191: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the store tests rows alone": [(TEST, "if row + y + i < m")]},
    "6 stores": {"a store at each tile": [(STORES, deeper(STORES))]},
    "before anything was stored": {"adds up in c": [("col + x] = sums", "col + x] += sums")]},
    "works in float64": {
        "float64 sums": [("cuda.local.array(TM, float32)", "cuda.local.array(TM, 'float64')")]},
    "The last tile is missing. It is not full: k = 33 is 2 times 16 and 1 more.": {
        "only whole tiles": [(TURNS, "range(0, k // BK * BK, BK)")]},
    "All terms from i = 32 on are missing. 32 is n, the columns of `{b}`; a sum has k = "
    "55 terms.": {"a loop to n": [(TURNS, "range(0, n, BK)")]},
    "behind k = 96": {"one tile too many": [(TURNS, "range(0, k + BK, BK)")]},
    "All terms from i = 64 on are missing. 64 is m, the rows of `{a}`; a sum has k = 96 terms.": {
        "a loop to m": [(TURNS, "range(0, m, BK)")]},
    "The last tile is missing: the loop ends one tile too early.": {
        "one tile too few": [(TURNS, "range(0, k - BK, BK)")]},
    "Only the terms of the first tile are in the sum.": {
        "only the first tile": [(TURNS, "range(0, BK, BK)")]},
    "In every tile the last term is missing: i = 15, 31, 47 ….": {
        "the sum ends early": [("range(BK)", "range(BK - 1)")]},
    "`{tile b}` has 16 rows, 0 to 15, and this index takes one more.": {
        "the sum takes one more": [("range(BK)", "range(BK + 1)")]},
    "Of the 8 rows of a thread rows 0, 1, 2, 3, 4, 5, 6 are right, and the others are not: what "
    "serves row 7 goes wrong.": {
        "seven rows": [("for i in range(TM):\n                sums",
             "for i in range(TM - 1):\n                sums")]},
    "256 threads": {"four rows": [("BK, TM = 32, 64, 16, 8", "BK, TM = 32, 64, 16, 4")]},
    "`BM` is 64": {"another block": [("BM, BN, BK, TM = 32, 64", "BM, BN, BK, TM = 64, 32")]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {"local tiles": [("cuda.shared.array", "cuda.local.array")]},
    "stay in this loop for ever": {
        "a loop for ever": [(f"    for start in {TURNS}:", "    start = 0\n    while start < k:")]},
    "A term is the sum of its two elements, and not their product.": {
        "terms added": [("z] * from_b", "z] + from_b")]},
}  # fmt: skip
