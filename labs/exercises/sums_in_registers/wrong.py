"""Wrong answers to `sums_in_registers`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

LOOP = "for j in range(8):"
TAIL = "if col + 32 * j < n:"
SET = "totals[j] = float32(0)"
LOAD = "totals[j] += from_a * b[i, col + 32 * j]"
STORE = "c[row, col + 32 * j] = totals[j]"
FIRST = f"    {LOOP}\n        {SET}\n"
MIDDLE = f"        {LOOP}\n            {TAIL}\n                {LOAD}\n"
LAST = f"    {LOOP}\n        {TAIL}\n            {STORE}\n"
ROTATED = MIDDLE.replace(LOOP, "for step in range(8):\n            j = (step + {}) % 8")
CARRIED = MIDDLE.replace(LOOP, "for step in range(8):") + "            j = (j + 1) % 8\n"
MINE = "    mine = min(8, (n - col + 31) // 32)\n"

WRONG = {
    "The first column of this thread, 512, is inside; a later one, 544, is not, and no test stops "
    "it there.": {
        "no test at the load": [(MIDDLE, f"        {LOOP}\n            {LOAD}\n")],
        "no test at the store": [(LAST, f"    {LOOP}\n        {STORE}\n")],
        "a test of the first column alone": [(TAIL, "if col < n:")]},
    "The first column of this thread, 536, is inside; a later one, 600, is not, and no test stops "
    "it there.": {"a test with <=": [(TAIL, "if col + 32 * j <= n:")]},
    "Lane 0 stores 7 columns, and the task says 8: a block covers 256 columns.": {
        "seven columns": [("range(8)", "range(7)")]},
    "Lane 0 stores columns 0, 16, 32, 48, 16 apart, and lane 1 begins only one further: they "
    "overlap, and a gap follows.": {"columns 16 apart": [("32 * j", "8 * j")]},
    "Lane 0 stores columns 0, 1, 2, 3, 1 apart, and lane 1 begins only one further: they overlap, "
    "and a gap follows.": {"columns 1 apart": [("32 * j", "j")]},
    "And there were 16,384 stores for 12,288 elements: threads overlap. A block covers 256 "
    "columns. Is that how far the next block starts?": {"the block 128 wide": [("* 256", "* 128")]},
    "totals has 4 elements": {"four totals": [("array(8", "array(4")]},
    "totals[0] of its local array": {"totals not set": [(SET, "pass")]},
    "works in float64": {"totals of float64": [("array(8, float32)", "array(8, 'float64')")]},
    "Columns 0 and 32 of `{c}` are alike, and so are the others of one thread: its columns share "
    "one total.": {"one total": [("totals[j]", "totals[0]")]},
    "The block has one `{tile b}`, for all of its threads: it is a shared array, and no index of "
    "it says which thread.": {
        "one shared array of totals": [("cuda.local.array", "cuda.shared.array")]},
    "needs the value of `c` before anything was stored there": {
        "added up in c": [("totals[j] +=", "c[row, col + 32 * j] +="), (LAST, "")]},
    "load `b` 8 words apart": {
        "adjacent columns": [("+ cuda.threadIdx.x", "+ 8 * cuda.threadIdx.x"), ("32 * j", "j")]},
    "the target is 1.125": {
        "one column after the other": [(FIRST, ""), (LAST, ""),
            ("    i = 0\n    while i < k:\n        from_a = a[row, i]\n"
             f"{MIDDLE}        i += 1\n",
             f"    {LOOP}\n        {TAIL}\n            {SET}\n            i = 0\n"
             f"            while i < k:\n                {LOAD.replace('from_a', 'a[row, i]')}\n"
             f"                i += 1\n            {STORE}\n")]},
    "32 bytes of each thread lie in local memory, which is memory and no register. The whole "
    "machine code (sm_90) loads and stores there (16 `LDL`, 12 `STL`).": {
        "nothing changed": file_beside(__file__, "starter"),
        "the column is rotated by the block": [(MIDDLE, ROTATED.format("cuda.blockIdx.x"))]},
    "because line 19 computes `j` from `row`, which the compiler does not know.": {
        "the column is rotated by the row": [(MIDDLE, ROTATED.format("row"))]},
    "because line 19 computes `j` from `step`, which the compiler does not know.": {
        "a loop that begins with the warp": [(MIDDLE, ROTATED.format("0").replace(
            "range(8)", "range(cuda.threadIdx.y, cuda.threadIdx.y + 8)"))]},
    "computes the index `j` from its own last value: `j = (j + 1) % 8`": {
        "an index carried from iteration to iteration": [
            ("    i = 0\n", "    i = 0\n    j = cuda.threadIdx.y\n"), (MIDDLE, CARRIED)],
        "an index that begins with the warp": [
            ("        from_a =", "        j = cuda.threadIdx.y\n        from_a ="),
            (MIDDLE, CARRIED)]},
    "because nobody knows before how far `j` goes": {
        "sixteen places and a loop up to n": [
            (FIRST, "    n_of_thread = (n - col + 31) // 32\n" + FIRST),
            ("array(8", "array(16"), ("range(8)", "range(min(n_of_thread, 8))")]},
    "the index of `totals[(j + row) % 8]` is known only when the kernel runs": {
        "an index modulo 8": [("totals[j]", "totals[(j + row) % 8]")]},
    "the target is 10%. {number} instructions (`ISETP`, `UISETP`) compare": {
        "comparisons that every turn makes anew": [(MIDDLE,
             MIDDLE.replace(TAIL, "if col + 32 * j < n and i + j < k + 16 and i * j >= 0:"))]},
    "The task asks for registers, which need no load and no store.": {
        "in shared memory": [("totals = cuda.local.array(8, float32)",
             "totals = cuda.shared.array((8, 256), float32)\n"
             "    t = cuda.threadIdx.y * 32 + cuda.threadIdx.x"), ("totals[j]", "totals[j, t]")]},
    "bytes of each thread are spilled: the kernel may use 32 registers, and its numbers need more. "
    "What limits them?": {"too few registers": [("@cuda.jit", "@cuda.jit(max_registers=32)")]},
}  # fmt: skip
