"""Tests of counts, costs and shares of the peak by granularity."""

import pytest

from gemm_kernels import LADDER
from gpu_xray.compile import NO_COMPILER
from utils.errors import CourseError
from utils.lessons import granularity
from utils.lessons.cards import Card
from utils.lessons.wavefronts import profiled_wavefronts

TILED, GRANULARITY, ILP = (LADDER.step(name) for name in ("tiled", "granularity", "ilp"))


@pytest.fixture
def no_loops(monkeypatch):
    def refuse(*_):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.granularity.hot_loop", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("step", [TILED, GRANULARITY, ILP], ids=lambda step: step.name)
def test_wavefronts_of_the_machine_code_are_those_that_the_profiler_counted(step):
    assert granularity.machine_wavefronts(step) == pytest.approx(profiled_wavefronts(step))


def test_without_a_compiler_and_a_record_a_sentence_takes_the_tables_place(no_loops):
    card = granularity.shared_estimates(tiled=TILED)
    assert isinstance(card, Card)
    assert "The lesson goes on" in str(card)


def test_costs_stand_published_first_and_then_recorded():
    rows = granularity.grain_costs(GRANULARITY, "Tesla K40", TILE=16).rows
    assert [row[0] for row in rows] == [
        f"{device}, grain\N{NO-BREAK SPACE}{grain}"
        for device in ("K40", "H200")
        for grain in (1, 2, 4)
    ]
    assert rows[2][1:] == ("37", "5,120", "6", "75 %")


def test_a_group_of_bars_for_each_choice_that_is_recorded(monkeypatch):
    alt = str(granularity.draw_grains(GRANULARITY, {"TILE": 16}, {"TILE": 32}))
    assert "NVIDIA H200, TILE = 16: grain 1 11.3 %" in alt
    assert "Tesla K40, 2014, TILE = 16: grain 1 9.3 %, grain 2 11.5 %, grain 4 12.8 %" in alt

    def nothing(*_):
        raise CourseError("nothing is recorded")

    monkeypatch.setattr(granularity, "share_of_peak", nothing)
    alt = str(granularity.draw_grains(GRANULARITY, {"TILE": 16}))
    assert "H200" not in alt
    assert "K40" in alt


def test_published_counts_with_2_to_the_30_become_10_to_the_9():
    k40 = granularity.published_shares("granularity")["Tesla K40, 2014, TILE = 16"]
    assert k40[1] == pytest.approx(100 * 373 * 2**30 / 1e9 / 4291)


def test_the_fastest_tile_is_the_one_with_the_shortest_time(monkeypatch):
    assert granularity.fastest_tile(GRANULARITY, "1024", GRAIN=4) == 32
    by_tile = "utils.lessons.granularity.recorded_ms"
    monkeypatch.setattr(by_tile, lambda variant, shape: variant.constants["TILE"])
    assert granularity.fastest_tile(GRANULARITY, "1024", GRAIN=4) == 8


def test_with_the_grain_wavefronts_and_occupancy_fall_and_sums_grow():
    rows = granularity.trade(ILP).rows
    assert [row[1:4] for row in rows] == [
        ("1.56", "100 %", "2,048"),
        ("1.06", "100 %", "4,096"),
        ("0.81", "62.5 %", "5,120"),
        ("0.69", "43.8 %", "7,168"),
    ]


def test_without_loops_the_table_of_grains_is_a_sentence(no_loops):
    assert "The lesson goes on" in str(granularity.trade(ILP))
