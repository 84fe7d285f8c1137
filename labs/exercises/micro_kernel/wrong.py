"""Wrong answers to `micro_kernel`: what `check` says, and the changes that earn it."""

from labs.checking.variants import file_beside

START = "c0 = c1 = set1(float32(0), 8)"
LOOP = "for p in range(a.size // 2):"
ROW = "row = loadu(b, 8 * p, 8)"
FIRST = "c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)"
SECOND = "c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)"
STEP = f"{ROW}\n        {FIRST}\n        {SECOND}\n"
STORES = "    storeu(c, 0, c0)\n    storeu(c, 8, c1)\n"

WRONG = {
    "still to be written": {"empty body": file_beside(__file__, "starter")},
    "never stores into `c`": {"no store": [(STORES, "")]},
    "Row 1 of the tile is missing: its 8 elements begin at 8.": {
        "row 1 not stored": [("    storeu(c, 8, c1)\n", "")],
        "both rows stored at 0": [("storeu(c, 8, c1)", "storeu(c, 0, c1)")]},
    "Row 0 of the tile is missing: its 8 elements begin at 0.": {
        "row 0 not stored": [("    storeu(c, 0, c0)\n", "")]},
    "The stores begin at 0, 1; the rows begin at 0 and at 8.": {
        "row 1 stored at 1": [("storeu(c, 8, c1)", "storeu(c, 1, c1)")],
        "row 1 stored at 1, a at p and p + 1": [("storeu(c, 8, c1)", "storeu(c, 1, c1)"),
            ("2 * p, 8)", "p, 8)"), ("2 * p + 1", "p + 1")]},
    "The tile has two rows of 8: they begin at 0 and at 8.": {
        "row 1 stored at 16": [("storeu(c, 8, c1)", "storeu(c, 16, c1)")]},
    "The two rows of the tile are exchanged: the sum of row 0 stands in row 1.": {
        "rows exchanged": [("storeu(c, 0, c0)", "storeu(c, 0, c1)"),
            ("storeu(c, 8, c1)", "storeu(c, 8, c0)")]},
    "Both rows of the tile are the product with the first element of each step of `{a}`.": {
        "row 0 stored twice": [("storeu(c, 8, c1)", "storeu(c, 8, c0)")],
        "second broadcast like the first": [("2 * p + 1", "2 * p")]},
    "Both rows of the tile are the product with the second element of each step of `{a}`.": {
        "first broadcast like the second": [("2 * p, 8), row, c0", "2 * p + 1, 8), row, c0")]},
    "`{a}` is read as if it held row 0 first and row 1 behind it. It is packed: the elements of "
    "both rows for one step lie side by side.": {
        "panel of a taken for rows": [("2 * p, 8)", "p, 8)"), ("2 * p + 1", "a.size // 2 + p")]},
    "`{a}` is read at p and p + 1, and step p has its elements at 2·p and 2·p + 1.": {
        "a at p and p + 1": [("2 * p, 8)", "p, 8)"), ("2 * p + 1", "p + 1")]},
    "Every step reads the first two elements of `{a}`.": {
        "always the first of a": [("2 * p, 8)", "0, 8)"), ("2 * p + 1", "1")]},
    "Every step reads the first vector of `{b}`.": {
        "always the first of b": [("8 * p, 8", "0, 8")]},
    "Line {load b}, `{code load b}`, reads `{b}` at 0, 1, 2 … in the first iterations, and the "
    "steps of that panel begin at 0, 8, 16 …": {"b at p": [("8 * p, 8", "p, 8")]},
    "Line {load b}, `{code load b}`, reads `{b}` at 0, 2, 4 … in the first iterations, and the "
    "steps of that panel begin at 0, 8, 16 …": {"b at 2 * p": [("8 * p, 8", "2 * p, 8")]},
    "Neighbouring steps are read too close together: step p has its elements of `{a}` from 2·p on, "
    "and those of `{b}` from 8·p on.": {
        "both panels at p": [("8 * p, 8", "p, 8"), ("2 * p, 8)", "p, 8)"), ("2 * p + 1", "p + 1")],
        "both panels at p, one element of a": [
            ("8 * p, 8", "p, 8"), ("2 * p, 8)", "p, 8)"), ("2 * p + 1", "p")],
        "b at p, a taken for rows": [
            ("8 * p, 8", "p, 8"), ("2 * p, 8)", "p, 8)"), ("2 * p + 1", "a.size // 2 + p")],
        "both panels at 2 * p": [("8 * p, 8", "2 * p, 8"), ("2 * p + 1", "2 * p")]},
    "There are 24 steps, each with 8 elements of `{b}`: step p has those from 8·p on. How many "
    "iterations does your loop have, and where does it read?": {
        "b one step ahead": [("8 * p, 8", "8 * p + 8, 8")],
        "b one element further": [("8 * p, 8", "8 * p + 1, 8")],
        "steps for elements": [("a.size // 2", "a.size")],
        "one step too many": [("a.size // 2", "a.size // 2 + 1")]},
    "Only the first 23 of 24 steps are in the sums.": {
        "one step too few": [("a.size // 2", "a.size // 2 - 1")]},
    "The first step is missing in the sums.": {
        "from the second step": [("range(a.size // 2)", "range(1, a.size // 2)")]},
    "Only every second step is in the sums.": {
        "every second step": [("range(a.size // 2)", "range(0, a.size // 2, 2)")]},
    "Only the first 12 of 24 steps are in the sums.": {
        "half of the steps": [("a.size // 2", "a.size // 4")]},
    "There are 5 steps, each with 8 elements of `{b}`: step p has those from 8·p on. How many "
    "iterations does your loop have, and where does it read?": {
        "24 steps always": [("a.size // 2", "24")]},
    "This is the product of the last step alone: each turn of the loop forgets the sum of the turn "
    "before.": {
        "sums forgotten": [("row, c0)", "row, set1(float32(0), 8))"),
            ("row, c1)", "row, set1(float32(0), 8))")],
        "sums set to zero in the loop": [
            (f"    {START}\n    {LOOP}\n", f"    {LOOP}\n        {START}\n")],
        "mul in place of fmadd": [(FIRST, "c0 = mul(broadcast(a, 2 * p, 8), row)"),
            (SECOND, "c1 = mul(broadcast(a, 2 * p + 1, 8), row)"),
            ("loadu, set1", "loadu, mul, set1")]},
    "Both products of a step are added to the same sum, which both rows hold.": {
        "one sum for both rows": [(SECOND, SECOND.replace("c1", "c0")),
            ("storeu(c, 8, c1)", "storeu(c, 8, c0)")]},
    "Line {last fmadd} adds to one sum, and its result goes to another one: does each row keep a "
    "sum of its own?": {
        "second product added to the first sum": [(SECOND, SECOND.replace("row, c1", "row, c0"))]},
    "Line {load a}, `{code load a}`, adds to one sum, and its result goes to another one: does "
    "each row keep a sum of its own?": {
        "sums exchanged": [(FIRST, FIRST.replace("row, c0", "row, c1")),
            (SECOND, SECOND.replace("row, c1", "row, c0"))]},
    "Row 1 holds zeros: no turn of the loop gives its sum a new value.": {
        "second sum is never set": [(SECOND, SECOND.replace("c1 = ", "c0 = "))]},
    "Row 0 has got the products of both rows, and row 1 none: both multiply-adds of a step give "
    "their result to the same sum.": {
        "both products in the first sum": [(SECOND, SECOND.replace("c1", "c0"))]},
    "`c0` has no value before the loop": {"sums without a beginning": [(f"    {START}\n", "")]},
    "Use two names, one for each sum": {
        "sums in a list": [(START, "c0 = [set1(float32(0), 8)] * 2"), ("c1", "c0[1]"),
            ("c0 = fmadd", "c0[0] = fmadd")]},
    "A vector of 8 zeros is `set1(float32(0), 8)`": {
        "zeros of NumPy": [(START, "c0 = c1 = np.zeros(8, np.float32)"),
            ("from numba", "import numpy as np\nfrom numba")]},
    "Here `c1` is the second": {
        "stored the other way round": [("storeu(c, 8, c1)", "storeu(c, c1, 8)")]},
    "`storeu(x, i, vector)`": {
        "the sum stored first": [("storeu(c, 8, c1)", "storeu(c1, 8, c)")],
        "stored like an element": [("storeu(c, 0, c0)", "c[0] = c0")],
        "stored like a slice": [("storeu(c, 0, c0)", "c[0:8] = c0")]},
    "Line 14, `c0 += broadcast(a, 2 * p, 8) * row`: Vectors know no `+`": {
        "plus to a sum": [(FIRST, "c0 += broadcast(a, 2 * p, 8) * row")]},
    "Line {load a}, `{code load a}`: nothing takes the result. A primitive changes none of its "
    "operands.": {
        "fmadd without its result": [(FIRST, FIRST.removeprefix("c0 = ")),
            (SECOND, SECOND.removeprefix("c1 = "))]},
    "Each element is 1 away from what is right. With what do the sums begin?": {
        "sums begin at one": [("float32(0)", "float32(1)")]},
    "Row 0 is right. Row 1: The 8 elements of a row are alike: the first element of each step of "
    "`{b}` is in all of them.": {
        "broadcast of b": [
            (SECOND, "c1 = fmadd(broadcast(a, 2 * p + 1, 8), broadcast(b, 8 * p, 8), c1)")]},
    "`loadu` reads 8 neighbours, and a step has only 2 elements of `{a}`.": {
        "vector of a": [("broadcast(a, 2 * p, 8)", "loadu(a, 2 * p, 8)")]},
    "`loadu` reads 8 neighbours, and a step has only 2 elements of `{a}`. The first such line is "
    "14, `{code load a}`.": {"vectors of a": [("broadcast(a", "loadu(a")]},
    "Line {load a}, `{code load a}`: `fmadd(x, y, z)` is x·y + z, and here a sum is multiplied.": {
        "operands of fmadd in another order": [
            ("fmadd(broadcast(a, 2 * p, 8), row, c0)", "fmadd(c0, broadcast(a, 2 * p, 8), row)")]},
    "`fmadd(x, y, z)` is x·y + z": {
        "result of fmadd added": [(FIRST, "c0 += fmadd(broadcast(a, 2 * p, 8), row, c0)")]},
    "Vectors know no `+`": {"plus and times": [(FIRST, "c0 = c0 + broadcast(a, 2 * p, 8) * row")]},
    "`a[0]`, is one number": {
        "an element times a vector": [(FIRST, "c0 = fmadd(a[2 * p], row, c0)")]},
    "a float32, such as `float32(0)`": {
        "a vector of a number": [(START, "c0 = c1 = set1(0, 8)")],
        "a vector of a float64": [(START, "c0 = c1 = set1(0.0, 8)")]},
    "`set1(float32(0), 8)` has zero 8 times": {
        "a number for a sum": [(START, "c0 = c1 = float32(0)")]},
    "`c0` is one number since line 10, `c0 = 0`": {
        "a zero for a sum": [(START, "c0 = 0\n    c1 = 0")]},
    "`loadu(x, i, 8)`": {"no lanes": [("8 * p, 8)", "8 * p)")]},
    "`broadcast(x, i, 8)`": {"no lanes of a broadcast": [("2 * p, 8)", "2 * p)")]},
    "8 or 16 lanes": {"four lanes": [("8 * p, 8)", "8 * p, 4)")]},
    "as long as the others": {"sixteen lanes": [("8 * p, 8)", "8 * p, 16)")]},
    "needs the value of `c[0]` before anything was stored there": {
        "begins with what is in c": [(START, "c0 = loadu(c, 0, 8)\n    c1 = loadu(c, 8, 8)")]},
    "changes `a`": {"stores into a": [("storeu(c, 0, c0)", "storeu(a, 0, c0)")]},
    "returns nothing": {"returns the sums": [(STORES, "    return c0, c1\n")]},
    "stores 192 elements, and the tile has 16": {
        "stores in every step": [(STEP + STORES, STEP + STORES.replace("    s", "        s"))]},
    "in the loop": {
        "sums in c": [(f"    {START}\n", "    storeu(c, 0, set1(float32(0), 8))\n"
             "    storeu(c, 8, set1(float32(0), 8))\n"),
            (FIRST, "storeu(c, 0, fmadd(broadcast(a, 2 * p, 8), row, loadu(c, 0, 8)))"),
            (SECOND, "storeu(c, 8, fmadd(broadcast(a, 2 * p + 1, 8), row, loadu(c, 8, 8)))"),
            (STORES, "")]},
    "`b` is loaded 48 times for 48 multiply-adds": {
        "b loaded for each row": [(SECOND, SECOND.replace("row", "loadu(b, 8 * p, 8)"))]},
    "`b` is loaded 48 times": {
        "b loaded in loops of its own": [
            (STEP, f"{ROW}\n        {FIRST}\n    {LOOP}\n        {ROW}\n        {SECOND}\n")]},
    "`a` is loaded 72 times": {
        "a broadcast twice": [(ROW, f"{ROW}\n        again = broadcast(a, 2 * p, 8)")]},
    "`b` is loaded 384 times": {
        "scalar loops": [
            ("    c0 = c1" + file_beside(__file__, "solution").partition("    c0 = c1")[2],
             "    for r in range(2):\n        for j in range(8):\n            total = float32(0)\n"
             "            for p in range(a.size // 2):\n"
             "                total += a[2 * p + r] * b[8 * p + j]\n"
             "            c[8 * r + j] = total\n")]},
    "Vectors of 8 need two stores in all, one for each row.": {
        "scalar loops with sums in c": [
            ("    c0 = c1" + file_beside(__file__, "solution").partition("    c0 = c1")[2],
             "    for r in range(2):\n        for j in range(8):\n            c[8 * r + j] = 0\n"
             "            for p in range(a.size // 2):\n"
             "                c[8 * r + j] += a[2 * p + r] * b[8 * p + j]\n")]},
    "the name line is not defined": {"a name that is not there": [("row, c0)", "line, c0)")]},
    "`while p < a.size // 2`": {"never ends": [(LOOP, "p = 0\n    while p < a.size // 2:")]},
}  # fmt: skip
