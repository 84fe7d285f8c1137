"""Wrong answers to `row_gap`: what `check` says, and the changes that earn it."""

SHAPE = "(8, 132)"
FILL = "tile[z + j, down] = four[j]"
LOOP = f"    for j in range(4):\n        {FILL}\n"
BARRIER = "    cuda.syncthreads()\n"


def long(words: int) -> list[tuple[str, str]]:
    return [(SHAPE, f"(8, {words})")]


WRONG = {
    "takes 2 wavefronts, because lanes meet in the same banks": {
        "the starter": long(128), "eight words more": long(136), "a row of 160 words": long(160),
        "sixteen words more": long(144), "more rows": [(SHAPE, "(12, 128)")]},
    "A row of this length does not begin at a boundary of 16 bytes, so `load4` cannot take four "
    "words of it.": {
        "one word more": long(129), "two words more": long(130), "three words more": long(131)},
    "A row of the tile must hold one word for each of the 128 rows of `{x}` that a block turns.": {
        "four words less": long(124), "half a row": long(64)},
    "The four words of a thread belong in four rows, so one `store4` cannot store them.": {
        "a wide store": [(LOOP, "    store4(tile, (z, down), four)\n")]},
    "On a GPU this is certain only with `alignment=16`.": {
        "without alignment": [(", alignment=16", "")]},
    "The gap is behind the words of a row. The words themselves begin in column 0.": {
        "a gap in front": [("tile[z + j, down]", "tile[z + j, down + 4]")]},
    "takes 2 wavefronts, because lanes meet in the same banks; the target is 1.": {
        "a gap of one word, read word by word": [*long(129), ("load4(tile, (z, across))",
             "(tile[z, across], tile[z, across + 1], tile[z, across + 2], tile[z, across + 3])")]},
    "sectors": {
        "other lanes below each other": [
            *long(128), ("down, z = t // 2, t % 2 * 4", "down, z = t % 128, t // 128 * 4")]},
    "A warp reads words that other warps have stored in the tile, and nothing makes it wait for "
    "them.": {"no barrier": [(BARRIER, "")]},
    "The four words of a thread are stored in the opposite order.": {
        "the rows backwards": [("tile[z + j,", "tile[z + 3 - j,")]},
    "The words that are read begin behind those that were stored.": {
        "a gap where it is read": [("load4(tile, (z, across))", "load4(tile, (z, across + 4))")]},
}  # fmt: skip
