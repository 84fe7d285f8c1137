"""The picture of the pair rule says what the virtual GPU counts, in words and in a browser."""

import numpy as np
import pytest

from utils.lessons.lesson_lane_maps.pair_rule import ARRANGEMENTS, draw_pair_rule
from virtual_gpu.counts.transactions import Pattern, wavefronts

ONE_MOVED = [*ARRANGEMENTS["neighbours together"]]
ONE_MOVED[9] = 7


@pytest.mark.parametrize("quads", [*ARRANGEMENTS.values(), ONE_MOVED, [0] * 32])
def test_the_words_have_the_count_of_the_virtual_gpu(quads):
    pattern = Pattern(np.array(quads)[None] * 16, np.ones((1, 32), bool))
    assert str(draw_pair_rule(quads)).startswith(f"{wavefronts(pattern, 16)} wavefronts")


def test_the_words_name_the_first_lanes_that_do_not_agree():
    assert "Lanes 8 and 9 read different quads, and so do lanes 0 and 2." in str(
        draw_pair_rule(ONE_MOVED)
    )


def test_lanes_move_by_buttons_clicks_and_keys(browser):
    shown = browser.open(draw_pair_rule()._repr_html_(), width=420)
    assert (shown.messages, shown.asked) == ([], [])
    assert shown.overflow <= 0
    assert shown.text(".count") == "4 wavefronts"
    for words in ("neighbours together", "next neighbours but one together"):
        shown.page.get_by_role("button", name=words, exact=True).click()
        assert shown.text(".count") == "2 wavefronts"
    shown.page.get_by_role("button", name="neighbours together", exact=True).click()
    shown.page.get_by_role("button", name="lane 9", exact=True).click()
    shown.page.locator(".quad").nth(7).click()
    drawn = draw_pair_rule(ONE_MOVED)
    assert f"{shown.text('.count')} {shown.text('.why')}" == str(drawn)
    assert shown.page.locator(".lane.apart").count() == 4
    lane = shown.page.get_by_role("button", name="lane 9", exact=True)
    for _ in range(3):
        lane.press("ArrowLeft")
    assert shown.text(".count") == "2 wavefronts"
