"""Check the claims of lesson 05 against counts of the virtual GPU and records."""

import re
from functools import cache, partial

import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER, multi_output, multi_output_by_column, naive_strided
from gpu_xray import xray
from gpu_xray.loops import FFMA
from labs import EXERCISES
from tests import profiled, quotes
from utils import lessons as course
from utils.lessons import profiler
from utils.lessons.code import kernel_code, kernel_difference
from utils.lessons.counting import SHAPE
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_05 import lanes
from utils.lessons.load_waits import LOADS, groups_between_waits, waits_per_8
from utils.lessons.own_kernels import of_text
from utils.machine.occupancy import WARP
from utils.measuring import records
from virtual_gpu import trace
from virtual_gpu.counts.transactions import CACHE_LINE_BYTES, SECTOR_BYTES

STRIDED, NAIVE = LADDER.step("naive_strided"), LADDER.step("naive")
BY_COLUMN, OURS = LADDER.step("multi_output_by_column"), LADDER.step("multi_output")
COLUMNS = (1, 2, 4, 8)
SIZE = LADDER.parse("4096").n  # of the recorded products that the prose speaks of
SMALL = LADDER.parse(SHAPE)  # the product that is counted
WORD = np.float32().nbytes
says = partial(quotes.says, "05")
code = partial(quotes.code, "05")
explains = quotes.explains
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


@pytest.mark.slow
def test_the_first_question_has_the_recorded_times(compiler):
    times = [course.recorded_ms(step) for step in (STRIDED, NAIVE)]
    says("why does one need {:.0f} ms for a product, and the other {:.1f} ms?", *times)
    one, two = machine_code(STRIDED), machine_code(NAIVE)
    assert one.loads == two.loads
    assert len(one.code) == len(two.code)
    assert counted(one, "LDG") == 2
    says("Why is the factor {:.0f}?", times[0] / times[1])


def test_a_row_of_the_first_picture_is_one_sector():
    side = lanes.SIDE
    assert side * WORD == SECTOR_BYTES
    says("The picture shows {} lanes of a warp, and matrices of {}×{} words", side, side, side)
    says("one **sector** of {} bytes", side * WORD)
    alt = lanes.draw_directions().alt
    assert "a column of a, one word in each of its rows, and one word of b" in alt
    down = [set(range(side)), {0}]  # the rows of a and of b that are read at i = 0
    along = [{lanes.LINE}, {0}]
    sectors = [sum(map(len, rows)) for rows in (down, along)]
    says("On the left {}: eight sectors of <code>a</code>, and one of <code>b</code>", sectors[0])
    says("On the right {}: one sector of <code>a</code>, and one of <code>b</code>", sectors[1])


def test_the_first_prediction_is_of_a_whole_warp():
    says("a whole warp of {} lanes, and matrices of {}×{} words", WARP, SIZE, SIZE)
    down = watched(STRIDED)
    a, b = (course.per_request(down, name) for name in "ab")
    (first, *_) = down.requests("a")
    assert len(first) == WARP == a
    explains(
        "05.strided",
        "The lanes have {} rows and one column: {} words of a in {:.0f} sectors, and one word of b "
        "in one sector. {:.0f} + {:.0f} = {:.0f} sectors.",
        WARP, WARP, a, a, b, a + b,
    )
    says("their recorded times at {}, and their machine code", SIZE)
    assert course.recorded_ms(STRIDED, str(SIZE)) == course.recorded_ms(STRIDED)


def test_a_warp_is_a_row_of_the_blocks_of_this_lesson():
    wide, high = map(int, re.search(r"block=\((\d), (\d)\)", code("write-lane")).groups())
    says("a block of `({}, {})` is {} threads wide in x and {} threads high in y",
         wide, high, wide, high)  # fmt: skip
    wide, high = block_of(NAIVE)
    assert wide == WARP
    assert block_of(STRIDED) == block_of(OURS) == (wide, high)
    says("our blocks are {} wide and {} high", wide, high)
    says("whose {} lanes have the **same y** and {} **neighbouring x**", WARP, wide)
    says("`uint32(…)` makes a number of {} bits", 8 * np.uint32().nbytes)


def test_a_warp_covers_two_rows_of_a_square_block():
    wide, high = block_of(BY_COLUMN)
    rows = [[lane for lane in range(WARP) if lane // wide == y] for y in range(WARP // wide)]
    assert len(rows) == 2
    says("how many rows of a block of ({}, {}) does a warp cover?", wide, high)
    ends = [(row[0], row[-1], y) for y, row in enumerate(rows)]
    says("Lanes {} to {} have y = {}, and lanes {} to {} have y = {}", *ends[0], *ends[1])
    says("with blocks of {}×{} as published", wide, high)


def test_lanes_that_go_down_are_in_32_rows():
    first = watched(STRIDED).requests("a")[0]
    rows = {int(byte) // (WORD * SMALL.k) for byte in first}
    assert max(rows) - min(rows) == len(rows) - 1
    says("The lanes take {} rows, so each lane needs a sector", len(rows))


def test_the_film_shows_one_block_and_its_first_warp():
    shape, warp = re.search(r'"(\d\w+)", record=\(0, (\d)\)', code("movie-both")).groups()
    filmed, (wide, high) = LADDER.parse(shape), block_of(STRIDED)
    warps = wide * high // WARP
    says("one block of {}×{} threads, which has {} warps", wide, high, warps)
    says("`c` has {}×{} elements, and k is {}. A word that is read", filmed.m, filmed.n, filmed.k)
    says("counts all {} warps, and everything below it is warp {}.", warps, warp)


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
    says("`c` has {}×{} elements, and k is {}. A request needs as many sectors as at {}",
         SMALL.m, SMALL.n, SMALL.k, SIZE)  # fmt: skip


def test_of_the_1024_bytes_that_come_the_lanes_use_128():
    (first, *_) = watched(STRIDED).requests("a")
    came = SECTOR_BYTES * course.per_request(watched(STRIDED), "a")
    says("These sectors have {:.0f} bytes, and the lanes use {} of them", came, len(first) * WORD)
    cache_lines = course.per_request(watched(STRIDED), "a", "cache_lines")
    says("but the cache must look in {:.0f} places again", cache_lines)
    assert CACHE_LINE_BYTES == 4 * SECTOR_BYTES
    says("what it keeps together: {} bytes, four sectors", CACHE_LINE_BYTES)
    says("you see four of its {:.0f} cache lines", cache_lines)


def test_the_repair_is_one_source_line_and_one_request_then_takes_4_sectors():
    changed = [line for line in kernel_difference(STRIDED, NAIVE) if "def" not in line]
    assert [line[0] for line in changed if line[:1] in "+-"] == ["-", "+"]
    assert course.per_request(watched(NAIVE), "b") == 4
    (first, *_) = watched(NAIVE).requests("b")
    assert set(np.diff(np.array(first))) == {WORD}
    says("so {} lanes read {} words side by side", WARP, len(first))


def test_neither_sectors_nor_cache_lines_give_the_factor():
    counts = {
        what: [sum(course.per_request(watched(step), name, what) for name in "ab")
               for step in (STRIDED, NAIVE)]
        for what in ("sectors", "cache_lines")
    }  # fmt: skip
    factors = [down / along for down, along in counts.values()]
    says("the sectors fall from {:.0f} to {:.0f}, a factor of {}", *counts["sectors"], factors[0])
    says("the cache lines fall from {:.0f} to {:.0f}, a factor of {}", *counts["cache_lines"],
         factors[1])  # fmt: skip
    recorded = course.recorded_ms(STRIDED) / course.recorded_ms(NAIVE)
    assert factors[0] * 1.3 < recorded < factors[1] / 1.3


def test_one_sector_per_cycle_would_take_longer_than_naive_did():
    ms = course.estimated_ms(watched(NAIVE), "4096") * 5 / 2
    says("would need {:.0f} ms for <code>naive</code> at {}, more than it took", ms, SIZE)
    assert ms > course.recorded_ms(NAIVE)


def test_the_formula_of_the_lesson_is_that_of_the_estimate():
    gpu, needed = course.device_shown(), course.cache_lines_per_multiply_add(watched(STRIDED))
    each = SIZE**3 / WARP / gpu.sms  # multiply-adds of whole warps, per SM
    ms = each * needed / (gpu.boost_clock_mhz * 1000)
    assert ms == pytest.approx(course.estimated_ms(watched(STRIDED), str(SIZE)))
    says("A warp makes {} multiply-adds at a time", WARP)
    says("at {} each of the {} SMs of an H200 has {}³ ÷ {} ÷ {} = {:.1f} million", SIZE, gpu.sms,
         SIZE, WARP, gpu.sms, each / 1e6)  # fmt: skip
    says("With {:.0f} cache lines each, at {:.2f} GHz, they take {:.0f} ms", needed,
         gpu.boost_clock_mhz / 1000, ms)  # fmt: skip
    says("each cache line per multiply-add of a warp costs {:.1f} ms", ms / needed)
    says("The estimate of the first sitting, {:.1f} ms for each cache line", ms / needed)


def test_the_cycles_of_the_estimate_are_cache_lines_of_both_matrices():
    needed = [course.per_request(watched(STRIDED), name, "cache_lines") for name in "ab"]
    assert sum(needed) == course.cache_lines_per_multiply_add(watched(STRIDED))


@pytest.mark.parametrize("size", ["2048", "4096"])
def test_cache_lines_explain_almost_all_of_the_strided_time(size):
    assert course.cache_lines_per_multiply_add(watched(STRIDED)) == 33
    assert 0.95 < explained(STRIDED, watched(STRIDED), size) < 1


def test_they_give_most_of_naive_at_2048_and_not_at_4096():
    assert 0.8 < explained(NAIVE, watched(NAIVE), "2048") < 1
    part = explained(NAIVE, watched(NAIVE), "4096")
    says("most of it at {}, but only {:.0f} % at {}.", LADDER.parse("2048").n, 100 * part, SIZE)


def test_at_4096_b_is_larger_than_the_large_cache_and_at_2048_it_is_not():
    cache_bytes = 1024 * course.device_shown().l2_kib
    matrix = WORD * SIZE**2
    assert WORD * 2048**2 < cache_bytes < matrix
    sizes = [size / 2**20 for size in (matrix, cache_bytes)]
    says("`b` has {:.0f} MiB there, and the largest cache of an H200 holds {:.0f} MiB", *sizes)


def test_the_profiler_saw_misses_of_l2_and_waits_for_loads():
    missed = 100 - profiler.figure(NAIVE, "L2 Hit Rate")
    reason, share = profiler.most_frequent_wait(NAIVE)
    assert reason == "long_sb"
    says("at {}: {:.0f} % of the sectors that the SMs asked this cache for were not in it, and in "
         "{:.0f} % of the samples a warp waited for a load", SIZE, missed,
         100 * share)  # fmt: skip


def test_the_time_that_grows_from_2048_to_4096_is_waits_for_loads():
    small = SIZE // 2
    sizes = small, SIZE
    says("At {} only {:.0f} % were not in it.", small,
         100 - profiled.counted(NAIVE.variant(), small)["l2_read_hit_percent"])  # fmt: skip
    of = [profiled.states(NAIVE.variant(), size) for size in sizes]
    waits = [states["long_scoreboard"] for states in of]
    others = [sum(states.values()) - wait for states, wait in zip(of, waits, strict=True)]
    says("Per instruction a warp waits {:.1f} cycles for loads at {}, and {:.1f} at {}, while all "
         "its other cycles fall from {:.1f} to {:.1f}.", waits[0], small, waits[1], SIZE,
         *others)  # fmt: skip
    eight = LADDER.step("multi_output").variant(MULTI=8, APART=32)
    says("per multiply-add a warp with {} columns waits {:.0f} cycles for loads, and one of "
         "`naive` {:.0f}.", eight.constants["MULTI"],
         *[profiled.per_multiply_add(one, "long_scoreboard")
           for one in (eight, NAIVE.variant())])  # fmt: skip


def test_with_rows_of_2000_words_the_strided_kernel_is_faster_than_the_estimate():
    shape = "2000x600x2000"
    assert shape in code("is-it-a-law")
    assert explained(STRIDED, watched(STRIDED), shape) > 1.5
    says("With rows of {} words the slow kernel is", LADDER.parse(shape).k)


@cuda.jit
def row_sums(x, out):
    row = cuda.grid(1)
    total = float32(0)
    for col in range(x.shape[1]):
        total += x[row, col]
    out[row] = total


def test_a_thread_per_row_needs_32_sectors_and_a_thread_per_column_4():
    assert "def row_sums" in code("row-sums")
    threads, rows, *_ = map(int, re.findall(r"256", code("reveal-walk")))
    says("because it ran with {} threads for {} rows", threads, rows)
    x, out = np.ones((256, 256), np.float32), np.zeros(256, np.float32)
    seen = [trace(kernel, 1, 256, x, out)
            for kernel in (row_sums, EXERCISES["column_sums"].solution)]  # fmt: skip
    rows, columns = (course.per_request(one, "x") for one in seen)
    assert columns < rows
    explains(
        "05.walk",
        "Rows: {} lanes read one column of {} rows, {:.0f} sectors. "
        "Columns: {} lanes read {} neighbours of one row, {:.0f} sectors.",
        WARP, WARP, rows, WARP, WARP, columns,
    )
    says("A request is what {} lanes read at the same time", WARP)


def test_the_published_kernel_became_slower():
    times = [course.published_ms("multi_output", columns) for columns in COLUMNS]
    assert times == sorted(times)
    (size,) = set(published_columns()["n"])
    says("At {} on the authors' GPU the time with {} columns was {:.1f} times that with {}, by",
         size, COLUMNS[-1], times[-1] / times[0], COLUMNS[0])  # fmt: skip


def published_columns():
    published = records.published("gemm_gpu")
    return published[published["kernel"] == "multi_output"]


def test_column_by_column_saves_no_load_of_a_and_spreads_those_of_b():
    traces = [watched(BY_COLUMN.variant(MULTI=columns)) for columns in COLUMNS]
    assert [course.loads_per_multiply_add(one) for one in traces] == [3, 3, 3, 3]
    a_sectors, b_sectors = ([course.per_request(one, name) for one in traces] for name in "ab")
    assert (a_sectors, b_sectors) == ([2, 2, 2, 2], [2, 4, 8, 16])
    first = traces[-1].requests("b")[0]
    (stride,) = set(np.diff(np.array(first[:16])) // WORD)
    says("the lanes read <code>b</code> {} columns apart.</p>", stride)


@pytest.mark.slow
def test_the_machine_code_keeps_the_sum_and_stores_it_at_every_turn(compiler):
    compiled = machine_code(BY_COLUMN)
    assert (counted(compiled, "LDG"), counted(compiled, "STG")) == (2, 1)


def test_one_column_at_a_time_takes_85_ms_and_eight_616():
    few, *_, many = COLUMNS
    times = [course.recorded_ms(BY_COLUMN.variant(MULTI=n)) for n in (few, many)]
    says("At {} on an H200 it takes {:.0f} ms with {} column and {:.0f} ms with {}.", SIZE,
         times[0], few, times[1], many)  # fmt: skip


def test_the_names_of_the_sources_are_in_the_modules():
    assert "Córdoba 2016" in multi_output_by_column.__doc__
    assert "Araujo's OpenCL kernel, where get_global_id(0) is the row" in naive_strided.__doc__
    (year,) = re.findall(r"Córdoba (\d+)", multi_output.__doc__)
    says("Córdoba {} gives a thread {}, {}, {} or {} adjacent columns", year, *COLUMNS)
    assert sorted(map(int, published_columns()["grain"])) == list(COLUMNS)


def first_columns(multi: int, stride: int, x: int) -> list[int]:
    """Return the columns of thread x of the first block, by the kernel's formula."""
    col = x // stride * stride * multi + x % stride
    return [col + j * stride for j in range(multi)]


def test_the_examples_of_the_formula_are_right():
    assert "+ x // APART * APART * MULTI + x % APART" in kernel_code(OURS)
    multi, lane = 4, 5
    assert f"MULTI={multi}, APART=32" in code("kernel-ours")
    far, near = OURS.choices["APART"]
    (first, *others) = first_columns(multi, far, lane)
    says("Lane {} of the first block begins at column {} // {} · {} · {} + {} % {} = {}, so it has",
         lane, lane, far, far, multi, lane, far, first)  # fmt: skip
    says("so it has the columns {}, {}, {} and {}.", first, *others)
    (first, *_, last) = first_columns(multi, near, lane)
    says("With `APART` = {} lane {} would begin at {} // {} · {} · {} + {} % {} = {}, and have the "
         "columns {} to {}.", near, lane, lane, near, near, multi, lane, near, first, first,
         last)  # fmt: skip


def test_the_constants_of_our_kernel_are_those_of_its_file():
    stride, _ = OURS.choices["APART"]
    wide, high = multi_output.BLOCK
    assert (wide, high, stride) == (multi_output.WIDTH, multi_output.HEIGHT, WARP)
    says("`WIDTH` = {} and `HEIGHT` = {} threads", wide, high)
    says("A warp has {} lanes, so there the columns of the second way are {} apart", WARP, stride)
    says("`multi_output` can do both, with blocks of {}×{} threads", wide, high)


def test_the_picture_of_the_owners_has_16_columns_for_4_lanes():
    alt = lanes.draw_owners().alt
    columns, four = map(int, re.search(r"with (\d+) columns for (\d+) lanes", alt).groups())
    says("Here are {} columns of `c` for {} lanes", columns, four)
    assert f"{four} apart: 0 1 2 3" in alt


def test_the_prediction_of_adjacent_columns_follows_from_the_cache_lines():
    many = max(COLUMNS)
    run, step = run_of(many, 1), variant_of(many, 1)
    says("With **{} adjacent columns** per thread it has {} loads per multiply-add, and `naive` "
         "has {:.0f}. At {} `naive` takes {:.1f} ms.", many, course.loads_per_multiply_add(run),
         course.loads_per_multiply_add(watched(NAIVE)), SIZE,
         course.recorded_ms(NAIVE))  # fmt: skip
    says("**How many ms does `multi_output` take with {} adjacent columns?**", many)
    of_b = course.per_request(run, "b", "cache_lines")
    needed = course.cache_lines_per_multiply_add(run)
    assert needed == of_b + 1 / many
    ms = course.estimated_ms(run, str(SIZE))
    assert ms == pytest.approx(needed * course.estimated_ms(watched(NAIVE), str(SIZE)) / 2)
    explains(
        "05.adjacent",
        "The lanes read b {} words apart, in {:.0f} cache lines, and a word of a serves {}: "
        "{:.0f} + {} ÷ {} = {} cache lines. The estimate is {} · {:.1f} ms = {:.1f} ms, and "
        "{:.1f} ms are recorded: {:.1f} times as long as naive.",
        many, of_b, many, of_b, 1, many, needed, needed, ms / needed, ms,
        course.recorded_ms(step), course.recorded_ms(step) / course.recorded_ms(NAIVE),
    )
    words = np.diff(np.array(run.requests("b")[0])) // WORD
    says("asks for words that are {} columns apart. The lanes use one word in eight.", *set(words))


def test_they_differ_in_what_a_request_of_b_costs():
    for stride, sectors, cache_lines in ((1, 32, 8), (32, 4, 1)):
        run = run_of(8, stride)
        assert course.per_request(run, "b", "sectors") == sectors
        assert course.per_request(run, "b", "cache_lines") == cache_lines


def test_the_picture_has_two_four_and_eight_columns():
    few = [each for each in COLUMNS if each > 1]
    assert f"for columns in {tuple(few)}" in code("draw-estimates")
    says("then has `multi_output` with {}, {} and {} columns per thread", *few)


def test_cache_lines_explain_the_time_of_eight_adjacent_columns():
    many = max(COLUMNS)
    assert 0.9 < explained(variant_of(many, 1), run_of(many, 1)) < 1
    says("**{} adjacent:** ring and dot are together, so the cache lines give the time", many)


def test_eight_columns_apart_are_the_fastest_of_the_picture():
    many, naive = max(COLUMNS), course.recorded_ms(NAIVE)
    times = {
        (n, stride): course.recorded_ms(variant_of(n, stride))
        for n in COLUMNS
        for stride in (1, WARP)
    }
    assert min(times, key=times.get) == (many, WARP)
    assert times[many, WARP] < naive < times[4, WARP]
    says("**{} columns, {} apart:** the idea of your kernel with twice the columns. It has few "
         "cache lines, and with {:.1f} ms it is the fastest kernel of this lesson.", many, WARP,
         times[many, WARP])  # fmt: skip


def test_two_and_four_columns_take_the_same_time_whatever_the_cache_lines():
    _, two, four, _ = COLUMNS
    pairs = [(n, stride) for n in (two, four) for stride in (1, WARP)]
    times = {one: course.recorded_ms(variant_of(*one)) for one in pairs}
    lines = {one: course.cache_lines_per_multiply_add(run_of(*one)) for one in pairs}
    assert max(times.values()) < 1.1 * min(times.values())
    assert max(lines.values()) > 3 * min(lines.values())
    says("**{} and {} columns:** all four dots are between {:.1f} and {:.1f} ms", two, four,
         min(times.values()), max(times.values()))  # fmt: skip
    assert max(times, key=times.get) == min(lines, key=lines.get) == (four, WARP)
    says("Four columns {} apart have the fewest cache lines of the four and take the longest, and "
         "`naive` takes only {:.1f} ms.", WARP, course.recorded_ms(NAIVE))  # fmt: skip
    assert 0.9 < explained(variant_of(four, 1), run_of(four, 1)) < 1
    says("The ring of *{} adjacent* is close to its dot, which may be chance.", four)


@pytest.mark.slow
def test_four_columns_take_longer_with_fewer_loads_lines_and_instructions(compiler):
    naive, four = machine_code(NAIVE), machine_code(OURS, MULTI=4, APART=WARP)
    assert course.recorded_ms(variant_of(4, WARP)) > course.recorded_ms(NAIVE)
    says("it probably takes as long, {:.1f} ms.", course.recorded_ms(variant_of(4, WARP)))
    assert counted(four, "LDG") < counted(naive, "LDG")
    assert course.cache_lines_per_multiply_add(run_of(4, WARP)) < 2
    assert per_multiply_add(four) < per_multiply_add(naive)
    says("They have fewer loads, fewer cache lines and fewer instructions, but in another order.")


def test_naive_starts_all_its_loads_before_one_wait_and_four_columns_do_not(compiler):
    first, last = groups_between_waits(machine_code(NAIVE).hot.body)
    assert not any(one.name in FFMA for one in first)
    assert not any(one.name in LOADS for one in last)
    says("`naive` starts {} loads, waits once, and makes four multiply-adds", len(first))
    assert len(last) == 4
    groups = groups_between_waits(machine_code(OURS, MULTI=4, APART=WARP).hot.body)
    loads = [sum(one.name in LOADS for one in group) for group in groups]
    assert loads.pop() == 0  # nothing is loaded after the last wait
    says("starts only {} to {} loads between two waits", min(loads), max(loads))


def test_the_table_has_the_waits_and_the_times_of_columns_32_apart(compiler):
    rows = {"`naive`": (NAIVE, {})}
    for columns in COLUMNS:
        name = f"{columns} column{'s' * (columns > 1)}"
        rows[name] = (OURS, {"MULTI": columns, "APART": WARP})
    waits = {
        name: waits_per_8(machine_code(step, **constants).hot.body)
        for name, (step, constants) in rows.items()
    }
    times = {
        name: course.recorded_ms(step.variant(**constants))
        for name, (step, constants) in rows.items()
    }
    says("the recorded times of columns {} apart", WARP)
    names = [name for name in rows if name != "`naive`"]
    one, two, four, eight = ((n, waits[name], times[name]) for n, name in zip(COLUMNS, names))
    says("| {} columns | {:g} | {:.1f} ms | | `naive` | {:g} | {:.1f} ms | "
         "| {} columns | {:g} | {:.1f} ms | | {} columns | {:g} | {:.1f} ms | "
         "| {} column | {:g} | {:.1f} ms |", *eight, waits["`naive`"], times["`naive`"], *four,
         *two, *one)  # fmt: skip
    few = sorted(rows, key=waits.get)[:3]
    assert few == ["8 columns", "`naive`", "4 columns"]  # and so they are by their times


def test_at_1024_four_columns_take_almost_as_long_as_naive():
    small = LADDER.parse("1024")
    assert 3 * WORD * small.n**2 < 1024 * course.device_shown().l2_kib
    four, naive = (course.recorded_ms(one, "1024") for one in (variant_of(4, WARP), NAIVE))
    says("At {} the largest cache holds all three matrices", small.n)
    says("There four columns take only {:.0f} % longer than `naive`.", 100 * (four / naive - 1))


def per_multiply_add(compiled) -> float:
    """Return the instructions per multiply-add of the hot loop."""
    return len(compiled.hot.body) / compiled.hot.ffma


@pytest.mark.slow
def test_for_and_plain_indices_make_the_machine_code_of_four_columns_longer(compiler):
    with_while = EXERCISES["four_columns"].solution_text
    plain = re.sub(r"(row|col) = uint32\((.*)\)\n", r"\1 = \2\n", with_while)
    plain = plain.replace("    i = 0\n    while i < k:", "    for i in range(k):")
    plain = plain.replace("        i += 1\n", "")
    long, short = (of_instructions(text) for text in (plain, with_while))
    assert short == per_multiply_add(machine_code(OURS, MULTI=4, APART=WARP))
    says("the same kernel has {:.1f} instructions per multiply-add instead of {:.2f}", long, short)


def of_instructions(text: str) -> float:
    """Return the instructions per multiply-add of a kernel for four_columns."""
    variant = of_text("four_columns", text)
    return per_multiply_add(xray(variant.kernel, variant.step.signature, "sm_90"))


def test_eight_apart_is_the_fastest_of_the_lesson():
    fastest = course.recorded_ms(variant_of(8, 32))
    others = [STRIDED, NAIVE, *(variant_of(n, stride) for n in COLUMNS for stride in (1, 32))]
    assert fastest == min(course.recorded_ms(step) for step in others)
    # So this variant is the one that the curve shows as the best of `multi_output`.
    assert fastest == course.recorded_ms(OURS)


def test_the_compiler_joins_no_loads_and_few_instructions_multiply_and_add(compiler):
    for columns, stride in ((4, 1), (4, 32), (8, 32)):
        compiled = machine_code(OURS, MULTI=columns, APART=stride)
        assert set(compiled.loads) == {"LDG.32"}
        assert counted(compiled, "LDG") == 1 + 1 / columns
        assert compiled.ffma_share < 1 / 5


def test_the_curve_draws_eight_columns_32_apart_at_every_size():
    rows = records.measured(course.device_shown().name, "gemm")
    rows = rows[rows["step"] == "multi_output"]
    sizes = ["m", "n", "k"]
    (fastest,) = set(rows.loc[rows.groupby(sizes)["time_ms"].idxmin(), "params"])
    says("`multi_output` has {} columns, {} apart, at every size", *re.findall(r"\d+", fastest))


def test_at_256_and_512_more_work_per_thread_is_slower_for_want_of_blocks():
    small, larger, sms = "256", "512", course.device_shown().sms
    blocks = {
        (step, n): step.variant().launch(LADDER.parse(n)).blocks
        for step in (NAIVE, OURS)
        for n in (small, larger)
    }
    for n in (small, larger):
        assert blocks[OURS, n] * 8 == blocks[NAIVE, n]
        assert course.recorded_ms(OURS, n) > course.recorded_ms(NAIVE, n)
    assert course.recorded_ms(OURS, "1024") < course.recorded_ms(NAIVE, "1024")
    says("At {} and {} `multi_output` is *slower* than `naive`", small, larger)
    says("at {} there are {} instead of {}, and {} SMs could work", small, blocks[OURS, small],
         blocks[NAIVE, small], sms)  # fmt: skip
    assert blocks[OURS, small] < sms < blocks[NAIVE, small]
    says("At {} there are {}, about one for each SM", larger, blocks[OURS, larger])
    assert 0.9 * sms < blocks[OURS, larger] <= sms
    wide, high = multi_output.BLOCK
    assert block_of(NAIVE) == (wide, high)
    warps = wide * high // WARP
    says("So an SM has {} warps to turn to, and {:.0f} in `naive`", warps,
         warps * blocks[NAIVE, larger] / sms)  # fmt: skip


def test_an_sm_starts_four_multiply_adds_of_whole_warps_per_cycle():
    assert course.device_shown().fp32_lanes_per_sm == 4 * 32


def test_a_load_of_b_for_each_multiply_add_bounds_the_speed_to_a_quarter_of_the_peak():
    per = course.loads_per_multiply_add(run_of(8, 32))
    assert course.share_of_peak(OURS) < 1 / (4 * per) < 1 / 4


# ---- the questions at the end ----


def arrays(m: int, n: int, k: int):
    sizes = (m, k), (k, n), (m, n)
    return tuple(np.ones(size, np.float32) for size in sizes)


def test_in_a_block_of_8_by_32_a_request_takes_four_sectors_of_a_and_one_of_b():
    wide, high = 8, 32
    other = trace(NAIVE.variant().kernel, (32, 2), (wide, high), *arrays(64, 256, 64))
    says("<code>naive</code> runs with blocks of <code>({}, {})</code>: {} wide and {} high.",
         wide, high, wide, high)  # fmt: skip
    says("<i>Answer: {:.0f} and {:.0f}. A warp covers four rows of {} threads",
         *(course.per_request(other, name) for name in "ab"), wide)  # fmt: skip
    assert WARP / wide == 4
    assert wide * WORD == SECTOR_BYTES
    says("and {} neighbouring words of <code>b</code>: {} bytes, one sector", wide, wide * WORD)


def test_with_four_rows_all_lanes_read_the_same_word_of_a():
    rows = trace(EXERCISES["order_rows"].solution, (8, 2), (32, 8), *arrays(64, 256, 64))
    assert rows.findings == ()
    assert course.loads_per_multiply_add(rows) == 1.25
    assert course.per_request(rows, "a") == 1


@cuda.jit
def with_transposed_b(a, bt, c, along):
    x, y = cuda.grid(2)
    row, col = (y, x) if along else (x, y)
    total = float32(0)
    for i in range(a.shape[1]):
        total += a[row, i] * bt[col, i]
    c[row, col] = total


def test_with_a_transposed_b_both_directions_need_33_sectors():
    sums = set()
    for along in (True, False):
        a, bt, c = (np.ones((64, 64), np.float32) for _ in range(3))
        seen = trace(with_transposed_b, (2, 8), (32, 8), a, bt, c, along)
        sums.add(sum(course.per_request(seen, name) for name in ("a", "bt")))
        assert course.per_request(seen, "bt" if along else "a") == WARP
    says("neither, both need {:.0f}. Along, the lanes read <code>bt</code> in {} rows, and down, "
         "they read <code>a</code> in {} rows", *sums, WARP, WARP)  # fmt: skip


def test_rows_of_63_words_cost_more_than_four_sectors_per_request_of_b():
    width = 63
    odd = trace(NAIVE.variant().kernel, (2, 8), (32, 8), *arrays(64, width, 64))
    assert odd.findings == ()
    even = course.per_request(watched(NAIVE), "b")
    assert even < course.per_request(odd, "b") < even + 1
    says("Take n = {} instead of {}, so that", width, width + 1)
    says("starts {} bytes after the one before", width * WORD)
    says("What happens to the {:.0f} sectors per request", even)
    says("so {} neighbouring words are in five sectors", WARP)
    begins = [row * width * WORD for row in range(64)]
    unaligned = [begin for begin in begins if begin % SECTOR_BYTES]
    assert len(unaligned) > len(begins) / 2
    for begin in unaligned:
        assert len({(begin + lane * WORD) // SECTOR_BYTES for lane in range(WARP)}) == 5
