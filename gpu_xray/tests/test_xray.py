"""The x-ray: figures that equal the driver's, widths, the cache, the listing, and errors."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32, uint32, void

import gemm_kernels
import latency_kernels
import reduce_kernels
from gpu_xray import ARCHITECTURES, cache, kernel, xray
from gpu_xray.cache_key import cache_key
from gpu_xray.compile import refusal
from tests.steps_edited import edited_step
from tools.records.resources import (
    DRIVER,
    TABLE,
    VECTORS,
    constant_array,
    dynamic_shared,
    local_array,
    reverse_async,
)
from utils.errors import CourseError
from utils.intrinsics.wide_memory import load2
from utils.measuring import records

pytestmark = pytest.mark.usefixtures("compiler")

NAIVE = gemm_kernels.LADDER.step("naive")
TILED = gemm_kernels.LADDER.step("tiled")
FMA_LOOP = latency_kernels.LADDER.step("fma_loop")
COPY = latency_kernels.LADDER.step("copy")
REDUCE0 = reduce_kernels.LADDER.step("reduce0")


@cuda.jit
def pairs(x, out):
    t = uint32(cuda.threadIdx.x)
    first, second = load2(x, 2 * t)
    out[t] = first + second


def make(scale):
    @cuda.jit(device=True)
    def scaled(value):
        return value * float32(scale)

    @cuda.jit
    def call(x, out):
        out[cuda.threadIdx.x] = scaled(x[cuda.threadIdx.x])

    return call


# ------------------------------------------------------------------------------------ the figures


@pytest.mark.parametrize(
    "ladder, step",
    [("gemm", NAIVE), ("gemm", TILED), ("reduce", REDUCE0), ("latency", FMA_LOOP),
     ("latency", COPY)],
)  # fmt: skip
def test_figures_are_those_that_the_driver_of_an_h200_reported(ladder, step):
    if "NVIDIA H200" not in records.recorded_devices(ladder):
        pytest.skip(f"Not recorded yet: the {ladder} ladder, on a GPU.")
    recorded = records.measured("NVIDIA H200", ladder)
    recorded = recorded[recorded["step"] == step.name]
    for params, rows in recorded.groupby("params"):
        result = xray(step.named(params).kernel, step.signature, "sm_90")
        assert set(rows["registers"]) == {result.registers}
        assert set(rows["shared_bytes"]) == {result.shared_bytes}
        assert set(rows["spill_bytes"]) == {result.local_bytes}


def test_the_recorded_figures_of_the_x_ray_equal_those_of_the_h200s_driver():
    file = records.DATA / "measured" / "nvidia_h200" / "resources.csv"
    if not file.exists():
        pytest.skip("Not recorded yet: python -m tools.records.resources, on a GPU.")
    table = pd.read_csv(file)
    assert set(table["figure"]) == set(DRIVER)
    assert table[table["driver"] != table["xray"]].empty


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_kernel_is_compiled_for_each_architecture(arch):
    result = xray(TILED.build(TILE=16), TILED.signature, arch)
    assert (result.shared_bytes, result.local_bytes, result.barriers) == (2 * 4 * 16**2, 0, 2)
    assert f".target {arch}" in result.ptx


def test_widths_of_loads_and_stores():
    wide = xray(reverse_async, VECTORS)
    assert wide.loads["LDGSTS.128"] == wide.loads["LDS.128"] == wide.stores["STG.128"] == 1
    assert wide.shared_bytes == 512
    assert xray(dynamic_shared, VECTORS).shared_bytes == 0
    assert xray(pairs, VECTORS).loads == {"LDG.64": 1}
    assert xray(COPY.build(), COPY.signature).loads == {"LDG.32": 4}


def test_local_and_constant_arrays_are_counted_but_are_no_spills():
    indexed = xray(local_array, VECTORS)
    assert (indexed.local_bytes, indexed.spill_bytes) == (160, 0)
    assert indexed.stores["STL.128"] == 10
    assert xray(constant_array, VECTORS).constant_bytes == TABLE.nbytes


def test_options_of_the_kernel_are_kept():
    python = FMA_LOOP.build().py_func
    few = xray(cuda.jit(max_registers=40)(python), VECTORS)
    assert few.registers == 40
    assert few.spill_bytes > 0
    assert few.local_bytes > 0
    bounded = xray(cuda.jit(launch_bounds=(512, 1))(python), VECTORS)
    assert bounded.max_threads == 512
    # 86 registers are given out as 88: five warps fit into each quarter of the register file.
    assert xray(python, VECTORS).max_threads == 4 * 5 * 32


@pytest.mark.slow
def test_float64_instructions_from_a_literal_are_counted():
    wrong = edited_step(NAIVE, "total = float32(0)", "total = 0.0")
    assert xray(NAIVE.build(), NAIVE.signature).float64 == 0
    assert xray(wrong.build(), NAIVE.signature).float64 > 0


@cuda.jit
def synchronise_the_grid(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1)]
    cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = out[cuda.grid(1) ^ 1]


def test_code_that_the_kernel_never_calls_is_left_out():
    # The device runtime, which is linked with it, copies bytes.
    result = xray(synchronise_the_grid, VECTORS)
    assert result.loads["LDG.8"] == 0
    assert result.instructions["CALL"] > 0


# ------------------------------------------------------------------------------------- the cache


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """Use an empty cache; return a list that grows by one entry per compilation."""
    monkeypatch.setenv("XRAY_CACHE", str(tmp_path))
    calls, real = [], kernel.compile_kernel
    monkeypatch.setattr(kernel, "compile_kernel", lambda *args: calls.append(1) or real(*args))
    return calls


def test_a_kernel_is_compiled_once(compilations):
    first = xray(COPY.build(), COPY.signature)
    second = xray(COPY.build(), COPY.signature)
    assert second == first
    assert len(compilations) == 1
    xray(COPY.build(), COPY.signature, "sm_80")
    assert len(compilations) == 2


def test_a_damaged_cache_file_is_replaced(compilations):
    first = xray(COPY.build(), COPY.signature)
    for file in cache.folder().iterdir():
        file.write_bytes(file.read_bytes()[:-20])
    assert xray(COPY.build(), COPY.signature) == first
    assert len(compilations) == 2


def test_kernels_of_a_notebook_have_keys_of_their_own_whichever_program_runs_it(monkeypatch):
    installed = ModuleType("__main__")
    installed.__file__ = np.__file__
    monkeypatch.setitem(sys.modules, "__main__", installed)
    kernels = make(2), make(3)
    for one in kernels:
        one.py_func.__module__ = one.__module__ = "__main__"
    assert len(set(map(cache_key, kernels))) == 2


def test_the_cache_key_depends_on_constants_functions_and_options():
    keys = {
        cache_key(make(2)),
        cache_key(make(3)),
        cache_key(cuda.jit(fastmath=True)(make(2).py_func)),
        cache_key(edited_step(COPY, "j * BLOCK", "j").build()),
        cache_key(edited_step(COPY, "IN_FLIGHT = 4", "IN_FLIGHT = 8").build()),
        cache_key(COPY.build()),
        cache_key(TILED.build(TILE=8)),
        cache_key(TILED.build(TILE=16)),
        cache_key(make(2), "sm_80"),
    }
    assert len(keys) == 9
    assert None not in keys
    assert cache_key(make(2)) == cache_key(make(2))


def test_a_value_that_cannot_be_described_is_not_cached():
    assert cache_key(make(object())) is None


# -------------------------------------------------------------------------------------- bad input


def test_an_architecture_that_the_toolkit_does_not_know_is_refused_with_those_it_knows():
    with pytest.raises(CourseError, match=r"no architecture 'sm_20': choose one of sm_75, .*sm_90"):
        xray(COPY.build(), COPY.signature, "sm_20")


@pytest.mark.parametrize(
    "signature, sentence",
    [
        (void(float32[::1]), r"takes 2 arguments \(x, out\), and the signature has 1"),
        (void(float32, float32), r"cannot be compiled for \(float32, float32\)"),
        (float32(float32[::1], float32[::1]), "returns nothing, and the signature says float32"),
        ("two vectors", "is no signature: write the types"),
    ],
)
def test_a_signature_that_does_not_fit_is_refused(signature, sentence):
    with pytest.raises(CourseError, match=sentence):
        xray(COPY.build(), signature)


def test_an_instruction_that_the_architecture_lacks_is_named():
    with pytest.raises(CourseError, match=r"for sm_75: Feature 'cp.async' requires .*sm_80"):
        xray(reverse_async, VECTORS, "sm_75")


def test_ptx_newer_than_the_assembler_gets_a_sentence():
    from cuda.bindings.nvjitlink import nvJitLinkError
    from cuda.core import Linker, LinkerOptions, ObjectCode

    ptx = b".version 99.9\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }"
    with pytest.raises(nvJitLinkError) as caught:
        Linker(ObjectCode.from_ptx(ptx), options=LinkerOptions(arch="sm_90")).link("cubin")
    assert "PTX is newer than the assembler" in str(refusal(str(caught.value), "sm_90"))


def test_without_the_compiler_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr("numba.cuda.cudadrv.nvvm.is_available", lambda: False)
    with pytest.raises(CourseError, match=r"compiler is not installed.*`make setup`"):
        xray(COPY.build(), COPY.signature)


def test_without_the_disassembler_it_is_named(monkeypatch, compilations):
    monkeypatch.setattr("cuda.pathfinder.find_nvidia_binary_utility", lambda name: None)
    monkeypatch.setattr("gpu_xray.sass.system_program", lambda name: None)
    with pytest.raises(CourseError, match=r"cuobjdump is not installed.*`make setup`"):
        xray(COPY.build(), COPY.signature)


# ------------------------------------------------------------------------------------ the listing


def of_line(listing, text):
    (row,) = [row for row in listing.rows if text in row.source]
    return row


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_instructions_are_listed_beside_their_source_line(arch):
    result = xray(TILED.build(TILE=32), TILED.signature, arch)
    listing = result.listing()
    product = of_line(listing, "total += sa[ty, i] * sb[i, tx]")
    assert [one.name for one in product.sass].count("FFMA") == 32
    assert [text.split()[0] for text in product.ptx].count("fma.rn.f32") == 32
    assert product.hot
    assert "STG" in [one.name for one in of_line(listing, "c[row, col] = total").sass]
    assert not of_line(listing, "c[row, col] = total").hot
    instructions = [one for row in listing.rows for one in row.sass]
    assert sorted(instructions, key=lambda one: one.address) == list(result.code)


def test_a_function_that_was_inlined_is_shown_at_its_call():
    row = of_line(xray(make(3), VECTORS).listing(), "out[cuda.threadIdx.x] = scaled(")
    assert "FMUL" in [one.name for one in row.sass]


def test_the_listing_explains_opcodes_in_plain_words():
    listing = xray(TILED.build(TILE=32), TILED.signature).listing()
    assert "32 × FFMA      multiply and add, float32" in str(listing)
    page = listing._repr_html_()
    assert 'title="load from global memory' in page
    assert "32 LDS.32, 32 FFMA, 8 LDS.128" in page


def test_an_x_ray_shows_its_figures():
    result = xray(TILED.build(TILE=32), TILED.signature)
    assert "registers per thread              32" in str(result)
    assert "<td>2 LDG.32, 32 LDS.32, 8 LDS.128</td>" in result._repr_html_()
