"""The exercise `eight_rows`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of

NAME = "eight_rows"
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
INSIDE_B = "start + z < k and col + j < n"
LOAD_B = f"            sb[z, j] = b[start + z, col + j] if {INSIDE_B} else float32(0)\n"
WALK_B = "        for e in range(t, BK * BN, THREADS):\n            z, j = e // BN, e % BN\n"
PLACE = "y, x = t // BN * TM, t % BN"
SET = "    for i in range(TM):\n        sums[i] = float32(0)\n"
TURNS = "range(0, k, BK)"
READ = "            from_b = sb[z, x]  # one read, for TM multiply-adds\n"
INNER = "            for i in range(TM):\n                sums[i] += sa[y + i, z] * from_b\n"
TERM = "sums[i] += sa[y + i, z] * from_b"
TEST = "if row + y + i < m and col + x < n"
STORE = "            c[row + y + i, col + x] = sums[i]\n"
STORES = f"    for i in range(TM):\n        {TEST}:\n{STORE}"

FROM_B = "b[start + z, col + x] if start + z < k and col + x < n else float32(0)"


def deeper(text):
    """The same lines one level further in."""
    return "".join(f"    {line}\n" for line in text.splitlines())


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "no barrier after the loads": ([(LOADED, "")], ["may be read before it has been loaded"]),
    "no barrier after the sums": ([(USED, "")], ["replaces an element that a slow one"]),
    "no barrier at all": ([(LOADED, ""), (USED, "")], ["before it has been loaded"]),
    "barriers that are not called": (
        [("cuda.syncthreads()", "cuda.syncthreads")],
        ["does not call it", "brackets are missing"],
    ),
    "barriers of a warp": ([("syncthreads()", "syncwarp()")], ["loaded by 8 warps"]),
    "threads at the edge leave": (
        [(SET, f"    if row + y >= m or col + x >= n:\n        return\n{SET}")],
        ["`return` in line", "should have loaded"],
    ),
    "a barrier for some threads": (
        [(LOADED, f"        if col + x < n:\n    {LOADED}")],
        ["stands in the branch `if col + x < n`"],
    ),
    "a barrier at each term": (
        [(INNER, f"{INNER}            cuda.syncthreads()\n")],
        ["18 barriers for every 16 terms", "the target is 2"],
    ),
    "the tile of b walked as that of a": (
        [("z, j = e // BN, e % BN", "z, j = e // BK, e % BK")],
        ["`sb` has 16 rows of 64", "counted in rows of 16", "the tile of `a`"],
    ),
    "the tile of a walked as that of b": (
        [("i, z = e // BK, e % BK", "i, z = e // BN, e % BN")],
        ["counted in rows of 64", "the tile of `b`"],
    ),
    "row and column of the walk exchanged": (
        [("z, j = e // BN, e % BN", "j, z = e // BN, e % BN")],
        ["Element 16", "row 0 and column 16", "exchanged"],
    ),
    "as many words of b as of a": (
        [("range(t, BK * BN, THREADS)", "range(t, BM * BK, THREADS)")],
        ["first 512 elements of `sb`", "how many the tile of `a` has"],
    ),
    "one word of b for each thread": (
        [(WALK_B, WALK_B.replace("BK * BN", "THREADS"))],
        ["first 256 elements of `sb`", "it has 1,024"],
    ),
    "a walk in steps of a row": (
        [("range(t, BK * BN, THREADS)", "range(t, BK * BN, BN)")],
        ["every element of `b`", "the target is once"],
    ),
    "every thread loads all of b's tile": (
        [("range(t, BK * BN, THREADS)", "range(BK * BN)")],
        ["far more turns than the task needs"],
    ),
    "threads one row apart": ([(PLACE, "y, x = t // BN, t % BN")], ["rows 0 to 10", "overlap"]),
    "t counts down the columns": (
        [(PLACE, "y, x = t % (BM // TM) * TM, t // (BM // TM)")],
        ["wavefront"],
    ),
    "x and y exchanged": (
        [(PLACE, "x, y = t // BN * TM, t % BN")],
        ["`sa` has 32 rows", "goes on to 70"],
    ),
    "sums that are not set": ([(SET, "")], ["`sums` is added to before anything is stored in it"]),
    "sums set at each tile": (
        [(LOADED, LOADED + deeper(SET))],
        ["Only the terms of the last tile"],
    ),
    "sums set at each term": (
        [(TERM, TERM.replace("+=", "="))],
        ["only the last term"],
    ),
    "one sum": (
        [
            (SET, "    total = float32(0)\n"),
            (TERM, "total += sa[y + i, z] * from_b"),
            ("= sums[i]\n", "= total\n"),
        ],
        ["its 8 rows share one sum"],
    ),
    "b read for each multiply-add": (
        [(READ, ""), ("* from_b", "* sb[z, x]")],
        ["costs 2 words", "1 of `sb`", "the target is 1.125"],
    ),
    "b read once for a tile": (
        [
            (READ, ""),
            (
                "        for z in range(BK):\n",
                "        from_b = sb[0, x]\n        for z in range(BK):\n",
            ),
        ],
        ["first row of `b`", "not read again for each term"],
    ),
    "the same row of a for all sums": (
        [("sa[y + i, z]", "sa[y, z]")],
        ["Rows 0 to 7", "its row 0", "its own row of `a`"],
    ),
    "rows of the first thread": (
        [("sa[y + i, z]", "sa[i, z]")],
        ["Rows 0 to 7 are right", "from 8 on"],
    ),
    "a's tile read transposed": ([("sa[y + i, z]", "sa[z, y + i]")], ["exchanged"]),
    "b's tile read transposed": ([("sb[z, x]", "sb[x, z]")], ["exchanged"]),
    "no tile of b": (
        [(WALK_B + LOAD_B, ""), (READ, f"            from_b = {FROM_B}\n")],
        ["every element of `b`", "4 times"],
    ),
    "row for column of b": (
        [("col + j", "row + j")],
        ["columns of `b`", "from the row of the block"],
    ),
    "b without its block": (
        [("b[start + z, col + j]", "b[start + z, j]")],
        ["columns of `b`", "first blocks"],
    ),
    "b without the start": ([("b[start + z, col", "b[z, col")], ["first tile of `b` again"]),
    "a without the start": (
        [("a[row + i, start + z]", "a[row + i, z]")],
        ["first tile of `a` again"],
    ),
    "a without its block": ([("a[row + i, start", "a[i, start")], ["rows of `a`", "first blocks"]),
    "the end of the sum not tested": (
        [(INSIDE_B, "col + j < n")],
        ["over the end of the sum, k = 33"],
    ),
    "the end of the sum tested with <=": (
        [("start + z < k and col", "start + z <= k and col")],
        ["one too far"],
    ),
    "the column of b not tested": (
        [(INSIDE_B, "start + z < k")],
        ["columns 130 to 191", "no test stops"],
    ),
    "no zeros in b's tile": (
        [
            (
                LOAD_B,
                f"            if {INSIDE_B}:\n                sb[z, j] = b[start + z, col + j]\n",
            )
        ],
        ["No thread stores anything in that part of it"],
    ),
    "no store": ([(STORES, "")], ["no thread ever stores into `c`"]),
    "one of eight stored": (
        [(STORES, "    if row + y < m and col + x < n:\n        c[row + y, col + x] = sums[0]\n")],
        ["Only every 8th row is written", "one of its 8 sums"],
    ),
    "all stored in one row": (
        [("c[row + y + i, col + x]", "c[row + y, col + x]")],
        ["all of its sums into the same row"],
    ),
    "stored without y": (
        [("c[row + y + i, col + x]", "c[row + i, col + x]")],
        ["rows 0 to 7", "first row of a thread", "missing where it stores"],
    ),
    "the first sum in all rows": ([("= sums[i]\n", "= sums[0]\n")], ["alike"]),
    "the store not tested": ([(f"        {TEST}:\n{STORE}", STORE[4:])], ["no test stops them"]),
    "the first row decides": (
        [(TEST, "if row + y < m and col + x < n")],
        ["rows 33 to 39", "only for the first of the 8 rows"],
    ),
    "the first row decides, before the loop": (
        [
            (
                STORES,
                f"    if row + y < m and col + x < n:\n        for i in range(TM):\n{STORE}",
            )
        ],
        ["first row, 32, is inside", "lets all of them pass"],
    ),
    "the first row decides, by a return": (
        [
            (
                STORES,
                f"    if row + y >= m or col + x >= n:\n        return\n"
                f"    for i in range(TM):\n{STORE[4:]}",
            )
        ],
        ["first row, 32, is inside", "lets all of them pass"],
    ),
    "the last row decides": (
        [(TEST, "if row + y + TM <= m and col + x < n")],
        ["Row 32 belongs to a thread", "stops them all"],
    ),
    "the store tests rows alone": ([(TEST, "if row + y + i < m")], ["columns 130 to 191"]),
    "a store at each tile": (
        [(STORES, deeper(STORES))],
        ["6 stores"],
    ),
    "adds up in c": ([("col + x] = sums", "col + x] += sums")], ["before anything was stored"]),
    "float64 sums": (
        [("cuda.local.array(TM, float32)", "cuda.local.array(TM, 'float64')")],
        ["works in float64"],
    ),
    "only whole tiles": (
        [(TURNS, "range(0, k // BK * BK, BK)")],
        ["The last tile is missing", "k = 33"],
    ),
    "a loop to n": ([(TURNS, "range(0, n, BK)")], ["from i = 32 on", "32 is n"]),
    "one tile too many": (
        [(TURNS, "range(0, k + BK, BK)")],
        ["The result is right", "makes 1.17", "behind k = 96"],
    ),
    "a loop to m": ([(TURNS, "range(0, m, BK)")], ["from i = 64 on", "64 is m"]),
    "one tile too few": ([(TURNS, "range(0, k - BK, BK)")], ["one tile too early"]),
    "a loop by 1": ([(TURNS, "range(0, k)")], ["far more turns than the task needs"]),
    "only the first tile": ([(TURNS, "range(0, BK, BK)")], ["Only the terms of the first tile"]),
    "the sum ends early": ([("range(BK)", "range(BK - 1)")], ["the last term is missing"]),
    "the sum takes one more": ([("range(BK)", "range(BK + 1)")], ["one more"]),
    "seven rows": (
        [
            (
                "for i in range(TM):\n                sums",
                "for i in range(TM - 1):\n                sums",
            )
        ],
        ["row 7"],
    ),
    "four rows": (
        [("BK, TM = 32, 64, 16, 8", "BK, TM = 32, 64, 16, 4")],
        ["`TM` is 4", "256 threads"],
    ),
    "another block": (
        [("BM, BN, BK, TM = 32, 64", "BM, BN, BK, TM = 64, 32")],
        ["`BM` is 64", "32×64"],
    ),
    "local tiles": (
        [("cuda.shared.array", "cuda.local.array")],
        ["each thread has one of its own"],
    ),
    "a loop for ever": (
        [(f"    for start in {TURNS}:", "    start = 0\n    while start < k:")],
        ["has not ended"],
    ),
    "terms added": ([("z] * from_b", "z] + from_b")], ["not their product"]),
}

# A zero in float64 is stored as float32; and what lies outside may be anything in one of the tiles,
# as long as it is zero in the other.
LOAD_A = "sa[i, z] = a[row + i, start + z] if row + i < m and start + z < k else float32(0)"
EQUIVALENT = {
    "float64 in `sums[i] = float32(0)`",
    *(
        f"{rule} in `{place.strip()}`"
        for rule in ("float64", "constant_one_more", "constant_one_less")
        for place in (LOAD_A, LOAD_B)
    ),
}

# The source's own mistake, what the exercise is about, and the most natural mistake.
FAST = {
    "the tile of b walked as that of a",
    "b read for each multiply-add",
    "the first row decides, by a return",
}

RIGHT = {
    "rows of a thread four apart": [
        (PLACE, "y, x = t // BN, t % BN"),
        ("sa[y + i, z]", "sa[y + 4 * i, z]"),
        ("row + y + i", "row + y + 4 * i"),
    ],
    "the walk as a number of loads": [
        (WALK_B, "        for load in range(4):\n            e = t + load * THREADS\n"
         "            z, j = e // BN, e % BN\n"),
    ],
    "the walk by rows": [
        (WALK_B + LOAD_B, "        for z in range(t // BN, BK, THREADS // BN):\n"
         "            sb[z, x] = b[start + z, col + x] if start + z < k and col + x < n "
         "else float32(0)\n"),
    ],
    "a's column in registers, too": [
        (SET, SET + "    from_a = cuda.local.array(TM, float32)\n"),
        (INNER, "            for i in range(TM):\n                from_a[i] = sa[y + i, z]\n"
         "            for i in range(TM):\n                sums[i] += from_a[i] * from_b\n"),
    ],
    "tiles of 32 terms": [("BK, TM = 32, 64, 16, 8", "BK, TM = 32, 64, 32, 8")],
    "a while loop": [
        (f"    for start in {TURNS}:", "    start = 0\n    while start < k:"),
        (USED, f"{USED}        start += BK\n"),
    ],
    "backwards": [(TURNS, "range((k - 1) // BK * BK, -1, -BK)")],
    "other names": [
        ("(a, b, c)", "(left, right, out)"), ("a.shape, b.shape", "left.shape, right.shape"),
        ("= a[", "= left["), ("= b[", "= right["), ("c[row", "out[row"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "what", [pytest.param(one, marks=() if one in FAST else pytest.mark.slow) for one in WRONG]
)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    patience = 1 if "for ever" in what else 20
    (cause,) = check(NAME, changed(NAME, *changes), patience).causes
    assert [word for word in words if word not in cause] == [], cause


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
        for shape in ((32, 64, 1), (31, 65, 31), (1, 50, 17), (47, 1, 18)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()


def test_the_starter_is_the_solution_up_to_the_gaps():
    starter, solution = EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
    given = starter[starter.index("from numba") :].splitlines()
    assert [line for line in given if "# Here:" not in line and line not in solution] == []
