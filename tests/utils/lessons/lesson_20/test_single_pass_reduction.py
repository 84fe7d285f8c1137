"""Tickets at a counter: which block draws which number, and when."""

from utils.lessons.lesson_20.single_pass_reduction import (
    ENDS,
    START,
    draw_launches,
    draw_tickets,
    order_of,
)


def test_blocks_draw_in_the_order_in_which_they_end():
    order = order_of()
    assert sorted(order) == list(range(len(ENDS)))
    assert [ENDS[block] for block in order] == sorted(ENDS)
    assert order != sorted(order)


def test_a_block_ends_after_it_has_begun_and_at_a_time_of_its_own():
    assert min(ENDS) > START
    assert len(set(ENDS)) == len(ENDS)


def test_each_number_is_drawn_once_and_the_counter_is_set_back():
    alt = draw_tickets().alt
    assert [alt.count(f"draws number {number}") for number in range(len(ENDS))] == [1] * len(ENDS)
    assert alt.count("sets the counter back to 0.") == 1


def test_a_picture_for_each_step_and_one_more_below_a_legend():
    assert draw_tickets().body.count("<svg") == 1 + len(ENDS) + 2


def test_the_last_block_adds_in_the_same_launch():
    assert f"block {order_of()[-1]}, which draws the last one, adds them" in draw_launches().alt
