"""The checks find what is wrong, name it, and accuse no correct kernel."""

import linecache
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32

from virtual_gpu import (
    BarrierError,
    LaunchError,
    OutOfBounds,
    Race,
    Uninitialised,
    install,
    trace,
)

BLOCK = 64


def kinds_found(kernel, *arguments, grid=1, block=BLOCK):
    """Return the kinds of findings of a launch."""
    return {f.kind for f in trace(kernel, grid, block, *arguments).findings}


@cuda.jit
def reverse(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[BLOCK - 1 - i]


@cuda.jit
def reverse_without_barrier(x, out):
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[BLOCK - 1 - i]  # the race


def test_a_missing_barrier_is_a_race_with_both_lines_and_threads():
    x, out = np.arange(BLOCK, dtype=np.float32), np.zeros(BLOCK, np.float32)
    assert kinds_found(reverse, x, out) == set()
    assert (out == x[::-1]).all()
    (finding,) = trace(reverse_without_barrier, 1, BLOCK, x, out).findings
    assert finding.kind == "race"
    assert finding.array == "tile"
    assert "# the race" in finding.site.source
    assert "tile[i] = x[i]" in linecache.getline(finding.site.file, finding.other_line)
    first, second = (t.thread[0] for t in finding.threads)
    assert finding.index == (BLOCK - 1 - first,) == (second,)
    with pytest.raises(Race, match="no syncthreads") as caught:
        reverse_without_barrier[1, BLOCK](x, out)
    assert caught.value.finding.line == finding.line


@cuda.jit
def accumulate(x, out, rounds, early, late):
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for r in range(rounds):
        tile[i] = x[r, i]
        if early:
            cuda.syncthreads()
        for k in range(BLOCK):
            total += tile[k]
        if late:
            cuda.syncthreads()
    out[i] = total


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_either_barrier_of_a_tile_loop_is_needed(rounds, early, seed):
    x = np.random.default_rng(seed).random((rounds, BLOCK), np.float32)
    out = np.zeros(BLOCK, np.float32)
    assert kinds_found(accumulate, x, out, rounds, True, True) == set()
    np.testing.assert_allclose(out, x.sum(), rtol=1e-5)
    assert kinds_found(accumulate, x, out, rounds, early, not early) == {"race"}


@cuda.jit
def histogram_by_store(x, bins):
    i = cuda.grid(1)
    bins[x[i]] = bins[x[i]] + 1


@cuda.jit
def neighbours_in_place(x):
    i = cuda.grid(1)
    if i + 1 < x.size:
        x[i] = x[i + 1]


@cuda.jit
def one_flag(x, flag):
    i = cuda.grid(1)
    if x[i] > 0:
        flag[0] = 1


def test_races_in_global_memory_within_and_between_blocks():
    x = np.zeros(128, np.int64)
    assert kinds_found(histogram_by_store, x, np.zeros(4, np.int64), grid=2) == {"race"}
    assert kinds_found(neighbours_in_place, np.zeros(128), grid=2) == {"race"}
    only_between_blocks = np.arange(128) % 64
    bins = np.zeros(64, np.int64)
    assert kinds_found(histogram_by_store, only_between_blocks[:64], bins) == set()
    assert kinds_found(histogram_by_store, only_between_blocks, bins, grid=2) == {"race"}


def test_many_threads_that_write_the_same_value_are_not_accused():
    flag = np.zeros(1, np.int64)
    assert kinds_found(one_flag, np.ones(128), flag, grid=2) == set()
    assert flag[0] == 1


def test_a_race_through_two_names_of_one_array_is_found():
    @cuda.jit
    def shift(source, target):
        i = cuda.grid(1)
        target[i] = source[i + 1]

    memory = cuda.to_device(np.arange(BLOCK + 1.0))
    assert kinds_found(shift, memory, memory) == {"race"}
    assert kinds_found(shift, memory, cuda.device_array(BLOCK)) == set()


def test_races_between_blocks_of_different_batches_are_found(monkeypatch):
    from virtual_gpu.launching import launch

    monkeypatch.setattr(launch, "LANES_PER_BATCH", BLOCK)
    bins = np.zeros(64, np.int64)
    assert kinds_found(histogram_by_store, np.arange(128) % 64, bins, grid=2) == {"race"}


@cuda.jit
def off_by_one(x, out):
    i = cuda.grid(1)
    if i > x.size:  # the sources' slip: >= is needed
        return
    out[i] = x[i]


@cuda.jit
def next_row(x, out):
    i = cuda.threadIdx.x
    out[i] = x[0, i]  # stays inside the allocation, leaves the row


@cuda.jit
def wrapped(x, out):
    i = cuda.threadIdx.x
    out[i] = x[i - 1]


def test_out_of_bounds_in_any_dimension_and_by_one():
    x, out = np.zeros(40), np.zeros(64)
    findings = trace(off_by_one, 1, BLOCK, x, out).findings
    assert [(f.kind, f.array, f.index) for f in findings] == [("out_of_bounds", "x", (40,))]
    assert kinds_found(next_row, np.zeros((4, 16)), out) == {"out_of_bounds"}
    with pytest.raises(OutOfBounds, match=r"x\[0, 16\]; dimension 1 of x has 16"):
        next_row[1, BLOCK](np.zeros((4, 16)), out)


def test_a_lane_out_of_bounds_does_not_disturb_the_others():
    x, out = np.arange(40.0), np.full(64, -1.0)
    trace(off_by_one, 1, BLOCK, x, out)
    assert (out[:40] == x).all()
    assert (out[41:] == -1).all()


def test_a_negative_index_wraps_and_is_reported_as_a_warning():
    x, out = np.arange(64.0), np.zeros(64)
    (finding,) = trace(wrapped, 1, BLOCK, x, out).findings
    assert finding.kind == "wrapped_index"
    assert out[0] == 63
    with pytest.warns(UserWarning, match="counts it from the end"):
        wrapped[1, BLOCK](x, out)


LAST = -1


@cuda.jit
def from_the_end(x, out):
    tail = cuda.local.array(2, float32)
    tail[0], tail[-1] = x[-1], x[LAST - 1]
    out[cuda.threadIdx.x, -1] = tail[0] + tail[1]
    out[-9, 0] = 1


def test_a_negative_number_in_the_text_counts_from_the_end_without_a_warning():
    x, out = np.arange(64.0), np.zeros((8, 2))
    (finding,) = trace(from_the_end, 1, 8, x, out).findings
    assert (finding.kind, finding.index) == ("out_of_bounds", (-9, 0))
    assert (out[:, 1] == 63 + 62).all()


@cuda.jit
def local_bounds(out):
    mine = cuda.local.array(4, int32)
    for k in range(5):
        mine[k] = k
    out[cuda.threadIdx.x] = mine[0]


@cuda.jit
def local_unwritten(out):
    mine = cuda.local.array(4, int32)
    i = cuda.threadIdx.x
    if i % 2 == 0:
        mine[1] = 5
    out[i] = mine[1]


@cuda.jit
def shared_unwritten(out):
    tile = cuda.shared.array(BLOCK, float32)
    i = cuda.threadIdx.x
    if i < 32:
        tile[i] = i
    cuda.syncthreads()
    out[i] = tile[i]


def test_local_arrays_are_checked_too():
    out = np.zeros(64)
    assert kinds_found(local_bounds, out) == {"out_of_bounds"}
    (finding,) = trace(local_unwritten, 1, BLOCK, out).findings
    assert (finding.kind, finding.array, finding.index, finding.count) == (
        "uninitialised", "mine", (1,), 32,
    )  # fmt: skip


def test_reading_shared_memory_that_nobody_wrote():
    (finding,) = trace(shared_unwritten, 1, BLOCK, np.zeros(64)).findings
    assert (finding.kind, finding.index, finding.count) == ("uninitialised", (32,), 32)
    with pytest.raises(Uninitialised):
        shared_unwritten[1, BLOCK](np.zeros(64))


@cuda.jit
def half_a_barrier(x):
    i = cuda.threadIdx.x
    if i < 40:
        cuda.syncthreads()
    x[i] = i


@cuda.jit
def left_before_the_barrier(x):
    i = cuda.threadIdx.x
    if i >= 40:
        return
    cuda.syncthreads()
    x[i] = i


@cuda.jit
def rounds_by_block(x):
    for _ in range(cuda.blockIdx.x + 1):
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def rounds_by_thread(x):
    for _ in range(cuda.threadIdx.x % 2 + 1):
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


def test_a_barrier_that_part_of_a_block_reaches():
    x = np.zeros(256)
    with pytest.raises(BarrierError, match=r"40 of the 64 live threads of a block.*thread \(40\)"):
        half_a_barrier[1, BLOCK](x)
    assert kinds_found(rounds_by_thread, x) == {"barrier"}


def test_threads_that_have_left_and_blocks_with_their_own_rounds_are_fine():
    x = np.zeros(256)
    assert kinds_found(left_before_the_barrier, x) == set()
    assert kinds_found(rounds_by_block, x, grid=4) == set()


def test_a_race_is_found_when_blocks_pass_different_numbers_of_barriers():
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(BLOCK, float32)
        i = cuda.threadIdx.x
        for _ in range(cuda.blockIdx.x):
            cuda.syncthreads()
        tile[i] = i
        if cuda.blockIdx.x > 0:
            cuda.syncthreads()
        out[cuda.grid(1)] = tile[BLOCK - 1 - i]

    findings = trace(kernel, 3, BLOCK, np.zeros(192)).findings
    assert [f.kind for f in findings] == ["race"]
    assert all(t.block == (0, 0, 0) for f in findings for t in f.threads)
    assert findings[0].count == BLOCK


def test_a_trace_can_sample_blocks_and_says_so():
    x, bins = np.zeros(64 * 1000, np.int64), np.zeros(4, np.int64)
    sampled = trace(one_flag, 1000, BLOCK, x, bins, blocks=8)
    assert sampled.blocks == (8, 1000)
    assert sampled.totals["global_load_requests"] == 8 * 2
    assert "a sample of 8 of 1000 blocks" in str(sampled)
    assert "sample" not in str(trace(one_flag, 2, BLOCK, x, bins))
    with pytest.raises(LaunchError, match="at least 1 block"):
        trace(one_flag, 2, BLOCK, x, bins, blocks=0)


def test_a_failed_launch_keeps_what_was_written_and_says_where():
    x, out = np.arange(40.0), np.zeros(200)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = 1
        out[i] = x[i]

    with pytest.raises(OutOfBounds, match=r"Written before: out\."):
        kernel[2, BLOCK](x, out)
    assert (out[:64] == 1).all()


TILED = """
from numba import cuda, float32

@cuda.jit
def tiled(a, b, c):
    sa = cuda.shared.array((8, 8), float32)
    sb = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 8 + ty, cuda.blockIdx.x * 8 + tx
    acc = float32(0)
    for t in range(a.shape[1] // 8):
        sa[ty, tx] = a[row, t * 8 + tx]
        sb[ty, tx] = b[t * 8 + ty, col]
        cuda.syncthreads()
        for k in range(8):
            acc += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[row, col] = acc
"""


def kernel_from(text, path):
    """Return a kernel from source text, written to a file so that its lines can be read."""
    path.write_text(textwrap.dedent(text))
    linecache.checkcache(str(path))
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace["tiled"]


@pytest.mark.parametrize("removed", [0, 1])
def test_a_removed_barrier_is_found_in_twenty_of_twenty_runs(tmp_path, removed):
    parts = TILED.split("cuda.syncthreads()")
    joined = parts[removed] + "pass" + parts[removed + 1]
    text = "cuda.syncthreads()".join([*parts[:removed], joined, *parts[removed + 2 :]])
    whole = kernel_from(TILED, tmp_path / "whole.py")
    broken = kernel_from(text, tmp_path / f"broken{removed}.py")
    rng = np.random.default_rng(7)
    lines = {1 + text[: text.index(part)].count("\n") for part in ("sa[ty, tx] =", "sb[ty, tx] =")}
    lines.add(1 + text[: text.index("acc +=")].count("\n"))
    for _ in range(20):
        m, k, n = (8 * int(v) for v in rng.integers(2, 5, 3))
        a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
        c = np.full((m, n), np.nan, np.float32)
        grid = (n // 8, m // 8)
        assert trace(whole, grid, (8, 8), a, b, c).findings == ()
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)
        findings = trace(broken, grid, (8, 8), a, b, c).findings
        assert {f.kind for f in findings} == {"race"}
        assert {f.line for f in findings} | {f.other_line for f in findings} <= lines


# --- one thread alone --------------------------------------------------------------------------


@cuda.jit
def differences(x, out):
    for i in range(1, x.size):
        out[i] = x[i] - x[i - 1]
        x[i - 1] = out[i]


def test_one_thread_alone_computes_and_is_not_accused():
    x, out = np.arange(50.0) ** 2, np.zeros(50)
    assert trace(differences, 1, 1, x, out).findings == ()
    np.testing.assert_array_equal(out[1:], x[:-1])


@cuda.jit
def uses_an_unset_element(x, out):
    tile = cuda.shared.array(8, float32)
    tile[0] = x[0]
    out[0] = tile[1]
    out[1] = x[x.size]


def test_one_thread_alone_is_told_its_flaws_and_what_it_has_written():
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    found = trace(uses_an_unset_element, 1, 1, x, out).findings
    assert [finding.kind for finding in found] == ["uninitialised", "out_of_bounds"]
    with pytest.raises(Uninitialised, match=r"Written before: out\."):
        uses_an_unset_element[1, 1](x, out)


@cuda.jit
def sums_an_array_that_nobody_filled(total):
    for i in range(1, total.size):
        total[0] += total[i]


def test_one_thread_alone_is_told_of_undefined_elements():
    install()
    total = cuda.device_array(8)
    found = trace(sums_an_array_that_nobody_filled, 1, 1, total).findings
    assert {finding.kind for finding in found} == {"uninitialised"}


@cuda.jit
def own_elements_then_a_neighbour(x, out):
    i = cuda.threadIdx.x
    for _ in range(3):
        x[i] += 1
    out[i] = x[i ^ 1]  # the race


def test_elements_that_only_their_thread_has_touched_race_with_the_next_reader():
    x, out = np.ones(32), np.zeros(32)
    (finding,) = trace(own_elements_then_a_neighbour, 1, 32, x, out).findings
    assert finding.kind == "race"
    assert "# the race" in finding.site.source


@cuda.jit
def neighbours_then_own_elements(x, out):
    i = cuda.threadIdx.x
    out[i] = x[i ^ 1]
    x[i] = 0  # the race


def test_a_store_to_an_own_element_that_another_thread_has_read_is_a_race():
    (finding,) = trace(neighbours_then_own_elements, 1, 32, np.ones(32), np.zeros(32)).findings
    assert finding.kind == "race"
    assert "# the race" in finding.site.source
