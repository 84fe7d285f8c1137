"""Tests of the formulas' cases against the course, the occupancy calculator, the virtual GPU."""

import numpy as np
import pytest
from numba import cuda, float32

from labs import EXERCISES
from labs.checking.variants import wrong_versions
from labs.exercises.attainable.formula import CASES
from labs.exercises.best_block.exercise import H200
from labs.exercises.resident_blocks.formula import BY_RULE
from labs.numbers.exercise import NumbersExercise
from tests.labs import versions
from utils.machine.occupancy import best_block_size, occupancy, square_side
from utils.measuring.roofline import Ceilings
from virtual_gpu import trace

FRACTIONS = [
    name for name, one in EXERCISES.items() if isinstance(one, NumbersExercise) and not one.whole
]


@pytest.mark.parametrize("name", FRACTIONS)
def test_no_answer_is_called_one_that_must_be_whole(name):
    for wrong in wrong_versions(EXERCISES[name]):
        verdict = versions.judged(name, wrong.text)
        assert "whole, and this" not in str(verdict), wrong.what


def test_attainable_is_the_lower_ceiling_of_a_roofline():
    for (BM, BN, peak, bandwidth), right, _ in CASES:
        roof = Ceilings("paper", peak, {"L2": bandwidth})
        intensity = BM * BN / (2 * (BM + BN))
        assert min(roof.gflops, intensity * roof.gb_per_s["L2"]) == pytest.approx(right)


def test_best_blocks_are_the_calculators_and_hold_the_drivers():
    cases = EXERCISES["best_block"].all_cases
    assert len(cases) >= 50
    for case in cases:
        registers, per_thread = case.given
        assert best_block_size(H200, registers, lambda t, one=per_thread: one * t) == case.right


def test_resident_blocks_are_the_calculators_and_hold_every_answer_of_the_driver():
    assert len(EXERCISES["resident_blocks"].all_cases) == 882 + len(BY_RULE)
    for (threads, registers, shared_bytes), blocks, _ in BY_RULE:
        assert occupancy((9, 0), threads, registers, shared_bytes).blocks == blocks


@pytest.mark.parametrize("block", [(256, 40, 0), (1024, 32, 8192), (64, 16, 28_800)])
def test_a_launch_that_fills_the_device_has_the_occupancy_of_one_sm(block):
    one = occupancy((9, 0), *block)
    share = EXERCISES["device_occupancy"].solution(10**6, one.blocks, block[0], 2048, 132)
    assert share == pytest.approx(one.warps / 64)


def test_the_side_of_a_square_is_exact_for_every_block():
    side = EXERCISES["square_side"].solution
    assert all(side(threads) == square_side(threads) for threads in range(1, 1025))


def test_the_recorded_shape_of_the_lesson_is_cut_in_three():
    assert EXERCISES["slices"].right(35, 132, 1060) == 3


@cuda.jit
def asks(stride_x, stride_y, out):
    words = cuda.shared.array(4096, float32)
    lane = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    while lane < words.size:
        words[lane] = lane
        lane += cuda.blockDim.x * cuda.blockDim.y
    cuda.syncthreads()
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    out[ty, tx] = words[tx * stride_x + ty * stride_y]


def test_wavefronts_are_what_the_virtual_gpu_counts():
    for case in EXERCISES["wavefronts"].all_cases:
        side, *strides = case.given
        rows = 32 // side  # of one warp
        traced = trace(asks, 1, (side, rows), *strides, np.zeros((rows, side), np.float32))
        (load,) = [o for o in traced.access_counts if (o.space, o.kind) == ("shared", "load")]
        assert load.wavefronts / load.requests == case.right, case.given
