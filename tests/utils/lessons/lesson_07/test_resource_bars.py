"""The bars of estimates and recorded times of products: rates, words and what is marked."""

import pytest

from gemm_kernels import LADDER
from utils.errors import CourseError
from utils.lessons.bounds import ISSUE, L2, ON_CHIP, bounds_of
from utils.lessons.lesson_07.resource_bars import draw, times_of
from utils.lessons.recorded import recorded_ms
from utils.machine.devices import REFERENCE
from virtual_gpu.pictures.svg import ORANGE

TILED, DYNAMIC = LADDER.step("tiled"), LADDER.step("tiled_dynamic")


def test_the_estimates_are_those_of_the_card_after_check(compiler):
    times, bounds = times_of(TILED), bounds_of(TILED.variant(), "4096")
    for ms, resource in ((times.memory, L2), (times.wavefronts, ON_CHIP)):
        assert ms == pytest.approx(bounds[resource].ms)
    assert times.instructions == pytest.approx(bounds[ISSUE].ms, rel=0.02)
    assert times.recorded == recorded_ms(TILED.variant(), "4096", on=REFERENCE)


def test_the_picture_has_all_times_in_words_and_marks_one_estimate_per_kernel():
    picture = draw(TILED, DYNAMIC)
    assert "tiled dynamic: memory" in picture.alt
    for step in (TILED, DYNAMIC):
        for what in ("memory", "wavefronts", "instructions", "recorded"):
            assert f"{what} {times_of(step).words(what)}" in picture.alt
    assert picture.body.count(ORANGE) == 3  # two bars and the legend


def test_a_tile_whose_machine_code_is_not_recorded_has_no_bars():
    with pytest.raises(CourseError, match="recorded"):
        times_of(TILED.variant(TILE=16))
