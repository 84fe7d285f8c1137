"""Reductions compared: launches, memory, rates, and the order of their additions."""

from reduce_kernels import LADDER
from utils.lessons.lesson_20.reduction_comparison import needed, rates, ways_with_a_free_order


def test_launches_and_bytes_are_those_of_the_steps_own_calls():
    blocks = LADDER.step("reduce9").variant().launch(LADDER.parse("2^28")).blocks
    assert needed(LADDER.step("reduce8"), "2^28") == (2, 4 * blocks)
    assert needed(LADDER.step("reduce9"), "2^28") == (1, 4 * blocks + 4)


def test_many_partial_sums_take_a_launch_more():
    assert needed(LADDER.step("reduce8"), "2^30")[0] == 3


def test_a_rate_is_bytes_over_the_recorded_time():
    shown = rates({"tickets": LADDER.step("reduce9")}, "2^30")
    assert shown.head == ("GB/s", "2³⁰")
    assert [row[0] for row in shown.rows] == ["tickets", "CUB (CuPy)"]
    assert shown.rows[0][1] == "4,684"


def test_a_way_without_a_fixed_order_adds_to_the_result_by_atomics():
    ways = {"fixed": LADDER.step("reduce9"), "free": LADDER.step("reduce_atomic")}
    assert ways_with_a_free_order(ways) == ["free"]
