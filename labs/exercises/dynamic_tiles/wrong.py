"""Wrong answers to `dynamic_tiles`: what `check` says, and the changes that earn it."""

ARRAY = "tiles = cuda.shared.array(0, float32)  # as large as the launch says"
SIDE = "side = cuda.blockDim.x"
SECOND = "second = side * side"
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
OF_A, OF_B = "tiles[ty * side + tx]", "tiles[second + ty * side + tx]"
READ_A, READ_B = "tiles[ty * side + i]", "tiles[second + i * side + tx]"
ZERO_A = f"        {OF_A} = float32(0)\n"
ZERO_B = f"        {OF_B} = float32(0)\n"
INSIDE_A, INSIDE_B = "row < m and start + tx < k", "start + ty < k and col < n"
LOAD_A = f"        if {INSIDE_A}:\n            {OF_A} = a[row, start + tx]\n"
LOAD_B = f"        if {INSIDE_B}:\n            {OF_B} = b[start + ty, col]\n"
TURNS = "range(0, k, side)"
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
TOTAL = "    total = float32(0)\n"

NO_TILES = """from numba import cuda, float32


@cuda.jit
def dynamic_tiles(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for i in range(k):
            total += a[row, i] * b[i, col]
        c[row, col] = total
"""

WRONG = {
    "The tile of `{b}` is multiplied with itself: nothing of `{a}` is in the result. Where does "
    "each of the two tiles begin in the array?": {
        "both tiles in one place": [(SECOND, "second = 0")],
        "a read from the second half": [(READ_A, "tiles[second + ty * side + i]")]},
    "All that is stored lies in elements 0 to 255 of the array. A tile of this launch has 256 "
    "elements, and there are two of them.": {
        "nobody fills the tile of b": [(ZERO_B, ""), (LOAD_B, "")]},
    "Your kernel stores the first tile into elements 0 to 255, and line {line} begins at element "
    "16: the tiles overlap. A tile of this launch has 256 elements, and there are two of them.": {
        "the second tile a row behind": [(SECOND, "second = side")]},
    "Lines {array before last array} and {last array after array} both name the whole memory of "
    "the launch, from its first element on: what is stored through one of them replaces what the "
    "other holds.": {
        "two arrays of size 0": [(ARRAY, f"{ARRAY}\n    other = cuda.shared.array(0, float32)"),
            (OF_B, "other[ty * side + tx]"), (READ_B, "other[i * side + tx]")]},
    "Your kernel stores the first tile into elements 0 to 255, and line {line} begins at element "
    "128: the tiles overlap. A tile of this launch has 256 elements, and there are two of them.": {
        "the second tile at the half of its own": [(SECOND, "second = side * side // 2")]},
    "This launch has blocks of 16×16 threads and asks for 2,048 bytes: two tiles of float32, "
    "elements 0 to 511. This index goes on to 1279.": {
        "bytes for elements": [(SECOND, "second = 4 * side * side")]},
    "With blocks of 16×16 threads the result was right. Here a block has 8×8 threads, and a tile "
    "64 elements: which number in your kernel does not follow from `cuda.blockDim`?": {
        "the second tile at 256": [(SECOND, "second = 256")],
        "a side of 16": [(SIDE, "side = 16")],
        "rows of 16": [("ty * side + tx]", "ty * 16 + tx]"), ("ty * side + i]", "ty * 16 + i]")],
        "a sum of 16 terms": [("range(side)", "range(16)")],
        "tiles 16 apart": [(TURNS, "range(0, k, 16)")],
        "blocks 16 apart": [("blockIdx.x * side", "blockIdx.x * 16")]},
    "The size of a shared array stands in line 9": {
        "a size of 512": [(ARRAY, "tiles = cuda.shared.array(512, float32)")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "two arrays of 256, and no barrier": [(ARRAY, "tiles = cuda.shared.array(256, float32)\n"
             "    other = cuda.shared.array(256, float32)"), (OF_B, "other[ty * side + tx]"),
            (READ_B, "other[i * side + tx]"), (LOADED, "")],
        "no barrier after the loads": [(LOADED, "")]},
    "not known when the kernel is compiled": {
        "the size of the launch": [
            (ARRAY, "tiles = cuda.shared.array(2 * cuda.blockDim.x * cuda.blockDim.x, float32)")]},
    "This launch has blocks of 16×16 threads and asks for 2,048 bytes: two tiles of float32, "
    "elements 0 to 511. This index goes on to 511.": {
        "an array of float64": [(ARRAY, "tiles = cuda.shared.array(0, float64)"),
            ("cuda, float32", "cuda, float32, float64")]},
    "`tiles[ty, tx]": {"two indices": [(OF_A, "tiles[ty, tx]")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {"no barrier after the sums": [(USED, "")]},
    "brackets are missing": {
        "barriers that are not called": [("cuda.syncthreads()", "cuda.syncthreads")]},
    "The barrier stands in the branch": {
        "a barrier for threads with an element": [
            (LOADED, f"        if row < m and col < n:\n    {LOADED}")]},
    "At the edge some threads leave at `return` in line {return}, because they have no element of "
    "`{c}`. But the others need the elements of the tiles that these threads should have loaded.": {
        "threads at the edge leave": [
            (TOTAL, f"    if row >= m or col >= n:\n        return\n{TOTAL}")]},
    "The tile of `{a}` is read transposed: its two indices are exchanged.": {
        "a read transposed": [(READ_A, "tiles[i * side + ty]")]},
    "The tile of `{b}` is read transposed: its two indices are exchanged.": {
        "b read transposed": [(READ_B, "tiles[second + tx * side + i]")],
        "b stored transposed": [(OF_B, "tiles[second + tx * side + ty]")]},
    "The tile of `{a}` is multiplied with itself: nothing of `{b}` is in the result.": {
        "b read without its half": [(READ_B, "tiles[i * side + tx]")]},
    "In a tile of `{c}` all rows are alike: that of `{a}` is read with `tx` as its row.": {
        "tx for ty in the tile of a": [(READ_A, "tiles[tx * side + i]")]},
    "Row 0 is right; what serves the rows from 1 on goes wrong.": {
        "a row without its length": [(READ_A, "tiles[ty + i]")]},
    "Two threads store different values into one element of the tile.": {
        "stored without the length of a row": [(OF_A, "tiles[ty + tx]")]},
    "meet in bank 0": {
        "both of b transposed": [(OF_B, "tiles[second + tx * side + ty]"),
            (READ_B, "tiles[second + tx * side + i]")]},
    "Every turn loads the first tile of `{a}` again.": {
        "a without the start": [("start + tx", "tx")]},
    "Each turn starts one term further, and not one tile further: tiles overlap, and term 2 counts "
    "3 times.": {"a loop by 1": [(TURNS, "range(0, k)")]},
    "The last tile is missing. It is not full: k = 37 is 2 times 16 and 5 more.": {
        "only whole tiles": [(TURNS, "range(0, k // side * side, side)")]},
    "The last tile is missing: the loop ends one tile too early.": {
        "one tile too few": [(TURNS, "range(0, k - side, side)")]},
    "The last tile reaches over the end of the sum, k = 37: this index goes from 37 to 47. No test "
    "stops it, or one that looks at something else.": {
        "the end of the sum not tested for a": [(INSIDE_A, "row < m")],
        "the end of the sum not tested for b": [(INSIDE_B, "col < n")]},
    "It concerns 960 threads, with rows 33 to 47: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the row of a not tested": [(INSIDE_A, "start + tx < k")]},
    "The terms 21 to 31 count twice. In the last tile, which is not full, they still stand where "
    "the turn before has stored them.": {"no zeros": [(ZERO_A, ""), (ZERO_B, "")]},
    "Here the inputs hold an infinity each. The last tile ends at term 11; behind it one tile "
    "still holds what the turn before has left there, and the other a zero. Infinity times 0 is "
    "NaN.": {"zeros in the tile of a once": [(ZERO_A, ""), (TOTAL, TOTAL + ZERO_A[4:])]},
    "No line of your kernel stores into `{array}`.": {
        "nobody fills a tile": [(ZERO_A, ""), (LOAD_A, ""), (ZERO_B, ""), (LOAD_B, "")]},
    "Only the terms of the last tile are in the sum: each turn forgets the tiles before.": {
        "the total set at each tile": [(LOADED, f"{LOADED}    {TOTAL}")]},
    "works in float64": {"a float64 total": [("total = float32(0)", "total = 0.0")]},
    "every element of `b`": {
        "tiles that are not used": [
            (READ_B, "(b[start + i, col] if start + i < k and col < n else float32(0))")]},
    "no thread ever stores into `c`": {"no store": [(STORE, "    total += total\n")]},
    "It concerns 1,422 threads, with rows 33 to 47: no test stops them, or one compares this row "
    "with another size. Which of `m`, `n` and `k` is it?": {
        "the store not tested": [(STORE, "    c[row, col] = total\n")]},
    "5 stores": {
        "a store at each tile": [
            (STORE, "        if row < m and col < n:\n            c[row, col] = total\n")]},
    "The columns end at 32. That is m; `{c}` has 48 of them.": {
        "x and y of the block exchanged": [("blockIdx.y * side + ty", "blockIdx.x * side + ty"),
            ("blockIdx.x * side + tx", "blockIdx.y * side + tx")]},
    "16 times from global memory": {"no tiles": NO_TILES},
}  # fmt: skip
