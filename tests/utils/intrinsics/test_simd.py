"""Every vector primitive against NumPy, and the machine instructions that it becomes.

What a primitive does is tested by running it here. What it becomes is looked at for several
processors, each in a process of its own that compiles this file's kernels and runs none of them.
"""

import functools
import json
import platform
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32, intp, njit, types
from numba.core.errors import NumbaError

import virtual_gpu
from gpu_xray.assembly import (
    PROCESSORS,
    InstructionCounts,
    count,
    hot_loop,
    hot_loop_elsewhere,
    start_elsewhere,
)
from utils.intrinsics import simd
from utils.machine import processors

# One process compiles for all other processors.
pytestmark = pytest.mark.xdist_group("machine code of other processors")

BOTH = pytest.mark.parametrize("lanes", simd.LANES)
X = np.arange(1, 200, dtype=np.float32) ** np.float32(1.5)
ARRAY = types.Array(types.float32, 1, "C")


def run(kernel, *more):
    """Return what the compiled kernel stores from an odd index on."""
    out = np.full(64, np.nan, np.float32)
    njit(kernel)(X, out, *more)
    return out[1:]


def move(lanes):
    def kernel(x, out):
        simd.storeu(out, 1, simd.loadu(x, 3, lanes))

    return kernel


def masked_load(lanes):
    def kernel(x, out, count):
        simd.storeu(out, 1, simd.loadu_masked(x, 3, lanes, count))

    return kernel


def masked_store(lanes):
    def kernel(x, out, count):
        simd.storeu_masked(out, 1, simd.loadu(x, 3, lanes), count)

    return kernel


def spread(lanes):
    def kernel(x, out):
        simd.storeu(out, 1, simd.broadcast(x, 5, lanes))
        simd.storeu(out, 1 + lanes, simd.set1(x[6] + float32(1), lanes))

    return kernel


def multiply(lanes):
    def kernel(x, out):
        third = simd.set1(float32(1 / 3), lanes)
        product = simd.mul(simd.loadu(x, 3, lanes), third)
        simd.storeu(out, 1, product)
        # x/3 - round(x/3) is lost if the product is rounded before the addition.
        negative = simd.mul(product, simd.set1(float32(-1), lanes))
        simd.storeu(out, 1 + lanes, simd.fmadd(simd.loadu(x, 3, lanes), third, negative))

    return kernel


def shuffled(name):
    shuffle = getattr(simd, name)

    def kernel_of(lanes):
        def kernel(x, out, step):
            # x[0] is 1. Straight from memory, two loads of halves would do instead of a shuffle.
            one = simd.broadcast(x, 0, lanes)
            a = simd.mul(simd.loadu(x, step, lanes), one)
            b = simd.mul(simd.loadu(x, 4 * step, lanes), one)
            simd.storeu(out, 1, shuffle(a, b))

        return kernel

    return kernel_of


def ask(lanes):
    def kernel(x, out):
        simd.prefetch(x, 10**12)
        simd.prefetch_l2(x, 10**12)

    return kernel


def sums_in(vectors):
    """Return a loop with this many vectors of sums, and as many of factors."""

    def kernel_of(lanes):
        def kernel(x, out, turns):
            row = simd.load_row(x, 0, lanes, vectors)
            sums = simd.zero_row(lanes, vectors)
            for i in range(turns):
                sums = simd.fmadd_row(simd.broadcast(x, i, lanes), row, sums)
            simd.store_row(out, 0, sums)

        return kernel

    return kernel_of


def seen_by_the_virtual_gpu(kernel, out):
    """Return the trace of a kernel of one thread on X, and what it stored."""
    return virtual_gpu.trace(cuda.jit(kernel), 1, 1, X, out)


def in_blocks(a, b, pattern):
    pairs = np.concatenate([a.reshape(-1, 4), b.reshape(-1, 4)], axis=1)
    return pairs[:, pattern].ravel()


def halves(a, b, which):
    half = len(a) // 2
    return np.concatenate([a[half * which :][:half], b[half * which :][:half]])


SHUFFLES = {
    "unpacklo": lambda a, b: in_blocks(a, b, [0, 4, 1, 5]),
    "unpackhi": lambda a, b: in_blocks(a, b, [2, 6, 3, 7]),
    "shuffle_lower": lambda a, b: in_blocks(a, b, [0, 1, 4, 5]),
    "shuffle_upper": lambda a, b: in_blocks(a, b, [2, 3, 6, 7]),
    "join_lower": lambda a, b: halves(a, b, 0),
    "join_upper": lambda a, b: halves(a, b, 1),
}


@BOTH
def test_a_load_and_a_store_at_any_address_move_all_lanes_and_no_more(lanes):
    out = run(move(lanes))
    np.testing.assert_array_equal(out[:lanes], X[3 : 3 + lanes])
    assert np.isnan(out[lanes:]).all()


@BOTH
@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_masked_load_fills_up_with_zeros(lanes, count):
    out = run(masked_load(lanes), count)
    np.testing.assert_array_equal(out[:lanes], [*X[3 : 3 + count], *[0] * (lanes - count)])


@BOTH
@pytest.mark.parametrize("count", [0, 1, 7])
def test_a_masked_store_leaves_what_lies_behind(lanes, count):
    out = run(masked_store(lanes), count)
    np.testing.assert_array_equal(out[:count], X[3 : 3 + count])
    assert np.isnan(out[count:]).all()


@BOTH
def test_one_element_reaches_all_lanes_from_memory_and_from_a_register(lanes):
    out = run(spread(lanes))
    np.testing.assert_array_equal(out[:lanes], np.full(lanes, X[5]))
    np.testing.assert_array_equal(out[lanes : 2 * lanes], np.full(lanes, X[6] + 1))


@BOTH
def test_a_multiply_add_rounds_once(lanes):
    out = run(multiply(lanes))
    x, third = X[3 : 3 + lanes], np.float32(1 / 3)
    np.testing.assert_array_equal(out[:lanes], x * third)
    exact = x.astype(np.float64) * np.float64(third) - (x * third).astype(np.float64)
    if processors.lanes():
        np.testing.assert_array_equal(out[lanes : 2 * lanes], exact.astype(np.float32))
        assert np.any(exact)


@BOTH
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_picks_the_lanes_that_its_name_says(name, lanes):
    out = run(shuffled(name)(lanes), 9)
    expected = SHUFFLES[name](X[9 : 9 + lanes], X[36 : 36 + lanes])
    np.testing.assert_array_equal(out[:lanes], expected)


def test_a_prefetch_may_point_anywhere():
    assert np.isnan(run(ask(8))).all()


@BOTH
def test_a_row_is_several_vectors_side_by_side(lanes):
    def work(x, out):
        row = simd.load_row(x, 3, lanes, 3)
        row = simd.fmadd_row(simd.set1(float32(2), lanes), row, simd.zero_row(lanes, 3))
        simd.store_row(out, 1, simd.mul_row(simd.set1(float32(0.5), lanes), row))

    out = run(work)
    np.testing.assert_array_equal(out[: 3 * lanes], X[3 : 3 + 3 * lanes])
    assert np.isnan(out[3 * lanes :]).all()


@BOTH
@pytest.mark.parametrize("count", [0, 5, 16, 21])
def test_a_masked_row_ends_within_any_of_its_vectors(lanes, count):
    def work(x, out, count):
        row = simd.load_row_masked(x, 3, lanes, 2, count)
        simd.store_row(out, 1, row)
        simd.store_row_masked(out, 33, simd.load_row(x, 50, lanes, 2), count)

    out = run(work, count)
    kept = min(count, 2 * lanes)
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
    assert count(code) == InstructionCounts(fma=2, loads=1, broadcasts=2, stores=2, spills=1, all=8)


class Compiled:
    """The code of a function that this process compiled."""

    stats = SimpleNamespace(cache_hits={})

    def __init__(self, code):
        self.code = code

    def inspect_asm(self):
        return {"signature": self.code}


def test_a_loop_ends_where_it_jumps_back():
    code = """f:
    vfmadd231ps\t%ymm0, %ymm1, %ymm2
.LBB0_1:
    vfmadd231ps\t(%rdi), %ymm1, %ymm2
    vfmadd231ps\t%ymm0, %ymm1, %ymm3
    jne\t.LBB0_1
    vmovaps\t64(%rsp), %ymm4
.LBB0_12:
    vmovaps\t96(%rsp), %ymm4
"""
    assert count(hot_loop(Compiled(code))) == InstructionCounts(
        2, loads=1, broadcasts=0, stores=0, spills=0, all=3
    )
    # A piece that does not jump back ends at the next label.
    straight = code.replace("jne\t.LBB0_1\n", "jne\t.LBB0_12\n")
    assert count(hot_loop(Compiled(straight))).spills == 1


# The code below is inspected and never run.
KERNELS = {
    "move": (move, 0),
    "masked load": (masked_load, 1),
    "masked store": (masked_store, 1),
    "spread": (spread, 0),
    "multiply": (multiply, 0),
    "ask": (ask, 0),
    "5 sums": (sums_in(5), 1),
    "20 sums": (sums_in(20), 1),
    **{name: (shuffled(name), 1) for name in SHUFFLES},
}


def compiled(kernel_of, integers, lanes):
    """Return the kernel alone, without the functions by which Python calls it."""
    function = njit(kernel_of(lanes), no_cpython_wrapper=True, no_cfunc_wrapper=True)
    function.compile((ARRAY, ARRAY, *[intp] * integers))
    return function


def look() -> dict[str, str]:
    """Return the code of each kernel in each compiled width; of a loop, the hot loop."""
    looked = {}
    for lanes in (each for each in simd.LANES if each <= processors.lanes()):
        for name, (kernel_of, integers) in KERNELS.items():
            function = compiled(kernel_of, integers, lanes)
            (code,) = function.inspect_asm().values()
            looked[f"{name}, {lanes}"] = hot_loop(function) if "sums" in name else code
    return looked


@functools.cache
def elsewhere() -> dict[str, dict[str, str]]:
    """Return the code for each of the `PROCESSORS`; four processes compile at the same time."""
    started = {
        name: start_elsewhere(name, __file__, Path(__file__).parents[3]) for name in PROCESSORS
    }
    looked = {}
    for name, process in started.items():
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        looked[name] = json.loads(printed)
    return looked


ON_X86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="compiles for x86"
)
EVERYWHERE = pytest.mark.parametrize(
    "processor, lanes",
    [(name, lanes) for name, most in PROCESSORS.items() for lanes in simd.LANES if lanes <= most],
)


def instructions(code, names, register=r"[yz]mm"):
    """Return the number of instructions of one of these names that work on whole vectors."""
    return len(re.findall(rf"^\s+(?:{names})\s.*%{register}\d", code, re.MULTILINE))


@ON_X86
@EVERYWHERE
def test_each_primitive_is_one_instruction_that_does_what_it_says(processor, lanes):
    code = {name: elsewhere()[processor][f"{name}, {lanes}"] for name in KERNELS}
    counts = {name: count(text) for name, text in code.items()}
    assert (counts["move"].loads, counts["move"].stores) == (1, 1), code["move"]
    for name, (loads, stores) in {"masked load": (1, 0), "masked store": (0, 1)}.items():
        # A mask is in the instruction's name or, with AVX-512, after its operands.
        (masked,) = re.findall(r"^.*(?:vmaskmovps|\{%k\d\}).*$", code[name], re.MULTILINE)
        assert (count(masked).loads, count(masked).stores) == (loads, stores), masked
    assert (counts["spread"].broadcasts, counts["spread"].stores) == (1, 2), code["spread"]
    assert instructions(code["spread"], "vbroadcastss") == 2, code["spread"]
    assert counts["multiply"].fma == 1, code["multiply"]
    assert re.findall(r"\sprefetch\w+", code["ask"]) == [
        "\tprefetcht0",
        "\tprefetcht1",
    ]


# Instructions that move the same lanes. Which one LLVM picks depends on the processor: bits have no
# type, so a shuffle of integers or of doubles may do, where it is faster or its code is shorter.
SAME = {
    "unpacklo": "vunpcklps|vpunpckldq",
    "unpackhi": "vunpckhps|vpunpckhdq",
    "shuffle_lower": "vshufps|vunpcklpd|vpunpcklqdq",
    "shuffle_upper": "vshufps|vunpckhpd|vpunpckhqdq",
    "join_lower": r"vinsert[fi]\d+(?:x\d)?|vperm2[fi]128|vshuf[fi]\d+x\d",
    "join_upper": r"vperm2[fi]128|vshuf[fi]\d+x\d",
}
ANY_SHUFFLE = r"vp?unpck\w+|vp?shuf\w+|vp?perm\w+|vp?blend\w+|v(?:insert|extract)\w+"


@ON_X86
@EVERYWHERE
@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_is_one_instruction_of_those_that_move_its_lanes(name, processor, lanes):
    code = elsewhere()[processor][f"{name}, {lanes}"]
    assert instructions(code, SAME[name]) == 1, code
    assert instructions(code, ANY_SHUFFLE) == 1, code


@pytest.mark.slow
@ON_X86
@EVERYWHERE
def test_sums_stay_in_registers_and_more_than_there_are_would_be_seen_as_spills(processor, lanes):
    looked = elsewhere()[processor]
    few, many = (count(looked[f"{sums} sums, {lanes}"]) for sums in (5, 20))
    assert few.fma % 5 == 0
    assert (few.spills, few.stores) == (0, 0)
    assert few.broadcasts == few.fma // 5
    assert many.spills > 0


@pytest.mark.parametrize(
    "code, count",
    [
        ("\tvpunpckldq\t(%rdx,%r8), %ymm0, %ymm0\n", 1),
        ("\tvunpckhps\t%ymm1, %ymm0, %ymm0\n", 0),
        ("\tvunpcklps\t%xmm1, %xmm0, %xmm0\n", 0),
        ("\tvunpcklps\t%zmm1, %zmm0, %zmm0\n\tvunpcklps\t%zmm2, %zmm0, %zmm0\n", 2),
    ],
)
def test_instructions_are_found_by_what_they_do_to_whole_vectors(code, count):
    assert instructions(code, SAME["unpacklo"]) == count


@BOTH
@pytest.mark.parametrize("kernel_of", [move, spread, multiply])
def test_the_virtual_gpu_computes_what_the_machine_does(kernel_of, lanes):
    out = np.full(64, np.nan, np.float32)
    traced = seen_by_the_virtual_gpu(kernel_of(lanes), out)
    assert traced.findings == ()
    np.testing.assert_array_equal(out[1:], run(kernel_of(lanes)))


@BOTH
def test_the_virtual_gpu_counts_loads_and_operations_of_vectors(lanes):
    def kernel(x, out):
        row = simd.loadu(x, 3, lanes)
        simd.storeu(out, 1, simd.fmadd(simd.broadcast(x, 5, lanes), row, row))

    traced = seen_by_the_virtual_gpu(kernel, np.zeros(64, np.float32))
    words = traced.accesses.groupby("kind")["words"].sum()
    assert (words["load"], words["store"]) == (lanes + 1, lanes)
    assert traced.totals["global_load_requests"] == 2
    assert traced.totals["float32_ops"] == 2 * lanes


def test_a_vector_before_or_behind_an_array_is_found():
    def before(x, out):
        simd.storeu(out, -1, simd.loadu(x, 0, 8))

    def behind(x, out):
        simd.storeu(out, 57, simd.loadu(x, 0, 8))

    for kernel, element in ((before, -1), (behind, 64)):
        (finding,) = seen_by_the_virtual_gpu(kernel, np.zeros(64, np.float32)).findings
        assert (finding.kind, finding.array, finding.index) == ("out_of_bounds", "out", (element,))


WRONG = {
    "four lanes": lambda x, out: simd.storeu(out, 0, simd.loadu(x, 0, 4)),
    "no lanes": lambda x, out: simd.storeu(out, 0, simd.loadu(x, 0)),
    "a float64 in all lanes": lambda x, out: simd.storeu(out, 0, simd.set1(0.0, 8)),
    "a number stored": lambda x, out: simd.storeu(out, 0, x[0]),
    "a number multiplied": lambda x, out: simd.storeu(out, 0, simd.mul(x[0], simd.loadu(x, 0, 8))),
    "two lengths": lambda x, out: simd.storeu(
        out, 0, simd.mul(simd.loadu(x, 0, 16), simd.loadu(x, 0, 8))
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_the_compiler_refuses_the_virtual_gpu_refuses_too(what):
    out = np.zeros(64, np.float32)
    with pytest.raises((NumbaError, TypeError)):
        njit(WRONG[what])(X, out)
    with pytest.raises(virtual_gpu.Unsupported):
        seen_by_the_virtual_gpu(WRONG[what], out)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_machine_code_for_another_processor_is_that_of_a_process_of_its_own(processor):
    sums = njit(sums_in(5)(8))
    sums.compile((ARRAY, ARRAY, intp))
    loop = hot_loop_elsewhere(sums, processor)
    if loop is None:
        pytest.skip("This LLVM knows no x86.")
    assert count(loop).fma % 5 == 0
    assert (count(loop).spills, count(loop).stores) == (0, 0)
    many = njit(sums_in(20)(8))
    many.compile((ARRAY, ARRAY, intp))
    # 20 sums and 20 factors are more than 16 registers, and more than 32.
    assert count(hot_loop_elsewhere(many, processor)).spills > 0


if __name__ == "__main__":
    print(json.dumps(look()))
