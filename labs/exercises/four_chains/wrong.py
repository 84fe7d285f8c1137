"""Wrong answers to `four_chains`: what `check` says, and the changes that earn it."""

SUM = "totals[i % 4] +="
STORE = "totals[0] + totals[1] + totals[2] + totals[3]"
LOADED = "        cuda.syncthreads()\n        for i"
USED = "[i, tx]\n        cuda.syncthreads()\n"

WRONG = {
    "160 of the 160 terms of a sum are added one after the other": {
        "the starter": [(SUM, "totals[0] +=")],
        "a sum for every fourth thread": [(SUM, "totals[tx % 4] +=")],
        "chosen by the first term of the tile": [(SUM, "totals[start % 4] +=")]},
    "80 of the 160 terms": {"two sums": [(SUM, "totals[i % 2] +=")]},
    "54 of the 160 terms": {"three sums": [(SUM, "totals[i % 3] +=")]},
    "64 of the 160 terms": {"a sum for each tile": [(SUM, "totals[start // TILE % 4] +=")]},
    "totals has 4 elements": {"a sum for each term": [(SUM, "totals[i] +=")]},
    "Not all sums of a thread are in what it stores.": {
        "three sums stored": [(STORE, "totals[0] + totals[1] + totals[2]")],
        "one sum stored": [(STORE, "totals[0]")]},
    "Each term replaces what is in its sum, so only the last four terms are left.": {
        "the sums are replaced": [(SUM, "totals[i % 4] =")]},
    "The terms are taken from the first columns of the tile of `{a}` alone.": {
        "the remainder at the read": [("tile_a[ty, i]", "tile_a[ty, i % 4]")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "        for i")]},
    "Nothing makes the threads wait after line {other_line}: a fast one loads the next tile "
    "over an element that a slow one still needs.": {
        "no barrier after the sums": [(USED, "[i, tx]\n")]},
    "works in float64": {
        "float64 sums": [("(4, float32)", "(4, float64)"),
                         ("cuda, float32", "cuda, float32, float64")]},
}  # fmt: skip
