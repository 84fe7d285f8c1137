"""Blocks that wait for each other on a GPU with few slots."""

import pytest

from labs.exercises.waiting_blocks import formula
from utils.lessons.lesson_20.waiting_blocks import (
    BLOCKS,
    CAPTIONS,
    KERNELS,
    SLOTS,
    draw_waiting,
    ends,
    moments,
)


@pytest.mark.parametrize("slots", range(1, 5))
@pytest.mark.parametrize("blocks", range(1, 8))
def test_as_many_blocks_may_wait_as_the_formula_says(blocks, slots):
    most = formula.right(blocks, 1, slots)
    assert ends(blocks, slots, range(most))
    if most < blocks:
        assert not ends(blocks, slots, range(most + 1))


@pytest.mark.parametrize("waiting", KERNELS.values())
def test_no_block_is_lost_or_in_two_places(waiting):
    for moment in moments(BLOCKS, SLOTS, waiting):
        resident = [block for block in moment.slots if block is not None]
        assert sorted([*resident, *moment.queue, *moment.ended]) == list(range(BLOCKS))
        assert len(moment.slots) == SLOTS
        assert moment.ended <= moment.drawn


def test_a_block_that_waits_ends_after_all_have_drawn():
    before = None
    for moment in moments(BLOCKS, SLOTS, (0,)):
        if 0 in moment.ended:
            break
        before = moment
    assert len(before.drawn) == BLOCKS
    assert before.slots[0] == 0


def test_the_picture_says_which_kernel_never_ends():
    picture = draw_waiting()
    assert picture.alt.count("wait forever") == 1
    assert "blocks 2 and 3 never start" in picture.alt
    assert picture.body.count("waits forever</text>") > 0


def test_the_block_with_the_last_ticket_has_one_step_to_add():
    *_, before, last = moments(BLOCKS, SLOTS, ())
    assert last.is_over
    assert len(before.drawn) == BLOCKS
    assert [block for block in before.slots if block is not None] == [BLOCKS - 1]


def test_the_captions_tell_when_each_kernel_is_done():
    tickets, one, _ = (list(moments(BLOCKS, SLOTS, waiting)) for waiting in KERNELS.values())
    assert "with tickets, all is done" in CAPTIONS[len(tickets) - 1]
    assert "two kernels are done" in CAPTIONS[len(one) - 1]
    assert len(CAPTIONS) == max(len(tickets), len(one))
