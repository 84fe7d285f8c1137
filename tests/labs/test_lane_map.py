"""The exercise `lane_map`: each wrong kernel is refused with the words that name its cause."""

import itertools

import numpy as np
import pytest

from labs import EXERCISES, check
from labs.lane_map.probes import primes
from tests.labs.readers import changed, mutants_of

NAME = "lane_map"
MAP = "down, across = lane >> 3 & 2 | lane & 1, lane >> 1 & 7"
READS = "of_a, of_b = load4(sa, down * 4), load4(sb, across * 4)"
LOOP = "    for i in range(4):\n        x = of_a[i]\n"
FOUR = "        four = x * of_b[0], x * of_b[1], x * of_b[2], x * of_b[3]\n"
STORE = "        store4(c, (row + down * 4 + i, col + across * 4), four)\n"
COMMENT = (
    "    # Bit 0 of the lane goes down, bit 1 across: each read has a partner, next to it or but "
    "one.\n"
)
BODY = f"{COMMENT}    {MAP}\n    {READS}\n{LOOP}{FOUR}{STORE}"


def mapped(down: str, across: str) -> list[tuple[str, str]]:
    return [(MAP, f"down, across = {down}, {across}")]


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "nothing": ([(BODY, "")], ["reads its inputs", "no thread ever stores"]),
    "row by row": (
        mapped("lane // 8", "lane % 8"),
        ["The result is right", "4 wavefronts to read `sb`", "Lanes 0 and 1", "quads 0 and 1",
         "Lanes 0 and 2", "quads 0 and 2", "eight lanes"],
    ),
    "column by column": (
        mapped("lane % 4", "lane // 4"),
        ["The result is right", "4 wavefronts to read `sa`", "Lanes 0 and 1", "quads 0 and 2"],
    ),
    "2×2 patches of 8": (
        mapped("lane >> 3 & 2 | lane >> 2 & 1", "lane >> 1 & 4 | lane & 3"),
        ["4 wavefronts to read `sb`"],
    ),
    "next neighbours but three": (
        mapped("lane >> 2 & 3", "lane & 3 | lane >> 2 & 4"),
        ["4 wavefronts to read `sb`", "Lanes 0 and 2", "quads 0 and 2"],
    ),
    "pairs in most lanes": (
        mapped("lane >> 3 & 2 | lane & 1", "(lane >> 1 & 7) ^ (lane // 31)"),
        ["Lanes 29 and 31 both have the quad", "nobody has the quad"],
    ),
    "back and forth": (
        mapped("lane // 8", "lane % 8 if lane // 8 % 2 == 0 else 7 - lane % 8"),
        ["4 wavefronts to read `sb`"],
    ),
    "4×8 exchanged": (
        mapped("lane // 4", "lane % 4"),
        ["That is in quad 4", "`sa` has 4 quads, 0 to 3", "Which of the two"],
    ),
    "down and across exchanged": (
        [(MAP, "across, down = lane >> 3 & 2 | lane & 1, lane >> 1 & 7")],
        ["`sa` has 4 quads", "4 quads down and 8 across"],
    ),
    "only in the reads": (
        [(READS, "of_a, of_b = load4(sa, across * 4), load4(sb, down * 4)")],
        ["`sa` has 4 quads"],
    ),
    "bits that overlap": (
        mapped("lane & 3", "lane & 7"),
        ["Lanes 0 and 8 both have the quad (0, 0)", "nobody has the quad (0, 1)"],
    ),
    "the same quad of b for two": (
        mapped("lane // 8", "lane % 4"),
        ["Lanes 0 and 4 both have the quad (0, 0)", "nobody has the quad (0, 4)"],
    ),
    "neighbours share both": (
        mapped("lane >> 3 & 3", "lane >> 1 & 7"),
        ["Lanes 0 and 1 both have the quad (0, 0)"],
    ),
    "one quad for all": (mapped("0", "0"), ["Lanes 0 and 1 both have the quad (0, 0)"]),
    "a bit too few": (mapped("lane & 1", "lane >> 1 & 7"), ["Lanes 0 and 16 both have the quad"]),
    "the number of a quad for its place in sa": (
        [("load4(sa, down * 4)", "load4(sa, down)")],
        ["4 elements of sa at once from element 1", "quad q begins at element 4·q"],
    ),
    "the number of a quad for its place in sb": (
        [("load4(sb, across * 4)", "load4(sb, across)")],
        ["4 elements of sb", "quad q begins at element 4·q"],
    ),
    "the number of a quad for its row in c": (
        [("row + down * 4 + i", "row + down + i")],
        ["lane 1 begins at `c[1, 0]`", "multiples of 4"],
    ),
    "the number of a quad for its column in c": (
        [("col + across * 4", "col + across")],
        ["Four elements at once", "quad q begins at element 4·q"],
    ),
    "eight words a quad in sb": (
        [("load4(sb, across * 4)", "load4(sb, across * 8)")],
        ["`sb` has 8 quads, with the numbers 0 to 7"],
    ),
    "without row": (
        [("row + down", "down")],
        ["block (0, 0) is whole", "no tile begins at row 16", "have `row` in it"],
    ),
    "without col": (
        [("col + across", "across")],
        ["block (0, 0) is whole", "no tile begins at column 32", "have `col` in it"],
    ),
    "row and col exchanged": (
        [("(row + down * 4 + i, col + across * 4)", "(col + down * 4 + i, row + across * 4)")],
        ["whose tile begins at row"],
    ),
    "down and across exchanged in c": (
        [("(row + down * 4 + i, col + across * 4)", "(row + across * 4 + i, col + down * 4)")],
        ["it stores the quad", "4 quads down and 8 across"],
    ),
    "row by row in c alone": (
        [(STORE, "        store4(c, (row + lane // 8 * 4 + i, col + lane % 8 * 4), four)\n")],
        ["`c[0, 4]`", "Lane 1 reads the quads 1 of `sa` and 0 of `sb`", "stores the quad (0, 1)"],
    ),
    "row by row in the reads alone": (
        [(READS, "of_a, of_b = load4(sa, lane // 8 * 4), load4(sb, lane % 8 * 4)")],
        ["Lane 2 reads the quads 0 of `sa` and 2 of `sb`", "stores the quad (0, 1)"],
    ),
    "the first of a for all": (
        [("x = of_a[i]", "x = of_a[0]")],
        ["`c[1, 0]`", "`a[0]` times `b[0]`", "has read the right quads", "Which of their elements"],
    ),
    "elements of b in another order": (
        [("x * of_b[0], x * of_b[1]", "x * of_b[1], x * of_b[0]")],
        ["`a[0]` times `b[1]`", "Which of their elements"],
    ),
    "a times a": (
        [("of_b[0]", "of_a[0]")], ["`a[0]` times `a[0]`", "Which of their elements"],
    ),
    "a sum": (
        [(FOUR, FOUR.replace("*", "+"))], ["the sum of its two elements, and not their product"],
    ),
    "a number times a quad": (
        [(FOUR, "        four = x * of_b\n")],
        ["line 22", "`load4` gives a tuple of four numbers", "takes numbers and no tuples"],
    ),
    "a quad times a quad": (
        [(FOUR, "        four = of_a * of_b\n")], ["`load4` gives a tuple of four numbers"],
    ),
    "three numbers for four": (
        [(", x * of_b[3]", "")], ["needs a tuple of four numbers", "it is given 3 numbers"],
    ),
    "one number for four": (
        [(FOUR, ""), ("four)", "x)")], ["needs a tuple of four numbers", "it is given 1 number."],
    ),
    "a quad into one element": (
        [(FOUR + STORE, "        c[row + down * 4 + i, col + across * 4] = of_b\n")],
        ["line 22", "one number is stored into one element", "`store4(c, place, four)`"],
    ),
    "one number into a slice": (
        [(FOUR + STORE, "        j = col + across * 4\n"
          "        c[row + down * 4 + i, j : j + 4] = x * of_b[0]\n")],
        ["line 23", "one number is stored into one element"],
    ),
    "a list of four": (
        [(FOUR, "        four = [x * y for y in of_b]\n")], ["line 22", "Write the four numbers"],
    ),
    "a tuple from a loop": (
        [(FOUR, "        four = tuple(x * y for y in of_b)\n")],
        ["line 22", "Write the four numbers"],
    ),
    "b alone": ([(FOUR, "        four = of_b\n")], ["element of `b` alone"]),
    "three rows": (
        [("range(4)", "range(3)")], ["12 elements", "has 16", "row 3 is missing"],
    ),
    "one row": ([("range(4)", "range(1)")], ["4 elements", "row 1 is missing"]),
    "five rows": ([("range(4)", "range(5)")], ["A quad has four elements, 0 to 3"]),
    "rows four apart": (
        [("down * 4 + i, ", "down + 4 * i, ")], ["lane 1 begins at `c[1, 0]`", "multiples of 4"],
    ),
    "scalar reads of b": (
        [(", of_b = load4(sa, down * 4), load4(sb, across * 4)", " = load4(sa, down * 4)"),
         (FOUR + STORE, "        for j in range(4):\n"
          "            c[row + down * 4 + i, col + across * 4 + j] = x * sb[across * 4 + j]\n")],
        ["16 wavefronts to read `sb`", "32 bits at a time, 16 times"],
    ),
    "scalar reads of a": (
        [("of_a, of_b = load4(sa, down * 4), ", "of_b = "), ("of_a[i]", "sa[down * 4 + i]")],
        ["4 wavefronts to read `sa`", "32 bits at a time, 4 times"],
    ),
    "read in the loop": (
        [("of_a, of_b = load4(sa, down * 4), ", "of_a = "), ("load4(sb, across * 4)\n",
          "load4(sa, down * 4)\n"), (LOOP, f"{LOOP}        of_b = load4(sb, across * 4)\n")],
        ["8 wavefronts to read `sb`", "reads `sb` 4 times", "stand in a loop"],
    ),
    "stores twice": (
        [(STORE, STORE + STORE)], ["The result is right", "2 stores are made for an element"],
    ),
    "a bracket in the wrong place": (
        [("load4(sa, down * 4)", "load4(sa[down * 4])")],
        ["load4 takes 2 arguments", "`load4(x, place)`"],
    ),
    "one element for four": (
        [("store4(c, (row + down * 4 + i, col + across * 4), four)",
          "c[row + down * 4 + i, col + across * 4] = x * of_b[0]")],
        ["4 elements", "column 1 is missing"],
    ),
    "the first lanes only": (
        [(STORE, f"        if lane < 16:\n    {STORE}")], ["16 lanes of each warp store nothing"],
    ),
    "reads c": (
        [(STORE, "        for j in range(4):\n"
          "            c[row + down * 4 + i, col + across * 4 + j] += x * of_b[j]\n")],
        ["needs the value of `c` before"],
    ),
    "a plain function": ([("@cuda.jit\n", "")], ["no `@cuda.jit`"]),
}  # fmt: skip

RIGHT = {
    "z-order": mapped("lane >> 1 & 1 | lane >> 2 & 2", "lane & 1 | lane >> 1 & 2 | lane >> 2 & 4"),
    "the other pair of bits": mapped("lane >> 1 & 1 | lane >> 3 & 2", "lane & 1 | lane >> 1 & 6"),
    "by divisions": mapped("lane // 16 * 2 + lane % 2", "lane % 16 // 2"),
    "other bits above": mapped("lane & 1 | lane >> 1 & 2", "lane >> 1 & 1 | lane >> 2 & 6"),
    "turned around": mapped("3 - (lane >> 3 & 2 | lane & 1)", "7 - (lane >> 1 & 7)"),
    "scalar stores": [
        (FOUR + STORE, "        for j in range(4):\n"
         "            c[row + down * 4 + i, col + across * 4 + j] = x * of_b[j]\n"),
    ],
    "products in a local array": [
        (LOOP, f"    p = cuda.local.array((4, 4), float32)\n{LOOP}"),
        (FOUR, "        for j in range(4):\n            p[i, j] = x * of_b[j]\n"
         "        four = p[i, 0], p[i, 1], p[i, 2], p[i, 3]\n"),
    ],
    "names for the elements": [
        (READS, "of_a = load4(sa, 4 * down)\n    p, q, r, s = load4(sb, 4 * across)"),
        (FOUR, "        four = x * p, x * q, x * r, x * s\n"),
    ],
    "a barrier more": [(MAP, f"{MAP}\n    cuda.syncthreads()")],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", ["row by row", "neighbours share both", "row by row in c alone"])
def test_the_usual_mistakes_are_named(what):
    test_a_wrong_kernel_is_refused_with_its_cause(what)


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_choice_of_bits_is_judged_by_its_pairs():
    """Right are those where one of bits 0 and 1 goes down and the other across."""
    for down in itertools.combinations(range(5), 2):
        across = [bit for bit in range(5) if bit not in down]
        places = (
            " | ".join(f"(lane >> {bit} & 1) << {at}" for at, bit in enumerate(bits))
            for bits in (down, across)
        )
        verdict = check(NAME, changed(NAME, *mapped(*places)))
        assert verdict.passed == ((0 in down) != (1 in down)), str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    """In the lines that are given, other alignments: the virtual GPU does not look at them."""
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert all("alignment=16" in what for what in passed), passed


def test_the_inputs_are_different_primes():
    a, b = EXERCISES[NAME].inputs((3, 3), 5)
    assert len({*a, *b}) == 48 + 96
    np.testing.assert_array_equal(primes(8), [2, 3, 5, 7, 11, 13, 17, 19])
