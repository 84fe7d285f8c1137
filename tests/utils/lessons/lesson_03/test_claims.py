"""Check the claims of lesson 03 against machine code, records and sources."""

import inspect
import re

import numpy as np
import pytest

from gemm_kernels.cpu import LADDER, sgemm
from gemm_kernels.cpu.engine import packing
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.cpu.micro_kernel_6x16 import COLUMNS, KC, MC, ROWS, tile_6x16
from gpu_xray.assembly import count, hot_loop, multiplications
from utils import lessons as course
from utils.lessons import recorded
from utils.lessons.lesson_03 import library_rates, micro_tile
from utils.machine import processors
from utils.measuring import records

SIZES = ("64", "128", "256", "512", "1024")


def ms(name: str, shape: str = "1024") -> float:
    return course.recorded_ms(LADDER.step(name), shape, course.XEON)


def percent_of_numpy(ladder: str, step: str) -> list[float]:
    """Return the percentage of NumPy's BLAS on the Xeon, at the sizes that the lesson draws."""
    frame = records.measured(course.XEON, ladder)
    rows = frame[(frame["step"] == step) & (frame["m"] == frame["k"])].set_index("m")
    return [100 * rows.loc[int(size), "library_ratio"] for size in SIZES]


@pytest.mark.skipif(not processors.lanes(), reason="compiles for x86")
@pytest.mark.parametrize("name", ["loop_reordered", "packed"])
def test_the_loop_of_the_compiler_makes_three_accesses_and_no_multiply_add(name):
    loop = course.vector_loop(LADDER.step(name))
    (products,) = multiplications(loop).values()
    counted = count(loop)
    assert (counted.loads, counted.stores) == (2 * products, products)
    assert counted.fma == 0


@pytest.mark.parametrize(
    "rows, vectors, loads, registers",
    [(1, 1, 2.0, 3), (2, 1, 1.5, 4), (6, 2, 0.67, 15), (4, 3, 0.58, 16)],
)
def test_larger_tiles_need_fewer_loads_and_more_registers(rows, vectors, loads, registers):
    assert round((rows + vectors) / (rows * vectors), 2) == loads
    assert rows * vectors + vectors + 1 == registers <= 16


def test_the_picture_of_the_micro_kernel_computes_the_product():
    steps = [(step, action) for step in range(3) for action in micro_tile._ACTIONS]
    sums = micro_tile.registers(steps)
    tile = np.array(micro_tile.A).T @ np.array(micro_tile.B)
    np.testing.assert_array_equal([sums["sum 0"], sums["sum 1"]], tile)
    assert micro_tile.registers(steps[:1])["element of a"] is None


def test_panels_hold_what_the_picture_and_the_folded_answers_say():
    panels = np.zeros((2, 4, 8), np.float32)
    pack_panels(np.arange(64, dtype=np.float32).reshape(4, 16), panels)
    assert list(panels[0, :, 0]) == [0, 16, 32, 48]
    packed = np.zeros((2, 4, 2), np.float32)
    pack_panels(np.arange(16, dtype=np.float32).reshape(4, 4).T, packed)
    assert list(packed[0].ravel()) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert list(packed[1].ravel()) == [8, 12, 9, 13, 10, 14, 11, 15]


def test_eight_times_eight_elements_are_turned_with_24_shuffles():
    # Four rows are read and transposed, twice; then the halves are joined and stored.
    whole, fours = (
        inspect.getsource(function.py_func) for function in (packing._transpose_8x8, packing._fours)
    )
    assert whole.count("_fours(") == 2
    exchanged = [
        len(re.findall(r"\b(?:unpack|shuffle_|join_)\w+\(", code)) for code in (whole, fours)
    ]
    assert exchanged[0] + 2 * exchanged[1] == 24
    assert (2 * fours.count("loadu("), whole.count("storeu(")) == (8, 8)


def test_blocks_alone_are_worth_a_factor_of_two_and_panels_alone_nothing():
    assert 1.9 < ms("loop_reordered") / ms("blocked") < 2.3
    assert ms("packed") >= ms("blocked")
    assert ms("packed") / ms("micro_kernel_6x16") > 2


def test_each_tile_is_a_little_faster_than_the_one_before():
    assert 1 < ms("micro_kernel_6x16") / ms("micro_kernel_4x24") < 1.1
    assert ms("micro_kernel_4x24") > ms("micro_kernel_avx2")


def test_twice_the_lanes_are_nearly_twice_as_fast():
    assert 1.8 < ms("micro_kernel_avx2") / ms("micro_kernel_avx512") < 2


@pytest.mark.slow
def test_alpha_zero_leaves_beta_times_c():
    c = np.ones((2, 2), np.float32, order="F")
    a, b = np.ones((2, 3), np.float32, order="F"), np.ones((3, 2), np.float32, order="F")
    sgemm("N", "N", 2, 2, 3, 0, a, 2, b, 3, 2, c, 2)
    np.testing.assert_array_equal(c, 2)


@pytest.mark.skipif(not processors.lanes(), reason="compiles for x86")
def test_the_loop_of_twelve_sums_has_eight_loads_and_no_store():
    matrix = LADDER.step("micro_kernel_6x16").variant().kernel
    square = np.ones((8, 8), np.float32)
    matrix(square, square, square.copy())
    counts = count(hot_loop(tile_6x16))
    iterations, rest = divmod(counts.fma, 12)  # the compiler may unroll the loop
    assert (rest, counts.stores) == (0, 0)
    assert (counts.loads, counts.broadcasts) == (2 * iterations, 6 * iterations)


def test_the_naive_loops_gain_nothing_from_column_major_arrays():
    assert round(ms("naive_column_major") / 1000, 2) == 5.27
    assert round(ms("naive") / 1000, 2) == 5.01


@pytest.mark.slow
def test_the_long_stride_stays_where_it_was():
    """Both functions go down the columns of the array that the caller passes as b."""
    for name in ("naive", "naive_column_major"):
        followed = course.follow(LADDER.step(name), "2x64x64")
        # With room for one line per array, each load of b misses, and every 16th load of a.
        misses = course.cache_misses(followed, lines=3)
        assert (misses["b"], misses["a"]) == (2 * 64 * 64, 2 * 64 * 64 // 16)


def test_the_blocks_have_their_places_in_the_caches_of_the_source():
    kib = 1024 // 4  # float32
    assert 32 * kib == 8192
    assert int(8192**0.5) == 90
    # A panel of b in L1, a block of a and the block of b together in L2.
    assert KC * COLUMNS == 16 * kib < 32 * kib
    floats = KC * (MC + 512)
    assert floats < 4096 * kib
    assert (MC, ROWS, 64 % 6) == (66, 6, 4)


def test_beside_the_libraries_it_is_as_the_lesson_says():
    step_rates, library = (
        percent_of_numpy("cpu", "micro_kernel_avx2"),
        percent_of_numpy("cpu_libraries", "oneDNN (AVX2)"),
    )
    assert max(step_rates + library) < 100
    ahead = [one > other for one, other in zip(step_rates, library, strict=True)]
    assert ahead == [True, False, False, False, False]
    step_rates = percent_of_numpy("cpu", "micro_kernel_avx512")
    library = percent_of_numpy("cpu_libraries", "oneDNN")
    assert (round(min(step_rates)), round(max(step_rates))) == (105, 137)
    assert [rate > 100 for rate in library] == [False, True, True, True, True]
    ahead = [one > other for one, other in zip(step_rates, library, strict=True)]
    assert ahead == [True, True, True, True, False]


def test_vectors_of_16_do_not_raise_the_bound_of_a_zen_4():
    units, source = processors._fma_units(
        {"vendor_id_raw": "AuthenticAMD", "family": 25, "model": 17}
    )
    assert source.startswith("Zen 4")
    assert units[16] * 16 == units[8] * 8


def test_the_peak_of_the_source_is_what_its_units_make():
    assert 2.5 * 2 * 8 * 2 == 80
    peaks = records.published("cpu_peak")
    row = peaks[(peaks["instruction_set"] == "AVX2") & (peaks["precision"] == "single")].iloc[0]
    assert row["peak_gflops_per_core"] == 80
    assert course.published_gflops("avx2_packed", 1024) == 69.12


def test_one_core_of_lesson_02_is_not_far_from_its_peak_and_two_are_twice_as_fast():
    one, both = (
        course.recorded_ms(LADDER.step(name), "1024")
        for name in ("micro_kernel_avx512", "parallel")
    )
    assert 0.8 < 2 * 1024**3 / one / 1e6 / (3.95 * 2 * 16 * 2) < 0.9
    assert 1.9 < one / both < 2


def test_the_cpu_of_lesson_02_has_no_record_of_the_tile():
    frame = records.measured(recorded.CPU, "cpu")
    assert "micro_kernel_6x16" not in set(frame["step"])


def test_the_figures_of_the_libraries_have_few_labels_and_say_what_is_seen():
    steps = ("micro_kernel_avx2", "micro_kernel_avx512")
    assert "oneDNN (AVX2) goes from" in library_rates.recorded(course.XEON, steps).alt_text
    text = " ".join(line.get_text() for line in library_rates.recorded(course.XEON, steps).texts)
    cpu, libraries = (records.measured(course.XEON, kept) for kept in ("cpu", "cpu_libraries"))
    days = {*cpu.loc[cpu["step"].isin(steps), "date"], *libraries["date"]}
    assert all(day in text for day in days)
    published = library_rates.published().alt_text
    assert "avx2_packed goes from 35.4 to 69.1" in published
    assert "The dotted line: peak with AVX2: 80" in published


def test_steps_and_libraries_with_vectors_of_one_width_have_one_colour():
    figure = library_rates.recorded(course.XEON, ("micro_kernel_avx2", "micro_kernel_avx512"))
    lines = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", None)]
    looks = [(line.get_color(), line.get_linestyle()) for line in lines]
    assert len(set(looks)) == 4
    assert len({colour for colour, _ in looks}) == 2
