"""The exercise `two_tiles`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of

NAME = "two_tiles"
LOADED = "        cuda.syncthreads()  # all three tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
ARRAY = "tile_b1 = cuda.shared.array((TILE, TILE), float32)"
INSIDE_A = "row < m and start + tx < k"
INSIDE_0 = "start + ty < k and col < n"
INSIDE_1 = "start + ty < k and next_col < n"
LOAD_1 = f"        tile_b1[ty, tx] = b[start + ty, next_col] if {INSIDE_1} else float32(0)\n"
FROM_A = "            from_a = tile_a[ty, i]\n"
TERM_0 = "            total0 += from_a * tile_b0[i, tx]\n"
TERM_1 = "            total1 += from_a * tile_b1[i, tx]\n"
STORE_1 = "    if row < m and next_col < n:\n        c[row, next_col] = total1\n"
NEXT = "next_col = col + TILE"
FIRST = "cuda.blockIdx.x * 2 * TILE + tx"
TURNS = "range(0, k, TILE)"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "the second column neither loaded nor stored": ([(STORE_1, "")], ["Lane 0 stores 1 column"]),
    "the second sum forgotten": ([(TERM_1, "")], ["second", "is 0: nothing was added"]),
    "the second sum takes the first tile": (
        [("from_a * tile_b1", "from_a * tile_b0")], ["holds what belongs in the first"],
    ),
    "the second tile is loaded from the first columns": (
        [("b[start + ty, next_col]", "b[start + ty, col]")], ["holds what belongs in the first"],
    ),
    "both stores take the first sum": ([("= total1", "= total0")], ["belongs in the first"]),
    "the sums exchanged": (
        [("= total0", "= total"), ("= total1", "= total0"), ("= total\n", "= total1\n")],
        ["exchanged"],
    ),
    "one total for both": (
        [("total1 +=", "total0 +="), ("= total1", "= total0")], ["alike"],
    ),
    "the terms of both go into the first total": (
        [("total1 +=", "total0 +=")],
        ["the first (columns 0 to 15", "sums of all elements", "go into one total"],
    ),
    "the terms of both go into each total": (
        [("total1 += from_a", "total1 += from_a * tile_b0[i, tx] + from_a")],
        ["only the second", "sums of all elements", "go into one total"],
    ),
    "the second tile is the one below": (
        [("start + ty, next_col] if start + ty < k and next_col < n",
          "start + TILE + ty, col] if start + TILE + ty < k and col < n")],
        ["only the second", "In line 22", "rows of `b` that lie 16 further down"],
    ),
    "the second tile is below and to the right": (
        [(f"start + ty, next_col] if {INSIDE_1}",
          "start + TILE + ty, next_col] if start + TILE + ty < k and next_col < n")],
        ["only the second", "In line 22", "rows of `b` that lie 16 further down"],
    ),
    "the second tile is below, and its row not tested": (
        [("b[start + ty, next_col]", "b[start + TILE + ty, next_col]")],
        ["`b[112, 16]`", "Already in the first turn", "16 further down"],
    ),
    "the tile of b filled twice": (
        [("    " + ARRAY + "\n", ""), (LOAD_1, ""), (TERM_1, ""),
         (USED, "        cuda.syncthreads()\n" + LOAD_1.replace("tile_b1", "tile_b0")
          + "        cuda.syncthreads()\n        for i in range(TILE):\n" + FROM_A
          + TERM_1.replace("tile_b1", "tile_b0") + USED)],
        ["lines 23 and 29", "two loops (lines 22 and 28)", "One loop that adds to all sums"],
    ),
    "a loop for each sum": (
        [(TERM_1, "        for i in range(TILE):\n" + FROM_A + TERM_1)],
        ["lines 25 and 28", "two loops (lines 24 and 27)", "One loop that adds to all sums"],
    ),
    "the blocks of before": ([(FIRST, "cuda.blockIdx.x * TILE + tx")], ["overlap"]),
    "columns side by side": (
        [(FIRST, "2 * cuda.blockIdx.x * TILE + 2 * tx"), (NEXT, "next_col = col + 1")],
        ["2 words apart"],
    ),
    "the next column": ([(NEXT, "next_col = col + 1")], ["Lane 0 stores columns 0, 1, 1 apart"]),
    "two tiles further": ([(NEXT, "next_col = col + 2 * TILE")], ["beyond the 32 columns"]),
    "the second column not tested where b is loaded": (
        [(INSIDE_1, "start + ty < k")], ["later one", "no test stops it there"],
    ),
    "the first column tested for the second": (
        [(INSIDE_1, "start + ty < k and col < n")], ["later one", "no test stops it there"],
    ),
    "the second store not tested": (
        [("row < m and next_col < n:", "row < m:")], ["later one", "no test stops it there"],
    ),
    "one test for both stores": (
        [(STORE_1, "        c[row, next_col] = total1\n")], ["later one", "no test stops it there"],
    ),
    "the second decides for both stores": (
        [("    if row < m and col < n:\n        c[row, col] = total0\n", ""),
         (STORE_1, STORE_1 + "        c[row, col] = total0\n")],
        ["what stops the last one stops them all"],
    ),
    "the second decides for both loads": (
        [(INSIDE_0, INSIDE_1)], ["Zero stands in column"],
    ),
    "the row of a not tested": ([(INSIDE_A, "start + tx < k")], ["rows 17 to 31"]),
    "the end of the sum not tested for the second tile": (
        [(INSIDE_1, "next_col < n")], ["`b[33, 16]`", "The last tile reaches over the end"],
    ),
    "no barrier after the loads": ([(LOADED, "")], ["may be read before it has been loaded"]),
    "no barrier after the sums": ([(USED, "")], ["replaces an element", "slow one still needs"]),
    "the second tile loaded behind the barrier": (
        [(LOAD_1, ""), (LOADED, LOADED + LOAD_1)], ["may be read before it has been loaded"],
    ),
    "threads at the edge leave": (
        [("    total0 = ", "    if row >= m or col >= n:\n        return\n    total0 = ")],
        ["`return` in line 18", "should have loaded"],
    ),
    "one array for both tiles of b": (
        [("tile_b1[", "tile_b0[")], ["second"],
    ),
    "a wide array": (
        [("    " + ARRAY + "\n", ""), ("tile_b0 = cuda.shared.array((TILE, TILE)",
         "tile_b0 = cuda.shared.array((TILE, 32)"),
         ("tile_b1[ty, tx]", "tile_b0[ty, tx + TILE]"),
         ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]")],
        ["The result is right", "2 wavefronts", "Lanes 0 and 16", "32 apart",
         "all rows of `tile_b0` begin in the same bank", "an array of its own for each tile"],
    ),
    "a wide array whose second half nobody fills": (
        [("    " + ARRAY + "\n", ""), ("tile_b0 = cuda.shared.array((TILE, TILE)",
         "tile_b0 = cuda.shared.array((TILE, 32)"), (LOAD_1, ""),
         ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]")],
        ["If each stores one element", "from 0 to 15"],
    ),
    "the second tile never filled": ([(LOAD_1, "")], ["No line", "stores into `tile_b1`"]),
    "the word of a read twice": (
        [(FROM_A, ""), ("from_a *", "tile_a[ty, i] *")],
        ["2 reads from shared memory", "1 of `tile_a`", "lines 25 and 26", "the target is 1.5"],
    ),
    "the word of a read in a loop": (
        [("    total0 = float32(0)\n    total1 = float32(0)\n",
          "    totals = cuda.local.array(2, float32)\n    for g in range(2):\n"
          "        totals[g] = float32(0)\n"),
         (FROM_A + TERM_0 + TERM_1,
          "            for g in range(2):\n"
          "                if g == 0:\n"
          "                    totals[0] += tile_a[ty, i] * tile_b0[i, tx]\n"
          "                else:\n"
          "                    totals[1] += tile_a[ty, i] * tile_b1[i, tx]\n"),
         ("= total0", "= totals[0]"), ("= total1", "= totals[1]")],
        ["2 reads from shared memory", "read the same word of `tile_a`"],
    ),
    "a from global memory": (
        [(FROM_A, "            from_a = a[row, start + i] if row < m and start + i < k else "
          "float32(0)\n")],
        ["`a`", "17 times", "source lines 20, 25", "the target is once"],
    ),
    "two passes over the tiles of a": (
        [(USED, USED + "        tile_a[ty, tx] = a[row, start + tx] if row < m and start + tx < k "
          "else float32(0)\n        cuda.syncthreads()\n")],
        ["`a`", "2 times", "the target is once"],
    ),
    "a loop that takes one more tile": (
        [(TURNS, "range(0, k + TILE, TILE)")], ["8 tiles along k in place of 7"],
    ),
    "a loop to n": ([(TURNS, "range(0, n, TILE)")], ["64 is n"]),
    "the last tile left out": ([(TURNS, "range(0, k - TILE, TILE)")], ["The last tile is missing"]),
    "only whole tiles": (
        [(TURNS, "range(0, k // TILE * TILE, TILE)")], ["The last tile is missing"],
    ),
    "the second total begins with the first": (
        [("    total1 = float32(0)\n", "    total1 = float32(1)\n")], ["second"],
    ),
    "the second total set at each tile": (
        [(LOADED, LOADED + "        total1 = float32(0)\n")],
        ["second", "Only the terms of the last tile"],
    ),
    "the second sum ends early": (
        [(TERM_1, "            if i < TILE - 1:\n    " + TERM_1)],
        ["second", "In every tile the last term is missing"],
    ),
    "the second tile read transposed": ([("tile_b1[i, tx]", "tile_b1[tx, i]")], ["second"]),
    "both tiles read transposed": (
        [("tile_b0[i, tx]", "tile_b0[tx, i]"), ("tile_b1[i, tx]", "tile_b1[tx, i]")],
        ["The tile of `b` is read transposed"],
    ),
    "a float64 total": ([("total1 = float32(0)", "total1 = 0.0")], ["works in float64"]),
    "tiles of 32": ([("TILE = 16", "TILE = 32")], ["blocks of 16×16", "your `TILE` is 32"]),
    "tiles of 8": ([("TILE = 16", "TILE = 8")], ["blocks of 16×16", "your `TILE` is 8"]),
    "a store at each tile": (
        [(STORE_1, ""), (USED, USED + "        if row < m and next_col < n:\n"
          "            c[row, next_col] = total1\n")],
        ["stores for an element"],
    ),
    "tx and ty exchanged": ([("tx, ty = ", "ty, tx = ")], ["sectors"]),
    "stored transposed": ([("c[row, next_col]", "c[next_col, row]")], ["c"]),
    "m and k exchanged": ([("(m, k), n", "(k, m), n")], ["m"]),
}  # fmt: skip

RIGHT = {
    "an array of totals": [
        ("    total0 = float32(0)\n    total1 = float32(0)\n",
         "    totals = cuda.local.array(2, float32)\n    for g in range(2):\n"
         "        totals[g] = float32(0)\n"),
        ("total0 +=", "totals[0] +="), ("total1 +=", "totals[1] +="),
        ("= total0", "= totals[0]"), ("= total1", "= totals[1]"),
    ],
    "an array of two tiles": [
        ("    " + ARRAY + "\n", ""),
        ("tile_b0 = cuda.shared.array((TILE, TILE)", "tiles = cuda.shared.array((2, TILE, TILE)"),
        ("tile_b0[", "tiles[0, "), ("tile_b1[", "tiles[1, "),
    ],
    "a wide array with longer rows": [
        ("    " + ARRAY + "\n", ""),
        ("tile_b0 = cuda.shared.array((TILE, TILE)", "tile_b0 = cuda.shared.array((TILE, 48)"),
        ("tile_b1[ty, tx]", "tile_b0[ty, tx + TILE]"),
        ("tile_b1[i, tx]", "tile_b0[i, tx + TILE]"),
    ],
    "loaded ahead into registers": [
        (LOAD_1, f"        of_b = b[start + ty, next_col] if {INSIDE_1} else float32(0)\n"
         "        tile_b1[ty, tx] = of_b\n"),
    ],
    "the sums in one line": [
        (TERM_0 + TERM_1, "            total0, total1 = total0 + from_a * tile_b0[i, tx], total1 + "
         "from_a * tile_b1[i, tx]\n"),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "loads in branches": [
        (LOAD_1, "        tile_b1[ty, tx] = float32(0)\n        if start + ty < k:\n"
         "            if next_col < n:\n"
         "                tile_b1[ty, tx] = b[start + ty, next_col]\n"),
    ],
    "the block of 32 columns": [(FIRST, "cuda.blockIdx.x * 32 + tx")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row, ", "out[row, "),
    ],
}  # fmt: skip

# Beyond the end of the sum a tile may hold anything finite, as long as the other holds zero.
EQUIVALENT = {
    f"{rule} in `tile_{name}[ty, tx] = {value} else float32(0)`"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for name, value in (
        ("a", f"a[row, start + tx] if {INSIDE_A}"),
        ("b0", f"b[start + ty, col] if {INSIDE_0}"),
        ("b1", f"b[start + ty, next_col] if {INSIDE_1}"),
    )
}

# The most important sentences; the others are read by the slow tests.
FIRST_READ = (
    "the second sum takes the first tile",
    "one test for both stores",
    "the word of a read twice",
)


def is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", FIRST_READ)
def test_a_usual_mistake_is_refused_with_its_cause(what):
    is_refused_with_its_cause(what)


@pytest.mark.slow
@pytest.mark.parametrize("what", [one for one in WRONG if one not in FIRST_READ])
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    is_refused_with_its_cause(what)


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what: kernel for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed.keys() == EQUIVALENT
    for kernel in passed.values():
        for shape in ((16, 16, 1), (15, 33, 31), (1, 50, 17), (47, 1, 18)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()
