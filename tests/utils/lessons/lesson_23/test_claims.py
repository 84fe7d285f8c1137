"""Check the figures and comparisons in lesson 23 against counts and records."""

from functools import partial
from math import gcd

import pytest

from labs.exercises.ldmatrix_wavefronts.formula import right
from tensor_kernels import LADDER
from tensor_kernels.mma_naive import M, N
from tensor_kernels.mma_pipelined import WM, WN
from tensor_kernels.parts.swizzles import CHUNK, CHUNKS_OF_ALL_BANKS, swizzle
from tests import quotes
from utils import lessons as course
from utils.ladder.problems import draw
from utils.lessons.lesson_23 import bank_rows, feeding, stages
from utils.lessons.recorded import record_of
from utils.machine.devices import REFERENCE, find
from utils.measuring import records

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
    says("It loads {}×{} parts of the tile. A row of a part is a **chunk** of eight float16, {} "
         "bytes", PART, PART, PART * FLOAT16)  # fmt: skip
    lanes = range(PART)
    says("loads four such parts, {}×{} elements. Lanes {} to {} give the chunks of the first part, "
         "lanes {} to {} those of the second", 2 * PART, 2 * PART, lanes[0], lanes[-1], PART,
         2 * PART - 1)  # fmt: skip
    says("Shared memory has {} banks of four bytes. A chunk takes four neighbouring banks, and "
         "eight chunks can take all {}", BANKS, BANKS)  # fmt: skip
    says("Eight rows over {} banks", BANKS)


def test_the_step_has_four_warps_of_64_by_64():
    assert BM // WM * (BN // WN) == 4
    says("computes {}×{} of `c`, and each warp {}×{}. The tile of `a` is {}×{} and that of `b` is "
         "{}×{}", BM, BN, WM, WN, BM, BK, BK, BN)  # fmt: skip
    says("For {} steps of k a warp loads its {}×{} of `a` by four `ldmatrix_x4`, and its {}×{} of "
         "`b` by four more", 2 * PART, WM, 2 * PART, 2 * PART, WN)  # fmt: skip
    assert WM // 16 == WN // 8 // 2 == 4


def test_a_swizzle_removes_five_of_six_wavefronts():
    before, after = feeding.wavefronts(feeding.SHARED), feeding.wavefronts(feeding.SWIZZLED)
    assert (before["sa"], before["sb"]) == (4 * right(BK), 4 * right(BN))
    assert after == {"sa": 4, "sb": 4}
    explains("23.fewer", "Rows of a have {} elements: {} wavefronts per part, {:g} in all. Rows "
             "of b have {}: {} per part, {:g} in all. Swizzled both need "
             "{:g}. Together {:g} become {:g}.", BK, right(BK), before["sa"], BN, right(BN),
             before["sb"], after["sa"], sum(before.values()), sum(after.values()))  # fmt: skip
    assert feeding.times_fewer() == pytest.approx(sum(before.values()) / sum(after.values()))


def test_the_pictures_show_the_banks_of_the_formula():
    for columns in bank_rows.LENGTHS:
        groups = [bank_rows.group_of(row, columns) for row in range(PART)]
        assert max(groups.count(group) for group in groups) == right(columns)
        assert right(columns) == gcd(columns // PART, PART)
    says("In the picture chunk {} of each row is orange", bank_rows.ASKED)
    assert len({bank_rows.swizzled(row, bank_rows.ASKED) for row in range(PART)}) == PART
    place = swizzle(BK).py_func
    assert [place(row, 0) // PART for row in range(PART)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert CHUNK == CHUNKS_OF_ALL_BANKS
    says("`CHUNK` and `CHUNKS_OF_ALL_BANKS` are {}", CHUNK)
    says("rows of {} bytes change their order only after every second row, because two of them "
         "are side by side in the {} banks", FLOAT16 * BK, BANKS)  # fmt: skip


def test_the_swizzle_saves_more_than_its_wavefronts():
    shared, swizzled = ms["mma_shared"], ms["mma_swizzled"]
    need, less = feeding.wavefronts_ms(feeding.SHARED), feeding.wavefronts_ms(feeding.SWIZZLED)
    naive, millions = ms["mma_naive"], feeding.wavefronts_in_millions(feeding.SHARED)
    says("At {} on an H200 `mma_naive` takes {:.2f} ms and `mma_shared` {:.2f} ms: the tiles make "
         "the product {:.1f} times as fast", SIDE, naive, shared, naive / shared)  # fmt: skip
    says("need {:.0f} million wavefronts. If each of {} SMs does one per cycle at {:.2f} GHz, they "
         "take {:.2f} ms of it", millions, H200.sms, H200.boost_clock_mhz / 1e3, need)  # fmt: skip
    assert need == pytest.approx(millions / H200.sms / H200.boost_clock_mhz * 1e3)
    explains("23.speed", "The wavefronts of ldmatrix alone need {:.2f} ms of {:.2f} before, and "
             "{:.2f} ms of {:.2f} after: {:.2f} ms less. The time falls by {:.2f} ms. What is "
             "left, {:.2f} ms, is mostly not the time of wavefronts.", need, shared, less,
             swizzled, need - less, shared - swizzled, swizzled)  # fmt: skip
    assert need - less < shared - swizzled < 1.5 * (need - less)
    assert less < swizzled / 4


def test_three_stages_fill_what_a_kernel_may_declare():
    assert tile_bytes(stages.STAGES) == 48 * 1024
    says("Three stages of {}×{} and {}×{} float16 take {} KiB", BM, BK, BK, BN,
         tile_bytes(stages.STAGES) // 1024)  # fmt: skip
    says("would need {} KiB", tile_bytes(stages.STAGES + 1) // 1024)


def test_neither_wavefronts_nor_tensor_cores_explain_the_pipeline():
    wavefronts = feeding.wavefronts_ms(LADDER.step("mma_pipelined"))
    cores = FLOPS / H200.tensor_gflops / 1e6
    says("Of the {:.3f} ms the wavefronts of `ldmatrix` need {:.2f} ms, and the tensor cores at "
         "least {:.2f} ms by the data sheet", stages_ms(3), wavefronts, cores)  # fmt: skip
    assert max(wavefronts, cores) < stages_ms(3) / 2


def test_the_kernel_to_repair_multiplies_a_tile_two_iterations_behind():
    says("which begins {} columns earlier", stages.AHEAD * 2 * PART)


def test_the_inputs_of_the_record_are_uniform():
    frame = records.measured(H200.name, "tensor")
    assert set(frame["inputs"]) == {"uniform"}
    one = draw("uniform", (64, 64), 0)
    says("random inputs between −{:.0f} and {:.0f}", -one.min(), one.max())


def test_empty_groups_are_needed():
    assert stages.outcome(stages.late_run()) == "it reads too early"
    assert "leaves 1 group in flight" in str(stages.late_run().findings[0])
    explains("23.commit", "Without empty groups the group of the last tile stays the newest one "
             "until that tile is read. wait_copies({}) leaves the newest group in flight, and "
             "ldmatrix reads it.", stages.AHEAD - 1)  # fmt: skip


def test_the_pipeline_reaches_more_than_half_of_the_library():
    record = record_of(LADDER.step("mma_pipelined"), str(SIDE))
    says("With three stages `mma_pipelined` takes {:.3f} ms, so it is {:.1f} times as fast as "
         "`mma_swizzled`", stages_ms(3), ms["mma_swizzled"] / stages_ms(3))  # fmt: skip
    says("With two stages it takes {:.3f} ms. At {} it reaches {:.3f} of the speed of cuBLAS, and "
         "{:.0f} % of the peak", stages_ms(2), SIDE, record.library_ratio,
         100 * FLOPS / stages_ms(3) / 1e6 / H200.tensor_gflops)  # fmt: skip
    says("`mma_m16n8k16`, with {} steps of k", 2 * PART)
    says("`STAGES` is {}. `AHEAD`, which is {}, is the number of tiles that are copied ahead, and "
         "`PENDING`, which is {}", stages.STAGES, stages.AHEAD, stages.AHEAD - 1)  # fmt: skip
    times = list(ms.values())
    assert times == sorted(times, reverse=True)


def test_the_curve_has_a_low_begin_and_an_open_question():
    sides = records.measured(H200.name, "tensor")["m"]
    first, last = int(sides.min()), int(sides.max())
    small = {name: course.recorded_ms(LADDER.step(name), str(first)) for name in feeding.STEPS}
    assert small["mma_naive"] < small["mma_shared"]
    says("At {} there are only {} blocks of {}×{}, so most of the {} SMs", first,
         first // BM * (first // BN), BM, BN, H200.sms)  # fmt: skip
    names = ("mma_pipelined", "mma_bfloat16")
    fallen, kept = (record_of(LADDER.step(name), str(last)) for name in names)
    says("at {} `mma_pipelined` falls to {:.0f} TFLOP/s, and `mma_bfloat16` keeps {:.0f}. The "
         "measurements of `mma_pipelined` are between {:.2f} and {:.2f} ms there", last,
         fallen.gflops / 1e3, kept.gflops / 1e3, fallen.time_ms_min,
         fallen.time_ms_max)  # fmt: skip


def test_the_exercises_have_their_answers():
    swizzled_row, row_of_b = PART * PART, BN
    single = [one for one in range(swizzled_row, row_of_b, PART) if right(one) == 1]
    says("between {} and {} elements", swizzled_row, row_of_b)
    says("{}, {}, {} and {} elements: their rows have an odd number of chunks", *single)
    half = [row % 4 for row in range(PART)]
    alike = [row for row in range(PART) if half[row] == half[0]]
    says("It takes {} wavefronts. Rows {} and {} have the same order again", 4 * len(alike), *alike)
