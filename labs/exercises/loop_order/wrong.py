"""Wrong answers to `loop_order`: what `check` says, and the changes that earn it."""

HEAD = """\
import numpy as np
from numba import float32, njit


@njit
def loop_order(a, b, c):
    m, k = a.shape
    n = b.shape[1]
"""
ZERO = "        for col in range(n):\n            c[row, col] = float32(0)\n"
TERM = "c[row, col] += a[row, i] * b[i, col]"
ADD = f"        for i in range(k):\n            for col in range(n):\n                {TERM}\n"

# Changes of the solution.
WRONG = {
    "`c[0, 0]` before anything was stored": {"c is not zeroed": [(ZERO, "")]},
    "`c[0, 1]` before anything was stored": {
        "one element of a row is zeroed": [(ZERO, "        c[row, 0] = float32(0)\n")]},
    "Every element holds only the last term of its sum: each turn forgets those before.": {
        "zeroed in the loop over i": [(ZERO, ""), ("        for i in range(k):\n",
             "        for i in range(k):\n"
             "            for col in range(n):\n                c[row, col] = float32(0)\n")],
        "set and not added": [("+=", "=")],
        "a sum of one term": HEAD + """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                total = float32(0)
                total += a[row, i] * b[i, col]
                c[row, col] = total
"""},
    "`c[row, col] += a[row, i] * b[i, col]` needs the value of `c[0, 0]`": {
        "zeroed after the sum": [(ZERO + ADD, ADD + ZERO)]},
    "`c[0, 3]` before anything was stored": {
        "too few columns zeroed": [(ZERO, ZERO.replace("range(n)", "range(m)"))]},
    "Every term counts -1 times, and not once.": {"taken off and not added": [("+= a", "-= a")]},
    "A term is the sum of its two elements, and not their product.": {
        "a sum for a product": [("] * b", "] + b")]},
    "Every element is wrong by the same number, 1. With what value does the sum start?": {
        "begins at 1": [("float32(0)", "float32(1)")]},
    "On square matrices the result is `{a}`ᵀ·`{b}`: the two indices of `{a}` are exchanged.": {
        "indices of a exchanged": [("a[row, i]", "a[i, row]")]},
    "On square matrices the result is `{a}`·`{b}`ᵀ: the two indices of `{b}` are exchanged.": {
        "indices of b exchanged": [("b[i, col]", "b[col, i]")]},
    "On square matrices your result is the right one transposed: row and column are exchanged "
    "where `{c}` is stored.": {"indices of c exchanged": [("c[row, col]", "c[col, row]")]},
    "`c[1, 0]` before anything was stored": {
        "indices of c exchanged in the sum": [("c[row, col] +=", "c[col, row] +=")],
        "i in place of row in c": [("c[row, col] +=", "c[i, col] +=")]},
    "On square matrices the result is `{b}`·`{a}`: the inputs are exchanged.": {
        "a and b exchanged": [("a[row, i] * b[i, col]", "b[row, i] * a[i, col]")]},
    "In row r of `{c}` all terms take their element of row r of `{b}`: that index does not change "
    "with the term.": {"row in place of i in b": [("b[i, col]", "b[row, col]")]},
    "This index counts the terms, 0 to 5, and here it goes from 6 to 23. That is where n ends.": {
        "col in place of i in a": [("a[row, i]", "a[row, col]")],
        "as many terms as columns": [("range(k)", "range(n)")]},
    "This index counts the rows, 0 to 2, and here it goes from 3 to 23. That is where n ends.": {
        "as many rows as columns": [("for row in range(m)", "for row in range(n)")]},
    "The loop ends at 3. That is m, the rows of `{c}`; a sum has k = 6 terms.": {
        "as many terms as rows": [("range(k)", "range(m)")]},
    "The columns end at 3. That is m; `{c}` has 24 of them.": {
        "as many columns as rows": [("for col in range(n)", "for col in range(m)")]},
    "Columns 0 to 2 are right, and no term was added to the others: the loop that adds ends at 3. "
    "That is m.": {
        "adds to too few columns": [
            (f"range(n):\n                {TERM}", f"range(m):\n                {TERM}")]},
    "At k = 6 every sum lacks the term i = 5: 1 of 6. Where does the loop start and end, and which "
    "part of it is left over?": {"one term too few": [("range(k)", "range(k - 1)")]},
    "At k = 6 every sum lacks the term i = 0: 1 of 6. The last 5 are right: does a turn forget "
    "those before, or does the loop begin too late?": {
        "the first term left out": [("range(k)", "range(1, k)")]},
    "At k = 6 every sum lacks the terms i = 1, 3, 5: 3 of 6. They lie 2 apart: which terms does "
    "one turn of the loop add?": {"every second term": [("range(k)", "range(0, k, 2)")]},
    "This index counts the terms, 0 to 5, and the loop takes one more, 6.": {
        "one term too many": [("range(k)", "range(k + 1)")]},
    "This index counts the rows, 0 to 2, and here it goes from 3 to 5. That is where k ends.": {
        "sizes of a exchanged": [("m, k = a.shape", "k, m = a.shape")]},
    "The columns end at 6. That is k; `{c}` has 24 of them.": {
        "the rows of b for its columns": [("shape[1]", "shape[0]")]},
    "item 2 of 2": {"a third size of b": [("shape[1]", "shape[2]")]},
    "half as many numbers": {"float64": [("+= a", "+= 1.0 * a")]},
    "the index -1 of a": {
        "all indices one too low": [("a[row, i]", "a[row, i - 1]"),
            ("b[i, col]", "b[i - 1, col]")]},
    "48 of 72 elements": {"one row only": [(TERM, f"{TERM}\n        return")]},
    "All terms of a sum take the same element of `{a}`, the one of i = 0: it is not loaded again "
    "at each turn.": {
        "one factor for all terms": [(ZERO, f"{ZERO}        factor = a[row, 0]\n"),
            ("a[row, i]", "factor")]},
    "Only the last column, 23, has its terms: the line that should do it for each column runs "
    "once, when the loop over the columns is over.": {
        "added below the loop over the columns": [(f"                {TERM}",
             f"                factor = a[row, i]\n            {TERM}")]},
    "24 elements further, a whole row of `b`": {
        "the starter's order": HEAD + """\
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
"""},
    "24 elements further": {
        "columns outside": HEAD + """\
    for col in range(n):
        for row in range(m):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
""",
        "a view of b transposed": HEAD + """\
    across = b.T
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * across[col, i]
            c[row, col] = total
"""},
    "24 elements further, a whole row of `c`": {
        "rows inside": HEAD + """\
    c[:, :] = 0
    for i in range(k):
        for col in range(n):
            for row in range(m):
                c[row, col] += a[row, i] * b[i, col]
"""},
    "From each column to the next, `{c}` grows by one term: a single sum gathers the terms of all "
    "columns, and each column stores what is in it so far.": {
        "one sum for each i": HEAD + """\
    for row in range(m):
        for i in range(k):
            total = float32(0)
            for col in range(n):
                total += a[row, i] * b[i, col]
                c[row, col] = total
""",
        "one sum for each row": HEAD + """\
    for row in range(m):
        total = float32(0)
        for i in range(k):
            for col in range(n):
                total += a[row, i] * b[i, col]
                c[row, col] = total
"""},
    "Only the last column, 23, is written: the line that should do it for each column runs once, "
    "when the loop over the columns is over.": {
        "a sum stored below the loop": HEAD + """\
    for row in range(m):
        for i in range(k):
            total = float32(0)
            for col in range(n):
                total += a[row, i] * b[i, col]
            c[row, col] = total
"""},
    "never stores into `c`": {
        "a sum that is never stored": HEAD + """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                total = float32(0)
                total += a[row, i] * b[i, col]
"""},
    "Write the loop over the elements out": {
        "whole rows at once": HEAD + """\
    for row in range(m):
        c[row] = 0
        for i in range(k):
            c[row] += a[row, i] * b[i]
"""},
    "Write the loop over the elements": {"NumPy's product": HEAD + "    c[:] = a @ b\n"},
    "made here is not known to": {
        "sums in an array of its own": HEAD + """\
    for row in range(m):
        totals = np.zeros(n, np.float32)
        for i in range(k):
            for col in range(n):
                totals[col] += a[row, i] * b[i, col]
        c[row] = totals
"""},
    "`while i < k`": {
        "an i that does not grow": HEAD + """\
    for row in range(m):
        i = 0
        while i < k:
            for col in range(n):
                c[row, col] = a[row, i] * b[i, col]
"""},
}  # fmt: skip

