"""The exercise `four_columns`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, from_text, mutants_of, written

NAME = "four_columns"
TAIL = "if col + 32 * j < n:"
LOAD = "totals[j] += from_a * b[i, col + 32 * j]"
STORE = "c[row, col + 32 * j] = totals[j]"

WRONG = {
    "one column": ([("range(4)", "range(1)")], ["Lane 0 stores 1 column", "the task says 4"]),
    "three columns": ([("range(4)", "range(3)")], ["Lane 0 stores 3 columns"]),
    "columns 1 apart": (
        [("32 * j", "j")],
        ["Lane 0 stores columns 0, 1, 2, 3", "only one further: they overlap"],
    ),
    "columns 64 apart": (
        [("32 * j", "64 * j")],
        ["0, 64, 128, 192, 64 apart", "beyond the 128 columns that a block covers"],
    ),
    "a loaded once for all turns": (
        [
            ("        from_a = a[row, i]\n", ""),
            ("    i = 0\n", "    i = 0\n    from_a = a[row, 0]\n"),
        ],
        ["same element of `a`", "i = 0", "not loaded again"],
    ),
    "the first total set at each turn": (
        [("        from_a = a[row, i]\n", "        from_a = a[row, i]\n        totals[0] = 0\n")],
        ["In column 0 the terms", "0, 0, 0, 0", "not once each"],
    ),
    "totals of other columns": (
        [("= totals[j]\n", "= totals[3 - j]\n")],
        ["Column 0 of `c` holds the product that belongs in column 96"],
    ),
    "one shared array of totals": (
        [("cuda.local.array", "cuda.shared.array")],
        ["totals[0]", "The block has one `totals`, for all of its threads"],
    ),
    "four rows": (
        [
            ("blockIdx.y * 8", "blockIdx.y * 32"),
            ("blockIdx.x * 128", "blockIdx.x * 32"),
            (TAIL, "if row + 8 * j < m:"),
            ("from_a * b[i, col + 32 * j]", "a[row + 8 * j, i] * b[i, col]"),
            (STORE, "c[row + 8 * j, col] = totals[j]"),
        ],
        ["Lane 0 stores 1 column", "the task says 4"],
    ),
    "columns 33 apart": (
        [("32 * j", "33 * j")],
        ["columns 0 to 31 are written, then those from 33 on", "leaves 1 out"],
    ),
    "adjacent columns": (
        [("+ cuda.threadIdx.x", "+ 4 * cuda.threadIdx.x"), ("32 * j", "j")],
        ["The result is right", "load `b` 4 words apart", "16 sectors", "the target is 4"],
    ),
    "no test at the load": (
        [(f"            {TAIL}\n                {LOAD}", f"            {LOAD}")],
        ["`b[0, 160]`", "first column of this thread, 128, is inside", "a later one, 160"],
    ),
    "no test at the store": (
        [(f"        {TAIL}\n            {STORE}", f"        {STORE}")],
        ["`c[0, 160]`", "first column of this thread, 128, is inside"],
    ),
    "a test of the first column alone": (
        [(TAIL, "if col < n:")],
        ["`b[0, 160]`", "first column of this thread, 128, is inside"],
    ),
    "a test with <=": ([(TAIL, "if col + 32 * j <= n:")], ["a later one, 33, is not"]),
    "a test that stops at k": (
        [(TAIL, "if col + 32 * j < k:")],
        ["The columns end at 12", "That is k"],
    ),
    "returns where the last column is outside": (
        [("col >= n", "col + 96 >= n")],
        ["all of column 128", "whose last, 224, is outside", "stops them all"],
    ),
    "leaves before the last column": (
        [("col >= n", "col >= n - 1")],
        ["all of column 129", "stops threads that still have work"],
    ),
    "no guard of rows": (
        [("row >= m or ", "")],
        ["`a[9, 0]`", "rows 9 to 15", "no test stops them"],
    ),
    "a loaded for each column": (
        [("from_a = a[row, i]", "pass"), ("+= from_a *", "+= a[row, i] *")],
        ["The result is right", "costs 2 loads", "1 of `a` and 1 of `b`", "target is 1.25"],
    ),
    "b loaded twice": (
        [(LOAD, f"{LOAD} + float32(0) * b[i, col + 32 * j]")],
        ["The result is right", "2 of `b`", "the target is 1.25"],
    ),
    "one total": ([("totals[j]", "totals[0]")], ["Columns 0 and 32", "share one total"]),
    "totals not set": (
        [("totals[j] = float32(0)", "pass")],
        ["totals[0] of its local array", "not written"],
    ),
    "only the first total set": (
        [
            (
                "    for j in range(4):\n        totals[j] = float32(0)\n",
                "    totals[0] = float32(0)\n",
            )
        ],
        ["totals[1] of its local array", "not written"],
    ),
    "three totals": (
        [("array(4, float32)", "array(3, float32)")],
        ["totals[3]", "totals has 3 elements"],
    ),
    "totals set at each turn": (
        [("totals[j] +=", "totals[j] =")],
        ["only the last term of its sum"],
    ),
    "the block 32 wide": (
        [("* 128", "* 32")],
        ["stores for", "threads overlap", "A block covers 128 columns"],
    ),
    "the block 256 wide": (
        [("* 128", "* 256")],
        ["never written", "column 128"],
    ),
    "no number of the block": (
        [("cuda.blockIdx.x * 128 + ", "")],
        ["Only columns 0 to 127", "all blocks compute the same columns"],
    ),
    "the last column forgotten in the sum": (
        [
            (
                "        for j in range(4):\n            if",
                "        for j in range(3):\n            if",
            )
        ],
        ["Columns 0 to 95 are right"],
    ),
    "b by the first column": (
        [("b[i, col + 32 * j]", "b[i, col]")],
        ["Columns 0 and 32 of `c` are alike"],
    ),
    "x for y in the row": (
        [("8 + cuda.threadIdx.y", "8 + cuda.threadIdx.x")],
        ["both the row and the column change with `threadIdx.x`"],
    ),
    "y for x in the column": (
        [("128 + cuda.threadIdx.x", "128 + cuda.threadIdx.y")],
        ["store the same element", "neither its row nor its column changes with `threadIdx.x`"],
    ),
    "stores at each turn": (
        [("        i += 1\n", f"            {TAIL}\n                {STORE}\n        i += 1\n")],
        ["The result is right", "stores for an element"],
    ),
    "float64 totals": (
        [("array(4, float32)", "array(4, 'float64')")],
        ["The result is right", "works in float64"],
    ),
    "and for or in the guard": (
        [("row >= m or col", "row >= m and col")],
        ["`a[9, 0]`", "its column is inside", "outside in both directions"],
    ),
    "a list of totals": (
        [("cuda.local.array(4, float32)", "[float32(0)] * 4")],
        ["can make no lists and no NumPy arrays", "scalars", "cuda.local.array"],
    ),
    "a NumPy array of totals": (
        [
            ("from numba import cuda", "import numpy as np\nfrom numba import cuda"),
            ("cuda.local.array(4, float32)", "np.zeros(4, np.float32)"),
        ],
        ["can make no lists and no NumPy arrays", "cuda.local.array"],
    ),
    "a local array of a size that is not known": (
        [("array(4, float32)", "array(n, float32)")],
        ["The kernel does not run", "local"],
    ),
}

FOUR_TOTALS = """\
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row < m:
        t0, t1, t2, t3 = float32(0), float32(0), float32(0), float32(0)
        for i in range(k):
            one = a[row, i]
            if col < n:
                t0 += one * b[i, col]
            if col + 32 < n:
                t1 += one * b[i, col + 32]
            if col + 64 < n:
                t2 += one * b[i, col + 64]
            if col + 96 < n:
                t3 += one * b[i, col + 96]
        if col < n:
            c[row, col] = t0
        if col + 32 < n:
            c[row, col + 32] = t1
        if col + 64 < n:
            c[row, col + 64] = t2
        if col + 96 < n:
            c[row, col + 96] = t3
"""
CLAMPED = """\
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    first = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row >= m or first >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = 0
    for i in range(k):
        from_a = a[row, i]
        for j in range(4):
            totals[j] += from_a * b[i, min(first + 32 * j, n - 1)]
    for j in range(4):
        if first + 32 * j < n:
            c[row, first + 32 * j] = totals[j]
"""
COUNTED = """\
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 128 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
    columns = min(4, (n - col + 31) // 32)
    totals = cuda.local.array(4, float32)
    for j in range(columns):
        totals[j] = float32(0)
    for i in range(k):
        from_a = a[row, i]
        for j in range(columns):
            totals[j] += from_a * b[i, col + 32 * j]
    for j in range(columns):
        c[row, col + 32 * j] = totals[j]
"""
RIGHT = {"four totals": FOUR_TOTALS, "loads of the last column": CLAMPED, "counted": COUNTED}

# The solution tests each column by itself, so these slips change nothing.
EQUIVALENT = {
    "one_too_far in `if row >= m or col >= n:`": "the tests of each column stop column n, too",
    "constant_one_more in `totals = cuda.local.array(4, float32)`": "a fifth total is not used",
    "float64 in `totals[j] = float32(0)`": "what is stored in a float32 array is float32",
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, written(NAME, RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_columns_in_another_order_pass():
    verdict = check(NAME, changed(NAME, ("32 * j", "32 * (3 - j)"), (" or col >= n", "")))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused_or_known_to_change_nothing():
    passed = {}
    for what, kernel in mutants_of(NAME):
        if check(NAME, kernel).passed:
            passed[what] = kernel
    assert passed.keys() == EQUIVALENT.keys()
    for kernel in passed.values():
        for shape in ((7, 127, 3), (8, 128, 5), (1, 129, 2), (3, 31, 1), (16, 384, 1)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()


def test_the_starter_and_the_solution_begin_alike():
    lines = [text.splitlines() for text in _texts()]
    gap = next(at for at, line in enumerate(lines[0]) if "Your lines" in line)
    assert lines[0][1:gap] == lines[1][1:gap]
    assert from_text(NAME, _texts()[0]).__name__ == NAME


def _texts() -> tuple[str, str]:
    return EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
