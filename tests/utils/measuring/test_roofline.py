"""Ceilings, counts, the estimate of time, and the roofline."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32

import gemm_kernels
import latency_kernels
import reduce_kernels
from utils.errors import CourseError
from utils.intrinsics.wide_memory import load4
from utils.ladder.shapes import GemmShape
from utils.machine import devices
from utils.measuring import records, roofline
from utils.measuring.roofline import (
    Ceilings,
    HotLoopCounts,
    LaunchCounts,
    counted,
    estimates,
    gpu_ceilings,
    points,
)
from virtual_gpu import trace

H200 = devices.find("H200")
NAIVE = gemm_kernels.LADDER.step("naive").variant()
TILED = gemm_kernels.LADDER.step("tiled").variant(TILE=32)
FIRST_STEPS = replace(gemm_kernels.LADDER, steps=(NAIVE.step, TILED.step))
# The hot loops that the x-ray finds in the machine code of the two for sm_90.
HOT = {"naive": HotLoopCounts(31, 4, {}), "tiled": HotLoopCounts(133, 32, {32: 32, 128: 8})}
EASY = Ceilings("a device", gflops=1000, gb_per_s={"DRAM": 10, "L2": 40, "shared": 256},
                instructions=50)  # fmt: skip


def no_machine_code(variant):
    return None


def test_the_ceilings_are_the_best_that_was_recorded():
    frame = records.measured("H200", "latency")
    ceilings = gpu_ceilings(H200)
    assert ceilings.gflops == frame["gflops"].max()
    for memory, step in (("DRAM", "copy"), ("L2", "l2_read"), ("shared", "shared_read")):
        assert ceilings.gb_per_s[memory] == frame[frame["step"] == step]["gb_per_s"].max()
    assert ceilings.instructions == pytest.approx(4 * 132 * 1.98)


def test_the_memories_are_the_faster_the_nearer_they_are():
    rates = list(gpu_ceilings(H200).gb_per_s.values())
    assert rates == sorted(rates)
    # 128 bytes per cycle and SM is what shared memory can do at all.
    assert 0.95 < rates[-1] / (132 * 128 * 1.98) <= 1


def test_a_device_without_all_micro_benchmarks_is_refused(monkeypatch):
    frame = records.measured("H200", "latency")
    monkeypatch.setattr(records, "measured", lambda *_: frame[frame["step"] != "l2_read"])
    with pytest.raises(CourseError, match=r"NVIDIA H200 lack l2_read: run python -m latency"):
        gpu_ceilings(H200)


def test_the_counts_of_the_naive_product_are_those_of_pencil_and_paper():
    m, n, k = 16, 96, 48
    counts = counted(NAIVE, GemmShape(m, n, k))
    warps, blocks = m * n // 32, m * n // 256
    assert counts.blocks == blocks
    assert counts.flops == 2 * m * n * k
    assert counts.wavefronts == warps * (2 * k + 1)
    assert counts.instructions == warps * (3 * k + 1)
    assert counts.dram_bytes == 4 * (m * k + k * n + m * n)
    # A block of 32 × 8 threads touches 8 rows of a, 32 columns of b and its part of c.
    assert counts.l2_bytes == blocks * 4 * (8 * k + 32 * k + 32 * 8)


@pytest.mark.parametrize("variant", [NAIVE, TILED], ids=str)
def test_a_long_product_is_counted_by_two_short_ones(variant, monkeypatch):
    shape = GemmShape(64, 64, 544)
    quick = counted(variant, shape)
    monkeypatch.setattr(roofline, "SHORT_K", (1024, 2048))
    assert counted(variant, shape) == quick


def test_tiles_that_are_cut_along_k_are_counted_as_whole_ones():
    step = gemm_kernels.LADDER.step("autotuned")
    small = {"BM": 64, "BN": 32, "BK": 16, "TM": 8, "TN": 4, "BLOCKS": 8, "SLICES": 1}
    variant = step.variant(**small)
    slots = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    shape = GemmShape(64 * (slots + 1), 32, 4096)
    assert math.prod(variant.launch(shape).grid) == slots + 4
    counts = counted(variant, shape)
    assert counts.blocks == slots + 1
    # A block touches 64 rows of a, 32 columns of b and its part of c.
    assert counts.l2_bytes == counts.blocks * 4 * (64 * 4096 + 32 * 4096 + 64 * 32)


def test_what_was_counted_is_not_run_again(monkeypatch):
    shape = GemmShape(32, 32, 40)
    first = counted(NAIVE, shape)
    monkeypatch.setattr(roofline, "count_step", None)
    assert counted(NAIVE.step.variant(), shape) == first
    with pytest.raises(TypeError):
        counted(NAIVE, replace(shape, k=41))


def test_the_machine_code_gives_the_instructions_and_the_reads_that_were_joined():
    shape = GemmShape(64, 64, 128)
    source, machine = counted(TILED, shape), counted(TILED, shape, HOT["tiled"])
    multiply_adds = 64 * 64 * 128 / 32
    assert machine.instructions == multiply_adds * 133 / 32
    # Per multiply-add of a warp two wavefronts; four reads of a are one that takes two cycles.
    assert source.wavefronts - machine.wavefronts == multiply_adds * (2 - 1.5)


def test_reads_that_the_source_has_wide_are_not_joined_again():
    few_reads = HotLoopCounts(200, 64, {128: 4})
    assert roofline._merged(few_reads, reads_per_ffma=4 / 64, per_read=1) == 1
    assert roofline._merged(HotLoopCounts(200, 64, {128: 16}), reads_per_ffma=1, per_read=1) == 0.5
    assert roofline._merged(HotLoopCounts(200, 64, {32: 64}), reads_per_ffma=1, per_read=1) == 1


def test_four_joined_reads_wait_for_their_bank_once():
    @cuda.jit
    def narrow_and_wide(out):
        tile = cuda.shared.array((32, 32), float32)
        lane = cuda.threadIdx.x
        for row in range(32):
            tile[row, lane] = row
        cuda.syncthreads()
        narrow = tile[lane, 0] + tile[lane, 1] + tile[lane, 2] + tile[lane, 3]
        p, q, r, s = load4(tile, (lane, 0))
        out[lane] = narrow + p + q + r + s

    lines = trace(narrow_and_wide, 1, 32, np.zeros(32, np.float32)).lines
    narrow, wide = (count for count in lines["shared_load_wavefronts"] if count)
    joined = roofline._merged(HotLoopCounts(100, 32, {128: 1}), reads_per_ffma=4 / 32, per_read=32)
    assert joined == wide / narrow == 1 / 4


def test_each_resource_is_busy_as_long_as_its_ceiling_says():
    counts = LaunchCounts(
        flops=1e9, dram_bytes=3e7, l2_bytes=1.6e8, wavefronts=1e7, instructions=2.5e8, blocks=1
    )
    assert roofline.times(counts, EASY) == pytest.approx(
        {"arithmetic": 1, "DRAM": 3, "L2": 4, "shared memory and L1": 5, "issue slots": 5}
    )


def test_the_last_wave_counts_as_a_whole_one():
    assert roofline.tail(blocks=264, blocks_per_sm=2, sms=132) == 1
    assert roofline.tail(blocks=133, blocks_per_sm=1, sms=132) == pytest.approx(264 / 133)


@pytest.mark.parametrize("size", ["1024", "4096"])
def test_the_estimate_ranks_the_first_steps_as_the_record_does(size):
    table = estimates(FIRST_STEPS, size, H200, lambda variant: HOT[variant.step.name])
    assert roofline.out_of_order(table) == []
    assert (table["limit"] == "shared memory and L1").all()
    assert abs(table["error"].iloc[-1]) < 0.3
    # A bound from below: what it leaves out can only take longer.
    assert (table["error"] < 0).all()


def test_the_conflicts_of_joined_reads_take_as_long_as_recorded():
    step = gemm_kernels.LADDER.step("tiled_transposed")
    ladder = replace(gemm_kernels.LADDER, steps=(step,))
    # The hot loop that the x-ray finds for sm_90: every read is one of four that are merged.
    joined = HotLoopCounts(108, 32, {128: 16}, waits=4)
    (row,) = estimates(ladder, "4096", H200, lambda _: joined).itertuples()
    assert row.limit == "shared memory and L1"
    assert -0.1 < row.error < 0


def test_a_whole_last_wave_takes_longer():
    even = estimates(FIRST_STEPS, "1024", H200, no_machine_code)
    waves = estimates(FIRST_STEPS, "1024", H200, no_machine_code, with_tail=True)
    # 1024 blocks, of which 264 run at once.
    ratio = waves["estimate_ms"] / even["estimate_ms"]
    assert ratio["tiled TILE=32"] == pytest.approx(4 * 264 / 1024)


def test_the_estimate_of_a_ceiling_is_its_record():
    ladder = latency_kernels.LADDER
    (row,) = estimates(
        replace(ladder, steps=(ladder.step("l2_read"),)), "2^28", H200, no_machine_code
    ).itertuples()
    assert row.limit == "L2"
    assert abs(row.error) < 0.05


def test_pairs_in_the_wrong_order_are_named():
    table = pd.DataFrame({"estimate_ms": [1, 2, 3], "recorded_ms": [5, 9, 7]}, index=[*"abc"])
    assert roofline.out_of_order(table) == [("b", "c")]


def test_what_was_not_recorded_is_said():
    with pytest.raises(CourseError, match=r"recorded for SGEMM .* at 48×48×48 on NVIDIA"):
        estimates(gemm_kernels.LADDER, "48", H200)


def test_the_ideal_intensity_of_a_square_product_is_a_sixth_of_its_side():
    table = points(FIRST_STEPS, "4096", H200.name)
    assert list(table["label"]) == ["naive", "tiled"]
    assert list(table["intensity"]) == pytest.approx([4096 / 6] * 2)
    frame = records.measured("H200", "gemm").query("m == 4096 and step == 'tiled'")
    assert table["gflops"].iloc[1] == pytest.approx(frame["gflops"].max(), rel=1e-4)


def test_counted_bytes_give_the_intensity_at_the_l2_cache():
    table = points(FIRST_STEPS, "1024", H200.name, "L2", no_machine_code)
    # The tile of 32×32 reads each of its 64 rows and columns once; c is small in comparison.
    assert table["intensity"].iloc[1] == pytest.approx(2 * 32 * 32 / (64 * 4), rel=0.05)
    assert (table["intensity"] < 1024 / 6).all()


def test_a_sum_has_one_addition_for_four_bytes():
    if H200.name not in records.recorded_devices("reduce"):
        pytest.skip("Not recorded yet: python -m reduce_kernels --record, on a GPU.")
    table = points(reduce_kernels.LADDER, "2^28", H200.name)
    assert set(table["intensity"]) == {0.25}


def test_the_ceilings_of_the_processor_are_measured_here():
    ceilings = roofline.cpu_ceilings(mib=2, n=64)
    assert ceilings.gflops > 0.01
    assert 0.01 < ceilings.gb_per_s["DRAM"] < 10_000
    assert "measured here" in ceilings.where


def test_the_x_ray_finds_the_hot_loop():
    pytest.importorskip("gpu_xray")
    loop = roofline.hot_loop_of(TILED)
    if loop is None:
        pytest.skip("needs the compiler")
    assert loop.ffma == 32
    assert set(loop.shared_loads) == {32, 128}
    assert math.isclose(loop.instructions, HOT["tiled"].instructions, rel_tol=0.2)
