"""What lesson 05 says in prose, held against counts of the virtual GPU and against the records."""

from functools import cache

import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER
from gpu_xray import xray
from utils import lessons as course
from utils.lessons.code import kernel_code, kernel_difference
from utils.lessons.edits import Edit, edited
from utils.measuring import records
from virtual_gpu import trace
from virtual_gpu.pictures.accesses import what_if_stride

STRIDED, NAIVE = LADDER.step("naive_strided"), LADDER.step("naive")
BY_COLUMN, OURS = LADDER.step("multi_output_by_column"), LADDER.step("multi_output")
COLUMNS = (1, 2, 4, 8)
watched = cache(course.watch)


def ours(columns: int, apart: int):
    return OURS.variant(MULTI=columns, APART=apart)


@cache
def watched_ours(columns: int, apart: int):
    return course.watch(ours(columns, apart))


def explained(step, trace, shape: str = "4096") -> float:
    """The share of the recorded time that the cache lines ask for."""
    return course.estimated_ms(trace, shape) / course.recorded_ms(step, shape)


def machine_code(step, arch: str = "sm_90", **constants):
    return xray(step.variant(**constants).kernel, step.signature, arch)


def counted(seen, name: str) -> float:
    """Instructions of that name for each multiply-add of the hot loop."""
    return sum(one.name == name for one in seen.hot.body) / seen.hot.ffma


def test_a_while_loop_makes_shorter_machine_code_than_range(compiler):
    with_range = edited(
        STRIDED.file,
        Edit("    while i < k:\n", "    for i in range(k):\n"),
        Edit("        i += 1\n", ""),
        Edit("    i = 0\n", ""),
    )
    hot = [machine_code(step).hot for step in (STRIDED, with_range.STEP)]
    assert len(hot[0].body) / hot[0].ffma < len(hot[1].body) / hot[1].ffma


def test_lanes_that_go_down_need_a_sector_each_for_a_and_one_for_b():
    strided = watched(STRIDED)
    assert course.per_request(strided, "a") == 32
    assert course.per_request(strided, "b") == 1


def test_a_request_of_the_small_product_needs_what_one_of_a_larger_one_does():
    larger = course.watch(STRIDED, "64x256x128")
    for name in "ab":
        assert course.per_request(larger, name) == course.per_request(watched(STRIDED), name)


def test_loads_are_counted_per_warp_and_operations_per_thread():
    seen = watched(STRIDED)
    multiply_adds = 64 * 256 * 64
    loads = seen.accesses[seen.accesses["kind"] == "load"]
    assert loads["requests"].sum() == 2 * multiply_adds / 32
    assert seen.totals["float32_ops"] == 2 * multiply_adds


def test_hints_of_a_transposed_load_are_no_finding():
    seen = watched(STRIDED)
    assert seen.findings == ()
    assert "transposed load of a" in str(seen)


def test_of_the_1024_bytes_that_come_the_lanes_use_128():
    (first, *_) = watched(STRIDED).requests("a")
    assert len(first) * 4 == 128
    assert 32 * course.per_request(watched(STRIDED), "a") == 1024


def test_the_repair_is_one_source_line_and_one_request_then_takes_4_sectors():
    changed = [line for line in kernel_difference(STRIDED, NAIVE) if "def" not in line]
    assert [line[0] for line in changed if line[:1] in "+-"] == ["-", "+"]
    assert course.per_request(watched(NAIVE), "b") == 4


def test_the_compiler_makes_the_same_loads_and_as_many_instructions_of_both(compiler):
    one, two = machine_code(STRIDED), machine_code(NAIVE)
    assert one.loads == two.loads
    assert len(one.code) == len(two.code)
    assert counted(one, "LDG") == 2


def test_neither_sectors_nor_cache_lines_give_the_factor():
    counts = {
        what: [sum(course.per_request(watched(step), name, what) for name in "ab")
               for step in (STRIDED, NAIVE)]
        for what in ("sectors", "cache_lines")
    }  # fmt: skip
    assert counts == {"sectors": [33, 5], "cache_lines": [33, 2]}
    assert (33 / 5, 33 / 2) == (6.6, 16.5)
    assert 6.6 * 1.3 < course.recorded_ms(STRIDED) / course.recorded_ms(NAIVE) < 16.5 / 1.3


def test_one_sector_per_cycle_would_take_longer_than_naive_did():
    ms = course.estimated_ms(watched(NAIVE), "4096") * 5 / 2
    assert round(ms) == 41
    assert ms > course.recorded_ms(NAIVE)


def test_the_formula_of_the_lesson_is_that_of_the_estimate():
    gpu = course.device_shown()
    ms = 2048**3 / 32 / gpu.sms * 33 / (gpu.boost_clock_mhz * 1000)
    assert ms == pytest.approx(course.estimated_ms(watched(STRIDED), "2048"))


def test_half_of_what_comes_is_unused_two_words_apart():
    assert "2 words apart: 8 sectors in 2 cache lines, 50% is used" in str(what_if_stride())


@pytest.mark.parametrize("size", ["2048", "4096"])
def test_cache_lines_explain_almost_all_of_the_strided_time(size):
    assert course.cache_lines_per_multiply_add(watched(STRIDED)) == 33
    assert 0.95 < explained(STRIDED, watched(STRIDED), size) < 1


def test_they_explain_most_of_naive_at_2048_and_not_at_4096():
    assert 0.8 < explained(NAIVE, watched(NAIVE), "2048") < 1
    assert explained(NAIVE, watched(NAIVE), "4096") < 0.65


def test_at_4096_b_is_larger_than_the_large_cache_and_at_2048_it_is_not():
    cache_bytes = 1024 * course.device_shown().l2_kib
    assert cache_bytes == 60 * 2**20
    assert 4 * 2048**2 < cache_bytes < 4 * 4096**2 == 64 * 2**20


def test_with_rows_of_2000_words_the_strided_kernel_is_faster_than_the_estimate():
    assert explained(STRIDED, watched(STRIDED), "2000x600x2000") > 1.5


def test_the_published_kernel_became_slower_and_hardly_changed_at_two_columns():
    times = [course.published_ms("multi_output", columns) for columns in COLUMNS]
    assert times == sorted(times)
    assert times[1] < 1.05 * times[0]


def test_column_by_column_saves_no_load_of_a_and_spreads_those_of_b():
    traces = [watched(BY_COLUMN.variant(MULTI=columns)) for columns in COLUMNS]
    assert [course.loads_per_multiply_add(one) for one in traces] == [3, 3, 3, 3]
    assert [course.per_request(one, "b") for one in traces] == [2, 4, 8, 16]
    assert [course.per_request(one, "a") for one in traces] == [2, 2, 2, 2]
    first = traces[-1].requests("b")[0]
    assert np.diff(np.array(first[:16])).tolist() == [4 * 8] * 15


def test_the_machine_code_keeps_the_sum_and_stores_it_at_every_turn(compiler):
    seen = machine_code(BY_COLUMN)
    assert (counted(seen, "LDG"), counted(seen, "STG")) == (2, 1)


def test_one_column_at_a_time_takes_85_ms_where_naive_takes_27_5():
    times = [course.recorded_ms(step) for step in (BY_COLUMN.variant(MULTI=1), NAIVE)]
    assert (round(times[0]), f"{times[1]:.3g}") == (85, "27.5")


def growth(variants, shape: str) -> float:
    """The last time over the first."""
    return course.recorded_ms(variants[-1], shape) / course.recorded_ms(variants[0], shape)


def test_the_same_source_grows_much_more_on_an_h200_than_where_it_was_published():
    published = course.published_ms("multi_output", 8) / course.published_ms("multi_output", 1)
    assert growth([BY_COLUMN.variant(MULTI=n) for n in COLUMNS], "1024") > 3 * published


def test_at_4096_its_time_for_a_stored_sector_is_almost_the_same():
    variants = [BY_COLUMN.variant(MULTI=columns) for columns in COLUMNS]
    sectors = [course.per_request(watched(one), "c", kind="store") for one in variants]
    assert sectors == [4, 8, 16, 32]
    each = [course.recorded_ms(one) / stored for one, stored in zip(variants, sectors, strict=True)]
    assert max(each) < 1.12 * min(each)


def first_columns(multi: int, apart: int, x: int) -> list[int]:
    """The columns of thread x of the first block, by the formula of the kernel."""
    col = x // apart * apart * multi + x % apart
    return [col + j * apart for j in range(multi)]


def test_the_examples_of_the_formula_are_right():
    assert "+ x // APART * APART * MULTI + x % APART" in kernel_code(OURS)
    assert first_columns(4, 32, 5) == [5, 37, 69, 101]
    assert first_columns(4, 1, 5) == [20, 21, 22, 23]
    assert [first_columns(4, apart, 6)[0] for apart in (32, 1)] == [6, 24]


def test_ours_with_adjacent_columns_grows_about_as_much_as_the_published_one():
    published = course.published_ms("multi_output", 8) / course.published_ms("multi_output", 1)
    assert 0.9 < growth([ours(n, 1) for n in COLUMNS], "1024") / published < 1.1


def test_at_1024_only_32_apart_is_faster_with_eight_columns_than_with_one():
    assert growth([ours(n, 32) for n in COLUMNS], "1024") < 1
    assert growth([ours(n, 1) for n in COLUMNS], "1024") > 1


def test_1024_columns_show_no_fault_at_the_edge():
    published = records.published("gemm_gpu")
    tried = published[published["kernel"] == "multi_output"]
    assert set(tried["n"]) == {1024}
    assert sorted(tried["grain"]) == list(COLUMNS)


def test_with_eight_columns_both_ways_have_nine_loads_for_eight_multiply_adds():
    for apart in (1, 32):
        assert course.loads_per_multiply_add(watched_ours(8, apart)) == 9 / 8


def test_they_differ_in_what_a_request_of_b_costs():
    for apart, sectors, cache_lines in ((1, 32, 8), (32, 4, 1)):
        seen = watched_ours(8, apart)
        assert course.per_request(seen, "b", "sectors") == sectors
        assert course.per_request(seen, "b", "cache_lines") == cache_lines


@pytest.mark.parametrize("columns", [4, 8])
def test_cache_lines_explain_the_time_of_adjacent_columns(columns):
    assert 0.9 < explained(ours(columns, 1), watched_ours(columns, 1)) < 1


@pytest.mark.parametrize("columns", [2, 4])
def test_they_do_not_explain_two_and_four_columns_apart(columns):
    assert explained(ours(columns, 32), watched_ours(columns, 32)) < 1 / 3


def test_two_adjacent_are_a_little_faster_than_two_apart():
    factor = course.recorded_ms(ours(2, 32)) / course.recorded_ms(ours(2, 1))
    assert 1 < factor < 1.1


def test_four_apart_is_slower_than_naive_and_eight_apart_is_faster():
    four, eight = (course.recorded_ms(ours(n, 32)) for n in (4, 8))
    assert f"{four:.3g}" == "38.4"
    assert eight < course.recorded_ms(NAIVE) < four


def test_eight_apart_is_the_fastest_of_the_lesson():
    fastest = course.recorded_ms(ours(8, 32))
    others = [STRIDED, NAIVE, *(ours(n, apart) for n in COLUMNS for apart in (1, 32))]
    assert fastest == min(course.recorded_ms(step) for step in others)
    # So it is the best of `multi_output`, with which the curve draws it.
    assert fastest == course.recorded_ms(OURS)


def test_the_compiler_joins_no_loads_and_few_instructions_multiply_and_add(compiler):
    for columns, apart in ((4, 1), (4, 32), (8, 32)):
        seen = machine_code(OURS, MULTI=columns, APART=apart)
        assert set(seen.loads) == {"LDG.32"}
        assert counted(seen, "LDG") == 1 + 1 / columns
        assert seen.ffma_share < 1 / 5


def test_the_curve_draws_eight_columns_32_apart_at_every_size():
    found = records.measured(course.device_shown().name, "gemm")
    found = found[found["step"] == "multi_output"]
    sizes = ["m", "n", "k"]
    choices = found.groupby(sizes)["params"].nunique()
    assert {size[0] for size in choices[choices > 1].index} == {1024, 4096}
    assert set(found.loc[found.groupby(sizes)["time_ms"].idxmin(), "params"]) == {
        "MULTI=8 APART=32"
    }


def test_at_256_more_work_per_thread_is_slower_for_want_of_blocks():
    blocks = {step: step.variant().launch(LADDER.parse("256")).blocks for step in (NAIVE, OURS)}
    assert blocks[OURS] < course.device_shown().sms < blocks[NAIVE]
    assert course.recorded_ms(OURS, "256") > course.recorded_ms(NAIVE, "256")


def test_an_sm_starts_four_multiply_adds_of_whole_warps_per_cycle():
    assert course.device_shown().fp32_lanes_per_sm == 4 * 32


def test_a_load_of_b_for_each_multiply_add_bounds_the_speed_to_a_quarter_of_the_peak():
    per = course.loads_per_multiply_add(watched_ours(8, 32))
    assert course.share_of_peak(OURS) < 1 / (4 * per) < 1 / 4


# ---- the exercises at the end ----


def arrays(m: int, n: int, k: int):
    sizes = (m, k), (k, n), (m, n)
    return tuple(np.ones(size, np.float32) for size in sizes)


def test_in_a_block_of_8_by_32_a_request_takes_four_sectors_of_a_and_one_of_b():
    other = trace(NAIVE.variant().kernel, (32, 2), (8, 32), *arrays(64, 256, 64))
    assert [course.per_request(other, name) for name in "ab"] == [4, 1]


def eight_columns(a, b, c):
    """Eight elements of a row of c, 32 apart: the solution of `four_columns`, made wider."""
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 256 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
    totals = cuda.local.array(8, float32)
    for j in range(8):
        totals[j] = float32(0)
    i = 0
    while i < k:
        from_a = a[row, i]
        for j in range(8):
            if col + 32 * j < n:
                totals[j] += from_a * b[i, col + 32 * j]
        i += 1
    for j in range(8):
        if col + 32 * j < n:
            c[row, col + 32 * j] = totals[j]


def test_the_readers_eight_columns_cost_what_the_course_counts():
    a, b, c = arrays(64, 256, 64)
    eight = trace(eight_columns, (1, 8), (32, 8), a, b, c)
    assert eight.findings == ()
    np.testing.assert_array_equal(c, a @ b)
    assert course.loads_per_multiply_add(eight) == 9 / 8
    assert course.per_request(eight, "b") == 4


def four_rows(a, b, c):
    """Four elements of a column of c, 8 rows apart."""
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
    totals = cuda.local.array(4, float32)
    for j in range(4):
        totals[j] = float32(0)
    i = 0
    while i < k:
        from_b = b[i, col]
        for j in range(4):
            if row + 8 * j < m:
                totals[j] += a[row + 8 * j, i] * from_b
        i += 1
    for j in range(4):
        if row + 8 * j < m:
            c[row + 8 * j, col] = totals[j]


def sectors_per_multiply_add(seen) -> float:
    loads = seen.accesses[seen.accesses["kind"] == "load"]
    return 32 * loads["sectors"].sum() / (seen.totals["float32_ops"] / 2)


def test_four_rows_and_four_columns_ask_for_the_same_cache_lines():
    rows = trace(four_rows, (8, 2), (32, 8), *arrays(64, 256, 64))
    columns = watched_ours(4, 32)
    counts = [course.cache_lines_per_multiply_add(seen) for seen in (rows, columns)]
    assert counts == [1.25, 1.25]


def test_four_rows_need_fewer_sectors_than_four_columns_with_the_same_loads():
    a, b, c = arrays(64, 256, 64)
    rows = trace(four_rows, (8, 2), (32, 8), a, b, c)
    assert rows.findings == ()
    np.testing.assert_array_equal(c, a @ b)
    assert course.loads_per_multiply_add(rows) == 1.25
    assert course.loads_per_multiply_add(watched_ours(4, 32)) == 1.25
    assert sectors_per_multiply_add(rows) == 2
    assert sectors_per_multiply_add(watched_ours(4, 32)) == 4.25


def test_rows_of_63_words_cost_more_than_four_sectors_per_request_of_b():
    odd = trace(NAIVE.variant().kernel, (2, 8), (32, 8), *arrays(64, 63, 64))
    assert odd.findings == ()
    assert 4 < course.per_request(odd, "b") < 5
