"""Undefined values may be read, but no result may depend on them; and how that is detected."""

import warnings

import numpy as np
import pytest
from numba import cuda, float32, int32

from virtual_gpu import Race, Uninitialised, VirtualGpuError, trace

BLOCK = 64


@cuda.jit
def halve_tile(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        tile[t] = x[t]
    cuda.syncthreads()
    half = tile[t] * float32(0.5)
    if t < out.size:
        out[t] += half


@cuda.jit
def add_neighbours(x, out):
    mine = cuda.local.array(2, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        mine[0] = x[t]
        mine[1] = x[t] + float32(1)
    total = mine[0] + mine[1]
    if t < x.size:
        out[t] += total


@cuda.jit
def scale_some(x, out):
    t = cuda.threadIdx.x
    if t < x.size:
        factor = x[t]
    scaled = factor * float32(3)
    if t < x.size:
        out[t] += scaled


@cuda.jit
def use_first_half(given, x, out):
    t = cuda.threadIdx.x
    if t < x.size:
        given[t] = x[t]
    seen = given[t]
    if t < x.size:
        out[t] += seen


@pytest.mark.parametrize(
    ("kernel", "factor", "offset"),
    [(halve_tile, 0.5, 0), (add_neighbours, 2, 1), (scale_some, 3, 0)],
    ids=lambda p: getattr(p, "__name__", None),
)
def test_a_value_that_is_discarded_is_a_warning(kernel, factor, offset):
    x, out = np.arange(1, 41, dtype=np.float32), np.ones(40, np.float32)
    with pytest.warns(UserWarning, match="^discarded at line .* The results do not depend on it"):
        kernel[1, BLOCK](x, out)
    np.testing.assert_array_equal(out, 1 + factor * x + offset)  # and added once


def test_device_memory_without_content_may_be_read_and_discarded():
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    allocated = cuda.device_array(BLOCK, np.float32)
    run = trace(use_first_half, 1, BLOCK, allocated, x, out)
    assert [finding.kind for finding in run.findings] == ["discarded"]
    assert run.findings[0].threads_in_all == BLOCK - 40
    np.testing.assert_array_equal(out, x)
    assert np.isnan(allocated.copy_to_host()[40:]).all()


def store_it(tile, t, out):
    out[t] = tile[t]


def store_where_positive(tile, t, out):
    if tile[t] > 0:
        out[t] = 1


def store_where_negative(tile, t, out):
    if tile[t] < 0:
        out[t] = 1


def go_where_it_says(tile, t, out):
    if tile[t] == 0:
        out[t] = 1


def count_it(tile, t, out):
    cuda.atomic.add(out, 0, tile[t])


def loop_so_often(tile, t, out):
    n = tile[t]
    while n > 0:
        out[t] += 1
        n -= 1


def _reading(use):
    use = cuda.jit(device=True)(use)

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(BLOCK, int32)
        t = cuda.threadIdx.x
        if t < x.size:
            tile[t] = x[t]
        cuda.syncthreads()
        use(tile, t, out)

    return kernel


@pytest.mark.parametrize(
    "use",
    [store_it, store_where_positive, store_where_negative, go_where_it_says, count_it,
     loop_so_often],
    ids=lambda use: use.__name__,
)  # fmt: skip
def test_a_value_on_which_a_result_depends_is_an_error(use, monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_MAX_ROUNDS", "300")
    x, out = np.full(40, 2, np.int32), np.zeros(BLOCK, np.int32)
    with pytest.raises(Uninitialised, match=r"reads tile\[40\], which no thread has written"):
        _reading(use)[1, BLOCK](x, out)
    run = trace(_reading(use), 1, BLOCK, x, np.zeros(BLOCK, np.int32))
    assert "uninitialised" in {finding.kind for finding in run.findings}


def test_after_an_error_arrays_hold_what_the_launch_has_left():
    x, out = np.full(40, 2, np.int32), np.zeros(BLOCK, np.int32)
    with pytest.raises(VirtualGpuError):
        _reading(store_it)[1, BLOCK](x, out)
    np.testing.assert_array_equal(out, np.r_[x, np.zeros(BLOCK - 40)])


def test_a_kernel_that_is_run_again_prints_once(capsys):
    @cuda.jit
    def talk(x, out):
        tile = cuda.shared.array(BLOCK, float32)
        t = cuda.threadIdx.x
        if t < x.size:
            tile[t] = x[t]
        cuda.syncthreads()
        value = tile[t]
        if t == 0:
            print("first", value)
            out[0] = value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        talk[1, BLOCK](np.ones(8, np.float32), np.zeros(1, np.float32))
    assert capsys.readouterr().out == "first 1.0\n"


def test_counts_are_those_of_one_run():
    x, out = np.ones(40, np.float32), np.zeros(40, np.float32)
    run = trace(halve_tile, 1, BLOCK, x, out)
    assert run.totals["barriers"] == 2
    assert run.totals["global_store_requests"] == 2


# --- a loop around a compare-and-swap ----------------------------------------------------------


@cuda.jit
def smallest_by_swap(x, best):
    i = cuda.grid(1)
    known = best[0]
    while x[i] < known:
        expected = known
        known = cuda.atomic.cas(best, 0, expected, x[i])
        if known == expected:
            break


@cuda.jit
def smallest_of_block(x, out):
    best = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        best[0] = x[0]
    cuda.syncthreads()
    while True:
        known = best[0]
        if x[t] >= known or cuda.atomic.compare_and_swap(best, known, x[t]) == known:
            break
    cuda.syncthreads()
    if t == 0:
        out[0] = best[0]


def test_a_swap_loop_may_begin_with_a_plain_read():
    x = np.random.default_rng(1).permutation(256).astype(np.int32) + 7
    best = np.full(1, 1000, np.int32)
    smallest_by_swap[4, BLOCK](x, best)
    assert best[0] == 7


def test_where_other_blocks_have_updated_it_the_plain_read_is_a_warning():
    x = np.full(1 << 17, 2000, np.int32)  # more threads than one batch has
    x[:: 1 << 13] = np.arange(16, 0, -1)
    best = np.full(1, 1000, np.int32)
    with pytest.warns(UserWarning, match="stale_read at line .*atomic that follows looks at it"):
        smallest_by_swap[128, 1024](x, best)
    assert best[0] == 1


def test_a_swap_loop_may_read_shared_memory_in_each_round():
    x, out = np.arange(BLOCK, 0, -1, dtype=np.int32), np.zeros(1, np.int32)
    run = trace(smallest_of_block, 1, BLOCK, x, out)
    assert {finding.kind for finding in run.findings} <= {"stale_read"}
    assert out[0] == 1


def test_a_plain_read_beside_atomics_is_a_race_where_no_swap_follows():
    @cuda.jit
    def running_total(x, total, out):
        i = cuda.grid(1)
        cuda.atomic.add(total, 0, x[i])
        out[i] = total[0]

    arrays = np.ones(256, np.int32), np.zeros(1, np.int32), np.zeros(256, np.int32)
    with pytest.raises(Race):
        running_total[4, BLOCK](*arrays)


def test_a_plain_store_beside_a_swap_loop_is_a_race():
    @cuda.jit
    def swap_and_store(x, best):
        i = cuda.grid(1)
        known = best[0]
        cuda.atomic.cas(best, 0, known, x[i])
        if i == 0:
            best[0] = x[i] - 1

    with pytest.raises(Race):
        swap_and_store[4, BLOCK](np.arange(256, dtype=np.int32), np.full(1, 1000, np.int32))


@cuda.jit
def level_of_neighbours(first, neighbours, level, depth):
    v = cuda.grid(1)
    if v < level.size and level[v] == depth:
        for edge in range(first[v], first[v + 1]):
            cuda.atomic.cas(level, neighbours[edge], -1, depth + 1)


@cuda.jit
def largest_after_a_look(x, best):
    i = cuda.grid(1)
    if x[i] > best[0]:
        cuda.atomic.max(best, 0, x[i])


def test_a_condition_may_look_at_what_atomics_change():
    level = np.full(64, -1, np.int32)
    level[0] = 0
    ring = (np.arange(64, dtype=np.int32) + 1) % 64
    run = trace(level_of_neighbours, 2, 32, np.arange(65, dtype=np.int32), ring, level, 0)
    assert {finding.kind for finding in run.findings} <= {"stale_read"}
    assert level[1] == 1
    x, best = np.arange(4096, dtype=np.int32), np.zeros(1, np.int32)
    run = trace(largest_after_a_look, 64, 64, x, best)
    assert {finding.kind for finding in run.findings} <= {"stale_read"}
    assert best[0] == 4095


def test_a_condition_that_looks_at_a_counter_is_a_race():
    @cuda.jit
    def take_while_there_is_room(count, out):
        i = cuda.grid(1)
        if count[0] < 8:
            out[cuda.atomic.add(count, 0, 1)] = i

    with pytest.raises(Race):
        take_while_there_is_room[4, 64](np.zeros(1, np.int32), np.zeros(256, np.int32))


def test_what_one_array_expects_is_no_excuse_for_another():
    @cuda.jit
    def other_array(x, best, count):
        i = cuda.grid(1)
        cuda.atomic.add(count, 0, 1)
        known = count[0]
        cuda.atomic.cas(best, 0, known, x[i])

    arrays = np.arange(256, dtype=np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    with pytest.raises(Race):
        other_array[4, BLOCK](*arrays)
