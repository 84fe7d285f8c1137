"""Wrong answers to `coalescing`: what `check` says, and the changes that earn it."""

STORE = "c[row, col] = total"
GUARD = "    if row >= m or col >= n:\n        return\n"

LINES = (
    "total = float32(0)\n",
    "i = 0\n",
    "while i < k:\n",
    "    total += a[row, i]",
    "    i += 1\n",
    "c[row, col] = total\n",
)

WRONG = {
    "Line {store c}, `{code store c}`: lanes 0 and 1 store 128 words apart, a whole row. So "
    "`threadIdx.x` counts rows in your kernel, and this launch starts enough threads along x for "
    "the columns. `cuda.grid(2)` gives the number along x first.": {
        "x still counts rows": [("row, col = y, x", "row, col = x, y")],
        "the numbers of the grid exchanged": [("x, y = cuda.grid(2)", "y, x = cuda.grid(2)")]},
    "The row of this thread is outside, its column is inside, and it goes on: your test stops only "
    "threads that are outside in both directions.": {
        "and for or in the guard": [("row >= m or col", "row >= m and col")],
        "or for and in a guard the other way round": [
            ("if row >= m or col >= n:\n        return", "if row < m or col < n:"),
            *[(f"    {line}", f"        {line}") for line in LINES]]},
    "no thread reads or writes": {
        "empty body": [("    m, k = a.shape", "    return\n    m, k = a.shape")]},
    "no thread ever stores into `c`": {"never stores": [(STORE, "total += total")]},
    "On square matrices your result is the right one transposed: row and column are exchanged "
    "where `{c}` is stored.": {"c stored at [col, row]": [(STORE, "c[col, row] = total")],
        "x counts rows, and the store is exchanged": [
            ("row, col = y, x", "row, col = x, y"), (STORE, "c[col, row] = total")]},
    "The columns end at 16. That is m, the rows of `{c}`; it has 128 columns. With which size does "
    "your test compare the column?": {
        "m and n exchanged in the guard": [("row >= m or col >= n", "row >= n or col >= m")],
        "x and y exchanged in the guard": [("row >= m or col >= n", "x >= m or y >= n")]},
    "On square matrices the result is `{a}`ᵀ·`{b}`: the two indices of `{a}` are exchanged.": {
        "a read as a[i, row]": [("a[row, i]", "a[i, row]")]},
    "On square matrices the result is `{a}`·`{b}`ᵀ: the two indices of `{b}` are exchanged.": {
        "b read as b[col, i]": [("b[i, col]", "b[col, i]")]},
    "On square matrices all rows of `{c}` are alike: `{a}` is read with the number of the column "
    "instead of the row.": {"the row of a is the column": [("a[row, i]", "a[col, i]")]},
    "On square matrices all columns of `{c}` are alike: `{b}` is read with the number of the row "
    "instead of the column.": {"the column of b is the row": [("b[i, col]", "b[i, row]")]},
    "On square matrices the result is `{b}`·`{a}`: the inputs are exchanged.": {
        "both inputs exchanged": [("a[row, i] * b[i, col]", "b[row, i] * a[i, col]")]},
    "Each row of `{c}` holds the product of the row above: the row is off by one.": {
        "the row above": [("a[row, i]", "a[max(row - 1, 0), i]")]},
    "By `y` of the grid this thread belongs to row 15; the index is 1 more.": {
        "the row below": [("a[row, i]", "a[row + 1, i]")]},
    "`total += a[row, i] * b[i, col - 1]`": {"the column before": [("b[i, col]", "b[i, col - 1]")]},
    "`{a}` is read one column ahead: at term i its column is i + 1, and the row of `{b}` is i.": {
        "a one term ahead": [("a[row, i] * b[i, col]", "a[row, (i + 1) % k] * b[i, col]")]},
    "That is one too far: the last row is 8. A test lets row 9 pass: `<=` stands where `<` is "
    "meant, or `>` where `>=` is.": {"row > m": [("row >= m", "row > m")]},
    "That is one too far: the last column is 129. A test lets column 130 pass: `<=` stands where "
    "`<` is meant, or `>` where `>=` is.": {"col > n": [("col >= n", "col > n")]},
    "The grid is rounded up to whole blocks. Here 1,120 threads have no element of `{c}`, and your "
    "kernel has no test that stops them.": {"no guard": [(GUARD, "")]},
    "It concerns 910 threads, with rows 9 to 15: no test stops them, or one compares this row with "
    "another size. Which of `m`, `n` and `k` is it?": {
        "the guard compares with k": [("row >= m", "row >= k")]},
    "It concerns 270 threads, with columns 130 to 159: no test stops them, or one compares this "
    "column with another size. Which of `m`, `n` and `k` is it?": {
        "the guard forgets the columns": [(" or col >= n", "")]},
    "The last column that is written is 126, and 127 is the last one inside: a test stops threads "
    "that still have work.": {"leaves before the last column": [("col >= n", "col >= n - 1")]},
    "The last row that is written is 14, and 15 is the last one inside: a test stops threads that "
    "still have work.": {"leaves before the last row": [("row >= m", "row >= m - 1")]},
    "At k = 24 every sum lacks the term i = 23: 1 of 24. Where does the loop start and end, and "
    "which part of it is left over?": {"loop to k - 1": [("i < k", "i < k - 1")]},
    "This index counts the terms of the sum, 0 to k - 1 = 23, and the loop takes one more, 24.": {
        "loop to i <= k": [("i < k", "i <= k")]},
    "This index counts the terms of the sum, 0 to k - 1 = 23, and here it goes from 24 to 127. "
    "That is where n ends.": {"loop to n": [("i < k", "i < n")]},
    "At k = 24 every sum lacks the term i = 0: 1 of 24. The last 23 are right: does a turn forget "
    "those before, or does the loop begin too late?": {"loop from 1": [("i = 0", "i = 1")]},
    "At k = 24 every sum lacks the terms i = 1, 3, 5 …: 12 of 24. They lie 2 apart: which terms "
    "does one turn of the loop add?": {"loop by 2": [("i += 1", "i += 2")]},
    "stay in this loop for ever": {"loop for ever": [("        i += 1\n", "")]},
    "Every term counts 2 times, and not once.": {
        "every term twice": [(STORE, "c[row, col] = total + total")]},
    "Every term counts -1 times, and not once.": {"terms taken away": [("total +=", "total -=")]},
    "A term is the sum of its two elements, and not their product.": {
        "terms added, not multiplied": [("a[row, i] * b", "a[row, i] + b")]},
    "At k = 23 every sum lacks the term i = 22: 1 of 23. Where does the loop start and end, and "
    "which part of it is left over?": {
        "the tail of an unrolled loop": [("i < k", "i + 1 < k"),
            ("        i += 1", "        total += a[row, i + 1] * b[i + 1, col]\n        i += 2")]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "total set at each turn": [("total += a", "total = a")]},
    "Every element is wrong by the same number, 1. With what value does the sum start?": {
        "total starts at 1": [("float32(0)", "float32(1)")]},
    "Every element is 0.25 times what it should be.": {
        "the result divided": [("= total", "= total / float32(4)")]},
    "Every element holds only the first term of its sum: no later turn adds to it.": {
        "leaves after one turn": [
            ("        i += 1\n", "        c[row, col] = total\n        return\n")]},
    "All columns of `{c}` are alike: what is added up depends on `{a}` alone.": {
        "a times a": [("b[i, col]", "a[row, i]")]},
    "Only elements that should be negative are wrong, and all others are right.": {
        "negative sums cut off": [("= total", "= max(total, float32(0))")]},
    "Rows 0 to 63 are right; what serves the rows from 64 on goes wrong.": {
        "wrong from row 64 on": [("= total", "= total * float32(1 + row // 64)")]},
    "Only rows 0 to 7 are written, as many as one block covers. Those of the next block begin too "
    "far on, where a test stops them, or they are stopped too early.": {
        "the other size of the block": [
            ("row, col = y, x", "row, col = cuda.blockIdx.y * 32 + cuda.threadIdx.y, x")]},
    "And there were 2,048 stores for 704 elements: threads overlap. A block covers 32 columns. Is "
    "that how far the next block starts?": {
        "the grid for the block": [("row, col = y, x",
             "row, col = y, cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x")]},
    "`c[0, 0]` is": {"divided by zero": [("total += a[row, i]", "total += a[row, i] / (i - i)")]},
    "stores 49,152 times for 2,048 elements": {
        "stores at each turn": [(f"    {STORE}", f"        {STORE}")]},
    "several threads store the same": {
        "two threads store one element": [
            (GUARD, "    row = min(row, m - 1)\n    if col >= n:\n        return\n")]},
    "The loop ends at 16. That is m, the rows of `{c}`; a sum has k = 24 terms.": {
        "m and k exchanged": [("m, k = a.shape", "k, m = a.shape")]},
    "The columns end at 24. That is k; `{c}` has 128 of them.": {
        "n taken from a": [("n = b.shape[1]", "n = a.shape[1]")]},
    "All threads compute row 0 of `{c}`: the row does not change with `y`.": {
        "one index of the grid": [("x, y = cuda.grid(2)", "x, y = cuda.grid(1), 0")]},
    "Only rows 0 to 7 are written, as many as one block covers: all blocks compute the same rows. "
    "The number of the block is missing there.": {
        "no number of the block in the row": [
            ("row, col = y, x", "row, col = cuda.threadIdx.y, x")]},
    "The last column that is written is 0, and 127 is the last one inside: a test stops threads "
    "that still have work.": {
        "one element in all": [(GUARD, "    if row > 0 or col > 0:\n        return\n")]},
    "Only the diagonal of `{c}` is written: both of its indices are the same.": {
        "one index for both": [(STORE, "c[row, row] = total")]},
    "First columns 0 to 31 are written, then those from 64 on: the next block, or the next thread, "
    "starts 64 further and leaves 32 out.": {
        "every second block left out": [
            ("row, col = y, x", "row, col = y, x + cuda.blockIdx.x * 32")]},
    "needs the value of `c` before anything was stored": {
        "adds up in c": [("total += a", "c[row, col] += a"), (STORE, "pass")],
        "adds up in c by an atomic": [(STORE, "cuda.atomic.add(c, (row, col), total)")]},
    "changes `a`, which is an input": {"changes a": [(STORE, f"{STORE}\n    a[row, 0] = total")]},
    "works in float64, 49,152 operations": {"float64 by 0.0": [("float32(0)", "0.0")]},
    "works in float64": {"float64 by 0": [("float32(0)", "0")]},
    "a multiply-add costs 3 loads": {
        "loads twice": [("        total +=",
             "        unused = a[row, i] * float32(0)\n        total += unused +")]},
    "24 words apart, a whole row": {
        "lanes go down eight rows": [("row, col = y, x",
             "row = cuda.blockIdx.y * 8 + cuda.threadIdx.x % 8\n"
             "    col = cuda.blockIdx.x * 32 + cuda.threadIdx.y * 4 + cuda.threadIdx.x // 8")]},
}  # fmt: skip
