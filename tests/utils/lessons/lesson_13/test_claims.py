"""Check the claims of lesson 13 against counts, machine code and records."""

from functools import cache, partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from gemm_kernels import LADDER, wide_alone
from gpu_xray import xray
from labs.exercises import find as exercise
from labs.exercises.wide_tiles.right import RIGHT
from tests import profiled, quotes
from utils import lessons as course
from utils.errors import CourseError
from utils.ladder.function_text import module_of
from utils.ladder.shapes import GemmShape
from utils.lessons.lesson_13.solution_times import recorded_solution, show_solution_times
from utils.lessons.lesson_13.step_wavefronts import (
    compare_changes,
    compare_steps,
    count_step,
    draw_step_wavefronts,
    instruction_ms,
    instructions_of_tile,
    main_saving,
    recorded_ms,
    show_profile,
)
from utils.lessons.lesson_13.transposed_tile import draw_transposed_tile
from utils.lessons.own_kernels import of_text, twins
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring.roofline import SECTORS_PER_WAVEFRONT
from utils.measuring.timing import REPETITIONS
from utils.paths import DATA
from virtual_gpu import trace
from virtual_gpu.counts.transactions import BANKS, Pattern, wavefronts
from virtual_gpu.tests.kernels.counted import copy_fours, strided_copy

BLOCK = "128x128x16"
H200 = find(REFERENCE)
OLD = LADDER.step("register_blocked").variant(BM=128)
WIDE = LADDER.step("vectorized").variant(BK=8)
TM, TN, BM, BN = (WIDE.constants[name] for name in ("TM", "TN", "BM", "BN"))
QUAD, WORD, WARP, LINE, SIZE = 4, 4, 32, 128, 4096
STEP = TM * TN  # multiply-adds of a thread per step of k
says, explains = partial(quotes.says, "13"), quotes.explains
TIMED = wide_alone.recorded_times()
KERNELS = {one.step.name: one for one in wide_alone.variants()[:4]}
MS = {name: recorded_ms(TIMED)[str(one)] for name, one in KERNELS.items()}


@cache
def run_of(variant, shape=BLOCK):
    return course.watch(variant, shape)


def reads_of(variant):
    return sum(count for count, _ in count_step(variant).reads.values())


def per_request(variant, tile, kind="load"):
    return course.per_request(run_of(variant), tile, "wavefronts", kind)


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
    says("a block computes {} columns of c, and a thread {} of them, so {} ÷ {} = {} threads read "
         "the same word of `a`.", BN, TN, BN, TN, BN // TN)  # fmt: skip
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
    says("lanes {} and {} have the two quads of row {} of `x`", words.tolist().index(0),
         words.tolist().index(apart), words[0])  # fmt: skip
    says("Lanes {} and {} do the same in column {}", *np.flatnonzero(words % BM == 1), 1 * words[2])
    says("in column {} of the tile: lane {} in row `j`, and lane {} in row `j + {}`.", words[0],
         words.tolist().index(0), words.tolist().index(apart), apart // BM)  # fmt: skip
    says("and so on up to column {}. Shared memory has {} banks.", columns - 1, BANKS)
    says("The bank of a word is its number in the tile, divided by {}: the remainder.", BANKS)
    explains("13.store",
             "Four rows are {} · {} = {} words, a multiple of {}, so both lanes of a column "
             "meet in "
             "one bank. The {} columns use {} banks, and each has {} words to take: {} wavefronts.",
             QUAD, BM, apart, BANKS, columns, columns, count, count)  # fmt: skip
    assert apart % BANKS == 0


def test_the_tile_that_is_given_has_no_gap():
    x, out = np.zeros((BM, TM), np.float32), np.zeros((TM, BM), np.float32)
    given = quotes.code("13", "turn-tile")
    for name in ("turned_tile", "row_gap"):
        seen = trace(exercise(name).starter if name == "row_gap" else exercise(name).solution,
                     1, 256, x, out)  # fmt: skip
        offsets = np.array(seen.warp_access("tile", "store").addresses) // WORD
        row = (offsets[1] - offsets[0]) // QUAD
        assert f"({TM}, {row})" in given
    says("The tile that you were given has rows of {} words.", row)


# ---- the product ----


def test_ten_loads_of_a_step_become_four():
    assert {**OLD.constants, "BK": WIDE.constants["BK"]} == WIDE.constants
    says("here with a tile of {}×{} elements of c per block and {}×{} per thread", BM, BN, TM, TN)
    source = run_of(OLD).totals["shared_load_requests"] * WARP
    needed = source / course.counting.multiply_adds(run_of(OLD))
    reads = reads_of(OLD)
    says("In the source both read {} words for {} multiply-adds, which is {:.2f}. In machine code "
         "`register_blocked` has {:.3f} · {} = {} loads: the compiler has joined the {} words of "
         "`b`",
         TM + TN, STEP, needed, reads / STEP, STEP, reads, TN)  # fmt: skip
    says("neighbours in a row, into two `LDS.128`. The {} words of `a` are in a column, so each "
         "takes a load of its own. `vectorized` has {} loads, so {} fewer per step.", TM,
         reads_of(WIDE), reads - reads_of(WIDE))  # fmt: skip
    assert count_step(OLD).reads["sa"][0] == TM


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_the_compiler_makes_these_loads():
    shares, steps, others = [], [], set()
    for one in (OLD, WIDE):
        code = xray(one.kernel, one.step.signature, "sm_90")
        steps.append(code.hot.ffma // STEP)
        others.add(sum(each.name not in ("LDS", "FFMA") for each in code.hot.body))
        shares.append(code.bound)
        loads = sum(instruction.name == "LDS" for instruction in code.hot.body)
        assert loads == reads_of(one) * code.hot.ffma // STEP
    assert steps == [1, 4]
    says("writes out four steps per iteration, so the {} instructions that count and jump serve "
         "four steps, not one.", *others)  # fmt: skip
    says("by a factor of {:.2f}", shares[1] / shares[0])
    mine, with_range = (xray(kernel, WIDE.step.signature, "sm_90") for kernel in two_loops())
    shares = [len(code.hot.body) / code.hot.ffma for code in (mine, with_range)]
    of_tile = instructions_of_tile(WIDE, "sm_90")
    says("and {:.2f} instructions per multiply-add. That is no more work than {:.2f}: all steps of "
         "a tile are written out", shares[0],
         of_tile[0] / STEP / WIDE.constants["BK"])  # fmt: skip
    says("For a whole tile the course's solution has {} instructions, and `vectorized` {}.",
         len(mine.hot.body), sum(of_tile))  # fmt: skip
    reads = [one.opcode for one in with_range.hot.body].count("LDS.128")
    says("With `for z in range({})` your hot loop has {:.2f} per multiply-add: each step has {} of "
         "them, {} reads, and {} instructions that count `z` in {} bits", WIDE.constants["BK"],
         shares[1], STEP, reads, len(with_range.hot.body) - STEP - reads,
         8 * np.dtype("int64").itemsize)  # fmt: skip
    assert any(one.opcode == "UIADD3.X" for one in with_range.hot.body)  # adds the upper 32 bits
    steps = mine.hot.ffma // STEP
    says("The compiler writes out its {} steps one after the other", steps)
    says("`uint32` makes `z` a number of {} bits, as in the course's kernels.",
         8 * np.dtype("uint32").itemsize)  # fmt: skip
    assert with_range.hot.ffma == STEP
    assert sum(one.name == "LDG" for one in mine.hot.body) == 2
    assert steps == WIDE.constants["BK"]  # all of them are written out
    assert sum(one.opcode == "LDS.128" for one in mine.hot.body) == 4 * steps
    assert mine.spill_bytes == 0


def test_the_task_does_the_work_of_vectorized():
    assert twins()["wide_tiles"].variant == WIDE
    assert twins()["wide_tiles"].before == OLD


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_plain_integers_give_as_many_instructions():
    text = exercise("wide_tiles").solution_text
    for old, new in (("z = uint32(0)", "z = 0"), ("z = uint32(z + 1)", "z += 1")):
        assert text.count(old) == 1
        text = text.replace(old, new)
        assert quotes.code("13", "your-turn").count(old) == 1
    plain, ours = of_text("wide_tiles", text), exercise("wide_tiles").solution
    hot = [xray(kernel, WIDE.step.signature, "sm_90").hot for kernel in (plain.kernel, ours)]
    assert len(hot[0].body) == len(hot[1].body)
    says("With `z = 0` and `z += 1` this loop has as many instructions.")


def two_loops():
    """Return the solution of `wide_tiles` with its `while`, and with a `for` over a range."""
    text = exercise("wide_tiles").solution_text
    for old, new in RIGHT["a for loop over the steps"]:
        assert old in text
        text = text.replace(old, new)
    other = module_of("labs.exercises.wide_tiles.with_range", text)
    return exercise("wide_tiles").solution, other.wide_tiles


def test_a_wide_read_serves_eight_lanes_and_sixteen_if_neighbours_agree():
    quads = np.arange(WARP) % 8
    eight = _wavefronts(quads)
    paired = _wavefronts(quads // 2)
    says("In one wavefront each of the {} banks delivers one word, so {} words at most. A wide "
         "read "
         "of a warp asks for up to {} words.", BANKS, BANKS, WARP * QUAD)  # fmt: skip
    per_part, with_pairs = WARP // eight, WARP // paired
    assert per_part == 8
    says("are served at a time**: lanes {} to {}, then {} to {} and so on", 0 * per_part,
         per_part - 1, per_part,
         2 * per_part - 1)  # fmt: skip
    says("wants the same quad as the next lane, {} lanes are served at a time", with_pairs)


def _wavefronts(quads):
    first = (quads * QUAD * WORD)[None]
    return int(wavefronts(Pattern(first, np.ones_like(first, bool)), QUAD * WORD))


@pytest.mark.slow
def test_the_reads_of_both_tiles():
    first = np.array(run_of(WIDE).warp_access("sb").addresses) // WORD
    of_a = np.array(run_of(WIDE).warp_access("sa").addresses) // WORD
    half = WARP // 2
    assert len(set(of_a[:half])) == len(set(of_a[half:])) == 1
    says("The {} threads with the same `t // 16` want the same quad of `sa`, so the exception "
         "holds: a read of `sa` is served in two parts of {} lanes, with one wavefront each. It "
         "takes {:.0f} wavefronts.", half, half, per_request(WIDE, "sa"))  # fmt: skip
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
    reads, each = count_step(WIDE).reads["sb"]
    assert each == count
    says("The reads of `sb` take {} of the {:g} wavefronts.", reads * count, count_step(WIDE).total)
    explains("13.read",
             "Neighbours want different quads, so {} lanes are served at a time, in {} parts. "
             "In each part lanes {} apart want words {} · {} = {} apart, in the same banks: "
             "{} · {} = {} wavefronts.",
             8 * half // half, WARP // 8, half // 4, half // 4, step, first[4] - first[0],
             WARP // 8, count // (WARP // 8), count)  # fmt: skip


@pytest.mark.slow
def test_the_reads_of_a_step_take_32_wavefronts_and_then_20():
    """The profiler sees the joined loads of b; with 64×128 a thread reads as it does here."""
    old, wide = count_step(OLD), count_step(WIDE)
    says("in the same bank, and such a load takes {:.0f} wavefronts", old.reads["sa"][1])
    read = np.array(run_of(OLD).warp_access("sa").addresses) // WORD
    words, half = np.unique(read), WARP // 2
    assert len(words) == 2
    assert (read == np.repeat(words, half)).all()
    says("one for lanes {} to {}, and one {} rows below for lanes {} to {}. A row of this tile has "
         "{} words, so the two are {} · {} = {} words apart.", 0 * half, half - 1, TM, half,
         WARP - 1, WIDE.constants["BK"], TM, WIDE.constants["BK"], words[1] - words[0])  # fmt: skip
    assert len(set(words % BANKS)) == 1
    assert old.reads["sb"] == wide.reads["sb"]
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv")
    counted = rows.set_index(["launch", "counter"])["value"]
    kernels = {"register_blocked_64_128_8_8": OLD, "vectorized_128_128_16_8_8": WIDE}
    for launch, one in kernels.items():
        per_read = (
            counted[launch, "shared_load_wavefronts"] / counted[launch, "shared_load_requests"]
        )
        assert reads_of(one) * per_read == count_step(one).read_wavefronts


def test_stores_and_loads_of_the_tiles_take_one_wavefront_per_step_each():
    old, wide = count_step(OLD), count_step(WIDE)
    assert (old.stores, old.loads) == (wide.stores, wide.loads)
    depth = WIDE.constants["BK"]
    (loads, stores), (narrow, few) = map(accesses_per_tile, (WIDE, OLD))
    says("A wavefront moves at most {} words, or {} sectors. So we count one per {} sectors "
         "for the loads, which is the least.", BANKS, SECTORS_PER_WAVEFRONT,
         SECTORS_PER_WAVEFRONT)  # fmt: skip
    says("For one tile of {} steps, each thread moves {:.0f} words.", depth, narrow)
    says("| {:.0f} narrow ones with {:.0f} each: {:.0f} | {:.0f} narrow ones with {:.0f} each, and "
         "a wide one with {:.0f}: {:.0f} |", few, per_request(OLD, "sa", "store"),
         depth * old.stores, stores - 1, per_request(WIDE, "sa", "store"),
         per_request(WIDE, "sb", "store"), depth * wide.stores)  # fmt: skip
    assert per_request(OLD, "sb", "store") == per_request(OLD, "sa", "store")
    each = [course.per_request(run_of(one), "a") for one in (OLD, WIDE)]
    assert each == [course.per_request(run_of(one), "b") for one in (OLD, WIDE)]
    says("| {:.0f} requests of {:.0f} sectors: {:.0f} | {:.0f} requests of {:.0f} sectors: "
         "{:.0f} |",
         narrow, each[0], depth * old.loads, loads, each[1], depth * wide.loads)  # fmt: skip
    says("That makes {:.0f} and {:.0f} per step, in both kernels:", old.stores, old.loads)
    alt = str(draw_step_wavefronts(register_blocked=OLD, vectorized=WIDE))
    assert f"{old.total:g} in all" in alt
    assert f"{wide.total:g} in all" in alt


def test_the_time_of_all_wavefronts_one_per_cycle():
    old, wide = count_step(OLD), count_step(WIDE)
    steps = SIZE**3 / STEP / WARP
    one = old.alone_ms(H200) / old.total
    assert one == pytest.approx(steps / H200.sms / H200.boost_clock_mhz / 1e3)
    says("A product of {}×{} has {}³ ÷ ({} · {}) = {:.1f} million steps of a warp. With one "
         "wavefront per step, {} SMs at {:.2f} GHz, the clock of all times below, take {:.3f} ms "
         "for them. So {:g} wavefronts "
         "take {:.2f} ms, and {:g} take {:.2f} ms.", SIZE, SIZE, SIZE, STEP, WARP, steps / 1e6,
         H200.sms, H200.boost_clock_mhz / 1e3, one, old.total, old.alone_ms(H200), wide.total,
         wide.alone_ms(H200))  # fmt: skip
    assert {row.sm_clock_mhz for row in (*TIMED, *recorded_solution())} == {H200.boost_clock_mhz}
    before, after = MS["register_blocked"], MS["vectorized"]
    says("`vectorized` would by our count be {:g} ÷ {:g} = {:.2f} times as fast as "
         "`register_blocked`.",
         old.total, wide.total, old.total / wide.total)  # fmt: skip
    says("In another run, `register_blocked` took {:.2f} ms and `vectorized` {:.2f} ms. That is a "
         "factor of {:.2f}.", before, after, before / after)  # fmt: skip
    says("The product becomes {:.2f} times as fast", before / after)
    says("But by our count even all {:.0f} keep the unit busy for only {:.0f} % of the recorded "
         "time",
         wide.total, 100 * wide.alone_ms(H200) / after)  # fmt: skip
    says("`store_tile` stores the {} sums with `store4`", STEP)
    assert list(map(str, KERNELS.values()))[:: len(KERNELS) - 1] == [str(OLD), str(WIDE)]


def test_the_readers_kernel_is_counted_beside_the_course_s():
    shown = compare_steps(WIDE)
    assert shown.rows[1][1:] == shown.rows[2][1:]


def test_the_solution_is_a_little_faster_than_vectorized():
    old, wide, mine = (row.time_ms for row in recorded_solution())
    assert mine < wide < old
    says("takes {:.0f} % less time than `vectorized`", 100 * (1 - mine / wide))
    assert [row[0] for row in show_solution_times().rows] == [
        "register_blocked", "vectorized", "solution of wide_tiles"
    ]  # fmt: skip


# ---- one change after the other ----


def test_repetitions_differ_little():
    rows = [row for row in TIMED if row.n == SIZE and row.kernel in map(str, KERNELS.values())]
    assert len(rows) == len(KERNELS)
    most = max((row.time_ms_max - row.time_ms_min) / row.time_ms for row in rows)
    says("Times are medians of {} repetitions, which differ by at most {:.0f} %.", REPETITIONS,
         100 * most)  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("compiler")
def test_an_sm_holds_two_blocks_of_each_kernel():
    says("and the SM has only one other block to fill this time.")
    registers = []
    for one in KERNELS.values():
        code = xray(one.kernel, one.step.signature, "sm_90")
        threads = BM // TM * BN // TN
        held = occupancy(H200.compute_capability, threads, code.registers, code.shared_bytes)
        assert held.blocks == 2
        assert held.limit == ("registers",)
        registers.append(code.registers)
    says("A thread of these four kernels uses {} to {} registers, so the {:,} of an SM are enough "
         "for two blocks.", min(registers), max(registers),
         limits_of(H200.compute_capability).registers_per_sm)  # fmt: skip


def test_padded_rows_need_fewer_wavefronts_and_have_no_wide_access():
    old, padded = (count_step(KERNELS[name]) for name in ("register_blocked", "padded_rows"))
    kernel, depth = KERNELS["padded_rows"], WIDE.constants["BK"]
    words = np.unique(np.array(run_of(kernel).warp_access("sa").addresses) // WORD)
    assert len(set(words % BANKS)) == len(words) == 2
    row = (words[1] - words[0]) // TM
    stores = [per_request(one, "sa", "store") for one in (OLD, kernel)]
    assert per_request(kernel, "sb", "store") == stores[0] == 1
    says("with rows of {} words instead of {} in the tile of `a`.", row, depth)
    says("so it takes {:.0f} wavefront instead of {:.0f}. Only the stores into this tile get "
         "slower, with {:.0f} wavefronts each.", padded.reads["sa"][1], old.reads["sa"][1],
         stores[1])  # fmt: skip
    (of_a, each_a), (of_b, each_b) = padded.reads.values()
    fewer, one = old.total - padded.total, old.alone_ms(H200) / old.total
    explains("13.padded",
             "A step takes {} · {:.0f} + {} · {:.0f} wavefronts for reads, {:.1f} for stores and "
             "{:.0f} for loads: {:.1f} instead of {:.0f}. At one per cycle {:.1f} fewer would save "
             "{:.1f} · {:.3f} = {:.2f} ms. Recorded are {:.3f} − {:.3f} = {:.3f} ms.",
             of_a, each_a, of_b, each_b, padded.stores, padded.loads, padded.total, old.total,
             fewer, fewer, one, fewer * one, MS["register_blocked"], MS["padded_rows"],
             MS["register_blocked"] - MS["padded_rows"])  # fmt: skip


def test_each_part_of_the_gain_has_its_cause():
    times = list(MS.values())
    parts, whole = [before - after for before, after in pairwise(times)], times[0] - times[-1]
    _, padded, turned, wide = map(count_step, KERNELS.values())
    says("`vectorized` saves {:.3f} ms.", whole)
    says("**{:.3f} ms, or {:.0f} %, come from wavefronts alone.**", parts[0],
         100 * parts[0] / whole)  # fmt: skip
    old = count_step(OLD)
    says("The saving is less than the estimate of {:.2f} ms, because",
         old.alone_ms(H200) - padded.alone_ms(H200))  # fmt: skip
    says("{:.3f} ms come with `transposed_tile`.", parts[1])
    assert padded.total > turned.total
    assert reads_of(KERNELS["padded_rows"]) == reads_of(OLD) > reads_of(KERNELS["transposed_tile"])
    assert turned.total == wide.total
    assert turned.reads == wide.reads
    says("**{:.3f} ms, or {:.0f} %, come with fewer instructions around the innermost loop.**",
         parts[2],
         100 * parts[2] / whole)  # fmt: skip
    made = [accesses_per_tile(KERNELS[name]) for name in ("vectorized", "transposed_tile")]
    says("Per tile a thread makes {:.0f} loads and {:.0f} stores instead of {:.0f} and {:.0f}",
         *made[0], *made[1])  # fmt: skip
    one = old.alone_ms(H200) / old.total
    fewer = padded.total - turned.total
    inside, saved = instructions_saved("padded_rows", "transposed_tile")
    assert saved == 0
    loads = (reads_of(OLD) - reads_of(WIDE)) * WIDE.constants["BK"]
    says("At one per cycle, its {:g} fewer wavefronts are {:.2f} ms, and its {} fewer instructions "
         "{:.2f} ms: {} loads, and {} that count and jump.", fewer, fewer * one, inside,
         inside * instruction_ms(H200), loads, inside - loads)  # fmt: skip
    drawn, counted = compare_changes(TIMED, KERNELS.values()).parts
    assert len(counted.rows) == len(MS)
    assert f"vectorized: {times[-1]:.2f} ms {parts[2]:.3f} less" in str(drawn)


def instructions_saved(before, after):
    """Return the instructions of a tile that are saved (in the innermost loop, around it)."""
    pairs = zip(*(instructions_of_tile(KERNELS[name], "sm_90") for name in (before, after)),
                strict=True)  # fmt: skip
    return tuple(old - new for old, new in pairs)


@pytest.mark.slow
def test_the_last_step_saves_instructions_around_the_loop():
    assert instructions_saved("register_blocked", "padded_rows") == (0, 0)
    inside, around = instructions_saved("transposed_tile", "vectorized")
    assert inside == 0
    (_, old), (_, new) = (
        instructions_of_tile(KERNELS[name], "sm_90") for name in ("transposed_tile", "vectorized")
    )
    one, depth = instruction_ms(H200), WIDE.constants["BK"]
    explains("13.cause",
             "Around its innermost loop `vectorized` has {} instructions per tile instead of {}. "
             "The {} fewer take {} · {:.5f} = {:.3f} ms. Its other two counts are those of "
             "`transposed_tile`.", new, old, around, around, one, around * one)  # fmt: skip
    steps, schedulers = SIZE**3 / STEP / WARP, limits_of(H200.compute_capability).sub_partitions
    times = list(MS.values())
    says("`padded_rows` saves {:.3f} ms, and only its wavefronts", times[0] - times[1])
    says("One wavefront per step takes {:.3f} ms, as above.", count_step(OLD).alone_ms(H200)
         / count_step(OLD).total)  # fmt: skip
    says("There are {:.1f} ÷ {} = {:.2f} million tiles of a warp. An SM has {} schedulers",
         steps / 1e6, depth, steps / depth / 1e6, schedulers)  # fmt: skip
    says("So one instruction per tile takes {:.2f} million ÷ ({} · {}) ÷ {:.2f} GHz = {:.5f} ms.",
         steps / depth / 1e6, H200.sms, schedulers, H200.boost_clock_mhz / 1e3, one)  # fmt: skip
    says("**Which count explains the {:.3f} ms between `transposed_tile` and `vectorized`?**",
         times[2] - times[3])  # fmt: skip
    assert quotes.bank()["13.cause"].text.endswith(f"{times[2] - times[3]:.3f} ms")
    assert main_saving(KERNELS["transposed_tile"], KERNELS["vectorized"]) == (
        "fewer instructions around it"
    )
    says("That {} instructions take just the saved time is partly luck", around)


@pytest.mark.slow
def test_the_profiler_counts_as_we_do():
    counted = wide_alone.recorded_counters(REFERENCE)
    more, apart = [], []
    for name, one in KERNELS.items():
        row = counted[name]
        steps = row.n**3 / STEP / WARP
        more.append(row.instructions / steps * WIDE.constants["BK"]
                    - sum(instructions_of_tile(one, "sm_90")))  # fmt: skip
        own = count_step(one).read_wavefronts + count_step(one).stores
        apart.append(row.shared_wavefronts / steps - own)
        assert row.wavefronts - row.shared_wavefronts > count_step(one).loads * steps
    assert min(more) > 1
    assert min(apart) > 0
    says("as many wavefronts of shared memory as we do, up to {:.1f}, but more than our {:.0f} of "
         "global memory.", max(apart), count_step(WIDE).loads)  # fmt: skip
    says("Its instructions per tile are ours and at most {:.0f} more", max(more))
    assert [row[0] for row in show_profile(counted).rows] == list(KERNELS)


def lines_of(variant, array, kind="load"):
    """Return the lines that a warp's first load or store of an array touches."""
    run = run_of(variant, "128x128x32")  # a row of a is one line
    return len(np.unique(np.array(run.warp_access(array, kind).addresses) // LINE))


@pytest.mark.slow
def test_a_wavefront_per_line_fits_the_loads_from_global_memory():
    counted = wide_alone.recorded_counters(REFERENCE)
    depth, of_tile, with_stores, touched = WIDE.constants["BK"], [], [], []
    for name, one in KERNELS.items():
        each = accesses_per_tile(one)[0] / 2  # as many loads of a as of b
        a, b = (lines_of(one, array) for array in "ab")
        touched.append((each, a, each, b))
        of_tile.append(each * (a + b))
        row, stores = counted[name], STEP / QUAD if one == WIDE else STEP
        of_c = stores * lines_of(one, "c", "store") / row.n
        with_stores.append(of_tile[-1] / depth + of_c)
        steps = row.n**3 / STEP / WARP
        seen = (row.wavefronts - row.shared_wavefronts) / steps
        assert seen == pytest.approx(with_stores[-1], abs=0.05)
    assert len(set(of_tile)) == 1
    says("One for each cache line of {} bytes that a request touches fits all four kernels. For "
         "one tile, `register_blocked` touches {:.0f} · {} cache lines of `a` and {:.0f} · {} of "
         "`b`, and "
         "`vectorized` {:.0f} · {} and {:.0f} · {}. Both are {:.0f}, or {:.1f} per step, and at {} "
         "the stores into `c` make them {:g} and {:g}.", LINE, *touched[0], *touched[-1],
         of_tile[0], of_tile[0] / depth, row.n, with_stores[0], with_stores[-1])  # fmt: skip
    steps = SIZE**3 / STEP / WARP
    last = [profiled.counted(KERNELS[name])["wavefronts"] / steps
            for name in ("transposed_tile", "vectorized")]  # fmt: skip
    fewer = last[0] - last[1]
    says("At {} all wavefronts of the last two kernels differ by only {:.2f} per step, or {:.2f} "
         "ms.", SIZE, fewer,
         fewer * count_step(OLD).alone_ms(H200) / count_step(OLD).total)  # fmt: skip


def cycles_of_tile(*names):
    """Return for each kernel the cycles of a warp in these states per tile; in all, without one."""
    steps = WIDE.constants["BK"] * STEP  # multiply-adds of a warp per tile
    return [
        steps * profiled.per_multiply_add(one, *(names or profiled.states(one)))
        for one in KERNELS.values()
    ]


def in_tens(cycles):
    """Return cycles as the record has them, to about ten."""
    return np.round(cycles, -1)


def test_the_waits_of_the_four_kernels_separate_wavefronts_from_instructions():
    shared, memory, turn, own, whole = (
        cycles_of_tile(*names)
        for names in (
            ("short_scoreboard", "mio_throttle"),
            ("long_scoreboard", "lg_throttle", "barrier"),
            ("not_selected", "math_pipe_throttle"),
            ("selected", "wait"),
            (),
        )
    )
    rest = np.array(whole) - shared - memory - turn - own
    shared, memory, turn, own, rest, whole = map(in_tens, (shared, memory, turn, own, rest, whole))
    assert (shared + memory + turn + own + rest == whole).all()  # as the table has them
    says("| waits for shared memory | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *shared)
    says("| waits for global memory, at barriers | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |",
         *memory)  # fmt: skip
    says("| waits for its turn | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *turn)
    says("| issues, or waits for the instruction before | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |",
         *own)  # fmt: skip
    says("| anything else | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *rest)
    says("| in all | {:,.0f} | {:,.0f} | {:,.0f} | {:,.0f} |", *whole)
    says("At {} the profiler has counted what a warp waits for, in cycles per tile.", SIZE)
    says("a warp waits {:,.0f} cycles less per tile for shared memory, and {:.0f} longer for its "
         "turn.", shared[0] - shared[1], turn[1] - turn[0])  # fmt: skip
    says("only {:.0f} of the {:.0f} cycles that a warp saves are at shared memory.",
         shared[1] - shared[2], whole[1] - whole[2])  # fmt: skip
    assert turn[1] - turn[2] + own[1] - own[2] > 0.9 * (whole[1] - whole[2])
    says("a warp saves {:.0f} cycles of turns and instructions, and waits {:.0f} longer for words "
         "and at barriers.", turn[2] - turn[3] + own[2] - own[3],
         memory[3] - memory[2] + shared[3] - shared[2])  # fmt: skip


def test_what_a_warp_waits_for():
    """The profiler has counted the very kernel of the lesson."""
    of = profiled.states(WIDE)
    names = "selected", "not_selected", "short_scoreboard", "long_scoreboard", "barrier"
    whole = sum(of.values())
    rest = whole - sum(of[name] for name in names)
    says("| issues the instruction | {:.2f} | | is ready, but another warp issues | {:.2f} | "
         "| waits for a word from shared memory | {:.2f} | "
         "| waits for a word from global memory | {:.2f} | | waits at a barrier | {:.2f} | "
         "| anything else | {:.2f} |", *[of[name] for name in names], rest)  # fmt: skip
    assert max(value for name, value in of.items() if name not in names) < of["barrier"]
    says("and the profiler counts {:.0f} % of the cycles", profiled.busy(WIDE))
    says("In {:.0f} % of the cycles none of a scheduler's four warps issues.",
         100 - profiled.counted(WIDE)["issue_percent"])  # fmt: skip
    warps = 2 * BM // TM * BN // TN // WARP  # of the two blocks that an SM holds
    assert warps == 4 * profiled.SCHEDULERS
    says("A quarter of a warp's time, {:.2f} + {:.2f} of {:.2f} cycles", of["long_scoreboard"],
         of["barrier"], whole)  # fmt: skip
    assert round(profiled.share(WIDE, "long_scoreboard", "barrier") / 25) == 1
    assert round(profiled.share(WIDE, "short_scoreboard") / 25) == 1


def test_rows_of_another_length_are_refused():
    n = 4 * 1024 + 1
    with pytest.raises(CourseError, match="pad the matrices with zeros"):
        WIDE.step.launch(GemmShape(n, n, n), **WIDE.constants)
    says("At n = {}, row {} of `b` would begin at word {}", n, n // n, n)
    says("**Sixteen words need no {} loads. The compiler made {}, and you made {}.", TM + TN,
         reads_of(OLD), reads_of(WIDE))  # fmt: skip


def accesses_per_tile(variant):
    """Return the (loads from global memory, stores into the tiles) of a thread per tile."""
    totals = run_of(variant).totals
    steps = course.counting.multiply_adds(run_of(variant)) / WARP / STEP
    found = (totals[f"{what}_requests"] for what in ("global_load", "shared_store"))
    return [count / steps * WIDE.constants["BK"] for count in found]
