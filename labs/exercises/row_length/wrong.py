"""Wrong answers to `row_length`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

LENGTH = "(4, 48)"
PLACE = "(down, across * 4)"
STORE = f"store4(rows, {PLACE}, four)"
READ = "= rows[r, lane]"
OFF = (
    "Four words at once begin at a multiple of 4. With {} words in a row not every row begins "
    "there."
)

WRONG = {
    "no thread ever stores": {"the starter": file_beside(__file__, "starter")},
    "takes 8 wavefronts, and 4 would do": {
        "rows of 32 words": [(LENGTH, "(4, 32)")], "rows of 64 words": [(LENGTH, "(4, 64)")],
        "rows of 36 words": [(LENGTH, "(4, 36)")], "rows of 40 words": [(LENGTH, "(4, 40)")],
        "rows of 56 words": [(LENGTH, "(4, 56)")]},
    OFF.format(33): {"rows of 33 words": [(LENGTH, "(4, 33)")]},
    OFF.format(50): {"rows of 50 words": [(LENGTH, "(4, 50)")]},
    "A row of `rows` has fewer than 32 words, so four words at its end belong to the next row.": {
        "rows of 16 words": [(LENGTH, "(4, 16)")]},
    "`rows` has too few rows: `down` goes from 0 to 3.": {
        "the numbers exchanged": [(LENGTH, "(48, 4)")], "three rows": [(LENGTH, "(3, 48)")]},
    "Nothing makes the lanes wait": {"no barrier": [("    cuda.syncwarp()\n", "")]},
    "the kernel loads 0 words from shared memory": {
        "from x alone": [(READ, "= x[first + r, lane]")]},
    "The four rows come in another order: row 0 of `rows` belongs in the first row of the warp.": {
        "rows exchanged": [(READ, "= rows[3 - r, lane]")]},
    "Lanes with the same `down` differ in `across`, and the place `{array}[down, 0]` does not.": {
        "without across": [(PLACE, "(down, 0)")]},
    "Four words at once begin at a multiple of 4. A row of 48 words does; the column in this line "
    "does not.": {"the number of the quad for its column": [(PLACE, "(down, across)")]},
    "`store4` takes four numbers, and `four` holds them: which word of the row is the first of "
    "these?": {"one row of quads": [(PLACE, "(0, across * 4)")]},
    "Each lane reads the first of its own four words. Lanes that lie side by side in a row of "
    "`out` need words that lie side by side in `rows`.": {
        "each lane reads its own part": [(READ, "= rows[down, across * 4]")]},
    "Every warp has four rows of `out`, and they begin at row `first`.": {
        "without first": [("out[first + r", "out[r")]},
    "The row is `lane` there, and `{array}` has four rows.": {
        "row and column exchanged": [(READ, "= rows[lane, r]")]},
}  # fmt: skip
