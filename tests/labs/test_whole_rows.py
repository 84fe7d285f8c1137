"""The exercise `whole_rows`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "whole_rows"
ROOM = "rows = cuda.shared.array((4, 48), float32, alignment=16)"
STORE = (
    "        store4(rows, (down, across * 4), (mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3]))\n"
)
FILLED = "        cuda.syncwarp()  # all lanes have stored their part of four rows\n"
FREE = "        cuda.syncwarp()  # nobody needs these rows any more\n"
LOOP = "        for r in range(4):\n"
TEST = "            if row + r * 4 + i < c.shape[0] and col + lane < c.shape[1]:\n"
WRITE = "                c[row + r * 4 + i, col + lane] = rows[r, lane]\n"
BODY = f"    for i in range(4):\n{STORE}{FILLED}{LOOP}{TEST}{WRITE}{FREE}"
ALL = "(mine[i, 0], mine[i, 1], mine[i, 2], mine[i, 3])"
GUARD = "if y < c.shape[0] and z < c.shape[1]:"


def direct(store: str) -> str:
    return (
        "    for i in range(4):\n        for j in range(4):\n"
        "            y, z = row + down * 4 + i, col + across * 4 + j\n"
        f"            {GUARD}\n                {store}\n"
    )


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "nothing": ([(BODY, "")], ["reads its inputs", "no thread ever stores"]),
    "each lane its own quad": (
        [(BODY, direct("c[y, z] = mine[i, j]"))],
        ["The result is right", "16 sectors", "target is 4", "Lane 0 stores `c[0, 0]` and lane 1 "
         "`c[4, 0]`"],
    ),
    "four words at once": (
        [(BODY, "    for i in range(4):\n        y, z = row + down * 4 + i, col + across * 4\n"
          f"        {GUARD}\n            store4(c, (y, z), {ALL})\n")],
        ["`c` may have rows of any length", "takes no `store4`"],
    ),
    "rows of 32 words": (
        [(ROOM, ROOM.replace("48", "32"))],
        ["The result is right", "takes 8 wavefronts, and 4 would do", "Lanes 0 and 1", "32 apart",
         "bank 0"],
    ),
    "rows of 36 words": (
        [(ROOM, ROOM.replace("48", "36"))], ["wavefronts, and 4 would do", "meet in bank"],
    ),
    "rows of 33 words": (
        [(ROOM, ROOM.replace("48", "33"))], ["With 33 words in a row not every row begins there"],
    ),
    "rows of 64 words": (
        [(ROOM, ROOM.replace("48", "64"))], ["takes 8 wavefronts", "64 apart"],
    ),
    "words one by one": (
        [(STORE, "        for j in range(4):\n"
          "            rows[down, across * 4 + j] = mine[i, j]\n")],
        ["The result is right", "wavefronts, and 1 would do", "meet in bank"],
    ),
    "no barrier after the stores": (
        [(FILLED, "")], ["Nothing makes the lanes wait between", "need not keep step"],
    ),
    "no barrier at the end of a turn": (
        [(FREE, "")], ["Nothing makes the lanes wait after line", "next turn"],
    ),
    "no barrier": ([(FILLED, ""), (FREE, "")], ["Nothing makes the lanes wait"]),
    "a barrier that is not called": (
        [("cuda.syncwarp()  # all", "cuda.syncwarp  # all")], ["brackets are missing"],
    ),
    "both barriers at the end": (
        [(FILLED, ""), (FREE, FREE + FREE)], ["Nothing makes the lanes wait between"],
    ),
    "a barrier of those inside": (
        [(FREE, f"        if col + lane < c.shape[1]:\n    {FREE}")],
        ["stands in the branch `if col + lane < c.shape[1]`", "some lanes do not take"],
    ),
    "lanes beyond the edge leave": (
        [("    for i in range(4):\n        store4", "    if col + lane >= c.shape[1]:\n"
          "        return\n    for i in range(4):\n        store4")],
        ["leave at `return` in line 18"],
    ),
    "a local array": (
        [("cuda.shared", "cuda.local"), (", alignment=16", "")],
        ["A local array is no memory", "other lanes see nothing"],
    ),
    "no test": (
        [(TEST + WRITE, WRITE[4:])], ["hang over the edge, and no test stops"],
    ),
    "a test of the row alone": (
        [(" and col + lane < c.shape[1]", "")], ["your test lets this column pass"],
    ),
    "a test of the column alone": (
        [("row + r * 4 + i < c.shape[0] and ", "")], ["your test lets this row pass"],
    ),
    "a test of the own quad": (
        [(TEST, "            if row + down * 4 + i < c.shape[0] and col + across * 4 < c.shape[1]:"
          "\n")],
        ["your test lets this"],
    ),
    "<= for <": ([("<", "<=")], ["your test lets this"]),
    "four rows side by side": (
        [("row + r * 4 + i", "row + i * 4 + r")],
        ["`c[1, 0]`", "That is `x[4, 0]`", "The column is right", "Which row of the tile"],
    ),
    "the same four rows": (
        [("c[row + r * 4 + i,", "c[row + r * 4,")], ["rows 1, 2, 3, 5 …", "12 in all"],
    ),
    "without i": ([("row + r * 4 + i", "row + r")], ["rows 4, 5, 6, 7 …", "Which are they"]),
    "the last row of each quad": (
        [(ALL, ALL.replace("i,", "3,"))], ["That is `x[3, 0]`", "The column is right"],
    ),
    "three rows": ([(LOOP, LOOP.replace("4", "3"))], ["rows 12, 13, 14, 15", "4 in all"]),
    "three turns": (
        [("    for i in range(4):\n        store4", "    for i in range(3):\n        store4")],
        ["rows 3, 7, 11, 15"],
    ),
    "five turns": (
        [("    for i in range(4):\n        store4", "    for i in range(5):\n        store4")],
        ["a quad has rows and columns 0 to 3"],
    ),
    "eight rows of four": (
        [(LOOP, LOOP.replace("4", "8"))], ["The row is `r` there", "does `rows` hold at a time"],
    ),
    "the sizes exchanged": (
        [("< c.shape[0]", "< m"), ("< c.shape[1]", "< c.shape[0]"), ("< m", "< c.shape[1]")],
        ["compares the row, `row + r * 4 + i`, with `c.shape[1]`", "number of columns"],
    ),
    "the names of the sizes exchanged": (
        [(BODY, f"    n, m = c.shape\n{BODY}"), ("< c.shape[0]", "< m"), ("< c.shape[1]", "< n")],
        ["compares the row, `row + r * 4 + i`, with `m`", "number of columns"],
    ),
    "a row of the registers": (
        [(ALL, "mine[i]")], ["`store4` takes four numbers in brackets", "both its indices"],
    ),
    "the turn for the row of quads": (
        [("(down, across * 4), (mine", "(i, across * 4), (mine")],
        ["differ in `down`", "`rows[i, across * 4]` does not"],
    ),
    "without across": (
        [("(down, across * 4), (mine", "(down, 0), (mine")],
        ["differ in `across`", "`rows[down, 0]` does not"],
    ),
    "without row": (
        [("c[row + r * 4 + i,", "c[r * 4 + i,")], ["first tile is whole", "`row` and `col`"],
    ),
    "without col": (
        [("i, col + lane] =", "i, lane] =")], ["first tile is whole", "`row` and `col`"],
    ),
    "each lane reads its own part": (
        [(WRITE, WRITE.replace("rows[r, lane]", "rows[down, across * 4]"))],
        ["`c[0, 1]`"],
    ),
    "down and across exchanged": (
        [("(down, across * 4), (mine", "(across, down * 4), (mine")],
        ["`down` goes from 0 to 3 and `across` from 0 to 7"],
    ),
    "the number of the quad for its column": (
        [("(down, across * 4), (mine", "(down, across), (mine")],
        ["A row of 48 words does; the column in this line does not"],
    ),
    "rows by rows of 8": (
        [("(down, across * 4), (mine", "(lane // 8, lane % 8 * 4), (mine")],
        ["`c[0, 4]`", "belongs in row 4 and column 0"],
    ),
    "row and column exchanged": (
        [("= rows[r, lane]", "= rows[lane, r]")], ["The row is `lane` there"],
    ),
    "a reversed row": (
        [("= rows[r, lane]", "= rows[r, 31 - lane]")],
        ["`c[0, 0]`", "That is `x[0, 31]`", "The row is right", "Which column does this lane read"],
    ),
    "too few rows": ([(ROOM, ROOM.replace("(4,", "(3,"))], ["`down` goes from 0 to 3"]),
    "from x alone": (
        [(BODY, "    for i in range(16):\n"
          "        if row + i < c.shape[0] and col + lane < c.shape[1]:\n"
          "            c[row + i, col + lane] = x[row + i, col + lane]\n")],
        ["20 requests to load `x`", "in the registers of other lanes"],
    ),
    "stores at every turn": (
        [(WRITE, WRITE + WRITE)], ["The result is right", "2 stores for an element"],
    ),
    "half of the lanes": (
        [(LOOP + TEST + WRITE,
          "        for r in range(8):\n            q, z = r // 2, lane % 16 + r % 2 * 16\n"
          "            if lane < 16 and row + q * 4 + i < c.shape[0] and col + z < c.shape[1]:\n"
          "                c[row + q * 4 + i, col + z] = rows[q, z]\n")],
        ["only 16 of 32 lanes"],
    ),
    "a bracket too many": ([(ALL, ALL[1:-1])], ["store4 takes 3 arguments"]),
    "float64": (
        [("= rows[r, lane]", "= rows[r, lane] * 1.0")], ["works in float64"],
    ),
    "reads c": (
        [(WRITE, WRITE.replace("] = ", "] += "))], ["needs the value of `c` before"],
    ),
    "changes x": (
        [(WRITE, WRITE.replace("c[", "x["))], ["changes `x`, which is an input"],
    ),
}  # fmt: skip

RIGHT = {
    "a barrier of the block": [("cuda.syncwarp()", "cuda.syncthreads()")],
    "words one by one, rows of 33": [
        (ROOM, ROOM.replace("48", "33")),
        (STORE, "        for j in range(4):\n"
         "            rows[down, across * 4 + j] = mine[i, j]\n"),
    ],
    "rows of 80 words": [(ROOM, ROOM.replace("48", "80"))],
    "the whole tile at once": [
        (ROOM, ROOM.replace("(4, 48)", "(16, 36)")),
        (BODY, "    for i in range(4):\n        store4(rows, (down * 4 + i, across * 4), "
         f"{ALL})\n    cuda.syncwarp()\n    for r in range(16):\n"
         "        if row + r < c.shape[0] and col + lane < c.shape[1]:\n"
         "            c[row + r, col + lane] = rows[r, lane]\n"),
    ],
    "two buffers and one barrier": [
        (ROOM, ROOM.replace("(4, 48)", "(8, 48)")),
        ("(down, across * 4), (mine", "(i % 2 * 4 + down, across * 4), (mine"),
        ("rows[r, lane]", "rows[i % 2 * 4 + r, lane]"),
        (FREE, ""),
    ],
    "names for row and column": [
        (TEST + WRITE, "            y, z = row + r * 4 + i, col + lane\n"
         "            if y < c.shape[0] and z < c.shape[1]:\n"
         "                c[y, z] = rows[r, lane]\n"),
    ],
    "the column is tested once": [
        (LOOP + TEST + WRITE, "        if col + lane < c.shape[1]:\n"
         "            for r in range(4):\n"
         "                if row + r * 4 + i < c.shape[0]:\n"
         "                    c[row + r * 4 + i, col + lane] = rows[r, lane]\n"),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", ["rows of 32 words", "no barrier after the stores", "no test"])
def test_the_usual_mistakes_are_named(what):
    test_a_wrong_kernel_is_refused_with_its_cause(what)


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    """Left are alignments of the given lines, and lengths of arrays that nobody reaches."""
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert all("shared.array" in what or "local.array" in what for what in passed), passed


def test_the_starter_is_right_and_stores_16_sectors():
    (cause,) = check(NAME, EXERCISES[NAME].starter).causes
    assert "The result is right" in cause
    assert "16 sectors" in cause
