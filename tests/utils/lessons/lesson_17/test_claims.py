"""Check the claims of lesson 17 against records, counts and machine code."""

import ctypes
import inspect
import math
import sys
from functools import cache
from types import ModuleType, SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER, async_copy
from gemm_kernels.dispatch.estimate import fitted
from gemm_kernels.parts import blocks
from gemm_kernels.parts.slices import REST_SLICES, cut
from gpu_xray import xray
from labs import EXERCISES
from labs.exercises.slices.formula import ADDING, BEGINNING, COUNTS, right, time_of
from utils import lessons as course
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, copy4_async, wait_copies
from utils.lessons.lesson_17 import against_cublas as library
from utils.lessons.lesson_17.wave_quantization import MOMENTS
from utils.machine import devices
from utils.machine.devices import slug
from utils.machine.occupancy import limits_of
from utils.paths import DATA, MEASURED, ROOT
from virtual_gpu import trace

SHAPE = (71, 8852, 8480)
AUTOTUNED = LADDER.step("autotuned")
BEST = {"BM": 96, "BN": 128, "BK": 16, "TM": 12, "TN": 8, "BLOCKS": 3}


@cache
def called():
    return library.recorded_calls()


def between(low: float, high: float):
    frame = called()
    return frame[(frame["flops"] >= low) & (frame["flops"] < high)]


def mean(ratios) -> float:
    return math.exp(np.log(ratios).mean())


# ---- slices ----


def test_the_product_has_35_tiles_of_1060_steps():
    assert library.tiles_and_steps(*SHAPE) == (35, 1060)
    assert devices.find(devices.REFERENCE).sms == library.SMS == 132
    assert (3 * 35, 4 * 35, 4 * 35 - 132, 132 - 8) == (105, 140, 8, 124)


def test_four_slices_took_longer_than_three():
    three, four = (library.recorded_slices(*SHAPE, count) for count in (3, 4))
    assert four / three == pytest.approx(1.505, abs=0.006)


def test_the_lesson_and_the_exercise_have_one_estimate():
    for count in COUNTS:
        for arguments in ((35, 132, 1060), (3, 40, 17)):
            assert library.estimate(count, *arguments) == time_of(count, *arguments)


def test_forecasts_are_within_3_percent():
    tiles, steps = library.tiles_and_steps(*SHAPE)
    step = library.recorded_slices(*SHAPE, 1) / library.estimate(1, tiles, 132, steps)
    for count in COUNTS:
        forecast = step * library.estimate(count, tiles, 132, steps)
        assert forecast == pytest.approx(library.recorded_slices(*SHAPE, count), rel=0.03)


def test_the_fitted_estimate_has_8_and_4_where_the_lesson_has_2_and_4():
    costs = fitted().costs
    assert (BEGINNING, ADDING) == (2, 4)
    assert round((costs.beginning + costs.storing) / library.BK) == 8
    (facts,) = [
        facts
        for tiling, facts in fitted().tilings["wide"].items()
        if (tiling.BM, tiling.BN) == (128, 256)
    ]
    device = devices.find(devices.REFERENCE)
    lanes, clock = device.fp32_lanes_per_sm, device.boost_clock_mhz
    step_us = 128 * 256 * 8 * facts.cycles / lanes / clock
    assert round(costs.adding_us / step_us) == 4


def test_110_of_130_choices_are_the_best_and_120_are_near():
    table = library.choices(EXERCISES["slices"].solution)
    assert table.caption.startswith("130 recorded products")
    never, chosen = (float(row[1].rstrip("×")) for row in table.rows)
    assert table.rows[1][3:] == ("110", "120")
    assert (never, chosen) == (2.65, 1.02)
    ratios = [known[taken] / min(known.values()) for _, taken, known in choices()]
    assert (sum(ratio == 1 for ratio in ratios), sum(ratio <= 1.05 for ratio in ratios)) == (
        110,
        120,
    )


def choices():
    """Yield (chosen slices, nearest recorded slices, times by slices) per recorded product."""
    for (kind, *shape), recorded in library._slices().items():
        tiles, steps = library.tiles_and_steps(*shape)
        known = {count: us for count, us in recorded.items() if count <= library.MOST}
        if kind == "strided" and tiles < library.SMS and len(known) > 1:
            count = EXERCISES["slices"].solution(tiles, library.SMS, steps)
            yield count, library._nearest(count, known), known


def test_18_of_the_choices_were_not_recorded_and_13_of_them_are_counted_as_the_best():
    replaced = [(count, taken, known) for count, taken, known in choices() if count != taken]
    assert all(
        taken == max(one for one in known if one < count) for count, taken, known in replaced
    )
    fastest = sum(known[taken] == min(known.values()) for _, taken, known in replaced)
    assert (len(replaced), fastest) == (18, 13)


def test_with_8_in_place_of_2_two_more_choices_would_be_the_best():
    table = library.choices(lambda *arguments: right(*arguments, beginning=8))
    assert table.rows[1][3] == f"{110 + 2}"


def test_at_4096_three_full_waves_and_188_tiles_which_are_cut():
    tiles, slots = cdiv(4096, 96) * (4096 // 128), 3 * 132
    assert (tiles, slots, tiles - 3 * slots) == (1376, 396, 188)
    how = cut(tiles, slots, 4096 // 16, 1)
    assert (how.whole, how.slices) == (3 * slots, REST_SLICES)
    constants = AUTOTUNED.variant(**BEST).constants
    assert {name: constants[name] for name in BEST} == BEST
    # Uncut, they would fill an SM with only one or two of three blocks.
    assert 132 < tiles - 3 * slots < 2 * 132
    assert how.blocks(tiles) - how.whole == 752


def test_with_the_rest_not_cut_76_sms_did_10_tiles_and_56_did_11():
    blocks = pd.read_csv(MEASURED / slug(devices.REFERENCE) / "gemm_sms.csv")
    uncut = blocks[blocks["cut"] == "tail not cut"]
    assert set(uncut["constants"]) == {
        " ".join(f"{name}={value}" for name, value in BEST.items()) + " ORDER=0"
    }
    assert uncut["whole_tiles"].value_counts().to_dict() == {10: 76, 11: 56}
    ready = uncut.groupby("whole_tiles")["cycles"].median()
    assert ready[11] > 1.05 * ready[10]


def test_the_rest_in_quarters_took_a_draft_from_51_5_to_53_8_teraflops():
    drafts = pd.read_csv(MEASURED / slug(devices.REFERENCE) / "gemm_drafts.csv")
    here = (drafts["run"] == 12) & (drafts[["m", "n", "k"]] == 4096).all(axis=1)
    here &= drafts["constants"].str.contains("BM=96 BN=128 BK=16 TM=12 TN=8 BLOCKS=3 ORDER=0")
    made = drafts[here].set_index("slices")["tflops"]
    # 64 of 256 steps are a quarter.
    assert (made["1"], made["rest in 4, first 64 steps"]) == (51.53, 53.75)


def test_six_slices_take_two_waves_and_are_nearly_as_fast_as_three():
    assert cdiv(35 * 6, 132) == 2
    three, six = (library.recorded_slices(*SHAPE, count) for count in (3, 6))
    assert 1 < six / three < 1.02


def test_behind_full_waves_the_given_number_of_slices_has_no_effect():
    assert {cut(1376, 396, 256, slices) for slices in (1, 2, 12)} == {cut(1376, 396, 256, 4)}
    assert cut(1376, 396, 4 * 16, 1).slices == 4
    assert cut(1376, 396, 4 * 16 - 1, 1).slices == 3
    assert cut(35, 132, 1060, 3).slices == 3  # no full wave: the given number counts


def test_the_slider_shows_8_9_and_3_tiles_and_the_3_again_each_cut_in_two():
    assert MOMENTS == ((8, 1), (9, 1), (3, 1), (3, 2))


def test_the_sums_of_one_tile_fill_half_of_the_registers():
    limits = limits_of(devices.find(devices.REFERENCE).compute_capability)
    assert limits.registers_per_sm == 2 * library.BM * library.BN
    assert (8480 // 4, cdiv(8480, 3)) == (2120, 2827)


# ---- cuBLAS by hand ----


def matrix(memory, rows, columns, leading):
    return memory[: leading * columns].reshape(columns, leading)[:, :rows].T


def cublas_model(m, n, k, a, lda, b, ldb, c, ldc):
    matrix(c, m, n, ldc)[:] = matrix(a, m, k, lda) @ matrix(b, k, n, ldb)


def test_square_row_major_arrays_come_out_as_b_times_a():
    a, b = np.random.default_rng(17).integers(-9, 9, (2, 3, 3)).astype(np.float32)
    c = np.zeros((3, 3), np.float32)
    cublas_model(3, 3, 3, a.ravel(), 3, b.ravel(), 3, c.ravel(), 3)
    others = (a @ b, (a @ b).T, (b @ a).T)
    assert (c == b @ a).all()
    assert not any((c == other).all() for other in others)
    cublas_model(3, 3, 3, b.ravel(), 3, a.ravel(), 3, c.ravel(), 3)
    assert (c == a @ b).all()


def test_rectangles_come_out_right_with_b_first_and_m_and_n_exchanged():
    a, b = np.arange(1.0, 7.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    c = np.zeros((2, 4))
    cublas_model(4, 2, 3, b.ravel(), 4, a.ravel(), 3, c.ravel(), 4)
    assert (c == a @ b).all()


def test_the_cell_that_calls_cublas_gets_a_times_b(monkeypatch, capsys):
    """Run the cell with a fake library: column-major, with pointers to numbers and matrices."""

    def memory(pointer, words):
        return np.ctypeslib.as_array((ctypes.c_float * words).from_address(pointer))

    def recording_sgemm(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        assert (transa, transb) == (0, 0)
        assert (memory(alpha, 1)[0], memory(beta, 1)[0]) == (1, 0)
        a, b, c = memory(a, lda * k), memory(b, ldb * n), memory(c, ldc * n)
        cublas_model(m, n, k, a, lda, b, ldb, c, ldc)

    def on_device(x):
        data = SimpleNamespace(ptr=x.ctypes.data)
        return SimpleNamespace(data=data, get=lambda: x)

    device = SimpleNamespace(cublas_handle=1)
    paper = SimpleNamespace(asarray=on_device, cuda=SimpleNamespace(Device=lambda: device))
    cublas = SimpleNamespace(sgemm=recording_sgemm, CUBLAS_OP_N=0)
    monkeypatch.setattr("utils.machine.versions.cupy", lambda: paper)
    for name in ("cupy_backends", "cupy_backends.cuda"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cupy_backends.cuda.libs", SimpleNamespace(cublas=cublas))
    lesson = nbformat.read(ROOT / "notebooks" / "17_against_cublas.ipynb", as_version=4)
    (cell,) = (cell.source for cell in lesson.cells if cell.id == "with-gpu")
    a, b = np.random.default_rng(17).integers(-9, 9, (2, 3, 3)).astype(np.float32)
    exec(cell, {"np": np, "a": a, "b": b, "c": np.zeros((3, 3), np.float32)})
    assert capsys.readouterr().out == "cuBLAS gives a·b: True\n"


# ---- asynchronous copies, the search ----


def test_async_copy_has_16x8_where_the_step_before_has_8x8():
    step = LADDER.step("async_copy")
    assert step.previous == "warp_tiled"
    before = LADDER.step("warp_tiled").constants()
    assert (before.get("TM", 8), before.get("TN", 8)) == (8, 8)
    assert (async_copy.TM, async_copy.TN) == (16, 8)
    assert course.recorded_ms(step) < course.recorded_ms(LADDER.step("warp_tiled"))


def test_async_copy_copies_the_tile_of_b_alone_in_this_way():
    text = inspect.getsource(async_copy)
    assert text.count("start_copies(b, ") == 2
    assert "start_copies(a, " not in text
    assert text.count("fetch(a, ") == text.count("put_columns(sa, ") == 2


def test_a_missing_barrier_behind_copies_is_a_race():
    @cuda.jit
    def reverse(x, out):
        tile, t = cuda.shared.array(128, float32, alignment=16), cuda.threadIdx.x
        copy4_async(tile, 4 * t, x, 4 * t)
        commit_copies()
        wait_copies(0)
        out[t] = tile[127 - t]

    traced = trace(reverse, 1, 32, np.arange(128, dtype=np.float32), np.zeros(32, np.float32))
    assert "race" in str(traced)


@pytest.mark.slow
def test_an_asynchronous_copy_is_one_instruction(compiler):
    step = LADDER.step("async_copy")
    names = {one.name for one in xray(step.variant().kernel, step.signature, "sm_90").code}
    assert "LDGSTS" in names


def test_24_candidates_were_timed_at_each_size_and_differ_by_up_to_1_55():
    rows = library.searched(cut).rows
    worst = [float(row[-1].rstrip("×")) for row in rows]
    assert max(worst) == 1.55
    rest = f"the rest, in {REST_SLICES}"
    assert [row[3] for row in rows] == ["all, in 8", "all, in 4", "none", "none", rest, rest]
    assert library.searched(cut).caption == "The fastest of 24 candidates at each size"
    assert rows[0][1] != rows[-1][1]
    frame = pd.read_csv(DATA / "tuned" / "nvidia_h200.csv")
    assert set(frame.groupby(["m", "n", "k"]).size()) == {24}


# ---- against the library ----


def test_at_cubes_the_kernel_is_ahead_by_2_to_12_percent_and_the_call_keeps_it():
    rows = library.called_cubes().rows
    kernels, calls = ([float(row[at]) for row in rows] for at in (2, 3))
    assert len(rows) == 6
    assert (min(kernels), max(kernels)) == (1.02, 1.12)
    assert all(call >= kernel - 0.01 for kernel, call in zip(kernels, calls, strict=True))
    frame = pd.read_csv(MEASURED / slug(devices.REFERENCE) / "as_called.csv")
    (smallest,) = frame[(frame[["m", "n", "k"]] == 256).all(axis=1)].itertuples()
    assert round(smallest.host_us / smallest.time_us, 2) == 0.99


def test_of_200_random_shapes_51_percent_take_no_longer():
    assert len(called()) == 200
    assert library.share_at_least_as_fast() == 51
    sides = called()[["m", "n", "k"]].to_numpy()
    assert sides.min() >= 32
    assert sides.max() <= 9400
    assert mean(called()["ratio"]) == pytest.approx(1.10, abs=0.005)


def test_small_calls_are_python_and_the_launch():
    small = between(0, 1e8)
    every_other = small["layout"].str.contains("every other")
    assert every_other[small["ratio"] > 1.55].all()
    library_us = small["library_us"].groupby(every_other).median()
    assert library_us[True] > 1.5 * library_us[False]
    others = small["ratio"][~every_other]
    assert (round(others.min(), 2), round(others.max(), 2)) == (0.85, 1.54)
    assert (small["ratio"] > 1).mean() > 0.75
    assert (small["host_us"] / small["time_us"]).mean() == pytest.approx(0.98, abs=0.005)
    assert (len(small), int((small["ratio"] >= 1).sum())) == (81, 65)
    assert mean(small["ratio"]) > 1.25


def test_between_1e8_and_1e9_the_call_is_ahead_in_26_of_53_shapes():
    middle = between(1e8, 1e9)
    assert (len(middle), int((middle["ratio"] > 1).sum())) == (53, 26)


def test_from_1e9_on_the_library_is_ahead_in_55_of_66_shapes_and_by_10_percent():
    large = between(1e9, 1e13)
    assert (len(large), int((large["ratio"] < 1).sum())) == (66, 55)
    assert round(1 / mean(large["ratio"]), 2) == 1.10


def test_only_two_large_shapes_can_be_read_four_words_at_once_and_there_the_call_is_ahead():
    large = between(1e9, 1e13)
    whole = (large["n"] % blocks.WIDE == 0) & (large["k"] % blocks.WIDE == 0)
    as_they_are = large[whole & (large["layout"] == "rows, rows")]
    assert [round(ratio, 2) for ratio in sorted(as_they_are["ratio"])] == [1.10, 1.11]
    ahead = large[large["ratio"] >= 1]
    assert (len(ahead), ahead["layout"].str.contains("every other").sum()) == (11, 5)


def test_from_1e11_on_there_are_four_and_the_call_takes_5_to_10_percent_longer():
    longer = 1 / between(1e11, 1e13)["ratio"]
    assert len(longer) == 4
    assert (round(longer.min(), 2), round(longer.max(), 2)) == (1.05, 1.10)


def test_the_source_prints_55_percent_and_a_time_that_makes_66():
    rows = library.published_library().rows
    assert rows[0][1:] == ("55%", "79%", "79%")
    assert rows[1][1] == "66%"
    recorded = [int(one.rstrip("%")) for one in rows[2][1:]]
    assert recorded[0] < 60
    assert recorded[1:] == pytest.approx([75, 75], abs=2)
    assert 132 / devices.find("GTX Titan X (Maxwell)").sms > 5


def test_multiply_adds_are_a_bound_that_the_record_stays_below(compiler):
    hot = xray(AUTOTUNED.variant(**BEST).kernel, AUTOTUNED.signature, "sm_90").hot
    assert course.share_of_peak(AUTOTUNED) < hot.ffma / len(hot.body) < 0.93


# ---- the exercises at the end ----


def test_slices_on_a_t4():
    chosen = EXERCISES["slices"].solution
    assert devices.find("Tesla T4").sms == 40
    assert (chosen(35, 40, 1060), chosen(41, 40, 1060)) == (8, 12)
    assert 8 * 35 == 7 * 40
    assert round(35 / 40, 2) == 0.88
    assert 12 * 41 / 40 == 12.3


@pytest.mark.parametrize(("rows", "tiles", "percent"), [(2304, 162, 61), (2176, 153, 58)])
def test_fewer_rows_fill_two_waves_less_well(rows, tiles, percent):
    assert cdiv(rows, 128) * cdiv(2304, 256) == tiles
    assert cdiv(tiles, 132) == 2
    assert round(100 * tiles / 264) == percent
