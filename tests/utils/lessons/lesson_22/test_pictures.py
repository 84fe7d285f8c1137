"""Test the pictures and tables of lesson 22."""

import re

import numpy as np

from labs.exercises.whole_warp import solution
from utils.figures import fragments
from utils.lessons.lesson_22 import limits, rounding
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


def test_a_reader_sees_the_own_loads_beside_the_course():
    shown = str(limits.beside_the_course(solution.whole_warp))
    own, course = (line.split()[-3:] for line in shown.splitlines()[-2:])
    assert own == course == ["6", "40", "40"]


def test_without_a_compiler_a_sentence_replaces_the_machine_code(monkeypatch):
    monkeypatch.setattr(limits, "loop", lambda: None)
    assert "compiler" in str(limits.loop_table())
    assert "instructions" not in limits.estimates()
