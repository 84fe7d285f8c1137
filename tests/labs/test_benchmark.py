"""Tests of the benchmark exercise: the sentences on faults of students' benchmarks."""

import statistics

import pytest

from labs import EXERCISES, check
from labs.exercises.benchmark.wrong import HEAD, STARTER
from labs.host.benchmark.timed_spans import TASKS
from tests.labs.versions import from_text, right, wrong
from utils.measuring.queue_model import ModelDevice

NAME = "benchmark"


def test_two_faults_of_the_arithmetic_are_two_sentences():
    mean, unit = check(NAME, wrong(NAME, "the mean, and 2^30")).causes
    assert "mean" in mean
    assert "2^30" in unit


@pytest.mark.parametrize(
    "what", ["the mean", "the least", "the greatest", "the sum", "the last alone"]
)
def test_no_cause_names_the_cure_of_a_wrong_average(what):
    assert "median" not in str(check(NAME, wrong(NAME, what)))


def test_the_answer_of_each_device_is_that_of_the_model():
    for task in TASKS:
        device = ModelDevice(task.speeds)
        answer = EXERCISES[NAME].solution(device, task.m, task.n, task.k)
        assert answer == pytest.approx(task.gflops, rel=0.01)


def test_faults_are_larger_than_what_the_check_forgives():
    for task in TASKS:
        speeds = task.speeds
        assert speeds.cold_s / speeds.hot_s > 1.1
        assert speeds.launch_s < 0.02 * speeds.cold_s
        assert statistics.mean(speeds.noise) > 1.1
        assert min(speeds.noise) < 0.95


def test_a_median_over_the_first_launch_is_remarked():
    verdict = check(NAME, right(NAME, "no first launch, but the median"))
    assert "The median leaves it out" in str(verdict)


def test_a_first_launch_that_is_thrown_away_is_not_remarked():
    text = (
        "import numpy as np\n\n\ndef benchmark(device, m, n, k):\n    rates = []\n"
        "    for _ in range(21):\n        device.flush()\n        device.synchronize()\n"
        "        start = device.now()\n        device.launch()\n        device.synchronize()\n"
        "        rates.append(2 * m * n * k / (device.now() - start) / 1e9)\n"
        "    return float(np.median(rates[1:]))\n"
    )
    verdict = check(NAME, from_text(NAME, text))
    assert verdict.passed, str(verdict)
    assert "first launch" not in str(verdict)


def test_an_answer_of_one_launch_is_refused_wherever_the_disturbed_ones_are():
    for kept in range(8):
        text = EXERCISES[NAME].solution_text.replace("statistics.median(times)", f"times[{kept}]")
        assert not check(NAME, from_text(NAME, text)).passed


def test_the_starter_is_told_its_four_faults_one_after_the_other():
    repairs = [
        ("is read too early", "    seconds", "    device.synchronize()\n    seconds"),
        ("compiles", "    start", "    device.launch()\n    device.synchronize()\n    start"),
        ("in the cache", STARTER, EXERCISES[NAME].solution_text.partition("k):\n")[2]
         .replace("10**9", "2**30")),
        ("2^30", "2**30", "10**9"),
    ]  # fmt: skip
    text = STARTER
    for words, old, new in repairs:
        (cause,) = check(NAME, from_text(NAME, HEAD + text)).causes
        assert words in cause, cause
        text = new if old == STARTER else text.replace(old, new)
    assert check(NAME, from_text(NAME, HEAD + text)).passed
