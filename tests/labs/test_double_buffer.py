"""The exercise `double_buffer`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "double_buffer"
START = "start, side = uint32(0), uint32(0)"
FIRST_A = "    tile_a[side, ty, tx] = a[row, tx] if row < m and tx < k else float32(0)\n"
FIRST_B = "    tile_b[side, ty, tx] = b[ty, col] if ty < k and col < n else float32(0)\n"
FIRST = FIRST_A + FIRST_B
LOADED = "    cuda.syncthreads()\n    while"
TURNS = "while start < k:\n"
NEXT = "        start = uint32(start + TILE)\n"
NEXT_A = "        next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)\n"
NEXT_B = "        next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)\n"
SUMS = (
    "        for i in range(TILE):\n"
    "            total += tile_a[side, ty, i] * tile_b[side, i, tx]\n"
)
FLIP = "        side ^= uint32(1)\n"
PUT_A = "        tile_a[side, ty, tx] = next_a\n"
PUT_B = "        tile_b[side, ty, tx] = next_b\n"
PUT = PUT_A + PUT_B
BARRIER = "        cuda.syncthreads()\n"
END = PUT + BARRIER
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
COMMENT = "        # The other side was last read before the barrier of the turn before.\n"
FROM_HERE = (
    "        # From here the next tile is under way. Behind the last one there are only zeros.\n"
)
VALUE_A, VALUE_B = (line.split(" = ")[1].strip() for line in (NEXT_A, NEXT_B))
AT_ONCE_A = NEXT_A.replace("next_a", "tile_a[side ^ uint32(1), ty, tx]")
AT_ONCE_B = NEXT_B.replace("next_b", "tile_b[side ^ uint32(1), ty, tx]")
ONE_SIDE = [
    ("(2, TILE, TILE)", "(TILE, TILE)"), ("tile_a[side, ", "tile_a["), ("tile_b[side, ", "tile_b["),
]  # fmt: skip

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "as it was given": (None, ["The result is right", "10 barriers (source lines 20, 23)",
         "`tile_a` has room for one tile"]),
    "one buffer, one barrier": (
        ONE_SIDE,
        ["writes tile_a[0, 0]", "the one tile that is in `tile_a`", "line 27 reads in the same"],
    ),
    "one buffer, two barriers": (
        [*ONE_SIDE, (COMMENT, BARRIER)],
        ["The result is right", "11 barriers (source lines 20, 28, 32)", "the target is 6",
         "another one before the next tile is stored in its place"],
    ),
    "the side does not change": (
        [(FLIP, "")],
        ["stores the next tile into side 0 of `tile_a`", "line 27 reads in the same turn"],
    ),
    "the side changes behind the stores": (
        [(FLIP, ""), (BARRIER, BARRIER + FLIP)],
        ["stores the next tile into side 0", "No barrier stands between"],
    ),
    "the side changes before the sums": (
        [(FLIP, ""), (SUMS, FLIP + SUMS)],
        ["only side 0 of `tile_a` holds a tile", "reads side 1"],
    ),
    "the sums read the other side": (
        [("tile_a[side, ty, i]", "tile_a[1 - side, ty, i]"),
         ("tile_b[side, i, tx]", "tile_b[1 - side, i, tx]")],
        ["only side 0 of `tile_a` holds a tile", "reads side 1"],
    ),
    "the sums read the other side of b": (
        [("tile_b[side, i, tx]", "tile_b[1 - side, i, tx]")],
        ["only side 0 of `tile_b` holds a tile", "reads side 1"],
    ),
    "a always in side 0": (
        [("tile_a[side, ", "tile_a[0, ")],
        ["stores the next tile into side 0 of `tile_a`", "in the same turn"],
    ),
    "b always stored into side 0": (
        [(PUT_B, PUT_B.replace("side", "0"))],
        ["stores the next tile into side 0 of `tile_b`", "in the same turn"],
    ),
    "always read side 0, always fill side 1": (
        [(FLIP, ""), (PUT_A, PUT_A.replace("side", "1")), (PUT_B, PUT_B.replace("side", "1"))],
        ["first tile are in the sum, 5 times", "every turn reads the same side"],
    ),
    "a third side": (
        [(FLIP, "        side += uint32(1)\n")],
        ["The first index of `tile_a` is the side", "has 2 of them", "the index is 2"],
    ),
    "no first tile": (
        [(FIRST, "")],
        ["Nobody has stored a tile into `tile_a` before this line first reads it"],
    ),
    "no first tile of b": (
        [(FIRST_B, "")],
        ["Nobody has stored a tile into `tile_b` before this line first reads it"],
    ),
    "the first tile in side 1": (
        [(FIRST, FIRST.replace("side", "1"))],
        ["only side 1 of `tile_a` holds a tile", "reads side 0"],
    ),
    "no barrier before the loop": (
        [(LOADED, "    while")],
        ["reads tile_a[0, 0, 0]", "between line 18, which fills the tile", "before it has been"],
    ),
    "no barrier in the loop": (
        [(END, PUT)],
        ["between line 30, which fills the tile", "before it has been loaded"],
    ),
    "no barrier at all": (
        [(END, PUT), (LOADED, "    while")],
        ["between line 18, which fills the tile"],
    ),
    "the barrier before the stores": (
        [(END, BARRIER + PUT)],
        ["between line 31, which fills the tile", "before it has been loaded"],
    ),
    "a barrier for threads with an element": (
        [(END, PUT + "        if row < m and col < n:\n    " + BARRIER)],
        ["32 of the 256 live threads", "the branch `if row < m and col < n`"],
    ),
    "a barrier for threads that load": (
        [(END, PUT + "        if start + tx < k:\n    " + BARRIER)],
        ["reach this barrier", "the branch `if start + tx < k`"],
    ),
    "two barriers in a turn": (
        [(SUMS, SUMS + BARRIER)],
        ["The result is right", "11 barriers", "for 5 tiles; the target is 6"],
    ),
    "barriers that are not called": (
        [("cuda.syncthreads()", "cuda.syncthreads")],
        ["does not call it", "brackets are missing"],
    ),
    "barriers of a warp": (
        [("cuda.syncthreads()", "cuda.syncwarp()")],
        ["32 threads of a warp", "loaded by 8 warps"],
    ),
    "threads at the edge leave": (
        [("    total = float32(0)\n",
          "    if row >= m or col >= n:\n        return\n    total = float32(0)\n")],
        ["no element of `c`", "should have loaded"],
    ),
    "the loads behind the sums": (
        [(FROM_HERE + NEXT_A + NEXT_B + SUMS, SUMS + NEXT_A + NEXT_B)],
        ["The result is right", "loads an element of the next tile of `a`", "adds 0 of the 16"],
    ),
    "the loads of b behind the sums": (
        [(NEXT_B + SUMS, SUMS + NEXT_B)],
        ["The result is right", "the next tile of `b`, and line 31", "adds 0 of the 16"],
    ),
    "loaded and stored at once, before the sums": (
        [(NEXT_A + NEXT_B, AT_ONCE_A + AT_ONCE_B), (PUT, "")],
        ["The result is right", "of `a` and stores it into shared memory at once",
         "adds 0 of the 16"],
    ),
    "loaded and stored at once, behind the sums": (
        [(NEXT_A + NEXT_B + SUMS, SUMS + AT_ONCE_A + AT_ONCE_B), (PUT, "")],
        ["The result is right", "stores it into shared memory at once"],
    ),
    "a local array, filled behind the sums": (
        [("    total = float32(0)\n",
          "    total = float32(0)\n    ahead = cuda.local.array(2, float32)\n"),
         (FROM_HERE + NEXT_A + NEXT_B + SUMS, SUMS + NEXT_A + NEXT_B),
         ("next_a", "ahead[0]"), ("next_b", "ahead[1]")],
        ["The result is right", "next tile of `a`, and line 30", "adds 0 of the 16"],
    ),
    "stored before the sums": (
        [(COMMENT + FLIP + PUT, FLIP), (SUMS, AT_ONCE_A.split(" = ")[0] + " = next_a\n"
          + AT_ONCE_B.split(" = ")[0] + " = next_b\n" + SUMS)],
        ["The result is right", "loads an element of the next tile of `a`, and line",
         "a thread waits there"],
    ),
    "half of the sums before the loads": (
        [(FROM_HERE + NEXT_A + NEXT_B + SUMS,
          SUMS.replace("range(TILE)", "range(8)") + NEXT_A + NEXT_B
          + SUMS.replace("range(TILE)", "range(8, TILE)"))],
        ["The result is right", "adds 8 of the 16 terms"],
    ),
    "the last tile is not multiplied": (
        [(TURNS, "while start + TILE < k:\n")],
        ["The last tile is missing. It has been loaded, and no turn multiplies it"],
    ),
    "only the tiles that are whole": (
        [(TURNS, "while start < k // TILE * TILE:\n")],
        ["The last tile is missing"],
    ),
    "one turn too many": (
        [(TURNS, "while start <= k:\n")],
        ["The result is right", "96 terms", "6 tiles in place of 5"],
    ),
    "two tiles in a turn": (
        [(NEXT, NEXT.replace("+ TILE", "+ 2 * TILE"))],
        ["Every second tile is missing"],
    ),
    "loads the tile of its own turn": (
        [(NEXT, ""), (BARRIER + "    if row", NEXT + BARRIER + "    if row")],
        ["The first tile counts twice, and the last one is missing"],
    ),
    "the end of the sum not tested for a": (
        [("row < m and start + tx < k", "row < m")],
        ["`a[0, 80]`", "k = 80 holds 5 tiles, and this is one more"],
    ),
    "the end of the sum not tested for b": (
        [("start + ty < k and col < n", "col < n")],
        ["`b[80, 0]`", "k = 80 holds 5 tiles, and this is one more"],
    ),
    "the end of the sum tested with <=": (
        [("start + tx < k", "start + tx <= k")],
        ["`a[0, 80]`", "one more"],
    ),
    "the first tile not tested": (
        [("row < m and tx < k", "row < m")],
        ["`a[0, 7]`", "k = 7"],
    ),
    "the first tile of b not tested": (
        [("b[ty, col] if ty < k and col < n", "b[ty, col] if col < n")],
        ["`b[7, 0]`", "k = 7"],
    ),
    "the first tile twice": (
        [("a[row, start + tx] if row < m and start + tx < k", "a[row, tx] if row < m and tx < k"),
         ("b[start + ty, col] if start + ty < k", "b[ty, col] if ty < k")],
        ["first tile are in the sum, 5 times: every turn loads it again"],
    ),
    "a without the start": (
        [("a[row, start + tx] if row < m and start + tx < k", "a[row, tx] if row < m and tx < k")],
        ["first tile of `a` again"],
    ),
    "the row not tested": (
        [("if row < m and start + tx < k", "if start + tx < k")],
        ["rows 17 to 31", "no test stops them"],
    ),
    "the total set at each tile": (
        [(SUMS, "        total = float32(0)\n" + SUMS)],
        ["Only the terms of the last tile"],
    ),
    "b read transposed": (
        [("tile_b[side, i, tx]", "tile_b[side, tx, i]")],
        ["The tile of `b` is read transposed"],
    ),
    "the tile of a stored transposed": (
        [("tile_a[side, ty, tx]", "tile_a[side, tx, ty]")],
        ["The tile of `a` is read transposed"],
    ),
    "ty for tx in the tile of b": (
        [("tile_b[side, i, tx]", "tile_b[side, i, ty]")],
        ["all columns are alike"],
    ),
    "b from the side of a": (
        [("tile_b[side, i, tx]", "tile_a[side, i, tx]")],
        ["nothing of `b` is in the result"],
    ),
    "local arrays": (
        [("cuda.shared.array", "cuda.local.array")],
        ["`tile_a` is a local array", "each thread has one of its own"],
    ),
    "an array of one side": (
        [("tile_b = cuda.shared.array((2,", "tile_b = cuda.shared.array((1,")],
        ["The array has 1 of them, counted from 0, and the index is 1"],
    ),
    "tiles of 8": ([("TILE = 16", "TILE = 8")], ["blocks of 16×16 threads", "`TILE` is 8"]),
    "a float64 total": (
        [("total = float32(0)", "total = 0.0")],
        ["The result is right", "works in float64"],
    ),
    "the first tile from the wrong row": (
        [("b[ty, col] if ty < k", "b[ty + 1, col] if ty + 1 < k")],
        ["one tile only, the first, and the result is wrong there, too"],
    ),
    "the next tiles from the wrong column": (
        [("a[row, start + tx] if", "a[row, start - tx] if")],
        ["one tile only, the first, and the result is right there"],
    ),
    "the side before": (
        [("tile_a[side, ty, i]", "tile_a[side - 1, ty, i]")],
        ["only side 0 of `tile_a` holds a tile", "reads side 1"],
    ),
    "nothing added": ([(SUMS, "")], ["Every element of `c` is 0: nothing is added"]),
    "no store": ([(STORE, "")], ["no thread ever stores into `c`"]),
    "the store not tested": (
        [(STORE, "    c[row, col] = total\n")],
        ["`c[17, 0]`", "no test stops them"],
    ),
    "a store in each turn": (
        [(STORE, ""), (END, END + "    " + STORE.replace("\n ", "\n     "))],
        ["The result is right", "5 stores"],
    ),
    "never ends": ([(NEXT, "")], ["never ends"]),
}  # fmt: skip

# Small slips that change nothing. What fills up one tile meets zeros of the other, so it may be
# any finite number, and where it is a float64 the store makes it a float32.
HARMLESS = {
    f"{slip} in `{line.strip()}`"
    for slip in ("constant_one_less", "constant_one_more", "float64")
    for line in (FIRST_A, FIRST_B, NEXT_A, NEXT_B)
} | {
    f"names_exchanged in `{START}`",  # both are 0
    f"constant_one_more in `{START}`",  # begins with side 1
    "constant_one_more in `tile_a = cuda.shared.array((2, TILE, TILE), float32)`",
    "constant_one_more in `tile_b = cuda.shared.array((2, TILE, TILE), float32)`",
}

RIGHT = {
    "the side by a difference": [(FLIP, "        side = 1 - side\n")],
    "a loop over a range": [
        (START, "side = uint32(0)"), (TURNS + NEXT, "for start in range(TILE, k + TILE, TILE):\n"),
    ],
    "the side from the number of the tile": [
        (FLIP, "        side = start // TILE % 2\n"),
    ],
    "the barrier before the sums": [
        (END, PUT), (SUMS, BARRIER + SUMS), (LOADED, "    while"),
    ],
    "the last tile behind the loop": [
        (TURNS, "while start + TILE < k:\n"),
        (STORE, SUMS.replace("        for", "    for").replace("            total", "        total")
         + STORE),
    ],
    "nothing loaded in the last turn": [
        (FROM_HERE + NEXT_A + NEXT_B,
         "        if start < k:\n    " + NEXT_A + "    " + NEXT_B),
        (COMMENT + FLIP + END,
         "        if start < k:\n    " + FLIP + "    " + PUT_A + "    " + PUT_B + "    " + BARRIER),
    ],
    "three sides": [
        ("(2, TILE", "(3, TILE"), (FLIP, "        side = (side + 1) % 3\n"),
    ],
    "one array of four": [
        ("    tile_b = cuda.shared.array((2, TILE, TILE), float32)\n", ""),
        ("(2, TILE", "(4, TILE"), ("tile_b[side", "tile_a[2 + side"),
    ],
    "zeros by if": [
        (NEXT_A, "        next_a = float32(0)\n        if row < m and start + tx < k:\n"
         "            next_a = a[row, start + tx]\n"),
    ],
    "both loads in one statement": [
        (NEXT_A + NEXT_B, f"        next_a, next_b = ({VALUE_A}), ({VALUE_B})\n"),
    ],
    "registers in a local array": [
        ("    total = float32(0)\n",
         "    total = float32(0)\n    ahead = cuda.local.array(2, float32)\n"),
        ("next_a", "ahead[0]"), ("next_b", "ahead[1]"),
    ],
    "terms from below": [(SUMS, SUMS.replace("range(TILE)", "range(TILE - 1, -1, -1)"))],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    kernel = changed(NAME, *changes) if changes else EXERCISES[NAME].starter
    (cause,) = check(NAME, kernel).causes
    assert [word for word in words if word not in cause] == [], cause


def test_a_side_of_one_is_no_second_side():
    changes = [("(2, TILE", "(1, TILE"), ("[side", "[0"), (FLIP, ""), (COMMENT, BARRIER)]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert "`tile_a` has room for one tile" in cause


@pytest.mark.slow
def test_two_barriers_with_two_sides_are_not_put_down_to_room():
    (cause,) = check(NAME, changed(NAME, (SUMS, SUMS + BARRIER))).causes
    assert "11 barriers" in cause
    assert "room for one tile" not in cause


@pytest.mark.slow
@pytest.mark.parametrize("what", ["the side by a difference", "the last tile behind the loop"])
def test_barriers_per_tile_are_told_as_a_whole_number(what):
    assert "barriers per tile 1;" in str(check(NAME, changed(NAME, *RIGHT[what])))


@pytest.mark.parametrize("what", ["one buffer, one barrier", "the loads behind the sums"])
def test_the_two_that_matter_are_refused(what):
    test_a_wrong_kernel_is_refused_with_its_cause(what)


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed == HARMLESS
