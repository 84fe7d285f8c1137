"""The exercise `independent_sums`: each wrong kernel is refused with words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of

NAME = "independent_sums"
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
FILLS = "        for g in range(4):\n            y, r"
INSIDE_A = "r < m and start + tx < k"
INSIDE_B = "start + y < k and col < n"
LOAD_A = f"            tile_a[y, tx] = a[r, start + tx] if {INSIDE_A} else float32(0)\n"
LOAD_B = f"            tile_b[y, tx] = b[start + y, col] if {INSIDE_B} else float32(0)\n"
FROM_B = "            from_b = tile_b[i, tx]\n"
SUMS = "            for g in range(4):\n                totals[g] +="
TERM = "totals[g] += tile_a[ty + 8 * g, i] * from_b"
STORES = "    for g in range(4):\n        if row"
INSIDE_C = "row + 8 * g < m and col < n"
TURNS = "range(0, k, TILE)"
ZERO = "    for g in range(4):\n        totals[g] = float32(0)\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "only a quarter of the tiles is filled": (
        [(FILLS, FILLS.replace("4", "1"))], ["32×8 threads", "must fill 4", "25%"],
    ),
    "half of the tiles is filled": ([(FILLS, FILLS.replace("4", "2"))], ["fill 4", "50%"]),
    "one row of the tile of b for each thread": (
        [(LOAD_B, LOAD_B.replace("tile_b[y, tx]", "tile_b[ty, tx]").replace("+ y", "+ ty"))],
        ["must fill 4", "some rows are filled twice"],
    ),
    "rows four apart": (
        [("8 * g", "4 * g")], ["must fill 4", "some rows are filled twice"],
    ),
    "rows one apart": ([("8 * g", "g")], ["must fill 4", "some rows are filled twice"]),
    "rows 32 apart": ([("8 * g", "32 * g")], ["tile_a[32, 0]", "goes on to 103"]),
    "stores four apart": (
        [("c[row + 8 * g, col]", "c[row + 4 * g, col]")], ["threads write the same rows"],
    ),
    "only one row stored": (
        [(STORES, STORES.replace("4", "1"))],
        ["writes 8", "row 8 is the first", "each thread writes 1", "the task says 4"],
    ),
    "only three rows stored": (
        [(STORES, STORES.replace("4", "3"))], ["each thread writes 3", "the task says 4"],
    ),
    "only three sums": (
        [(SUMS, SUMS.replace("4", "3"))], ["only the fourth", "nothing was added"],
    ),
    "one total for all rows": (
        [("totals[g] +=", "totals[0] +="), ("= totals[g]", "= totals[0]")],
        ["All rows of a thread are alike", "one total"],
    ),
    "all rows store the first sum": ([("= totals[g]", "= totals[0]")], ["belongs in the first"]),
    "the sums in the wrong order": ([("= totals[g]", "= totals[3 - g]")], ["exchanged"]),
    "all sums take the first row of a": (
        [("tile_a[ty + 8 * g, i]", "tile_a[ty, i]")], ["belongs in the first"],
    ),
    "the first row of a is loaded for all": (
        [("a[r, start", "a[row, start")], ["belongs in the first"],
    ),
    "the first row of b is loaded for all": (
        [("b[start + y,", "b[start + ty,")], ["tile of `b`", "one of its first 8 rows"],
    ),
    "rows of the tile of a exchanged": (
        [("tile_a[ty + 8 * g, i]", "tile_a[ty + 24 - 8 * g, i]")], ["exchanged"],
    ),
    "only the last row starts at 0": (
        [(ZERO, "    totals[3] = float32(0)\n")], ["totals[0]", "must begin at zero"],
    ),
    "the totals set at each tile": (
        [(LOADED, LOADED + ZERO.replace("    for", "        for").replace("    totals", "    "
          "    totals"))],
        ["Only the terms of the last tile"],
    ),
    "one test for all rows of c": (
        [(INSIDE_C, "row < m and col < n")], ["a later one", "no test stops it there"],
    ),
    "one test for all rows of a": (
        [(INSIDE_A, "row < m and start + tx < k")], ["a later one", "no test stops it there"],
    ),
    "the last row decides for all": (
        [(INSIDE_C, "row + 24 < m and col < n")], ["Row 32", "stops them all"],
    ),
    "the column not tested at the store": (
        [(INSIDE_C, "row + 8 * g < m")], ["`c[0, 35]`", "columns 35 to 63"],
    ),
    "the row of a not tested": (
        [(INSIDE_A, "start + tx < k")], ["a later one, 41", "no test stops it there"],
    ),
    "the end of the sum not tested for b": (
        [(INSIDE_B, "col < n")], ["The last tile reaches over the end of the sum"],
    ),
    "the first row of b tested for all": (
        [(INSIDE_B, "start + ty < k and col < n")],
        ["The last tile reaches over the end of the sum"],
    ),
    "the end of the sum not tested for a": (
        [(INSIDE_A, "r < m")], ["The last tile reaches over the end of the sum"],
    ),
    "no barrier after the loads": ([(LOADED, "")], ["may be read before it has been loaded"]),
    "no barrier after the sums": ([(USED, "")], ["replaces an element", "slow one still needs"]),
    "a barrier for each row": (
        [(LOAD_B, LOAD_B + "            cuda.syncthreads()\n"), (LOADED, "")],
        ["barriers per tile", "the target is 2"],
    ),
    "threads at the edge leave": (
        [("    totals = ", "    if row >= m or col >= n:\n        return\n    totals = ")],
        ["`return` in line", "should have loaded"],
    ),
    "the word of b read for each sum": (
        [(FROM_B, ""), ("* from_b", "* tile_b[i, tx]")],
        ["2 reads from shared memory", "1 of `tile_a`, 1 of `tile_b`", "the target is 1.25",
         "reads the same word of `tile_b`"],
    ),
    "the sums one after the other": (
        [(FROM_B + SUMS, "            for h in range(TILE):\n                totals[g] +="),
         ("        for i in range(TILE):\n", "        for g in range(4):\n"),
         ("tile_a[ty + 8 * g, i] * from_b", "tile_a[ty + 8 * g, h] * tile_b[h, tx]")],
        ["the same words of `tile_b` in each turn of the loop", "as the innermost one"],
    ),
    "sums before the whole tile is filled": (
        [(LOADED, ""), (USED, "            cuda.syncthreads()\n"),
         (LOAD_B, LOAD_B + "            cuda.syncthreads()\n"),
         ("        for i in range(TILE):\n" + FROM_B + SUMS,
          "            for i in range(TILE):\n                totals[g] +="),
         ("* from_b", "* tile_b[i, tx]")],
        ["two loops hold both lines", "not yet filled"],
    ),
    "the own row of the tile of b for all terms": (
        [("tile_b[i, tx]", "tile_b[ty, tx]")], ["one word of the tile of `b`", "its row is `ty`"],
    ),
    "the column of another thread": (
        [("tile_b[i, tx]", "tile_b[i, ty]")], ["from column `ty` of the thread"],
    ),
    "the first row is stored only with the last": (
        [(STORES + " + 8 * g < m and col < n:", "    for g in range(4):\n        "
          "if row + 8 * g + (24 if g == 0 else 0) < m and col < n:")],
        ["only the first", "lacks a row, number 32"],
    ),
    "b from global memory": (
        [(FROM_B, "            from_b = b[start + i, col] if start + i < k and col < n else "
          "float32(0)\n")],
        ["`b`", "times", "the target is once"],
    ),
    "the blocks of 32×32 threads": (
        [("cuda.blockIdx.y * TILE + ty", "cuda.blockIdx.y * 8 + ty")], ["A block covers 32 rows"],
    ),
    "every thread loads the whole column": (
        [(FILLS, "        for g in range(8):\n            y, r"), ("ty + 8 * g, row + 8 * g",
         "(ty + 8 * g) % TILE, row - ty + (ty + 8 * g) % TILE")],
        ["2 times", "the target is once"],
    ),
    "only whole tiles": (
        [(TURNS, "range(0, k // TILE * TILE, TILE)")], ["The last tile is missing"],
    ),
    "a loop that takes one more tile": (
        [(TURNS, "range(0, k + TILE, TILE)")], ["6 tiles along k in place of 5"],
    ),
    "a loop to m": ([(TURNS, "range(0, m, TILE)")], ["64 is m"]),
    "the tile of b read transposed": (
        [("tile_b[i, tx]", "tile_b[tx, i]")], ["The tile of `b` is read transposed"],
    ),
    "the tile of a read transposed": (
        [("tile_a[ty + 8 * g, i]", "tile_a[i, ty + 8 * g]")],
        ["The tile of `a` is read transposed"],
    ),
    "b stored and read transposed": (
        [("tile_b[y, tx]", "tile_b[tx, y]"), ("tile_b[i, tx]", "tile_b[tx, i]")],
        ["The result is right", "32 wavefronts"],
    ),
    "float64 totals": (
        [("(4, float32)", "(4, float64)"), ("cuda, float32", "cuda, float32, float64")],
        ["works in float64"],
    ),
    "three places for four sums": (
        [("local.array(4", "local.array(3")], ["totals[3]", "4 sums, number 0 to 3"],
    ),
    "no sums": (
        [(SUMS, SUMS.replace("4", "0"))], ["Every element is 0", "nothing was added"],
    ),
    "tiles of 16": ([("TILE = 32", "TILE = 16")], ["blocks of 32×8", "your `TILE` is 16"]),
    "tiles of 8 rows": (
        [("(TILE, TILE)", "(8, TILE)")], ["this array has 8"],
    ),
    "a store at each tile": (
        [(STORES, STORES.replace("    for", "        for").replace("        if", "            if")),
         ("            c[row + 8 * g, col] = totals[g]", "                c[row + 8 * g, col] = "
          "totals[g]")],
        ["stores for an element"],
    ),
    "tx and ty exchanged": ([("tx, ty = ", "ty, tx = ")], ["tile_a[32, 0]", "goes on to 55"]),
    "stored transposed": (
        [("c[row + 8 * g, col]", "c[col, row + 8 * g]")], ["exchanged where `c` is stored"],
    ),
    "m and k exchanged": ([("(m, k), n", "(k, m), n")], ["64 is m"]),
    "a shared array of totals": (
        [("cuda.local.array(4", "cuda.shared.array(4")],
        ["`totals` is a shared array", "add to the same sums"],
    ),
}  # fmt: skip

RIGHT = {
    "rows side by side": [
        ("y, r = ty + 8 * g, row + 8 * g", "y, r = 4 * ty + g, row + 3 * ty + g"),
        ("tile_a[ty + 8 * g, i]", "tile_a[4 * ty + g, i]"),
        ("row + 8 * g", "row + 3 * ty + g"),
    ],
    "filled in another order than computed": [
        ("y, r = ty + 8 * g, row + 8 * g", "y, r = 4 * ty + g, row + 3 * ty + g"),
    ],
    "four names": [
        ("    totals = cuda.local.array(4, float32)\n" + ZERO,
         "    t0 = t1 = t2 = t3 = float32(0)\n"),
        ("            for g in range(4):\n                " + TERM + "\n",
         "            t0 += tile_a[ty, i] * from_b\n"
         "            t1 += tile_a[ty + 8, i] * from_b\n"
         "            t2 += tile_a[ty + 16, i] * from_b\n"
         "            t3 += tile_a[ty + 24, i] * from_b\n"),
        (STORES, "    totals = cuda.local.array(4, float32)\n    totals[0], totals[1] = t0, t1\n"
         "    totals[2], totals[3] = t2, t3\n" + STORES),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "a loop by rows": [
        (FILLS, "        for g in range(0, 32, 8):\n            y, r"),
        ("ty + 8 * g, row + 8 * g", "ty + g, row + g"),
    ],
    "two loops for the tiles": [
        (LOAD_B, "        for g in range(4):\n            y = ty + 8 * g\n" + LOAD_B),
    ],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row + ", "out[row + "),
    ],
}  # fmt: skip

# Beyond the end of the sum a tile may hold anything finite, as long as the other holds zero.
EQUIVALENT = {
    f"{rule} in `{load.strip()}`"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for load in (LOAD_A, LOAD_B)
}
# A sum that is set to 0.0 is float32 in an array of float32; an array may be longer.
EQUIVALENT |= {
    "float64 in `totals[g] = float32(0)`",
    "constant_one_more in `totals = cuda.local.array(4, float32)`",
}

# The most important sentences; the others are read by the slow tests.
FIRST_READ = ("only one row stored", "one test for all rows of c")


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
        for shape in ((32, 32, 1), (15, 33, 31), (1, 50, 17), (47, 1, 18)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()
