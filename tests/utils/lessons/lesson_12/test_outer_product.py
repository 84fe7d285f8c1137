"""The pictures of a thread's tile show the reads of each step, and those of other tiles."""

import re

from utils.lessons.lesson_12.outer_product import (
    DEPTH,
    SIZE,
    A,
    B,
    draw_outer_product,
    draw_tile_sizes,
)
from virtual_gpu.pictures.svg import ORANGE, PURPLE


def drawn():
    shown = draw_outer_product()._repr_html_()
    return re.findall(r'<div class="frame.*?</div>', shown, flags=re.DOTALL)


def corners(moment, colour):
    matches = re.findall(rf'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill="{colour}"', moment)
    return {(float(x) - 0.5, float(y) - 0.5) for x, y in matches}


def test_each_step_reads_a_column_of_a_and_a_row_of_b():
    steps = drawn()[1:]
    assert len(steps) == DEPTH
    for z, step in enumerate(steps):
        a_words = {(x, y) for x, y in corners(step, ORANGE) if y >= A[1]}
        b_words = corners(step, ORANGE) - a_words
        assert {x for x, _ in a_words} == {A[0] + z * SIZE}
        assert {y for _, y in b_words} == {B[1] + z * SIZE}
        assert len(a_words) == len(b_words) == 4
        assert len(corners(step, PURPLE)) == 16


def test_before_the_first_step_nothing_is_read():
    assert corners(drawn()[0], ORANGE) == set()


def test_a_tile_of_8x8_reads_16_words_for_64_multiply_adds():
    picture = draw_tile_sizes([(1, 1), (8, 8)])
    assert "1×1: 2 words for 1 multiply-add;" in picture.alt
    assert "8×8: 16 words for 64 multiply-adds" in picture.alt
    assert ">its multiply-adds<" in picture.body
    assert "0.25 for each" in picture.body
    assert picture.body.count(f'fill="{PURPLE}"') == 1 + 1 + 64  # one in the legend


def test_rows_of_pictures_do_not_overlap():
    body = draw_tile_sizes([(16, 8), (1, 1), (1, 1), (4, 4)]).body
    lowest = max(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>0.1875 for', body))
    (title,) = (float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>4×4<', body))
    assert title > lowest + 14
