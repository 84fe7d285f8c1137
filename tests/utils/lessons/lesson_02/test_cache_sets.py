"""The pictures of a cache with sets show the formula of the task and the reader's function."""

from labs.exercises.room_in_sets import formula
from utils.lessons.lesson_02 import cache_sets
from utils.measuring.timing import Timing
from virtual_gpu.pictures.svg import BLUE, ORANGE


def test_a_set_is_orange_where_it_gets_more_than_it_holds():
    picture = cache_sets.draw_sets(fits=(64, 64), lost=(128, 128))
    assert str(picture).startswith(
        "64 rows of 64 words: 16 of 64 sets are used, at most 4 cache lines per set, with room for "
        "12, 64 of 64"
    )
    assert "at most 16 cache lines per set, with room for 12, 96 of 128" in str(picture)
    (fits, _), (lost, _) = cache_sets._panel(64, 64), cache_sets._panel(128, 128)
    assert fits.count(BLUE) >= len(cache_sets.in_each_set(64, 64))
    assert ORANGE not in fits
    assert lost.count(ORANGE) == len(cache_sets.in_each_set(128, 128))


def test_lengths_are_shown_with_the_room_of_the_readers_function_and_times_per_multiply_add():
    ms = cache_sets.ROWS * cache_sets.COLUMN * 16 / 1e6  # one ns per multiply-add
    timed = {16: Timing(ms, ms / 2, 2 * ms, 7, 1)}
    picture = str(cache_sets.draw_lengths(timed, lambda words, rows: words + rows))
    assert picture == (
        "16 words: 1040 cache lines with room in L1, 1024 in L2, 1.00 (0.50 … 2.00) ns."
    )


def test_every_length_is_timed(monkeypatch):
    monkeypatch.setattr(cache_sets, "COLUMN", 8)
    assert list(cache_sets.time_lengths((16, 17))) == [16, 17]


def test_the_room_is_that_of_the_task():
    for case in formula.cases():
        assert cache_sets.room(*case.given) == case.right
