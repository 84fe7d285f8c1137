"""Planted bugs that no access shows as wrong are named, and right kernels like them are not."""

import inspect
import warnings

import numpy as np
import pytest
from numba import cuda, float32, int32, uint8

from utils.intrinsics.wide_memory import commit_copies, copy1_async, wait_copies
from virtual_gpu import install, trace
from virtual_gpu.host.unwritten import pattern
from virtual_gpu.tests.planted import (
    SILENT,
    bugs_in_kernels,
    bugs_in_programs,
    bugs_of_beginners,
)
from virtual_gpu.tests.planted.judge import remarks

PLANTED = [*bugs_in_kernels.PROGRAMS, *bugs_in_programs.PROGRAMS]
MOST_SILENT = 6


@pytest.mark.parametrize("program", PLANTED, ids=lambda program: program.name)
def test_a_planted_bug_is_named(program):
    said = remarks(program)
    if program.kind == SILENT:
        assert said == []
    else:
        assert program.kind in [kind for kind, _ in said]


def test_few_of_85_bugs_pass_in_silence():
    assert len(PLANTED) == 85
    assert sum(program.kind == SILENT for program in PLANTED) <= MOST_SILENT


def marked_line(program):
    lines, first = inspect.getsourcelines(program.run)
    (number,) = (n for n, line in enumerate(lines, first) if line.endswith("# wrong\n"))
    return number


@pytest.mark.parametrize("program", bugs_of_beginners.PROGRAMS, ids=lambda program: program.name)
def test_the_first_remark_on_a_slip_names_it_at_its_line(program):
    said, line = remarks(program), marked_line(program)
    if program.kind == SILENT:
        assert said == []
    else:
        kind, text = said[0]
        assert kind == program.kind
        assert f"line {line} " in text


def test_few_slips_pass_in_silence():
    assert sum(program.kind == SILENT for program in bugs_of_beginners.PROGRAMS) <= 2


# --- right kernels that look as if they had such a bug ----------------------------------------

RIGHT = {}


def right(grid, block, *arguments, shared=0):
    def add(kernel):
        RIGHT[kernel.py_func.__name__] = kernel, grid, block, arguments, shared
        return kernel

    return add


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@right(1, 64, ones(64), ones(64))
@cuda.jit
def copies_in_two_groups(x, out):
    tile = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    copy1_async(tile, (0, t), x, t)
    commit_copies()
    copy1_async(tile, (1, t), x, 63 - t)
    commit_copies()
    wait_copies(1)
    cuda.syncthreads()
    out[t] = tile[0, 63 - t]
    wait_copies(0)
    cuda.syncthreads()
    out[t] += tile[1, 63 - t]


@cuda.jit
def waits_behind_the_barrier(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    copy1_async(tile, t, x, t)
    commit_copies()
    cuda.syncthreads()
    wait_copies(0)
    out[t] = tile[63 - t]


def test_a_race_with_a_copy_names_the_wait_that_has_ended_it():
    (race,) = trace(waits_behind_the_barrier, 1, 64, ones(64), ones(64)).findings
    code = waits_behind_the_barrier.py_func.__code__
    copy, wait = code.co_firstlineno + 4, code.co_firstlineno + 7
    assert (race.kind, race.other_line) == ("race", copy)
    assert race.message == (
        "thread (0) of block (0) reads tile[63], which thread (63) of block (0) has copied at line "
        f"{copy} and waited for at line {wait} with no syncthreads() between."
    )


@right(1, 64, ones(64), ones(64))
@cuda.jit
def half_of_the_threads_copy(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        copy1_async(tile, t, x, t)
        copy1_async(tile, t + 32, x, t + 32)
        commit_copies()
        wait_copies(0)
    cuda.syncthreads()
    out[t] = tile[63 - t]


@right(1, 32, ones(80), ones(32))
@cuda.jit
def last_chunk_is_read_as_far_as_it_goes(x, out):
    chunk = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for start in range(0, x.size, 32):
        if start + t < x.size:
            chunk[t] = x[start + t]
        cuda.syncthreads()
        for k in range(min(32, x.size - start)):
            total += chunk[k]
        cuda.syncthreads()
    out[t] = total


@right(1, 32, ones(80), ones(80), ones(32))
@cuda.jit
def old_elements_times_zero(x, y, out):
    left = cuda.shared.array(32, float32)
    right_part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for start in range(0, x.size, 32):
        left[t] = x[start + t] if start + t < x.size else float32(0)
        if start + t < x.size:
            right_part[t] = y[start + t]
        cuda.syncthreads()
        for k in range(32):
            total += left[k] * right_part[k]
        cuda.syncthreads()
    out[t] = total


@right(1, 64, ones(64), ones(64))
@cuda.jit
def scan_in_a_tile(x, out):
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    d = 1
    while d < 64:
        cuda.syncthreads()
        value = sums[t - d] if t >= d else float32(0)
        cuda.syncthreads()
        if t >= d:
            sums[t] = value + sums[t]
        d *= 2
    out[t] = sums[t]


@right(1, 64, ones(200), ones(64))
@cuda.jit
def halo_filled_in_strides(x, out):
    tile = cuda.shared.array(70, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for start in range(0, 128, 64):
        for k in range(t, 70, 64):
            tile[k] = x[start + k]
        cuda.syncthreads()
        total += tile[t] + tile[t + 6]
        cuda.syncthreads()
    out[t] = total


@right(1, 32, np.arange(192, dtype=np.float32).reshape(6, 32) % 5, ones(6, 32))
@cuda.jit
def newest_large_number_is_kept(x, out):
    newest = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    newest[t] = 0
    cuda.syncthreads()
    for row in range(x.shape[0]):
        is_large = x[row, t] > 2
        if is_large:
            newest[t] = x[row, t]
        cuda.syncthreads()
        out[row, t] = newest[31 - t]
        cuda.syncthreads()


@right(1, 64, ones(64, 64), ones(64))
@cuda.jit
def rows_of_a_triangle(x, out):
    triangle = cuda.shared.array((64, 64), float32)
    t = cuda.threadIdx.x
    for row in range(64):
        if t <= 63 - row:
            triangle[row, t] = x[row, t]
        cuda.syncthreads()
    for row in range(64 - t):
        out[t] += triangle[row, t]


@right(1, 64, ones(64, dtype=np.float32), ones(64, dtype=np.int32), shared=1024)
@cuda.jit
def bits_of_a_number(x, out):
    numbers = cuda.shared.array(0, float32)
    bits = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    numbers[t] = x[t]
    cuda.syncthreads()
    out[t] = bits[63 - t]


@right(3, 32, ones(200), ones(3))
@cuda.jit
def blocks_end_their_loops_at_different_times(x, out):
    tile = cuda.shared.array(32, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for step in range(b + 1):
        tile[t] = x[step * 32 + t]
        cuda.syncthreads()
    if t == 0:
        for k in range(32):
            out[b] += tile[k]


@right(1, 64, ones(64, dtype=np.uint32))
@cuda.jit
def random_numbers_wrap(state):
    t = cuda.threadIdx.x
    state[t] = (state[t] + t) * 1664525 + 1013904223


@right(1, 64, ones(64, dtype=np.int32))
@cuda.jit
def hashes_wrap(table):
    t = cuda.threadIdx.x
    table[t] = (t * 2654435761) ^ (t << 30)


@right(1, 64, np.linspace(0, 255, 64), ones(64, dtype=np.uint8))
@cuda.jit
def pixels_are_rounded(x, image):
    t = cuda.threadIdx.x
    image[t] = x[t] * 0.99


@right(1, 64, ones(64, dtype=np.uint8))
@cuda.jit
def no_entry_is_minus_one(table):
    table[cuda.threadIdx.x] = -1


@right(1, 64, np.arange(64), ones(64, dtype=np.uint8))
@cuda.jit
def no_entry_is_a_variable(x, table):
    t = cuda.threadIdx.x
    found = -1
    if x[t] % 3 == 0:
        found = t
    table[t] = found


@right(2, 64, np.arange(128) % 10, ones(10, dtype=np.int32), 3)
@cuda.jit
def neighbours_get_a_level(neighbours, levels, level):
    neighbour = neighbours[cuda.grid(1)]
    levels[neighbour] = level


@right(1, 64, np.linspace(0, 9, 64), ones(64, dtype=np.int32))
@cuda.jit
def whole_numbers_of_float64(x, out):
    t = cuda.threadIdx.x
    out[t] = round(x[t]) + 0.0


@right(1, 64, np.linspace(0, 9, 64), ones(64, dtype=np.int32))
@cuda.jit
def truncated_on_purpose(x, out):
    t = cuda.threadIdx.x
    out[t] = int32(x[t] / 3)


@right(1, 64, ones(64), ones(64), shared=1024)
@cuda.jit
def dynamic_memory_cut_in_two(x, out):
    whole = cuda.shared.array(0, float32)
    first, second = whole[:64], whole[64:]
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[t] = 2 * x[t]
    cuda.syncthreads()
    out[t] = first[63 - t] + second[63 - t]


@right(1, 64, ones(64), ones(64), shared=1024)
@cuda.jit
def dynamic_memory_used_twice(x, out):
    numbers = cuda.shared.array(0, float32)
    marks = cuda.shared.array(0, uint8)
    t = cuda.threadIdx.x
    numbers[t] = x[t]
    cuda.syncthreads()
    out[t] = numbers[63 - t]
    cuda.syncthreads()
    marks[t] = t
    cuda.syncthreads()
    out[t] += marks[63 - t]


@right(2, 64, ones(128), np.full(1, 5, np.float32))
@cuda.jit
def minimum_of_numbers(x, smallest):
    cuda.atomic.min(smallest, 0, x[cuda.grid(1)])


@right(2, 64, ones(128), np.zeros(1, np.float32))
@cuda.jit
def flag_of_many_threads(x, found):
    if x[cuda.grid(1)] > 0:
        found[0] = 1


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_gets_no_remark(name):
    kernel, grid, block, arguments, shared = RIGHT[name]
    run = trace(kernel, grid, block, *arguments, shared_bytes=shared)
    assert {finding.kind for finding in run.findings} <= {"discarded", "wrapped_index"}
    assert not {hint.kind for hint in run.hints} & {"same_element", "idle_atomic"}


# --- elements of a device array that nobody has written ----------------------------------------


def copied(kernel, grid, block, *arguments):
    """Launch a kernel, copy its last argument to the host, and return the warnings."""
    install()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[grid, block](*arguments)
        arguments[-1].copy_to_host()
    return [str(one.message) for one in caught]


def test_elements_chosen_by_data_are_not_missed():
    @cuda.jit
    def compact(x, count, out):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            out[cuda.atomic.add(count, 0, 1)] = x[i]

    x = cuda.to_device(np.arange(64, dtype=np.float32) % 2)
    count = cuda.to_device(np.zeros(1, np.int32))
    assert copied(compact, 1, 64, x, count, cuda.device_array(64, np.float32)) == []


def test_elements_chosen_by_a_loaded_index_are_not_missed():
    @cuda.jit
    def scatter(where, out):
        place = where[cuda.grid(1)]
        out[place] = 1

    assert copied(scatter, 1, 8, np.arange(0, 16, 2), cuda.device_array(16)) == []


def test_a_sample_of_blocks_leaves_no_gap():
    @cuda.jit
    def fill(out):
        out[cuda.grid(1)] = 1

    install()
    out = cuda.device_array(256)
    trace(fill, 8, 32, out, blocks=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out.copy_to_host()


def test_two_launches_that_fill_an_array_together_leave_no_gap():
    @cuda.jit
    def fill(first, out):
        out[first + cuda.grid(1)] = 1

    install()
    out = cuda.device_array(128)
    fill[1, 64](0, out)
    assert copied(fill, 1, 64, 64, out) == []


def test_a_gap_is_told_at_the_line_of_the_copy():
    @cuda.jit
    def fill(out):
        i = cuda.grid(1)
        if i < out.size - 3:
            out[i] = 1

    (message,) = copied(fill, 1, 64, cuda.device_array(64))
    assert "copies 3 of 64 elements that fill() has not written: the last 3 elements" in message
    assert f"at line {copied.__code__.co_firstlineno + 6}" in message


def gaps(*where):
    """Return flags of shape (6, 8) that are True at ``where``."""
    flags = np.zeros((6, 8), bool)
    flags[where] = True
    return flags


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (gaps(slice(4, None)), "the last 2 rows, from 4 on"),
        (gaps(slice(None), slice(1, None, 2)), "one in 2 columns, from 1 on"),
        (gaps(slice(1, 3)), "rows 1 to 2"),
        (gaps(3), "index 3 of dimension 0"),
        (gaps(2, 5), "the first of them is [2, 5]"),
        (np.arange(9) % 3 == 2, "one in 3 elements, from 2 on"),
        (np.arange(9) % 8 == 0, "elements 0 and 8"),
        (np.arange(12) // 2 % 3 == 1, "4 elements, of which the first are 2 to 3 and 8 to 9"),
    ],
)
def test_the_pattern_of_a_gap_is_said(flags, said):
    assert pattern(flags) == said
