"""Wrong answers to `four_chains`: what `check` says, and the changes that earn it."""

SUM = "totals[i % 4] +="
STEPS = "for i in range(TILE):"
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
    "a thread adds term 1 to the same sum as term 0": {
        "eight neighbours in each sum": [(SUM, "totals[i // 8] +=")],
        "two neighbours in each sum": [(SUM, "totals[i // 2 % 4] +=")]},
    "a thread adds term 4 to the same sum as term 0": {
        "chain by chain": [
            (f"{STEPS}\n            {SUM} tile_a[ty, i] * tile_b[i, tx]",
             "for j in range(4):\n            for i in range(j, TILE, 4):\n"
             "                totals[j] += tile_a[ty, i] * tile_b[i, tx]")],
        "another order": [(STEPS, "for u in range(TILE):\n            i = u % 8 * 4 + u // 8"),
                          (SUM, "totals[u // 8] +=")]},
    "A thread has 4 sums, number 0 to 3, and this line chooses number 4 of `totals`.": {
        "a sum for each term": [(SUM, "totals[i] +=")],
        "five sums": [(SUM, "totals[i % 5] +=")]},
    "Every term counts 4 times, and not once.": {
        "each term in all sums": [
            (f"{SUM} tile_a[ty, i] * tile_b[i, tx]",
             "for j in range(4):\n                totals[j] += tile_a[ty, i] * tile_b[i, tx]")]},
    "Not all sums of a thread are in what it stores.": {
        "three sums stored": [(STORE, "totals[0] + totals[1] + totals[2]")],
        "one sum stored": [(STORE, "totals[0]")]},
    "Each term replaces what is in its sum, so only the last four terms are left.": {
        "the sums are replaced": [(SUM, "totals[i % 4] =")]},
    "The terms are taken from the first columns of the tile of `{a}` alone.": {
        "the remainder at the read": [("tile_a[ty, i]", "tile_a[ty, i % 4]")]},
    "`cuda.syncthreads()` is missing between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "        for i")]},
    "`cuda.syncthreads()` is missing after line {other_line}: a fast thread loads the next tile "
    "over an element that a slow one still needs.": {
        "no barrier after the sums": [(USED, "[i, tx]\n")]},
    "works in float64": {
        "float64 sums": [("(4, float32)", "(4, float64)"),
                         ("cuda, float32", "cuda, float32, float64")]},
}  # fmt: skip
