"""Every step of the CPU ladder of SGEMM."""

import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_kernels.cpu import LADDER, run
from gemm_kernels.cpu.five_loops import WORKSPACE_BYTES, Blocks, blocks_for
from gemm_kernels.cpu.peak import Peak, peaks
from utils import cpu
from utils.assembly import count, hot_loop
from utils.devices import KIB
from utils.errors import CourseError
from utils.shapes import GemmShape
from utils.verify import verify_all

VARIANTS = [step.variant(**constants) for step in LADDER.steps for constants in step.variants()]


@pytest.mark.parametrize(
    "m, n, k",
    [(1, 1, 1), (17, 19, 23), (255, 256, 257), (257, 255, 256), (256, 256, 256), (1003, 999, 1001)],
)
def test_every_element_is_right_for_any_shape(m, n, k):
    for variant, verdict in zip(VARIANTS, verify_all(LADDER, VARIANTS, GemmShape(m, n, k))):
        assert verdict.passed, f"{variant}: {verdict}"


def test_the_large_matrices_of_the_course_are_right():
    variants = [variant for variant in VARIANTS if not variant.step.name.startswith("naive")]
    for variant, verdict in zip(variants, verify_all(LADDER, variants, GemmShape(2000, 600, 2000))):
        assert verdict.passed, f"{variant}: {verdict}"


@settings(max_examples=20, deadline=None)
@given(size=st.tuples(*[st.integers(1, 40)] * 3))
def test_shapes_that_nobody_thought_of_are_right(size):
    for variant, verdict in zip(VARIANTS, verify_all(LADDER, VARIANTS, GemmShape(*size))):
        assert verdict.passed, f"{variant}: {verdict}"


@pytest.mark.parametrize("step", LADDER.steps, ids=lambda step: step.name)
@pytest.mark.parametrize("m, n, k", [(0, 3, 2), (3, 0, 2), (3, 4, 0)])
def test_an_empty_side_gives_an_empty_product_and_an_empty_sum_zeros(step, m, n, k):
    c = run(step.name, np.empty((m, k), np.float32), np.empty((k, n), np.float32))
    np.testing.assert_array_equal(c, np.zeros((m, n), np.float32), strict=True)


def test_shapes_that_do_not_chain_are_refused():
    a = np.zeros((3, 4), np.float32)
    with pytest.raises(CourseError, match="a is 3×4 and b is 3×4"):
        run("naive", a, a)


def compiled(step):
    function = step.build(**step.constants())
    function.compile(step.signature.args)
    return function


def test_moving_one_loop_lets_the_compiler_use_vectors():
    vectors = {}
    for name in ("naive", "loop_reordered"):
        (llvm,) = compiled(LADDER.step(name)).inspect_llvm().values()
        vectors[name] = "x float>" in llvm
    assert vectors == {"naive": False, "loop_reordered": True}


@pytest.mark.parametrize(
    "name, lanes, rows, vectors",
    [("micro_kernel_avx2", 8, 6, 2), ("micro_kernel_avx512", 16, 8, 3)],
)
def test_the_hot_loop_holds_its_sums_in_registers(name, lanes, rows, vectors):
    if cpu.lanes() < lanes:
        pytest.skip(cpu.current().sentence)
    counts = count(hot_loop(compiled(LADDER.step(name))))
    turns = counts.fma // (rows * vectors)
    assert counts.fma == turns * rows * vectors
    assert (counts.loads, counts.broadcasts) == (turns * vectors, turns * rows)
    assert (counts.stores, counts.spills) == (0, 0)
    assert counts.fma / counts.all > 0.4


HASWELL = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+avx,+fma,+sse4.2,+bmi2"}
OLD = {"NUMBA_CPU_NAME": "generic"}
ELSEWHERE = """
import numpy as np
from gemm_kernels.cpu import blas
from utils import cpu
from utils.assembly import count, hot_loop

a, b = np.random.rand(37, 60).astype("f"), np.random.rand(60, 50).astype("f")
np.testing.assert_allclose(blas.matmul(a, b), a @ b, rtol=1e-5)
counts = count(hot_loop(blas.compiled()))
print(cpu.lanes(), counts.fma and counts.spills, cpu.current().sentence)
"""


@pytest.mark.skipif(not cpu.lanes(), reason="compiles for x86")
@pytest.mark.parametrize(
    "settings, said", [(HASWELL, "8 0 .* has AVX2: vectors of 8"), (OLD, "0 0 .* has no AVX2")]
)
def test_the_width_follows_the_processor(settings, said):
    result = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert re.match(said, result.stdout), result.stdout


@pytest.mark.parametrize(
    "caches, blocks",
    [
        # kc fills L1 with a panel of each, and half of L2 or L3 is one block.
        ((48 * KIB, 1024 * KIB, 32768 * KIB), Blocks(mc=234, kc=558, nc=7516)),
        ((32 * KIB, 256 * KIB, 2048 * KIB), Blocks(mc=84, kc=372, nc=704)),
    ],
)
def test_blocks_follow_the_caches(caches, blocks):
    assert blocks_for(6, 16, caches) == blocks


def test_the_largest_blocks_fit_into_the_memory_that_is_set_aside():
    huge = (2**20, 2**30, 2**35)
    for rows, columns in ((6, 16), (8, 48)):
        blocks = blocks_for(rows, columns, huge)
        most = 4 * blocks.kc * (blocks.mc + rows + blocks.nc + columns)
        assert most < WORKSPACE_BYTES <= 32 * 2**20


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rectangles_cover_c_for_any_number_of_threads(threads):
    before = numba.get_num_threads()
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip(f"Numba was started with {numba.config.NUMBA_NUM_THREADS} threads.")
    numba.set_num_threads(threads)
    try:
        variant = LADDER.step("parallel").variant()
        for shape in (GemmShape(1, 1, 1), GemmShape(97, 300, 40), GemmShape(300, 49, 40)):
            (verdict,) = verify_all(LADDER, [variant], shape)
            assert verdict.passed, f"{shape}: {verdict}"
    finally:
        numba.set_num_threads(before)


def test_the_peak_is_a_product_of_terms_that_are_shown_and_no_loop_is_above_it():
    for peak in peaks():
        if peak.fma_units:
            assert peak.computed == peak.clock_ghz * peak.fma_units * peak.lanes * 2
            assert 0.3 < peak.fraction <= 1
    assert "4.00 GHz × 2 FMA units × 8 lanes × 2 = 128.0 GFLOP/s; measured 126.0 (98.4%)" in str(
        Peak(lanes=8, clock_ghz=4.0, fma_units=2, measured=126.0)
    )


def test_a_loop_above_its_peak_is_an_error_and_an_unknown_processor_has_none():
    with pytest.raises(CourseError, match=r"The AVX2 FMA loop is 110\.0% of the peak"):
        str(Peak(lanes=8, clock_ghz=1.0, fma_units=2, measured=35.2))
    assert "FMA units unknown" in str(Peak(lanes=8, clock_ghz=1.0, fma_units=None, measured=35.2))
