"""Check the claims of lesson 03 against machine code, records and sources."""

import re
from functools import partial

import numpy as np
import pytest
from numba import float32, njit, types

from gemm_kernels.cpu import LADDER, blocked, sgemm
from gemm_kernels.cpu import micro_kernel_4x24 as wide_tile
from gemm_kernels.cpu import micro_kernel_avx512 as wide_vectors
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.cpu.micro_kernel_6x16 import COLUMNS, KC, MC, ROWS, tile_6x16
from gpu_xray.assembly import count, hot_loop, hot_loop_elsewhere, multiplications
from labs.families.micro_kernels import LANES
from labs.families.micro_kernels import ROWS as READER_ROWS
from tests import quotes
from utils import lessons as course
from utils.intrinsics import simd
from utils.lessons.lesson_03 import blas_call, ladder_bars, library_rates, micro_tile
from utils.machine import processors
from utils.measuring import records
from utils.paths import ROOT

SIZES = ("64", "128", "256", "512", "1024")
SIZE = 1024  # of the recorded times that the lesson compares
LINE = 64  # bytes of a cache line
LATENCY, UNITS, LOADS = 4, 2, 2  # of a multiply-add, in cycles; of a core; begun per cycle
TUNING = (ROOT / "gemm_kernels/cpu/tuning/TUNING.md").read_text("utf-8")
says, explains = partial(quotes.says, "03"), quotes.explains
code = partial(quotes.code, "03")


def ms(name: str, shape: str = "1024") -> float:
    return course.recorded_ms(LADDER.step(name), shape, course.XEON)


def tuning_row(name: str) -> list[float]:
    """Return the numbers of a row of the first table of TUNING.md that has this name."""
    row = next(line for line in TUNING.splitlines() if line.startswith(f"| {name} |"))
    return [float(cell) for cell in row.split("|")[2:-1] if cell.strip()]


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
    if name == "packed":
        sums = ROWS * COLUMNS // LANES
        arithmetic = 2 * products  # a multiplication and an addition
        row = [sums * one // products for one in (counted.loads, counted.stores, arithmetic)]
        says("what the two loops do for {} products of vectors", sums)
        says("| `packed` | {} | {} | {} |", *row)


@pytest.mark.parametrize(
    "rows, vectors, loads, registers",
    [(1, 1, 2.0, 3), (2, 1, 1.5, 4), (6, 2, 0.67, 15), (4, 3, 0.58, 16)],
)
def test_larger_tiles_need_fewer_loads_and_more_registers(rows, vectors, loads, registers):
    assert round((rows + vectors) / (rows * vectors), 2) == loads
    assert rows * vectors + vectors + 1 == registers <= micro_tile.REGISTERS
    says("a processor with AVX2 has {}:", micro_tile.REGISTERS)


def test_the_readers_micro_kernel_can_reach_a_quarter_of_the_peak():
    sums = READER_ROWS
    assert f"latency, units, sums = {LATENCY}, {UNITS}, {sums}" in code("reveal-share")
    loads = sums + 1
    says("Yours has {} loads per product and no store", loads / sums)
    says("is ready {} cycles after it began", LATENCY)
    because = """
        In the {} cycles of a multiply-add two units could begin {} of them, and two sums begin {}.
        {} ÷ {} = {:.0f} %, and this is less than the {:.0f} % that the loads allow."""
    possible = LATENCY * UNITS
    by_sums, by_loads = micro_tile.bounds(sums, 1)
    share = 100 * sums / possible
    assert (share, loads) == (100 * by_sums, 3)
    assert "products, loads, loads_per_cycle = 2, 3, 2" in code("reveal-share")
    says("the three loads of a step take {} cycles.", loads / LOADS)
    says("So the loads alone would allow {:.0f} % of the peak.", 100 * by_loads)
    says("which is {:.0f} % with two loads per cycle", 100 * by_loads)
    explains("03.share", because, LATENCY, possible, sums, sums, possible, share, 100 * by_loads)
    says("If NumPy is above {} %", round(share * possible / sums))


def test_four_rows_are_limited_by_their_sums_and_eight_by_their_loads():
    few, many = 4, 8
    few_sums, few_loads = micro_tile.bounds(few, 1)
    assert few_sums < few_loads
    says("so a tile of {}×{}, and then eight rows", few, LANES)
    says("{}×{} has {} loads for {} multiply-adds. They take {} cycles, and two units need {:g}, "
         "so the loads allow {:.0f} %. Four sums allow {:.0f} %", few, LANES, few + 1, few,
         (few + 1) / LOADS, few / UNITS, 100 * few_loads, 100 * few_sums)  # fmt: skip
    many_sums, many_loads = micro_tile.bounds(many, 1)
    assert many_loads < many_sums
    says("{}×{} has {} loads for {} multiply-adds. They take {} cycles, and two units need {:g}, "
         "so the loads allow {:.0f} %. Eight sums allow {:.0f} %", many, LANES, many + 1, many,
         (many + 1) / LOADS, many / UNITS, 100 * many_loads, 100 * many_sums)  # fmt: skip


def _tile_source(rows: int, vectors: int) -> str:
    """Return the source of a micro-kernel whose tile has this many rows and vectors per row."""
    sums = [(row, vector) for row in range(rows) for vector in range(vectors)]
    lines = ["def tile(a, b, c):"]
    lines += [f"    c{r}_{v} = set1(float32(0), 8)" for r, v in sums]
    lines += [f"    for p in range(a.size // {rows}):"]
    lines += [f"        b{v} = loadu(b, 8 * ({vectors} * p + {v}), 8)" for v in range(vectors)]
    for r, v in sums:
        lines += [f"        a{r} = broadcast(a, {rows} * p + {r}, 8)"] * (v == 0)
        lines += [f"        c{r}_{v} = fmadd(a{r}, b{v}, c{r}_{v})"]
    lines += [f"    storeu(c, {8 * at}, c{r}_{v})" for at, (r, v) in enumerate(sums)]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(not processors.lanes(), reason="compiles for x86")
def test_a_tile_with_as_many_sums_as_registers_spills():
    spilled, loaded, many, vectors = {}, {}, 8, 2
    for rows in (ROWS, many):
        names = {"float32": float32, **vars(simd)}
        exec(_tile_source(rows, vectors), names)
        kernel = njit(names["tile"])
        kernel.compile((types.Array(types.float32, 1, "C"),) * 3)
        loop = hot_loop_elsewhere(kernel, "haswell")
        counts = count(loop)
        steps, rest = divmod(counts.fma, vectors * rows)  # the compiler may unroll the loop
        assert rest == 0
        spilled[rows] = counts.spills / steps
        loaded[rows] = len(re.findall(r"vmov\w+\s+-?\d*\(%rsp\), %ymm", loop)) / steps
    assert spilled[ROWS] == loaded[ROWS] == 0
    assert loaded[many] == spilled[many] / 2
    loads, products = many + vectors, vectors * many
    cycles, needed = (loads + loaded[many]) / LOADS, products / UNITS
    says("a tile of {}×{} moves vectors to or from memory {:.0f} times per step, besides its {} "
         "loads. Half of these moves are loads, too. So {} loads take {} cycles, where {} "
         "multiply-adds need {:g}: the loads allow {:.0f} %.", many, vectors * LANES, spilled[many],
         loads, loads + loaded[many], cycles, products, needed,
         100 * needed / cycles)  # fmt: skip


def test_the_record_of_the_tiles_agrees_with_both_bounds():
    rows = 12
    _, by_loads = micro_tile.bounds(rows, 1)
    assert micro_tile.bounds(6, 2) == micro_tile.bounds(4, 3) == (1, 1)
    share, loads, products = re.search(
        r"12×8 stays at ([\d.]+) even in L1, with (\d+) loads for (\d+) multiply-adds", TUNING
    ).groups()
    assert float(share) < by_loads
    says("A tile of {}×{} has twelve sums, too, but {} loads for {} multiply-adds, so its loads "
         "allow {:.0f} %.", rows, LANES, loads, products, 100 * by_loads)  # fmt: skip
    in_l1, wide_in_l1 = tuning_row("everything in L1")[:2]
    assert in_l1 == wide_in_l1
    says("its loop reached {:.0f} % of the rate of multiply-adds alone, and the other two tiles "
         "reached {:.0f} %", 100 * float(share), 100 * in_l1)  # fmt: skip


def test_a_micro_kernel_gains_from_adjacent_rows_of_a():
    near, far = (tuning_row(f"a comes from L2, {rows}") for rows in
                 ("adjacent rows", "rows 1024 apart"))  # fmt: skip
    says("Where the rows of `a` were {} elements apart, it reached {:.1f} % of the rate of "
         "multiply-adds alone, and {:.1f} % where they were copied one behind the other.",
         SIZE, 100 * far[0], 100 * near[0])  # fmt: skip
    tile = wide_tile.ROWS, wide_tile.COLUMNS
    says("For {}×{}, which reads fewer rows, it was {:.1f} and {:.1f} %.",
         *tile, 100 * far[1], 100 * near[1])  # fmt: skip
    gains = [100 * (one / other - 1) for one, other in zip(near[:2], far[:2], strict=True)]
    says("makes the loop of {}×{} faster by {:.0f} % and that of {}×{} by {:.0f} %",
         ROWS, COLUMNS, gains[0], *tile, gains[1])  # fmt: skip


def test_blocks_and_panels_pay_on_one_processor_each():
    names = "loop_reordered", "blocked", "packed"
    xeon = [ms(name) for name in names]
    zen = [course.recorded_ms(LADDER.step(name), "1024") for name in names]
    assert xeon[0] > 2 * xeon[1]
    assert xeon[2] > xeon[1]
    assert zen[2] < zen[0] < zen[1]
    generation = int(re.search(r"with Zen (\d)", TUNING)[1])
    says("On the CPU of lesson 02, a Zen {}, it is", generation)
    says("there <code>loop_reordered</code> takes {:.1f} ms, <code>blocked</code> {:.1f} ms, and "
         "<code>packed</code> {:.1f} ms", *zen)  # fmt: skip
    because = """
        {:.1f} ÷ {:.1f} ms = {:.2f} times. Fewer elements of b come from far away, but each product
        of vectors still makes three accesses."""
    explains("03.blocks", because, xeon[0], xeon[1], xeon[0] / xeon[1])
    size = blocked.KC * SIZE * 4 // 2**20
    says("takes {} rows of `b` at a time, {} MiB", blocked.KC, size)
    # The Zen 5 is lesson 02's CPU, and the Emerald Rapids has the records of our Xeon.
    zen_l2, xeon_l2 = (int(one) for one in re.findall(r"(\d) MiB L2", TUNING))
    assert zen_l2 == size < xeon_l2
    says("A core of our Xeon has {} MiB of L2.", xeon_l2)
    says("A core of the Zen {} has {} MiB of L2.", generation, zen_l2)
    cycles, lines = (int(one.replace(",", "")) for one in re.search(
        r"has ([\d,]+) cycles for ([\d,]+) lines, and L3 is not that fast", " ".join(TUNING.split())
    ).groups())  # fmt: skip
    vectors, loads = LINE // (4 * LANES), 4
    assert loads == 2 * vectors  # as in the machine code: one of b and one of c per product
    says("a cache line of {} bytes of `b` has two vectors, and the four loads of their products "
         "take {:.0f} cycles.", LINE, loads / LOADS)  # fmt: skip
    says("could not give a core one cache line per {:.1f} cycles.", cycles / lines)
    says("At {} that is {} MiB, {} times.", SIZE, SIZE * SIZE * 4 // 2**20, SIZE)


def test_the_tiles_have_these_sizes():

    says("So {}×{} and", ROWS, COLUMNS)
    says("The tile of {}×{} is a step of our ladder", ROWS, COLUMNS)
    rows, columns = wide_tile.ROWS, wide_tile.COLUMNS
    says("and {}×{} are about the largest tiles", rows, columns)
    says("are the sums of rows {} to {}.", 0 * ROWS, ROWS - 1)


def test_the_picture_of_the_micro_kernel_computes_the_product():
    steps = [(step, action) for step in range(3) for action in micro_tile._ACTIONS]
    sums = micro_tile.registers(steps)
    tile = np.array(micro_tile.A).T @ np.array(micro_tile.B)
    np.testing.assert_array_equal([sums["sum 0"], sums["sum 1"]], tile)
    assert micro_tile.registers(steps[:1])["element of a"] is None


@pytest.mark.slow
def test_panels_hold_what_the_picture_and_the_folded_answers_say():
    panels = np.zeros((2, 4, 8), np.float32)
    pack_panels(np.arange(64, dtype=np.float32).reshape(4, 16), panels)
    assert list(panels[0, :, 0]) == [0, 16, 32, 48]
    packed = np.zeros((2, 4, 2), np.float32)
    pack_panels(np.arange(16, dtype=np.float32).reshape(4, 4).T, packed)
    assert list(packed[0].ravel()) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert list(packed[1].ravel()) == [8, 12, 9, 13, 10, 14, 11, 15]


def test_the_tile_is_faster_by_its_arithmetic_and_a_little_more():
    packed, tile = ms("packed"), ms("micro_kernel_6x16")
    sums = ROWS * COLUMNS // LANES
    because = """
        Two units need {} cycles for {} instructions of arithmetic, and {} for {} multiply-adds: {}
        times. Recorded are {:.1f} ÷ {:.1f} ms = {:.2f} times. The estimate leaves out
        stores, block sizes and waiting."""
    figures = sums, 2 * sums, sums // UNITS, sums, 2 * sums // sums, packed, tile, packed / tile
    explains("03.tile", because, *figures)
    says("beside our H200, at {}×{}×{}", SIZE, SIZE, SIZE)


def test_panels_alone_bring_nothing():
    copied, cut = ms("packed"), ms("blocked")
    assert 1 < copied / cut < 1.1
    because = """
        blocked takes {:.1f} ms, and packed {:.1f} ms. The copies cost more than they save: the
        innermost loop makes as many accesses as before."""
    explains("03.packed", because, cut, copied)
    says("recorded Xeon, at {}: how fast is `blocked`", SIZE)
    drawn = str(ladder_bars.draw())
    assert all(f"{ms(step):.1f} ms" in drawn for step in ladder_bars.STEPS)


def test_each_tile_is_a_little_faster_than_the_one_before():
    assert 1 < ms("micro_kernel_6x16") / ms("micro_kernel_4x24") < 1.1
    before, after = ms("micro_kernel_4x24"), ms("micro_kernel_avx2")
    says("Together this is {:.1f} ÷ {:.1f} ms = {:.2f} times on the Xeon", before, after,
         before / after)  # fmt: skip


def test_twice_the_lanes_are_nearly_twice_as_fast():
    rows, lanes, vectors = wide_vectors.ROWS, wide_vectors.LANES, wide_vectors.VECTORS
    says("With AVX-{} a register holds {} float32, and there are {} registers",
         32 * lanes, lanes, 2 * micro_tile.REGISTERS)  # fmt: skip
    assert rows * vectors + vectors + 1 <= 2 * micro_tile.REGISTERS
    says("is {}×{}, so it has {} sums.", rows, lanes * vectors, rows * vectors)
    eight, sixteen = ms("micro_kernel_avx2"), ms("micro_kernel_avx512")
    says("it takes {:.2f} ms instead of {:.2f} ms. That is {:.2f} times as fast",
         sixteen, eight, eight / sixteen)  # fmt: skip


def test_the_call_has_the_sizes_of_the_arrays():
    m, k, n = blas_call.M, blas_call.K, blas_call.N
    says("`a` is {}×{}, `b` is {}×{} and `c` is {}×{}", m, k, k, n, m, n)


@pytest.mark.slow
def test_alpha_zero_leaves_beta_times_c():
    c = np.ones((2, 2), np.float32, order="F")
    a, b = np.ones((2, 3), np.float32, order="F"), np.ones((3, 2), np.float32, order="F")
    sgemm("N", "N", 2, 2, 3, 0, a, 2, b, 3, 2, c, 2)
    np.testing.assert_array_equal(c, 2)


def test_the_last_exercise_is_the_call_of_its_cell():
    assert ", 2, 2, 3, 0, a, 2, b, 3, 2, c, 2)" in code("exercise-2")
    alpha, beta, ones = 0, 2, 1
    says("**2. alpha = {}.**", alpha)
    says("Here beta is {}, and all elements of c are {}.", beta, ones)
    says("c = {} · a · b + {} · c, so all elements are {}.", alpha, beta, beta * ones)


@pytest.mark.slow
@pytest.mark.skipif(not processors.lanes(), reason="compiles for x86")
def test_the_loop_of_twelve_sums_has_eight_loads_and_no_store():
    matrix = LADDER.step("micro_kernel_6x16").variant().kernel
    square = np.ones((8, 8), np.float32)
    matrix(square, square, square.copy())
    counts = count(hot_loop(tile_6x16))
    iterations, rest = divmod(counts.fma, 12)  # the compiler may unroll the loop
    assert (rest, counts.stores) == (0, 0)
    assert (counts.loads, counts.broadcasts) == (2 * iterations, 6 * iterations)


def test_the_loop_of_twelve_sums_is_as_in_the_table():
    sums = ROWS * COLUMNS // LANES
    says("| `micro_kernel_6x16` | {} | {} | {} |", ROWS + COLUMNS // LANES, 0 * sums, sums)


def test_the_naive_loops_gain_nothing_from_column_major_arrays():
    says("on the Xeon they took {:.2f} s at {}", ms("naive_column_major") / 1000, SIZE)
    says("where <code>naive</code> took {:.2f} s", ms("naive") / 1000)


@pytest.mark.slow
def test_the_long_stride_stays_where_it_was():
    """Both functions go down the columns of the array that the caller passes as b."""
    for name in ("naive", "naive_column_major"):
        followed = course.follow(LADDER.step(name), "2x64x64")
        # With room for one line per array, each load of b misses, and every 16th load of a.
        misses = course.cache_misses(followed, lines=3)
        assert (misses["b"], misses["a"]) == (2 * 64 * 64, 2 * 64 * 64 // 16)


def test_the_blocks_have_their_places_in_the_caches_of_the_source():
    kib, n = 1024 // 4, 512  # float32 in a KiB; as in the cell
    claims = records.published("claims").set_index("claim")
    l1, row = int(claims.loc["L1 data cache", "value"]), claims.loc["L2 cache"]
    l2 = int(re.search(r"a core of this generation has (\d+) KiB", row["note"])[1]) // 1024
    says("has {} KiB of L1. The source prints {} MiB for L2, but a core of this generation has {} "
         "MiB.", l1, int(row["value"]) // 1024, l2)  # fmt: skip
    says("Both blocks fit into {} MiB together, but at {} the block of `b` alone has {} MiB, "
         "so part of it comes from L3.",
         l2, SIZE, KC * SIZE // kib // 1024)  # fmt: skip
    says("cuts {}×{}×{}:", n, n, n)
    assert f"n, kib = {n}," in code("blocks")
    longer, passes = 2 * KC * (ROWS + COLUMNS) // kib, SIZE // KC
    assert longer > l1
    says("Why {} steps? With {}, the two panels would have {} KiB, more than L1.",
         KC, 2 * KC, longer)  # fmt: skip
    says("With {}, each tile of `c` would be read and written twice as often: at {} that is {} "
         "times instead of {}.", KC // 2, SIZE, 2 * passes, passes)  # fmt: skip
    # A panel of b in L1, a block of a and the block of b together in L2.
    assert KC * COLUMNS == 16 * kib < l1 * kib
    assert KC * (MC + n) < 1024 * l2 * kib


def test_beside_the_libraries_it_is_as_the_lesson_says():
    step_rates, library = (
        percent_of_numpy("cpu", "micro_kernel_avx2"),
        percent_of_numpy("cpu_libraries", "oneDNN (AVX2)"),
    )
    assert max(step_rates + library) < 100
    ahead = [one > other for one, other in zip(step_rates, library, strict=True)]
    assert ahead == [True, False, False, False, False]
    says("ours is ahead of oneDNN at {}, and oneDNN from {} on", *map(int, SIZES[:2]))
    narrow = step_rates[-1]
    step_rates = percent_of_numpy("cpu", "micro_kernel_avx512")
    library = percent_of_numpy("cpu_libraries", "oneDNN")
    says("ahead of NumPy at every size, by {:.0f} to {:.0f} %",
         min(step_rates) - 100, max(step_rates) - 100)  # fmt: skip
    assert [rate > 100 for rate in library] == [False, True, True, True, True]
    ahead = [one > other for one, other in zip(step_rates, library, strict=True)]
    assert ahead == [True, True, True, True, False]
    says("It is ahead of oneDNN up to {}, and oneDNN is ahead at {}.", *map(int, SIZES[-2:]))
    lanes = wide_vectors.LANES
    says("With vectors of {}, ours is ahead of NumPy", lanes)
    says("OpenBLAS, which uses vectors of {} on this Xeon", lanes)
    says("in turns, on one core, at {}. `micro_kernel_avx2` reached {:.0f} %", SIZE, narrow)
    gain = ms("micro_kernel_avx2") / ms("micro_kernel_avx512")
    because = """
        {:.0f} % × {:.2f} = {:.0f} %, if NumPy takes the same time in both measurements.
        Recorded are {:.0f} %, and both use vectors of {}."""
    explains("03.library", because, narrow, gain, narrow * gain, step_rates[-1], lanes)


def test_the_source_had_this_processor():
    cpu = records.published("gemm_cpu").iloc[0]["cpu"]
    says("a published walk-through for a Xeon Platinum {}Y", int(cpu.split()[-1].rstrip("Y")))


def test_one_core_of_lesson_02_is_not_far_from_its_peak_and_two_are_twice_as_fast():
    one, both = (
        course.recorded_ms(LADDER.step(name), "1024")
        for name in ("micro_kernel_avx512", "parallel")
    )
    generation, clock = 5, 3.95  # gemm_kernels/cpu/tuning/TUNING.md
    assert f"core = {clock} * 2 * 16 * 2" in code("limits-code")
    says("a Zen {} with {} GHz and two cores", generation, clock)
    varied = re.search(r"clock varied between ([\d.]+) and ([\d.]+) GHz", " ".join(TUNING.split()))
    assert float(varied[2]) == clock
    says("The clock varied between {} and {} GHz", *varied.groups())
    assert 0.8 < 2 * 1024**3 / one / 1e6 / (clock * 2 * 16 * 2) < 0.9
    assert 1.9 < one / both < 2


def test_packing_and_c_cost_what_the_loop_alone_does_not():
    rows = "all", "without packing b", "... and with one tile of c"
    column = ["256", "512", "1024", "2048"].index(str(SIZE))
    whole, unpacked, one_tile = (100 * tuning_row(name)[column] for name in rows)
    says("left out parts of a product at {} on this CPU, with tiles of {}×{}. The whole product "
         "reached {:.1f} % of the rate of multiply-adds alone. Without packing `b` it was {:.1f} "
         "%, and {:.1f} % when all tiles also went to the same place in `c`.",
         SIZE, wide_tile.ROWS, wide_tile.COLUMNS, whole, unpacked, one_tile)  # fmt: skip
    assert wide_vectors.LANES == 2 * LANES
    says("With vectors of {} the loop takes half as long, so packing and `c` cost a larger share.",
         wide_vectors.LANES)  # fmt: skip


def test_the_figures_of_the_libraries_have_few_labels_and_say_what_is_seen():
    steps = ("micro_kernel_avx2", "micro_kernel_avx512")
    assert "oneDNN (AVX2) goes from" in library_rates.recorded(course.XEON, steps).alt_text
    text = " ".join(line.get_text() for line in library_rates.recorded(course.XEON, steps).texts)
    cpu, libraries = (records.measured(course.XEON, kept) for kept in ("cpu", "cpu_libraries"))
    days = {*cpu.loc[cpu["step"].isin(steps), "date"], *libraries["date"]}
    assert all(day in text for day in days)


def test_steps_and_libraries_with_vectors_of_one_width_have_one_colour():
    figure = library_rates.recorded(course.XEON, ("micro_kernel_avx2", "micro_kernel_avx512"))
    lines = [line for line in figure.axes[0].lines if line.get_marker() not in ("None", None)]
    looks = [(line.get_color(), line.get_linestyle()) for line in lines]
    assert len(set(looks)) == 4
    assert len({colour for colour, _ in looks}) == 2
