"""Tests that every figure keeps the rules, and that each rule finds a violation."""

import pytest

from tests.utils.figures.example_figures import (
    FIGURES,
    cut_off,
    foreign_colours,
    pointing_at_others,
    shared_ids,
    texts,
    too_many_labels,
    too_small_on_a_phone,
    touching,
)
from utils.figures import page
from utils.figures.look import COLOURS, new_figure, style, with_alt

ENDS = {f"step_{i}": (1, 0.5, COLOURS[0]) for i in range(7)}


@pytest.fixture(scope="module", params=FIGURES)
def figure(request):
    return FIGURES[request.param]()


@pytest.fixture(scope="module")
def shown(figure):
    return page.as_html(figure)


@pytest.fixture
def empty_figure():
    """Return a figure with empty axes, into which a test draws something wrong."""
    with style():
        figure = with_alt(new_figure("A title", "a device", height=3), "nothing")
        figure.add_subplot()
    return figure


def test_a_phone_shows_all_words_large_enough(shown):
    assert too_small_on_a_phone(shown) == []


def test_no_text_is_cut_off_and_no_two_touch(figure):
    assert cut_off(figure) == []
    assert touching(figure) == []


def test_no_label_points_at_another(figure):
    assert pointing_at_others(figure) == []


def test_at_most_six_series_have_labels(figure):
    assert too_many_labels(figure) == []


def test_all_colours_are_the_pages_ink_or_a_series(shown):
    assert foreign_colours(shown) == set()


def test_the_figure_says_which_device_it_is_of(figure):
    assert any("NVIDIA H200" in text or "warps per SM" in text for text in texts(figure))


def test_an_output_is_not_large(shown):
    assert len(shown.encode()) <= page.MOST_BYTES


def test_figures_on_one_page_share_no_ids():
    pages = [page.as_html(FIGURES[name]()) for name in ("curve", "old and new", "staircase")]
    assert shared_ids(*pages) == set()
    assert shared_ids(pages[0], pages[0]) != set()


def test_small_words_would_be_found(empty_figure):
    empty_figure.axes[0].text(0, 0, "small", fontsize=9)
    assert too_small_on_a_phone(page.as_html(empty_figure)) == ["small"]


def test_words_that_are_cut_off_or_touch_would_be_found(empty_figure):
    (axes,) = empty_figure.axes
    axes.annotate("outside", (1, 0.5), (30, 0), textcoords="offset points").set_in_layout(False)
    for words in ("one", "other"):
        axes.text(0.5, 0.5, words)
    assert cut_off(empty_figure) == ["outside"]
    assert ("one", "other") in touching(empty_figure)


def test_a_label_that_points_at_another_would_be_found(empty_figure):
    axes = empty_figure.axes[0]
    axes.annotate("between", (0.4, 0.5), fontweight="bold", va="center")
    axes.annotate("far", (0.1, 0.5), (0.9, 0.5), arrowprops={"arrowstyle": "-"}, va="center")
    assert pointing_at_others(empty_figure) == ["between"]


def test_a_seventh_label_would_be_found(empty_figure):
    for index in range(7):
        empty_figure.axes[0].annotate(f"step_{index}", (0, index / 7), fontweight="bold")
    assert too_many_labels(empty_figure) == ["step_6"]


def test_a_colour_of_a_light_page_would_be_found(empty_figure):
    empty_figure.axes[0].text(0, 0, "white", color="#fafaf8")
    assert foreign_colours(page.as_html(empty_figure)) == {"#fafaf8"}
