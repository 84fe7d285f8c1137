"""Memory fences in kernels of numba-cuda-mlir."""

import pytest

from gpu_xray import xray

pytest.importorskip("numba_cuda_mlir")

from numba_cuda_mlir import cuda

import utils.intrinsics.fences_mlir  # noqa: F401


@cuda.jit
def publish(x, out):
    out[0] = x[0]
    cuda.threadfence()
    out[1] = x[1]
    cuda.threadfence_block()
    out[2] = x[2]
    cuda.threadfence_system()
    out[3] = x[3]


def test_each_fence_is_one_instruction_at_its_place():
    ptx = xray(publish, "void(float32[::1], float32[::1])").ptx
    order = [word for word in ptx.split() if word.startswith(("membar.", "st.global"))]
    assert order == [
        "st.global.f32", "membar.gl;", "st.global.f32", "membar.cta;", "st.global.f32",
        "membar.sys;", "st.global.f32",
    ]  # fmt: skip


@cuda.jit
def draw(drawn, out):
    out[cuda.grid(1)] = cuda.atomic.inc(drawn, 0, 7)


def test_a_ticket_is_drawn_in_a_loop_as_the_page_on_compilers_says():
    code = xray(draw, "void(uint32[::1], uint32[::1])", "sm_90").sass
    assert "ATOMG.E.CAS" in code
    assert "ATOMG.E.INC" not in code
