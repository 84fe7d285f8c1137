"""A change of what threads get shows whether a result depends on it."""

import numpy as np
import pytest
from numba import cuda, float32

from virtual_gpu import trace
from virtual_gpu.machine.change import Change

THREADS = 64


@cuda.jit
def turned(x, out):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]
    cuda.syncthreads()
    unused = tile[thread] - tile[thread]
    out[thread] = tile[63 - thread] + unused


@cuda.jit
def from_next_lane(x, out):
    thread = cuda.threadIdx.x
    out[thread] = cuda.shfl_down_sync(0xFFFFFFFF, x[thread], 1)


def result(kernel, change=None):
    x, out = np.arange(THREADS, dtype=np.float32), np.zeros(THREADS, np.float32)
    trace(kernel, 1, THREADS, x, out, change=change)
    return out


def test_a_change_of_words_reaches_the_threads_that_load_them():
    words = np.full(THREADS, -1)
    words[[3, 5]] = 60, 7  # thread 3 uses its word, and thread 5 does not load word 7
    changed = result(turned, Change("tile", words)) - result(turned)
    assert np.flatnonzero(changed).tolist() == [3]


def test_words_that_cancel_change_nothing():
    assert np.array_equal(result(turned, Change("tile", np.arange(THREADS))), result(turned))


def test_a_change_of_another_array_changes_nothing():
    assert np.array_equal(result(turned, Change("other", np.arange(THREADS))), result(turned))


@pytest.mark.parametrize("lane, changes", [(11, 1), (12, 0)])
def test_a_change_of_lanes_reaches_the_thread_that_reads_from_them(lane, changes):
    lanes = np.full(THREADS, -1)
    lanes[10] = lane
    changed = result(from_next_lane, Change("", lanes)) - result(from_next_lane)
    assert changed[10] == changes
    assert np.count_nonzero(changed) == changes
