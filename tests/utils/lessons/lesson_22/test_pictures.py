"""Test the pictures and tables of lesson 22."""

import re

import numpy as np
import pytest
from numba import cuda

from utils.figures import fragments
from utils.intrinsics.tensor import load_pair
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


def test_all_lanes_are_at_the_end_of_the_slider():
    every = fragments.draw_fragments(0, with_all=True).body.split("<!--later-->")[-1]
    numbers = [int(number) for number in re.findall(r">(\d+)</text>", every)]
    held = fragments.OF_A + fragments.OF_B + fragments.SUMS
    assert sorted(numbers) == sorted(held * list(range(fragments.WARP)))


def test_the_first_frame_alone_has_its_grids():
    still = re.search(r'<div class="frame on">.*?</svg>', fragments.draw_fragments().body)[0]
    assert f'id="{fragments.GRIDS}"' in still
    assert "<use" not in still


def test_the_bits_of_both_kinds_of_sums_are_drawn():
    assert "float32 keeps 23 bits" in rounding.draw_bits().alt
    assert "keeps 25" in rounding.draw_bits().alt


def test_the_exact_sum_has_a_bit_that_is_cut_off_while_it_is_rounded():
    alt = rounding.draw_bits(with_sum=True).alt
    assert "The exact sum has the bits 0, 23, 24, 25." in alt
    assert 1 + rounding.SMALL * 2.0**rounding.ASKED == 1 + 2.0**-23 + 2.0**-24 + 2.0**-25


@pytest.mark.slow
def test_the_bars_name_their_times():
    alt = limits.draw_limits().alt
    for name in ("tensor cores", "cache lines", "recorded"):
        assert name in alt


def test_one_load_has_a_square_per_lane_and_a_cache_line_per_row():
    picture = one_load.draw_load()
    assert "32 lanes load one element each, from 8 rows" in picture.alt
    assert picture.body.count(f'width="{one_load.LINE * one_load.BYTE:g}"') == 8
    assert all(f">{lane}</text>" in picture.body for lane in range(32))


def test_one_load_of_b_has_a_row_per_step_of_k():
    picture = one_load.draw_load("b")
    assert "32 lanes load one element each, from 4 rows of b" in picture.alt
    assert "of which the lanes use 16" in picture.alt


@pytest.mark.slow
def test_loads_of_the_reader_are_counted():
    assert str(pairs.count(pairs.by_elements)).split()[-3:] == ["6", "40", "10.3"]
    assert str(pairs.count(pairs.by_pairs)).split()[-3:] == ["4", "24", "6.2"]
    assert pairs.count(pairs.by_pairs).kind == "good"
    assert "load_a: right." in str(pairs.count(pairs.by_pairs))


@cuda.jit(device=True)
def the_first_twice(of_a, a, y, z):
    for i in range(4):
        of_a[i] = a[y, z]


@cuda.jit(device=True)
def beyond_the_fragment(of_a, a, y, z):
    for i in range(4):
        of_a[2 * i], of_a[2 * i + 1] = load_pair(a, (y + i * 8, z))


@cuda.jit(device=True)
def one_pair(of_a, a, y, z):
    of_a[0], of_a[1] = load_pair(a, (y, z))


@cuda.jit(device=True)
def no_tuple(of_a, a, y, z):
    of_a[0], of_a[1] = load_pair(a, y, z)


@cuda.jit(device=True)
def pair_in_one(of_a, a, y, z):
    of_a[0] = load_pair(a, (y, z))


@cuda.jit(device=True)
def odd_column(of_a, a, y, z):
    for i in range(2):
        of_a[2 * i], of_a[2 * i + 1] = load_pair(a, (y + i * 8, z + 1))


@cuda.jit(device=True)
def swapped(of_a, a, y, z):
    for i in range(2):
        of_a[2 * i + 1], of_a[2 * i] = load_pair(a, (y + i * 8, z))


@cuda.jit(device=True)
def next_row(of_a, a, y, z):
    for i in range(2):
        of_a[2 * i], of_a[2 * i + 1] = load_pair(a, (y + 1 + i * 8, z))


@cuda.jit(device=True)
def twice(of_a, a, y, z):
    for i in range(4):
        one, two = load_pair(a, (y + i // 2 * 8, z))
        of_a[i] = two if i % 2 else one


def no_device_function(of_a, a, y, z):
    pass


@cuda.jit(device=True)
def three_parameters(of_a, a, y):
    pass


@pytest.mark.slow
@pytest.mark.skipif(cuda.is_available(), reason="the stand-in is for a machine without a GPU")
def test_a_race_times_both_kinds_of_loads_and_the_first_step_in_turns(device):
    rivals = ["your load_a", "single loads", "mma_naive"]
    assert [row[0] for row in pairs.race(pairs.by_pairs, "64").rows] == rivals
    assert device[-2 * len(rivals) :] == 2 * rivals


def test_a_race_without_a_gpu_shows_the_record_and_one_with_wrong_loads_a_sentence(monkeypatch):
    monkeypatch.setattr(pairs.devices, "current", lambda: None)
    recorded = pairs.race(pairs.by_pairs)
    assert "recorded in turns on one NVIDIA H200" in str(recorded)
    assert [row[0] for row in recorded.rows] == ["single loads", "pairs", "mma_naive"]
    assert "does not set of_a[2]" in str(pairs.race(one_pair))


@pytest.mark.parametrize(
    "load_a, words",
    [
        (pairs.by_elements, "not every load brings a pair: a warp loads 4 times from a"),
        (twice, "a lane loads a pair more than once"),
        (the_first_twice, "In lane 0 of_a[1] is the element (0, 0) of a, and in the picture it is"),
        (next_row, "Every index is the right one plus (1, 0)."),
        (swapped, "In lane 0 of_a[0] is the element (0, 1) of a"),
        (one_pair, "load_a does not set of_a[2]."),
        (no_tuple, "a tuple of both indices: load_pair(a, (y, z))"),
        (pair_in_one, "load_pair returns two elements"),
        (beyond_the_fragment, "of your cell, of_a[2 * i], of_a[2 * i + 1] = load_pair"),
        (beyond_the_fragment, "of_a[4] is outside of of_a."),
        (odd_column, "the address is misaligned"),
        (no_device_function, "needs @cuda.jit(device=True) above its def"),
        (three_parameters, "has four parameters"),
    ],
)
def test_a_sentence_says_what_is_wrong_with_loads(load_a, words):
    verdict = pairs.count(load_a)
    assert verdict.kind == "bad"
    assert str(verdict).startswith("load_a: not yet.")
    assert words in str(verdict)


@pytest.mark.slow
def test_the_registers_of_the_multiplication_are_named():
    if not limits.loop():
        pytest.skip("no compiler")
    *joins, mma = str(limits.loop_table()).splitlines()[-4:]
    joined = {line.split()[1].rstrip(",") for line in joins}
    sums, last, *factors = re.search(
        r"(R\d+) to (R\d+): sums; (R\d+) and (R\d+): fragment of a; (R\d+): fragment of b", mma
    ).groups()
    assert f"HMMA.1688.F32 {sums}, {factors[0]}, {factors[2]}, {sums}" in mma
    assert set(factors) == joined
    assert int(last[1:]) - int(sums[1:]) + 1 == fragments.SUMS


def test_without_a_compiler_a_sentence_replaces_the_machine_code(monkeypatch):
    monkeypatch.setattr(limits, "loop", lambda: None)
    assert "compiler" in str(limits.loop_table())
    assert "instructions" not in limits.estimates()
