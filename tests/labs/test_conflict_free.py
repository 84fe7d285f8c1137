"""The exercise `conflict_free`: each wrong kernel is refused with the words of its cause."""

import difflib

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of

NAME = "conflict_free"
WIDE = "PADDED = 33  # one more than is stored in a row"
ARRAY_A = "tile_a = cuda.shared.array((TILE, TILE), float32)"
ARRAY_B = "tile_b = cuda.shared.array((TILE, PADDED), float32)"
TRANSPOSED = (WIDE, "PADDED = 32")
INTO = "tile_b[tx, ty]"
FROM = "tile_b[tx, i]"
INSIDE = "start + ty < k and col < n"
LOAD = f"{INTO} = b[start + ty, col] if {INSIDE} else float32(0)"
TERM = "total += tile_a[ty, i] * tile_b[tx, i]"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "nothing changed": (
        [TRANSPOSED],
        ["The result is right", "32 wavefronts", "Lanes 0 and 1", "32 apart", "bank 0"],
    ),
    "the tile of a padded": (
        [TRANSPOSED, (ARRAY_A, ARRAY_A.replace("(TILE, TILE)", "(TILE, 33)"))],
        ["a store of `tile_b` takes 32 wavefronts"],
    ),
    "one more row": (
        [(ARRAY_B, ARRAY_B.replace("(TILE, PADDED)", "(PADDED, TILE)"))],
        ["a store of `tile_b` takes 32 wavefronts"],
    ),
    "two more columns": ([(WIDE, "PADDED = 34")], ["2 wavefronts", "Lanes 0 and 16", "544 apart"]),
    "four more columns": ([(WIDE, "PADDED = 36")], ["4 wavefronts", "Lanes 0 and 8", "288 apart"]),
    "twice as wide": ([(WIDE, "PADDED = 64")], ["32 wavefronts", "64 apart"]),
    "too wide for a block": ([(WIDE, "PADDED = 401")], ["a block has 49152"]),
    "a computed size": (
        [("(TILE, PADDED)", "(TILE, TILE + 1)")],
        ["must be known before the kernel runs"],
    ),
    "larger tiles": ([("TILE = 32", "TILE = 33")], ["A block has 32×32 threads"]),
    "only the store turned": (
        [(INTO, "tile_b[ty, tx]")],
        ["The tile of `b` is read transposed"],
    ),
    "only the load turned": ([(FROM, "tile_b[i, tx]")], ["The tile of `b` is read transposed"]),
    "only the store rotated": (
        [(INTO, "tile_b[tx, (ty + tx) % TILE]")],
        ["in another order", "where it is stored and where it is read do not agree"],
    ),
    "only the load rotated": (
        [(FROM, "tile_b[tx, (i + tx) % TILE]")],
        ["in another order", "where it is stored and where it is read do not agree"],
    ),
    "rotated both ways": (
        [(INTO, "tile_b[tx, (ty + tx) % TILE]"), (FROM, "tile_b[tx, (i - tx) % TILE]")],
        ["where it is stored and where it is read do not agree"],
    ),
    "rotated without end": (
        [TRANSPOSED, (INTO, "tile_b[tx, ty + tx]"), (FROM, "tile_b[tx, i + tx]")],
        ["tile_b[31, 32]", "goes on to 62"],
    ),
    "rotated by the wrong index": (
        [(INTO, "tile_b[tx, (ty + ty) % TILE]"), (FROM, "tile_b[tx, (i + ty) % TILE]")],
        ["Two threads store different values"],
    ),
    "only the terms rotated": (
        [TRANSPOSED, ("[ty, i]", "[ty, (i + tx) % TILE]"), ("[tx, i]", "[tx, (i + tx) % TILE]")],
        ["The result is right", "a store of `tile_b` takes 32 wavefronts"],
    ),
    "global memory in another order": (
        [
            (LOAD, "other = cuda.blockIdx.x * TILE + ty\n        tile_b[ty, tx] = "
             "b[start + tx, other] if start + tx < k and other < n else float32(0)"),
        ],
        ["The result is right", "128 words apart, a whole row", "32 sectors"],
    ),
    "b from global memory": (
        [(TERM, "if start + i < k and col < n:\n"
          "                total += tile_a[ty, i] * b[start + i, col]")],
        ["The result is right", "every element of `b`", "32 times", "is not used"],
    ),
    "a local array": (
        [(ARRAY_B, ARRAY_B.replace("shared", "local"))],
        ["`tile_b` is a local array"],
    ),
    "a float64 tile": (
        [(ARRAY_B, ARRAY_B.replace("float32", "float64")),
         ("cuda, float32", "cuda, float32, float64")],
        ["The result is right", "works in float64"],
    ),
    "the sum over the padding, too": (
        [("range(TILE)", "range(PADDED)")],
        ["tile_a[0, 32]", "0 to 31, and this index takes one more"],
    ),
    "no barrier after the loads": (
        [("        cuda.syncthreads()\n        for", "        for")],
        ["read before it has been loaded"],
    ),
    "no barrier after the sums": (
        [(f"{TERM}\n        cuda.syncthreads()\n", f"{TERM}\n")],
        ["replaces an element that a slow one still needs"],
    ),
    "the tile of a transposed, too": (
        [("tile_a[ty, tx]", "tile_a[tx, ty]"), ("tile_a[ty, i]", "tile_a[i, ty]")],
        ["a store of `tile_a` takes 32 wavefronts"],
    ),
    "a flat tile that is too small": (
        [("(TILE, PADDED)", "1024"), (INTO, "tile_b[tx * 33 + ty]"), (FROM, "tile_b[tx * 33 + i]")],
        ["tile_b[1024]", "goes on to 1054"],
    ),
    "no test at the load": (
        [(f" if {INSIDE} else float32(0)", "")],
        ["`b[0, 98]`", "no test stops them"],
    ),
}  # fmt: skip

RIGHT = {
    "three more columns": [(WIDE, "PADDED = 35")],
    "stored as it is read": [TRANSPOSED, (INTO, "tile_b[ty, tx]"), (FROM, "tile_b[i, tx]")],
    "rotated rows": [
        TRANSPOSED,
        (INTO, "tile_b[tx, (ty + tx) % TILE]"),
        (FROM, "tile_b[tx, (i + tx) % TILE]"),
    ],
    "columns exchanged by bits": [
        TRANSPOSED,
        (INTO, "tile_b[tx, ty ^ tx]"),
        (FROM, "tile_b[tx, i ^ tx]"),
    ],
    "a flat tile": [
        ("(TILE, PADDED)", "1056"),
        (INTO, "tile_b[tx * 33 + ty]"),
        (FROM, "tile_b[tx * 33 + i]"),
    ],
    "both tiles padded": [(ARRAY_A, ARRAY_A.replace("(TILE, TILE)", "(TILE, PADDED)"))],
}


# Beyond the end of the sum either tile may hold anything finite, as long as the other holds zero.
EQUIVALENT = {"float64", "constant_one_more", "constant_one_less"}


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
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what: kernel for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert {what.split(" in ")[0] for what in passed} == EQUIVALENT
    for what, kernel in passed.items():
        assert "else float32(0)" in what
        for shape in ((32, 32, 1), (31, 65, 63), (1, 40, 33)):
            assert not run(EXERCISES[NAME], kernel, shape, 20).wrong.any()


def test_the_starter_differs_from_the_solution_by_its_padding():
    texts = (EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text)
    code = [text.split('"""')[2].splitlines() for text in texts]
    lines = list(difflib.unified_diff(*code, n=0, lineterm=""))[2:]
    assert [line for line in lines if line[0] in "+-"] == [
        f"+{WIDE}",
        f"-    {ARRAY_B.replace('PADDED', 'TILE')}",
        f"+    {ARRAY_B}",
    ]
