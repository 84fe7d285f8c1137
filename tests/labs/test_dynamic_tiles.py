"""The exercise `dynamic_tiles`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of, written

NAME = "dynamic_tiles"
ARRAY = "tiles = cuda.shared.array(0, float32)  # as large as the launch says"
SIDE = "side = cuda.blockDim.x"
SECOND = "second = side * side"
LOADED = "        cuda.syncthreads()  # both tiles are complete\n"
USED = "        cuda.syncthreads()  # nobody needs them any more\n"
OF_A, OF_B = "tiles[ty * side + tx]", "tiles[second + ty * side + tx]"
READ_A, READ_B = "tiles[ty * side + i]", "tiles[second + i * side + tx]"
ZERO_A = f"        {OF_A} = float32(0)\n"
ZERO_B = f"        {OF_B} = float32(0)\n"
INSIDE_A, INSIDE_B = "row < m and start + tx < k", "start + ty < k and col < n"
LOAD_A = f"        if {INSIDE_A}:\n            {OF_A} = a[row, start + tx]\n"
LOAD_B = f"        if {INSIDE_B}:\n            {OF_B} = b[start + ty, col]\n"
TURNS = "range(0, k, side)"
STORE = "    if row < m and col < n:\n        c[row, col] = total\n"
TOTAL = "    total = float32(0)\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "both tiles in one place": (
        [(SECOND, "second = 0")],
        ["All that is stored lies in elements 0 to 255", "there are two of them"],
    ),
    "the second tile a row behind": (
        [(SECOND, "second = side")],
        ["begins at element 16: the tiles overlap"],
    ),
    "two arrays of size 0": (
        [(ARRAY, f"{ARRAY}\n    other = cuda.shared.array(0, float32)"),
         (OF_B, "other[ty * side + tx]"), (READ_B, "other[i * side + tx]")],
        ["Lines 9 and 10 both name the whole memory", "replaces what the other holds"],
    ),
    "the second tile at the half of its own": (
        [(SECOND, "second = side * side // 2")],
        ["elements 0 to 255", "begins at element 128", "overlap"],
    ),
    "bytes for elements": (
        [(SECOND, "second = 4 * side * side")],
        ["asks for 2,048 bytes", "elements 0 to 511", "goes on to 1279"],
    ),
    "the second tile at 256": (
        [(SECOND, "second = 256")],
        ["blocks of 16×16 threads the result was right", "Here a block has 8×8", "cuda.blockDim"],
    ),
    "a side of 16": (
        [(SIDE, "side = 16")],
        ["Here a block has 8×8", "does not follow from `cuda.blockDim`"],
    ),
    "rows of 16": (
        [("ty * side + tx]", "ty * 16 + tx]"), ("ty * side + i]", "ty * 16 + i]")],
        ["Here a block has 8×8", "does not follow from `cuda.blockDim`"],
    ),
    "a sum of 16 terms": (
        [("range(side)", "range(16)")],
        ["Here a block has 8×8", "does not follow from `cuda.blockDim`"],
    ),
    "tiles 16 apart": ([(TURNS, "range(0, k, 16)")], ["Here a block has 8×8"]),
    "blocks 16 apart": (
        [("blockIdx.x * side", "blockIdx.x * 16")],
        ["Here a block has 8×8"],
    ),
    "a size of 512": (
        [(ARRAY, "tiles = cuda.shared.array(512, float32)")],
        ["The result is right", "The size of a shared array stands in line 9"],
    ),
    "two arrays of 256, and no barrier": (
        [(ARRAY, "tiles = cuda.shared.array(256, float32)\n"
          "    other = cuda.shared.array(256, float32)"),
         (OF_B, "other[ty * side + tx]"), (READ_B, "other[i * side + tx]"), (LOADED, "")],
        ["may be read before it has been loaded"],
    ),
    "the size of the launch": (
        [(ARRAY, "tiles = cuda.shared.array(2 * cuda.blockDim.x * cuda.blockDim.x, float32)")],
        ["not known when the kernel is compiled", "An array of size 0"],
    ),
    "an array of float64": (
        [(ARRAY, "tiles = cuda.shared.array(0, float64)"),
         ("cuda, float32", "cuda, float32, float64")],
        ["two tiles of float32"],
    ),
    "two indices": (
        [(OF_A, "tiles[ty, tx]")],
        ["`tiles[ty, tx]"],
    ),
    "no barrier after the loads": (
        [(LOADED, "")],
        ["may be read before it has been loaded"],
    ),
    "no barrier after the sums": (
        [(USED, "")],
        ["replaces an element that a slow one still needs"],
    ),
    "barriers that are not called": (
        [("cuda.syncthreads()", "cuda.syncthreads")],
        ["brackets are missing"],
    ),
    "a barrier for threads with an element": (
        [(LOADED, f"        if row < m and col < n:\n    {LOADED}")],
        ["The barrier stands in the branch"],
    ),
    "threads at the edge leave": (
        [(TOTAL, f"    if row >= m or col >= n:\n        return\n{TOTAL}")],
        ["some threads leave at `return`"],
    ),
    "a read transposed": ([(READ_A, "tiles[i * side + ty]")], ["tile of `a` is read transposed"]),
    "b read transposed": (
        [(READ_B, "tiles[second + tx * side + i]")],
        ["The tile of `b` is read transposed"],
    ),
    "b read without its half": (
        [(READ_B, "tiles[i * side + tx]")],
        ["The tile of `a` is multiplied with itself"],
    ),
    "a read from the second half": (
        [(READ_A, "tiles[second + ty * side + i]")],
        ["The tile of `b` is multiplied with itself"],
    ),
    "tx for ty in the tile of a": (
        [(READ_A, "tiles[tx * side + i]")],
        ["all rows are alike"],
    ),
    "a row without its length": (
        [(READ_A, "tiles[ty + i]")],
        ["Row 0 is right"],
    ),
    "stored without the length of a row": (
        [(OF_A, "tiles[ty + tx]")],
        ["Two threads store different values into one element"],
    ),
    "b stored transposed": (
        [(OF_B, "tiles[second + tx * side + ty]")],
        ["The tile of `b` is read transposed"],
    ),
    "both of b transposed": (
        [(OF_B, "tiles[second + tx * side + ty]"), (READ_B, "tiles[second + tx * side + i]")],
        ["The result is right", "8 wavefronts", "meet in bank 0"],
    ),
    "a without the start": ([("start + tx", "tx")], ["first tile of `a` again"]),
    "a loop by 1": ([(TURNS, "range(0, k)")], ["one term further"]),
    "only whole tiles": (
        [(TURNS, "range(0, k // side * side, side)")],
        ["The last tile is missing"],
    ),
    "one tile too few": ([(TURNS, "range(0, k - side, side)")], ["one tile too early"]),
    "the end of the sum not tested for a": (
        [(INSIDE_A, "row < m")],
        ["The last tile reaches over the end of the sum, k = 37"],
    ),
    "the end of the sum not tested for b": (
        [(INSIDE_B, "col < n")],
        ["The last tile reaches over the end of the sum"],
    ),
    "the row of a not tested": ([(INSIDE_A, "start + tx < k")], ["no test stops them"]),
    "no zeros": ([(ZERO_A, ""), (ZERO_B, "")], ["count twice"]),
    "zeros in the tile of a once": (
        [(ZERO_A, ""), (TOTAL, TOTAL + ZERO_A[4:])],
        ["Infinity times 0 is NaN"],
    ),
    "nobody fills the tile of b": (
        [(ZERO_B, ""), (LOAD_B, "")],
        ["All that is stored lies in elements 0 to 255"],
    ),
    "nobody fills a tile": (
        [(ZERO_A, ""), (LOAD_A, ""), (ZERO_B, ""), (LOAD_B, "")],
        ["No line of your kernel stores into"],
    ),
    "the total set at each tile": (
        [(LOADED, f"{LOADED}    {TOTAL}")],
        ["Only the terms of the last tile"],
    ),
    "a float64 total": ([("total = float32(0)", "total = 0.0")], ["works in float64"]),
    "tiles that are not used": (
        [(READ_B, "(b[start + i, col] if start + i < k and col < n else float32(0))")],
        ["The result is right", "every element of `b`"],
    ),
    "no store": ([(STORE, "    total += total\n")], ["no thread ever stores into `c`"]),
    "the store not tested": ([(STORE, "    c[row, col] = total\n")], ["no test stops them"]),
    "a store at each tile": (
        [(STORE, "        if row < m and col < n:\n            c[row, col] = total\n")],
        ["The result is right", "5 stores"],
    ),
    "x and y of the block exchanged": (
        [("blockIdx.y * side + ty", "blockIdx.x * side + ty"),
         ("blockIdx.x * side + tx", "blockIdx.y * side + tx")],
        ["columns"],
    ),
}  # fmt: skip

RIGHT = {
    "a value or zero": [
        (ZERO_A + LOAD_A, f"        {OF_A} = a[row, start + tx] if {INSIDE_A} else float32(0)\n"),
        (ZERO_B + LOAD_B, f"        {OF_B} = b[start + ty, col] if {INSIDE_B} else float32(0)\n"),
    ],
    "the tile of b first": [
        (OF_B, "tiles[MINE]"), (OF_A, OF_B), ("tiles[MINE]", OF_A),
        (READ_B, "tiles[i * side + tx]"), (READ_A, "tiles[second + ty * side + i]"),
    ],
    "a name for the own element": [
        (f"    {SECOND}", f"    mine = ty * side + tx\n    {SECOND}"),
        (OF_A, "tiles[mine]"), (OF_B, "tiles[second + mine]"),
    ],
    "from the size of the array": [(SECOND, "second = tiles.size // 2")],
    "the other side of the block": [(SIDE, "side = cuda.blockDim.y")],
    "two slices": [
        (f"    {SECOND}", "    of_a, of_b = tiles[:side * side], tiles[side * side:]\n"
         f"    {SECOND}"),
        (OF_A, "of_a[ty * side + tx]"), (OF_B, "of_b[ty * side + tx]"),
        (READ_A, "of_a[ty * side + i]"), (READ_B, "of_b[i * side + tx]"),
    ],
    "two names of one memory": [
        (ARRAY, f"{ARRAY}\n    same = cuda.shared.array(0, float32)"),
        (OF_B, "same[second + ty * side + tx]"), (READ_B, "same[second + i * side + tx]"),
    ],
    "numbers of tiles": [
        (TURNS, "range((k + side - 1) // side)"),
        ("start + tx", "start * side + tx"), ("start + ty", "start * side + ty"),
    ],
    "sums that end with k": [
        (ZERO_A, ""), (ZERO_B, ""), ("range(side)", "range(min(side, k - start))"),
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


# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero;
# and blocks are square.
EQUIVALENT = {"x_for_y in `side = cuda.blockDim.x`"} | {
    f"{rule} in `{element} = float32(0)`"
    for rule in ("float64", "constant_one_more", "constant_one_less")
    for element in (OF_A, OF_B)
}


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what: kernel for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed.keys() == EQUIVALENT
    for kernel in passed.values():
        for shape in ((40, 40, 1), (15, 33, 31), (1, 50, 17), (47, 1, 18)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()


def test_the_starter_is_the_solution_up_to_the_gap():
    starter, solution = EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
    given = starter[starter.index("from numba") : starter.index("    # About")]
    assert given in solution


def test_a_product_without_tiles_is_refused():
    body = """\
    (m, k), n = a.shape, b.shape[1]
    col, row = cuda.grid(2)
    if row < m and col < n:
        total = float32(0)
        for i in range(k):
            total += a[row, i] * b[i, col]
        c[row, col] = total
"""
    (cause,) = check(NAME, written(NAME, body)).causes
    assert "16 times from global memory" in cause


def test_blocks_of_two_sizes_are_launched_at_the_shapes_that_fit():
    asked = EXERCISES[NAME]
    sides = [asked.launch(shape).block[0] for shape in asked.shapes[:2]]
    assert sides == [16, 8]
    for shape, side in zip(asked.shapes, sides):
        assert asked.launch(shape).shared_bytes == 2 * side * side * 4
        assert not any(size % side for size in shape)
