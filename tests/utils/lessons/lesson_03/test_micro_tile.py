"""The pictures of panels, registers and the bounds of tiles show what they should."""

import pytest

from utils.lessons.lesson_03 import micro_tile

PICTURES = {
    "packing": (micro_tile.draw_packing, "begin at 0, 16, 32, 48"),
    "micro-tile": (micro_tile.draw_micro_tile, "one vector of 8 elements of b"),
    "registers": (
        micro_tile.draw_registers,
        "6×16 takes 12 for sums, 2 for b and one for a; 8 loads for 12 multiply-adds: 0.67; "
        "at most 100% by its sums, 100% by its loads",
    ),
}


@pytest.mark.parametrize("what", PICTURES)
def test_a_picture_says_in_words_what_it_shows(what):
    draw, words = PICTURES[what]
    picture = draw()
    assert words in str(picture)
    assert "<svg" in picture.body


def test_packed_vectors_begin_one_behind_the_other():
    assert "packed into panels of 8 columns, they begin at 0, 8, 16, 24" in (
        str(micro_tile.draw_packing()).replace("Packed", "packed")
    )


def test_the_sums_are_stored_only_after_the_last_step():
    drawn = micro_tile.draw_micro_tile().body
    assert drawn.index("step 2: multiply, and add to sum 1") < drawn.index("store sum 0 into c")
    assert drawn.count('aria-label="after the last step') == 2


def test_a_step_changes_one_register_at_a_time():
    before = micro_tile.registers([])
    for at, changed in enumerate(
        ("vector of b", "element of a", "sum 0", "element of a", "sum 1"), start=1
    ):
        done = [(0, action) for action in micro_tile._ACTIONS[:at]]
        after = micro_tile.registers(done)
        assert [name for name in after if after[name] != before[name]] == [changed]
        before = after
