"""Check the claims of lesson 05 against counts of the virtual GPU and records."""

import math
import re
from functools import cache, partial

import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER, multi_output
from gpu_xray import xray
from tests import quotes
from utils import lessons as course
from utils.lessons.code import kernel_code, kernel_difference
from utils.lessons.counting import SHAPE
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_05 import lanes
from utils.machine.devices import find
from utils.machine.occupancy import WARP
from utils.measuring import records
from virtual_gpu import trace
from virtual_gpu.counts.transactions import CACHE_LINE_BYTES, SECTOR_BYTES
from virtual_gpu.pictures.accesses import what_if_stride

STRIDED, NAIVE = LADDER.step("naive_strided"), LADDER.step("naive")
BY_COLUMN, OURS = LADDER.step("multi_output_by_column"), LADDER.step("multi_output")
COLUMNS = (1, 2, 4, 8)
SIZE = LADDER.parse("4096").n  # of the recorded products that the prose speaks of
SMALL = LADDER.parse(SHAPE)  # the product that is counted
WORD = np.float32().nbytes
EQUAL = 1  # the quotient of two equal times
says = partial(quotes.says, "05")
code = partial(quotes.code, "05")
watched = cache(course.watch)


def variant_of(columns: int, stride: int):
    return OURS.variant(MULTI=columns, APART=stride)


@cache
def run_of(columns: int, stride: int):
    return course.watch(variant_of(columns, stride))


def explained(step, trace, shape: str = "4096") -> float:
    """Return the share of the recorded time that the cache lines account for."""
    return course.estimated_ms(trace, shape) / course.recorded_ms(step, shape)


def machine_code(step, arch: str = "sm_90", **constants):
    return xray(step.variant(**constants).kernel, step.signature, arch)


def counted(compiled, name: str) -> float:
    """Count the instructions of this name per multiply-add of the hot loop."""
    return sum(one.name == name for one in compiled.hot.body) / compiled.hot.ffma


def block_of(step) -> tuple[int, int]:
    return step.variant().launch(SMALL).block


def test_the_goal_of_the_first_part_is_what_four_columns_reach():
    loads = course.loads_per_multiply_add(run_of(4, 32))
    says("compute four elements of c, with {} loads per multiply-add", loads)


def test_a_row_of_the_first_picture_is_one_sector():
    side = lanes.SIDE
    assert side * WORD == SECTOR_BYTES
    says("a float32: {} bytes", WORD)
    says("shows only {} **lanes**, and matrices of {}×{} words", side, side, side)
    says("each row is {} words, or {} bytes: exactly one **sector**", side, side * WORD)


def test_the_predictions_are_of_whole_warps_and_of_recorded_products():
    says("a real warp with {} lanes, and matrices of {}×{}", WARP, SIZE, SIZE)
    says("All {} lanes read their word", WARP)
    says("ran the product both ways, again with {}×{}", SIZE, SIZE)
    says("the recorded times of both kernels at {}", SIZE)
    assert course.recorded_ms(STRIDED, str(SIZE)) == course.recorded_ms(STRIDED)


def test_a_warp_is_a_row_of_the_blocks_of_this_lesson():
    wide, high = map(int, re.search(r"block=\((\d), (\d)\)", code("run-write-lane")).groups())
    says("is {} threads wide (in x) and {} threads high (in y)", wide, high)
    wide, high = block_of(NAIVE)
    assert wide == WARP
    assert block_of(STRIDED) == block_of(OURS) == (wide, high)
    says("*our* blocks are {} wide and {} high", wide, high)
    says("its {} lanes have the **same y** and {} **neighbouring x**", WARP, wide)
    says("Both have blocks of {}×{}", wide, high)


def test_a_warp_covers_two_rows_of_a_square_block():
    wide, high = block_of(BY_COLUMN)
    rows = [[lane for lane in range(WARP) if lane // wide == y] for y in range(WARP // wide)]
    assert len(rows) == 2
    says("in a block of ({}, {}), how many rows of threads", wide, high)
    ends = [(row[0], row[-1], y) for y, row in enumerate(rows)]
    says("Lanes {} to {} have y = {}, lanes {} to {} have y = {}", *ends[0], *ends[1])
    says("The blocks are {}×{} here, as published", wide, high)
    says("covers two rows of {} threads, and already with one column", wide)


def test_lanes_that_go_down_are_in_32_rows():
    first = watched(STRIDED).requests("a")[0]
    rows = {int(byte) // (WORD * SMALL.k) for byte in first}
    assert max(rows) - min(rows) == len(rows) - 1
    says("so they take {} neighbouring **rows**", len(rows))


def test_the_film_shows_one_block_and_its_first_warp():
    shape, warp = re.search(r'"(\w+)", record=\(0, (\d)\)', code("movie-strided")).groups()
    filmed, (wide, high) = LADDER.parse(shape), block_of(STRIDED)
    warps = wide * high // WARP
    says("one block of {}×{} threads, which has {} warps", wide, high, warps)
    says("c has {}×{} elements, and k is {}.)", filmed.m, filmed.n, filmed.k)
    says("counts all {} warps of the block. All below it is warp {} alone", warps, warp)


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
    says("c has {}×{} elements and k is {}: what one", SMALL.m, SMALL.n, SMALL.k)
    says("what one request needs is the same as at {}", SIZE)


def test_loads_are_counted_per_warp_and_operations_per_thread():
    run = watched(STRIDED)
    multiply_adds = SMALL.m * SMALL.n * SMALL.k
    loads = run.accesses[run.accesses["kind"] == "load"]
    assert loads["requests"].sum() == 2 * multiply_adds / 32
    assert run.totals["float32_ops"] == 2 * multiply_adds
    says("per warp: one for {:.0f} lanes", 2 * multiply_adds / loads["requests"].sum())


def test_hints_of_a_transposed_load_are_no_finding():
    run = watched(STRIDED)
    assert run.findings == ()
    assert "transposed load of a" in str(run)


def test_of_the_1024_bytes_that_come_the_lanes_use_128():
    (first, *_) = watched(STRIDED).requests("a")
    came = SECTOR_BYTES * course.per_request(watched(STRIDED), "a")
    says("{:.0f} bytes come, and the lanes use {} of them", came, len(first) * WORD)
    cache_lines = course.per_request(watched(STRIDED), "a", "cache_lines")
    says("it has to look in {:.0f} places again", cache_lines)
    assert CACHE_LINE_BYTES == 4 * SECTOR_BYTES
    says("what the cache keeps together: {} bytes, four sectors", CACHE_LINE_BYTES)


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
    factors = [down / along for down, along in counts.values()]
    says("The sectors, {:.0f} against {:.0f}, say {}", *counts["sectors"], factors[0])
    says("cache lines, {:.0f} against {:.0f}, say {}", *counts["cache_lines"], factors[1])
    recorded = course.recorded_ms(STRIDED) / course.recorded_ms(NAIVE)
    assert factors[0] * 1.3 < recorded < factors[1] / 1.3


def test_one_sector_per_cycle_would_take_longer_than_naive_did():
    ms = course.estimated_ms(watched(NAIVE), "4096") * 5 / 2
    says("would need {:.0f} ms at {}, more than it took", ms, SIZE)
    assert ms > course.recorded_ms(NAIVE)


def test_the_formula_of_the_lesson_is_that_of_the_estimate():
    gpu = course.device_shown()
    ms = 2048**3 / 32 / gpu.sms * 33 / (gpu.boost_clock_mhz * 1000)
    assert ms == pytest.approx(course.estimated_ms(watched(STRIDED), "2048"))


def test_the_cycles_of_the_estimate_are_cache_lines_of_both_matrices():
    needed = [course.per_request(watched(STRIDED), name, "cache_lines") for name in "ab"]
    says("needs {:.0f} cache lines of `a` and {:.0f} of `b`", *needed)
    says("That makes {:.0f} cycles", sum(needed))


def test_half_of_what_comes_is_unused_two_words_apart():
    assert "2 words apart: 8 sectors in 2 cache lines, 50% is used" in str(what_if_stride())


@pytest.mark.parametrize("size", ["2048", "4096"])
def test_cache_lines_explain_almost_all_of_the_strided_time(size):
    assert course.cache_lines_per_multiply_add(watched(STRIDED)) == 33
    assert 0.95 < explained(STRIDED, watched(STRIDED), size) < 1


def test_they_explain_most_of_naive_at_2048_and_not_at_4096():
    assert 0.8 < explained(NAIVE, watched(NAIVE), "2048") < 1
    assert explained(NAIVE, watched(NAIVE), "4096") < 0.65
    says("they explain most of it at {}, and at {} they do not", LADDER.parse("2048").n, SIZE)


def test_at_4096_b_is_larger_than_the_large_cache_and_at_2048_it_is_not():
    cache_bytes = 1024 * course.device_shown().l2_kib
    matrix = WORD * SIZE**2
    assert WORD * 2048**2 < cache_bytes < matrix
    sizes = [size / 2**20 for size in (matrix, cache_bytes)]
    says("`b` has {:.0f} MiB, and the large cache of an H200 holds {:.0f} MiB", *sizes)


def test_with_rows_of_2000_words_the_strided_kernel_is_faster_than_the_estimate():
    shape = "2000x600x2000"
    assert explained(STRIDED, watched(STRIDED), shape) > 1.5
    says("With rows of {} words the strided", LADDER.parse(shape).k)


def test_the_published_kernel_became_slower_and_hardly_changed_at_two_columns():
    times = [course.published_ms("multi_output", columns) for columns in COLUMNS]
    assert times == sorted(times)
    assert times[1] < 1.05 * times[0]
    columns = COLUMNS[:2]
    says("not each step: from {} to {} columns the sectors double", *columns)
    doubled = [course.per_request(watched(BY_COLUMN.variant(MULTI=n)), "b") for n in columns]
    assert doubled[1] == 2 * doubled[0]
    says("A number below {} means that {} columns are faster", EQUAL, COLUMNS[-1])


def test_column_by_column_saves_no_load_of_a_and_spreads_those_of_b():
    traces = [watched(BY_COLUMN.variant(MULTI=columns)) for columns in COLUMNS]
    assert [course.loads_per_multiply_add(one) for one in traces] == [3, 3, 3, 3]
    a_sectors, b_sectors = ([course.per_request(one, name) for one in traces] for name in "ab")
    assert (a_sectors, b_sectors) == ([2, 2, 2, 2], [2, 4, 8, 16])
    says("a request takes {:.0f} sectors of `a` and {:.0f} of `b`", a_sectors[0], b_sectors[0])
    first = traces[-1].requests("b")[0]
    (stride,) = set(np.diff(np.array(first[:16])) // WORD)
    factor = b_sectors[-1] / b_sectors[0]
    says("words that are {} columns apart, and a request needs {:.0f} times", stride, factor)


def test_the_machine_code_keeps_the_sum_and_stores_it_at_every_turn(compiler):
    compiled = machine_code(BY_COLUMN)
    assert (counted(compiled, "LDG"), counted(compiled, "STG")) == (2, 1)


def test_one_column_at_a_time_takes_85_ms_where_naive_takes_27_5():
    times = [course.recorded_ms(step) for step in (BY_COLUMN.variant(MULTI=1), NAIVE)]
    says("still it takes {:.0f} ms, where `naive` takes {:.3g}: `naive` stores once", *times)
    says("the recorded time, at {}, by the sectors", SIZE)


def growth(variants, shape: str) -> float:
    """Return the last recorded time over the first."""
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


def first_columns(multi: int, stride: int, x: int) -> list[int]:
    """Return the columns of thread x of the first block, by the kernel's formula."""
    col = x // stride * stride * multi + x % stride
    return [col + j * stride for j in range(multi)]


def test_the_examples_of_the_formula_are_right():
    assert "+ x // APART * APART * MULTI + x % APART" in kernel_code(OURS)
    multi, lane = 4, 5
    far, near = OURS.choices["APART"]
    says("Take the first block, `MULTI` = {}, and lane {}", multi, lane)
    (first, *_), others = (first_columns(multi, far, x) for x in (lane, lane + 1))
    says("With `APART` = {} the formula gives {} // {} · {} · {} + {} % {} = {}: this lane has",
         far, lane, far, far, multi, lane, far, first)  # fmt: skip
    says("this lane has the columns {}, {}, {}, {}, and lane {} begins at 6",
         *first_columns(multi, far, lane), lane + 1)  # fmt: skip
    says("101, and lane {} begins at {}", lane + 1, others[0])
    (first, *_), others = (first_columns(multi, near, x) for x in (lane, lane + 1))
    says("With `APART` = {} it gives {} // {} · {} · {} + {} % {} = {}: this lane has the columns",
         near, lane, near, near, multi, lane, near, first)  # fmt: skip
    says("this lane has the columns {}, {}, {}, {}, and lane {} begins at 24",
         *first_columns(multi, near, lane), lane + 1)  # fmt: skip
    says("23, and lane {} begins at {}", lane + 1, others[0])


def test_the_constants_of_our_kernel_are_those_of_its_file():
    stride, adjacent = OURS.choices["APART"]
    says("{} is \"adjacent\", {} is \"{} apart\"", adjacent, stride, stride)
    wide, high = multi_output.BLOCK
    assert (wide, high, stride) == (multi_output.WIDTH, multi_output.HEIGHT, WARP)
    says("`WIDTH` = {} and `HEIGHT` = {} threads", wide, high)
    says("there are {} lanes, so the second way is **{} apart**", WARP, stride)
    columns = max(OURS.choices["MULTI"])
    says("with {} columns per thread: blocks of {}×{}, and the small", columns, wide, high)


def test_the_picture_of_the_owners_has_16_columns_for_4_lanes():
    alt = lanes.draw_owners().alt
    columns, four = map(int, re.search(r"with (\d+) columns for (\d+) lanes", alt).groups())
    says("Here are {} columns of c for {} lanes", columns, four)
    says("(in the picture: {} apart)", four)
    assert f"{four} apart: 0 1 2 3" in alt


def test_ours_with_adjacent_columns_grows_about_as_much_as_the_published_one():
    published = course.published_ms("multi_output", 8) / course.published_ms("multi_output", 1)
    assert 0.9 < growth([variant_of(n, 1) for n in COLUMNS], "1024") / published < 1.1


def test_at_1024_only_32_apart_is_faster_with_eight_columns_than_with_one():
    stride, adjacent = OURS.choices["APART"]
    assert growth([variant_of(n, stride) for n in COLUMNS], "1024") < EQUAL
    assert growth([variant_of(n, adjacent) for n in COLUMNS], "1024") > EQUAL
    few, *_, many = COLUMNS
    says("Only \"{} apart\" is faster with {} columns than with {}", stride, many, few)


def test_1024_columns_show_no_fault_at_the_edge():
    published = records.published("gemm_gpu")
    tried = published[published["kernel"] == "multi_output"]
    (size,) = set(tried["n"])
    columns = sorted(map(int, tried["grain"]))
    assert columns == list(COLUMNS)
    says("tried {} columns with {}, {}, {} and {} per thread: there", size, *columns)
    assert all(size % each == 0 for each in columns)
    says("measured it at {}×{} on their GPU, with {}, {}, {} and {} columns", size, size, *columns)
    says("our records at the same size, {}×{}", size, size)


def test_with_eight_columns_there_are_eight_times_fewer_threads():
    few, *_, many = COLUMNS
    blocks = [
        BY_COLUMN.variant(MULTI=columns).launch(LADDER.parse("1024")).blocks
        for columns in (few, many)
    ]
    says("With {} columns there are {:.0f} times fewer threads", many, blocks[0] / blocks[1])
    says("**Time with {} columns per thread divided by the time with {}?**", many, few)


def test_the_published_kernel_is_shown_with_four_columns():
    (columns,) = re.search(r"MULTI=(\d)", code("by-column")).groups()
    says("Here is its kernel with {} columns per thread", columns)


def test_with_eight_columns_both_ways_have_nine_loads_for_eight_multiply_adds():
    for stride in OURS.choices["APART"]:
        run = run_of(8, stride)
        multiply_adds = run.totals["float32_ops"] / 2
        loads = run.accesses[run.accesses["kind"] == "load"].groupby("array")["words"].sum()
        columns = multiply_adds / loads["a"]
        assert columns == 8
        together = columns * loads.sum() / multiply_adds
        says("With {:.0f} columns per thread, both ways have {:.0f} loads for {:.0f} multiply-adds",
             columns, together, columns)  # fmt: skip
        says("a word of `a` only {:.3f} times per", loads["a"] / multiply_adds)


def test_they_differ_in_what_a_request_of_b_costs():
    for stride, sectors, cache_lines in ((1, 32, 8), (32, 4, 1)):
        run = run_of(8, stride)
        assert course.per_request(run, "b", "sectors") == sectors
        assert course.per_request(run, "b", "cache_lines") == cache_lines


@pytest.mark.parametrize("columns", [4, 8])
def test_cache_lines_explain_the_time_of_adjacent_columns(columns):
    assert 0.9 < explained(variant_of(columns, 1), run_of(columns, 1)) < 1


@pytest.mark.parametrize("columns", [2, 4])
def test_they_do_not_explain_two_and_four_columns_apart(columns):
    assert explained(variant_of(columns, 32), run_of(columns, 32)) < 1 / 3


def test_the_prediction_of_the_distance_is_of_the_recorded_product():
    says("On the recorded H200, at {}×{}, one of the two", SIZE, SIZE)
    stride, adjacent = OURS.choices["APART"]
    many = max(COLUMNS)
    says("divided by time of \"{} apart\", with {} columns per thread?**", stride, many)
    says("A number above {} means that \"{} apart\" is faster", EQUAL, stride)
    slow, fast = (course.recorded_ms(variant_of(many, one)) for one in (adjacent, stride))
    assert slow / fast > EQUAL


def test_the_three_parts_of_the_figure():
    columns = [each for each in COLUMNS if each > 1]
    times = {
        (n, stride): course.recorded_ms(variant_of(n, stride))
        for n in columns
        for stride in (1, 32)
    }
    together = [n for n in columns if 0.9 < explained(variant_of(n, 1), run_of(n, 1)) < 1]
    says("**`naive_strided`, {} adjacent, {} adjacent:** ring and dot", *together)
    (fastest, stride) = min(times, key=times.get)
    assert stride == 32
    says("**{} apart:** few cache lines, and the fastest", fastest)
    slow = [n for n in columns if explained(variant_of(n, 32), run_of(n, 32)) < 1 / 3]
    says("**{} apart, {} apart:** few cache lines, and still slow", *slow)


def test_two_adjacent_are_a_little_faster_than_two_apart():
    columns = 2
    strided, adjacent = (course.recorded_ms(variant_of(columns, one)) for one in (32, 1))
    factor = strided / adjacent
    assert 1 < factor < 1.1
    says("\"{} adjacent\" is even a little faster than \"{} apart\"", columns, columns)


def test_four_apart_is_slower_than_naive_and_eight_apart_is_faster():
    columns = 4
    four, eight = (course.recorded_ms(variant_of(n, 32)) for n in (columns, 8))
    naive = course.recorded_ms(NAIVE)
    assert eight < naive < four
    says("is \"{} apart\", and it is slower than `naive`:** {:.3g} ms, where `naive` takes {:.3g}",
         columns, four, naive)  # fmt: skip


def test_eight_apart_is_the_fastest_of_the_lesson():
    fastest = course.recorded_ms(variant_of(8, 32))
    others = [STRIDED, NAIVE, *(variant_of(n, stride) for n in COLUMNS for stride in (1, 32))]
    assert fastest == min(course.recorded_ms(step) for step in others)
    # So this variant is the one that the curve shows as the best of `multi_output`.
    assert fastest == course.recorded_ms(OURS)


def test_the_readers_eight_columns_cover_256_columns_with_a_block():
    columns, stride = OURS.choices["MULTI"][0], OURS.choices["APART"][0]
    assert course.recorded_ms(variant_of(columns, stride)) == course.recorded_ms(OURS)
    covered = SMALL.n // variant_of(columns, stride).launch(SMALL).grid[0]
    says("let each thread compute {} columns, {} apart. A block then covers {} columns",
         columns, stride, covered)  # fmt: skip


def test_the_compiler_joins_no_loads_and_few_instructions_multiply_and_add(compiler):
    for columns, stride in ((4, 1), (4, 32), (8, 32)):
        compiled = machine_code(OURS, MULTI=columns, APART=stride)
        assert set(compiled.loads) == {"LDG.32"}
        assert counted(compiled, "LDG") == 1 + 1 / columns
        assert compiled.ffma_share < 1 / 5
    joined = 4 * WORD
    says("four adjacent words into one load of {} bits", 8 * joined)
    says("the first word lies at a multiple of {} bytes", joined)


def test_the_curve_draws_eight_columns_32_apart_at_every_size():
    rows = records.measured(course.device_shown().name, "gemm")
    rows = rows[rows["step"] == "multi_output"]
    sizes = ["m", "n", "k"]
    choices = rows.groupby(sizes)["params"].nunique()
    tried = sorted({size[0] for size in choices[choices > 1].index})
    (fastest,) = set(rows.loc[rows.groupby(sizes)["time_ms"].idxmin(), "params"])
    says("with {} columns, {} apart, at every size", *re.findall(r"\d+", fastest))
    says("were recorded, at {} and {}, this one was the fastest", *tried)


def test_at_256_more_work_per_thread_is_slower_for_want_of_blocks():
    small = LADDER.parse("256")
    says("at {} it is *slower* than `naive`", small.n)
    blocks = {step: step.variant().launch(small).blocks for step in (NAIVE, OURS)}
    assert blocks[OURS] < course.device_shown().sms < blocks[NAIVE]
    assert course.recorded_ms(OURS, "256") > course.recorded_ms(NAIVE, "256")


def test_an_sm_starts_four_multiply_adds_of_whole_warps_per_cycle():
    assert course.device_shown().fp32_lanes_per_sm == 4 * 32


def test_a_load_of_b_for_each_multiply_add_bounds_the_speed_to_a_quarter_of_the_peak():
    per = course.loads_per_multiply_add(run_of(8, 32))
    assert course.share_of_peak(OURS) < 1 / (4 * per) < 1 / 4


# ---- the exercises at the end ----


def test_textures_are_of_the_gpus_of_the_source_that_reads_through_them():
    says("a cache of their own on the GPUs of {}", find("GTX 980").year)


def arrays(m: int, n: int, k: int):
    sizes = (m, k), (k, n), (m, n)
    return tuple(np.ones(size, np.float32) for size in sizes)


def test_in_a_block_of_8_by_32_a_request_takes_four_sectors_of_a_and_one_of_b():
    wide, high = 8, 32
    other = trace(NAIVE.variant().kernel, (32, 2), (wide, high), *arrays(64, 256, 64))
    says("with blocks of `(8, 32)`: {} wide and {} high", wide, high)
    says("<p>{:.0f} and {:.0f}. A warp", *(course.per_request(other, name) for name in "ab"))
    says("four rows of {} threads", wide)
    assert WARP / wide == 4
    assert wide * WORD == SECTOR_BYTES
    says("and {} neighbouring words of <code>b</code>: {} bytes, one sector", wide, wide * WORD)


def eight_columns(a, b, c):
    """Compute eight elements of a row of c, with stride 32: a wider solution of `four_columns`."""
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
    """Compute four elements of a column of c, with a stride of 8 rows."""
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


def sectors_per_multiply_add(run) -> float:
    loads = run.accesses[run.accesses["kind"] == "load"]
    return 32 * loads["sectors"].sum() / (run.totals["float32_ops"] / 2)


def parts_of(run) -> list[tuple[float, float]]:
    """Return (loads per multiply-add, sectors per request) for a and for b."""
    loads = run.accesses[run.accesses["kind"] == "load"].groupby("array")["words"].sum()
    multiply_adds = run.totals["float32_ops"] / 2
    return [(loads[name] / multiply_adds, course.per_request(run, name)) for name in "ab"]


def test_four_rows_and_four_columns_ask_for_the_same_cache_lines():
    rows = trace(four_rows, (8, 2), (32, 8), *arrays(64, 256, 64))
    columns = run_of(4, 32)
    counts = [course.cache_lines_per_multiply_add(run) for run in (rows, columns)]
    assert counts == [1.25, 1.25]
    says("so it is {} both times", counts[0])
    stride, rows_of_block = block_of(NAIVE)[1], SMALL.m // 2
    says("a *column* of c, {} rows apart. Loads per multiply-add stay at {}", stride, counts[0])
    says("covers {}×{} elements of c. So the grid for {}×{}", rows_of_block, WARP, SMALL.m, SMALL.n)
    assert rows_of_block == 4 * stride


def test_four_rows_need_fewer_sectors_than_four_columns_with_the_same_loads():
    a, b, c = arrays(64, 256, 64)
    rows = trace(four_rows, (8, 2), (32, 8), a, b, c)
    assert rows.findings == ()
    np.testing.assert_array_equal(c, a @ b)
    assert course.loads_per_multiply_add(rows) == 1.25
    assert course.loads_per_multiply_add(run_of(4, 32)) == 1.25
    column_parts, row_parts = parts_of(run_of(4, 32)), parts_of(rows)
    says("Four columns: {:g} · {:g} of <code>a</code> and", *column_parts[0])
    says("and {:g} · {:g} of <code>b</code>, {:g} together. Four rows",
         *column_parts[1], sectors_per_multiply_add(run_of(4, 32)))  # fmt: skip
    says("Four rows: {:g} · {:g} of <code>a</code> and", *row_parts[0])
    says("and {:g} · {:g} of <code>b</code>, {:g} together. One load",
         *row_parts[1], sectors_per_multiply_add(rows))  # fmt: skip
    for parts, run in ((column_parts, run_of(4, 32)), (row_parts, rows)):
        assert sum(map(math.prod, parts)) == sectors_per_multiply_add(run)


def test_rows_of_63_words_cost_more_than_four_sectors_per_request_of_b():
    width = 63
    odd = trace(NAIVE.variant().kernel, (2, 8), (32, 8), *arrays(64, width, 64))
    assert odd.findings == ()
    even = course.per_request(watched(NAIVE), "b")
    assert even < course.per_request(odd, "b") < even + 1
    says("A width of {}.** Take n = {} in place of {}", width, width, width + 1)
    says("starts {} bytes after the last one", width * WORD)
    says("they rise above {:.0f}", even)
    says("so {} neighbouring words lie in five sectors", WARP)
    begins = [row * width * WORD for row in range(64)]
    unaligned = [begin for begin in begins if begin % SECTOR_BYTES]
    assert len(unaligned) > len(begins) / 2
    for begin in unaligned:
        assert len({(begin + lane * WORD) // SECTOR_BYTES for lane in range(WARP)}) == 5
    requests = [words[words >= 0] for words in odd.requests("b", first=64)]
    says("Not all requests have {} words", WARP)
    assert min(map(len, requests)) < max(map(len, requests)) == WARP
