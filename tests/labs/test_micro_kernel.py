"""The exercise `micro_kernel`: each wrong function gets the words that name its cause."""

from types import SimpleNamespace

import pytest
from numba import njit

from labs import check
from labs.bank import find
from labs.micro_kernel.exercise import no_spills
from tests.labs.readers import changed, mutants_of
from utils.intrinsics.simd import broadcast, fmadd_row, load_row, store_row, zero_row

NAME = "micro_kernel"
START = "c0 = c1 = set1(float32(0), 8)"
LOOP = "for p in range(a.size // 2):"
NOTE = "        # One vector of b serves both rows of the tile.\n"
ROW = "row = loadu(b, 8 * p, 8)"
FIRST = "c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)"
SECOND = "c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)"
STEP = f"{ROW}\n        {FIRST}\n        {SECOND}\n"
STORES = "    storeu(c, 0, c0)\n    storeu(c, 8, c1)\n"
HEAD = find(NAME).solution_text.partition("    c0 = c1")[0]

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "empty body": ([(find(NAME).solution_text, find(NAME).starter_text)], ["still to be written"]),
    "no store": ([(STORES, "")], ["never stores into `c`"]),
    "row 1 not stored": (
        [("    storeu(c, 8, c1)\n", "")],
        ["8 of 16 elements", "Row 1 of the tile is missing", "begin at 8"],
    ),
    "row 0 not stored": (
        [("    storeu(c, 0, c0)\n", "")],
        ["Row 0 of the tile is missing", "begin at 0"],
    ),
    "both rows stored at 0": (
        [("storeu(c, 8, c1)", "storeu(c, 0, c1)")],
        ["Row 1 of the tile is missing"],
    ),
    "row 1 stored at 1": (
        [("storeu(c, 8, c1)", "storeu(c, 1, c1)")],
        ["stores begin at 0, 1", "rows begin at 0 and at 8"],
    ),
    "row 1 stored at 16": (
        [("storeu(c, 8, c1)", "storeu(c, 16, c1)")],
        ["`storeu(c, 16, c1)`", "two rows of 8", "begin at 0 and at 8"],
    ),
    "rows exchanged": (
        [("storeu(c, 0, c0)", "storeu(c, 0, c1)"), ("storeu(c, 8, c1)", "storeu(c, 8, c0)")],
        ["two rows of the tile are exchanged"],
    ),
    "row 0 stored twice": (
        [("storeu(c, 8, c1)", "storeu(c, 8, c0)")],
        ["Both rows of the tile", "first element of each step of `a`"],
    ),
    "second broadcast like the first": (
        [("2 * p + 1", "2 * p")],
        ["Both rows of the tile", "first element of each step of `a`"],
    ),
    "first broadcast like the second": (
        [("2 * p, 8), row, c0", "2 * p + 1, 8), row, c0")],
        ["Both rows of the tile", "second element of each step"],
    ),
    "panel of a taken for rows": (
        [("2 * p, 8)", "p, 8)"), ("2 * p + 1", "a.size // 2 + p")],
        ["as if it held row 0 first", "side by side"],
    ),
    "a at p and p + 1": (
        [("2 * p, 8)", "p, 8)"), ("2 * p + 1", "p + 1")],
        ["`a` is read at p and p + 1"],
    ),
    "always the first of a": (
        [("2 * p, 8)", "0, 8)"), ("2 * p + 1", "1")],
        ["Every step reads the first two elements of `a`"],
    ),
    "always the first of b": ([("8 * p, 8", "0, 8")], ["Every step reads the first vector of `b`"]),
    "b at p": (
        [("8 * p, 8", "p, 8")],
        ["`row = loadu(b, p, 8)`", "at 0, 1, 2 …", "begin at 0, 8, 16 …"],
    ),
    "b at 2 * p": ([("8 * p, 8", "2 * p, 8")], ["at 0, 2, 4 …", "begin at 0, 8, 16 …"]),
    "b one step ahead": (
        [("8 * p, 8", "8 * p + 8, 8")],
        ["the loop goes to `b[199]`", "24 steps, each with 8 elements of `b`", "8·p on"],
    ),
    "b one element further": (
        [("8 * p, 8", "8 * p + 1, 8")],
        ["the loop goes to `b[192]`", "where does it read"],
    ),
    "steps for elements": (
        [("a.size // 2", "a.size")],
        ["the loop goes to `b[199]`", "How many turns does your loop have"],
    ),
    "one step too many": (
        [("a.size // 2", "a.size // 2 + 1")],
        ["24 steps", "How many turns"],
    ),
    "one step too few": ([("a.size // 2", "a.size // 2 - 1")], ["Only the first 23 of 24 steps"]),
    "from the second step": (
        [("range(a.size // 2)", "range(1, a.size // 2)")],
        ["The first step is missing"],
    ),
    "every second step": (
        [("range(a.size // 2)", "range(0, a.size // 2, 2)")],
        ["Only every second step"],
    ),
    "half of the steps": ([("a.size // 2", "a.size // 4")], ["Only the first 12 of 24 steps"]),
    "24 steps always": ([("a.size // 2", "24")], ["At k = 5", "the loop goes to `b[47]`"]),
    "sums forgotten": (
        [("row, c0)", "row, set1(float32(0), 8))"), ("row, c1)", "row, set1(float32(0), 8))")],
        ["product of the last step alone", "forgets the sum"],
    ),
    "sums set to zero in the loop": (
        [(f"    {START}\n    {LOOP}\n", f"    {LOOP}\n        {START}\n")],
        ["product of the last step alone"],
    ),
    "mul in place of fmadd": (
        [(FIRST, "c0 = mul(broadcast(a, 2 * p, 8), row)"),
         (SECOND, "c1 = mul(broadcast(a, 2 * p + 1, 8), row)"),
         ("loadu, set1", "loadu, mul, set1")],
        ["product of the last step alone"],
    ),
    "one sum for both rows": (
        [(SECOND, SECOND.replace("c1", "c0")), ("storeu(c, 8, c1)", "storeu(c, 8, c0)")],
        ["added to the same sum"],
    ),
    "second product added to the first sum": (
        [(SECOND, SECOND.replace("row, c1", "row, c0"))],
        ["`c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c0)`, adds to `c0`", "goes to `c1`"],
    ),
    "sums exchanged": (
        [(FIRST, FIRST.replace("row, c0", "row, c1")),
         (SECOND, SECOND.replace("row, c1", "row, c0"))],
        ["adds to `c1`, and its result goes to `c0`"],
    ),
    "second sum is never set": (
        [(SECOND, SECOND.replace("c1 = ", "c0 = "))],
        ["Row 1 holds zeros", "no turn of the loop"],
    ),
    "both products in the first sum": (
        [(SECOND, SECOND.replace("c1", "c0"))],
        ["Row 0 has got the products of both rows, and row 1 none", "to the same sum"],
    ),
    "sums without a beginning": (
        [(f"    {START}\n", "")],
        ["Line 13, `c0 = fmadd", "`c0` has no value before the loop"],
    ),
    "sums in a list": (
        [
            (START, "c0 = [set1(float32(0), 8)] * 2"),
            ("c1", "c0[1]"),
            ("c0 = fmadd", "c0[0] = fmadd"),
        ],
        ["Use two names, one for each sum"],
    ),
    "zeros of NumPy": (
        [
            (START, "c0 = c1 = np.zeros(8, np.float32)"),
            ("from numba", "import numpy as np\nfrom numba"),
        ],
        ["A vector of 8 zeros is `set1(float32(0), 8)`"],
    ),
    "stored the other way round": (
        [("storeu(c, 8, c1)", "storeu(c, c1, 8)")],
        ["`storeu(x, i, vector)`", "Here `c1` is the second"],
    ),
    "the sum stored first": (
        [("storeu(c, 8, c1)", "storeu(c1, 8, c)")],
        ["`storeu(x, i, vector)`", "Here `c1` is the first"],
    ),
    "plus to a sum": (
        [(FIRST, "c0 += broadcast(a, 2 * p, 8) * row")],
        ["Line 14, `c0 += broadcast(a, 2 * p, 8) * row`: Vectors know no `+`"],
    ),
    "fmadd without its result": (
        [(FIRST, FIRST.removeprefix("c0 = ")), (SECOND, SECOND.removeprefix("c1 = "))],
        ["`fmadd(broadcast(a, 2 * p, 8), row, c0)`: nothing takes the result"],
    ),
    "sums begin at one": (
        [("float32(0)", "float32(1)")],
        ["Each element is 1 away", "With what do the sums begin"],
    ),
    "broadcast of b": (
        [(SECOND, "c1 = fmadd(broadcast(a, 2 * p + 1, 8), broadcast(b, 8 * p, 8), c1)")],
        ["Row 0 is right", "elements of a row are alike", "first element of each step of `b`"],
    ),
    "vector of a": (
        [("broadcast(a, 2 * p, 8)", "loadu(a, 2 * p, 8)")],
        ["`loadu` reads 8 neighbours", "only 2 elements of `a`"],
    ),
    "vectors of a": (
        [("broadcast(a", "loadu(a")],
        ["`loadu` reads 8 neighbours", "The first such line is 14, `c0 = fmadd(loadu("],
    ),
    "operands of fmadd in another order": (
        [("fmadd(broadcast(a, 2 * p, 8), row, c0)", "fmadd(c0, broadcast(a, 2 * p, 8), row)")],
        ["`fmadd(x, y, z)` is x·y + z", "`c0` is multiplied here"],
    ),
    "result of fmadd added": (
        [(FIRST, "c0 += fmadd(broadcast(a, 2 * p, 8), row, c0)")],
        ["Vectors know no `+`", "`fmadd(x, y, z)` is x·y + z"],
    ),
    "plus and times": (
        [(FIRST, "c0 = c0 + broadcast(a, 2 * p, 8) * row")],
        ["Vectors know no `+`"],
    ),
    "an element times a vector": (
        [(FIRST, "c0 = fmadd(a[2 * p], row, c0)")],
        ["`a[0]`, is one number", "`broadcast(a, 0, 8)`"],
    ),
    "a vector of a number": (
        [(START, "c0 = c1 = set1(0, 8)")],
        ["a float32, such as `float32(0)`"],
    ),
    "a vector of a float64": (
        [(START, "c0 = c1 = set1(0.0, 8)")],
        ["a float32, such as `float32(0)`"],
    ),
    "a number for a sum": (
        [(START, "c0 = c1 = float32(0)")],
        ["`c0` is one number since line 10", "`set1(float32(0), 8)` has zero 8 times"],
    ),
    "a zero for a sum": (
        [(START, "c0 = 0\n    c1 = 0")],
        ["`c0` is one number since line 10, `c0 = 0`"],
    ),
    "no lanes": ([("8 * p, 8)", "8 * p)")], ["`loadu(x, i, 8)`", "how many floats"]),
    "no lanes of a broadcast": ([("2 * p, 8)", "2 * p)")], ["`broadcast(x, i, 8)`"]),
    "four lanes": ([("8 * p, 8)", "8 * p, 4)")], ["8 or 16 lanes", "here 8"]),
    "sixteen lanes": ([("8 * p, 8)", "8 * p, 16)")], ["as long as the others"]),
    "stored like an element": (
        [("storeu(c, 0, c0)", "c[0] = c0")],
        ["`storeu(x, i, vector)`"],
    ),
    "stored like a slice": (
        [("storeu(c, 0, c0)", "c[0:8] = c0")],
        ["`storeu(x, i, vector)`"],
    ),
    "begins with what is in c": (
        [(START, "c0 = loadu(c, 0, 8)\n    c1 = loadu(c, 8, 8)")],
        ["needs the value of `c[0]` before anything was stored there"],
    ),
    "stores into a": ([("storeu(c, 0, c0)", "storeu(a, 0, c0)")], ["changes `a`"]),
    "returns the sums": ([(STORES, "    return c0, c1\n")], ["returns nothing"]),
    "stores in every step": (
        [(STEP + STORES, STEP + STORES.replace("    s", "        s"))],
        ["The result is right", "stores 192 elements, and the tile has 16", "in the loop"],
    ),
    "sums in c": (
        [(f"    {START}\n", "    storeu(c, 0, set1(float32(0), 8))\n"
          "    storeu(c, 8, set1(float32(0), 8))\n"),
         (FIRST, "storeu(c, 0, fmadd(broadcast(a, 2 * p, 8), row, loadu(c, 0, 8)))"),
         (SECOND, "storeu(c, 8, fmadd(broadcast(a, 2 * p + 1, 8), row, loadu(c, 8, 8)))"),
         (STORES, "")],
        ["The result is right", "stores", "in the loop"],
    ),
    "b loaded for each row": (
        [(SECOND, SECOND.replace("row", "loadu(b, 8 * p, 8)"))],
        ["The result is right", "`b` is loaded 48 times for 48 multiply-adds", "the target is 0.5"],
    ),
    "b loaded in loops of its own": (
        [(STEP, f"{ROW}\n        {FIRST}\n    {LOOP}\n        {ROW}\n        {SECOND}\n")],
        ["The result is right", "`b` is loaded 48 times"],
    ),
    "a broadcast twice": (
        [(ROW, f"{ROW}\n        again = broadcast(a, 2 * p, 8)")],
        ["The result is right", "`a` is loaded 72 times", "1.5 for each"],
    ),
    "scalar loops": (
        [("    c0 = c1" + find(NAME).solution_text.partition("    c0 = c1")[2],
          "    for r in range(2):\n        for j in range(8):\n            total = float32(0)\n"
          "            for p in range(a.size // 2):\n"
          "                total += a[2 * p + r] * b[8 * p + j]\n"
          "            c[8 * r + j] = total\n")],
        ["The result is right", "`b` is loaded 384 times", "a single element each"],
    ),
    "a name that is not there": ([("row, c0)", "line, c0)")], ["the name line is not defined"]),
    "never ends": (
        [(LOOP, "p = 0\n    while p < a.size // 2:")],
        ["`while p < a.size // 2`", "has not ended"],
    ),
}  # fmt: skip

RIGHT = {
    "a while loop": [(LOOP, "p = -1\n    while p < a.size // 2 - 1:\n        p += 1")],
    "elements of a as numbers": [
        ("broadcast(a, 2 * p, 8)", "set1(a[2 * p], 8)"),
        ("broadcast(a, 2 * p + 1, 8)", "set1(a[2 * p + 1], 8)"),
    ],
    "operands of the product exchanged": [
        ("fmadd(broadcast(a, 2 * p, 8), row, c0)", "fmadd(row, broadcast(a, 2 * p, 8), c0)")
    ],
    "steps from b": [("a.size // 2", "b.size // 8")],
    "by the elements of a": [
        (LOOP, "for p in range(0, a.size, 2):"),
        ("8 * p", "4 * p"),
        ("2 * p", "p"),
    ],
    "the first step is a product": [
        (START, "row = loadu(b, 0, 8)\n    c0 = mul(broadcast(a, 0, 8), row)\n"
         "    c1 = mul(broadcast(a, 1, 8), row)"),
        ("range(a.size // 2)", "range(1, a.size // 2)"),
        ("loadu, set1", "loadu, mul, set1"),
    ],
    "two sums by name": [(START, "c0 = set1(float32(0), 8)\n    c1 = set1(float32(0), 8)")],
    "sums in a tuple": [
        (STEP, f"{ROW}\n        c0, c1 = ({FIRST.removeprefix('c0 = ')}, "
         f"{SECOND.removeprefix('c1 = ')})\n"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_micro_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    verdict = check(NAME, changed(NAME, *changes), patience=2)
    told = " ".join(verdict.causes)
    assert not verdict.passed
    assert [word for word in words if word not in told] == [], told
    assert "thread" not in told


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_micro_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused_with_a_cause_of_its_own():
    for what, given in mutants_of(NAME):
        verdict = check(NAME, given, patience=2)
        told = " ".join(verdict.causes)
        assert not verdict.passed, what
        assert "Which elements does" not in told, f"{what}: {told}"
        assert "Error" not in told, f"{what}: {told}"


def sums_of(vectors):
    @njit
    def sums(a, b, c):
        row, totals = load_row(b, 0, 8, vectors), zero_row(8, vectors)
        for p in range(a.size):
            totals = fmadd_row(broadcast(a, p, 8), row, totals)
        store_row(c, 0, totals)

    return SimpleNamespace(kernel=sums)


def test_more_vectors_than_registers_are_counted_as_spills():
    target = no_spills()
    assert target.measure(sums_of(5)) == 0
    spilled = target.measure(sums_of(20))
    assert spilled > 0
    assert "16 registers" in target.cause(sums_of(20), spilled)


def test_where_the_machine_code_cannot_be_known_a_note_says_so(monkeypatch):
    monkeypatch.setattr("labs.micro_kernel.exercise.hot_loop_elsewhere", lambda *_: None)
    verdict = check(NAME, find(NAME).solution)
    assert verdict.passed
    assert verdict.notes == ("Not known on this machine: no spills.",)
