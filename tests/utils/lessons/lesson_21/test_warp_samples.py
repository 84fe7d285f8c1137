"""Alt texts of the lesson's pictures: samples, needs, tiles and the sketch."""

from utils.lessons.lesson_21.resource_needs import draw_needs
from utils.lessons.lesson_21.roofline_idea import draw_idea
from utils.lessons.lesson_21.tile_roofs import draw as draw_tile_roofs
from utils.lessons.lesson_21.warp_samples import draw_samples


def test_the_words_name_the_highest_bars():
    drawn = draw_samples("Title", [("LDG.E", 0.1), ("FFMA", 0.6), ("BRA", 0.05), ("FFMA", 0.2)])
    assert "4 instructions; the most samples: FFMA 60%, FFMA 20%." in str(drawn)


def test_the_idea_says_what_each_kernel_can_do():
    assert "with fewer of them it moves up along the slope" in str(draw_idea())


def test_the_needs_mark_the_longest_one():
    drawn = draw_needs("Title", {"DRAM": 1.0, "L2": 2.0}, recorded=4.0)
    assert "DRAM 1.00 ms, L2 2.00 ms; recorded 4.00 ms." in str(drawn)
    assert drawn.body.count('font-weight="bold"') == 5  # title, and two texts of two bars


def test_tiles_are_drawn_by_the_function_that_is_given():
    drawn = draw_tile_roofs(lambda BM, BN, peak, rate: min(peak, BM * rate), 60_000, {"L2": 1_000})
    assert "L2, by the side of the tile: 4: 4,000, 8: 8,000" in str(drawn)
    assert "64: 60,000, 128: 60,000" in str(drawn)
