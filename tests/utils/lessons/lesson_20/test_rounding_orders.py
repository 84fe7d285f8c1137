"""Two runs of four blocks: the values of the result, and the words for them."""

import numpy as np

from utils.lessons.lesson_20.rounding_orders import (
    RUNS,
    SUMS,
    different_sums,
    draw_orders,
    running_sums,
)


def test_running_sums_are_those_of_float32():
    total, expected = np.float32(0), []
    for block in RUNS["another run"]:
        total = np.float32(total + np.float32(SUMS[block]))
        expected.append(int(total))
    assert running_sums(RUNS["another run"]) == expected


def test_two_runs_have_the_same_blocks_and_different_results():
    assert len({tuple(sorted(order)) for order in RUNS.values()}) == 1
    assert len({running_sums(order)[-1] for order in RUNS.values()}) == len(RUNS)


def test_every_block_fits_into_float32_exactly():
    assert [int(np.float32(one)) for one in (*SUMS, sum(SUMS))] == [*SUMS, sum(SUMS)]


def test_the_words_say_how_far_a_run_is_off():
    alt = draw_orders().alt
    lost = sum(SUMS) - running_sums(RUNS["one run"])[-1]
    assert f"The result is {lost} too small." in alt
    assert "The result is exact." in alt


def test_different_sums_are_counted_by_the_results_of_all_orders():
    assert different_sums(np.ones(64), blocks=4, orders=50) == 1
    assert different_sums(np.array([2.0**24, 1, 1, 1]), blocks=4, orders=50) > 1
