"""Check the claims of lesson 13 against counts, machine code and records."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from labs.exercises import find as exercise
from tests import quotes
from utils import lessons as course
from utils.lessons.bounds import ON_CHIP, bounds_of
from utils.lessons.lesson_13.step_wavefronts import draw_step_wavefronts, wavefronts_of_step
from utils.lessons.lesson_13.transposed_tile import draw_transposed_tile
from utils.lessons.own_kernels import twins
from utils.lessons.shared_reads import SHAPE
from utils.machine.devices import REFERENCE, find
from utils.measuring import records
from utils.paths import DATA
from virtual_gpu import trace
from virtual_gpu.counts.transactions import BANKS, Pattern, wavefronts
from virtual_gpu.tests.kernels.counted import copy_fours, strided_copy

BLOCK = "128x128x16"
H200 = find(REFERENCE)
OLD = LADDER.step("register_blocked").variant(BM=128)
WIDE = LADDER.step("vectorized").variant(BK=8)
PREFETCH = LADDER.step("prefetch").variant()
TM, TN, BM, BN = (WIDE.constants[name] for name in ("TM", "TN", "BM", "BN"))
QUAD, WORD, WARP, SIZE = 4, 4, 32, 4096
STEP = TM * TN  # multiply-adds of a thread per step of k
says, explains = partial(quotes.says, "13"), quotes.explains
recorded = partial(course.recorded_ms, shape=str(SIZE))


@cache
def run_of(variant, shape=BLOCK):
    return course.watch(variant, shape)


def per_request(variant, tile, kind="load"):
    return course.per_request(run_of(variant), tile, "wavefronts", kind)


def alone(variant):
    """Return the ms that shared memory alone takes."""
    needed = course.wavefronts_per_multiply_add(run_of(variant, SHAPE))
    return course.shared_memory_ms(needed, str(SIZE))


# ---- four words side by side ----


def test_a_thread_needs_four_quads_for_a_step():
    says("**A thread needs {} words for {} multiply-adds: must it fetch them with {} loads?",
         TM + TN,
         STEP, TM + TN)  # fmt: skip
    says("a thread of [lesson 12](12_register_blocking.ipynb) needs {} words of `a` and {} "
         "words of "
         "`b`. These are four quads", TM, TN)  # fmt: skip
    assert (TM + TN) // QUAD == 4
    says("One instruction can move one word of {} bits per lane, or two, or four.", 8 * WORD)
    says("a shared array begins at a boundary of {} bytes", WORD * QUAD)
    says("They are {} bits, and they must begin at a multiple of four words.", 8 * WORD * QUAD)
    says("a thread computes {}×{} elements of c, and no GPU", TM, TN)


def test_each_word_of_a_tile_is_read_by_16_threads():
    says("Each word is stored once, but {} threads read it.", BN // TN)
    assert BN // TN == BM // TM
    alt = str(draw_transposed_tile())
    assert "four reads" in alt
    assert "one read of 128 bits" in alt


def test_a_wide_load_moves_as_many_sectors_with_a_quarter_of_the_requests():
    words = WARP * QUAD
    x, out = np.zeros((2, words), np.float32)
    wide = trace(copy_fours, 1, WARP, x, out).totals
    narrow = trace(strided_copy(1, 0), 1, words, x, out).totals
    requests, sectors = narrow["global_load_requests"], narrow["global_load_sectors"]
    assert wide["global_load_requests"] == 1
    assert requests == QUAD
    assert wide["global_load_sectors"] == sectors
    says("a warp needs four requests for {} neighbouring words, and each request brings {} sectors",
         words, sectors // requests)  # fmt: skip
    moved, sector = WORD * QUAD, 32
    explains("13.sectors",
             "A lane loads {} bytes, and {} lanes load {} bytes; a sector has {} bytes. "
             "So the request brings {} ÷ {} = {} sectors, as many as {} requests of {} sectors.",
             moved, WARP, moved * WARP, sector, moved * WARP, sector, sectors, requests,
             sectors // requests)  # fmt: skip


# ---- the turned store ----


def stored(name):
    kernel = exercise("row_gap").starter if name == "starter" else exercise("row_gap").solution
    x, out = np.zeros((BM, TM), np.float32), np.zeros((TM, BM), np.float32)
    return trace(kernel, 1, 256, x, out)


def test_without_a_gap_two_lanes_of_a_column_meet_in_a_bank():
    flat, gap = (stored(name) for name in ("starter", "solution"))
    count = int(course.per_request(flat, "tile", "wavefronts", "store"))
    assert count == 2
    assert course.per_request(gap, "tile", "wavefronts", "store") == 1
    words = np.array(flat.warp_access("tile", "store").addresses) // WORD
    apart, columns = words[1] - words[0], len(set(words % BM))
    assert len(set(words % BANKS)) == BANKS // 2 == columns
    assert list(words[:4]) == [0, apart, 1, apart + 1]
    says(
        "lanes {} and {} have the four words", words.tolist().index(0), words.tolist().index(apart)
    )
    says("Lanes {} and {} do the same in column {}", *np.flatnonzero(words % BM == 1), 1 * words[2])
    says("in column {} of the tile: lane {} in a row `z`, and lane {} four rows below.", words[0],
         words.tolist().index(0), words.tolist().index(apart))  # fmt: skip
    says("and so on up to column {}. Shared memory has {} banks.", columns - 1, BANKS)
    says("The bank of a word is its number in the tile, divided by {}: the remainder.", BANKS)
    explains("13.store",
             "Four rows are {} · {} = {} words, a multiple of {}, so both lanes of a column "
             "meet in "
             "one bank. The {} columns use {} banks, and each has {} words to take: {} wavefronts.",
             QUAD, BM, apart, BANKS, columns, columns, count, count)  # fmt: skip
    assert apart % BANKS == 0


def test_the_turned_tile_has_rows_of_132_words():
    x, out = np.zeros((BM, TM), np.float32), np.zeros((TM, BM), np.float32)
    seen = trace(exercise("turned_tile").solution, 1, 256, x, out)
    offsets = np.array(seen.warp_access("tile", "store").addresses) // WORD
    row = (offsets[1] - offsets[0]) // QUAD
    says("has rows of {} words, though only {} are used. Suppose that its rows had {} words", row,
         BM, BM)  # fmt: skip


# ---- the product ----


def test_ten_loads_of_a_step_become_four():
    assert {**OLD.constants, "BK": WIDE.constants["BK"]} == WIDE.constants
    says("here with a tile of {}×{} elements of c per block and {}×{} per thread", BM, BN, TM, TN)
    source = run_of(OLD).totals["shared_load_requests"] * WARP
    needed = source / course.counting.multiply_adds(run_of(OLD))
    reads = sum(count for count, _ in wavefronts_of_step(OLD).values())
    says("In the source both read {} words for {} multiply-adds, which is {:.2f}. In machine code "
         "`register_blocked` has {} loads: the compiler has joined the {} words of `b`",
         TM + TN, STEP, needed, reads, TN)  # fmt: skip
    says("It cannot join the {} words of `a`, because they are in a column. `vectorized` has {} "
         "loads.", TM, sum(count for count, _ in wavefronts_of_step(WIDE).values()))  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_the_compiler_makes_these_loads():
    shares = []
    for one in (OLD, WIDE):
        code = xray(one.kernel, one.step.signature, "sm_90")
        shares.append(code.bound)
        loads = sum(instruction.name == "LDS" for instruction in code.hot.body)
        expected = sum(count for count, _ in wavefronts_of_step(one).values())
        assert loads == expected * code.hot.ffma // STEP
    says("by a factor of {:.2f}", shares[1] / shares[0])
    mine = xray(exercise("wide_tiles").solution, WIDE.step.signature, "sm_90")
    steps = mine.hot.ffma // STEP
    assert steps == WIDE.constants["BK"]  # all of them are written out
    assert sum(one.opcode == "LDS.128" for one in mine.hot.body) == 4 * steps
    assert mine.spill_bytes == 0


def test_the_task_does_the_work_of_vectorized():
    assert twins()["wide_tiles"].variant == WIDE
    assert twins()["wide_tiles"].before == OLD
    says("The loop over `z` is a `while` with a number of {} bits", 8 * WORD)


def test_a_wide_read_serves_eight_lanes_and_sixteen_if_neighbours_agree():
    quads = np.arange(WARP) % 8
    eight = _wavefronts(quads)
    paired = _wavefronts(quads // 2)
    says("In one wavefront each of the {} banks delivers one word, so {} words at most. A wide "
         "read "
         "of a warp asks for up to {} words.", BANKS, BANKS, WARP * QUAD)  # fmt: skip
    per_part, with_pairs = WARP // eight, WARP // paired
    assert per_part == 8
    says("lanes {} to {}, then {} to {} and so on", 0 * per_part, per_part - 1, per_part,
         2 * per_part - 1)  # fmt: skip
    says("wants the same quad as the next lane, {} lanes are served at a time", with_pairs)


def _wavefronts(quads):
    first = (quads * QUAD * WORD)[None]
    return int(wavefronts(Pattern(first, np.ones_like(first, bool)), QUAD * WORD))


def test_the_reads_of_both_tiles():
    first = np.array(run_of(WIDE).warp_access("sb").addresses) // WORD
    of_a = np.array(run_of(WIDE).warp_access("sa").addresses) // WORD
    half = WARP // 2
    assert len(set(of_a[:half])) == len(set(of_a[half:])) == 1
    says("The {} threads of a row of the block want the same quad of `sa`, so the exception "
         "holds: a "
         "read of `sa` takes {:.0f} wavefronts.", half, per_request(WIDE, "sa"))  # fmt: skip
    says("lane {} wants the words {} to {} of a row of `sb`, lane {} the words {} to {}, lane "
         "{} the "
         "words {} to {}, and so on. Lanes {} to {} want the same words as lanes {} to {}.",
         0 * half, first[0], first[0] + QUAD - 1, half // half, first[1], first[1] + QUAD - 1,
         half // 8, first[2], first[2] + QUAD - 1, half, WARP - 1, 0 * half, half - 1)  # fmt: skip
    assert list(first[half:]) == list(first[:half])
    count, step = int(per_request(WIDE, "sb")), first[1] - first[0]
    assert first[4] % BANKS == first[0] % BANKS
    says(
        "Lanes {} and {} are served together, and want the words {} to {} and {} to {}.",
        0 * half,
        half // 4,
        first[0],
        first[0] + QUAD - 1,
        first[4],
        first[4] + QUAD - 1,
    )
    says("The reads of `sb` still take {} wavefronts each.", count)
    explains("13.read",
             "Neighbours want different quads, so {} lanes are served at a time, in {} parts. "
             "In each part lanes {} apart want words {} · {} = {} apart, in the same banks: "
             "{} · {} = {} wavefronts.",
             8 * half // half, WARP // 8, half // 4, half // 4, step, first[4] - first[0],
             WARP // 8, count // (WARP // 8), count)  # fmt: skip


def test_a_step_takes_32_wavefronts_and_then_20():
    """The profiler sees the joined loads of b; with 64×128 a thread reads as it does here."""
    old, wide = wavefronts_of_step(OLD), wavefronts_of_step(WIDE)
    says("both are in the same bank, so such a load takes {} wavefronts", old["sa"][1])
    words = np.unique(np.array(run_of(OLD).warp_access("sa").addresses) // WORD)
    assert len(words) == 2
    assert len(set(words % BANKS)) == 1
    assert old["sb"] == wide["sb"]
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv")
    counted = rows.set_index(["launch", "counter"])["value"]
    kernels = {"register_blocked_64_128_8_8": old, "vectorized_128_128_16_8_8": wide}
    for launch, tiles in kernels.items():
        reads = sum(count for count, _ in tiles.values())
        total = sum(count * each for count, each in tiles.values())
        per_read = (
            counted[launch, "shared_load_wavefronts"] / counted[launch, "shared_load_requests"]
        )
        assert reads * per_read == total
    alt = str(draw_step_wavefronts(register_blocked=OLD, vectorized=WIDE))
    assert "32 in all" in alt
    assert "20 in all" in alt


def test_shared_memory_and_l1_explain_the_factor():
    old, wide = (bounds_of(one, str(SIZE))[ON_CHIP].ms for one in (OLD, WIDE))
    before, after = recorded(OLD), recorded(WIDE)
    says(
        "For `register_blocked` it is busy for {:.2f} ms, for `vectorized` for {:.2f} ms. That "
        "is a "
        "factor of {:.2f}, and recorded is {:.2f}.",
        old,
        wide,
        old / wide,
        before / after,
    )
    total = [sum(count * each for count, each in wavefronts_of_step(one).values())
             for one in (OLD, WIDE)]  # fmt: skip
    explains(
        "13.wide",
        "The reads alone are {} ÷ {} = {:.1f}. Stores and loads of the tiles cost both kernels "
        "about the same. With them it is {:.2f} ÷ {:.2f} = {:.2f}; recorded are "
        "{:.2f} ÷ {:.2f} = {:.2f} times.",
        *total,
        total[0] / total[1],
        old,
        wide,
        old / wide,
        before,
        after,
        before / after,
    )
    says("at {}×{} on an H200?", SIZE, SIZE)
    says("`store_tile` stores the {} sums with `store4`", STEP)


# ---- the curve, and what still limits it ----


def test_small_products_leave_sms_without_a_block():
    frame = records.fastest(records.measured(REFERENCE, "gemm"))
    small = frame[(frame["step"] == "vectorized") & (frame["m"] <= 1024)]
    cubes = small[(small["m"] == small["n"]) & (small["n"] == small["k"])]
    size = cubes["m"].max()
    assert (cubes["library_ratio"] < 0.6).all()
    says("At {} and below, `vectorized` stays far below the library: a product of {}×{} has {} "
         "tiles "
         "of {}×{}, and the H200 has {} SMs.", size, size, size, (size // BM) * (size // BN),
         BM, BN,
         H200.sms)  # fmt: skip


@pytest.mark.slow
def test_shared_memory_is_busier_when_the_next_tile_is_loaded_early():
    says(
        "shared memory is then busy for {:.0f} % of the time instead of {:.0f} %",
        100 * alone(PREFETCH) / recorded(PREFETCH),
        100 * alone(WIDE) / recorded(WIDE),
    )
    reads = [run_of(one, SHAPE).totals["shared_load_wavefronts"] for one in (WIDE, PREFETCH)]
    assert reads[1] == pytest.approx(reads[0], rel=0.02)
