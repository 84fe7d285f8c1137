"""The exercise `required_shared`: each wrong number of bytes is named for what it is."""

import pytest

from labs import check
from tests.labs.readers import changed, mutants_of

NAME = "required_shared"
RESULT = "2 * side * side * 4"

WRONG = {
    "one tile": (
        "side * side * 4",
        ["`side = 16`", "you return 1,024, and 2,048 bytes are right", "This is one tile"],
    ),
    "words": ("2 * side * side", ["These are words. A float32 has 4 bytes"]),
    "words of one tile": ("side ** 2", ["words of one tile"]),
    "a row of each": ("2 * side * 4", ["one row of each tile"]),
    "float64": ("2 * side * side * 8", ["twice too much", "a float32 has 4 bytes"]),
    "bits": ("2 * side * side * 32", ["These are bits"]),
    "KiB": ("2 * side * side * 4 / 1024", ["you return 2,", "in KiB, and bytes"]),
    "KiB rounded": ("2 * side * side * 4 // 1024", ["you return 2,", "bytes of two tiles"]),
    "one tile of twice the side": ("(2 * side) ** 2 * 4", ["twice too much", "two tiles"]),
    "three tiles": ("3 * side * side * 4", ["three tiles", "stay in registers"]),
    "side plus side": ("2 * (side + side) * 4", ["and not `side` + `side`"]),
    "padded": ("2 * side * (side + 1) * 4", ["one row too many"]),
    "one row less": ("2 * side * (side - 1) * 4", ["one row too few"]),
    "cubed": ("2 * side ** 3 * 4", ["three dimensions"]),
    "with the KiB of the driver": ("2 * side * side * 4 + 1024", ["KiB that the driver keeps"]),
    "always 32": ("8192", ["you return 8,192", "bytes of two tiles"]),
    "nothing": ("None", ["returns nothing"]),
    "a text": ("'2048'", ["returns '2048', and a number is wanted"]),
    "a tuple": ("side * side * 4, side * side * 4", ["returns 2 values"]),
    "true": ("2 * side * side * 4 > 0", ["returns True, and a number is wanted"]),
}  # fmt: skip

RIGHT = [
    "8 * side ** 2",
    "4 * (side * side + side ** 2)",
    "2.0 * side * side * 4",
    "sum(4 for row in range(side) for column in range(side)) * 2",
    "2 * pow(side, 2) * 4",
]


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_number_is_refused_with_its_cause(what):
    formula, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, (RESULT, formula))).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("formula", RIGHT)
def test_another_right_formula_passes(formula):
    verdict = check(NAME, changed(NAME, (RESULT, formula)))
    assert verdict.passed, str(verdict)


def test_every_small_slip_is_refused():
    assert not [what for what, function in mutants_of(NAME) if check(NAME, function).passed]
