"""Wrong answers to `ldmatrix_wavefronts`: what `check` says, and the changes that earn it."""

CHUNKS, GROUP, RESULT = "columns // 8", "row * chunks % 8", "max(rows_per_group)"
HEAD = "def ldmatrix_wavefronts(columns):\n"
WHOLE = """    chunks = columns // 8
    rows_per_group = [0] * 8
    for row in range(8):
        rows_per_group[row * chunks % 8] += 1
    return max(rows_per_group)
"""

WRONG = {
    "This is the number of different groups. The wavefronts are the rows in the fullest one.": {
        "groups counted": [
            (WHOLE, "    return len({row * (columns // 8) % 8 for row in range(8)})\n")]},
    "These are the chunks of a row. What counts is how the rows meet in the eight groups.": {
        "chunks of a row": [(RESULT, "chunks")]},
    "These are the chunks of a row, at most eight. With an odd number of them no rows meet.": {
        "chunks, at most eight": [(RESULT, "min(chunks, 8)")]},
    "You look at four rows. A part of ldmatrix has eight.": {
        "four rows": [("range(8)", "range(4)")]},
    "Bytes are no banks: a bank has four bytes. A chunk has 16, and all 32 banks together 128.": {
        "bytes for banks": [("[0] * 8", "[0] * 32"), (GROUP, "row * columns * 2 % 32")]},
    "You count four groups of banks, four elements per chunk, or a bank per element. There are "
    "eight groups of four banks, and a bank has two elements.": {
        "four groups": [(GROUP, "row * chunks % 4")],
        "a bank per element": [("[0] * 8", "[0] * 32"), (GROUP, "row * columns % 32")],
        "chunks of four elements": [(CHUNKS, "columns // 4")]},
    "There are eight groups of four banks, and you count with 32: a chunk takes four banks, not "
    "one.": {
        "banks of a chunk": [("[0] * 8", "[0] * 32"), (GROUP, "row * chunks % 32")]},
    "You count all rows, and rows in different banks are read together.": {
        "all rows": [(RESULT, "sum(rows_per_group)")]},
    "This is the group in which row 1 begins. How many of the eight rows are in one group?": {
        "where row 1 begins": [(RESULT, "chunks % 8")],
        "where row 1 begins, or all": [(RESULT, "chunks % 8 or 8")]},
    "These are the wavefronts of all four parts of `ldmatrix_x4`. The task asks for one part.": {
        "four parts": [(RESULT, "4 * max(rows_per_group)")]},
    "This is how many rows are in 128 bytes, and these are in different banks.": {
        "rows in 128 bytes": [(RESULT, "64 // columns")]},
    "This counts elements, and a chunk of eight is read at once.": {
        "elements": [(RESULT, "8 * max(rows_per_group)")]},
    "returns nothing": {"nothing returned": [("return ", "answer = ")]},
    "is whole, and this is not": {
        "a fraction": [(RESULT, "max(rows_per_group) / 3")]},
    "This is the number of rows that wait. The first one needs a wavefront, too.": {
        "one less": [(RESULT, "max(rows_per_group) - 1")]},
}  # fmt: skip
