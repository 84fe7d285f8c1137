"""Wrong answers to `four_columns`: what `check` says, and the changes that earn it."""

TAIL = "if col + 32 * j < n:"
LOAD = "totals[j] += from_a * b[i, col + 32 * j]"
STORE = "c[row, col + 32 * j] = totals[j]"

WRONG = {
    "Lane 0 stores 1 column, and the task says 4: a block covers 128 columns.": {
        "one column": [("range(4)", "range(1)")],
        "four rows": [("blockIdx.y * 8", "blockIdx.y * 32"),
            ("blockIdx.x * 128", "blockIdx.x * 32"), (TAIL, "if row + 8 * j < m:"),
            ("from_a * b[i, col + 32 * j]", "a[row + 8 * j, i] * b[i, col]"),
            (STORE, "c[row + 8 * j, col] = totals[j]")]},
    "Lane 0 stores 3 columns, and the task says 4: a block covers 128 columns.": {
        "three columns": [("range(4)", "range(3)")]},
    "Lane 0 stores columns 0, 1, 2, 3, 1 apart, and lane 1 begins only one further: they overlap, "
    "and a gap follows.": {"columns 1 apart": [("32 * j", "j")]},
    "Lane 0 stores columns 0, 4, 8, 12, and lane 4 stores columns 4, 8, 12, 16: they overlap. "
    "With 4 lanes the columns of a thread are 4 apart; a warp has 32 lanes.": {
        "columns 4 apart": [("32 * j", "4 * j")]},
    "Lane 0 stores columns 0, 8, 16, 24, and lane 8 stores columns 8, 16, 24, 32: they overlap, "
    "and other columns are left out. A warp has 32 lanes. How far apart must the columns of a lane "
    "be?": {"columns 8 apart": [("32 * j", "8 * j")]},
    "Lane 0 stores columns 0, 64, 128, 192, 64 apart: they reach beyond the 128 columns that a "
    "block covers.": {"columns 64 apart": [("32 * j", "64 * j")]},
    "All terms of a sum take the same element of `{a}`, the one of i = 0: it is not loaded again "
    "at each turn.": {
        "a loaded once for all turns": [("        from_a = a[row, i]\n", ""),
            ("    i = 0\n", "    i = 0\n    from_a = a[row, 0]\n")]},
    "In column 0 the terms i = 0, 1, 2 … count 0, 0, 0, 0, 0, 0, 0, 0 … times, and not "
    "once each.": {
        "the first total set at each turn": [("        from_a = a[row, i]\n",
             "        from_a = a[row, i]\n        totals[0] = 0\n")]},
    "Column 0 of `{c}` holds the product that belongs in column 96.": {
        "totals of other columns": [("= totals[j]\n", "= totals[3 - j]\n")]},
    "The block has one `{tile b}`, for all of its threads: it is a shared array, and no index of "
    "it says which thread.": {
        "one shared array of totals": [("cuda.local.array", "cuda.shared.array")]},
    "First columns 0 to 31 are written, then those from 33 on: the next block, or the next thread, "
    "starts 33 further and leaves 1 out.": {"columns 33 apart": [("32 * j", "33 * j")]},
    "load `b` 4 words apart": {
        "adjacent columns": [("+ cuda.threadIdx.x", "+ 4 * cuda.threadIdx.x"), ("32 * j", "j")]},
    "The first column of this thread, 128, is inside; a later one, 160, is not, and no test stops "
    "it there.": {
        "no test at the load": [
            (f"            {TAIL}\n                {LOAD}", f"            {LOAD}")],
        "no test at the store": [(f"        {TAIL}\n            {STORE}", f"        {STORE}")],
        "a test of the first column alone": [(TAIL, "if col < n:")]},
    "The first column of this thread, 1, is inside; a later one, 33, is not, and no test stops it "
    "there.": {"a test with <=": [(TAIL, "if col + 32 * j <= n:")]},
    "The columns end at 12. That is k; `{c}` has 256 of them.": {
        "a test that stops at k": [(TAIL, "if col + 32 * j < k:")]},
    "Column 128 belongs to a thread whose first column, 128, is inside and whose last, 224, is "
    "outside: what stops the last one stops them all.": {
        "returns where the last column is outside": [("col >= n", "col + 96 >= n")]},
    "The last column that is written is 128, and 129 is the last one inside: a test stops threads "
    "that still have work.": {"leaves before the last column": [("col >= n", "col >= n - 1")]},
    "It concerns 238 threads, with rows 9 to 15: no test stops them, or one compares this row with "
    "another size. Which of `m`, `n` and `k` is it?": {"no guard of rows": [("row >= m or ", "")]},
    "1 of `a` and 1 of `b`": {
        "a loaded for each column": [("from_a = a[row, i]", "pass"),
            ("+= from_a *", "+= a[row, i] *")]},
    "the target is 1.25": {"b loaded twice": [(LOAD, f"{LOAD} + float32(0) * b[i, col + 32 * j]")]},
    "Columns 0 and 32 of `{c}` are alike, and so are the others of one thread: its columns share "
    "one total.": {
        "one total": [("totals[j]", "totals[0]")],
        "b by the first column": [("b[i, col + 32 * j]", "b[i, col]")]},
    "totals[0] of its local array": {"totals not set": [("totals[j] = float32(0)", "pass")]},
    "totals[1] of its local array": {
        "only the first total set": [("    for j in range(4):\n        totals[j] = float32(0)\n",
             "    totals[0] = float32(0)\n")]},
    "totals has 3 elements": {"three totals": [("array(4, float32)", "array(3, float32)")]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "totals set at each turn": [("totals[j] +=", "totals[j] =")]},
    "And there were 4,096 stores for 2,560 elements: threads overlap. A block covers 128 columns. "
    "Is that how far the next block starts?": {"the block 32 wide": [("* 128", "* 32")]},
    "Only columns 0 to 127 are written, as many as one block covers. Those of the next block begin "
    "too far on, where a test stops them, or they are stopped too early.": {
        "the block 256 wide": [("* 128", "* 256")]},
    "Only columns 0 to 127 are written, as many as one block covers: all blocks compute the same "
    "columns. The number of the block is missing there.": {
        "no number of the block": [("cuda.blockIdx.x * 128 + ", "")]},
    "Columns 0 to 95 are right; what serves the columns from 96 on goes wrong.": {
        "the last column forgotten in the sum": [("        for j in range(4):\n            if",
             "        for j in range(3):\n            if")]},
    "Line {store c}, `{code store c}`: lanes 0 and 1 store 257 words apart, a whole row and one: "
    "both the row and the column change with `threadIdx.x`.": {
        "x for y in the row": [("8 + cuda.threadIdx.y", "8 + cuda.threadIdx.x")]},
    "Line {store c}, `{code store c}`: lanes 0 and 1 store the same element: neither its row nor "
    "its column changes with `threadIdx.x`.": {
        "y for x in the column": [("128 + cuda.threadIdx.x", "128 + cuda.threadIdx.y")]},
    "stores for an element": {
        "stores at each turn": [("        i += 1\n",
             f"            {TAIL}\n                {STORE}\n        i += 1\n")]},
    "works in float64": {"float64 totals": [("array(4, float32)", "array(4, 'float64')")]},
    "The row of this thread is outside, its column is inside, and it goes on: your test stops only "
    "threads that are outside in both directions.": {
        "and for or in the guard": [("row >= m or col", "row >= m and col")]},
    "can make no lists and no NumPy arrays": {
        "a list of totals": [("cuda.local.array(4, float32)", "[float32(0)] * 4")],
        "a NumPy array of totals": [
            ("from numba import cuda", "import numpy as np\nfrom numba import cuda"),
            ("cuda.local.array(4, float32)", "np.zeros(4, np.float32)")]},
    "The kernel does not run": {
        "a local array of a size that is not known": [("array(4, float32)", "array(n, float32)")]},
}  # fmt: skip
