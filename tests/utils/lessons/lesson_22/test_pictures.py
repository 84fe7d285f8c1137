"""Test the pictures and tables of lesson 22."""

import re

import numpy as np
from numba import cuda

from utils.figures import fragments
from utils.lessons.lesson_22 import limits, one_load, pairs, rounding
from virtual_gpu.numbers.fragments import element_of_a, element_of_b, element_of_c


def test_the_lanes_hold_every_element_of_each_matrix_once():
    for element, count, size in (
        (element_of_a, fragments.OF_A, (fragments.ROWS, fragments.K)),
        (element_of_b, fragments.OF_B, (fragments.K, fragments.COLUMNS)),
        (element_of_c, fragments.SUMS, (fragments.ROWS, fragments.COLUMNS)),
    ):
        held = [
            cell
            for lane in range(fragments.WARP)
            for cell in fragments.cells_of(element, lane, count)
        ]
        assert sorted(held) == [tuple(map(int, cell)) for cell in np.ndindex(size)]


def test_the_picture_names_the_elements_of_its_lane():
    picture = fragments.draw_fragments(5)
    assert "Lane 5 holds (1, 2), (1, 3), (9, 2), (9, 3) of a, (2, 1), (3, 1) of b" in picture.alt
    assert picture.body.count("<svg") == fragments.WARP + 1  # and the legend
    assert picture.body.count(f'id="{fragments.GRIDS}"') == 1
    assert len(picture._repr_html_()) < 300_000


def test_the_first_frame_alone_has_its_grids():
    still = re.search(r'<div class="frame on">.*?</svg>', fragments.draw_fragments().body)[0]
    assert f'id="{fragments.GRIDS}"' in still
    assert "<use" not in still


def test_the_bits_of_both_kinds_of_sums_are_drawn():
    assert "float32 keeps 23 bits" in rounding.draw_bits().alt
    assert "keeps 25" in rounding.draw_bits().alt


def test_the_bars_name_their_times():
    alt = limits.draw_limits().alt
    for name in ("tensor cores", "cache lines", "recorded"):
        assert name in alt


def test_one_load_has_a_square_per_lane_and_a_cache_line_per_row():
    picture = one_load.draw_load()
    assert "32 lanes load one element each, from 8 rows" in picture.alt
    assert picture.body.count(f'width="{one_load.LINE * one_load.BYTE:g}"') == 8
    assert all(f">{lane}</text>" in picture.body for lane in range(32))


def test_loads_of_the_reader_are_counted():
    assert str(pairs.count(pairs.by_elements)).split()[-4:] == ["6", "40", "40", "10.3"]
    assert str(pairs.count(pairs.by_pairs)).split()[-4:] == ["4", "24", "24", "6.2"]


@cuda.jit(device=True)
def the_first_twice(of_a, a, y, z):
    for i in range(4):
        of_a[i] = a[y, z]


@cuda.jit(device=True)
def beyond_the_rows(of_a, a, y, z):
    for i in range(4):
        of_a[i] = a[y + i * 8, z]


def test_wrong_loads_of_the_reader_are_not_counted():
    assert "the product is wrong" in str(pairs.count(the_first_twice))
    assert "out_of_bounds" in str(pairs.count(beyond_the_rows))


def test_without_a_compiler_a_sentence_replaces_the_machine_code(monkeypatch):
    monkeypatch.setattr(limits, "loop", lambda: None)
    assert "compiler" in str(limits.loop_table())
    assert "instructions" not in limits.estimates()
