"""Tests of the targets: each counts what its name says, and names the line that misses it."""

from dataclasses import replace

import numpy as np
import pytest
from numba import cuda, float32

from labs import check
from labs.by_name import PATIENCE
from labs.checking.exercise import KernelExercise
from labs.checking.judge import judge
from labs.targets import counts as targets
from labs.targets.other_size import right_for_small_numbers
from tests.labs.versions import changed
from utils.division import cdiv
from utils.ladder.problems import draw
from utils.ladder.step import Launch

LANES = 32
WORDS = LANES * LANES


@cuda.jit
def reverse(x, out):
    """Reverse each 32 elements by way of shared memory."""
    tile = cuda.shared.array(LANES, float32)
    lane = cuda.threadIdx.x
    i = cuda.blockIdx.x * LANES + lane
    if i < x.shape[0]:
        tile[lane] = x[i]
    cuda.syncthreads()
    last = min(LANES, x.shape[0] - cuda.blockIdx.x * LANES) - 1
    if i < x.shape[0]:
        out[i] = tile[last - lane]


@cuda.jit
def reverse_with_conflicts(x, out):
    """Reverse each 32 elements, at a stride of 32 words in shared memory, so all are in a bank."""
    tile = cuda.shared.array(WORDS, float32)
    lane = cuda.threadIdx.x
    i = cuda.blockIdx.x * LANES + lane
    if i < x.shape[0]:
        tile[LANES * lane] = x[i]
    cuda.syncthreads()
    cuda.syncthreads()
    last = min(LANES, x.shape[0] - cuda.blockIdx.x * LANES) - 1
    if i < x.shape[0]:
        out[i] = tile[LANES * (last - lane)]


def reversed_parts(x: np.ndarray) -> np.ndarray:
    parts = [x[at : at + LANES][::-1] for at in range(0, len(x), LANES)]
    return np.concatenate(parts).astype(np.float64)


REVERSE = KernelExercise(
    name="reverse",
    lesson="07",
    title="Reverse",
    text=("Reverse each 32 elements.",),
    parameters=("x", "out"),
    sizes=("n",),
    shapes=((64,), (50,), (1,)),
    launch=lambda shape: Launch(grid=(cdiv(shape[0], LANES),), block=(LANES,)),
    inputs=lambda shape, seed: (draw("integers", shape[0], seed),),
    reference=reversed_parts,
    targets=(),
    hints=("By shared memory.",),
    after="",
)


def judged(target, kernel):
    return judge(replace(REVERSE, targets=(target,)), kernel, PATIENCE)


def test_wavefronts_are_those_of_the_worst_line():
    assert judged(targets.wavefronts_per_request(1), reverse).passed
    (cause,) = judged(targets.wavefronts_per_request(1), reverse_with_conflicts).causes
    assert "`tile[LANES * lane] = x[i]`" in cause
    assert "32 wavefronts per request" in cause
    assert "the target is 1" in cause


def test_barriers_are_counted_by_block():
    assert judged(targets.barriers_per_block(1), reverse).passed
    (cause,) = judged(targets.barriers_per_block(1), reverse_with_conflicts).causes
    assert "passes 2 barriers" in cause


def test_requests_of_few_lanes_are_named():
    @cuda.jit
    def one_lane_copies(x, out):
        if cuda.threadIdx.x == 0:
            first = cuda.blockIdx.x * LANES
            last = min(first + LANES, x.shape[0])
            for i in range(first, last):
                out[i] = x[first + last - 1 - i]

    assert judged(targets.full_requests(), reverse).passed
    (cause,) = judged(targets.full_requests(), one_lane_copies).causes
    assert "only 1 of 32 lanes" in cause


@pytest.mark.parametrize("make", [targets.no_float64, targets.one_store_per_element])
def test_a_right_kernel_reaches_what_every_kernel_must(make):
    assert judged(make(), reverse).passed


def test_one_store_per_element_is_held_at_every_shape():
    @cuda.jit
    def twice_at_the_end(x, out):
        lane, first = cuda.threadIdx.x, cuda.blockIdx.x * LANES
        last = min(LANES, x.shape[0] - first) - 1
        out[first + min(lane, last)] = x[first + last - min(lane, last)]

    (cause,) = judged(targets.one_store_per_element(), twice_at_the_end).causes
    assert "stores 64 times for 50 elements" in cause


def test_a_line_of_one_thread_wastes_no_request_but_half_a_warp_does():
    store = "out[i] = factor * x[i]"
    printed = changed("scale", (store, f"{store}\n        if i == 0:\n            print(x[i])"))
    assert check("scale", printed).passed
    halves = f"if i % 2:\n            {store}\n        else:\n            {store}"
    verdict = check("scale", changed("scale", (store, halves)))
    assert not verdict.passed
    assert "only 16 of 32 lanes work" in " ".join(verdict.causes)


def test_a_kernel_that_computes_with_integers_is_wrong_for_small_numbers():
    @cuda.jit
    def reverse_integers(x, out):
        lane, first = cuda.threadIdx.x, cuda.blockIdx.x * LANES
        last = min(LANES, x.shape[0] - first) - 1
        if lane <= last:
            out[first + lane] = int(x[first + last - lane])

    assert judged(right_for_small_numbers(), reverse).passed
    (cause,) = judged(right_for_small_numbers(), reverse_integers).causes
    assert "it is 0, and" in cause
    assert "converted to an integer?" in cause


def test_a_load_in_a_loop_that_is_not_needed_is_named():
    store = "out[i] = factor * x[i]"
    again = changed("scale", (store, f"for _ in range(3):\n            y = x[i]\n        {store}"))
    (cause,) = check("scale", again).causes
    assert "each element of `x` is loaded 4 times, and the target is 2" in cause


def test_a_division_of_whole_numbers_is_named():
    divided = changed("scale", ("i < out.size", "i < out.size / cuda.blockDim.y"))
    (cause,) = check("scale", divided).causes
    assert "`/` makes a float64 of two whole numbers" in cause
