"""Wrong answers to `swizzled_tile`: what `check` says, and the changes that earn it."""

STORE = "store8(tile, (y, x ^ y % 8 * 8), load8(a, (row + y, x)))"
LOAD = "ldmatrix_x4(of_a, tile, (y, x ^ y % 8 * 8))"
LOOP = "    for chunk in range(lane, 128, 32):\n"
MMA = "        mma_m16n8k8(sums, of_a[4:8], of_b[2:4])\n"


def both(place: str) -> list[tuple[str, str]]:
    """Return the changes that store and load each chunk in another column of its row."""
    return [(STORE, STORE.replace("x ^ y % 8 * 8", place)),
            (LOAD, LOAD.replace("x ^ y % 8 * 8", place))]  # fmt: skip


def load(position: str) -> list[tuple[str, str]]:
    """Return the change that loads from other positions."""
    return [(LOAD, f"ldmatrix_x4(of_a, tile, ({position}))")]


WRONG = {
    "takes 32 wavefronts per request": {
        "no swizzle": both("x"),
        "all rows alike": both("x ^ 8"),
        "the same shift for all": both("(x + 24) % 64")},
    "takes 16 wavefronts per request": {
        "every fourth row apart": both("x ^ y // 4 % 2 * 8"),
        "two places": both("x ^ y % 2 * 8")},
    "takes 8 wavefronts per request": {
        "four places": both("x ^ y % 4 * 8"),
        "pairs of rows": both("x ^ y // 2 % 4 * 8")},
    "Only one of the two lines swizzles. Store and load must agree where a chunk is.": {
        "the store alone": load("y, x"),
        "the load alone": [(STORE, "store8(tile, (y, x), load8(a, (row + y, x)))")]},
    "A chunk begins at a multiple of eight elements. Here the row moves it by single elements.": {
        "elements instead of chunks": both("x ^ y % 8"),
        "elements and a sum": both("(x + y % 8) % 64")},
    "An index names one element, and a chunk has eight.": {
        "a chunk into one element": [
            (STORE, "tile[y, x ^ y % 8 * 8] = load8(a, (row + y, x))")]},
    "No line of your kernel stores into `of_a`.": {
        "nothing loaded": [(LOAD, "pass")]},
    "The load swizzles with another row than the store.": {
        "two swizzles": load("y, x ^ (y + 1) % 8 * 8")},
    "`y` goes to 15, and a row has eight chunks, 0 to 7: from row 8 on the column is beyond it.": {
        "no remainder": both("x ^ y * 8")},
    "The sum of both columns goes to 112, and a row has 64 elements.": {
        "a sum without a remainder": both("x + y % 8 * 8")},
    "Lanes 16 to 31 must name the eight columns from `start` + 8 on. Here they name the same "
    "chunks as lanes 0 to 15.": {
        "the same columns for all lanes": load("y, start ^ y % 8 * 8")},
    "Lanes 8 to 15 give the rows of the right upper part here. The fragment needs those of the "
    "left lower part second.": {
        "matrices exchanged": [("y, x = lane % 16, start + lane // 16 * 8",
                                "y, x = lane % 8 + lane // 16 * 8, start + lane // 8 % 2 * 8")]},
    "Longer rows cure the conflicts, too. Here the tile must not grow.": {
        "eight more elements per row": [("(16, 64)", "(16, 72)"), *both("x")]},
    "moves 8 elements of tile at once from element 1 on, which is no multiple of 8": {
        "numbers of chunks": both("x // 8 ^ y % 8")},
    "with no syncwarp() or syncthreads() between": {
        "no barrier": [("    cuda.syncthreads()\n", "")]},
    "which no thread has written": {
        "half of the chunks": [(LOOP, LOOP.replace("128", "64"))]},
    "At k = 64 every sum lacks the terms i = 8": {
        "one mma": [(MMA, "")]},
    "The first half of the fragment of `{a}` belongs to the first eight steps of k.": {
        "halves exchanged": [("of_a[0:4], of_b[0:2]", "of_a[4:8], of_b[0:2]"),
                             ("of_a[4:8], of_b[2:4]", "of_a[0:4], of_b[2:4]")]},
    "`{a}` is in the tile by rows, as its fragment needs it: load it without `trans`.": {
        "trans": [("import ldmatrix_x4,", "import ldmatrix_x4, ldmatrix_x4_trans,"),
                  (LOAD, LOAD.replace("ldmatrix_x4", "ldmatrix_x4_trans"))]},
    "Every iteration loads the first 16 columns of the tile.": {
        "every step the first": [("start + lane // 16 * 8", "lane // 16 * 8")]},
}  # fmt: skip
