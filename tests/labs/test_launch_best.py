"""The exercise `launch_best`: each wrong launch is refused with the words that name its cause."""

import numpy as np
import pytest

from labs import EXERCISES, check
from labs.dynamic_tiles.solution import dynamic_tiles
from labs.launches import CALLS, wanted
from labs.products import inputs
from tests.labs.readers import changed, mutants_of
from utils.virtual_gpu import trace

NAME = "launch_best"
SEARCH = "square_side(best_block(registers, 8))"
GRID = "-(-c.shape[1] // side), -(-c.shape[0] // side)"
LAUNCH = "    kernel[grid, (side, side), 0, required_shared(side)](a, b, c)\n"
BYTES = "required_shared(side)]"

WRONG = {
    "always 16": ([(SEARCH, "16")], ["With 32 registers", "16×16 threads", "is 32×32"]),
    "always 32": ([(SEARCH, "32")], ["With 96 registers", "32×32 threads", "640", "is 16×16"]),
    "for one float32": (
        [("best_block(registers, 8)", "best_block(registers, 400)")],
        ["the bytes of two float32"],
    ),
    "registers not used": (
        [("best_block(registers, 8)", "best_block(32, 8)")],
        ["With 96 registers", "is 16×16"],
    ),
    "no square": (
        [(SEARCH, "math.isqrt(best_block(registers, 8))")],
        ["With 96 registers", "your blocks have 25×25 threads"],
    ),
    "threads for the side": (
        [(SEARCH, "best_block(registers, 8)")],
        ["1024×1024 threads", "the threads of the whole block"],
    ),
    "a block of one row": (
        [("(side, side), 0", "side * side, 0")],
        ["1024×1 threads", "They must be square"],
    ),
    "x and y of the grid exchanged": (
        [(GRID, "-(-c.shape[0] // side), -(-c.shape[1] // side)")],
        ["3×2 blocks of side 32", "x and y are exchanged"],
    ),
    "a block for each element": (
        [(GRID, "c.shape[1], c.shape[0]")],
        ["a block for each element"],
    ),
    "rounded down": (
        [(GRID, "c.shape[1] // side, c.shape[0] // side")],
        ["rounded down", "belong to no block"],
    ),
    "one block more": (
        [(GRID, "c.shape[1] // side + 1, c.shape[0] // side + 1")],
        ["one too many where a side of the block divides"],
    ),
    "a grid for a": (
        [("c.shape[1]", "a.shape[1]")],
        ["With 96 registers", "`c` has 64 columns and 48 rows"],
    ),
    "no memory": (
        [(", 0, required_shared(side)]", "]")],
        ["asks for 0 bytes", "The fourth number in the brackets is missing"],
    ),
    "the bytes for the stream": (
        [("0, required_shared(side)]", "required_shared(side)]")],
        ["stream"],
    ),
    "words": ([(BYTES, "2 * side * side]")], ["These are words"]),
    "one tile": ([(BYTES, "4 * side * side]")], ["This is one tile"]),
    "a row": ([(BYTES, "8 * side]")], ["one row of each tile"]),
    "one thread": ([(BYTES, "8]")], ["This is for one thread"]),
    "the suggested block": (
        [(BYTES, "8 * best_block(registers, 8)]")],
        ["With 96 registers", "before it became a square"],
    ),
    "no launch": ([(LAUNCH, "")], ["never launched"]),
    "not called": ([("](a, b, c)", "]")], ["never launched"]),
    "two launches": ([(LAUNCH, LAUNCH * 2)], ["launched 2 times"]),
    "no brackets": (
        [("kernel[grid, (side, side), 0, required_shared(side)]", "kernel")],
        ["launched as kernel[grid, block, stream, bytes]"],
    ),
    "another order": ([("](a, b, c)", "](c, a, b)")], ["in the place of `a`"]),
    "no c": ([("](a, b, c)", "](a, b)")], ["gets 2 arguments"]),
    "nothing returned": ([("    return side\n", "")], ["returns `None`"]),
    "threads returned": (
        [("return side\n", "return side * side\n")],
        ["returns 1024; the side is 32", "the threads of a block"],
    ),
}  # fmt: skip

RIGHT = {
    "one line": [("    grid = " + GRID + "\n", ""), ("[grid,", f"[({GRID}),")],
    "sizes by name": [
        (GRID, "(n + side - 1) // side, (m + side - 1) // side"),
        ("    grid", "    m, n = c.shape\n    grid"),
    ],
    "sizes of a and b": [("c.shape[1]", "b.shape[1]"), ("c.shape[0]", "a.shape[0]")],
    "bytes by hand": [(BYTES, "2 * 4 * side ** 2]")],
    "printed": [("    return side\n", "    print('side', side)\n    return side\n")],
    "a block of three": [("(side, side), 0", "(side, side, 1), 0")],
    "of the function": [("best_block(registers, 8)", "best_block(registers, required_shared(1))")],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_launch_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_launch_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(("registers", "shape"), CALLS)
def test_the_launch_that_is_asked_for_computes_the_product(registers, shape):
    a, b = inputs(shape, seed=5)
    c, asked_for = np.zeros((shape[0], shape[1]), np.float32), wanted(registers, shape)
    block = asked_for.side, asked_for.side
    seen = trace(dynamic_tiles, asked_for.grid, block, a, b, c, shared_bytes=asked_for.bytes_needed)
    assert not seen.findings
    assert np.array_equal(c, a @ b)


# A byte more or less for each thread changes none of these squares, and 1 is a stream as well: the
# driver's own name of the default one.
HARMLESS = {
    "constant_one_more in `kernel[grid, (side, side), 0, required_shared(side)](a, b, c)`",
    *(
        f"constant_one_{way} in `side = square_side(best_block(registers, 8))  # two float32 for "
        "each thread`"
        for way in ("more", "less")
    ),
}


@pytest.mark.slow
def test_every_small_slip_of_the_launch_is_refused_or_changes_nothing():
    passed = {what for what, function in mutants_of(NAME) if check(NAME, function).passed}
    # Slips in the functions that it calls are those of their own exercises.
    own = EXERCISES[NAME].solution_text.partition("def launch_best")[2]
    assert {what for what in passed if what.partition("`")[2].rstrip("`") in own} == HARMLESS
