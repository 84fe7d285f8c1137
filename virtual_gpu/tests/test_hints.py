"""Each hint is earned by a kernel that wastes something, and not by its twin that does not."""

import numpy as np
import pytest
from numba import complex64, cuda, float32, float64

from virtual_gpu import trace

SIDE = 64
DOUBLE = float64


def hints(kernel, *arguments, grid=1, block=256):
    """Return kind and array of each hint of a launch, and the trace, which must have no flaw."""
    run = trace(kernel, grid, block, *arguments)
    assert not [f for f in run.findings if f.kind != "wrapped_index"]
    return [(hint.kind, hint.array) for hint in run.hints], run


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@cuda.jit
def turned(x, out):
    j, i = cuda.grid(2)
    out[j, i] = x[i, j]


def test_a_transposed_store_says_how_many_sectors_would_do():
    kinds, found = hints(turned, zeros(SIDE, SIDE), zeros(SIDE, SIDE), grid=(2, 8), block=(32, 8))
    assert kinds == [("strided_access", "out")]
    (hint,) = found.hints
    assert hint.message == (
        "transposed store of out: 32 sectors per request where 4 would do "
        "(neighbouring threads are 256 bytes apart)"
    )
    assert hint.figures == {
        "requests": 128,
        "sectors_per_request": 32,
        "fewest_sectors_per_request": 4,
        "stride": 256,
    }
    assert hint.line == turned.py_func.__code__.co_firstlineno + 3
    assert found.verdict == f"no flaw found; {hint.message}, line {hint.line}"
    assert hint.message in found._repr_html_()


@cuda.jit
def every_other(x, step, out):
    i = cuda.grid(1)
    out[i] = x[i * step]


@cuda.jit
def gathered(x, where, out):
    i = cuda.grid(1)
    out[i] = x[where[i]]


@pytest.mark.parametrize(("step", "earned"), [(0, []), (1, []), (2, [("strided_access", "x")])])
def test_neighbours_and_one_element_for_all_are_no_strided_access(step, earned):
    assert hints(every_other, zeros(512), step, zeros(256))[0] == earned


def test_an_access_that_starts_off_a_boundary_is_no_strided_access():
    assert hints(every_other, zeros(300)[1:], 1, zeros(256))[0] == []


def test_an_access_without_one_step_is_scattered():
    where = np.random.default_rng(1).permutation(4096)[:256]
    _, found = hints(gathered, zeros(4096), where, zeros(256))
    (hint,) = found.hints
    assert hint.message.startswith("scattered load of x: ")
    assert "stride" not in hint.figures


@cuda.jit
def copied(x, out):
    j, i = cuda.grid(2)
    out[i, j] = x[i, j]


def test_a_block_that_is_narrower_than_a_warp_accesses_pieces():
    x = zeros(64, 64, dtype=np.uint8)
    _, found = hints(copied, x, x.copy(), grid=(4, 4), block=(16, 16))
    assert [hint.message for hint in found.hints] == [
        f"{access} in pieces: 2 sectors per request where 1 would do "
        "(a warp's access is 2 pieces of neighbouring elements)"
        for access in ("load of x", "store of out")
    ]
    assert hints(copied, x, x.copy(), grid=(2, 8), block=(32, 8))[0] == []


@cuda.jit
def edge(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


def test_the_guard_of_an_edge_earns_no_hint():
    assert hints(edge, zeros(257), zeros(257), grid=2)[0] == []


@cuda.jit
def complex_copy(x, out):
    tile = cuda.shared.array(256, complex64)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    out[i] = tile[i]


def test_complex_neighbours_earn_no_hint():
    x, out = zeros(256, dtype=np.complex64), zeros(256, dtype=np.complex64)
    assert hints(complex_copy, x, out)[0] == []


def through_a_tile(width, dtype=float32):
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array((32, width), dtype)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        for k in range(4):
            tile[j + 8 * k, i] = i
        cuda.syncthreads()
        for k in range(4):
            out[j + 8 * k, i] = tile[i, j + 8 * k]

    return kernel


def test_a_column_of_a_tile_is_a_bank_conflict_and_a_padded_one_is_not():
    kinds, found = hints(through_a_tile(32), zeros(32, 32), block=(32, 8))
    assert kinds == [("bank_conflict", "tile")]
    (hint,) = found.hints
    assert hint.message == (
        "32-way bank conflict at the load of tile: 32 wavefronts per request where 1 would do"
    )
    assert hints(through_a_tile(33), zeros(32, 32), block=(32, 8))[0] == []


def test_a_wide_element_needs_two_wavefronts_at_least():
    wide = through_a_tile(33, float64)
    assert hints(wide, zeros(32, 32, dtype=np.float64), block=(32, 8))[0] == []
    _, found = hints(through_a_tile(32, float64), zeros(32, 32, dtype=np.float64), block=(32, 8))
    assert "16-way bank conflict" in found.hints[0].message
    assert "32 wavefronts per request where 2 would do" in found.hints[0].message


@cuda.jit
def by_one_thread(x, out):
    if cuda.threadIdx.x == 0:
        total = float32(0)
        for k in range(64):
            total += x[cuda.blockIdx.x * 64 + k]
        out[cuda.blockIdx.x] = total


@cuda.jit
def by_a_tree(x, out):
    part = cuda.shared.array(256, float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = 128
    while half > 0:
        if i < half:
            part[i] += part[i + half]
        cuda.syncthreads()
        half //= 2
    if i == 0:
        out[cuda.blockIdx.x] = part[0]


def test_one_thread_that_does_the_work_of_a_block_leaves_lanes_idle():
    kinds, found = hints(by_one_thread, zeros(256), zeros(4), grid=4)
    assert kinds == [("idle_lanes", "x")]
    (hint,) = found.hints
    assert hint.figures == {"requests": 256, "lanes_per_request": 1}
    assert hint.message == "1 of 32 lanes active at the load of x, in 256 requests"


def test_one_thread_that_stores_the_result_of_its_block_earns_no_hint():
    assert hints(by_a_tree, zeros(1024), zeros(4), grid=4)[0] == []


@cuda.jit
def by_shuffles(x, out):
    of_warps = cuda.shared.array(8, float32)
    i = cuda.threadIdx.x
    value = x[cuda.grid(1)]
    delta = 16
    while delta > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, delta)
        delta //= 2
    if i % 32 == 0:
        of_warps[i // 32] = value
    cuda.syncthreads()
    if i < 8:
        out[cuda.blockIdx.x * 8 + i] = of_warps[i]


def test_one_lane_that_stores_the_result_of_its_warp_earns_no_hint():
    assert hints(by_shuffles, zeros(1024), zeros(32), grid=4)[0] == []


@cuda.jit
def every_eighth(x, out):
    i = cuda.threadIdx.x
    if i % 8 == 0:
        out[i] = x[i]


def test_lanes_that_are_taken_out_in_every_warp_leave_lanes_idle():
    kinds, found = hints(every_eighth, zeros(256), zeros(256))
    assert [kind for kind in kinds if kind[0] == "idle_lanes"] == [
        *(("idle_lanes", "x"), ("idle_lanes", "out"))
    ]
    assert "4 of 32 lanes active" in found.hints[-1].message


@cuda.jit
def halved(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 0.5


@cuda.jit
def halved_in_float32(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * float32(0.5)


@cuda.jit
def halved_on_purpose(x, out):
    i = cuda.grid(1)
    out[i] = DOUBLE(x[i]) * 0.5


def test_a_number_with_a_point_makes_float64_of_a_float32_kernel():
    kinds, found = hints(halved, zeros(256), zeros(256))
    assert kinds == [("float64", "x")]
    assert found.hints[0].figures == {"float64_ops": 256}
    assert found.hints[0].line == halved.py_func.__code__.co_firstlineno + 3


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [(halved_in_float32, np.float32), (halved, np.float64), (halved_on_purpose, np.float32)],
)
def test_float64_that_is_meant_earns_no_hint(kernel, dtype):
    assert hints(kernel, zeros(256, dtype=dtype), zeros(256, dtype=dtype))[0] == []
