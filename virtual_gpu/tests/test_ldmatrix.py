"""`ldmatrix` on the virtual GPU: which lane gets which element, its cost, and its alignment."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, uint16
from numba.types import float16

from utils.intrinsics import tensor
from utils.paths import DATA
from virtual_gpu import trace
from virtual_gpu.numbers.fragments import (
    element_of_matrix,
)
from virtual_gpu.programs.advice import advice
from virtual_gpu.tests.kernels.counted_matrices import PATTERNS, wide_load, wide_store
from virtual_gpu.tests.kernels.tensor_rounding import LANES


def read(name):
    """Return the rows of a record of the H200 as dicts."""
    with (DATA / "measured" / "nvidia_h200" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cuda.jit
def four_matrices(x, rows, out):
    tile = cuda.shared.array((64, 8), float16, alignment=16)
    part = cuda.local.array(8, float16)
    t = cuda.threadIdx.x
    for i in range(t, 64 * 8, 32):
        tile[i // 8, i % 8] = x[i // 8, i % 8]
    cuda.syncthreads()
    tensor.ldmatrix_x4(part, tile, (rows[t], 0))
    for i in range(8):
        out[0, t, i] = part[i]
    tensor.ldmatrix_x4_trans(part, tile, (rows[t], 0))
    for i in range(8):
        out[1, t, i] = part[i]


@cuda.jit
def two_matrices(x, rows, out):
    tile = cuda.shared.array((64, 8), uint16, alignment=16)
    part = cuda.local.array((2, 2, 2), uint16)
    t = cuda.threadIdx.x
    for i in range(t, 64 * 8, 32):
        tile[i // 8, i % 8] = x[i // 8, i % 8]
    cuda.syncthreads()
    tensor.ldmatrix_x2(part[0], tile, (rows[t], 0))
    tensor.ldmatrix_x2_trans(part[1], tile, (rows[t], 0))
    for i in range(8):
        out[i // 4, t, i % 4] = part[i // 4, i // 2 % 2, i % 2]


@pytest.mark.parametrize(
    ("kernel", "matrices", "dtype"),
    [(four_matrices, 4, np.float16), (two_matrices, 2, np.uint16)],
)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_ldmatrix_deals_rows_and_columns_of_each_matrix(kernel, matrices, dtype, seed):
    rng = np.random.default_rng(seed)
    x = rng.permutation(512).reshape(64, 8).astype(dtype)
    rows, out = rng.integers(0, 64, 32), np.zeros((2, 32, 2 * matrices), dtype)
    run = trace(kernel, 1, 32, x, rows, out)
    assert run.findings == ()
    for matrix in range(matrices):
        given_rows = x[rows[8 * matrix : 8 * matrix + 8]]
        for i in range(2):
            row, column = element_of_matrix(LANES, i)
            got = out[:, :, 2 * matrix + i]
            np.testing.assert_array_equal(got, [given_rows[row, column], given_rows[column, row]])


def test_lanes_that_give_no_row_may_have_any_position():
    x = np.arange(512, dtype=np.uint16).reshape(64, 8)
    rows = np.where(LANES < 16, LANES, 9999)
    run = trace(two_matrices, 1, 32, x, rows, np.zeros((2, 32, 4), np.uint16))
    assert run.findings == ()
    counts = [one for one in run.access_counts if one.instruction == "ldmatrix"]
    # All lanes execute the instruction, and half of them give rows.
    assert [(one.lanes, one.bytes, one.wavefronts) for one in counts] == [(32, 256, 2)] * 2


@cuda.jit
def strided_rows(x, pitch, out):
    tile = cuda.shared.array(8192, float16, alignment=16)
    part = cuda.local.array(8, float16)
    t = cuda.threadIdx.x
    for i in range(t, 8192, 32):
        tile[i] = 0
    cuda.syncthreads()
    tensor.ldmatrix_x4(part, tile, t * pitch)
    out[t] = part[0]


@pytest.mark.parametrize(("pitch", "wavefronts"), [(8, 4), (16, 8), (64, 32), (72, 4), (0, 4)])
def test_the_eight_rows_of_each_matrix_are_one_pass_without_conflicts(pitch, wavefronts):
    run = trace(strided_rows, 1, 32, np.zeros(1, np.float16), pitch, np.zeros(32))
    (access,) = (one for one in run.access_counts if one.instruction == "ldmatrix")
    assert (access.requests, access.wavefronts, access.fewest_wavefronts) == (1, wavefronts, 4)
    assert access.bytes == 512
    hints = [hint for hint in run.hints if hint.array == "tile" and "ldmatrix" in hint.message]
    assert bool(hints) == (wavefronts >= 8)
    assert all(hint.site.source == access.site.source for hint in hints)
    assert all("8 more elements" in advice(hint) for hint in hints)


@pytest.mark.parametrize("row", read("ldmatrix.csv"), ids=lambda row: row["pattern"])
def test_the_cost_of_ldmatrix_is_what_the_profiler_counted(row):
    kernel, positions = PATTERNS[row["pattern"]]
    run = trace(kernel, 1, 64, positions, np.zeros(64, np.float32))
    if kernel is wide_store:
        assert run.totals["shared_store_wavefronts"] == int(row["store_wavefronts"])
        return
    assert run.totals["shared_load_wavefronts"] == int(row["wavefronts"])
    if kernel is wide_load:
        return
    (access,) = (one for one in run.access_counts if one.instruction == "ldmatrix")
    assert access.requests == int(row["requests"])
    assert access.wavefronts - access.fewest_wavefronts == int(row["bank_conflicts"])


@cuda.jit
def rows_of_an_odd_array(first, out):
    tile = cuda.shared.array(100, float16, alignment=16)
    part = cuda.local.array(4, float16)
    t = cuda.threadIdx.x
    for i in range(t, 100, 32):
        tile[i] = 1
    cuda.syncwarp()
    tensor.ldmatrix_x2(part, tile, first + t % 11 * 8)
    out[cuda.grid(1)] = part[0]


def test_each_block_has_an_aligned_array_of_any_size():
    assert trace(rows_of_an_odd_array, 3, 32, 0, np.zeros(96)).findings == ()
    (finding,) = trace(rows_of_an_odd_array, 3, 32, 4, np.zeros(96)).findings
    assert finding.kind == "out_of_bounds"
    assert "from element 4 on, which is no multiple of 8: the address is misaligned" in str(finding)


@cuda.jit
def without_alignment(x, out):
    plain = cuda.shared.array((16, 8), float16)
    half = cuda.shared.array((16, 8), float16, alignment=8)
    whole = cuda.shared.array((16, 8), float16, alignment=16)
    part = cuda.local.array(4, float16)
    t = cuda.threadIdx.x
    for i in range(t, 128, 32):
        plain[i // 8, i % 8] = half[i // 8, i % 8] = whole[i // 8, i % 8] = 0
    cuda.syncwarp()
    for _ in range(2):
        tensor.ldmatrix_x2(part, plain, (t % 16, 0))
        out[t] = part[0]
        tensor.ldmatrix_x2(part, half, (t % 16, 0))
        out[t] += part[0]
        tensor.ldmatrix_x2(part, whole, (t % 16, 0))
        out[t] += part[0]


def test_a_shared_array_that_may_not_be_aligned_gets_one_hint():
    hints = trace(without_alignment, 1, 32, np.zeros(1), np.zeros(32)).hints
    hints = [hint for hint in hints if hint.kind == "unaligned_array"]
    assert [hint.array for hint in hints] == ["plain", "half"]
    assert [hint.figures["alignment"] for hint in hints] == [2, 8]
    assert hints[0].message == (
        "ldmatrix of plain needs an address that is a multiple of 16 bytes, and plain is only "
        "aligned to 2: declare it with alignment=16"
    )


def test_a_recording_has_the_rows_of_ldmatrix():
    x, rows = np.zeros((64, 8), np.float16), LANES
    run = trace(four_matrices, 1, 32, x, rows, np.zeros((2, 32, 8), np.float16), record=0)
    events = [event for event in run.recording.events if event.width == 8]
    assert [(event.kind, event.array) for event in events] == [("load", "tile")] * 2
    np.testing.assert_array_equal(events[0].first, 8 * rows)
