"""The bars of lesson 11: estimates of one kernel on its recorded time, all of one device."""

import re
from dataclasses import replace

import pytest

from gemm_kernels import LADDER, ilp_alone
from gpu_xray.compile import NO_COMPILER
from utils.errors import CourseError
from utils.figures.resource_bars import LEFT
from utils.lessons.cards import Card
from utils.lessons.lesson_11 import own_bars, time_bars
from utils.lessons.lesson_11.chain import draw_chain
from virtual_gpu.pictures.svg import ORANGE, Picture

ROWS = ilp_alone.recorded_times()
KERNELS = {str(variant): variant for variant in ilp_alone.variants()}


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*_):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.inner_loops.xray", refuse)


def test_the_times_are_those_of_the_first_device_at_the_size_of_the_lesson():
    other = tuple(replace(row, device="other", time_ms=1.0) for row in ROWS)
    assert time_bars.recorded_times((*ROWS, *other)) == time_bars.recorded_times(ROWS)
    assert time_bars.recorded_times(other) == dict.fromkeys(KERNELS, 1.0)


def test_a_kernel_without_a_row_is_refused():
    with pytest.raises(CourseError, match=r"naive has no row in this record"):
        time_bars.times_of(LADDER.step("naive"), ROWS)


def test_without_a_compiler_all_kernels_of_the_experiment_have_bars(no_compiler):
    assert isinstance(time_bars.draw(ROWS, **KERNELS), Picture)


def test_a_loop_that_nobody_knows_gives_a_sentence(monkeypatch, no_compiler):
    monkeypatch.setattr("utils.lessons.inner_loops.recorded_loops", dict)
    card = time_bars.draw(ROWS, tiled=KERNELS["tiled TILE=32"])
    assert isinstance(card, Card)
    assert "The lesson goes on without this picture." in str(card)


def test_the_alternative_text_has_both_estimates_and_the_record():
    alt = str(time_bars.draw(ROWS, four_chains=KERNELS["four_chains"]))
    assert "four chains: wavefronts 12.82" in alt
    assert "instructions 8.28" in alt
    assert "recorded 17.20" in alt


@pytest.mark.slow
def test_the_longer_estimate_is_orange():
    drawn = str(time_bars.draw(ROWS, plain_rows=KERNELS["plain_rows"])._repr_html_())
    assert drawn.count(f'fill="{ORANGE}"') == 2  # the bar, and its entry in the legend


@pytest.mark.slow
def test_all_pictures_have_the_scale_of_the_slowest_kernel():
    def bars(name):
        picture = time_bars.draw(ROWS, **{name: KERNELS[name]})
        bar = rf'<rect x="{LEFT}" y="[\d.]+" width="([\d.]+)"'
        return [float(width) for width in re.findall(bar, picture.body)]

    longest = bars(time_bars.LONGEST)[-1]
    times = time_bars.recorded_times(ROWS)
    assert bars("one_chain")[-1] == pytest.approx(
        longest * times["one_chain"] / times[time_bars.LONGEST], abs=0.1
    )


def test_the_readers_kernel_is_beside_tiled_without_a_record(compiler):
    needs, drawn = own_bars.beside_tiled(KERNELS["plain_rows"]).parts
    assert needs.rows == (
        ("tiled", "1.56", "4.16", "32", "64"),
        ("your plain_rows", "1.31", "9.13", "48", "40"),
    )
    alt = str(drawn).replace("\N{NO-BREAK SPACE}", " ")
    assert "your plain_rows: wavefronts 10.78 ms, instructions 18.76 ms, recorded –." in alt


@pytest.mark.slow
def test_the_chain_says_how_much_faster_each_kernel_is(no_compiler):
    alt = draw_chain(ROWS).alt
    assert "tiled: 1.56 wavefronts, 4.16 instructions, 64 warps, 17.42 ms." in alt
    assert "ilp: 0.81 wavefronts, 2.78 instructions, 40 warps, 8.04 ms, 1.05 times faster." in alt
