"""128-bit accesses and asynchronous copies: one instruction each, and run by the virtual GPU."""

import numpy as np
import pytest
from numba import cuda, float32, float64, int64, uint32, void

from gpu_xray import xray
from utils.division import cdiv
from utils.errors import CourseError
from utils.intrinsics.wide_memory import (
    before_boundary,
    commit_copies,
    copy4_async,
    load4,
    store4,
    stream16,
    wait_copies,
)
from virtual_gpu import Unsupported, trace

LANES = 32


@cuda.jit
def copy_wide(x, out):
    i = uint32(cuda.grid(1)) * uint32(4)
    if i + 3 < x.size:
        store4(out, i, load4(x, i))


@cuda.jit
def reverse_async(x, out):
    tile = cuda.shared.array((32, 4), float32, alignment=16)
    t = uint32(cuda.threadIdx.x)
    copy4_async(tile, (t, 0), x, 4 * t)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    a, b, c, d = load4(tile, (31 - t, 0))
    store4(out, 4 * t, (d, c, b, a))


@cuda.jit
def read_before_the_barrier(x, out):
    tile = cuda.shared.array((32, 4), float32, alignment=16)
    t = uint32(cuda.threadIdx.x)
    copy4_async(tile, (t, 0), x, 4 * t)
    commit_copies()
    wait_copies(0)
    store4(out, 4 * t, load4(tile, (31 - t, 0)))


@cuda.jit
def read_before_the_wait(x, out):
    tile = cuda.shared.array((32, 4), float32, alignment=16)
    t = uint32(cuda.threadIdx.x)
    copy4_async(tile, (t, 0), x, 4 * t)
    commit_copies()
    cuda.syncthreads()
    store4(out, 4 * t, load4(tile, (31 - t, 0)))
    wait_copies(0)


@cuda.jit
def crooked(x, out):
    store4(out, 0, load4(x, 1))


def vectors():
    return np.arange(1, 129, dtype=np.float32), np.zeros(128, np.float32)


def test_a_wide_copy_is_one_request_and_four_times_the_sectors():
    x, out = vectors()
    result = trace(copy_wide, 1, LANES, x, out)
    assert result.findings == ()
    assert (out == x).all()
    assert result.totals["global_load_requests"] == 1
    assert result.totals["global_load_sectors"] == 16


def test_results_on_the_device_at_hand():
    x, out = vectors()
    copy_wide[1, LANES](x, out)
    assert (out == x).all()
    reverse_async[1, LANES](x, out)
    assert (out == x[::-1]).all()


def test_an_asynchronous_copy_arrives_after_the_wait():
    x, out = vectors()
    result = trace(reverse_async, 1, LANES, x, out)
    assert result.findings == ()
    assert (out == x[::-1]).all()
    trace(read_before_the_wait, 1, LANES, x, out)
    assert (out != x.reshape(32, 4)[::-1].ravel()).all()


def test_a_missing_barrier_after_a_copy_is_a_race():
    findings = trace(read_before_the_barrier, 1, LANES, *vectors()).findings
    assert [f.kind for f in findings] == ["race"]


@cuda.jit
def store_in_one_place(x, copied):
    quad = float32(cuda.grid(1))
    store4(x, uint32(0), (quad, quad, quad, quad))
    tile = cuda.shared.array((1, 4), float32, alignment=16)
    copy4_async(tile, (0, 0), copied, uint32(4 * cuda.threadIdx.x))
    commit_copies()
    wait_copies(0)


@cuda.jit
def store_a_local_array(x, out):
    four = cuda.local.array(4, float32)
    for i in range(4):
        four[i] = x[i]
    store4(out, 0, four)


@cuda.jit
def store_one_number(x, out):
    store4(out, 0, x[0])


@pytest.mark.parametrize(
    "kernel, given", [(store_a_local_array, "an array"), (store_one_number, "one number")]
)
def test_a_wide_store_of_anything_but_a_tuple_is_refused(kernel, given):
    with pytest.raises(Unsupported, match=rf"needs a tuple of numbers, .* was given {given}\."):
        trace(kernel, 1, 1, np.ones(4, np.float32), np.zeros(4, np.float32))


@pytest.mark.parametrize("grid, block", [(1, 2), (1, 64), (3, 1)], ids=["lanes", "warps", "blocks"])
def test_wide_stores_to_one_place_are_a_race(grid, block):
    x, copied = np.zeros(4, np.float32), np.arange(256, dtype=np.float32)
    findings = trace(store_in_one_place, grid, block, x, copied).findings
    assert {(finding.kind, finding.array) for finding in findings} == (
        {("race", "x"), ("race", "tile")} if block > 1 else {("race", "x")}
    )


def test_a_misaligned_or_overhanging_access_is_reported():
    (finding,) = trace(crooked, 1, 1, *vectors()).findings
    assert "misaligned" in finding.message
    short = np.zeros(8, np.float32)
    (finding,) = trace(unguarded, 1, LANES, short, np.zeros(128, np.float32)).findings
    assert (finding.kind, finding.array, finding.index) == ("out_of_bounds", "x", (11,))


@cuda.jit
def unguarded(x, out):
    i = cuda.grid(1) * 4
    store4(out, i, load4(x, i))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel, instructions",
    [
        (copy_wide, ("LDG.128", "STG.128")),
        (reverse_async, ("LDGSTS.128", "LDS.128", "STG.128")),
    ],
)
def test_each_becomes_one_instruction(kernel, instructions):
    try:
        report = xray(kernel, void(float32[::1], float32[::1]))
    except CourseError as error:
        pytest.skip(str(error))
    made = report.loads | report.stores
    assert [made[instruction] for instruction in instructions] == [1] * len(instructions)


@cuda.jit
def sum_of_streamed(x, out):
    i = before_boundary(x) + 4 * cuda.grid(1)
    a, b, c, d = stream16(x, i)
    out[cuda.grid(1)] = a + b + c + d


@pytest.mark.parametrize("first", range(5))
def test_stream16_reads_from_the_first_boundary_on(first):
    x, out = cuda.to_device(np.arange(200, dtype=np.float32)), np.zeros(LANES, np.float32)
    part = x[first:]
    sum_of_streamed[1, LANES](part, out)
    # The virtual GPU counts addresses from where the array it is given begins.
    boundary = cdiv(first, 4) * 4 if cuda.is_available() else first
    np.testing.assert_array_equal(out, [4 * (boundary + 4 * i) + 6 for i in range(LANES)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype, kind", [(float32, "v4.f32"), (float64, "v2.f64"), (int64, "v2.b64")]
)
def test_stream16_is_one_load_that_the_first_cache_does_not_keep(dtype, kind):
    @cuda.jit
    def first_of(x, out):
        out[0] = stream16(x, 0)[0]

    ptx = xray(first_of, void(dtype[::1], dtype[::1])).ptx
    assert ptx.count("ld.global.nc.L1::no_allocate." + kind) == 1
