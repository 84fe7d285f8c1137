"""The exercise `slices`: each wrong search is refused with what it takes for the time."""

import pytest

from labs import EXERCISES, check
from labs.slices.exercise import best
from tests.labs.readers import changed, mutants_of

NAME = "slices"
COUNTS = "(1, 2, 3, 4, 6, 8, 12)"
WAVES = "-(-tiles * count // sms)"
TIME = "waves * (-(-steps // count) + 2)"
ADDED = "            if count > 1:\n                time += 4\n"
LONGEST = "-(-steps // count)"
KEPT = "if best == 0 or time < least"
LAST = "    return best\n"

WRONG = {
    "the largest of equals": ([(KEPT, "if best == 0 or time <= least")], ["Of equals"]),
    "never cut": ([(LAST, "    return 1\n")], ["never cuts a tile"]),
    "always the most": ([(KEPT, "if best == 0 or time")], ["always the largest number"]),
    "as many as fit": (
        [(TIME, "-count if tiles * count <= sms else 0"), (ADDED, "")],
        ["the largest number of slices that fits into one wave"],
    ),
    "waves that are not whole": (
        [(WAVES, "tiles * count / sms")],
        ["never cuts a tile", "12 slices of each: 1 wave, 1·(6 + 2) + 4 = 12", "then rounded up"],
    ),
    "waves rounded down": ([(WAVES, "tiles * count // sms")], ["never cuts a tile"]),
    "at least one wave": (
        [(WAVES, "max(1, tiles * count // sms)")],
        ["there is at least one", "rounds down"],
    ),
    "one step more": ([(LONGEST, "(steps // count + 1)")], ["`steps // count + 1`"]),
    "one wave and one step more": (
        [(WAVES, "tiles * count // sms + 1"), (LONGEST, "(steps // count + 1)")],
        ["one wave and one step more than needed"],
    ),
    "waves of whole tiles, times the slices": (
        [(WAVES, "-(-tiles // sms) * count")],
        ["never cuts a tile", "1·(6 + 2) + 4 = 12"],
    ),
    "one wave more": ([(WAVES, "tiles * count // sms + 1")], ["`// sms + 1`"]),
    "no waves": ([(WAVES, "1")], ["makes no difference to your waves"]),
    "waves of whole tiles": (
        [(WAVES, "-(-tiles // sms)")],
        ["makes no difference to your waves"],
    ),
    "no beginning": ([(" + 2)", ")")], ["The 2 steps with which a slice begins"]),
    "one beginning": (
        [(TIME, f"waves * {LONGEST} + 2")],
        ["count once. They count in each wave"],
    ),
    "nothing added": ([(ADDED, "")], ["The 4 steps for adding", "missing"]),
    "added for one slice": (
        [(ADDED, "            time += 4\n")],
        ["The 4 steps for adding", "that is not cut, too"],
    ),
    "added for each slice": (
        [("time += 4", "time += 4 * count")],
        ["for each slice in your estimate"],
    ),
    "added for each but the first": (
        [("time += 4", "time += 4 * (count - 1)")],
        ["for each slice behind the first"],
    ),
    "added in each wave": ([("time += 4", "time += 4 * waves")], ["in each wave in your"]),
    "added in each wave, and always": (
        [(TIME, "waves * (-(-steps // count) + 2 + 4)"), (ADDED, "")],
        ["in each wave in your estimate, and for a tile that is not cut, too"],
    ),
    "steps rounded down": ([(LONGEST, "steps // count")], ["`steps // count`", "one more"]),
    "steps not rounded": ([(LONGEST, "steps / count")], ["`steps / count`", "longest slice"]),
    "whole tiles": ([(LONGEST, "steps")], ["a slice has fewer steps than a tile"]),
    "12 left out": ([(COUNTS, "(1, 2, 3, 4, 6, 8)")], ["12 slices are not tried"]),
    "every number": ([(COUNTS, "range(1, 13)")], ["Every number from 1 to 12"]),
    "every number up to 11": ([(COUNTS, "range(1, 12)")], ["Every number from 1 to 11"]),
    "every number, and added always": (
        [(COUNTS, "range(1, 13)"), (ADDED, "            time += 4\n")],
        ["Every number from 1 to 12", "4 steps count for a tile that is not cut"],
    ),
    "every number, and twice the beginning": (
        [(COUNTS, "range(1, 13)"), (" + 2)", " + 2 + 2)")],
        ["11 is none of the numbers to try: 1, 2, 3, 4, 6, 8 and 12."],
    ),
    "more slices than steps": ([("if count <= steps:", "if True:")], ["than a tile has steps"]),
    "fewer slices than steps": ([("count <= steps:", "count < steps:")], ["`<` stands where"]),
    "powers of two": ([(COUNTS, "(1, 2, 4, 8)")], ["Only powers of two"]),
    "from two on": ([(COUNTS, "(2, 3, 4, 6, 8, 12)")], ["not cut, is not tried"]),
    "the longest": ([("time < least", "time > least")], ["the longest estimated time"]),
    "the time": ([(LAST, "    return least\n")], ["This is the shortest time"]),
    "the time of more slices than steps": (
        [("if count <= steps:", "if True:"), (LAST, "    return least\n")],
        ["This is the shortest time, and of more slices than a tile has steps"],
    ),
    "the time of a part of the numbers": (
        [(COUNTS, "(1, 2, 3, 4, 6, 8)"), (LAST, "    return least\n")],
        ["102 is none of the numbers to try", "It is a time, 102 steps", "Return the number"],
    ),
    "the place": (
        [(LAST, f"    return {COUNTS}.index(best)\n")],
        ["the place in the list, from 0 on"],
    ),
    "the waves": (
        [(LAST, "    return -(-tiles * best // sms)\n")],
        ["the number of waves"],
    ),
    "all slices": ([(LAST, "    return tiles * best\n")], ["the number of all slices"]),
    "tiles and SMs exchanged": (
        [(WAVES, "-(-sms * count // tiles)")],
        ["For `tiles", "steps"],
    ),
    "nothing returned": ([(LAST, "    best\n")], ["returns nothing"]),
    "a float": ([(LAST, "    return best / 2\n")], ["is whole, and this is not"]),
    "true division everywhere": (
        [(WAVES, "tiles * count / sms"), (LONGEST, "steps / count")],
        ["never cuts a tile"],
    ),
    "a loop without an end": (
        [(LAST, "    while best:\n        least += 1\n    return best\n")],
        ["steps"],
    ),
}

RIGHT = {
    "ceil of math": [
        (WAVES, "math.ceil(tiles * count / sms)"),
        ("def slices", "import math\n\n\ndef slices"),
    ],
    "a remainder": [(LONGEST, "(steps + count - 1) // count")],
    "backwards": [
        (COUNTS, "(12, 8, 6, 4, 3, 2, 1)"),
        (KEPT, "if best == 0 or time <= least"),
    ],
    "a list": [
        (COUNTS, "[1, 2, 3, 4, 6, 8, 12]"),
    ],
    "a dictionary": [
        ("best, least = 0, 0", "times = {}"),
        (KEPT, "if True"),
        ("best, least = count, time", "times[count] = time"),
        (LAST, "    return min(times, key=times.get)\n"),
    ],
    "an early value": [
        ("best, least = 0, 0", "best, least = 1, -(-tiles // sms) * (steps + 2)"),
        (KEPT, "if time < least"),
    ],
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_search_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_search_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    assert [what for what, search in mutants_of(NAME) if check(NAME, search).passed] == EQUIVALENT


# What `least` holds at first is never compared.
EQUIVALENT = [
    "names_exchanged in `best, least = 0, 0`",
    "constant_one_more in `best, least = 0, 0`",
    "constant_one_less in `best, least = 0, 0`",
]


def test_each_slip_differs_from_the_right_answers():
    asked = EXERCISES[NAME]
    chosen = asked.all_cases[: asked.enough]
    for slip in asked.slips:
        wrong = [case for case in chosen if _answer(slip, case.given) != case.right]
        assert wrong, slip.sentence


def _answer(slip, given):
    try:
        return slip.formula(*given)
    except (ArithmeticError, ValueError):
        return None


def test_the_recorded_shape_of_the_lesson_is_cut_in_three():
    assert best()(35, 132, 1060) == 3
