"""Wrong answers to `unroll`: what `check` says, and the changes that earn it."""


TERMS = [
    f"        total += a[row, i{more}] * b[i{more}, col]\n" for more in ("", " + 1", " + 2", " + 3")
]
FOUR = "".join(TERMS)
ANY_TERM = "        total += a[row, i + u] * b[i + u, col]\n"
BEGIN = "    i = 0\n    whole = k - k % 4\n    while i < whole:\n"
REST = "    while i < k:\n        total += a[row, i] * b[i, col]\n        i += 1\n"

FOUR_TOTALS = [
    ("    i = 0\n", "    t1 = t2 = t3 = float32(0)\n    i = 0\n"),
    *((TERMS[u], TERMS[u].replace("total", f"t{u}")) for u in (1, 2, 3)),
]

RANGES = [
    (BEGIN, "    whole = k - k % 4\n    for i in range(0, whole, 4):\n"),
    ("        i += 4\n", ""),
    ("    while i < k:", "    for i in range(whole, k):"),
    ("        i += 1\n", ""),
]

QUARTERS = [
    (BEGIN, "    i = 0\n    q = k // 4\n    while i < q:\n"),
    *((TERMS[u], TERMS[u].replace(f"i + {u}", f"i + {u} * q")) for u in (1, 2, 3)),
    ("        i += 4\n", "        i += 1\n"),
    (REST, "    i = 4 * q\n" + REST),
]

WRONG = {
    "`while i < k` makes 24 iterations": {"not unrolled": [("i < whole", "i < 0")]},
    "0.5 per multiply-add": {
        "unrolled by 2": [("% 4", "% 2"), (TERMS[2] + TERMS[3], ""), ("i += 4", "i += 2")]},
    "`while u < 4` makes 24 iterations": {
        "an inner loop that is no range": [
            (FOUR, f"        u = 0\n        while u < 4:\n    {ANY_TERM}            u += 1\n")]},
    "such as `range(4)`, are not counted": {
        "an inner range that the launch decides": [(FOUR,
             "        for u in range(i, i + 4):\n            total += a[row, u] * b[u, col]\n")]},
    "0.375 per multiply-add": {"one turn less than there could be": [("i < whole", "i < k - 4")]},
    "`while i < k` makes 16 iterations": {"a quarter of the whole": [("k - k % 4", "k // 4")]},
    "At k = 21 every sum lacks the term i = 20: 1 of 21. Where does the loop start and end, and "
    "which part of it is left over?": {
        "no remainder": [(REST, "")],
        "the remainder begins one late": [(REST, "    i += 1\n" + REST)],
        "the remainder ends one early": [("    while i < k:", "    while i < k - 1:")]},
    "At k = 23 every sum lacks the terms i = 21, 22: 2 of 23. Where does the loop start and end, "
    "and which part of it is left over?": {
        "one term left over": [("    while i < k:", "    if i < k:")]},
    "Every term counts 2 times, and not once.": {
        "the remainder begins again": [(REST, "    i = 0\n" + REST)]},
    "The term i = 23 counts 2 times in every sum, and not once.": {
        "the remainder begins one early": [(REST, "    i -= 1\n" + REST)]},
    "This index counts the terms of the sum, 0 to k - 1 = 23, and the loop takes one more, 24.": {
        "the remainder ends one late": [("    while i < k:", "    while i <= k:")],
        "a turn too many": [("i < whole", "i <= whole")],
        "steps of 3": [("i += 4", "i += 3")],
        "i goes on first": [("        i += 4\n", ""), (FOUR, "        i += 4\n" + FOUR)],
        "from 1 on": [("    i = 0\n", "    i = 1\n")]},
    "needs: i and k.": {"the remainder does not go on": [("        i += 1\n", "")]},
    "needs: i and whole.": {"the turn does not go on": [("        i += 4\n", "")]},
    "This index counts the terms of the sum, 0 to k - 1 = 20, and the loop takes one more, 21.": {
        "no test for a whole turn": [("i < whole", "i < k")],
        "rounded up": [("k - k % 4", "(k + 3) // 4 * 4")],
        "range of 4 that reads beyond": [(BEGIN, "    for i in range(0, k, 4):\n"),
            ("        i += 4\n", ""), (REST, "")]},
    "This index counts the terms of the sum, 0 to k - 1 = 22, and the loop takes one more, 23.": {
        "a test that lets one too many in": [("i < whole", "i + 2 < k")]},
    "This index counts the terms of the sum, 0 to k - 1 = 23, and here it goes from 24 to 26.": {
        "a range without its step": [(BEGIN, "    whole = k - k % 4\n    for i in range(whole):\n"),
            *RANGES[1:]],
        "steps of 1": [("i += 4", "i += 1")]},
    "At k = 24 every sum lacks the terms i = 9, 10, 11 …: 15 of 24. The term i = 1 counts "
    "2 times.": {
        "a range of turns": [(BEGIN, "    whole = k - k % 4\n    for i in range(k // 4):\n"),
            *RANGES[1:]]},
    "The term i = 20 counts 2 times in every sum, and not once.": {
        "i of a range goes on": [
            (BEGIN, "    whole = k - k % 4\n    i = 0\n    for i in range(0, whole, 4):\n"),
            ("        i += 4\n", "")]},
    "At k = 24 every sum lacks the terms i = 4, 9, 14 …: 4 of 24. They lie 5 apart: which terms "
    "does one turn of the loop add?": {"steps of 5": [("i += 4", "i += 5")]},
    "At k = 24 every sum lacks the terms i = 1, 2, 3 …: 18 of 24. The term i = 0 counts 4 times.": {
        "the same term four times": [(one, TERMS[0]) for one in TERMS[1:]]},
    "At k = 24 every sum lacks the terms i = 2, 6, 10 …: 6 of 24. The term i = 1 counts 2 times.": {
        "one term twice": [(TERMS[2], TERMS[1])]},
    "At k = 24 every sum lacks the terms i = 3, 7, 11 …: 6 of 24. They lie 4 apart: which terms "
    "does one turn of the loop add?": {
        "three terms, four steps": [(TERMS[3], "")],
        "four totals and one forgotten": [*FOUR_TOTALS, ("= total\n", "= total + t1 + t2\n")]},
    "The column 1 of `{a}` meets the row 0 of `{b}`: within one term both must be the same i. That "
    "happens 18 times in every sum.": {
        "the row of b stays": [(f"b[i + {u}, col]", "b[i, col]") for u in (1, 2, 3)]},
    "The column 0 of `{a}` meets the row 1 of `{b}`: within one term both must be the same i. That "
    "happens 18 times in every sum.": {
        "the column of a stays": [(f"a[row, i + {u}]", "a[row, i]") for u in (1, 2, 3)]},
    "The column 2 of `{a}` meets the row 3 of `{b}`: within one term both must be the same i. That "
    "happens 6 times in every sum.": {"one row of b too far": [("b[i + 2, col]", "b[i + 3, col]")]},
    "By `y` of the grid this thread belongs to row 31; the index is 1 more.": {
        "other rows of a": [(f"a[row, i + {u}]", f"a[row + {u}, i]") for u in (1, 2, 3)]},
    "The term i = 1 is the sum of its two elements, and not their product. This concerns 6 of the "
    "24 terms.": {"a sum in place of a product": [(TERMS[1], TERMS[1].replace("*", "+"))]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "only the last term is kept": [(FOUR, FOUR.replace("+=", "="))]},
    "At k = 24 every sum lacks the terms i = 0, 1, 2 …: 20 of 24. The last 4 are right: does a "
    "turn forget those before, or does the loop begin too late?": {
        "each turn begins anew": [(FOUR, FOUR.replace("+=", "=", 1))]},
    "This index counts the terms of the sum, 0 to k - 1 = 23, and here it goes from 24 to 28.": {
        "ends at another size": [("k - k % 4", "m - m % 4"), ("i < k", "i < m")]},
    "7 stores for an element": {
        "stores at each turn": [
            ("        i += 4\n", "        i += 4\n        c[row, col] = total\n")]},
    "no thread ever stores into `c`": {
        "stores in the remainder alone": [
            ("    c[row, col] = total", "        c[row, col] = total")]},
    "works in float64": {"float64": [("float32(0)", "0.0")]},
    "Line {store c}, `{code store c}`: lanes 0 and 1 store 64 words apart, a whole row. So "
    "`threadIdx.x` counts rows in your kernel, and this launch starts enough threads along x for "
    "the columns.": {"lanes go down": [("uint32(y), uint32(x)", "uint32(x), uint32(y)")]},
    "can make no lists": {
        "a list of terms": [
            (FOUR, "        total += sum([a[row, i + u] * b[i + u, col] for u in range(4)])\n")]},
    "a test for each term": {
        "a test for each term": [("i < whole", "i < k")]
            + [(TERMS[u], f"        if i + {u} < k:\n    {TERMS[u]}") for u in (1, 2, 3)]},
    "try another form of the same test, such as `i < k - 3`": {
        "a test that adds a whole iteration": [("i < whole", "i + 4 <= k")]},
    "made 16 multiply-adds from the 4 of your iteration": {"four quarters": QUARTERS},
    "does not know that the index is never negative": {
        "ranges": RANGES,
        "the remainder first": [
            (BEGIN, "    i = 0\n" + REST.replace("i < k", "i < k % 4") + "    while i < k:\n"),
            (f"4\n{REST}", "4\n")]},
    "where a `uint32` meets an integer": {
        "an unsigned i": [("i = 0", "i = uint32(0)"), ("i += 4", "i += uint32(4)"),
            ("i += 1", "i += uint32(1)")]},
}  # fmt: skip

