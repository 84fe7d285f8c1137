"""Check the figures and comparisons in lesson 13 against counts and records."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER
from gemm_kernels.parts import lane_maps
from gpu_xray import xray
from utils import lessons as course
from utils.intrinsics.wide_memory import load2, load4
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_13.lane_maps import wavefronts_of
from utils.lessons.shared_reads import SHAPE
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import occupancy
from utils.measuring import records
from utils.paths import DATA
from virtual_gpu import trace

BLOCK = "128x128x16"
H200 = devices.find(REFERENCE)
OLD = LADDER.step("register_blocked").variant(BM=128)
WIDE = LADDER.step("vectorized").variant(BK=8)
PREFETCH = LADDER.step("prefetch").variant()
ROWS, ROWS_OF_8, Z, ZIG = (LADDER.step("warp_tiled").variant(LANES=n) for n in range(4))
slow = pytest.mark.slow


@cache
def run_of(variant, shape=BLOCK):
    return course.watch(variant, shape)


def recorded(variant, n=4096, column="time_ms"):
    """Return the H200's record, regardless of what this machine has recorded."""
    frame = records.measured(REFERENCE, "gemm")
    same = (frame["step"] == variant.step.name) & (frame["params"] == variant.params)
    size = (frame["m"] == n) & (frame["n"] == n) & (frame["k"] == n)
    return float(frame[same & size][column].iloc[0])


def alone(variant):
    """Return the time in ms that shared memory alone takes at 4096 on the H200."""
    needed = course.wavefronts_per_multiply_add(run_of(variant, SHAPE))
    return needed * 4096**3 / 32 / H200.sms / (H200.boost_clock_mhz * 1e3)


def test_the_same_tiles_wide_are_1_45_times_faster():
    assert recorded(OLD) / recorded(WIDE) == pytest.approx(1.45, abs=0.01)
    assert {**OLD.constants, "BK": 8} == WIDE.constants


def test_each_word_of_a_tile_is_read_by_16_threads():
    assert WIDE.constants["BN"] // WIDE.constants["TN"] == 16


def test_a_wide_copy_moves_as_many_sectors_with_a_quarter_of_the_requests():
    from virtual_gpu.tests.kernels.counted import copy_fours, strided_copy

    x, out = np.zeros((2, 128), np.float32)
    wide = trace(copy_fours, 1, 32, x, out).totals
    narrow = trace(strided_copy(1, 0), 1, 128, x, out).totals
    assert (wide["global_load_requests"], wide["global_load_sectors"]) == (1, 16)
    assert (narrow["global_load_requests"], narrow["global_load_sectors"]) == (4, 16)


@slow
@pytest.mark.usefixtures("compiler")
def test_ten_loads_a_step_become_four():
    old, wide = (xray(one.kernel, one.step.signature, "sm_90") for one in (OLD, WIDE))
    for code, loads, share in ((old, 10, 0.81), (wide, 4, 0.92)):
        steps = code.hot.ffma // 64
        assert sum(one.name == "LDS" for one in code.hot.body) == loads * steps
        assert code.bound == pytest.approx(share, abs=0.005)
    assert wide.bound / old.bound == pytest.approx(1.14, abs=0.005)
    assert sum(one.opcode == "LDS.128" for one in old.hot.body) == 2
    assert (old.loads["LDG.32"], wide.loads["LDG.128"]) == (8, 2)


def test_a_read_of_a_takes_two_wavefronts_and_one_of_b_eight():
    assert course.per_request(run_of(OLD), "sa", "wavefronts") == 2
    assert course.per_request(run_of(WIDE), "sa", "wavefronts") == 2
    assert course.per_request(run_of(WIDE), "sb", "wavefronts") == 8
    assert course.per_request(run_of(WIDE), "sb", "wavefronts", "store") == 4
    first = np.array(run_of(WIDE).warp_access("sb").addresses) // 4
    assert list(first[:3]) == [0, 8, 16]
    assert list(first[16:]) == list(first[:16])


def test_two_words_of_a_meet_in_a_bank_and_two_quads_do_not():
    first = {one: np.unique(run_of(one).warp_access("sa").addresses) // 4 for one in (OLD, WIDE)}
    assert list(first[OLD] % 32) == [0, 0]
    assert list(first[WIDE] % 32) == [0, 8]


def test_a_thread_loads_two_quads_for_a_tile_in_place_of_eight_words():
    tiles, warps = 2, 8
    loads = [run_of(one).totals["global_load_requests"] / tiles / warps for one in (OLD, WIDE)]
    assert loads == [8, 2]


def test_a_step_takes_32_wavefronts_and_then_20():
    """The profiler sees the joined loads of b; with 64×128 a thread reads as it does here."""
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv")
    counted = rows.set_index(["launch", "counter"])["value"]
    kernels = (("register_blocked_64_128_8_8", 10, 32), ("vectorized_128_128_16_8_8", 4, 20))
    for launch, reads, wavefronts in kernels:
        per_read = (
            counted[launch, "shared_load_wavefronts"] / counted[launch, "shared_load_requests"]
        )
        assert reads * per_read == wavefronts
    assert 1.14 < recorded(OLD) / recorded(WIDE) < 32 / 20


def test_a_lanes_other_quads_take_as_many_wavefronts_as_its_first():
    counted = run_of(ROWS)
    assert course.per_request(counted, "sa", "wavefronts") == 2
    assert course.per_request(counted, "sb", "wavefronts") == 4


def test_16_banks_work_when_z_order_reads_b():
    sent = [wave for wave in wavefronts_of(lane_maps.z_order.py_func) if wave.array == "b"]
    assert [4 * len(wave.quads) for wave in sent] == [16, 16]


def test_maps_by_rows_take_two_and_four_and_the_other_two_two_and_two():
    def counts(one):
        sent = [wave.array for wave in wavefronts_of(one.py_func)]
        return sent.count("a"), sent.count("b")

    assert counts(lane_maps.row_major) == counts(lane_maps.four_by_eight) == (2, 4)
    assert counts(lane_maps.z_order) == counts(lane_maps.zig_zag) == (2, 2)


def test_neighbours_share_b_in_the_zig_zag_and_a_in_z_order():
    zig = [lane_maps.zig_zag.py_func(lane) for lane in range(32)]
    z = [lane_maps.z_order.py_func(lane) for lane in range(32)]
    assert all(zig[lane][1] == zig[lane ^ 1][1] for lane in range(32))
    assert all(zig[lane][0] == zig[lane ^ 2][0] for lane in range(32))
    assert all(z[lane][0] == z[lane ^ 1][0] and z[lane][1] == z[lane ^ 2][1] for lane in range(32))


@slow
@pytest.mark.parametrize(
    "variant, wavefronts",
    [(WIDE, 5), (PREFETCH, 5), (ROWS, 3), (ROWS_OF_8, 3), (Z, 2), (ZIG, 2)],
)
def test_a_read_takes_so_many_wavefronts_on_average(variant, wavefronts):
    totals = run_of(variant, SHAPE).totals
    assert totals["shared_load_wavefronts"] == wavefronts * totals["shared_load_requests"]


@slow
def test_shared_memory_is_busy_for_86_then_56_then_37_5_percent():
    shares = [alone(one) / recorded(one) for one in (PREFETCH, ROWS, Z, ZIG)]
    assert shares == pytest.approx([0.86, 0.56, 0.375, 0.375], abs=0.005)


def test_quads_apart_bring_5_percent_and_the_z_order_costs_4():
    assert recorded(PREFETCH) / recorded(ROWS) == pytest.approx(1.05, abs=0.008)
    assert recorded(Z) / recorded(ROWS) == pytest.approx(1.04, abs=0.008)
    assert recorded(ZIG) / recorded(ROWS) == pytest.approx(1.04, abs=0.008)
    assert recorded(ZIG, column="registers") == 124
    assert recorded(ROWS_OF_8) / recorded(ROWS) == pytest.approx(1.03, abs=0.005)
    assert recorded(ROWS) < min(map(recorded, (ROWS_OF_8, Z, ZIG)))
    assert recorded(ROWS_OF_8, column="registers") == 126
    assert recorded(Z, column="registers") == 126
    assert recorded(ROWS, column="registers") == 122
    assert LADDER.step("warp_tiled").variant() == ROWS


def test_with_16_steps_the_maps_of_two_wavefronts_are_faster_and_all_are_slower():
    deep = [LADDER.step("warp_tiled").variant(LANES=n, BK=16) for n in range(4)]
    rows, rows_of_8, z, zig = map(recorded, deep)
    assert rows / z == pytest.approx(1.04, abs=0.006)
    assert rows / zig == pytest.approx(1.04, abs=0.006)
    assert min(rows, rows_of_8, z, zig) > max(map(recorded, (ROWS, ROWS_OF_8, Z, ZIG)))
    for variants, blocks in (((ROWS, ROWS_OF_8, Z, ZIG), 2), (deep, 1)):
        for one in variants:
            taken = (int(recorded(one, column=what)) for what in ("registers", "shared_bytes"))
            assert occupancy(H200.compute_capability, 256, *taken).blocks == blocks


@pytest.mark.parametrize("variant", [ROWS, ROWS_OF_8, Z, ZIG], ids=str)
def test_the_profiler_of_an_h200_counted_as_many(variant):
    name = "_".join(map(str, (variant.step.name, *variant.constants.values())))
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv")
    counters = rows[rows["launch"] == name].set_index("counter")["value"]
    per_read = counters["shared_load_wavefronts"] / counters["shared_load_requests"]
    lane_map = lane_maps.LANE_MAPS[variant.constants["LANES"]].py_func
    assert per_read == len(wavefronts_of(lane_map)) / 2


def test_published_and_measured_shares():
    frame = records.published("gemm_gpu")
    published = frame[(frame["kernel"] == "warp_tiled") & (frame["device"] == "Tesla V100")].iloc[0]
    assert published["efficiency_pct"] == 93
    assert "96-97 % of cuBLAS" in published["note"]
    assert recorded(ROWS, column="library_ratio") == pytest.approx(0.88, abs=0.005)
    assert (devices.find("Tesla V100").fp32_lanes_per_sm, H200.fp32_lanes_per_sm) == (64, 128)


def test_each_step_is_faster_than_the_one_before_at_every_size():
    frame = records.fastest(records.measured(REFERENCE, "gemm"))
    cubes = frame[(frame["m"] == frame["n"]) & (frame["n"] == frame["k"])]
    names = ["register_blocked", "vectorized", "prefetch", "warp_tiled"]
    rates = cubes.pivot(index="m", columns="step", values="gflops")[names]
    assert (rates.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    small = cubes[(cubes["step"] == "warp_tiled") & (cubes["m"] <= 1024)]
    assert (small["library_ratio"] < 0.6).all()
    assert (1024 // 128) ** 2 == 64
    assert H200.sms == 132


@slow
def test_shared_memory_alone_is_two_thirds_of_vectorized():
    assert alone(WIDE) / recorded(WIDE) == pytest.approx(0.68, abs=0.01)


def test_solution_1_diagonals():
    def diagonals(lane):
        return lane % 4, (lane + lane // 4) % 8

    sent = [wave.array for wave in wavefronts_of(diagonals)]
    assert (sent.count("a"), sent.count("b")) == (4, 4)
    assert len({diagonals(lane) for lane in range(32)}) == 32
    assert [diagonals(lane) for lane in range(3)] == [(0, 0), (1, 1), (2, 2)]


@slow
@pytest.mark.parametrize("words, wavefronts", [(4, 1), (0, 2), (8, 2)])
def test_solution_2_other_paddings(words, wavefronts):
    wide = LADDER.step("vectorized")
    other = edited(wide.file, Edit("PADDED = BM + 4", f"PADDED = BM + {words}"))
    counted = run_of(other.STEP.variant(BK=8))
    assert course.per_request(counted, "sa", "wavefronts", "store") == wavefronts


@slow
def test_solution_2_one_word_more_is_misaligned():
    wide = LADDER.step("vectorized")
    other = edited(wide.file, Edit("PADDED = BM + 4", "PADDED = BM + 1"))
    message = str(run_of(other.STEP.variant(BK=8)).findings[0])
    assert "misaligned" in message
    assert "out_of_bounds" in message


@cuda.jit
def half_as_wide(out):
    sb = cuda.shared.array(32, float32, alignment=16)
    lane = cuda.threadIdx.x
    sb[lane] = lane
    cuda.syncwarp()
    first, second = load2(sb, lane % 8 * 4), load2(sb, lane % 8 * 4 + 2)
    out[lane] = first[0] + second[1]


@cuda.jit
def wide_rows(out):
    sb = cuda.shared.array(32, float32, alignment=16)
    lane = cuda.threadIdx.x
    sb[lane] = lane
    cuda.syncwarp()
    four = load4(sb, lane % 8 * 4)
    out[lane] = four[0] + four[3]


@pytest.mark.parametrize("kernel, requests", [(half_as_wide, 2), (wide_rows, 1)])
def test_solution_3_half_as_wide_takes_four_wavefronts_too(kernel, requests):
    totals = trace(kernel, 1, 32, np.zeros(32, np.float32)).totals
    assert totals["shared_load_requests"] == requests
    assert totals["shared_load_wavefronts"] == 4
