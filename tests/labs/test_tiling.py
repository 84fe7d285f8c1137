"""The exercise `tiling`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of, written

NAME = "tiling"
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
ZERO_A = "        tile_a[ty, tx] = float32(0)\n"
ZERO_B = "        tile_b[ty, tx] = float32(0)\n"
INSIDE_A = "row < m and start + tx < k"
INSIDE_B = "start + ty < k and col < n"
LOAD_A = f"        if {INSIDE_A}:\n            tile_a[ty, tx] = a[row, start + tx]\n"
LOAD_B = f"        if {INSIDE_B}:\n            tile_b[ty, tx] = b[start + ty, col]\n"
TURNS = "range(0, k, TILE)"
TERM = "total += tile_a[ty, i] * tile_b[i, tx]"
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
TOTAL = "    total = float32(0)\n"
ARRAY_B = "tile_b = cuda.shared.array((TILE, TILE), float32)"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no barrier after the loads": (
        [(LOADED, "")],
        ["reads tile_a[0, 0]", "may be read before it has been loaded"],
    ),
    "no barrier after the sums": (
        [(USED, "")],
        ["writes tile_a[0, 0]", "replaces an element that a slow one still needs"],
    ),
    "no barrier at all": ([(LOADED, ""), (USED, "")], ["read before it has been loaded"]),
    "barriers that are not called": (
        [("cuda.syncthreads()", "cuda.syncthreads")],
        ["`cuda.syncthreads` in line 24", "does not call it", "brackets are missing"],
    ),
    "barriers of a warp": (
        [("cuda.syncthreads()", "cuda.syncwarp()")],
        ["`syncwarp` in line 24", "32 threads of a warp", "loaded by 8 warps"],
    ),
    "the first barrier before the loads": (
        [(LOADED, ""), (ZERO_A, LOADED + ZERO_A)],
        ["read before it has been loaded"],
    ),
    "barriers behind the loop": (
        [(LOADED, ""), (USED, ""), (STORE, f"    cuda.syncthreads()\n{STORE}")],
        ["read before it has been loaded"],
    ),
    "a barrier for threads with an element": (
        [(LOADED, f"        if row < m and col < n:\n    {LOADED}")],
        ["32 of the 256 live threads", "the branch `if row < m and col < n` of line 24"],
    ),
    "a barrier for threads that load": (
        [(LOAD_B, LOAD_B + "            cuda.syncthreads()\n"), (LOADED, "")],
        ["reach this barrier", f"the branch `if {INSIDE_B}`"],
    ),
    "a barrier for some threads": (
        [(USED, f"        if tx > 0:\n    {USED}")],
        ["240 of the 256", "the branch `if tx > 0`", "never come to it"],
    ),
    "threads at the edge leave": (
        [(TOTAL, f"    if row >= m or col >= n:\n        return\n{TOTAL}")],
        ["`return` in line 16", "no element of `c`", "should have loaded"],
    ),
    "a barrier at each term": (
        [(f"{TERM}\n", f"{TERM}\n            cuda.syncthreads()\n")],
        ["The result is right", "18 barriers per tile", "the target is 2"],
    ),
    "b stored transposed": (
        [("tile_b[ty, tx]", "tile_b[tx, ty]")],
        ["The tile of `b` is read transposed"],
    ),
    "b read transposed": (
        [("tile_b[i, tx]", "tile_b[tx, i]")],
        ["The tile of `b` is read transposed"],
    ),
    "b stored and read transposed": (
        [("tile_b[ty, tx]", "tile_b[tx, ty]"), ("tile_b[i, tx]", "tile_b[tx, i]")],
        ["The result is right", "8 wavefronts", "Lanes 0 and 2", "32 apart", "bank 0"],
    ),
    "a read transposed": (
        [("tile_a[ty, i]", "tile_a[i, ty]")],
        ["The tile of `a` is read transposed"],
    ),
    "both read transposed": (
        [("tile_a[ty, i]", "tile_a[i, ty]"), ("tile_b[i, tx]", "tile_b[tx, i]")],
        ["Both tiles are read transposed"],
    ),
    "tx for ty in the tile of a": (
        [("tile_a[ty, i]", "tile_a[tx, i]")],
        ["all rows are alike", "`a` is read with `tx` as its row"],
    ),
    "ty for tx in the tile of b": (
        [("tile_b[i, tx]", "tile_b[i, ty]")],
        ["all columns are alike", "`b` is read with `ty` as its column"],
    ),
    "tx and ty exchanged in the sum": (
        [(TERM, "total += tile_a[tx, i] * tile_b[i, ty]")],
        ["Each tile of `c` is transposed", "`tx` and `ty` are exchanged"],
    ),
    "tx and ty exchanged from the start": (
        [("tx, ty = ", "ty, tx = ")],
        ["The result is right", "80 words apart, a whole row", "16 sectors"],
    ),
    "a loaded down its columns": (
        [
            (LOAD_A, "        other = cuda.blockIdx.y * TILE + tx\n"
             "        if other < m and start + ty < k:\n"
             "            tile_a[tx, ty] = a[other, start + ty]\n"),
            (ZERO_A, "        tile_a[tx, ty] = float32(0)\n"),
        ],
        ["The result is right", "load `a` 80 words apart, a whole row", "the target is 4"],
    ),
    "ty for tx where a is loaded": (
        [("start + tx", "start + ty")],
        ["`a` is loaded with `ty` as its column"],
    ),
    "tx for ty where b is loaded": (
        [("start + ty", "start + tx")],
        ["`b` is loaded with `tx` as its row"],
    ),
    "the column of c where a is loaded": (
        [("start + tx < k", "col < k"), ("a[row, start + tx]", "a[row, col]")],
        ["the same tile of `a`", "at the column of the block"],
    ),
    "the row of c where b is loaded": (
        [("start + ty < k", "row < k"), ("b[start + ty, col]", "b[row, col]")],
        ["the same tile of `b`", "at the row of the block"],
    ),
    "the column for the row of a": (
        [("a[row, start", "a[col, start")],
        ["`a` is loaded with the number of the column in place of the row"],
    ),
    "the row for the column of b": (
        [("ty, col]", "ty, row]")],
        ["`b` is loaded with the number of the row in place of the column"],
    ),
    "the row of a without its block": (
        [("a[row, start", "a[ty, start")],
        ["Every block loads the rows of `a` that the first blocks need"],
    ),
    "the column of b without its block": (
        [("ty, col]", "ty, tx]")],
        ["Every block loads the columns of `b` that the first blocks need"],
    ),
    "a without the start": ([("start + tx", "tx")], ["first tile of `a` again"]),
    "b without the start": ([("start + ty", "ty")], ["first tile of `b` again"]),
    "both without the start": (
        [("start + tx", "tx"), ("start + ty", "ty")],
        ["first tile are in the sum, 5 times"],
    ),
    "the number of the tile for its start": (
        [(TURNS, "range((k + TILE - 1) // TILE)")],
        ["one term further, and not one tile further"],
    ),
    "a loop by 1": ([(TURNS, "range(0, k)")], ["one term further", "term 2 counts 3 times"]),
    "only whole tiles": (
        [(TURNS, "range(0, k // TILE * TILE, TILE)")],
        ["The last tile is missing", "k = 33 is 2 times 16 and 1 more"],
    ),
    "one tile too many": (
        [(TURNS, "range(0, (k // TILE + 1) * TILE, TILE)")],
        ["The result is right", "96 terms", "6 tiles in place of 5"],
    ),
    "one tile too few": (
        [(TURNS, "range(0, k - TILE, TILE)")],
        ["The last tile is missing", "one tile too early"],
    ),
    "the first tile left out": (
        [(TURNS, "range(TILE, k, TILE)")],
        ["The first tile is missing", "one tile too late"],
    ),
    "only the first tile": (
        [(TURNS, "range(0, TILE, TILE)")],
        ["Only the terms of the first tile"],
    ),
    "a loop to n": ([(TURNS, "range(0, n, TILE)")], ["from i = 48 on", "48 is n"]),
    "a loop to m": ([(TURNS, "range(0, m, TILE)")], ["from i = 32 on", "32 is m"]),
    "a loop for ever": (
        [(f"for start in {TURNS}:", "start = 0\n    while start < k:")],
        ["`while start < k`", "has not ended", "never ends"],
    ),
    "the end of the sum not tested for a": (
        [(INSIDE_A, "row < m")],
        ["`a[0, 33]`", "The last tile reaches over the end of the sum, k = 33", "33 to 47"],
    ),
    "the end of the sum not tested for b": (
        [(INSIDE_B, "col < n")],
        ["`b[33, 0]`", "The last tile reaches over the end of the sum"],
    ),
    "tx tested in place of the term": (
        [("and start + tx < k", "and tx < k")],
        ["The last tile reaches over the end of the sum", "looks at something else"],
    ),
    "the term of a tested with <=": (
        [("start + tx < k", "start + tx <= k")],
        ["`a[0, 33]`", "one too far: the last term is k - 1 = 32"],
    ),
    "the term of b tested with <=": (
        [("start + ty < k", "start + ty <= k")],
        ["`b[33, 0]`", "one too far"],
    ),
    "the term of a tested with n": ([("start + tx < k", "start + tx < n")], ["48 is n"]),
    "the term of b tested with m": ([("start + ty < k", "start + ty < m")], ["32 is m"]),
    "the last term taken for outside": (
        [("start + tx < k", "start + tx < k - 1")],
        ["lacks the term i = 79"],
    ),
    "the row of a not tested": (
        [(INSIDE_A, "start + tx < k")],
        ["`a[17, 0]`", "rows 17 to 31", "no test stops them"],
    ),
    "the last row of a taken for outside": (
        [(INSIDE_A, "row < m - 1 and start + tx < k")],
        ["Zero stands in row 31", "takes what `a` has there for outside"],
    ),
    "the last column of b taken for outside": (
        [(INSIDE_B, "start + ty < k and col < n - 1")],
        ["Zero stands in column 47", "takes what `b` has there for outside"],
    ),
    "the column of b not tested": (
        [(INSIDE_B, "start + ty < k")],
        ["`b[0, 50]`", "columns 50 to 63", "no test stops them"],
    ),
    "no zeros at all": (
        [(ZERO_A, ""), (ZERO_B, "")],
        ["terms 17 to 31 count twice", "the turn before has stored them"],
    ),
    "no zeros in the tile of a": ([(ZERO_A, "")], ["No thread stores anything in that part"]),
    "no zeros in the tile of b": ([(ZERO_B, "")], ["No thread stores anything in that part"]),
    "zeros in the tile of a once": (
        [(ZERO_A, ""), (TOTAL, TOTAL + ZERO_A[4:])],
        ["Infinity times 0 is NaN", "what the turn before has left"],
    ),
    "the total set at each tile": (
        [(LOADED, f"{LOADED}    {TOTAL}")],
        ["Only the terms of the last tile"],
    ),
    "the total set at each term": ([("total += ", "total = ")], ["only the last term"]),
    "the total starts at 1": ([("total = float32(0)", "total = float32(1)")], ["same number, 1"]),
    "terms taken away": ([("total +=", "total -=")], ["subtracted, and not added"]),
    "terms added": ([("i] * tile_b", "i] + tile_b")], ["not their product"]),
    "a float64 total": (
        [("total = float32(0)", "total = 0.0")],
        ["The result is right", "works in float64"],
    ),
    "a float64 tile": (
        [(ARRAY_B, ARRAY_B.replace("float32", "float64")),
         ("cuda, float32", "cuda, float32, float64")],
        ["The result is right", "works in float64"],
    ),
    "a tile of whole numbers": (
        [(ARRAY_B, ARRAY_B.replace("float32", "int32")),
         ("cuda, float32", "cuda, float32, int32")],
        ["an infinity each, and it is not in the result", "what float32 holds"],
    ),
    "local arrays": (
        [("cuda.shared.array", "cuda.local.array")],
        ["`tile_a` is a local array", "each thread has one of its own"],
    ),
    "tiles of 8": (
        [("TILE = 16", "TILE = 8")],
        ["This launch has blocks of 16×16 threads, and your `TILE` is 8"],
    ),
    "tiles of 32": (
        [("TILE = 16", "TILE = 32")],
        ["This launch has blocks of 16×16 threads, and your `TILE` is 32"],
    ),
    "an array of 15 columns": (
        [(ARRAY_B, "tile_b = cuda.shared.array((TILE, LESS), float32)"),
         ("TILE = 16", "TILE = 16\nLESS = 15")],
        ["this array has 15"],
    ),
    "a computed size": (
        [(ARRAY_B, "tile_b = cuda.shared.array((TILE, TILE + 1), float32)")],
        ["must be known before the kernel runs", "names of constants"],
    ),
    "b from global memory": (
        [(TERM, "if start + i < k and col < n:\n"
          "                total += tile_a[ty, i] * b[start + i, col]")],
        ["The result is right", "every element of `b`", "16 times", "is not used"],
    ),
    "no tiles": (
        [(ZERO_A, ""), (ZERO_B, ""), (LOAD_A, ""), (LOAD_B, ""), (LOADED, ""), (USED, ""),
         (TERM, "if row < m and start + i < k and col < n:\n"
          "                total += a[row, start + i] * b[start + i, col]")],
        ["The result is right", "16 times", "a load for each multiply-add"],
    ),
    "every thread loads a row": (
        [(ZERO_A, ""), (LOAD_A, "        for j in range(TILE):\n            tile_a[ty, j] = "
          "a[row, start + j] if row < m and start + j < k else float32(0)\n")],
        ["The result is right", "16 times", "load what others of them load"],
    ),
    "one thread loads a row": (
        [(ZERO_A, ""), (LOAD_A, "        if tx == 0:\n            for j in range(TILE):\n"
          "                tile_a[ty, j] = "
          "a[row, start + j] if row < m and start + j < k else float32(0)\n")],
        ["The result is right", "only 2 of 32 lanes work"],
    ),
    "one tile for both": ([("tile_b[", "tile_a[")], ["nothing of `a` is in the result"]),
    "nobody fills the tile of b": (
        [(ZERO_B, ""), (LOAD_B, "")],
        ["No line of your kernel stores into `tile_b`"],
    ),
    "the sum ends one too early": (
        [("range(TILE)", "range(TILE - 1)")],
        ["In every tile the last term is missing: i = 15, 31, 47 …"],
    ),
    "the sum starts at 1": (
        [("range(TILE)", "range(1, TILE)")],
        ["In every tile the first term is missing: i = 0, 16, 32 …"],
    ),
    "the sum takes one more": ([("range(TILE)", "range(TILE + 1)")], ["0 to 15", "one more"]),
    "the sum goes to k": (
        [("range(TILE)", "range(k)")],
        ["tile_a[0, 16]", "goes on to 79"],
    ),
    "each term twice": ([("tile_b[i, tx]\n", "(tile_b[i, tx] + tile_b[i, tx])\n")], ["2 times"]),
    "no store": ([(STORE, "    total += total\n")], ["no thread ever stores into `c`"]),
    "the store not tested": (
        [(STORE, "    c[row, col] = total\n")],
        ["`c[17, 0]`", "no test stops them"],
    ),
    "the store tests rows alone": (
        [(STORE, STORE.replace(" and col < n", ""))],
        ["`c[0, 50]`", "columns 50 to 63"],
    ),
    "the store tested with <=": (
        [(STORE, STORE.replace("<", "<="))],
        ["one too far: the last row is 16"],
    ),
    "the store tested with k": (
        [(STORE, STORE.replace("col < n", "col < k"))],
        ["columns end at 33", "That is k"],
    ),
    "a store at each tile": (
        [(STORE, "        if row < m and col < n:\n            c[row, col] = total\n")],
        ["The result is right", "7,680 times for 1,536 elements of `c`. That is 5 stores"],
    ),
    "a store at each tile and one behind": (
        [(STORE, f"        if row < m and col < n:\n            c[row, col] = total\n{STORE}")],
        ["7,680 times", "other lines store 1,536 times. That is 6 stores for an element"],
    ),
    "an array copied": (
        [(LOAD_A, "        tile_a[:] = a[row:row + TILE, start:start + TILE]\n")],
        ["a copy to tile_a[:]", "a kernel has none: a thread stores one element"],
    ),
    "a product of NumPy's": (
        [(TERM, "total += np.dot(tile_a[ty], tile_b[:, tx])"),
         ("from numba import", "import numpy as np\nfrom numba import")],
        ["np.dot()", "a kernel computes element by element"],
    ),
    "a product of matrices": (
        [(TERM, "total += tile_a[ty] @ tile_b[:, tx]")],
        ["MatMult", "a kernel computes element by element"],
    ),
    "a name that is not defined": (
        [("tile_b[i, tx]", "tileb[i, tx]")], ["the name tileb is not defined."]
    ),
    "stored transposed": ([("c[row, col]", "c[col, row]")], ["exchanged where `c` is stored"]),
    "adds up in c": ([("c[row, col] =", "c[row, col] +=")], ["before anything was stored"]),
    "stored in the first block": (
        [("c[row, col]", "c[ty, tx]"), ("if row < m and col < n", "if ty < m and tx < n")],
        ["Only rows 0 to 15 are written"],
    ),
    "rows of the first blocks": (
        [("cuda.blockIdx.y * TILE + ty", "ty")],
        ["Only rows 0 to 15", "The number of the block is missing"],
    ),
    "columns of the first blocks": (
        [("cuda.blockIdx.x * TILE + tx", "tx")],
        ["Only columns 0 to 15", "The number of the block is missing"],
    ),
    "x and y of the block exchanged": (
        [("blockIdx.y * TILE + ty", "blockIdx.x * TILE + ty"),
         ("cuda.blockIdx.x * TILE + tx", "cuda.blockIdx.y * TILE + tx")],
        ["`blockIdx.x` counts rows and `blockIdx.y` columns"],
    ),
    "blocks two tiles apart": (
        [("blockIdx.x * TILE", "blockIdx.x * 32")],
        ["columns 0 to 15 are written, then those from 32 on"],
    ),
    "m and k exchanged": ([("(m, k), n", "(k, m), n")], ["32 is m"]),
    "n taken from a": ([("b.shape[1]", "a.shape[1]")], ["columns end at 33", "That is k"]),
}  # fmt: skip

RIGHT = {
    "a value or zero": [
        (ZERO_A + LOAD_A, f"        tile_a[ty, tx] = a[row, start + tx] if {INSIDE_A} "
         "else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        tile_b[ty, tx] = b[start + ty, col] if {INSIDE_B} "
         "else float32(0)\n"),
    ],
    "zero otherwise": [
        (ZERO_A, ""),
        (LOAD_A, f"{LOAD_A}        else:\n            tile_a[ty, tx] = float32(0)\n"),
    ],
    "numbers of tiles": [
        (TURNS, "range((k + TILE - 1) // TILE)"),
        ("start + tx", "start * TILE + tx"),
        ("start + ty", "start * TILE + ty"),
    ],
    "a while loop": [
        (f"for start in {TURNS}:", "start = 0\n    while start < k:"),
        (USED, f"{USED}        start += TILE\n"),
    ],
    "sums that end with k, and no zeros": [
        (ZERO_A, ""), (ZERO_B, ""), ("range(TILE)", "range(min(TILE, k - start))"),
    ],
    "rows outside are not filled": [
        (ZERO_A + LOAD_A, "        if row < m:\n            tile_a[ty, tx] = a[row, start + tx] "
         "if start + tx < k else float32(0)\n"),
    ],
    "loaded ahead into registers": [
        (ZERO_A + LOAD_A, f"        of_a = a[row, start + tx] if {INSIDE_A} else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        of_b = b[start + ty, col] if {INSIDE_B} else float32(0)\n"
         "        cuda.syncthreads()\n"
         "        tile_a[ty, tx], tile_b[ty, tx] = of_a, of_b\n"),
        (USED, ""),
    ],
    "a padded tile": [
        (ARRAY_B, ARRAY_B.replace("(TILE, TILE)", "(TILE, WIDE)")),
        ("TILE = 16", "TILE = 16\nWIDE = 48"),
    ],
    "backwards": [(TURNS, "range((k - 1) // TILE * TILE, -1, -TILE)")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row, col]", "out[row, col]"),
    ],
}  # fmt: skip

# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero.
EQUIVALENT = {
    f"{rule} in `tile_{name}[ty, tx] = float32(0)`"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for name in "ab"
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    patience = 1 if "for ever" in what else 20
    (cause,) = check(NAME, changed(NAME, *changes), patience).causes
    assert [word for word in words if word not in cause] == [], cause


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


def test_the_starter_is_the_solution_up_to_the_gap():
    starter, solution = EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
    given = starter[starter.index("from numba") : starter.index("    # About")]
    assert given in solution


def test_two_tiles_in_turns_with_one_barrier_each_are_right_as_well():
    body = """\
    (m, k), n = a.shape, b.shape[1]
    of_a = cuda.shared.array((2, 16, 16), float32)
    of_b = cuda.shared.array((2, 16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = float32(0)
    turn = 0
    for start in range(0, k, 16):
        of_a[turn, ty, tx] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        of_b[turn, ty, tx] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        for i in range(16):
            total += of_a[turn, ty, i] * of_b[turn, i, tx]
        turn = 1 - turn
    if row < m and col < n:
        c[row, col] = total
"""
    verdict = check(NAME, written(NAME, body))
    assert verdict.passed, str(verdict)
    assert verdict.counts["barriers per tile"] == 1


def test_no_warning_of_numbas_stands_above_the_answer(recwarn):
    product = (TERM, "total += np.dot(tile_a[ty], tile_b[:, tx])")
    check(NAME, changed(NAME, product, ("from numba", "import numpy as np\nfrom numba")))
    assert [str(one.message) for one in recwarn if "np.dot" in str(one.message)] == []
