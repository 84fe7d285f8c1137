"""Every step of the CPU ladder of SGEMM."""

import argparse
import io
import os
import re
import subprocess
import sys
from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import intp, njit
from rich.console import Console

from gemm_kernels.cpu import LADDER, micro_kernel_avx2, micro_kernel_avx512, packed, run
from gemm_kernels.cpu import __main__ as command_line
from gemm_kernels.cpu.engine import blocks, five_loops, tiles, widest
from gemm_kernels.cpu.engine.blocks import (
    Blocks,
    Workspace,
    blocks_for,
    workspace,
)
from gemm_kernels.cpu.engine.matrices import Matrix, matrix, part, row_of
from gemm_kernels.cpu.engine.packing import group_packer, pack_columns
from gemm_kernels.cpu.engine.rectangles import rectangles
from gemm_kernels.cpu.tuning import bench, library_rates, peak
from gemm_kernels.cpu.tuning.peak import Peak
from gpu_xray.assembly import compiled_here
from tests.steps_edited import edited_step
from utils.division import cdiv
from utils.errors import CourseError
from utils.intrinsics.simd import address_of, pointer
from utils.ladder import libraries
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.machine import devices, processors
from utils.machine.devices import KIB
from utils.measuring import records
from utils.measuring.timing import Timing

# One process compiles the kernels.
pytestmark = pytest.mark.xdist_group("kernels of the CPU")

VARIANTS = [variant for step in LADDER.steps for variant in step.variants()]


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
    return compiled_here(function)


def test_moving_one_loop_lets_the_compiler_use_vectors():
    vectors = {}
    for name in ("naive", "loop_reordered"):
        (llvm,) = compiled(LADDER.step(name)).inspect_llvm().values()
        vectors[name] = "x float>" in llvm
    assert vectors == {"naive": False, "loop_reordered": True}


WITHOUT_VECTORS = """
import numpy as np
from gemm_kernels.cpu import blas
from utils.machine import processors

a, b = np.random.rand(37, 60).astype("f"), np.random.rand(60, 50).astype("f")
np.testing.assert_allclose(blas.matmul(a, b), a @ b, rtol=1e-5)
print(processors.current().sentence)
"""


@pytest.mark.slow
@pytest.mark.skipif(not processors.lanes(), reason="compiles for x86")
def test_a_processor_without_vectors_multiplies_all_the_same():
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_VECTORS],
        env=os.environ | {"NUMBA_CPU_NAME": "generic"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "has no AVX2" in result.stdout


@pytest.mark.parametrize(
    "lanes, step", [(0, micro_kernel_avx2), (8, micro_kernel_avx2), (16, micro_kernel_avx512)]
)
def test_the_width_follows_the_processor(monkeypatch, lanes, step):
    monkeypatch.setattr(processors, "lanes", lambda: lanes)
    monkeypatch.setattr(widest, "five_loops", lambda *arguments: arguments)
    assert widest.multiplication() == (step.tile_of, step.ROWS, step.LANES, step.VECTORS)


@pytest.mark.parametrize(
    "columns, l2, expected",
    [
        (24, 512 * KIB, Blocks(kc=682, size=2**15, in_place=3 * 2**15)),
        (48, 512 * KIB, Blocks(kc=341, size=2**15, in_place=3 * 2**15)),
        (48, 2048 * KIB, Blocks(kc=1365, size=2**17, in_place=3 * 2**17)),
        # No cache is so large that a panel becomes deeper than this.
        (24, 2048 * KIB, Blocks(kc=1536, size=2**17, in_place=3 * 2**17)),
    ],
)
def test_blocks_follow_the_l2_cache(columns, l2, expected):
    assert blocks_for(columns, (32 * KIB, l2, 2**25)) == expected


@pytest.mark.parametrize("caches, expected", [((32, 512), (126, 256)), ((48, 2048), (336, 384))])
def test_the_packed_step_has_half_of_l1_for_a_panel_and_a_quarter_of_l2_for_a_block(
    caches, expected
):
    l1, l2 = caches
    assert packed.derived(l1 * KIB, l2 * KIB, 2**25) == expected


@pytest.mark.parametrize("threads", [1, 2, 8, 64])
def test_the_largest_blocks_fit_into_the_memory_of_a_thread(threads):
    edges = 64  # elements for alignment, and for what packing writes behind a panel
    for columns in (24, 48):
        most = blocks_for(columns, caches=(2**20, 2**30, 2**35))
        # Two panels, because one less is kept than there is room for.
        assert most.size + 2 * most.kc * columns + edges < workspace(threads).shape[1]


@pytest.fixture(scope="module")
def sizes_with_little_room():
    """Return a function (m, k, n) -> Sizes for the tile of AVX-512, its blocks, and its room."""
    step, room = micro_kernel_avx512, blocks.THREAD_BYTES[0] // blocks.FLOAT_BYTES
    limits = blocks_for(step.LANES * step.VECTORS, (32 * KIB, 2048 * KIB, 2**25))
    sizes = blocks.sizes_from(limits, step.ROWS, step.LANES, step.VECTORS)

    @njit
    def run(x, m, k, n):
        return sizes(Matrix(pointer(x, 0), m, k, k, intp(1)), n, room)

    x = np.zeros(1, np.float32)
    return lambda *shape: run(x, *shape), limits.place_of_b(step.ROWS), room


@settings(deadline=None)
@given(shape=st.tuples(*[st.integers(1, 9000)] * 3))
def test_a_block_of_a_and_the_panels_of_b_lie_side_by_side_in_the_memory(
    sizes_with_little_room, shape
):
    sizes, place_of_b, room = sizes_with_little_room
    mc, kc, nc, copies, step = sizes(*shape)
    assert not copies or mc * kc <= place_of_b
    # The first of the panels may be narrower, and then there is one more.
    widest = micro_kernel_avx512.LANES * micro_kernel_avx512.VECTORS
    assert place_of_b + (nc + widest if step else widest) * kc <= room
    assert min(mc, kc, nc) > 0


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_every_thread_has_memory_of_its_own_on_the_boundary_of_a_large_page(threads):
    memory = workspace(threads)
    assert memory.shape[0] == threads
    assert memory.flags.c_contiguous
    assert memory.ctypes.data % 2**21 == 0
    assert memory.nbytes <= 32 * 2**20


SHADOW = 20_000  # the offset of the notes on the elements that were prefetched


@njit
def note(x, i):
    x[i + SHADOW] = 1


@pytest.fixture(
    scope="module",
    params=[micro_kernel_avx2, pytest.param(micro_kernel_avx512, marks=pytest.mark.slow)],
    ids=["avx2", "avx512"],
)
def small_blocks(request):
    """Return a multiplication in blocks much smaller than a test's matrices, and its lanes.

    If the processor has no vectors of 16, the compiler splits each into two.
    """
    step = request.param
    if processors.lanes() < 8:
        pytest.skip("needs AVX2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(five_loops, "blocks_for", lambda *_: Blocks(kc=5, size=40, in_place=90))
        patch.setattr(blocks, "PANELS_TO_COPY", 2)
        patch.setattr(five_loops, "ROW_TO_ALIGN", 3)
        patch.setattr(five_loops, "ROWS_AT_A_TIME", 2)
        patch.setattr(tiles, "prefetch_l2", note)
        # Not the one that others have: it has blocks for this machine.
        multiply = five_loops.five_loops.__wrapped__(
            step.tile_of, step.ROWS, step.LANES, step.VECTORS
        )

        @njit
        def run(memory, room, alpha, a, b, beta, c, start, m, n, k, a_strides, b_strides, ldc):
            (a_row, a_col), (b_row, b_col) = a_strides, b_strides
            x = Matrix(pointer(a, 0), m, k, a_row, a_col)
            y = Matrix(pointer(b, 0), k, n, b_row, b_col)
            z = Matrix(pointer(c, start), m, n, ldc, intp(1))
            multiply(alpha, x, y, beta, z, Workspace(address_of(pointer(memory, 0)), room))

        # Compiled here, while the constants are those of the test.
        run(*_small_product(1, 1, 1, 0, 0, False, False, 5000)[0])
        yield run, step.LANES


def _small_product(m, n, k, start, gap, transposed_a, transposed_b, room):
    """Return arguments, and the expected c, with NaN where no element of it is stored.

    With a gap of 0, all rows of c begin at the same lane of a vector.
    """
    generator = np.random.default_rng(m * n + k)
    a, b = (generator.random(shape, np.float32) for shape in ((m, k), (k, n)))
    ldc = n + gap if gap else cdiv(n, 16) * 16
    c = np.full(start + m * ldc + 64, np.nan, np.float32)
    inside = c[start : start + m * ldc].reshape(m, ldc)[:, :n]
    inside[:] = generator.random((m, n), np.float32)
    expected = c.copy()
    result = expected[start : start + m * ldc].reshape(m, ldc)[:, :n]
    result[:] = np.float32(1.5) * (a @ b) + np.float32(0.5) * result
    a_memory = (a.T if transposed_a else a).ravel()
    b_memory = (b.T if transposed_b else b).ravel()
    a_strides = (1, m) if transposed_a else (k, 1)
    b_strides = (1, k) if transposed_b else (n, 1)
    factors = np.float32(1.5), np.float32(0.5)
    memory = np.full(2 * SHADOW, np.nan, np.float32)
    return (
        *(memory, room, factors[0], a_memory, b_memory, factors[1], c, start),
        *(m, n, k, a_strides, b_strides, ldc),
    ), (c, expected)


@settings(max_examples=200, deadline=None)
@given(
    case=st.tuples(
        *(st.integers(1, 40), st.integers(1, 200), st.integers(1, 30)),
        *(st.integers(0, 16), st.integers(0, 4), st.booleans(), st.booleans()),
        # Room for all panels of b, or for one or two of them and a block of a: where these have
        # 24 columns. With vectors of 16 they have 48.
        st.sampled_from([5000, 500, 620]),
    )
)
def test_blocks_of_rows_share_panels_and_touch_nothing_else(small_blocks, case):
    run, lanes = small_blocks
    arguments, (c, expected) = _small_product(*case[:-1], case[-1] * lanes // 8)
    run(*arguments)
    np.testing.assert_allclose(c, expected, rtol=1e-5)
    memory, room = arguments[:2]
    assert np.isnan(memory[room:SHADOW]).all()


def test_while_one_panel_of_b_is_used_every_line_of_the_next_is_asked_for(small_blocks):
    run, lanes = small_blocks
    columns, tiles_of_a_block = 3 * lanes, 16 // lanes
    arguments, _ = _small_product(24, 3 * columns, 5, 0, 1, False, False, 5000)
    run(*arguments)
    prefetched = np.flatnonzero(arguments[0][SHADOW:] == 1)
    # Blocks of 8 rows of a take 40 elements, the panels behind them 5 rows each.
    panels = 40 + 5 * columns * np.arange(4)
    assert prefetched.min() == panels[1]
    prefetched = prefetched[prefetched < panels[3]]
    gaps = np.diff([*prefetched, panels[3]])
    assert gaps.max() <= max(blocks.LINE, columns // tiles_of_a_block)


@pytest.mark.parametrize("height, width", [(1, 1), (7, 9), (8, 8), (9, 17), (16, 15)])
def test_packed_columns_are_rows_one_behind_another(height, width):
    ld = 24
    columns = np.arange(width * (height + 1), dtype=np.float32).reshape(width, height + 1)
    out = np.full(height * ld + 8, np.nan, np.float32)

    @njit
    def pack(memory, out, height, width, stride):
        x = Matrix(pointer(memory, 0), height, width, intp(1), stride)
        pack_columns(x, pointer(out, 0), ld)

    # Vectors read past a column into the next one, so there is memory after the last one, too.
    memory = np.concatenate([columns.ravel(), np.zeros(8, np.float32)])
    pack(memory, out, height, width, height + 1)
    packed = out[: height * ld].reshape(height, ld)
    np.testing.assert_array_equal(packed[:, :width], columns.T[:height])
    assert np.isnan(packed[:-1, cdiv(width, 8) * 8 :]).all()


@pytest.mark.parametrize("rows", [4, 8])
def test_groups_hold_a_column_after_another_and_the_last_row_where_rows_are_missing(rows):
    pack = group_packer(rows)

    @njit
    def packed(memory, out, height, width, row, col):
        pack(Matrix(pointer(memory, 0), height, width, row, col), pointer(out, 0))

    for height, width in ((1, 1), (rows, 8), (rows + 1, 9), (3 * rows - 1, 17), (2 * rows, 23)):
        x = np.random.default_rng(width).random((height, width), np.float32)
        groups = cdiv(height, rows)
        padded = np.concatenate([x, np.repeat(x[-1:], groups * rows - height, axis=0)])
        for memory, row, col in ((x, width, 1), (np.ascontiguousarray(x.T), 1, height)):
            out = np.full(groups * rows * width + 1, np.nan, np.float32)
            packed(memory.ravel(), out, height, width, row, col)
            np.testing.assert_array_equal(
                out[:-1].reshape(groups, width, rows),
                padded.reshape(groups, rows, width).swapaxes(1, 2),
            )
            assert np.isnan(out[-1])


def test_a_part_ends_where_the_matrix_does():
    @njit
    def corner(x, i, j, height, width):
        piece = part(matrix(x), i, j, height, width)
        return piece.at[0], piece.height, piece.width, piece.row, piece.col

    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    assert corner(x, 2, 3, 2, 3) == (17, 2, 3, 7, 1)
    assert corner(x, 4, 5, 2, 3) == (33, 1, 2, 7, 1)


def test_behind_the_last_row_is_the_last_row_again():
    @njit
    def first_of_row(x, i):
        return row_of(part(matrix(x), 3, 0, 4, 7), i)[0]

    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    assert [first_of_row(x, i) for i in range(4)] == [21, 28, 28, 28]


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 6, 64])
@pytest.mark.parametrize("m, n", [(1, 1), (97, 300), (300, 49), (2048, 2048), (16, 4000)])
def test_rectangles_cover_c_in_whole_vectors(m, n, threads):
    across, height, width = rectangles(m, n, threads)
    down = threads // across
    assert across * down == threads
    assert down * height >= m
    assert across * width >= n
    assert (height % 16, width % 16) == (0, 0)


def test_two_rectangles_lie_side_by_side_and_share_no_part_of_b():
    assert rectangles(2048, 2048, 2) == (2, 2048, 1024)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rectangles_cover_c_for_any_number_of_threads(threads):
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        variant = LADDER.step("parallel").variant()
        for shape in (GemmShape(1, 1, 1), GemmShape(97, 300, 40), GemmShape(300, 49, 40)):
            (verdict,) = verify_all(LADDER, [variant], shape)
            assert verdict.passed, f"{shape}: {verdict}"
    finally:
        numba.set_num_threads(before)


TIMING = Timing(median_ms=0.6, min_ms=0.6, max_ms=0.6, repetitions=1, launches=1)


def test_the_peak_is_a_product_of_terms_that_are_shown(monkeypatch):
    def half_a_millisecond_each(rivals, repetitions, repetition_ms):
        return [replace(TIMING, min_ms=0.5) for rival in rivals]

    monkeypatch.setattr(peak, "time_cpu", half_a_millisecond_each)
    for each in peak.peaks():
        assert each.clock_ghz == pytest.approx(2 * peak.PAIRS * peak.CLOCK_TURNS / 0.5e-3 / 1e9)
        assert each.measured == pytest.approx(peak.fma_loop_flops(each.lanes) / 0.5e-3 / 1e9)
        if each.fma_units:
            assert each.computed == each.clock_ghz * each.fma_units * each.lanes * 2
    assert "4.00 GHz × 2 FMA units × 8 floats × 2 = 128.0 GFLOP/s; measured 126.0 (98.4%)" in str(
        Peak(lanes=8, clock_ghz=4.0, fma_units=2, measured=126.0)
    )


def test_a_loop_above_its_peak_is_an_error_and_an_unknown_processor_has_none():
    with pytest.raises(CourseError, match=r"The AVX2 FMA loop is 110\.0% of the peak"):
        str(Peak(lanes=8, clock_ghz=1.0, fma_units=2, measured=35.2))
    assert "FMA units unknown" in str(Peak(lanes=8, clock_ghz=1.0, fma_units=None, measured=35.2))


def test_a_clock_that_rises_unseen_is_measured_again(monkeypatch):
    too_fast = Peak(lanes=8, clock_ghz=1.0, fma_units=2, measured=35.2)
    right = replace(too_fast, measured=31.0)
    attempts = iter([[too_fast], [right]])
    monkeypatch.setattr(peak, "peaks", lambda: next(attempts))
    assert peak.settled_peaks() == [right]
    monkeypatch.setattr(peak, "peaks", lambda: [too_fast])
    assert peak.settled_peaks() == [too_fast]


def test_the_published_table_stands_beside_the_libraries(monkeypatch):
    monkeypatch.setattr(libraries, "_sgemm", lambda: None)
    console = Console(width=200, file=io.StringIO())
    console.print(library_rates.table([GemmShape(64, 64, 64), GemmShape(2000, 600, 2000)]))
    text = console.file.getvalue()
    assert re.search(r"64×64×64 +avx2_packed +35\.4 +published, Xeon Platinum 8260Y", text)
    assert re.search(r"2000×600×2000 +naive_parallel +3\.3 +published", text)
    assert re.search(r"64×64×64 +NumPy BLAS +\d", text)
    assert "oneDNN" not in text


ANOTHER = libraries.Library("oneDNN", libraries._bind_numpy)


def test_the_libraries_are_recorded_beside_the_ladder(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "DATA", tmp_path / "data")
    monkeypatch.setattr(library_rates, "ONEDNN", ANOTHER)
    monkeypatch.setattr(processors, "lanes", lambda: 16)
    started = {}
    monkeypatch.setattr(
        subprocess, "check_call", lambda command, env: started.update(command=command, env=env)
    )
    library_rates.record(["8", "4x5x6"])
    frame = records.measured(devices.cpu_name(), "cpu_libraries")
    assert list(frame["step"]) == ["NumPy BLAS"] * 2 + ["oneDNN"] * 2
    assert set(frame["m"]) == {8, 4}
    # oneDNN reads its limit once: the limited one has a process of its own.
    assert started["command"][-2:] == ["8", "4x5x6"]
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", started["env"]["ONEDNN_MAX_CPU_ISA"])
    library_rates.write([GemmShape(8, 8, 8)])
    frame = records.measured(devices.cpu_name(), "cpu_libraries")
    assert list(frame["step"][4:]) == ["oneDNN (AVX2)"]


def test_without_onednn_numpy_is_recorded_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "DATA", tmp_path / "data")
    monkeypatch.setattr(libraries, "_sgemm", lambda: None)
    library_rates.record(["8"])
    assert list(records.measured(devices.cpu_name(), "cpu_libraries")["step"]) == ["NumPy BLAS"]


def test_the_benchmark_frees_the_rivals_from_settings_that_slow_them(monkeypatch):
    started = {}
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(subprocess, "call", lambda command, env: started.update(env) or 0)
    assert bench.run(argparse.Namespace()) == 0
    assert "OPENBLAS_CORETYPE" not in started
    assert started["ONEDNN_MAX_CPU_ISA"] == "AVX2"


def test_a_record_has_the_kernels_that_the_library_itself_chooses(monkeypatch):
    started = {}
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(
        subprocess, "call", lambda command, env: started.update(command=command, env=env) or 0
    )
    assert command_line.with_own_choice(["measure", "--record"]) == 0
    assert started["command"][1:] == ["-m", "gemm_kernels.cpu", "measure", "--record"]
    assert "OPENBLAS_CORETYPE" not in started["env"]


def test_help_names_the_benchmark(monkeypatch, capsys):
    for name in bench.CHOICES:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit):
        command_line.with_own_choice(["--help"])
    assert "bench" in capsys.readouterr().out


@pytest.mark.parametrize("value, held", [(1.0, True), (0.999, False), (None, None)])
def test_a_bar_is_held_missed_or_not_measured(value, held):
    assert bench.Requirement("ours / theirs", 1.0, value).held is held


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="The system has no affinity.")
def test_a_pinned_process_is_free_again_afterwards():
    before = os.sched_getaffinity(0)
    with bench.pinned(1) as cores:
        assert (cores, len(os.sched_getaffinity(0))) == (1, 1)
    assert os.sched_getaffinity(0) == before


def computes_in_float64(step) -> bool:
    llvm = compiled(step).inspect_llvm(step.signature.args)
    return bool(re.search(r"f(add|mul) [^\n]*\bdouble\b", llvm))


@pytest.mark.parametrize("step", LADDER.steps, ids=lambda step: step.name)
def test_no_cpu_step_computes_in_float64(step):
    assert not computes_in_float64(step)


def test_a_cpu_accumulator_of_0_0_would_be_found_as_float64():
    naive = LADDER.step("naive")
    assert computes_in_float64(edited_step(naive, "total = float32(0)", "total = 0.0"))
