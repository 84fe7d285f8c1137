"""The exercise `square_side`: each wrong side is named for what it is."""

import pytest

from labs import check
from tests.labs.readers import changed, from_text, mutants_of
from utils.machine.occupancy import square_side

NAME = "square_side"
SQUARE = "4 ** math.floor(math.log(threads, 4))"
ROOT = "math.isqrt(square)"

WRONG = {
    "the threads of the square": (
        [(ROOT, "square")],
        ["`threads = 768`", "you return 256, and 16 is right", "Its side is asked for"],
    ),
    "the root of the threads": ([(SQUARE, "threads")], ["need not be a power of two"]),
    "the exact root": ([(f"return {ROOT}", "return math.sqrt(threads)")], ["no whole number"]),
    "rounded up": ([("floor", "ceil")], ["The square is rounded up"]),
    "rounded to the nearest": ([("math.floor(", "round(")], ["The nearest power of four"]),
    "a power of two": (
        [(SQUARE, "2 ** math.floor(math.log2(threads))"), (ROOT, "square")],
        ["the largest power of two up to"],
    ),
    "the exact root of a power of two": (
        [(SQUARE, "2 ** math.floor(math.log2(threads))"), (ROOT, "math.sqrt(square)")],
        ["Only powers of four have such a root"],
    ),
    "the root of a power of two": (
        [(SQUARE, "2 ** math.floor(math.log2(threads))")],
        ["Only powers of four", "rounded down"],
    ),
    "the base e": ([("math.log(threads, 4)", "math.log(threads)")], ["has the base e"]),
    "the logarithm": (
        [(f"return {ROOT}", "return math.floor(math.log(threads, 4))")],
        ["the exponent of the power of four"],
    ),
    "always smaller": (
        [(SQUARE, "4 ** (math.ceil(math.log(threads, 4)) - 1)"), (ROOT, "square ** 0.5")],
        ["a power of four already"],
    ),
    "4 to the root of the exponent": (
        [(SQUARE, "4 ** math.floor(math.log(threads, 4)) ** 0.5"), (ROOT, "square")],
        ["from right to left", "4 to the root"],
    ),
    "2 to the root of the exponent": (
        [(SQUARE, "2 ** math.floor(math.log2(threads)) ** 0.5"), (ROOT, "square")],
        ["from right to left", "2 to the root"],
    ),
    "half": ([(ROOT, "square / 2")], ["half of the square"]),
    "a quarter": ([(ROOT, "square / 4")], ["a quarter of the square"]),
    "twice the side": ([(ROOT, "2 * math.isqrt(square)")], ["twice the side"]),
    "the root of the root": ([(ROOT, "square ** 0.25")], ["the root of the root"]),
    "always 16": ([(ROOT, "16")], ["always 16"]),
    "always 32": ([(ROOT, "32")], ["always 32"]),
    "exchanged": ([("math.log(threads, 4)", "math.log(4, threads)")], ["768", "is 256"]),
    "a negative logarithm": ([("math.log(threads, 4)", "math.log(-threads, 4)")], ["ValueError"]),
    "no math": ([("import math\n", "")], ["the name `math` is not defined"]),
    "from another module": (
        [("import math\n", "import numpy as math\n")],
        ["`math` is not known to the check"],
    ),
    "nothing": ([(f"return {ROOT}", ROOT)], ["returns nothing"]),
}  # fmt: skip

RIGHT = {
    "as a float": [(ROOT, "math.sqrt(square)")],
    "a power": [(ROOT, "square ** 0.5")],
    "as the lab writes it": [
        (SQUARE, "4 ** math.floor(math.log(threads) / math.log(4))"), (ROOT, "int(square ** 0.5)"),
    ],
    "the logarithm of the root": [
        (SQUARE, "math.log2(math.sqrt(threads))"), (ROOT, "2 ** math.floor(square)"),
    ],
}  # fmt: skip
DOUBLED = """def square_side(threads):
    side = 1
    while (2 * side) ** 2 <= threads:
        side *= 2
    return side
"""


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_side_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_formula_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_doubling_the_side_passes():
    assert check(NAME, from_text(NAME, DOUBLED)).passed


def test_every_small_slip_is_refused():
    assert not [what for what, function in mutants_of(NAME) if check(NAME, function).passed]


def test_the_formula_is_exact_for_every_block():
    solution = changed(NAME)
    assert all(solution(threads) == square_side(threads) for threads in range(1, 1025))
