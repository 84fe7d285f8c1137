"""A finding says how many threads it concerns in all, and which indices were wrong."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from virtual_gpu import OutOfBounds, trace


def only(kernel, grid, block, *arguments):
    (finding,) = trace(kernel, grid, block, *arguments).findings
    return finding


def zeros(*shape):
    return np.zeros(shape, np.float32)


@cuda.jit
def shifted(x, step, rounds, out):
    i, j = cuda.grid(2)
    total = float32(0)
    for k in range(rounds):
        total += x[j, i + step * k]
    out[j, i] = total


def test_threads_and_indices_are_of_the_whole_launch():
    """40 columns, 8 rows: after three iterations with step 4 the last 8 threads of a row are
    outside."""
    finding = only(shifted, (5, 2), (8, 4), zeros(8, 40), 4, 3, zeros(8, 40))
    assert (finding.kind, finding.axis, finding.index_range) == ("out_of_bounds", 1, (40, 47))
    assert finding.threads_in_all == 8 * 8
    assert finding.count == 4 * 8  # in the first round in which any has: the last 4 of a row
    assert str(finding).endswith(
        "It concerns 64 threads, with indices from 40 to 47 along dimension 1."
    )


def test_each_dimension_that_a_line_leaves_is_named():
    @cuda.jit
    def fill(x):
        i, j = cuda.grid(2)
        x[i, j] = 1

    finding = only(fill, 1, (8, 8), zeros(6, 5))
    assert str(finding).endswith(
        "It concerns 34 threads, with indices from 6 to 7 along dimension 0 or indices from 5 to 7 "
        "along dimension 1."
    )


def test_many_batches_of_blocks_are_added_up():
    blocks = 300  # of 256 threads: several batches
    out = zeros(256 * blocks - 40_000)

    @cuda.jit
    def fill(out):
        i = cuda.grid(1)
        out[i] = i

    finding = only(fill, blocks, 256, out)
    assert finding.threads_in_all == 40_000
    assert finding.index_range == (out.size, out.size + 39_999)


def test_one_thread_is_named_and_not_counted():
    finding = only(shifted, 1, (8, 1), zeros(1, 8), 1, 2, zeros(1, 8))
    assert (finding.threads_in_all, finding.index_range) == (1, (8, 8))
    assert str(finding).endswith("has 8 elements (shape (1, 8)).")


def test_an_index_into_a_part_of_an_array_is_said_to_be_one():
    @cuda.jit
    def second_row(x, j):
        row = x[1]
        row[j] = 1

    assert str(only(second_row, 1, 1, zeros(4, 1), 3)).endswith(
        "uses element [3] of a part of x; dimension 0 of this part has 1 element (shape (1,))."
    )
    assert trace(second_row, 1, 1, zeros(4, 4), 3).findings == ()


def test_a_launch_says_what_is_known_when_it_stops():
    with pytest.raises(OutOfBounds, match="It concerns 32 threads, with indices from 40 to 43"):
        shifted[(5, 2), (8, 4)](zeros(8, 40), 4, 3, zeros(8, 40))


@cuda.jit
def wrapped(x, out):
    i = cuda.grid(1)
    for k in range(1, 3):
        out[i] = x[i - 8 * k]


def test_wrapped_indices_have_a_range():
    finding = only(wrapped, 1, 32, zeros(32), zeros(32))
    assert (finding.kind, finding.threads_in_all) == ("wrapped_index", 16)
    assert finding.index_range == (-16, -1)


@cuda.jit
def summed_by_all(out):
    part = cuda.shared.array(4, int32)
    i = cuda.threadIdx.x
    if i < 4:
        part[i] = 0
    cuda.syncthreads()
    for k in range(4):
        part[(i + k) % 4] += 1
    cuda.syncthreads()
    if i < 4:
        out[i] = part[i]


def test_a_race_counts_the_threads_of_all_rounds():
    races = trace(summed_by_all, 3, 8, np.zeros(4, np.int32)).findings
    (shared,) = (finding for finding in races if finding.array == "part")
    assert shared.threads_in_all == 3 * 8


@cuda.jit
def half_wait(out):
    i = cuda.threadIdx.x
    if i < 40:
        cuda.syncthreads()
    out[i] = 1


def test_a_barrier_counts_the_threads_that_are_missing():
    finding = only(half_wait, 2, 64, zeros(64))
    assert (finding.kind, finding.threads_in_all) == ("barrier", 2 * 24)


@cuda.jit
def unset(flag, out):
    i = cuda.grid(1)
    part = cuda.shared.array(64, float32)
    if i < flag:
        part[i] = 1
    cuda.syncthreads()
    out[i] = part[i]


def test_uninitialised_reads_are_counted_by_thread():
    finding = only(unset, 1, 64, 10, zeros(64))
    assert (finding.kind, finding.threads_in_all) == ("uninitialised", 54)
