"""The exercise `coalescing`: each wrong kernel is refused with the words that name its cause."""

import difflib

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of, written

NAME = "coalescing"
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

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "x still counts rows": (
        [("row, col = y, x", "row, col = x, y")],
        ["lanes 0 and 1 store 128 words apart", "`threadIdx.x` counts rows", "Line 19"],
    ),
    "the numbers of the grid exchanged": (
        [("x, y = cuda.grid(2)", "y, x = cuda.grid(2)")],
        ["`threadIdx.x` counts rows", "x first", "your name for it is `y`"],
    ),
    "and for or in the guard": (
        [("row >= m or col", "row >= m and col")],
        ["`a[9, 0]`", "its column is inside", "outside in both directions"],
    ),
    "or for and in a guard the other way round": (
        [
            ("if row >= m or col >= n:\n        return", "if row < m or col < n:"),
            *[(f"    {line}", f"        {line}") for line in LINES],
        ],
        ["its column is inside", "outside in both directions"],
    ),
    "empty body": (
        [("    m, k = a.shape", "    return\n    m, k = a.shape")],
        ["no thread reads or writes", "still to be written"],
    ),
    "never stores": ([(STORE, "total += total")], ["no thread ever stores into `c`"]),
    "c stored at [col, row]": (
        [(STORE, "c[col, row] = total")],
        ["`c[16, 0]`", "transposed", "exchanged where `c` is stored"],
    ),
    "a read as a[i, row]": (
        [("a[row, i]", "a[i, row]")],
        ["`a[16, 0]`", "the two indices of `a` are exchanged"],
    ),
    "b read as b[col, i]": (
        [("b[i, col]", "b[col, i]")],
        ["`b[24, 0]`", "the two indices of `b` are exchanged"],
    ),
    "the row of a is the column": (
        [("a[row, i]", "a[col, i]")],
        ["`a` is read with the number of the column in place of the row"],
    ),
    "the column of b is the row": (
        [("b[i, col]", "b[i, row]")],
        ["`b` is read with the number of the row in place of the column"],
    ),
    "both inputs exchanged": (
        [("a[row, i] * b[i, col]", "b[row, i] * a[i, col]")],
        ["`b`·`a`", "inputs are exchanged"],
    ),
    "the row above": (
        [("a[row, i]", "a[max(row - 1, 0), i]")],
        ["the product of the row above", "off by one"],
    ),
    "the row below": ([("a[row, i]", "a[row + 1, i]")], ["belongs to row 15", "1 more"]),
    "the column before": (
        [("b[i, col]", "b[i, col - 1]")],
        ["`total += a[row, i] * b[i, col - 1]`", "index -1 of b"],
    ),
    "a one term ahead": (
        [("a[row, i] * b[i, col]", "a[row, (i + 1) % k] * b[i, col]")],
        ["`a` is read one column ahead"],
    ),
    "row > m": (
        [("row >= m", "row > m")],
        ["`a[9, 0]`", "one too far: the last row is 8", "lets row 9 pass"],
    ),
    "col > n": (
        [("col >= n", "col > n")],
        ["`b[0, 130]`", "one too far: the last column is 129", "lets column 130 pass"],
    ),
    "no guard": ([(GUARD, "")], ["1,120 threads have no element", "no test that stops them"]),
    "the guard compares with k": (
        [("row >= m", "row >= k")],
        ["910 threads, with rows 9 to 15", "compares this row with another size"],
    ),
    "the guard forgets the columns": (
        [(" or col >= n", "")],
        ["270 threads, with columns 130 to 159", "no test stops them"],
    ),
    "leaves before the last column": (
        [("col >= n", "col >= n - 1")],
        ["all of column 127", "stops threads that still have work"],
    ),
    "leaves before the last row": (
        [("row >= m", "row >= m - 1")],
        ["all of row 15", "stops threads that still have work"],
    ),
    "loop to k - 1": ([("i < k", "i < k - 1")], ["lacks the term i = 23: 1 of 24"]),
    "loop to i <= k": (
        [("i < k", "i <= k")],
        ["`a[0, 24]`", "counts the terms of the sum", "takes one more, 24"],
    ),
    "loop to n": ([("i < k", "i < n")], ["goes from 24 to 127", "where n ends"]),
    "loop from 1": ([("i = 0", "i = 1")], ["lacks the term i = 0: 1 of 24"]),
    "loop by 2": ([("i += 1", "i += 2")], ["lacks the terms i = 1, 3, 5 …: 12 of 24"]),
    "loop for ever": (
        [("        i += 1\n", "")],
        ["`while i < k`", "has not ended", "does not change"],
    ),
    "every term twice": ([(STORE, "c[row, col] = total + total")], ["counts 2 times"]),
    "terms taken away": ([("total +=", "total -=")], ["counts -1 times"]),
    "terms added, not multiplied": (
        [("a[row, i] * b", "a[row, i] + b")],
        ["the sum of its two elements", "not their product"],
    ),
    "the tail of an unrolled loop": (
        [
            ("i < k", "i + 1 < k"),
            ("        i += 1", "        total += a[row, i + 1] * b[i + 1, col]\n        i += 2"),
        ],
        ["lacks the term i = 22: 1 of 23"],
    ),
    "total set at each turn": ([("total += a", "total = a")], ["only the last term of its sum"]),
    "total starts at 1": ([("float32(0)", "float32(1)")], ["by the same number, 1"]),
    "the result divided": ([("= total", "= total / float32(4)")], ["0.25 times what it should be"]),
    "leaves after one turn": (
        [("        i += 1\n", "        c[row, col] = total\n        return\n")],
        ["only the first term of its sum"],
    ),
    "a times a": ([("b[i, col]", "a[row, i]")], ["All columns of `c` are alike", "`a` alone"]),
    "negative sums cut off": (
        [("= total", "= max(total, float32(0))")],
        ["Only elements that should be negative are wrong"],
    ),
    "wrong from row 64 on": (
        [("= total", "= total * float32(1 + row // 64)")],
        ["Rows 0 to 63 are right", "from 64 on"],
    ),
    "the other size of the block": (
        [("row, col = y, x", "row, col = cuda.blockIdx.y * 32 + cuda.threadIdx.y, x")],
        ["Only rows 0 to 7 are written, as many as one block covers", "too far on"],
    ),
    "the grid for the block": (
        [("row, col = y, x", "row, col = y, cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x")],
        ["threads overlap", "A block covers 32 columns"],
    ),
    "divided by zero": (
        [("total += a[row, i]", "total += a[row, i] / (i - i)")],
        ["`c[0, 0]` is", "no number", "division by zero"],
    ),
    "stores at each turn": (
        [(f"    {STORE}", f"        {STORE}")],
        ["The result is right", "stores 49,152 times for 2,048 elements", "inside a loop"],
    ),
    "two threads store one element": (
        [
            (GUARD, "    row = min(row, m - 1)\n    if col >= n:\n        return\n"),
        ],
        ["The result is right", "stores for an element", "several threads store the same"],
    ),
    "m and k exchanged": (
        [("m, k = a.shape", "k, m = a.shape")],
        ["loop ends at 16", "m, the rows of `c`", "k = 24"],
    ),
    "n taken from a": (
        [("n = b.shape[1]", "n = a.shape[1]")],
        ["columns end at 24", "That is k"],
    ),
    "one index of the grid": (
        [("x, y = cuda.grid(2)", "x, y = cuda.grid(1), 0")],
        ["All threads compute row 0", "does not change with `y`"],
    ),
    "no number of the block in the row": (
        [("row, col = y, x", "row, col = cuda.threadIdx.y, x")],
        ["Only rows 0 to 7", "all blocks compute the same rows"],
    ),
    "one element in all": (
        [(GUARD, "    if row > 0 or col > 0:\n        return\n")],
        ["2,047 of 2,048 elements", "never written", "stops threads that still have work"],
    ),
    "one index for both": (
        [(STORE, "c[row, row] = total")],
        ["Only the diagonal of `c`", "both of its indices are the same"],
    ),
    "every second block left out": (
        [("row, col = y, x", "row, col = y, x + cuda.blockIdx.x * 32")],
        ["columns 0 to 31 are written, then those from 64 on", "leaves 32 out"],
    ),
    "adds up in c": (
        [("total += a", "c[row, col] += a"), (STORE, "pass")],
        ["needs the value of `c` before anything was stored", "NaN"],
    ),
    "adds up in c by an atomic": (
        [(STORE, "cuda.atomic.add(c, (row, col), total)")],
        ["needs the value of `c` before anything was stored"],
    ),
    "changes a": (
        [(STORE, f"{STORE}\n    a[row, 0] = total")],
        ["`a[row, 0] = total`", "changes `a`, which is an input"],
    ),
    "float64 by 0.0": (
        [("float32(0)", "0.0")],
        ["The result is right", "line 17", "works in float64, 49,152 operations"],
    ),
    "float64 by 0": ([("float32(0)", "0")], ["The result is right", "works in float64"]),
    "loads twice": (
        [
            (
                "        total +=",
                "        unused = a[row, i] * float32(0)\n        total += unused +",
            )
        ],
        ["a multiply-add costs 3 loads", "2 of `a` and 1 of `b`", "the target is 2"],
    ),
    "lanes go down eight rows": (
        [
            (
                "row, col = y, x",
                "row = cuda.blockIdx.y * 8 + cuda.threadIdx.x % 8\n"
                "    col = cuda.blockIdx.x * 32 + cuda.threadIdx.y * 4 + cuda.threadIdx.x // 8",
            ),
        ],
        ["The result is right", "24 words apart, a whole row", "8 sectors", "the target is 4"],
    ),
}

RIGHT = {
    "range": [
        ("    i = 0\n    while i < k:\n", "    for i in range(k):\n"),
        ("        i += 1\n", ""),
    ],
    "tests that hold for inside": [
        ("    if row >= m or col >= n:\n        return\n", "    if not (row < m and col < n):\n"
         "        return\n"),
    ],
    "numbers of block and thread": [
        ("    x, y = cuda.grid(2)\n", ""),
        (
            "row, col = y, x",
            "row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n"
            "    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x",
        ),
    ],
    "backwards, and other names": [
        ("(a, b, c)", "(left, right, out)"),
        ("a.shape", "left.shape"),
        ("b.shape", "right.shape"),
        ("    i = 0\n    while i < k:\n", "    i = k - 1\n    while i >= 0:\n"),
        ("a[row, i] * b[i, col]", "left[row, i] * right[i, col]"),
        ("i += 1", "i -= 1"),
        ("c[row, col]", "out[row, col]"),
    ],
    "unrolled by two, with its tail": [
        ("i < k", "i + 1 < k"),
        ("        i += 1\n", "        total += a[row, i + 1] * b[i + 1, col]\n        i += 2\n"
         "    if i < k:\n        total += a[row, i] * b[i, col]\n"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed == set()


def test_the_starter_differs_from_the_solution_by_one_line_of_code():
    texts = (EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text)
    code = [text.split('"""')[2].splitlines() for text in texts]
    lines = list(difflib.unified_diff(*code, n=0, lineterm=""))[2:]
    assert [line[0] for line in lines] == ["@", "-", "+"]


def test_a_kernel_by_a_grid_stride_is_right_as_well():
    body = """\
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    x, y = cuda.grid(2)
    for row in range(y, m, cuda.gridDim.y * 8):
        for col in range(x, n, cuda.gridDim.x * 32):
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
"""
    verdict = check(NAME, written(NAME, body))
    assert verdict.passed, str(verdict)
