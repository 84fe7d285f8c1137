"""Wrong answers to `column_sums`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

TERM = "x[row, col]"
START = "        total = float32(0)\n"
STORE = "        out[col] = total"
GUARD = "col < x.shape[1]"
ROWS = "range(x.shape[0])"

WRONG = {
    "no thread reads or writes any array. Is the body still to be written": {
        "the starter": file_beside(__file__, "starter")},
    "The first index of `{x}` is the row, and the column is the second one.": {
        "row and column exchanged": [(TERM, "x[col, row]")]},
    "The launch is rounded up to whole blocks. Here 212 threads have no column, and your kernel "
    "has no test that stops them.": {
        "no guard": [(GUARD, "True")]},
    "That is one too far: the last column is 299. A test lets column 300 pass: `<=` stands where "
    "`<` is meant, or `>` where `>=` is.": {
        "one column too far": [(GUARD, "col <= x.shape[1]")]},
    "This guard compares the column with the number of rows.": {
        "a guard of the rows": [(GUARD, "col < x.shape[0]")]},
    "The last row is 23. The loop goes on to the number of columns of `{x}`.": {
        "as many rows as columns": [(ROWS, "range(x.shape[1])")]},
    "The sums are without the first row.": {
        "without the first row": [(ROWS, "range(1, x.shape[0])")]},
    "The sums are without the last row.": {
        "without the last row": [(ROWS, "range(x.shape[0] - 1)")]},
    "Each sum is its last term alone: every iteration forgets the terms before.": {
        "the last term alone": [("total +=", "total =")]},
    "The sums are 1 too large. With which number does the sum begin?": {
        "begins with one": [("float32(0)", "float32(1)")]},
    "`{out}` holds the means of the columns, and not their sums.": {
        "a mean": [("= total", "= total / x.shape[0]")]},
    "`{out}` holds the sums of the rows.": {
        "sums of rows": [
            (GUARD, "col < x.shape[0]"), (ROWS, "range(x.shape[1])"), (TERM, "x[col, row]")]},
    "works in float64": {"float64": [("float32(0)", "0.0")]},
    "needs the value of `{out}` before anything was stored there": {
        "a sum in out": [(START, ""), ("total +=", "out[col] +="), (f"{STORE}\n", "")]},
    "That is 25 stores for an element": {
        "set, and a sum in out": [
            ("total = float32(0)", "out[col] = 0"), ("total +=", "out[col] +="),
            (f"{STORE}\n", "")]},
    "That is 24 stores for an element": {"stores in the loop": [(STORE, f"    {STORE}")]},
    "`cuda.threadIdx.x` begins again at 0 in each block, so all blocks add up the same columns.": {
        "the number in the block": [("cuda.grid(1)", "cuda.threadIdx.x")]},
    "All threads add up column 0. What in your index differs from thread to thread? The launch has "
    "one direction, so `y` is 0 in all of them.": {
        "y of two dimensions": [("col = cuda.grid(1)", "row, col = cuda.grid(2)")]},
    "add() of a number (float32) and a 1D array is not known": {
        "one index for both": [(TERM, "x[row * x.shape[1] + col]")]},
}  # fmt: skip
