"""The exercise `attainable`: each wrong formula is refused with the mistake that explains it."""

import pytest

from labs import EXERCISES, check
from labs.attainable.exercise import CASES
from tests.labs.readers import changed, from_text, mutants_of
from utils.measuring.roofline import Ceilings

NAME = "attainable"
OPERATIONS = "2 * BM * BN"
MOVED = "4 * (BM + BN)"
INTENSITY = "operations / moved"
RESULT = "min(peak, intensity * bandwidth)"

WRONG = {
    "no roof": ([(RESULT, "intensity * bandwidth")], ["you return 32,000", "The roof is missing"]),
    "the peak alone": ([(RESULT, "peak")], ["This is the peak alone"]),
    "the higher ceiling": ([("min(", "max(")], ["the higher one of two ceilings"]),
    "both ceilings added": ([(RESULT, "peak + intensity * bandwidth")], ["You add the two"]),
    "one operation": ([("2 * BM", "BM")], ["allow half of what is right", "two operations"]),
    "words for bytes": ([(MOVED, "BM + BN")], ["You count words", "a float32 has 4"]),
    "float64": ([(MOVED, "8 * (BM + BN)")], ["allow half of what is right", "4 bytes"]),
    "float16": ([(MOVED, "2 * (BM + BN)")], ["allow twice what is right", "4 bytes"]),
    "words and one operation": (
        [("2 * BM", "BM"), (MOVED, "BM + BN")],
        ["allow twice what is right", "two operations"],
    ),
    "the whole tile moves": (
        [(MOVED, "4 * BM * BN")],
        ["a byte serves half an operation", "BM + BN words"],
    ),
    "a alone": ([(MOVED, "4 * BM")], ["the words of `a` alone"]),
    "b alone": ([(MOVED, "4 * BN")], ["the words of `b` alone"]),
    "a square of BM": ([("* BN\n", "* BM\n"), ("BM + BN", "BM + BM")], ["a square of BM"]),
    "a square of BN": ([("2 * BM", "2 * BN"), ("BM + BN", "BN + BN")], ["a square of BN"]),
    "multiply-adds of the sides": (
        [(OPERATIONS, "2 * (BM + BN)")],
        ["a byte serves half an operation", "BM · BN multiply-adds"],
    ),
    "bytes per operation": ([(INTENSITY, "moved / operations")], ["divided the wrong way round"]),
    "bandwidth over intensity": (
        [("intensity * bandwidth", "bandwidth / intensity")],
        ["divided the wrong way round"],
    ),
    "rounded down": ([(INTENSITY, "operations // moved")], ["rounded to a whole number"]),
    "rounded": ([(INTENSITY, "round(operations / moved)")], ["rounded to a whole number"]),
    "the intensity": ([(RESULT, "intensity")], ["This is the intensity, and GFLOP/s"]),
    "the ridge": ([(RESULT, "peak / bandwidth")], ["This is the ridge"]),
    "the bandwidth": ([(RESULT, "min(peak, bandwidth)")], ["This is the bandwidth"]),
    "a share": ([(RESULT, "min(1, intensity * bandwidth / peak)")], ["the share of the peak"]),
    "nothing returned": ([("return ", "answer = ")], ["returns nothing"]),
    "no brackets around the sides": ([(MOVED, "4 * BM + BN")], ["only BM is multiplied by 4"]),
    "no brackets around the bytes": (
        [("operations / moved", "operations / 4 * (BM + BN)")],
        ["divides by 4 and then multiplies"],
    ),
    "bits a second": ([("* bandwidth", "* 8 * bandwidth")], ["8 times what is right", "not bits"]),
    "bits of a word": ([(MOVED, "32 * (BM + BN)")], ["an eighth of what is right", "32 bits"]),
    "three words an element": ([(MOVED, "12 * BM * BN")], ["a sixth of an operation"]),
    "two words a multiply-add": ([(MOVED, "8 * BM * BN")], ["a quarter of an operation"]),
    "whole matrices": ([(INTENSITY, "BM / 6")], ["A side divided by 6", "BM + BN words"]),
    "the stores of c": ([(MOVED, "4 * (BM + BN + BM * BN)")], ["a store of c for every k"]),
    "a GB of 2^30 bytes": (
        [("* bandwidth", "* bandwidth * 2**30 / 1e9")],
        ["A GB has 10⁹ bytes"],
    ),
    "intensities compared": (
        [(RESULT, "min(peak / bandwidth, intensity)")],
        ["You compare intensities"],
    ),
    "times added": (
        [(RESULT, "1 / (1 / peak + 1 / (intensity * bandwidth))")],
        ["You add the times"],
    ),
    "TFLOP/s": ([(RESULT, RESULT + " / 1000")], ["This is in TFLOP/s"]),
    "FLOP/s": ([(RESULT, RESULT + " * 1e9")], ["This is in FLOP/s"]),
    "one ceiling in FLOP/s": (
        [("* bandwidth", "* bandwidth * 1e9")],
        ["the peak alone, in all cases", "in GFLOP/s, too?"],
    ),
    "the H200's bandwidth": ([("* bandwidth", "* 4_294")], ["4,294 GB/s in all cases"]),
    "the H200's peak": ([("min(peak", "min(65_108")], ["65,108 GFLOP/s as the roof"]),
    "an answer that no slip explains": (
        [(RESULT, "min(peak, intensity * bandwidth / 1024)")],
        ["8 operations for each byte", "divided by the bandwidth is 0.00781"],
    ),
    "a ceiling far too high": (
        [("* bandwidth", "* 80 * bandwidth / BM")],
        ["8 operations for each byte", "you allow more operations for a byte"],
    ),
}

RIGHT = {
    "one expression": [(RESULT, "min(peak, BM * BN / (BM + BN) / 2 * bandwidth)")],
    "a test": [(RESULT, "peak if intensity * bandwidth > peak else intensity * bandwidth")],
    "harmonic": [(RESULT, "min(peak, bandwidth / (2 / BM + 2 / BN))")],
    "times first": [(RESULT, "min(operations * bandwidth / moved, peak)")],
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_formula_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_formula_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_no_answer_is_called_one_that_must_be_whole():
    for what, (changes, _) in WRONG.items():
        assert "whole, and this" not in str(check(NAME, changed(NAME, *changes))), what


def test_the_starter_is_told_that_it_returns_nothing():
    (cause,) = check(NAME, EXERCISES[NAME].starter).causes
    assert "returns nothing" in cause


def test_the_cases_are_those_of_a_roofline():
    for (BM, BN, peak, bandwidth), right, _ in CASES:
        roof = Ceilings("paper", peak, {"L2": bandwidth})
        intensity = BM * BN / (2 * (BM + BN))
        assert min(roof.gflops, intensity * roof.gb_per_s["L2"]) == pytest.approx(right)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    assert [what for what, function in mutants_of(NAME) if check(NAME, function).passed] == []


def test_the_starter_has_the_name_of_the_solution():
    assert from_text(NAME, EXERCISES[NAME].starter_text).__name__ == NAME
