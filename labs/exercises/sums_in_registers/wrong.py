"""Wrong answers to `sums_in_registers`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

LOOP = "for j in range(16):"
TAIL = "if col + 32 * j < n:"
SET = "totals[j] = float32(0)"
LOAD = "totals[j] += from_a * b[i, col + 32 * j]"
STORE = "c[row, col + 32 * j] = totals[j]"
FIRST = f"    {LOOP}\n        {SET}\n"
MIDDLE = f"        {LOOP}\n            {TAIL}\n                {LOAD}\n"
LAST = f"    {LOOP}\n        {TAIL}\n            {STORE}\n"
MINE = "    mine = min(16, (n - col + 31) // 32)\n"

WRONG = {
    "The first column of this thread, 512, is inside; a later one, 544, is not, and no test stops "
    "it there.": {
        "no test at the load": [(MIDDLE, f"        {LOOP}\n            {LOAD}\n")],
        "no test at the store": [(LAST, f"    {LOOP}\n        {STORE}\n")],
        "a test of the first column alone": [(TAIL, "if col < n:")]},
    "The first column of this thread, 536, is inside; a later one, 600, is not, and no test stops "
    "it there.": {"a test with <=": [(TAIL, "if col + 32 * j <= n:")]},
    "Lane 0 stores 15 columns, and the task says 16: a block covers 512 columns.": {
        "fifteen columns": [("range(16)", "range(15)")]},
    "Lane 0 stores columns 0, 16, 32, 48, 16 apart, and lane 1 begins only one further: they "
    "overlap, and a gap follows.": {"columns 16 apart": [("32 * j", "16 * j")]},
    "Lane 0 stores columns 0, 1, 2, 3, 1 apart, and lane 1 begins only one further: they overlap, "
    "and a gap follows.": {"columns 1 apart": [("32 * j", "j")]},
    "And there were 16,384 stores for 12,288 elements: threads overlap. A block covers 512 "
    "columns. Is that how far the next block starts?": {"the block 256 wide": [("* 512", "* 256")]},
    "totals has 8 elements": {"eight totals": [("array(16", "array(8")]},
    "totals[0] of its local array": {"totals not set": [(SET, "pass")]},
    "works in float64": {"totals of float64": [("array(16, float32)", "array(16, 'float64')")]},
    "Columns 0 and 32 of `{c}` are alike, and so are the others of one thread: its columns share "
    "one total.": {"one total": [("totals[j]", "totals[0]")]},
    "The block has one `{tile b}`, for all of its threads: it is a shared array, and no index of "
    "it says which thread.": {
        "one shared array of totals": [("cuda.local.array", "cuda.shared.array")]},
    "needs the value of `c` before anything was stored there": {
        "added up in c": [("totals[j] +=", "c[row, col + 32 * j] +="), (LAST, "")]},
    "load `b` 16 words apart": {
        "adjacent columns": [("+ cuda.threadIdx.x", "+ 16 * cuda.threadIdx.x"), ("32 * j", "j")]},
    "the target is 1.062": {
        "one column after the other": [(FIRST, ""), (LAST, ""),
            ("    i = 0\n    while i < k:\n        from_a = a[row, i]\n"
             f"{MIDDLE}        i += 1\n",
             f"    {LOOP}\n        {TAIL}\n            {SET}\n            i = 0\n"
             f"            while i < k:\n                {LOAD.replace('from_a', 'a[row, i]')}\n"
             f"                i += 1\n            {STORE}\n")]},
    "64 bytes of each thread lie in local memory, which is memory and no register. The machine "
    "code (sm_90) loads and stores there (12 `LDL`, 16 `STL`). In line 17 the index of `totals[j]` "
    "is known only when the kernel runs, because nobody knows before how far `j` goes in line 16, "
    "`for j in range(mine)`.": {"nothing changed": file_beside(__file__, "starter")},
    "In line 21 the index of `totals[j]` is known only when the kernel runs, because nobody knows "
    "before how far `j` goes in line 20, `for j in range(mine)`.": {
        "the loop over k alone is not changed": [(FIRST, MINE + FIRST),
            (MIDDLE, f"        for j in range(mine):\n            {LOAD}\n")]},
    "In line 15 the index of `totals[(j + row) % 16]` is known only when the kernel runs": {
        "an index modulo 16": [("totals[j]", "totals[(j + row) % 16]")]},
    "the target is 14%. 16 instructions (`BRA`) are jumps, and one is enough: which loop may end "
    "after each of its turns?": {
        "a while loop up to mine": [(FIRST, MINE + FIRST), (MIDDLE,
             f"        j = 0\n        while j < mine:\n            {LOAD}\n            j += 1\n")]},
    "the target is 14%. 15 instructions (`BRA`) are jumps": {
        "break": [(TAIL, f"if col + 32 * j >= n:\n{' ' * 16}break"), (f"    {LOAD}", LOAD),
            (f"    {STORE}", STORE)]},
    "the target is 14%. Line 24, `for j in range(mine)`, still ends at a number that only the "
    "launch knows. So the compiler cannot know which elements of `totals` that loop takes.": {
        "the store alone is not changed": [(FIRST, MINE + FIRST),
            (LAST, f"    for j in range(mine):\n        {STORE}\n")]},
    "the target is 14%. {number} instructions (`ISETP`) compare": {
        "comparisons that every turn makes anew": [(MIDDLE,
             MIDDLE.replace(TAIL, "if col + 32 * j < n and i + j < k + 16 and i * j >= 0:"))]},
    "16 instructions (`STS`) go to shared memory and back.": {
        "in shared memory": [("totals = cuda.local.array(16, float32)",
             "totals = cuda.shared.array((16, 256), float32)\n"
             "    t = cuda.threadIdx.y * 32 + cuda.threadIdx.x"), ("totals[j]", "totals[j, t]")]},
    "bytes of each thread are spilled: the kernel may use 32 registers, and its numbers need more. "
    "What limits them?": {"too few registers": [("@cuda.jit", "@cuda.jit(max_registers=32)")]},
}  # fmt: skip
