"""Pictures of fewer warps, and of the reader's calculator."""

from labs.exercises.resident_blocks.solution import resident_blocks
from labs.exercises.shared_for.solution import shared_for
from utils.lessons.lesson_08 import fewer_warps, staircase


def test_the_alt_text_has_the_ends_of_each_curve():
    drawn = fewer_warps.draw("naive", "vectorized")
    assert "naive takes 26.7 ms with 64 warps and 232.6 ms with 8" in drawn._repr_html_()
    assert "vectorized takes 3.8 ms with 16 warps and 14.5 ms with 2" in drawn._repr_html_()
    assert "register_blocked" not in drawn._repr_html_()


def test_the_figure_of_equal_warps_has_the_times_and_the_sums():
    drawn = fewer_warps.draw_equal(8)._repr_html_()
    assert "naive takes 232.6 ms, sums per thread: 1; tiled takes 84.7 ms" in drawn
    assert "vectorized takes 4.8 ms, sums per thread: 64" in drawn


def test_a_table_shows_what_the_readers_bytes_give():
    rows = fewer_warps.blocks_with(shared_for).rows
    assert [row[0] == row[2] for row in rows] == [True] * len(rows)
    small = fewer_warps.blocks_with(lambda blocks, static: shared_for(blocks + 1, static)).rows
    assert all(int(row[2]) == min(int(row[0]) + 1, 8) for row in small)


def test_the_staircase_counts_the_answers_of_the_driver_on_it():
    answers = len(staircase.driver_answers())
    assert f"{answers} of {answers} answers" in staircase.draw(resident_blocks)._repr_html_()
    assert f"{answers} of {answers}" not in staircase.draw(lambda *needs: 8)._repr_html_()
