"""Wrong answers to `cut_along_k`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

PIECE = "    piece = cuda.blockIdx.z\n"
GUARD = "    if row < m and col < n:\n"
START = "        total = float32(0)\n"
BEGIN, END = "piece * k // SLICES", "(piece + 1) * k // SLICES"
LOOP = f"        for i in range({BEGIN}, {END}):\n"
TERM = "            total += a[row, i] * b[i, col]\n"
PLACE = "[piece, row, col]"
STORE = f"        partials{PLACE} = total\n"


def loop(begin: str, end: str) -> list[tuple[str, str]]:
    """Return the change of the solution after which its loop has these ends."""
    return [(LOOP, f"        for i in range({begin}, {end}):\n")]


WRONG = {
    "no thread reads or writes any array": {
        "the starter": file_beside(__file__, "starter")},
    "no thread ever stores into `partials`": {
        "without a store": [(STORE, "")]},
    "Each slice adds all k terms, so the sum of the slices is four times the product. Which terms "
    "belong to this slice?": {
        "all terms": loop("0", "k")},
    "The slices begin at the right term, and all of them end at k. The terms behind a slice belong "
    "to the next one.": {
        "to the end of k": loop(BEGIN, "k")},
    "The slices end at the right term, and all of them begin at 0. The terms in front belong to "
    "the slices before.": {
        "from the beginning of k": loop("0", END)},
    "All slices have k // SLICES terms. Where k does not divide, the last terms are in no slice.": {
        "the last terms are lost": loop("piece * (k // SLICES)", "(piece + 1) * (k // SLICES)")},
    "Slice `piece` begins at `piece * (k // SLICES)`. Where k does not divide, it begins at "
    "another term: first multiply, then divide.": {
        "the last slice takes the remainder": [
            (LOOP, "        last = (piece + 1) * (k // SLICES) if piece < SLICES - 1 else k\n"
             "        for i in range(piece * (k // SLICES), last):\n")]},
    "The slices have k / SLICES terms, rounded up. Where k does not divide, they begin at other "
    "terms than the task asks for.": {
        "rounded up": loop("min(k, piece * -(-k // SLICES))",
                           "min(k, (piece + 1) * -(-k // SLICES))")},
    "The last term of each slice is missing: `range` ends before its second number.": {
        "one term less": loop(BEGIN, f"{END} - 1")},
    "The first term of each slice is missing.": {
        "begins too late": loop(f"{BEGIN} + 1", END)},
    "The slices overlap: the first term of the next slice is added, too.": {
        "one term more": loop(BEGIN, f"min(k, {END} + 1)")},
    "Each slice takes every fourth term. Its terms should be neighbours.": {
        "every fourth term": [(LOOP, "        for i in range(piece, k, SLICES):\n")]},
    "The slices are in reverse order: slice 0 has the last terms.": {
        "in reverse order": [(PLACE, "[SLICES - 1 - piece, row, col]")]},
    "All slices are stored in the first one, and they overwrite each other.": {
        "one place for all": [(PLACE, "[0, row, col]")]},
    "Every block adds the first slice: a thread of this launch always has the number 0 along "
    "`z`. Which number tells the slices apart?": {
        "the number of the thread": [(PIECE, "    piece = cuda.threadIdx.z\n")]},
    "A slice has only its last term: each turn of the loop forgets the terms before.": {
        "no addition": [("total +=", "total =")]},
    "The sum is stored in each iteration of the loop. A slice without terms then stores nothing.": {
        "a store in the loop": [(STORE, "    " + STORE)]},
    "The sum begins with the wrong number.": {
        "begins at one": [(START, "        total = float32(1)\n")]},
    "float64": {
        "a sum in float64": [(START, "        total = 0.0\n")]},
    "Rows and columns are exchanged: `cuda.grid(2)` gives the number along `x` first.": {
        "row and column exchanged": [("    col, row = cuda", "    row, col = cuda")]},
    "goes to": {
        "no guard": [(GUARD, "    if True:\n")],
        "a guard for the rows alone": [(GUARD, "    if row < m:\n")],
        "a guard for the columns alone": [(GUARD, "    if col < n:\n")],
        "a guard with or": [(GUARD, "    if row < m or col < n:\n")],
        "one row too many": [(GUARD, "    if row <= m and col <= n:\n")]},
}  # fmt: skip
