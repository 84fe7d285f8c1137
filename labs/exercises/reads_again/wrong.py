"""Wrong answers to `reads_again`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

STEPS = "        for i in range(TILE):\n"
FIRST = "            total0 += tile_a[ty, i] * tile_b0[i, tx]\n"
SECOND = "            total1 += tile_a[ty, i] * tile_b1[i, tx]\n"
SYNC = "        cuda.syncwarp()  # from here on the tile of a is read again\n"
ARRAYS = (
    "    tile_b0 = cuda.shared.array((TILE, TILE), float32)\n"
    "    tile_b1 = cuda.shared.array((TILE, TILE), float32)\n"
)
INSIDE_A = "row < m and start + tx < k"
INSIDE_0 = "start + ty < k and col < n"
INSIDE_1 = "start + ty < k and next_col < n"
LOADED = "        cuda.syncthreads()  # all three tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
BOTH = (
    "            from_a = tile_a[ty, i]\n            total0 += from_a * tile_b0[i, tx]\n"
    "            total1 += from_a * tile_b1[i, tx]\n"
)
LOOPS = f"{STEPS}{FIRST}{SYNC}{STEPS}{SECOND}"

WRONG = {
    "no thread reads or writes": {"the starter": file_beside(__file__, "starter")},
    "Line {line} reads a word of `{tile a}` for both sums.": {
        "one loop, as before": [(LOOPS, STEPS + BOTH)],
        "one loop, and a syncwarp after it": [(LOOPS, STEPS + BOTH + SYNC)]},
    "so the compiler may keep the words that the first one has read, and the second one reads "
    "nothing again.": {
        "no syncwarp": [(SYNC, "")]},
    "one loop over the words of a tile adds to both sums. Give each sum a loop of its own, with a "
    "`cuda.syncwarp()` between the two loops.": {
        "one loop without a name": [(LOOPS, STEPS + FIRST + SECOND)],
        "in one loop": [(LOOPS, f"{STEPS}{FIRST}            cuda.syncwarp()\n{SECOND}")]},
    "is not between two loops, the loop of the first sum and that of the second.": {
        "in the first loop": [(SYNC, "            cuda.syncwarp()\n")],
        "in the second loop": [(SYNC, ""), (SECOND, f"{SECOND}            cuda.syncwarp()\n")],
        "before both loops": [(SYNC, ""), (LOADED, LOADED + SYNC)],
        "after both loops": [(SYNC, ""), (USED, SYNC + USED)]},
    "a thread passes 3 barriers per tile, and the target is 2. They are in lines": {
        "a barrier of the block": [("syncwarp", "syncthreads")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. It holds what belongs in the first (columns 0 to 15 of the first block).": {
        "the second loop takes the first tile": [(SECOND, SECOND.replace("b1", "b0"))]},
    "All columns of a thread are alike: they share one total.": {
        "one total for both": [(SECOND, SECOND.replace("total1", "total0")),
            ("= total1", "= total0")]},
    "Of the 2 elements of each thread only the second (columns 16 to 31 of the first block) is "
    "wrong. It is 0: nothing was added to its sum.": {
        "the second loop forgotten": [(STEPS + SECOND, "")]},
    "works in float64": {"a float64 total": [("total1 = float32(0)", "total1 = 0.0")]},
}  # fmt: skip
