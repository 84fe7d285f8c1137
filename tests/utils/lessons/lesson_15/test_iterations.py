"""The instructions per tile: compiled, recorded, and what fills the issue slots."""

import pytest

from gemm_kernels import LADDER
from gemm_kernels.parts.lane_maps import LANE_MAPS, ROW_MAJOR
from gpu_xray.compile import NO_COMPILER
from tools.records.tile_iterations import ARCH, VARIANTS
from utils.errors import CourseError
from utils.lessons import tile_iterations
from utils.lessons.tile_iterations import FILE, RecordedWay
from utils.measuring import rows

LARGE = LADDER.step("maxwell256")
WARP_TILED = LADDER.step("warp_tiled")
MAPS = [WARP_TILED.variant(LANES=number, BK=8) for number in range(len(LANE_MAPS))]


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse(*arguments):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.lessons.tile_iterations.xray", refuse)


MAXWELL = ("maxwell64", "maxwell256")


def recorded(name):
    return tuple(row.way for row in rows.read(FILE, RecordedWay) if row.kernel == name)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_record_is_what_the_compiler_makes(variant, compiler):
    assert recorded(str(variant)) == tile_iterations.compiled_ways(variant, ARCH)


@pytest.mark.parametrize("name", MAXWELL)
def test_one_way_stores_words_one_by_one_and_the_other_four_at_once(name):
    few, many = sorted(way.mix["STS"] for way in recorded(name))
    loads = {way.mix["LDG"] for way in recorded(name)}
    assert loads == {few}
    assert many == 4 * few


def test_without_a_compiler_the_record_takes_its_place(no_compiler):
    assert tile_iterations.ways_of(LARGE) == recorded("maxwell256")


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_has_512_multiply_adds_and_32_wide_reads(variant, no_compiler):
    for way in tile_iterations.ways_of(variant):
        assert tuple(way.mix[name] for name in ("FFMA", "LDS", "BAR")) == (512, 32, 1)


def test_before_the_barrier_only_the_fastest_map_has_many_multiply_adds(no_compiler):
    before = [tile_iterations.multiply_adds_before_barrier(variant) for variant in MAPS]
    assert before[ROW_MAJOR] > 2 * max(before[ROW_MAJOR + 1 :])


def test_the_multiply_adds_are_those_after_the_last_store_for_the_tile():
    code = ["STS", "FFMA", "STS", "FFMA", "IMAD", "FFMA", "BAR", "FFMA"]
    assert tile_iterations._before_barrier(code) == 2
    assert tile_iterations._before_barrier(["FFMA", "STS", "BAR"]) == 0


def test_without_both_it_says_that_there_is_no_compiler(no_compiler):
    with pytest.raises(CourseError):
        tile_iterations.ways_of(LADDER.step("naive"))


def test_the_parts_of_all_slots_add_up(no_compiler):
    slots = tile_iterations.slots_of(LARGE)
    parts = slots.multiply_adds, slots.loads_and_stores, slots.others, slots.last_round
    assert sum(parts) + slots.rest == pytest.approx(1)
    assert min(*parts, slots.rest) > 0
