"""Wrong answers to `shrunk_block`: what `check` says, and the changes that earn it."""

ROW = "cuda.blockIdx.y * 32 + ty"
GUARD = "r < out.shape[0] and col < out.shape[1]"

WRONG = {
    "The next block begins 8 rows further on, and each block covers 32: blocks overlap.": {
        "the starter": [(ROW, "cuda.blockIdx.y * cuda.blockDim.y + ty")],
        "8 rows": [(ROW, "cuda.blockIdx.y * 8 + ty")]},
    "Blocks begin 8 rows apart, and each covers 32. And threads begin 4 rows apart, and their rows "
    "are 8 apart.": {
        "line 1": [(ROW, "cuda.blockIdx.y * 8 + 4 * ty")]},
    "Threads begin 4 rows apart, and their rows are 8 apart: some rows are taken twice, others "
    "never.": {
        "line 2": [(ROW, "cuda.blockIdx.y * 32 + 4 * ty")]},
    "Threads begin 8 rows apart, as far as the rows of one thread: they take the same rows.": {
        "line 4": [(ROW, "cuda.blockIdx.y * 32 + 8 * ty")]},
    "All rows of a thread are the same one.": {"no step": [("row + 8 * g", "row")]},
    "The rows of one thread are too close together: threads take the same rows, and the last rows "
    "of the block are left out.": {
        "one apart": [("row + 8 * g", "row + g")],
        "four apart": [("row + 8 * g", "row + 4 * g")]},
    "Each thread takes fewer than four rows, so the last rows of each block are left out.": {
        "three rows": [("range(4)", "range(3)")], "one row": [("range(4)", "range(1)")]},
    "Some rows or columns of a block are beyond the edge of the matrix, and no test stops them.": {
        "the row not tested": [(GUARD, "col < out.shape[1]")],
        "the column not tested": [(GUARD, "r < out.shape[0]")],
        "the first row tested": [(GUARD, "row < out.shape[0] and col < out.shape[1]")]},
    "no thread reads or writes": {"no body": [("out[r, col] = factor * x[r, col]", "pass")]},
}
