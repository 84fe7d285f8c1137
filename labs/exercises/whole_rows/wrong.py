"""Wrong answers to `whole_rows`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

ROOM = "rows = cuda.shared.array((4, 48), float32, alignment=16)"

STORE = (
    "        store4(rows, (down, across * 4), (mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3]))\n"
)
FILLED = "        cuda.syncwarp()  # all lanes have stored their part of four rows\n"
FREE = "        cuda.syncwarp()  # nobody needs these rows any more\n"
LOOP = "        for r in range(4):\n"
TEST = "            if row + r * 4 + i < c.shape[0] and col + lane < c.shape[1]:\n"
WRITE = "                c[row + r * 4 + i, col + lane] = rows[r, lane]\n"
BODY = f"    for i in range(4):\n{STORE}{FILLED}{LOOP}{TEST}{WRITE}{FREE}"
ALL = "(mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3])"
GUARD = "if y < c.shape[0] and z < c.shape[1]:"


def direct(store: str) -> str:
    return (
        "    for i in range(4):\n        for j in range(4):\n"
        "            y, z = row + down * 4 + i, col + across * 4 + j\n"
        f"            {GUARD}\n                {store}\n"
    )


SHUFFLES = """    for i in range(4):
        for r in range(4):
            owner = r >> 1 << 4 | lane >> 2 << 1 | r & 1
            p = cuda.shfl_sync(0xFFFFFFFF, mine[i, 0], owner)
            q = cuda.shfl_sync(0xFFFFFFFF, mine[i, 1], owner)
            s = cuda.shfl_sync(0xFFFFFFFF, mine[i, 2], owner)
            u = cuda.shfl_sync(0xFFFFFFFF, mine[i, 3], owner)
            low, high = (q if lane & 1 else p), (u if lane & 1 else s)
            if row + r * 4 + i < c.shape[0] and col + lane < c.shape[1]:
                c[row + r * 4 + i, col + lane] = high if lane & 2 else low
"""

WRONG = {
    "no thread ever stores": {"nothing": [(BODY, "")]},
    "Lane 0 stores `c[0, 0]` and lane 1 `c[4, 0]`": {
        "each lane its own quad": [(BODY, direct("c[y, z] = mine[i, j]"))]},
    "`{c}` may have rows of any length. They may begin anywhere, and end in the midst of four "
    "words: it takes no `store4`.": {
        "four words at once": [(BODY,
             "    for i in range(4):\n        y, z = row + down * 4 + i, col + across * 4\n"
             f"        {GUARD}\n            store4(c, (y, z), {ALL})\n")]},
    "takes 8 wavefronts, and 4 would do": {"rows of 32 words": [(ROOM, ROOM.replace("48", "32"))]},
    "wavefronts, and 4 would do": {"rows of 36 words": [(ROOM, ROOM.replace("48", "36"))]},
    "Four words at once begin at a multiple of 4. With 33 words in a row not every row begins "
    "there.": {"rows of 33 words": [(ROOM, ROOM.replace("48", "33"))]},
    "takes 8 wavefronts": {"rows of 64 words": [(ROOM, ROOM.replace("48", "64"))]},
    "wavefronts, and 1 would do": {
        "words one by one": [(STORE, "        for j in range(4):\n"
             "            rows[down, across * 4 + j] = mine[i, j]\n")]},
    "Nothing makes the lanes wait between line {other_line}, which fills the rows, and line "
    "{line}: the lanes of a warp need not keep step.": {
        "no barrier after the stores": [(FILLED, "")],
        "no barrier": [(FILLED, ""), (FREE, "")],
        "both barriers at the end": [(FILLED, ""), (FREE, FREE + FREE)]},
    "Nothing makes the lanes wait after line {other_line}: one lane begins the next turn and "
    "replaces what another still needs.": {"no barrier at the end of a turn": [(FREE, "")]},
    "brackets are missing": {
        "a barrier that is not called": [("cuda.syncwarp()  # all", "cuda.syncwarp  # all")]},
    "The barrier stands in the branch": {
        "a barrier of those inside": [(FREE, f"        if col + lane < c.shape[1]:\n    {FREE}")]},
    "Lanes beyond the edge leave at `return` in line {return}. But they store for the others, and "
    "the others need them.": {
        "lanes beyond the edge leave": [("    for i in range(4):\n        store4",
             "    if col + lane >= c.shape[1]:\n"
             "        return\n    for i in range(4):\n        store4")],
        "lanes beyond the edge leave before they store into c": [(LOOP,
             f"        if col + lane >= c.shape[1]:\n            return\n{LOOP}")],
        "a return instead of the test": [(TEST + WRITE,
             "            if row + r * 4 + i >= c.shape[0] or col + lane >= c.shape[1]:\n"
             f"                return\n{WRITE[4:]}")],
        "quads below the edge leave": [("        store4(rows",
             "        if row + down * 4 + i >= c.shape[0]:\n"
             "            return\n        store4(rows")]},
    "Lanes beyond the edge leave at `return` in line {return}, before the first `syncwarp`. But "
    "they hold words of `x` that rows of `c` need, and all lanes must come to each barrier.": {
        "a return above the loads": [("    for i in range(4):\n        four",
             "    if row >= c.shape[0] or col + lane >= c.shape[1]:\n"
             "        return\n    for i in range(4):\n        four")],
        "a return of quads beyond the edge": [("    for i in range(4):\n        four",
             "    if row + down * 4 >= c.shape[0] or col + across * 4 >= c.shape[1]:\n"
             "        return\n    for i in range(4):\n        four")]},
    "The result is right. But the kernel stores nothing in shared memory. The task is to exchange "
    "words through it": {
        "shuffles": [(BODY, SHUFFLES)]},
    "A local array is no memory": {
        "a local array": [("cuda.shared", "cuda.local"), (", alignment=16", "")]},
    "The last tiles hang over the edge, and no test stops their lanes there.": {
        "no test": [(TEST + WRITE, WRITE[4:])]},
    "The last tiles hang over the edge, and your test lets this column pass. It must compare the "
    "very row and column that are stored.": {
        "a test of the row alone": [(" and col + lane < c.shape[1]", "")],
        "a test of the own quad": [(TEST,
             "            if row + down * 4 + i < c.shape[0] and col + across * 4 < c.shape[1]:"
             "\n")],
        "<= for <": [("<", "<=")]},
    "The last tiles hang over the edge, and your test lets this row pass. It must compare the very "
    "row and column that are stored.": {
        "a test of the column alone": [("row + r * 4 + i < c.shape[0] and ", "")]},
    "That is `{x}[4, 0]`, which belongs in row 4 and column 0. The column is right. Which row of "
    "the tile is read at turn i?": {
        "four rows side by side": [("row + r * 4 + i", "row + i * 4 + r")]},
    "In the first tile the rows 1, 2, 3, 5 … are missing, 12 in all. At turn i the four rows of "
    "`rows` belong to four rows of the tile. Which are they?": {
        "the same four rows": [("c[row + r * 4 + i,", "c[row + r * 4,")]},
    "In the first tile the rows 4, 5, 6, 7 … are missing, 12 in all. At turn i the four rows of "
    "`rows` belong to four rows of the tile. Which are they?": {
        "without i": [("row + r * 4 + i", "row + r")]},
    "Row 3 of each quad is stored at every turn. Which words does `store4` pass on at turn i? "
    "`four` has those that were loaded last.": {
        "the last row of each quad": [(ALL, ALL.replace("i,", "3,"))],
        "the words that were loaded last": [(ALL, "four")]},
    "In the first tile the rows 12, 13, 14, 15 are missing, 4 in all. At turn i the four rows of "
    "`rows` belong to four rows of the tile. Which are they?": {
        "three rows": [(LOOP, LOOP.replace("4", "3"))]},
    "In the first tile the rows 3, 7, 11, 15 are missing, 4 in all. At turn i the four rows of "
    "`rows` belong to four rows of the tile. Which are they?": {
        "three turns": [
            ("    for i in range(4):\n        store4", "    for i in range(3):\n        store4")]},
    "`down` goes from 0 to 3 and `across` from 0 to 7, and a quad has rows and columns 0 to 3.": {
        "five turns": [
            ("    for i in range(4):\n        store4", "    for i in range(5):\n        store4")],
        "down and across exchanged": [("(down, across * 4), (mine", "(across, down * 4), (mine")],
        "too few rows": [(ROOM, ROOM.replace("(4,", "(3,"))]},
    "How many rows does `{array}` hold at a time?": {
        "eight rows of four": [(LOOP, LOOP.replace("4", "8"))]},
    "A test before line {store c} compares the row with the number of columns.": {
        "the sizes exchanged": [("< c.shape[0]", "< m"), ("< c.shape[1]", "< c.shape[0]"),
            ("< m", "< c.shape[1]")],
        "the names of the sizes exchanged": [(BODY, f"    n, m = c.shape\n{BODY}"),
            ("< c.shape[0]", "< m"), ("< c.shape[1]", "< n")]},
    "`store4` takes four numbers in brackets": {"a row of the registers": [(ALL, "mine[i]")]},
    "Two lanes store into one place of shared memory. Lanes with the same `across` differ in "
    "`down`, and the place `{array}[i, across * 4]` does not.": {
        "the turn for the row of quads": [("(down, across * 4), (mine", "(i, across * 4), (mine")]},
    "Two lanes store into one place of shared memory. Lanes with the same `down` differ in "
    "`across`, and the place `{array}[down, 0]` does not.": {
        "without across": [("(down, across * 4), (mine", "(down, 0), (mine")]},
    "The first tile is whole, and others are not: do `row` and `col` stand where you store?": {
        "without row": [("c[row + r * 4 + i,", "c[r * 4 + i,")],
        "without col": [("i, col + lane] =", "i, lane] =")]},
    "That is `{x}[4, 0]`, which belongs in row 4 and column 0.": {
        "each lane reads its own part": [
            (WRITE, WRITE.replace("rows[r, lane]", "rows[down, across * 4]"))],
        "rows by rows of 8": [("(down, across * 4), (mine", "(lane // 8, lane % 8 * 4), (mine")]},
    "Four words at once begin at a multiple of 4. A row of 48 words does; the column in this line "
    "does not.": {
        "the number of the quad for its column": [
            ("(down, across * 4), (mine", "(down, across), (mine")]},
    "The row is `lane` there. How many rows does `{array}` hold at a time?": {
        "row and column exchanged": [("= rows[r, lane]", "= rows[lane, r]")]},
    "That is `{x}[0, 31]`, which belongs in row 0 and column 31. The row is right. Which column "
    "does this lane read in `rows`?": {
        "a reversed row": [("= rows[r, lane]", "= rows[r, 31 - lane]")]},
    "in the registers of other lanes": {
        "from x alone": [(BODY, "    for i in range(16):\n"
             "        if row + i < c.shape[0] and col + lane < c.shape[1]:\n"
             "            c[row + i, col + lane] = x[row + i, col + lane]\n")]},
    "2 stores for an element": {"stores at every turn": [(WRITE, WRITE + WRITE)]},
    "only 16 of 32 lanes": {
        "half of the lanes": [(LOOP + TEST + WRITE,
             "        for r in range(8):\n            q, z = r // 2, lane % 16 + r % 2 * 16\n"
             "            if lane < 16 and row + q * 4 + i < c.shape[0] and col + z < c.shape[1]:\n"
             "                c[row + q * 4 + i, col + z] = rows[q, z]\n")]},
    "store4 takes 3 arguments": {"a bracket too many": [(ALL, ALL[1:-1])]},
    "works in float64": {"float64": [("= rows[r, lane]", "= rows[r, lane] * 1.0")]},
    "needs the value of `c` before": {"reads c": [(WRITE, WRITE.replace("] = ", "] += "))]},
    "changes `x`, which is an input": {"changes x": [(WRITE, WRITE.replace("c[", "x["))]},
    "The result is right. But line {line}, `{code}`: each request to `c` reaches into 16 sectors": {
        "the starter": file_beside(__file__, "starter")},
}  # fmt: skip
