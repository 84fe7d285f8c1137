"""Alt texts of the profiler samples, the shares of peaks and the roofline sketch."""

from utils.lessons.lesson_21.peak_shares import draw_peak_shares
from utils.lessons.lesson_21.roofline_idea import draw_idea
from utils.lessons.lesson_21.warp_samples import draw_samples


def test_the_words_name_the_highest_bars():
    drawn = draw_samples("Title", [("LDG.E", 0.1), ("FFMA", 0.6), ("BRA", 0.05), ("FFMA", 0.2)])
    assert "4 instructions; the most samples: FFMA 60%, FFMA 20%." in str(drawn)


def test_the_words_hold_every_share():
    rows = {"a CPU": {"first": 0.01, "best": 0.8}, "a GPU": {"first": 0.1, "best": 0.75}}
    drawn = draw_peak_shares("Title", rows)
    assert "a CPU, first: 1.0%; a CPU, best: 80.0%; a GPU, first: 10.0%" in str(drawn)
    assert drawn.body.count("<circle") == 2 + 4


def test_the_idea_says_what_each_kernel_can_do():
    assert "with fewer of them it moves up along the slope" in str(draw_idea())
