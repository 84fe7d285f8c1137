"""Wrong answers to `ldmatrix_wavefronts`: what `check` says, and the changes that earn it."""

CHUNKS, GROUP, RESULT = "columns // 8", "row * chunks % 8", "max(rows_per_group)"
WHOLE = """    chunks = columns // 8
    rows_per_group = [0] * 8
    for row in range(8):
        rows_per_group[row * chunks % 8] += 1
    return max(rows_per_group)
"""

WRONG = {
    "You count in elements of four bytes, and float16 has two: eight of them are 16 bytes.": {
        "chunks of four elements": [(CHUNKS, "columns // 4")]},
    "This is the number of different groups. The wavefronts are the rows in the fullest one.": {
        "groups counted": [
            (WHOLE, "    return len({row * (columns // 8) % 8 for row in range(8)})\n")]},
    "These are the chunks of a row. What counts is how the rows meet in the eight groups.": {
        "chunks of a row": [(RESULT, "chunks")]},
    "These are the chunks of a row, at most eight. With an odd number of them no rows meet.": {
        "chunks, at most eight": [(RESULT, "min(chunks, 8)")]},
    "You look at four rows. A part of ldmatrix has eight.": {
        "four rows": [("range(8)", "range(4)")]},
    "There are eight groups of four banks, and you count with four.": {
        "four groups": [(GROUP, "row * chunks % 4")]},
    "There are eight groups of four banks, and you count with 32: a chunk takes four banks, not "
    "one.": {
        "banks of a chunk": [("[0] * 8", "[0] * 32"), (GROUP, "row * chunks % 32")]},
    "You count all rows, and rows in different banks are read together.": {
        "all rows": [(RESULT, "sum(rows_per_group)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "is whole, and this is not": {
        "a fraction": [(RESULT, "max(rows_per_group) / 3")]},
    "This is the number of rows that wait. The first one needs a wavefront, too.": {
        "one less": [(RESULT, "max(rows_per_group) - 1")]},
}  # fmt: skip
