"""Wrong answers to `double_buffer`: what `check` says, and the changes that earn it."""

FIRST_A = "    tile_a[side, ty, tx] = a[row, tx] if row < m and tx < k else float32(0)\n"
FIRST_B = "    tile_b[side, ty, tx] = b[ty, col] if ty < k and col < n else float32(0)\n"
FIRST = FIRST_A + FIRST_B
LOADED = "    cuda.syncthreads()\n    while"
TURNS = "while start < k:\n"
NEXT = "        start = uint32(start + TILE)\n"
NEXT_A = "        next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)\n"
NEXT_B = "        next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)\n"

SUMS = (
    "        for i in range(TILE):\n"
    "            total += tile_a[side, ty, i] * tile_b[side, i, tx]\n"
)
FLIP = "        side ^= uint32(1)\n"
PUT_A = "        tile_a[side, ty, tx] = next_a\n"
PUT_B = "        tile_b[side, ty, tx] = next_b\n"
PUT = PUT_A + PUT_B
BARRIER = "        cuda.syncthreads()\n"
END = PUT + BARRIER
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
COMMENT = "        # The other buffer was last read before the barrier of the iteration before.\n"

FROM_HERE = (
    "        # From here the next tile is under way. Behind the last one there are only zeros.\n"
)
AT_ONCE_A = NEXT_A.replace("next_a", "tile_a[side ^ uint32(1), ty, tx]")
AT_ONCE_B = NEXT_B.replace("next_b", "tile_b[side ^ uint32(1), ty, tx]")

ONE_SIDE = [
    ("(2, TILE, TILE)", "(TILE, TILE)"), ("tile_a[side, ", "tile_a["), ("tile_b[side, ", "tile_b["),
]  # fmt: skip

WRONG = {
    "Line {line} stores the next tile into the one tile that is in `{tile a}`, from which line "
    "{other_line} reads in the same iteration. No barrier is between the two, and a slow thread "
    "still needs what is replaced.": {"one buffer, one barrier": ONE_SIDE},
    "another one before the next tile is stored in its place": {
        "one buffer, two barriers": [*ONE_SIDE, (COMMENT, BARRIER)]},
    "Line {line} stores the next tile into buffer 0 of `{tile a}`, from which line {other_line} "
    "reads in the same iteration. No barrier is between the two, and a slow thread still needs "
    "what is replaced.": {
        "the side does not change": [(FLIP, "")],
        "a always in side 0": [("tile_a[side, ", "tile_a[0, ")]},
    "Line {line} stores the next tile into buffer 0 of `{array}`, from which line {other_line} "
    "reads in the same iteration. No barrier is between the two, and a slow thread still needs "
    "what is replaced.": {
        "the side changes behind the stores": [(FLIP, ""), (BARRIER, BARRIER + FLIP)],
        "b always stored into side 0": [(PUT_B, PUT_B.replace("side", "0"))]},
    "Up to here only buffer 0 of `{array}` holds a tile, and this line reads buffer 1.": {
        "the side changes before the sums": [(FLIP, ""), (SUMS, FLIP + SUMS)],
        "the sums read the other side": [("tile_a[side, ty, i]", "tile_a[1 - side, ty, i]"),
            ("tile_b[side, i, tx]", "tile_b[1 - side, i, tx]")],
        "the sums read the other side of b": [("tile_b[side, i, tx]", "tile_b[1 - side, i, tx]")]},
    "Up to here only buffer 0 of `{tile a}` holds a tile, and this line reads buffer 1.": {
        "the side before": [("tile_a[side, ty, i]", "tile_a[side - 1, ty, i]")]},
    "Only the terms of the first tile are in the sum, 5 times. All tiles are loaded, but every "
    "iteration reads the same buffer.": {
        "always read side 0, always fill side 1": [(FLIP, ""), (PUT_A, PUT_A.replace("side", "1")),
            (PUT_B, PUT_B.replace("side", "1"))]},
    "The first index of `{tile a}` is the buffer. The array has 2 of them, counted from 0, and the "
    "index is 2.": {"a third side": [(FLIP, "        side += uint32(1)\n")]},
    "Nobody has stored a tile into `{array}` before this line first reads it.": {
        "no first tile": [(FIRST, "")],
        "no first tile of b": [(FIRST_B, "")]},
    "Up to here only buffer 1 of `{tile a}` holds a tile, and this line reads buffer 0.": {
        "the first tile in side 1": [(FIRST, FIRST.replace("side", "1"))]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier before the loop": [(LOADED, "    while")],
        "no barrier in the loop": [(END, PUT)],
        "no barrier at all": [(END, PUT), (LOADED, "    while")],
        "the barrier before the stores": [(END, BARRIER + PUT)]},
    "the branch `if row < m and col < n`": {
        "a barrier for threads with an element": [
            (END, PUT + "        if row < m and col < n:\n    " + BARRIER)]},
    "the branch `if start + tx < k`": {
        "a barrier for threads that load": [
            (END, PUT + "        if start + tx < k:\n    " + BARRIER)]},
    "for 5 tiles; the target is 6": {"two barriers in a turn": [(SUMS, SUMS + BARRIER)]},
    "brackets are missing": {
        "barriers that are not called": [("cuda.syncthreads()", "cuda.syncthreads")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The tile is "
    "loaded by 8 warps.": {"barriers of a warp": [("cuda.syncthreads()", "cuda.syncwarp()")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [("    total = float32(0)\n",
             "    if row >= m or col >= n:\n        return\n    total = float32(0)\n")]},
    "loads an element of the next tile of `a`": {
        "the loads behind the sums": [
            (FROM_HERE + NEXT_A + NEXT_B + SUMS, SUMS + NEXT_A + NEXT_B)]},
    "the next tile of `b`, and line 31": {
        "the loads of b behind the sums": [(NEXT_B + SUMS, SUMS + NEXT_B)]},
    "of `a` and stores it into shared memory at once": {
        "loaded and stored at once, before the sums": [(NEXT_A + NEXT_B, AT_ONCE_A + AT_ONCE_B),
            (PUT, "")]},
    "stores it into shared memory at once": {
        "loaded and stored at once, behind the sums": [
            (NEXT_A + NEXT_B + SUMS, SUMS + AT_ONCE_A + AT_ONCE_B), (PUT, "")]},
    "next tile of `a`, and line 30": {
        "a local array, filled behind the sums": [("    total = float32(0)\n",
             "    total = float32(0)\n    ahead = cuda.local.array(2, float32)\n"),
            (FROM_HERE + NEXT_A + NEXT_B + SUMS, SUMS + NEXT_A + NEXT_B), ("next_a", "ahead[0]"),
            ("next_b", "ahead[1]")]},
    "loads an element of the next tile of `a`, and line": {
        "stored before the sums": [(COMMENT + FLIP + PUT, FLIP), (SUMS,
             AT_ONCE_A.split(" = ")[0] + " = next_a\n" + AT_ONCE_B.split(" = ")[0]
             + " = next_b\n" + SUMS)]},
    "computes with it": {
        "computed with before the sums": [(SUMS, "        next_a = float32(1) * next_a\n" + SUMS)],
        "compared before the sums": [
            (SUMS, "        if next_a == 0:\n            total += float32(0)\n" + SUMS)]},
    "adds 8 of the 16 terms": {
        "half of the sums before the loads": [(FROM_HERE + NEXT_A + NEXT_B + SUMS,
             SUMS.replace("range(TILE)", "range(8)") + NEXT_A + NEXT_B
             + SUMS.replace("range(TILE)", "range(8, TILE)"))]},
    "The last tile is missing. It has been loaded, and no iteration multiplies it: each one "
    "multiplies the tile that the one before has stored.": {
        "the last tile is not multiplied": [(TURNS, "while start + TILE < k:\n")],
        "only the tiles that are whole": [(TURNS, "while start < k // TILE * TILE:\n")]},
    "6 tiles in place of 5": {"one turn too many": [(TURNS, "while start <= k:\n")]},
    "Every second tile is missing.": {
        "two tiles in a turn": [(NEXT, NEXT.replace("+ TILE", "+ 2 * TILE"))]},
    "The first tile counts twice, and the last one is missing: in its iteration each tile is "
    "loaded once more, instead of the next.": {
        "loads the tile of its own turn": [(NEXT, ""),
            (BARRIER + "    if row", NEXT + BARRIER + "    if row")]},
    "k = 80 holds 5 tiles, and this is one more.": {
        "the end of the sum not tested for a": [("row < m and start + tx < k", "row < m")],
        "the end of the sum not tested for b": [("start + ty < k and col < n", "col < n")],
        "the end of the sum tested with <=": [("start + tx < k", "start + tx <= k")]},
    "The last tile reaches over the end of the sum, k = 7: this index goes from 7 to 15. No test "
    "stops it, or one that looks at something else.": {
        "the first tile not tested": [("row < m and tx < k", "row < m")],
        "the first tile of b not tested": [
            ("b[ty, col] if ty < k and col < n", "b[ty, col] if col < n")]},
    "Only the terms of the first tile are in the sum, 5 times: every iteration loads it again.": {
        "the first tile twice": [("a[row, start + tx] if row < m and start + tx < k",
             "a[row, tx] if row < m and tx < k"),
            ("b[start + ty, col] if start + ty < k", "b[ty, col] if ty < k")]},
    "Every iteration loads the first tile of `{a}` again.": {
        "a without the start": [("a[row, start + tx] if row < m and start + tx < k",
             "a[row, tx] if row < m and tx < k")]},
    "It concerns 960 threads, with rows 17 to 31: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the row not tested": [("if row < m and start + tx < k", "if start + tx < k")]},
    "Only the terms of the last tile are in the sum: each iteration forgets the tiles before.": {
        "the total set at each tile": [(SUMS, "        total = float32(0)\n" + SUMS)]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "b read transposed": [("tile_b[side, i, tx]", "tile_b[side, tx, i]")]},
    "The tile of `{a}` is read transposed: its two indices are exchanged.": {
        "the tile of a stored transposed": [("tile_a[side, ty, tx]", "tile_a[side, tx, ty]")]},
    "In a tile of `{c}` all columns are alike: that of `{b}` is read with `ty` as its column.": {
        "ty for tx in the tile of b": [("tile_b[side, i, tx]", "tile_b[side, i, ty]")]},
    "The tile of `{a}` is multiplied with itself: nothing of `{b}` is in the result.": {
        "b from the side of a": [("tile_b[side, i, tx]", "tile_a[side, i, tx]")]},
    "`{array}` is a local array: each thread has one of its own, and sees nothing of what the "
    "others store in theirs.": {"local arrays": [("cuda.shared.array", "cuda.local.array")]},
    "The first index of `{tile b}` is the buffer. The array has 1 of them, counted from 0, and the "
    "index is 1.": {
        "an array of one side": [
            ("tile_b = cuda.shared.array((2,", "tile_b = cuda.shared.array((1,")]},
    "blocks of 16×16 threads": {"tiles of 8": [("TILE = 16", "TILE = 8")]},
    "works in float64": {"a float64 total": [("total = float32(0)", "total = 0.0")]},
    "With k = 16 there is one tile only, the first, and the result is wrong there, too. Where and "
    "how is this tile loaded, stored and read?": {
        "the first tile from the wrong row": [
            ("b[ty, col] if ty < k", "b[ty + 1, col] if ty + 1 < k")]},
    "With k = 16 there is one tile only, the first, and the result is right there. Where and how "
    "are the tiles behind it loaded, stored and read?": {
        "the next tiles from the wrong column": [
            ("a[row, start + tx] if", "a[row, start - tx] if")]},
    "Every element of `{c}` is 0: nothing is added to the sums.": {"nothing added": [(SUMS, "")]},
    "no thread ever stores into `c`": {"no store": [(STORE, "")]},
    "It concerns 1,198 threads, with rows 17 to 31: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the store not tested": [(STORE, "    c[row, col] = total\n")]},
    "5 stores": {
        "a store in each turn": [(STORE, ""),
            (END, END + "    " + STORE.replace("\n ", "\n     "))]},
    "stay in this loop for ever": {"never ends": [(NEXT, "")]},
    "`tile_a` has room for one tile": {
        "a side of one": [("(2, TILE", "(1, TILE"), ("[side", "[0"), (FLIP, ""),
            (COMMENT, BARRIER)]},
    "11 barriers": {"two sides and two barriers": [(SUMS, SUMS + BARRIER)]},
}  # fmt: skip
