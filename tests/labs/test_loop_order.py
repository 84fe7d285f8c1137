"""The exercise `loop_order`: each wrong function is refused with the words that name its cause."""

import pytest

from labs import check
from tests.labs.readers import changed, from_text, mutants_of

NAME = "loop_order"
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
    "c is not zeroed": ([(ZERO, "")], ["`c[0, 0]` before anything was stored", "NaN"]),
    "one element of a row is zeroed": (
        [(ZERO, "        c[row, 0] = float32(0)\n")],
        ["`c[0, 1]` before anything was stored"],
    ),
    "zeroed in the loop over i": (
        [
            (ZERO, ""),
            (
                "        for i in range(k):\n",
                "        for i in range(k):\n"
                "            for col in range(n):\n                c[row, col] = float32(0)\n",
            ),
        ],
        ["only the last term of its sum", "each turn forgets"],
    ),
    "zeroed after the sum": (
        [(ZERO + ADD, ADD + ZERO)],
        [f"`{TERM}` needs the value of `c[0, 0]`"],
    ),
    "too few columns zeroed": (
        [(ZERO, ZERO.replace("range(n)", "range(m)"))],
        ["`c[0, 3]` before anything was stored"],
    ),
    "set and not added": ([("+=", "=")], ["only the last term of its sum"]),
    "taken off and not added": ([("+= a", "-= a")], ["Every term counts -1 times"]),
    "a sum for a product": ([("] * b", "] + b")], ["is the sum of its two elements"]),
    "begins at 1": ([("float32(0)", "float32(1)")], ["wrong by the same number, 1"]),
    "indices of a exchanged": (
        [("a[row, i]", "a[i, row]")],
        ["`a[3, 0]`", "the two indices of `a` are exchanged"],
    ),
    "indices of b exchanged": (
        [("b[i, col]", "b[col, i]")],
        ["`b[6, 0]`", "the two indices of `b` are exchanged"],
    ),
    "indices of c exchanged": (
        [("c[row, col]", "c[col, row]")],
        ["`c[3, 0]`", "the right one transposed"],
    ),
    "indices of c exchanged in the sum": (
        [("c[row, col] +=", "c[col, row] +=")],
        ["`c[1, 0]` before anything was stored"],
    ),
    "a and b exchanged": (
        [("a[row, i] * b[i, col]", "b[row, i] * a[i, col]")],
        ["`b`·`a`: the inputs are exchanged"],
    ),
    "row in place of i in b": (
        [("b[i, col]", "b[row, col]")],
        ["In row r", "of row r of `b`", "does not change with the term"],
    ),
    "col in place of i in a": (
        [("a[row, i]", "a[row, col]")],
        ["This index counts the terms, 0 to 5", "from 6 to 23", "where n ends"],
    ),
    "i in place of row in c": (
        [("c[row, col] +=", "c[i, col] +=")],
        ["`c[1, 0]` before anything was stored"],
    ),
    "as many rows as columns": (
        [("for row in range(m)", "for row in range(n)")],
        ["`c[3, 0]`", "counts the rows, 0 to 2", "from 3 to 23", "where n ends"],
    ),
    "as many terms as columns": (
        [("range(k)", "range(n)")],
        ["counts the terms, 0 to 5", "from 6 to 23", "where n ends"],
    ),
    "as many terms as rows": ([("range(k)", "range(m)")], ["ends at 3. That is m", "k = 6 terms"]),
    "as many columns as rows": (
        [("for col in range(n)", "for col in range(m)")],
        ["The columns end at 3. That is m"],
    ),
    "adds to too few columns": (
        [(f"range(n):\n                {TERM}", f"range(m):\n                {TERM}")],
        ["Columns 0 to 2 are right", "the loop that adds ends at 3. That is m"],
    ),
    "one term too few": ([("range(k)", "range(k - 1)")], ["lacks the term i = 5"]),
    "the first term left out": ([("range(k)", "range(1, k)")], ["lacks the term i = 0"]),
    "every second term": ([("range(k)", "range(0, k, 2)")], ["lacks the terms i = 1, 3, 5"]),
    "one term too many": ([("range(k)", "range(k + 1)")], ["`a[0, 6]`", "takes one more, 6"]),
    "sizes of a exchanged": ([("m, k = a.shape", "k, m = a.shape")], ["counts the rows, 0 to 2"]),
    "the rows of b for its columns": ([("shape[1]", "shape[0]")], ["end at 6. That is k"]),
    "a third size of b": ([("shape[1]", "shape[2]")], ["b.shape[2]", "item 2 of 2"]),
    "float64": (
        [("+= a", "+= 1.0 * a")],
        ["works in float64", "in all at 3×24×6", "half as many numbers"],
    ),
    "all indices one too low": (
        [("a[row, i]", "a[row, i - 1]"), ("b[i, col]", "b[i - 1, col]")],
        ["The result is right", "the index -1 of a", "from the end"],
    ),
    "one row only": ([(TERM, f"{TERM}\n        return")], ["48 of 72 elements", "all of row 1"]),
    "one factor for all terms": (
        [(ZERO, f"{ZERO}        factor = a[row, 0]\n"), ("a[row, i]", "factor")],
        ["same element of `a`", "i = 0", "not loaded again"],
    ),
    "added below the loop over the columns": (
        [(f"                {TERM}", f"                factor = a[row, i]\n            {TERM}")],
        ["Only the last column, 23, has its terms"],
    ),
}
# Texts of their own: what stands below the sizes.
WRITTEN = {
    "the starter's order": (
        """\
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
""",
        ["The result is right", "element of `b`", "24 elements further, a whole row of `b`"],
    ),
    "columns outside": (
        """\
    for col in range(n):
        for row in range(m):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
""",
        ["The result is right", "element of `b`", "24 elements further"],
    ),
    "rows inside": (
        """\
    c[:, :] = 0
    for i in range(k):
        for col in range(n):
            for row in range(m):
                c[row, col] += a[row, i] * b[i, col]
""",
        ["The result is right", "element of `c`", "24 elements further, a whole row of `c`"],
    ),
    "a view of b transposed": (
        """\
    across = b.T
    for row in range(m):
        for col in range(n):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * across[col, i]
            c[row, col] = total
""",
        ["The result is right", "element of `b`", "24 elements further"],
    ),
    "one sum for each i": (
        """\
    for row in range(m):
        for i in range(k):
            total = float32(0)
            for col in range(n):
                total += a[row, i] * b[i, col]
                c[row, col] = total
""",
        ["From each column to the next", "a single sum gathers the terms of all columns"],
    ),
    "one sum for each row": (
        """\
    for row in range(m):
        total = float32(0)
        for i in range(k):
            for col in range(n):
                total += a[row, i] * b[i, col]
                c[row, col] = total
""",
        ["a single sum gathers the terms of all columns"],
    ),
    "a sum of one term": (
        """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                total = float32(0)
                total += a[row, i] * b[i, col]
                c[row, col] = total
""",
        ["only the last term of its sum"],
    ),
    "a sum stored below the loop": (
        """\
    for row in range(m):
        for i in range(k):
            total = float32(0)
            for col in range(n):
                total += a[row, i] * b[i, col]
            c[row, col] = total
""",
        ["Only the last column, 23, is written"],
    ),
    "a sum that is never stored": (
        """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                total = float32(0)
                total += a[row, i] * b[i, col]
""",
        ["never stores into `c`"],
    ),
    "whole rows at once": (
        """\
    for row in range(m):
        c[row] = 0
        for i in range(k):
            c[row] += a[row, i] * b[i]
""",
        ["`c[row] += a[row, i] * b[i]`", "Write the loop over the elements out"],
    ),
    "NumPy's product": (
        "    c[:] = a @ b\n",
        ["The check cannot follow", "`c[:] = a @ b`", "Write the loop over the elements"],
    ),
    "sums in an array of its own": (
        """\
    for row in range(m):
        totals = np.zeros(n, np.float32)
        for i in range(k):
            for col in range(n):
                totals[col] += a[row, i] * b[i, col]
        c[row] = totals
""",
        ["The check cannot follow", "np.zeros(n, np.float32)", "made here is not known to"],
    ),
    "an i that does not grow": (
        """\
    for row in range(m):
        i = 0
        while i < k:
            for col in range(n):
                c[row, col] = a[row, i] * b[i, col]
""",
        ["`while i < k`", "does not end"],
    ),
}
RIGHT = {
    "i outside": """\
    c[:, :] = 0
    for i in range(k):
        for row in range(m):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col]
""",
    "the factor of a in a variable": """\
    for row in range(m):
        c[row] = 0.0
        for i in range(k):
            factor = a[row, i]
            for col in range(n):
                c[row, col] += factor * b[i, col]
""",
    "views of rows": """\
    for row in range(m):
        sums = c[row]
        for col in range(n):
            sums[col] = 0
        for i in range(k):
            factor, across = a[row, i], b[i]
            for col in range(n):
                sums[col] += factor * across[col]
""",
    "the first term stored": """\
    for row in range(m):
        for col in range(n):
            c[row, col] = a[row, 0] * b[0, col]
        for i in range(1, k):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col]
""",
    "zeroed where i is 0": """\
    for row in range(m):
        for i in range(k):
            for col in range(n):
                if i == 0:
                    c[row, col] = 0
                c[row, col] += a[row, i] * b[i, col]
""",
    "while": """\
    row = 0
    while row < m:
        c[row] = 0
        i = 0
        while i < k:
            for col in range(n):
                c[row, col] = c[row, col] + a[row, i] * b[i, col]
            i += 1
        row += 1
""",
    "backwards": """\
    c.fill(0)
    for row in range(m - 1, -1, -1):
        for i in range(k - 1, -1, -1):
            for col in range(n - 1, -1, -1):
                c[row, col] += a[row, i] * b[i, col]
""",
    "two terms at a time": """\
    c[:] = 0
    for row in range(m):
        for i in range(0, k - k % 2, 2):
            for col in range(n):
                c[row, col] += a[row, i] * b[i, col] + a[row, i + 1] * b[i + 1, col]
        if k % 2:
            for col in range(n):
                c[row, col] += a[row, k - 1] * b[k - 1, col]
""",
}
# Slips that change nothing.
HARMLESS = {"float64 in `c[row, col] = float32(0)`": "what is stored in c becomes float32 again"}


def refused(given) -> str:
    verdict = check(NAME, given)
    assert not verdict.passed
    return verdict.causes[0]


@pytest.mark.parametrize("what", WRONG)
def test_a_slip_in_the_solution_is_named(what):
    changes, words = WRONG[what]
    cause = refused(changed(NAME, *changes))
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.slow
@pytest.mark.parametrize("what", WRITTEN)
def test_another_wrong_function_is_named(what):
    body, words = WRITTEN[what]
    cause = refused(from_text(NAME, HEAD + body))
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_function_passes(what):
    verdict = check(NAME, from_text(NAME, HEAD + RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_small_slips_are_refused_or_change_nothing():
    for what, mutant in mutants_of(NAME):
        verdict = check(NAME, mutant)
        assert verdict.passed == (what in HARMLESS), f"{what}: {verdict}"
