"""In the schedules of one and two buffers, no value is used early or overwritten in use."""

from itertools import pairwise

import pytest

from utils.lessons.lesson_14 import instruction_timeline
from utils.lessons.lesson_14.double_buffering import (
    BUFFER_COLOURS,
    COLOURS,
    LOAD,
    MULTIPLY,
    PUT,
    TILES,
    Schedule,
    draw_buffers,
    draw_late_and_early,
    draw_steps,
    steps_with_one_set,
    steps_with_two_sets,
    tiles_loaded_late,
    tiles_with_one_buffer,
    tiles_with_two_buffers,
    waits,
)

TILE_TIMES = tiles_loaded_late, tiles_with_one_buffer, tiles_with_two_buffers
STEP_TIMES = steps_with_one_set, steps_with_two_sets


def bars(schedule: Schedule, track: str) -> dict:
    return {bar.number: bar for bar in schedule.bars if bar.track == track}


@pytest.mark.parametrize("time", [time() for time in (*TILE_TIMES, *STEP_TIMES)])
def test_bars_of_a_track_do_not_overlap(time):
    for track in {bar.track for bar in time.bars}:
        spans = sorted((bar.begin, bar.end) for bar in time.bars if bar.track == track)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))


@pytest.mark.parametrize("time", [time() for time in TILE_TIMES])
def test_a_tile_is_stored_when_it_has_come_and_multiplied_behind_a_barrier(time):
    loads, stores, sums = (bars(time, one) for one in ("loads", "stores", "multiply-adds"))
    assert len(loads) == len(stores) == len(sums) == TILES
    for tile in range(TILES):
        assert loads[tile].end <= stores[tile].begin
        assert any(stores[tile].end <= at <= sums[tile].begin for at in time.barriers)
        assert stores[tile].buffer == sums[tile].buffer


@pytest.mark.parametrize("time", [time() for time in TILE_TIMES])
def test_a_buffer_is_filled_when_its_last_tile_is_done_and_a_barrier_is_between(time):
    for store in bars(time, "stores").values():
        for use in bars(time, "multiply-adds").values():
            if use.number < store.number and use.buffer == store.buffer:
                assert any(use.end <= at <= store.begin for at in time.barriers)


def test_two_buffers_need_a_barrier_for_each_tile_and_one_buffer_two():
    assert len(tiles_loaded_late().barriers) == 2 * TILES
    assert len(tiles_with_one_buffer().barriers) == 2 * TILES - 1  # none after the last tile
    assert len(tiles_with_two_buffers().barriers) == TILES


def test_with_early_loads_only_the_first_tile_is_waited_for():
    assert len(waits(tiles_loaded_late(), LOAD)) == TILES
    for schedule in (tiles_with_one_buffer(), tiles_with_two_buffers()):
        assert waits(schedule, LOAD) == [(0, LOAD + PUT)]
    assert LOAD < MULTIPLY


@pytest.mark.parametrize("time", [time() for time in STEP_TIMES])
def test_a_step_is_multiplied_when_its_words_have_come(time):
    reads, sums = bars(time, "reads"), bars(time, "multiply-adds")
    assert all(reads[step].end <= sums[step].begin for step in sums)


def test_words_of_two_steps_lie_in_different_sets():
    buffers = [bar.buffer for bar in bars(steps_with_two_sets(), "multiply-adds").values()]
    assert all(one != two for one, two in pairwise(buffers))


def test_the_words_give_no_number_for_what_is_not_to_scale():
    for drawn in (draw_late_and_early(), draw_buffers(), draw_steps()):
        assert drawn.alt.endswith("Not to scale.")


def test_colours_mean_the_same_as_in_the_strip_of_machine_code():
    strip = instruction_timeline.COLOURS
    same = {"loads": strip["LDG"], "reads": strip["LDS"], "stores": strip["STS"]}
    assert same == COLOURS
    assert BUFFER_COLOURS[0] == strip["FFMA"]
    assert not set(BUFFER_COLOURS) & set(COLOURS.values())
