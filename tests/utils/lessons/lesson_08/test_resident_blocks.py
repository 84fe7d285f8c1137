"""The picture of an SM holds as many blocks as fit, and marks the exhausted resources."""

import re

import pytest

from utils.lessons.lesson_08.resident_blocks import (
    SMALL,
    blocks_that_fit,
    draw_rack,
    what_if_registers,
)

BLOCK = {"warp slots": 2, "registers": 5, "shared memory": 2}


def pictures(picture) -> list[str]:
    return re.findall(r'<div class="frame.*?</svg></div>', picture.body, flags=re.DOTALL)


def test_the_smallest_room_decides():
    assert blocks_that_fit(BLOCK) == {
        "warp slots": 4, "block slots": 6, "registers": 3, "shared memory": 6,
    }  # fmt: skip
    assert "shared memory" not in blocks_that_fit({"warp slots": 1, "registers": 1})


def test_blocks_are_put_in_one_by_one_and_the_last_picture_says_what_has_no_room():
    shown = pictures(draw_rack(BLOCK))
    assert len(shown) == 4
    for placed, picture in enumerate(shown[:3], start=1):
        cells = placed * (2 + 5 + 2 + 1)
        assert picture.count("fill:#fff") == cells
        assert "no room" not in picture
    assert shown[3].count("fill:#fff") == shown[2].count("fill:#fff")
    assert shown[3].count("no room<") == 1
    assert "1 left, 5 needed: no room" in shown[3]


def shown_first(picture) -> str:
    (first,) = [one for one in pictures(picture) if one.startswith('<div class="frame on">')]
    return first


def test_both_pictures_start_where_something_has_run_out():
    for picture in (draw_rack(BLOCK), what_if_registers(BLOCK, range(2, 9))):
        assert "1 left, 5 needed: no room" in shown_first(picture)
        assert 'value="3" aria-label' in picture.body
    assert "<output>5 portions</output>" in what_if_registers(BLOCK, range(2, 9)).body


def test_the_words_say_how_many_blocks_and_why():
    description = str(draw_rack(BLOCK))
    assert "So the SM holds 3 blocks" in description
    assert "no room for one more in registers" in description


@pytest.mark.parametrize(
    ("block", "full"),
    [
        ({"warp slots": 3, "registers": 2}, "warp slots"),
        ({"warp slots": 1, "registers": 1}, "block slots"),
        ({"warp slots": 2, "registers": 2, "shared memory": 5}, "shared memory"),
        ({"warp slots": 2, "registers": 4}, "warp slots and registers"),
    ],
)
def test_each_resource_can_be_the_one_that_is_full(block, full):
    assert f"There is no room for one more in {full}." in str(draw_rack(block))


def test_more_registers_for_a_block_leave_fewer_blocks():
    picture = what_if_registers(BLOCK, range(1, 9))
    counts = [int(count) for count in re.findall(r": (\d) block", str(picture))]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == SMALL["warp slots"] // 2
    assert len(pictures(picture)) == 8
