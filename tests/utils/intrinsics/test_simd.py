"""Every vector primitive against NumPy, and the machine instruction that it becomes."""

import re

import numpy as np
import pytest
from numba import float32, njit

from utils.intrinsics import simd
from utils.machine import processors
from utils.xray.assembly import Counts, count, hot_loop

BOTH = pytest.mark.parametrize("lanes", simd.LANES)
X = np.arange(1, 200, dtype=np.float32) ** np.float32(1.5)


def run(function, *more):
    """What the compiled function stores from an odd index on, and its assembly."""
    out = np.full(64, np.nan, np.float32)
    compiled = njit(function)
    compiled(X, out, *more)
    (assembly,) = compiled.inspect_asm().values()
    return out[1:], assembly


def in_blocks(a, b, pattern):
    pairs = np.concatenate([a.reshape(-1, 4), b.reshape(-1, 4)], axis=1)
    return pairs[:, pattern].ravel()


def halves(a, b, which):
    half = len(a) // 2
    return np.concatenate([a[half * which :][:half], b[half * which :][:half]])


def becomes(assembly, instruction, lanes):
    """Whether the instruction is there, if the processor has registers of that width."""
    return instruction in assembly or processors.lanes() < lanes


@BOTH
def test_a_load_and_a_store_at_any_address_move_all_lanes_and_no_more(lanes):
    def move(x, out):
        simd.storeu(out, 1, simd.loadu(x, 3, lanes))

    out, assembly = run(move)
    np.testing.assert_array_equal(out[:lanes], X[3 : 3 + lanes])
    assert np.isnan(out[lanes:]).all()
    assert becomes(assembly, "vmovups", lanes)


@BOTH
@pytest.mark.parametrize("given", [0, 1, 7])
def test_a_masked_load_fills_up_with_zeros(lanes, given):
    def move(x, out, given):
        simd.storeu(out, 1, simd.loadu_masked(x, 3, lanes, given))

    out, _ = run(move, given)
    np.testing.assert_array_equal(out[:lanes], [*X[3 : 3 + given], *[0] * (lanes - given)])


@BOTH
@pytest.mark.parametrize("given", [0, 1, 7])
def test_a_masked_store_leaves_what_lies_behind(lanes, given):
    def move(x, out, given):
        simd.storeu_masked(out, 1, simd.loadu(x, 3, lanes), given)

    out, _ = run(move, given)
    np.testing.assert_array_equal(out[:given], X[3 : 3 + given])
    assert np.isnan(out[given:]).all()


@BOTH
def test_one_element_reaches_all_lanes_from_memory_and_from_a_register(lanes):
    def spread(x, out):
        simd.storeu(out, 1, simd.broadcast(x, 5, lanes))
        simd.storeu(out, 1 + lanes, simd.set1(x[6] + float32(1), lanes))

    out, assembly = run(spread)
    np.testing.assert_array_equal(out[:lanes], np.full(lanes, X[5]))
    np.testing.assert_array_equal(out[lanes : 2 * lanes], np.full(lanes, X[6] + 1))
    assert becomes(assembly, "vbroadcastss", lanes)


@BOTH
def test_a_multiply_add_is_one_instruction_that_rounds_once(lanes):
    def multiply(x, out):
        third = simd.set1(float32(1 / 3), lanes)
        product = simd.mul(simd.loadu(x, 3, lanes), third)
        simd.storeu(out, 1, product)
        # x/3 - round(x/3) is lost if the product is rounded before the addition.
        negative = simd.mul(product, simd.set1(float32(-1), lanes))
        simd.storeu(out, 1 + lanes, simd.fmadd(simd.loadu(x, 3, lanes), third, negative))

    out, assembly = run(multiply)
    x, third = X[3 : 3 + lanes], np.float32(1 / 3)
    np.testing.assert_array_equal(out[:lanes], x * third)
    exact = x.astype(np.float64) * np.float64(third) - (x * third).astype(np.float64)
    if processors.lanes():
        np.testing.assert_array_equal(out[lanes : 2 * lanes], exact.astype(np.float32))
        assert np.any(exact)
    assert becomes(assembly, "vmulps", lanes)
    assert becomes(assembly, "vfmadd", lanes) or becomes(assembly, "vfmsub", lanes)


SHUFFLES = {
    "unpacklo": ("vunpcklps", lambda a, b: in_blocks(a, b, [0, 4, 1, 5])),
    "unpackhi": ("vunpckhps", lambda a, b: in_blocks(a, b, [2, 6, 3, 7])),
    "shuffle_lower": ("v(shufps|unpcklpd|movlhps)", lambda a, b: in_blocks(a, b, [0, 1, 4, 5])),
    "shuffle_upper": ("v(shufps|unpckhpd)", lambda a, b: in_blocks(a, b, [2, 3, 6, 7])),
    "join_lower": ("vinsertf", lambda a, b: halves(a, b, 0)),
    "join_upper": ("v(perm2f128|shuff64x2|shuff32x4|blend|perm)", lambda a, b: halves(a, b, 1)),
}


@BOTH
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_picks_the_lanes_that_its_name_says(name, lanes):
    shuffle = getattr(simd, name)
    instruction, expected = SHUFFLES[name]

    def pick(x, out, step):
        # x[0] is 1. Straight from memory, two loads of halves would do instead of a shuffle.
        one = simd.broadcast(x, 0, lanes)
        a = simd.mul(simd.loadu(x, step, lanes), one)
        b = simd.mul(simd.loadu(x, 4 * step, lanes), one)
        simd.storeu(out, 1, shuffle(a, b))

    out, assembly = run(pick, 9)
    np.testing.assert_array_equal(out[:lanes], expected(X[9 : 9 + lanes], X[36 : 36 + lanes]))
    assert re.search(instruction, assembly) or processors.lanes() < lanes


def test_a_prefetch_is_one_instruction_and_may_point_anywhere():
    def ask(x, out):
        simd.prefetch(x, 10**12)

    _, assembly = run(ask)
    assert "prefetcht0" in assembly or not processors.lanes()


@BOTH
def test_a_row_is_several_vectors_side_by_side(lanes):
    def work(x, out):
        row = simd.load_row(x, 3, lanes, 3)
        row = simd.fmadd_row(simd.set1(float32(2), lanes), row, simd.zero_row(lanes, 3))
        simd.store_row(out, 1, simd.mul_row(simd.set1(float32(0.5), lanes), row))

    out, _ = run(work)
    np.testing.assert_array_equal(out[: 3 * lanes], X[3 : 3 + 3 * lanes])
    assert np.isnan(out[3 * lanes :]).all()


@BOTH
@pytest.mark.parametrize("given", [0, 5, 16, 21])
def test_a_masked_row_ends_within_any_of_its_vectors(lanes, given):
    def work(x, out, given):
        row = simd.load_row_masked(x, 3, lanes, 2, given)
        simd.store_row(out, 1, row)
        simd.store_row_masked(out, 33, simd.load_row(x, 50, lanes, 2), given)

    out, _ = run(work, given)
    kept = min(given, 2 * lanes)
    np.testing.assert_array_equal(out[:kept], X[3 : 3 + kept])
    assert not out[kept : 2 * lanes].any()
    behind = out[32:]
    stored = min(kept, len(behind))
    np.testing.assert_array_equal(behind[:stored], X[50 : 50 + stored])
    assert np.isnan(behind[kept:]).all()


def test_what_is_no_vector_memory_is_refused_when_the_kernel_is_compiled():
    @njit
    def load(x):
        simd.loadu(x, 0, 8)

    for wrong in (np.zeros(16), np.zeros((4, 4), np.float32), np.zeros(32, np.float32)[::2]):
        with pytest.raises(Exception, match="loadu"):
            load(wrong)


def test_a_width_that_does_not_exist_is_refused_when_the_kernel_is_compiled():
    @njit
    def load(x):
        simd.loadu(x, 0, 12)

    with pytest.raises(Exception, match="loadu"):
        load(X)


def test_instructions_are_counted_by_kind():
    code = """
    vmovups\t(%rax), %zmm1
    vbroadcastss\t4(%rcx,%rdx,4), %zmm0
    vfmadd231ps\t%zmm0, %zmm1, %zmm2
    vfmadd231ps\t8(%rcx){1to16}, %zmm1, %zmm3
    vmovaps\t64(%rsp), %zmm4
    vmovups\t%zmm2, (%rdi)
    vmovups\t%zmm2, 64(%rdi) {%k1}
    addq\t$4, %rdx
    # a comment
    """
    assert count(code) == Counts(fma=2, loads=1, broadcasts=2, stores=2, spills=1, all=8)


def test_more_sums_than_registers_would_be_seen_as_spills():
    @njit
    def loop(x, turns):
        row = simd.load_row(x, 0, 8, 20)
        sums = simd.zero_row(8, 20)
        for i in range(turns):
            sums = simd.fmadd_row(simd.broadcast(x, i, 8), row, sums)
        simd.store_row(x, 0, sums)

    loop(X.copy(), 3)
    assert count(hot_loop(loop)).spills > 0 or not processors.lanes()
