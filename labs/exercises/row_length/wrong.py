"""Wrong answers to `row_length`: what `check` says, and the changes that earn it."""

LENGTH = "(4, 48)"
PLACE = "(down, across * 4)"
STORE = f"store4(rows, {PLACE}, load4(x, (first + down, across * 4)))"
OFF = (
    "Four words at once begin at a multiple of 4. With {} words in a row not every row begins "
    "there."
)

WRONG = {
    "takes 8 wavefronts, and 4 would do": {
        "the starter": [(LENGTH, "(4, 32)")], "rows of 64 words": [(LENGTH, "(4, 64)")],
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
        "from x alone": [("= rows[r, lane]", "= x[first + r, lane]")]},
    "The four rows come in another order: row 0 of `rows` belongs in the first row of the warp.": {
        "rows exchanged": [("= rows[r, lane]", "= rows[3 - r, lane]")]},
}  # fmt: skip
