"""The intrinsics in kernels of numba-cuda-mlir: one instruction each, also in device functions."""

import pytest

from gpu_xray import xray
from gpu_xray.errors import CourseError
from utils.intrinsics.wide_memory import (
    before_boundary,
    commit_copies,
    copy1_async,
    copy4_async,
    load2,
    load4,
    store2,
    store4,
    stream16,
    wait_copies,
)

pytest.importorskip("numba_cuda_mlir")

from numba_cuda_mlir import cuda, types

MATRICES = "void(float32[:, ::1], float32[:, ::1])"


@cuda.jit
def pairs(x, out):
    t = cuda.threadIdx.x
    store2(out, (t, 2), load2(x, (t, 4)))


@cuda.jit(device=True)
def put(tile, row, parts):
    store4(tile, (row, 0), parts)


@cuda.jit(device=True)
def get(tile, row):
    return load4(tile, (row, 0))


@cuda.jit
def through_shared_memory(x, out):
    tile = cuda.shared.array((32, 4), types.float32, alignment=16)
    t = cuda.threadIdx.x
    put(tile, t, load4(x, (t, 0)))
    cuda.syncthreads()
    store4(out, (t, 0), get(tile, t ^ 1))


@cuda.jit
def by_copies(x, out):
    tile = cuda.shared.array((32, 8), types.float32, alignment=16)
    t = cuda.threadIdx.x
    copy4_async(tile, (t, 0), x, (t, 0))
    copy1_async(tile, (t, 4), x, (t, 4))
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    out[t, 0] = tile[t ^ 1, 0] + tile[t ^ 1, 4]


@cuda.jit
def streamed(x, out):
    head = before_boundary(x)
    for part in stream16(x, head):  # all of them: the assembler leaves out what nobody reads
        out[0] += part


@cuda.jit
def waits_for_a_variable(x, out):
    wait_copies(x.shape[0])


def test_pairs_move_64_bits():
    seen = xray(pairs, MATRICES)
    assert (seen.loads, seen.stores) == ({"LDG.64": 1}, {"STG.64": 1})


def test_four_elements_move_128_bits_and_stay_in_the_memory_of_their_array():
    seen = xray(through_shared_memory, MATRICES)
    assert seen.loads == {"LDG.128": 1, "LDS.128": 1}
    assert seen.stores == {"STS.128": 1, "STG.128": 1}


def test_copies_go_past_the_registers():
    seen = xray(by_copies, MATRICES, "sm_80")
    assert (seen.loads["LDGSTS.128"], seen.loads["LDGSTS.32"]) == (1, 1)
    assert seen.instructions["LDGDEPBAR"] == 1


@pytest.mark.parametrize("element", ["float32", "float64", "int32", "int64"])
def test_streams_load_16_bytes_of_every_type_past_the_first_cache(element):
    seen = xray(streamed, f"void({element}[::1], {element}[::1])")
    assert seen.loads["LDG.128"] == 1
    assert ".L1::no_allocate." in seen.ptx


def test_a_wait_for_a_number_that_is_no_constant_is_refused():
    with pytest.raises(CourseError, match=r"waits_for_a_variable cannot be compiled"):
        xray(waits_for_a_variable, MATRICES)


def test_another_layout_is_refused():
    with pytest.raises(CourseError, match=r"pairs cannot be compiled"):
        xray(pairs, "void(float32[:, :], float32[:, :])")
