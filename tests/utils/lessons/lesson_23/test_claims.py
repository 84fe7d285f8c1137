"""Check the figures and comparisons in lesson 23 against counts and records."""

from functools import partial
from math import gcd, prod

import numpy as np
import pytest
from numba import cuda, uint32
from numba.types import float16

from labs import EXERCISES
from labs.exercises.ldmatrix_wavefronts.formula import right
from tensor_kernels import LADDER
from tensor_kernels.mma_naive import K, M, N
from tensor_kernels.mma_pipelined import WM, WN
from tensor_kernels.parts.swizzles import CHUNK, CHUNKS_OF_ALL_BANKS, swizzle
from tests import quotes
from utils import lessons as course
from utils.figures.fragments import cells_of
from utils.intrinsics.tensor import ldmatrix_x4
from utils.ladder.problems import draw
from utils.lessons.lesson_22 import limits
from utils.lessons.lesson_23 import (
    bank_rows,
    feeding,
    four_parts,
    machine_code,
    mma_alone,
    stages,
)
from utils.lessons.recorded import record_of
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records
from virtual_gpu import trace
from virtual_gpu.numbers.fragments import element_of_a

SIDE = 4096
FLOPS = 2 * SIDE**3
BANKS, FLOAT16 = 32, 2  # bytes of an element
BM, BN, BK = (LADDER.step("mma_shared").choices[name][0] for name in ("BM", "BN", "BK"))
PART = 8  # rows and columns of one part
H200 = find(REFERENCE)
ms = {name: course.recorded_ms(LADDER.step(name), str(SIDE)) for name in feeding.STEPS}
says = partial(quotes.says, "23")
explains = quotes.explains


def stages_ms(count: int) -> float:
    """Return the recorded time of mma_pipelined with this number of stages."""
    step = LADDER.step("mma_pipelined")
    return course.recorded_ms(step.variant(BM=BM, BN=BN, BK=BK, STAGES=count), str(SIDE))


def tile_bytes(count: int) -> int:
    return count * FLOAT16 * (BM * BK + BK * BN)


def test_the_first_sentence_has_the_peak_and_the_share_of_it():
    says("multiply at up to {:.0f} TFLOP/s, and the kernel of [lesson 22](22_one_warp_multiplies."
         "ipynb) uses {:.1f} % of that", H200.tensor_gflops / 1e3,
         100 * FLOPS / ms["mma_naive"] / 1e6 / H200.tensor_gflops)  # fmt: skip
    major, minor = LADDER.step("mma_pipelined").capability
    says("needs a GPU of compute capability {}.{}", major, minor)


def test_a_part_is_eight_chunks_of_16_bytes():
    says("two bytes per lane")
    says("once per block of {}×{}, not once per warp of {}×{}", BM, BN, M, N)
    says("Eight float16 of a row, {} bytes, are a **chunk**", PART * FLOAT16)
    lanes = range(PART)
    says("loads four **parts** of {}×{} elements", PART, PART)
    part_of = [lane // PART for lane in (0, PART)]
    says("Lanes {} to {} name the chunks of part {}, lanes {} to {} those of part {}", lanes[0],
         lanes[-1], part_of[0], PART, 2 * PART - 1, part_of[1])  # fmt: skip
    says("Shared memory has {} banks of four bytes", BANKS)
    says("Eight chunks can take all {}", BANKS)
    says("loads four {}×{} parts of a tile, {}×{} elements", PART, PART, 2 * PART, 2 * PART)
    says("Eight rows over {} banks", BANKS)
    numbers = range(four_parts.OF_A)
    first, second = numbers[: M * K // 32], numbers[M * K // 32 :]
    says("Numbers {} to {} are its fragment of lesson 22, for eight steps of k, and {} to {} are "
         "the fragment for the next eight: two `mma` use them", first[0], first[-1], second[0],
         second[-1])  # fmt: skip


def test_the_step_has_four_warps_of_64_by_64():
    assert BM // WM * (BN // WN) == 4
    says("computes {}×{} of `c`, so `BM` and `BN` are {}. The tile of `a` is {}×{} and that of `b` "
         "is {}×{}: `BK` is {}", BM, BN, BN, BM, BK, BK, BN, BK)  # fmt: skip
    down, across = WM // M, WN // N
    says("`ACROSS` is {}: two warps are side by side. Each warp computes `WM`×`WN` = {}×{}, as "
         "{}×{} products of {}×{}, and a lane has four sums of each: {} registers", BN // WN, WM,
         WN, down, across, M, N, 4 * down * across)  # fmt: skip
    says("For {} steps of k, `load_fragments` loads `MT` = {} times {}×{} of `a` and `NT` = {} "
         "times {}×{} of `b`", 2 * PART, down, M, 2 * PART, across, 2 * PART, N)  # fmt: skip
    says("rows of {} elements in the tile of `a`, and of {} in that of `b`", BK, BN)
    says("For {} steps of k a warp loads its {}×{} of `a` by four `ldmatrix_x4`, and its {}×{} of "
         "`b` by four more", 2 * PART, WM, 2 * PART, 2 * PART, WN)  # fmt: skip
    assert WM // 16 == WN // 8 // 2 == 4


@pytest.mark.slow
def test_a_swizzle_removes_five_of_six_wavefronts():
    before, after = feeding.wavefronts(feeding.SHARED), feeding.wavefronts(feeding.SWIZZLED)
    assert (before["sa"], before["sb"]) == (4 * right(BK), 4 * right(BN))
    assert after == {"sa": 4, "sb": 4}
    explains("23.fewer", "Rows of a have {} elements: {} wavefronts per part, {:g} in all. Rows "
             "of b have {}: {} per part, {:g} in all. Without conflicts both need {:g}. Together "
             "{:g} become {:g}.", BK, right(BK), before["sa"], BN, right(BN), before["sb"],
             after["sa"], sum(before.values()), sum(after.values()))  # fmt: skip
    assert feeding.times_fewer() == pytest.approx(sum(before.values()) / sum(after.values()))


def test_the_pictures_show_the_banks_of_the_formula():
    for columns in bank_rows.LENGTHS:
        groups = [bank_rows.group_of(row, columns) for row in range(PART)]
        assert max(groups.count(group) for group in groups) == right(columns)
        assert right(columns) == gcd(columns // PART, PART)
    for columns, chunk in ((PART**2, bank_rows.ASKED), (BK, 1)):
        moved = [bank_rows.group_of(row, columns, chunk, swizzled=True) for row in range(PART)]
        assert sorted(moved) == list(range(PART))
    says("Drag the slider through the eight chunks")
    place = swizzle(BK).py_func
    assert [place(row, 0) // PART for row in range(PART)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert CHUNK == CHUNKS_OF_ALL_BANKS
    says("`CHUNK` and `CHUNKS_OF_ALL_BANKS` are {}", CHUNK)
    says("A row of the tile of `a` has {} elements, {} bytes, so two rows are side by side in the "
         "{} banks. They differ already, and the order changes only after every second row", BK,
         FLOAT16 * BK, BANKS)  # fmt: skip


@pytest.mark.slow
def test_the_swizzle_saves_more_than_its_wavefronts():
    shared, swizzled = ms["mma_shared"], ms["mma_swizzled"]
    need, less = feeding.wavefronts_ms(feeding.SHARED), feeding.wavefronts_ms(feeding.SWIZZLED)
    naive, millions = ms["mma_naive"], feeding.wavefronts_in_millions(feeding.SHARED)
    says("At {} on an H200 `mma_naive` takes {:.2f} ms and `mma_shared` {:.2f} ms: the tiles make "
         "the product {:.1f} times as fast", SIDE, naive, shared, naive / shared)  # fmt: skip
    says("need {:.0f} million wavefronts. If each of {} SMs does one per cycle at {:.2f} GHz, they "
         "take {:.2f} ms of it", millions, H200.sms, H200.boost_clock_mhz / 1e3, need)  # fmt: skip
    assert need == pytest.approx(millions / H200.sms / H200.boost_clock_mhz * 1e3)
    says("`mma_swizzled` needs a sixth of them, so {:.2f} ms of wavefronts are gone", need - less)
    says("Does the swizzle save less than {:.2f} ms, about as much within {:.0f} %", need - less,
         100 * feeding.ABOUT)  # fmt: skip
    assert need == pytest.approx(6 * less)
    assert feeding.saved() == "more"
    explains("23.speed", "The wavefronts of ldmatrix alone need {:.2f} ms of {:.3f} before, and "
             "{:.2f} ms of {:.3f} after: {:.2f} ms less. The time falls by {:.2f} ms, which is "
             "more: other work became faster, too, or waited for the wavefronts.", need, shared,
             less, swizzled, need - less, round(shared, 3) - round(swizzled, 3))  # fmt: skip
    filling = feeding.filling_ms(feeding.SWIZZLED)
    assert filling == feeding.filling_ms(feeding.SHARED)
    says("<code>mma_swizzled</code> is {:.1f} times as fast as <code>mma_shared</code>. Of its "
         "{:.3f} ms the wavefronts of <code>ldmatrix</code> need {:.2f} ms, and those that fill "
         "the tiles {:.2f} ms", feeding.speedup(), swizzled, less, filling)  # fmt: skip
    steps = (feeding.SWIZZLED, feeding.SHARED)
    registers = [record_of(step, str(SIDE)).registers for step in steps]
    others = [machine_code.loop_of(step).others_per_hmma for step in steps]
    says("<code>mma_swizzled</code> has {} registers per thread and {:.1f} other instructions per "
         "<code>mma</code>, and <code>mma_shared</code> has {} and {:.1f}. So we cannot say which "
         "part of the {:.2f} ms", registers[0], others[0], registers[1], others[1],
         round(shared, 3) - round(swizzled, 3))  # fmt: skip
    assert need - less < shared - swizzled < 1.5 * (need - less)
    assert less < swizzled / 4


def test_three_stages_fill_what_a_kernel_may_declare():
    assert tile_bytes(stages.STAGES) == 48 * 1024
    says("Three stages of {}×{} and {}×{} float16 take {} KiB", BM, BK, BK, BN,
         tile_bytes(stages.STAGES) // 1024)  # fmt: skip


def test_registers_limit_the_blocks_and_shared_memory_does_not():
    step = LADDER.step("mma_pipelined")
    record = record_of(step, str(SIDE))
    limits, warps = limits_of(H200.compute_capability), 4
    unit = limits.register_unit
    of_warp = -(-record.registers * 32 // unit) * unit
    held = occupancy(H200.compute_capability, 32 * warps, record.registers, record.shared_bytes)
    assert (
        machine_code.blocks_of(step)
        == held.blocks
        == limits.registers_per_sm // (warps * of_warp)
        == 2
    )
    assert (held.limit, held.room["shared memory"]) == (("registers",), 4)
    says("Each of the {} threads of a block has {} registers, and {} of them are sums", 32 * warps,
         record.registers, WM * WN // 32)  # fmt: skip
    says("an SM of an H200 has {:,} registers, given to warps in units of {}, and {} KiB of shared "
         "memory, of which the system takes {} KiB", limits.registers_per_sm, unit,
         limits.shared_kib_per_sm, limits.shared_reserved_bytes // 1024)  # fmt: skip
    explains("23.blocks", "A warp gets {} · {} registers, rounded up to {:,}. Four warps take {:,} "
             "of {:,}: two blocks fit. Shared memory would hold four blocks: each "
             "takes {} KiB, and {} KiB for the system, of {} KiB.", record.registers, 32, of_warp,
             warps * of_warp, limits.registers_per_sm, record.shared_bytes // 1024,
             limits.shared_reserved_bytes // 1024, limits.shared_kib_per_sm)  # fmt: skip
    assert {machine_code.blocks_of(LADDER.step(name)) for name in feeding.STEPS[1:]} == {2}


def test_the_pipeline_starts_fewer_instructions_and_gains_more_than_the_swizzle():
    swizzled, pipelined = map(machine_code.loop_of, (feeding.SWIZZLED, machine_code.PIPELINED))
    operations = 4096  # of an SM of the data sheet, per cycle
    assert (swizzled.size, pipelined.size) == ((M, N, K), (M, N, 2 * K))
    started = [2 * K / loop.size[2] * (1 + loop.others_per_hmma) for loop in (pipelined, swizzled)]
    says("for {} steps of k <code>mma_pipelined</code> starts {:.1f} per product of {}×{}, and "
         "<code>mma_swizzled</code> {:.1f}", 2 * K, started[0], M, N, started[1])  # fmt: skip
    before, after = map(machine_code.needs_of, (feeding.SWIZZLED, machine_code.PIPELINED))
    says("At {} `mma_swizzled` takes {:.3f} ms. The tensor cores alone would need {:.2f} ms of "
         "it, at the {:.2f} GHz of the data sheet. At {:.2f} GHz the wavefronts of `ldmatrix` need "
         "{:.2f} ms, those that fill the tiles {:.2f} ms, and the schedulers {:.2f} ms", SIDE,
         ms["mma_swizzled"], before["tensor cores, data sheet"],
         H200.tensor_gflops / H200.sms / operations, H200.boost_clock_mhz / 1e3,
         *list(before.values())[1:])  # fmt: skip
    says("saves {:.2f} ms of instructions, and the time falls by {:.2f} ms",
         before["start of all instructions"] - after["start of all instructions"],
         ms["mma_swizzled"] - ms["mma_pipelined"])  # fmt: skip
    assert machine_code.compared_gain() == "more"
    says("The swizzle made the product {:.1f} times as fast. Does `mma_pipelined` gain less, about "
         "as much within {:.0f} %", feeding.speedup(), 100 * feeding.ABOUT)  # fmt: skip
    sums = [sum(one.values()) for one in (before, after)]
    explains("23.gain", "Even without any waiting, the four parts one after the other would take "
             "{:.2f} ms: {:.1f} times as fast. {:.3f} ÷ {:.3f} is {:.1f}. The own parts of "
             "mma_pipelined add up to {:.2f} ms, so they overlap.", sums[0],
             ms["mma_swizzled"] / sums[0], ms["mma_swizzled"], ms["mma_pipelined"],
             machine_code.gain(), sums[1])  # fmt: skip
    assert sums[1] > 1.1 * ms["mma_pipelined"]  # also if the tensor cores run at the higher clock


def test_the_picture_of_the_parts_shows_what_ldmatrix_does():
    places = np.arange(256, dtype=np.float16).reshape(16, 16)
    seen = np.zeros((32, 8), np.float32)
    trace(parts_of_lanes, 1, 32, places, seen)
    for lane in range(32):
        drawn = cells_of(element_of_a, lane, four_parts.OF_A)
        assert list(seen[lane]) == [places[cell] for cell in drawn]


@cuda.jit
def parts_of_lanes(places, seen):
    tile = cuda.shared.array((16, 16), float16, alignment=16)
    of_a = cuda.local.array(8, float16)
    lane = uint32(cuda.threadIdx.x)
    for e in range(lane, 256, 32):
        tile[e // 16, e % 16] = places[e // 16, e % 16]
    cuda.syncthreads()
    ldmatrix_x4(of_a, tile, (lane % 16, lane // 16 * 8))
    for i in range(8):
        seen[lane, i] = of_a[i]


@pytest.mark.slow
def test_neither_wavefronts_nor_tensor_cores_explain_the_pipeline():
    step = LADDER.step("mma_pipelined")
    wavefronts = feeding.wavefronts_ms(step) + feeding.filling_ms(step)
    cores = mma_alone.product_ms()
    says("the tensor cores need {:.2f} ms for the product, and its wavefronts take {:.2f} ms. One "
         "after the other, they would take only {:.1f} times the {:.3f} ms of `mma_pipelined`",
         cores, wavefronts, (cores + wavefronts) / stages_ms(3), stages_ms(3))  # fmt: skip
    assert max(wavefronts, cores) < 0.6 * stages_ms(3)
    sums = WM * WN // 32
    says("give each warp {}×{} of `c`. Its sums take {} registers per lane instead of {}", WM,
         WN // 2, sums // 2, sums)  # fmt: skip
    warps = machine_code.blocks_of(step) * 4
    assert mma_alone.best().warps == warps == 2 * limits_of(H200.compute_capability).sub_partitions


def test_mma_alone_is_slower_than_the_data_sheet_says():
    latency, peak = mma_alone.latency(), mma_alone.cycles_at_the_peak()
    m, n, k = machine_code.SIZES["16816"]
    says("each `mma` waits for the one before, and one starts every {:.1f} cycles. At the peak a "
         "scheduler would start an `mma` of {}×{}×{} every {:g} cycles", latency, m, n, k,
         peak)  # fmt: skip
    says("to start one every {:g} cycles", peak)
    assert mma_alone.needed() == 7
    assert mma_alone.OPERATIONS == limits.OPERATIONS  # of lesson 22, and of the data sheet
    assert 6 * peak < latency < 7 * peak  # "six are too few, and seven may do"
    products = WM // M * (WN // N)
    assert mma_alone.in_flight_of_pipelined() == 2 * products
    explains("23.in_flight", "With n in flight, one starts every {:.1f} ÷ n cycles. {:.1f} ÷ {:g} "
             "is {:.1f}: six are too few, and seven may do. mma_pipelined has {}: two warps per "
             "scheduler, with {} products of {}×{} each.", latency, latency, peak, latency / peak,
             2 * products, products, M, N)  # fmt: skip
    best = mma_alone.best()
    share = record_of(LADDER.step("mma_pipelined"), str(SIDE)).efficiency / best.efficiency
    says("the curves become flat at {:.0f} % of the peak, with one `mma` every {:.1f} cycles",
         100 * best.efficiency, mma_alone.cycles_per_mma(best))  # fmt: skip
    says("Compared with that, `mma_pipelined` reaches {:.0f} %", 100 * share)
    last = [row for row in mma_alone.rates() if mma_alone.in_flight(row) > 8]
    assert all(row.efficiency > 0.97 * best.efficiency for row in last)  # "flat"


def test_cublas_has_another_kind_of_kernel():
    library = mma_alone.library_kernel()
    share, (major, minor) = feeding.shares()["cuBLAS"], H200.compute_capability
    says("cuBLAS reaches {:.0f} %, which `mma` cannot", 100 * share)
    assert share > 1.1 * mma_alone.best().efficiency
    assert prod(library.grid) == H200.sms
    says("There is one block for each of the {} SMs. A block computes {:,.0f} elements of `c` on "
         "average, and one of ours {:,}", H200.sms, SIDE**2 / H200.sms, BM * BN)  # fmt: skip
    says("The kernel's name begins with `nvjet_sm{}{}`", major, minor)
    assert library.kernel.startswith(f"nvjet_sm{major}{minor}")


def test_the_wavefronts_that_fill_tiles_are_those_of_all_blocks_and_tiles():
    tiles = SIDE // BK
    per_tile = (BM * BK + BK * BN) * FLOAT16 / (4 * BANKS)  # 128 bytes in each
    blocks = SIDE // BM * (SIDE // BN)
    per_ms = H200.sms * H200.boost_clock_mhz * 1e3
    ahead = {"mma_swizzled": 0, "mma_pipelined": stages.AHEAD}  # tiles beyond k, which are zeros
    for name, more in ahead.items():
        filling = feeding.filling_ms(LADDER.step(name))
        assert filling == pytest.approx(blocks * (tiles + more) * per_tile / per_ms)


def test_the_kernel_to_repair_multiplies_a_tile_two_iterations_behind():
    says("which begins {} columns earlier", stages.AHEAD * 2 * PART)
    one, back, on = stages.STAGES, -stages.AHEAD, 1
    says("with three stages `(tile - {}) % {}` is `(tile + {}) % {}`", -back, one, on, one)
    assert all((tile + back) % one == (tile + on) % one for tile in range(9))


def test_the_inputs_of_the_record_are_uniform():
    frame = records.measured(H200.name, "tensor")
    assert set(frame["inputs"]) == {"uniform"}
    one = draw("uniform", (64, 64), 0)
    says("random inputs between −{:.0f} and {:.0f}", -one.min(), one.max())


def test_empty_groups_are_needed():
    traced = stages.run(stages.late_commit(EXERCISES["stage_ready"].solution))
    assert stages.outcome(traced) == "it reads too early"
    assert "leaves 1 group in flight" in str(traced.findings[0])
    explains("23.commit", "Without empty groups the group of the last tile stays the newest one "
             "until that tile is read. wait_copies({}) leaves the newest group in flight, and "
             "ldmatrix reads it.", stages.AHEAD - 1)  # fmt: skip


def test_the_pipeline_reaches_more_than_half_of_the_library():
    record = record_of(LADDER.step("mma_pipelined"), str(SIDE))
    three, swizzled = stages_ms(3), ms["mma_swizzled"]
    says("With three stages <code>mma_pipelined</code> takes {:.3f} ms, so it is {:.1f} times as "
         "fast as <code>mma_swizzled</code>", three, swizzled / three)  # fmt: skip
    says("With two stages it takes {:.3f} ms. At {} it reaches {:.3f} of the speed of cuBLAS, and "
         "{:.0f} % of the peak", stages_ms(2), SIDE, record.library_ratio,
         100 * FLOPS / stages_ms(3) / 1e6 / H200.tensor_gflops)  # fmt: skip
    says("does the same with tiles of {}×{} and {}×{}", BM, BK, BK, BN)
    says("`mma_m16n8k16`, with {} steps of k", 2 * PART)
    says("`STAGES` is {}. `AHEAD`, which is {}, is the number of tiles that are copied ahead, and "
         "`PENDING`, which is {}", stages.STAGES, stages.AHEAD, stages.AHEAD - 1)  # fmt: skip
    times = list(ms.values())
    assert times == sorted(times, reverse=True)


def test_the_curve_has_an_open_question():
    sides = records.measured(H200.name, "tensor")["m"]
    last = int(sides.max())
    names = ("mma_pipelined", "mma_bfloat16")
    both = [[course.recorded_ms(LADDER.step(name), str(n)) for n in sorted(set(sides))[:-1]]
            for name in names]  # fmt: skip
    assert both[0] == pytest.approx(both[1], rel=0.02)
    says("Up to {} the curve of `mma_pipelined` covers its own", sorted(set(sides))[-2])
    fallen, kept = (record_of(LADDER.step(name), str(last)) for name in names)
    says("at {} `mma_pipelined` falls to {:.0f} % of the peak, and `mma_bfloat16` keeps {:.0f} %. "
         "The measurements of `mma_pipelined` are between {:.2f} and {:.2f} ms there", last,
         100 * fallen.efficiency, 100 * kept.efficiency, fallen.time_ms_min,
         fallen.time_ms_max)  # fmt: skip


def test_the_exercises_have_their_answers():
    swizzled_row, row_of_b = PART * PART, BN
    single = [one for one in range(swizzled_row, row_of_b, PART) if right(one) == 1]
    says("between {} and {} elements", swizzled_row, row_of_b)
    says("{}, {}, {} and {} elements: their rows have an odd number of chunks", *single)
    half = [row % 4 for row in range(PART)]
    alike = [row for row in range(PART) if half[row] == half[0]]
    says("It takes {} wavefronts. Rows {} and {} have the same order again", 4 * len(alike), *alike)
