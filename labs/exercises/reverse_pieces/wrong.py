"""Wrong answers to `reverse_pieces`: what `check` says, and the changes that earn it."""

LOOP = "    for piece in range(PIECES):\n"
INDEX = "        i = 64 * (PIECES * cuda.blockIdx.x + piece) + t\n"
LOAD = "        tile[t] = x[i] if i < x.size else float32(0)\n"
WAIT = "        cuda.syncthreads()\n"
TEST = "        if i < x.size:\n"
STORE = "            out[i] = tile[63 - t]\n"
END = f"{STORE}{WAIT}"  # the end of the loop, with the second barrier

WRONG = {
    "Nothing makes the threads wait between line {other_line}, which reads the tile, and line "
    "{line}: a fast thread begins the next piece and replaces a word that a slow one still "
    "needs.": {
        "the starter": [(END, STORE)],
        "place 2": [(END, STORE), (LOAD, LOAD + WAIT)],
        "after the loop": [(END, f"{STORE}    cuda.syncthreads()\n")],
        "above the loop": [(END, STORE), (LOOP, f"    cuda.syncthreads()\n{LOOP}")],
        "place 3": [(END, STORE), (TEST, f"{TEST}    {WAIT}")]},
    "the branch `if i < x.size`": {
        "in the branch, after the read": [(END, f"{STORE}    {WAIT}")]},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "the given barrier moved to the end": [(LOAD + WAIT, LOAD)],
        "no barrier": [(WAIT, "")]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. A piece "
    "is turned around by 2 warps.": {
        "the second barrier is one of a warp": [
            (END, f"{STORE}        cuda.syncwarp()\n")],
        "barriers of a warp": [("syncthreads", "syncwarp")]},
    "names the barrier and does not call it": {
        "no brackets": [(END, f"{STORE}        cuda.syncthreads\n")]},
    "each block passes 12 barriers": {
        "places 1 and 4": [(INDEX, INDEX + WAIT)],
        "places 2 and 4": [(LOAD, LOAD + WAIT)]},
    "each block passes 16 barriers": {
        "places 1, 2 and 4": [(INDEX, INDEX + WAIT), (LOAD, LOAD + WAIT)]},
    "The tile still holds words of the piece before where `{x}` has ended.": {
        "no zeros": [(LOAD, "        if i < x.size:\n            tile[t] = x[i]\n")]},
    "No word is turned around: each thread reads the word that it has stored.": {
        "not turned": [("tile[63 - t]", "tile[t]")]},
    "All pieces of a block are the first one: the index does not follow `piece`.": {
        "no piece": [("(PIECES * cuda.blockIdx.x + piece)", "PIECES * cuda.blockIdx.x")]},
}  # fmt: skip
