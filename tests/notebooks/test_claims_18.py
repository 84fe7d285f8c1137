"""What the prose of lesson 18 says in figures and comparisons, held against counts and records."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from gpu_xray import xray
from reduce_kernels import LADDER
from utils import lessons as course
from utils.figures import reduction_tree as trees
from utils.lessons.block_sums import block_of, instructions_of_block, recorded_cycles
from utils.lessons.edits import Edit, edited
from utils.machine.devices import REFERENCE, find, slug
from utils.paths import DATA

STEPS = REDUCE0, REDUCE1, REDUCE2, REDUCE3 = tuple(
    LADDER.step(f"reduce{number}").variant(BLOCK=256) for number in range(4)
)
H200 = find(REFERENCE)
MEMORY = 1024 / (H200.memory_gb_per_s * 1e3 / H200.boost_clock_mhz / H200.sms)
of_block = cache(block_of)
instructions = cache(instructions_of_block)


def cycles(variant):
    return recorded_cycles(variant, "2^30")


@cache
def seen(variant):
    return course.watch(variant, str(4 * of_block(variant).elements), record=0)


@cache
def without_remainder():
    old, new = "tid % uint32(2 * stride) == 0", "tid & uint32(2 * stride - 1) == 0"
    return edited(REDUCE0.step.file, Edit(old, new)).STEP.variant(BLOCK=256)


def turn(variant):
    """Instructions in one turn of the loop over the steps of the tree."""
    return len(xray(variant.kernel, variant.step.signature, "sm_90").hot.body)


@pytest.mark.slow
def test_in_the_picture_four_of_16_threads_add_in_the_second_step_and_all_warps_are_busy():
    second = trees.neighbours(trees.WORDS)[1]
    assert len(second) == 4
    assert trees.warps_of(second) == [0, 1, 2, 3]
    crowded = trees.neighbouring_threads(trees.WORDS)[1]
    assert [left for _, left, _ in crowded] == [0, 4, 8, 12]
    assert trees.wavefronts_of(crowded) == 4


@pytest.mark.slow
def test_additions_are_a_small_share_of_the_peak():
    assert H200.memory_gb_per_s / 4 / H200.fp32_gflops < 0.02


def by_step(variant, what):
    """lanes, requests or wavefronts of one load in each step of the tree."""
    return [getattr(load, what) for load in course.loads_by_step(seen(variant), "shared")]


def test_the_tree_has_255_additions_in_47_visits_of_warps():
    steps = trees.neighbours(256)
    visits = [len(trees.warps_of(step, 32)) for step in steps]
    assert by_step(REDUCE0, "requests") == visits == [8, 8, 8, 8, 8, 4, 2, 1]
    assert by_step(REDUCE0, "lanes") == list(map(len, steps))
    assert (sum(visits), sum(map(len, steps))) == (47, 255)
    first = seen(REDUCE0).recording.events[3]
    assert (first.first.reshape(8, 32) >= 0).sum(axis=1).tolist() == [16] * 8


@pytest.mark.slow
def test_two_launches_add_1000_elements():
    x, partials = np.arange(1, 1001, dtype=np.float32), np.zeros(4, np.float32)
    total, kernel = np.zeros(1, np.float32), REDUCE0.step.build(BLOCK=256)
    kernel[4, 256](x, partials)
    kernel[1, 256](partials, total)
    assert (partials.sum(), total[0]) == (500500, 500500)


def test_conflicts_take_away_what_the_warps_save():
    zero, one, two, three = map(of_block, STEPS)
    assert [each.requests for each in (zero, one, two, three)] == [150, 45, 45, 45]
    assert [each.wavefronts for each in (zero, one, two, three)] == [150, 150, 45, 45]
    assert one.requests < zero.requests / 3


@pytest.mark.slow
def test_the_profiler_of_an_h200_counts_the_same():
    counters = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "counters.csv")
    for variant in STEPS[:3]:
        own = counters[counters["launch"] == f"{variant.step.name}_256"].set_index("counter")
        blocks = own["value"]["global_store_requests"]
        for count in ("requests", "wavefronts"):
            both = own["value"][[f"shared_load_{count}", f"shared_store_{count}"]].sum()
            assert both == getattr(of_block(variant), count) * blocks


def test_conflicts_by_step_and_the_two_slips():
    assert by_step(REDUCE1, "requests") == [4, 2, 1, 1, 1, 1, 1, 1]
    for variant in (REDUCE0, REDUCE1):
        assert by_step(variant, "wavefronts") == [8, 8, 8, 8, 8, 4, 2, 1]
    assert by_step(REDUCE2, "wavefronts") == by_step(REDUCE2, "requests")
    second = trees.neighbouring_threads(256)[1]
    assert second[16] == (16, 64, 66)
    assert second[24] == (24, 96, 98)
    third = [left for _, left, _ in trees.neighbouring_threads(256)[2]]
    banks = [left % 32 for left in third]
    assert {bank: banks.count(bank) for bank in banks} == {0: 8, 8: 8, 16: 8, 24: 8}
    assert [left for left in third if left % 32 == 0] == list(range(0, 225, 32))
    apart = [(thread // 32, left) for thread, left, _ in trees.neighbours(256)[2]]
    assert [warp for warp, left in apart if left % 32 == 0] == list(range(8))
    larger = REDUCE1.step.variant(BLOCK=512)
    assert [_ways(each) for each in (REDUCE1, larger)] == [8, 16]


def _ways(variant):
    """The most words of one bank that a warp wants with one load."""
    both = by_step(variant, "wavefronts"), by_step(variant, "requests")
    return max(wavefronts / requests for wavefronts, requests in zip(*both, strict=True))


@pytest.mark.slow
def test_the_change_keeps_the_busy_warps_and_has_no_conflict():
    before, after = trees.neighbouring_threads(trees.WORDS), trees.halves(trees.WORDS)
    assert list(map(trees.warps_of, before)) == list(map(trees.warps_of, after))
    assert all(trees.wavefronts_of(step) == len(trees.warps_of(step)) for step in after)


@pytest.mark.slow
def test_neither_memory_nor_wavefronts_explain_the_time():
    for variant in STEPS[:3]:
        assert 0.2 * cycles(variant) > MEMORY
        assert of_block(variant).wavefronts < 0.4 * cycles(variant)
    assert cycles(REDUCE1) < 0.7 * cycles(REDUCE0)
    assert round(cycles(REDUCE1)) - round(cycles(REDUCE2)) == 41


@pytest.mark.slow
def test_instructions_explain_three_quarters_of_the_time(compiler):
    for variant in STEPS:
        assert 0.75 < instructions(variant) / 4 / cycles(variant) < 0.9
    counted = [instructions(variant) / 4 for variant in STEPS]
    assert counted == pytest.approx([584, 312, 282, 280], abs=0.6)
    assert instructions(REDUCE1) / 4 - instructions(REDUCE2) / 4 == pytest.approx(30, abs=0.6)


@pytest.mark.slow
def test_one_remainder_is_more_than_half_of_the_loop(compiler):
    assert [turn(variant) for variant in STEPS[:3]] == [32, 15, 13]
    assert 2 * (turn(REDUCE0) - turn(without_remainder())) > turn(REDUCE0)


def test_a_block_of_reduce3_takes_as_long_as_one_of_reduce2():
    assert round(cycles(REDUCE2)) - round(cycles(REDUCE3)) == 9
    assert of_block(REDUCE3).elements == 2 * of_block(REDUCE2).elements
    times = [course.recorded_ms(variant, "2^30") for variant in (REDUCE3, REDUCE2)]
    assert times[0] / times[1] == pytest.approx(0.49, abs=0.02)


@pytest.mark.slow
def test_four_curves_stand_in_their_order_and_are_lowest_at_2_to_the_22():
    sizes = 2**22, 2**25, 2**28, 2**30
    rates = {}
    for size in sizes:
        each = [size / course.recorded_ms(variant.step, str(size)) for variant in STEPS]
        assert each == sorted(each)
        rates[size] = each
    for size in sizes[1:]:
        assert all(low < high for low, high in zip(rates[2**22], rates[size], strict=True))


@pytest.mark.slow
def test_most_turns_of_warps_only_test_and_wait():
    turns, busy = course.turns_and_busy(seen(REDUCE3), "shared")
    assert (turns, busy) == (64, 12)
    additions = [len(trees.warps_of(step, 32)) for step in trees.halves(256)]
    assert additions == [4, 2, 1, 1, 1, 1, 1, 1]
    assert sum(additions) == busy
    assert 0.3 < course.share_of_peak(REDUCE3, "2^30") < 0.35


@pytest.mark.slow
def test_exercise_1_needs_fewer_instructions_than_reduce1(compiler):
    assert instructions(without_remainder()) / 4 == pytest.approx(280, abs=0.6)
    assert instructions(without_remainder()) < instructions(REDUCE1)
    assert instructions(without_remainder()) <= instructions(REDUCE2)
    for count in ("requests", "wavefronts", "lanes"):
        assert getattr(of_block(without_remainder()), count) == getattr(of_block(REDUCE0), count)


@pytest.mark.slow
def test_exercise_2_has_fewer_cycles_for_an_element(compiler):
    small = REDUCE2.step.variant(BLOCK=128)
    estimated = [
        round(instructions(each) / 4) / of_block(each).elements for each in (small, REDUCE2)
    ]
    assert estimated == pytest.approx([1.02, 1.10], abs=0.005)
    recorded = [cycles(each) / of_block(each).elements for each in (small, REDUCE2)]
    assert recorded == pytest.approx([1.30, 1.40], abs=0.03)


@pytest.mark.slow
def test_exercise_3_leaves_the_largest_element_of_each_block():
    largest = edited(
        REDUCE2.step.file,
        Edit("shared[tid] += shared[tid + stride]",
             "shared[tid] = max(shared[tid], shared[tid + stride])"),
        Edit("else float32(0)", "else float32(-math.inf)"),
        Edit("from numba import cuda", "import math\n\nfrom numba import cuda"),
    )  # fmt: skip
    x, found = -np.arange(1, 301, dtype=np.float32), np.zeros(2, np.float32)
    largest.build(BLOCK=256)[2, 256](x, found)
    assert found.tolist() == [-1, -257]
