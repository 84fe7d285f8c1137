"""Wrong answers to `turned_tile`: what `check` says, and the changes that earn it."""

FOUR = "    four = load4(x, (first + down, z))\n"
FILL = "tile[z + j, down] = four[j]"
LOOP = f"    for j in range(4):\n        {FILL}\n"
BARRIER = "    cuda.syncthreads()\n"
STORE = "    store4(out, (z, first + across), load4(tile, (z, across)))\n"

WRONG = {
    "no thread reads or writes any array": {"nothing": [(FOUR + LOOP, ""), (STORE, "")]},
    "The tile has 8 rows, one per column of `{x}`. A row of `{x}` is a column of the tile: which "
    "index comes first?": {
        "the tile not turned": [("tile[z + j, down]", "tile[down, z + j]")],
        "the tile read with exchanged indices": [("load4(tile, (z, ", "load4(tile, (across, "),
            ("across, across)", "across, z)")]},
    "The four words of a thread go to neighbouring columns of one row. They belong in one column, "
    "below each other.": {
        "four words in one row": [("tile[z + j, down]", "tile[z, down + j]")]},
    "Not all rows of the tile are filled: each thread has four words, for the rows from `z` on.": {
        "one row for all four": [("tile[z + j, down]", "tile[z, down]")],
        "three words": [("range(4)", "range(3)")],
        "nothing in the tile": [(FOUR + LOOP, "")]},
    "All four words that a thread stores are the first one of its tuple.": {
        "the first number four times": [("four[j]", "four[0]")]},
    "The four words of a thread are stored in the opposite order.": {
        "backwards": [("four[j]", "four[3 - j]")]},
    "Every block loads the rows of `{x}` that block 0 needs.": {
        "without first in x": [("(first + down, z)", "(down, z)")]},
    "Every block stores into the columns of `{out}` that belong to block 0.": {
        "without first in out": [("(z, first + across)", "(z, across)")]},
    "A quad has four elements, 0 to 3.": {"five words": [("range(4)", "range(5)")]},
    "`{x}` has 8 columns, and the row of a thread is `first + down`.": {
        "row and column of x exchanged": [("(first + down, z)", "(z, first + down)")],
        "four rows per thread": [("(first + down, z)", "(first + 4 * down, z)")]},
    "`{out}` has 8 rows. The rows of `{x}` are its columns.": {
        "row and column of out exchanged": [("(z, first + across)", "(first + across, z)")]},
    "one number is stored into one element": {
        "the whole tuple in one word": [("= four[j]", "= four")]},
    "loads 32 bits of `{x}`": {
        "word by word": [(FOUR, ""), ("four[j]", "x[first + down, z + j]")]},
    "stores 32 bits into `{out}`": {
        "out word by word": [(STORE, "    for j in range(4):\n"
             "        out[z, first + across + j] = tile[z, across + j]\n")]},
    "the kernel stores nothing in shared memory": {
        "straight to out": [(STORE, ""), (FILL, "out[z + j, first + down] = four[j]")]},
    "On a GPU this is certain only with `alignment=16`.": {
        "without alignment": [(", alignment=16", "")]},
    "loads 32 bits of `tile`": {
        "the tile word by word": [("load4(tile, (z, across))", "(tile[z, across], "
             "tile[z, across + 1], tile[z, across + 2], tile[z, across + 3])")]},
    "A warp reads words that other warps have stored in the tile, and nothing makes it wait for "
    "them.": {
        "no barrier": [(BARRIER, "")],
        "a barrier of a warp": [("syncthreads", "syncwarp")]},
    "Four words at once begin at a multiple of 4: quad q begins at word 4·q.": {
        "the number of a quad for a column of x": [("t % 2 * 4", "t % 2")],
        "the number of a quad for a column of the tile": [("t % 32 * 4", "t % 32")]},
    "All threads store in the first columns of the tile. Which column belongs to row `down` of "
    "`{x}`?": {"z for down": [("tile[z + j, down]", "tile[z + j, z]")]},
}  # fmt: skip
