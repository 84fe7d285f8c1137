"""Check the figures and comparisons in lesson 07 against counts and records."""

from functools import cache

import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER
from gpu_xray import xray
from gpu_xray.widths import SHARED_LOADS
from utils import lessons as course
from utils.ladder.shapes import GemmShape
from utils.ladder.verify import verify_all
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_07.tile_sizes import shares
from utils.machine.devices import REFERENCE
from utils.measuring import records
from virtual_gpu import trace

NAIVE, TILED, TRANSPOSED, PADDED, DYNAMIC = (
    LADDER.step(name)
    for name in ("naive", "tiled", "tiled_transposed", "tiled_padded", "tiled_dynamic")
)
EDGE = "2000x600x2000"


@cache
def run_of(step):
    return course.watch(step)


@cache
def measured():
    return records.measured(REFERENCE, "gemm")


def recorded(step, shape="4096"):
    """Return the H200's time, regardless of what this machine has recorded."""
    variant = step if hasattr(step, "params") else step.variant()
    size = vars(LADDER.parse(shape))
    rows = measured()[(measured()["step"] == variant.step.name)]
    rows = rows[(rows["params"] == variant.params) & (rows[list(size)] == size).all(axis=1)]
    return rows["time_ms"].item()


def milliseconds(wavefronts):
    """Return the time at 4096 on the H200's 132 SMs at 1980 MHz, one wavefront per cycle."""
    return 4096**3 / 32 * wavefronts / 132 / 1980e3


def without_barrier(number):
    broken = edited(TILED.file, Edit("cuda.syncthreads()", "pass", number))
    return course.watch(broken.STEP, "64").findings


def loads_in_machine_code(step):
    hot = xray(step.variant().kernel, step.signature, "sm_90").hot
    return sum(one.name in SHARED_LOADS for one in hot.body) / hot.ffma


def instructions(step):
    hot = xray(step.variant().kernel, step.signature, "sm_90").hot
    return len(hot.body) / hot.ffma


def test_in_the_picture_four_threads_use_each_word_that_is_read_once():
    arrays = np.ones((3, 8, 8), np.float32)
    block_trace = trace(TILED.build(TILE=4), (2, 2), (4, 4), *arrays, blocks=1)
    words = block_trace.accesses.groupby(["array", "kind"])["words"].sum()
    assert words["a", "load"] == words["b", "load"] == 4 * 8
    assert words["sa", "load"] == words["sb", "load"] == 4 * words["a", "load"]
    alone = trace(NAIVE.variant().kernel, (2, 2), (4, 4), *arrays, blocks=1)
    assert alone.accesses.set_index("array")["words"]["a"] == 4 * words["a", "load"]


@cuda.jit
def reverse(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t]


@cuda.jit
def careless(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    out[cuda.grid(1)] = tile[63 - t]


def test_a_missing_barrier_in_the_tiny_kernel_is_a_race():
    x = np.arange(128, dtype=np.float32)
    out = np.zeros_like(x)
    assert trace(reverse, 2, 64, x, out).findings == ()
    np.testing.assert_array_equal(out.reshape(2, 64), x.reshape(2, 64)[:, ::-1])
    findings = trace(careless, 2, 64, x, out).findings
    assert [one.kind for one in findings] == ["race"]


def test_a_warp_of_the_tiny_kernel_asks_for_one_wavefront():
    x = np.arange(128, dtype=np.float32)
    result = trace(reverse, 2, 64, x, np.zeros_like(x))
    assert course.per_request(result, "tile", "wavefronts") == 1
    assert len({at // 4 % 32 for at in result.warp_access("tile").addresses}) == 32


def test_naive_loads_a_word_of_each_matrix_for_a_multiply_add_in_good_requests():
    assert course.loads_per_multiply_add(run_of(NAIVE)) == 2
    assert course.per_request(run_of(NAIVE), "a") == 1
    assert course.per_request(run_of(NAIVE), "b") == 4


@pytest.mark.parametrize(("tile", "sectors"), [(8, 5), (16, 10), (32, 20)])
def test_words_fall_by_the_tile_and_sectors_by_less(tile, sectors):
    before, now = (run_of(one).totals for one in (NAIVE, TILED.variant(TILE=tile)))
    assert before["global_load_bytes"] == tile * now["global_load_bytes"]
    assert before["global_load_sectors"] == sectors * now["global_load_sectors"]


def test_the_two_loads_have_moved_to_shared_memory():
    assert course.loads_per_multiply_add(run_of(TILED)) == 2 / 32
    assert course.loads_per_multiply_add(run_of(TILED), "shared") == 2


def test_without_the_first_barrier_a_thread_reads_too_early():
    first = without_barrier(1)[0]
    assert first.kind == "race"
    assert "reads sa[0, 0], which thread (0, 0) of block (0, 0) has written" in first.message


def test_without_the_second_barrier_a_thread_overwrites_what_others_need():
    first = without_barrier(2)[0]
    assert first.kind == "race"
    assert "writes sa[0, 0], which thread (31, 0) of block (0, 0) has read" in first.message


def test_threads_that_leave_at_the_edge_leave_words_out():
    start = "        total = float32(0)\n"
    leave = "        if row >= m or col >= n:\n            return\n"
    leaving = edited(TILED.file, Edit(start, start + leave))
    assert course.watch(leaving.STEP, "40").findings[0].kind == "uninitialised"
    assert course.watch(TILED, "40").findings == ()


@pytest.mark.parametrize(("tile", "percent"), [(32, 3.0), (16, 1.3)])
def test_at_the_edge_a_few_percent_of_the_work_is_for_zeros(tile, percent):
    whole = np.ceil(np.array([2000, 600, 2000]) / tile) * tile
    assert 100 * (whole.prod() / (2000 * 600 * 2000) - 1) == pytest.approx(percent, abs=0.05)


def test_the_smaller_tile_is_faster_where_it_fits_better():
    assert recorded(TILED.variant(TILE=16), EDGE) < recorded(TILED, EDGE)
    assert recorded(TILED.variant(TILE=16)) == pytest.approx(recorded(TILED), rel=0.01)


def test_global_memory_does_not_explain_the_time_of_tiled():
    assert course.estimated_ms(run_of(TILED), "4096") < 1
    assert course.cache_lines_per_multiply_add(run_of(NAIVE)) == 2


def test_the_sources_count_meets_the_record_by_accident():
    per_multiply_add = course.wavefronts_per_multiply_add(run_of(TILED))
    assert per_multiply_add == pytest.approx(2.06, abs=0.005)
    assert milliseconds(per_multiply_add) == pytest.approx(recorded(TILED), rel=0.05)


def test_the_machine_code_has_joined_reads(compiler):
    assert loads_in_machine_code(TILED) == 1.25
    assert loads_in_machine_code(TRANSPOSED) == 0.5
    assert loads_in_machine_code(DYNAMIC) == 2
    hot = xray(TILED.variant().kernel, TILED.signature, "sm_90").loads
    assert (hot["LDS.128"], hot["LDS.32"]) == (8, 32)


def test_the_profilers_count_explains_three_quarters_of_the_time():
    counted = course.profiled_wavefronts(TILED)
    assert counted == pytest.approx(1.56, abs=0.005)
    assert 0.7 < milliseconds(counted) / recorded(TILED) < 0.78
    sb_loads, stores = 1, 2 / 32
    assert 4 * (counted - sb_loads - stores) == 2  # for a joined load of four words of sa


def test_the_counts_say_a_smaller_gain_than_the_record():
    lines, wavefronts = course.cache_lines_per_multiply_add(run_of(NAIVE)), 1.5625
    assert course.profiled_wavefronts(TILED) == pytest.approx(wavefronts, abs=0.001)
    assert lines / wavefronts == pytest.approx(1.28, abs=0.005)
    assert recorded(NAIVE) / recorded(TILED) == pytest.approx(1.58, abs=0.005)
    assert recorded(NAIVE) / milliseconds(lines) == pytest.approx(1.68, abs=0.005)
    assert recorded(TILED) / milliseconds(wavefronts) == pytest.approx(1.36, abs=0.005)


def test_a_transposed_tile_meets_in_one_bank():
    assert course.per_request(run_of(TILED), "sb", "wavefronts") == 1
    assert course.per_request(run_of(TILED), "sa", "wavefronts") == 1
    assert course.per_request(run_of(TRANSPOSED), "sb", "wavefronts") == 32
    for what in ("global_load_requests", "global_load_sectors", "global_store_sectors"):
        assert run_of(TRANSPOSED).totals[what] == run_of(TILED).totals[what]


def test_the_conflicts_cost_less_than_the_source_says():
    source, hardware = (
        course.wavefronts_per_multiply_add(run_of(TRANSPOSED)),
        course.profiled_wavefronts(TRANSPOSED),
    )
    assert source == pytest.approx(34, abs=0.1)
    assert 16 < source / course.wavefronts_per_multiply_add(run_of(TILED)) < 17
    assert milliseconds(source) == pytest.approx(279, abs=1)
    assert recorded(TRANSPOSED) == pytest.approx(81, abs=0.5)
    assert 4 < recorded(TRANSPOSED) / recorded(TILED) < 5
    assert 0.95 < milliseconds(hardware) / recorded(TRANSPOSED) < 1
    stores = run_of(TRANSPOSED).totals["shared_store_wavefronts"] * 64
    stores /= run_of(TRANSPOSED).totals["float32_ops"]
    sa_loads = 0.5  # two wavefronts for a load of four words, as in `tiled`
    assert hardware - stores - sa_loads == pytest.approx(8, abs=0.01)
    sb_store = course.per_request(run_of(TRANSPOSED), "sb", "wavefronts", "store") / 32
    assert sb_store == 1
    assert stores == pytest.approx(sb_store + 1 / 32)  # and a little for the store of sa
    assert hardware == pytest.approx(8 + 0.5 + 1, abs=0.05)


def test_the_slowest_kernel_has_the_fewest_instructions(compiler):
    others = (NAIVE, TILED, PADDED, DYNAMIC)
    assert all(instructions(TRANSPOSED) < instructions(one) for one in others)
    assert all(recorded(TRANSPOSED) > recorded(one) for one in others)


def test_both_cures_are_equally_fast():
    assert recorded(PADDED) == pytest.approx(recorded(TILED), rel=0.01)
    assert course.per_request(run_of(PADDED), "sb", "wavefronts") == 1


@cuda.jit
def down_a_column(out, pitch):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t * pitch] = float32(t)
    out[t] = tile[t * pitch]


@pytest.mark.parametrize("pitch", range(28, 41))
def test_rows_of_odd_length_are_free_of_conflicts(pitch):
    out = np.zeros(32, np.float32)
    result = trace(down_a_column, 1, 32, out, pitch, shared_bytes=4 * 32 * pitch)
    assert (course.per_request(result, "tile", "wavefronts") == 1) == (pitch % 2 == 1)


def test_dynamic_shared_memory_reads_what_the_source_says_and_is_a_third_slower():
    source = course.wavefronts_per_multiply_add(run_of(DYNAMIC))
    assert course.profiled_wavefronts(DYNAMIC) == pytest.approx(source, abs=0.005)
    assert recorded(DYNAMIC) / recorded(TILED) == pytest.approx(4 / 3, abs=0.05)


def test_one_dynamic_kernel_takes_its_tile_from_the_launch():
    a, b, c = np.ones((3, 64, 64), np.float32)
    DYNAMIC.variant(TILE=16).kernel[(4, 4), (16, 16), 0, 2 * 16 * 16 * 4](a, b, c)
    assert (c == 64).all()


def test_the_dynamic_kernel_lies_close_to_naive_and_below_it_at_2048():
    for size in (256, 512, 1024, 2048, 4096, 8192):
        assert 0.8 < recorded(DYNAMIC, str(size)) / recorded(NAIVE, str(size)) < 1.2
    assert recorded(DYNAMIC, "2048") > recorded(NAIVE, "2048")


def test_published_and_measured_shares_agree_with_the_prose():
    bars = shares(records.published("gemm_gpu"), measured())
    assert len(bars) == 4
    for each in bars.values():
        assert each["tile 8"] < min(each["tile 16"], each["tile 32"])
        assert abs(each["tile 16"] - each["tile 32"]) < 1
    c2070, h200 = bars["C2070, 2012"], list(bars.values())[-1]
    assert max(c2070.values()) / c2070["naive"] == pytest.approx(2.75, abs=0.005)
    assert max(h200.values()) / h200["naive"] == pytest.approx(1.26, abs=0.005)
    assert h200["tile 8"] < h200["naive"]


def test_tiles_and_conflicts_have_their_factors_at_every_size():
    cubes = measured()[(measured()["m"] == measured()["n"]) & (measured()["n"] == measured()["k"])]
    best = cubes.groupby(["step", "m"])["time_ms"].min()
    assert len(best["tiled"]) == 6
    assert (best["naive"] / best["tiled"]).between(1, 2).all()
    assert (best["tiled_transposed"] / best["tiled"]).between(4, 5).all()
    assert (best["tiled_padded"] / best["tiled"])[512:].between(0.98, 1.02).all()


def test_shared_memory_is_the_limit_that_is_named():
    bound = 1 / (4 * course.profiled_wavefronts(TILED))
    assert course.share_of_peak(TILED) < bound < 0.165


def test_exercise_1_costs_a_sector_for_each_lane():
    printed = edited(
        TILED.file,
        Edit(
            "sb[ty, tx] = b[start + ty, col] if start + ty < k and col < n",
            "sb[tx, ty] = b[start + tx, col - tx + ty] if start + tx < k and col - tx + ty < n",
        ),
    ).STEP
    run = course.watch(printed)
    assert course.per_request(run, "b") == 32
    assert course.per_request(run, "sb", "wavefronts", "store") == 32
    assert verify_all(LADDER, [printed.variant()], GemmShape(65, 33, 70))[0].passed


def test_exercise_2_takes_one_wavefront_for_each_read():
    small = run_of(TILED.variant(TILE=16))
    assert course.per_request(small, "sa", "wavefronts") == 1
    assert course.per_request(small, "sb", "wavefronts") == 1
    words = {address // 4 % 32 for address in small.warp_access("sa").addresses}
    assert len(words) == 2


def test_exercise_3_is_right_where_tiles_fit_k():
    untested = edited(TILED.file, Edit("row < m and start + tx < k", "row < m")).STEP
    assert course.watch(untested, "64").findings == ()
    first = course.watch(untested, "64x64x40").findings[0]
    assert first.kind == "out_of_bounds"
    assert "uses a[0, 40]" in first.message
