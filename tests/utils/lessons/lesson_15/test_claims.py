"""Check the claims of lesson 15 against counts, machine code and records."""

import inspect
import re
from functools import cache, partial

import numpy as np
import pytest

from gemm_kernels import LADDER, maxwell64, maxwell256
from gemm_kernels.parts import lane_maps
from gpu_xray import xray
from tests import profiled, quotes
from utils import lessons as course
from utils.lessons import tile_iterations
from utils.lessons.compiled_loops import recorded_loop
from utils.lessons.counting import as_variant, watch
from utils.lessons.edits import source_of
from utils.lessons.lesson_15 import load_of_b
from utils.lessons.lesson_15.instruction_counts import filled, gray_others
from utils.lessons.lesson_15.shared_quads import draw_shared_quads
from utils.lessons.lesson_15.slot_bars import published_share
from utils.lessons.lesson_15.thread_bits import THREADS, quad_of
from utils.lessons.lesson_15.tile_designs import (
    bandwidth_needed,
    busy_fraction,
    bytes_per_multiply_add,
)
from utils.lessons.lesson_15.tile_reads import draw_two_designs
from utils.lessons.recorded import record_of
from utils.lessons.shared_reads import SIDE, totals_of_tile
from utils.lessons.wavefronts import WAVEFRONTS
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import records

SMALL, LARGE, WARP_TILED = (LADDER.step(name) for name in ("maxwell64", "maxwell256", "warp_tiled"))
ROWS_OF_16, Z_ORDER, ZIG_ZAG = (WARP_TILED.variant(LANES=lanes, BK=8) for lanes in (0, 2, 3))
KERNELS = SMALL, ROWS_OF_16, Z_ORDER, ZIG_ZAG, LARGE
H200 = devices.find(REFERENCE)
SIZES = (256, 512, 1024, 2048, 4096, 8192)
SIZE, QUAD, TILE, K = 4096, 4, 128, maxwell256.BK
ALL = 100  # issue slots
SUM = maxwell256.TM  # rows, and columns, of c per thread
slow = pytest.mark.slow
says, explains = partial(quotes.says, "15"), quotes.explains


def ms(step, n=SIZE):
    return course.recorded_ms(step, str(n), on=REFERENCE)


def share(step):
    return 100 * course.share_of_peak(step, str(SIZE), on=REFERENCE)


def blocks(step, n):
    return step.variant().launch(LADDER.parse(str(n))).blocks


def threads(step):
    return step.variant().launch(LADDER.parse(str(SIZE))).threads


def at_a_time(step):
    """Return the blocks of a recorded step that all SMs hold at a time."""
    frame = records.measured(REFERENCE, "gemm")
    row = frame[frame["step"] == step.name].iloc[0]
    figures = threads(step), int(row["registers"]), int(row["shared_bytes"])
    return occupancy(H200.compute_capability, *figures).blocks * H200.sms


@cache
def slots():
    return tile_iterations.slots_of(LARGE, str(SIZE))


@cache
def instructions(step=LARGE):
    """Return (all, multiply-adds, loads and stores) per warp and tile."""
    return (
        tile_iterations.instructions_per_tile(step),
        tile_iterations.multiply_adds_per_tile(step),
        tile_iterations.loads_and_stores_per_tile(step),
    )


# ---- The case ----


@pytest.mark.slow
def test_98_percent_in_2014_and_64_in_python():
    theirs, ours = published_share(), share(LARGE)
    year = devices.find("GTX 980").year
    says("In {} a kernel for matrix products reached {:.0f} % of a GPU's peak, and nearly the same "
         "design in Python reaches {:.0f} % of ours: where are the other {:.0f} %?",
         year, theirs, ours, round(theirs) - round(ours))  # fmt: skip
    larger = course.claimed("maxas: share of the peak on the larger chip")
    says("The {:.0f} % are his figure for a small GPU; on the GM204 it was {:.0f} %.",
         theirs, larger)  # fmt: skip
    says("`maxwell256` is ours, at {}×{} on an H200", SIZE, SIZE)
    missing, gap = round(ALL * (1 - slots().multiply_adds)), round(theirs) - round(ours)
    filled, rest = ALL * slots().multiply_adds, missing - gap
    says("Ours fills {:.0f} of {} slots. So {} have none: {} up to Gray's {:.0f}, and {} up to the "
         "peak.", filled, ALL, missing, gap, theirs, rest)  # fmt: skip
    assert slots().multiply_adds == pytest.approx(ours / 100)


def test_the_tile_and_the_suspects():
    assert (maxwell256.BM, maxwell256.BN, maxwell256.TM) == (TILE, TILE, maxwell256.TN)
    says("A block of {} threads computes a tile of c of {}×{} elements, and a thread {}×{} of "
         "them.",
         threads(LARGE), TILE, TILE, SUM, SUM)  # fmt: skip
    says("too few for {} SMs", H200.sms)


# ---- The bits ----


def test_a_thread_has_four_quads_and_the_picture_has_8x8():
    assert SUM**2 // QUAD**2 == 4
    says("four **quads of c**, squares of {}×{} elements", QUAD, QUAD)
    side, (zero, one) = maxwell64.BM // SUM, range(2)
    assert threads(SMALL) == THREADS
    assert maxwell64.BM == maxwell64.BN == 2 * side * QUAD
    says("Here is the upper left quarter of a tile of the smaller `maxwell64`: {}×{} quads with "
         "the numbers of its {} threads. The other three quarters are alike. Each box is a bit of "
         "the number, bit {} on the right, and says where a thread goes when this bit is {}.",
         side, side, THREADS, zero, one)  # fmt: skip


def test_the_bits_are_those_of_the_kernel():
    line = re.search(r"across, down = (.+), (.+)", source_of(SMALL.file))
    across, down = (compile(part, "bits", "eval") for part in line.groups())
    for t in range(THREADS):
        assert quad_of(t) == (eval(down, {"t": t}), eval(across, {"t": t}))
    assert [quad_of(t)[0] for t in range(WARP)] == [t // 16 * 2 + t % 2 for t in range(WARP)]
    says("The {} lanes of a warp have the upper four rows of quads in the picture with the slider.",
         WARP)  # fmt: skip
    across, down = re.search(r"across, down = (.+), (.+)", source_of(LARGE.file)).groups()
    says("Its {} threads have one more bit in each direction", threads(LARGE))
    says("`across, down = {}, {}`.", across, down)
    kept = [bit for bit in range(THREADS) if 14 >> bit & 1]
    says("Here `& {}` keeps bits {}, {} and {}.", 14, *kept)


def test_the_example_takes_two_bits_apart():
    example = "t >> 4 & 2 | t >> 2 & 1"
    high, low = 5, 2
    values = [eval(example, {"t": t}) for t in range(THREADS)]
    assert values == [(t >> high & 1) * 2 + (t >> low & 1) for t in range(THREADS)]
    one = 1
    says("In Python `t >> {}` moves all bits two places to the right, so bit {} becomes bit {}. "
         "`& {}` keeps bit {} alone,", low, low, min(values), one, min(values))  # fmt: skip
    both = 3
    assert [bit for bit in range(THREADS) if both >> bit & 1] == [0, one]
    says("`& {}` bit {}, `& {}` the lowest two bits, and `|` joins bits.", 1 << one, one, both)
    says("`{}` is a number", example)
    says("is a number from {} to {} that is made of bits {} and {} of `t`",
         min(values), max(values), high, low)  # fmt: skip


def test_a_wide_read_is_four_wavefronts_of_eight_lanes():
    banks, word = 32, 4
    assert WARP * QUAD * word == 4 * banks * word == 16 * WARP
    says("Shared memory gives {} bytes per cycle", banks * word)
    says("{} lanes × {} bytes are four times that", WARP, QUAD * word)


def test_the_picture_of_shared_quads_has_four_wavefronts_and_two():
    alt = draw_shared_quads().alt
    assert "quads 0, 1, 2, 3, 4, 5, 6, 7 of sb, 4 wavefronts" in alt
    assert alt.count("2 wavefronts") == 3
    last = 7
    assert f"lanes 0 to {last} read" in alt
    says("Here are the quads that lanes {} to {} read, with the wavefronts of all {} lanes.",
         0 * last, last, WARP)  # fmt: skip


def test_lanes_share_words_in_pairs():
    zig_zag = lane_maps.zig_zag.py_func
    assert [quad_of(t) for t in range(32)] == [zig_zag(t) for t in range(32)]
    for lane in range(WARP):
        assert zig_zag(lane)[1] == zig_zag(lane ^ 1)[1]  # the words of b, by its column
        assert zig_zag(lane)[0] == zig_zag(lane ^ 2)[0]  # the words of a
    one, other = (sorted({tuple(sorted((lane, lane ^ bit))) for lane in range(WARP)})[:3]
                  for bit in (1, 2))  # fmt: skip
    says("either lanes ({}, {}), ({}, {}), ({}, {}) … or lanes ({}, {}), ({}, {}), ({}, {}) ….",
         *sum((*one, *other), ()))  # fmt: skip
    first, second, third = range(3)
    says("In the zig-zag lanes {} and {} share words of `sb`, and lanes {} and {} words of `sa`.",
         first, second, first, third)  # fmt: skip


@cache
def shared_reads(variant):
    """Return (wavefronts per read, time of shared memory alone over the recorded time)."""
    totals = totals_of_tile(variant, SIZE)
    per_read = totals["shared_load_wavefronts"] / totals["shared_load_requests"]
    needed = WARP * totals[WAVEFRONTS].sum() / (SIDE**2 * SIZE)
    return per_read, course.shared_memory_ms(needed, str(SIZE)) / ms(variant)


@slow
def test_rows_of_16_keep_shared_memory_busy_for_56_percent():
    per_read, busy = shared_reads(ROWS_OF_16)
    assert per_read == pytest.approx(3, abs=0.02)
    assert shared_reads(ZIG_ZAG)[0] == pytest.approx(2, abs=0.02)
    width = sum(lane_maps.row_major.py_func(t)[0] == 0 for t in range(WARP))
    says("*rows of {}*, where lanes {} to {} are side by side and lanes {} to {} below them",
         width, 0 * width, width - 1, width, WARP - 1)  # fmt: skip
    says("with rows of {} shared memory is busy in {:.0f} % of the recorded time",
         width, 100 * busy)  # fmt: skip
    assert [lane_maps.row_major.py_func(t) for t in range(8)] == [(0, t) for t in range(8)]
    says("With rows of {} lanes {} to {} read as in the first picture above, row by row. So a read "
         "of `sb` takes four wavefronts,", width, 0 * width, width // 2 - 1)  # fmt: skip
    more, few = (tile_iterations.instructions_per_tile(one) for one in (ZIG_ZAG, ROWS_OF_16))
    says("for a tile a warp needs {:g} instructions with rows of {}, and {:g} with the zig-zag.",
         few, width, more)  # fmt: skip
    ratio = ms(ZIG_ZAG) / ms(ROWS_OF_16)
    margin = 2
    assert ratio > 1 + margin / 100
    says("*The same* means within {} %.", margin)
    says("yet the kernel took {:.0f} % longer", 100 * (ratio - 1))
    explains("15.bits",
             "Shared memory has time left with both maps. The zig-zag has {:g} instructions per "
             "tile instead of {:g}. Recorded are {:.2f} ÷ {:.2f} = {:.2f} times the time.",
             more, few, ms(ZIG_ZAG), ms(ROWS_OF_16), ratio)  # fmt: skip
    busy_large = shared_reads(LARGE)[1]
    assert shared_reads(LARGE)[0] == pytest.approx(2, abs=0.02)
    says("shared memory is busy in only {:.0f} % of the time", 100 * busy_large)


@pytest.mark.slow
def test_the_zig_zag_has_14_more_instructions():
    (zig_zag,), (in_rows,) = map(tile_iterations.ways_of, (ZIG_ZAG, ROWS_OF_16))
    more, few = (sum(way.mix.values()) for way in (zig_zag, in_rows))
    bits = sum(zig_zag.mix.get(name, 0) - in_rows.mix.get(name, 0) for name in ("SHF", "LOP3"))
    says("So the loop has {} more shifts and masks, and {} fewer instructions of other kinds, "
         "which is {:.1f} % more in all.",
         bits, bits - (more - few), 100 * (more / few - 1))  # fmt: skip


def masks_in_the_loop(variant):
    """Return the constants of the shifts and masks in the loop over tiles."""
    code = xray(variant.kernel, variant.step.signature, H200.arch)
    big = max(code.loops, key=lambda loop: loop.end - loop.start)
    inside = [one for one in code.code[big.start : big.end] if one.name == "LOP3"]
    return {operand for one in inside for operand in one.operands if operand.startswith("0x")}


@slow
def test_only_warp_tiled_computes_the_zig_zag_again_for_each_tile(compiler):
    # Bits 1 to 4 of the lane, and those of its column; in maxwell256 bits 4 to 6 and 1 to 3.
    assert {"0x1e", "0x7"} <= masks_in_the_loop(ZIG_ZAG)
    assert not {"0x70", "0xe", "0x7", "0x1e"} & masks_in_the_loop(LARGE.variant())


# ---- The tiles ----


def test_the_picture_counts_512_words_and_256():
    assert "64×64 read 512 words" in str(draw_two_designs())
    assert "128×128 reads 256 words" in str(draw_two_designs())
    says("`maxwell64` has {} threads for a tile of {}×{}, and `maxwell256` has {} for {}×{}.",
         threads(SMALL), maxwell64.BM, maxwell64.BN,
         threads(LARGE), maxwell256.BM, maxwell256.BN)  # fmt: skip


@slow
@pytest.mark.parametrize("step, side", [(SMALL, 64), (LARGE, 128)])
def test_a_multiply_add_costs_as_many_bytes_as_the_formula_says(step, side):
    totals = course.watch(step, "128x128x8").totals
    assert totals["global_load_bytes"] / (128 * 128 * 8) == bytes_per_multiply_add(side)


def test_both_designs_fit_the_memory_of_the_h200():
    sides = maxwell64.BM, maxwell256.BM
    words = 2
    says("A tile of w×w needs {}·w words for w·w multiply-adds, which is {:.0f} ÷ w bytes per "
         "multiply-add: {} with w = {}, and half of that with {}.",
         words, bytes_per_multiply_add(1), bytes_per_multiply_add(sides[0]), *sides)  # fmt: skip
    needed = [bandwidth_needed(side, H200.fp32_gflops) for side in sides]
    assert max(needed) < H200.memory_gb_per_s
    bound, there = (course.claimed(f"maxas{what}") for what in (
        ", 64 threads: memory bandwidth needed", ": memory bandwidth of the device"))  # fmt: skip
    assert bound * 2**30 > there * 1e9
    says("At its peak an H200 would load {:,.0f} and {:,.0f} GB/s. Its memory has {:,.0f}, and "
         "the L2 cache answers a part of the loads, so there is room for both.",
         *needed, H200.memory_gb_per_s)  # fmt: skip


def test_the_large_design_is_faster_from_2048_on():
    faster = [n for n in SIZES if ms(LARGE, n) < ms(SMALL, n)]
    first, last_small = faster[0], SIZES[SIZES.index(faster[0]) - 1]
    assert tuple(faster) == SIZES[SIZES.index(first) :]
    gains = [ms(SMALL, n) / ms(LARGE, n) - 1 for n in faster]
    says("Up to {} the large tiles leave SMs without work, and the small ones win. From {} on "
         "both fill the SMs, and the large design wins by up to {:.0f} %.",
         last_small, first, 100 * max(gains))  # fmt: skip
    shares = {n: [busy_fraction(blocks(s, n), H200.sms) for s in (SMALL, LARGE)] for n in SIZES}
    assert all(min(shares[n]) > 0.96 for n in faster)
    assert round(shares[first][0], 2) == round(shares[first][1], 2)
    explains("15.size",
             "At {} the large tiles leave {} of {} SMs without a block. At {} both designs work "
             "for {:.0f} % of the time. Then the large one wins: {:.3f} against {:.3f} ms.",
             last_small, H200.sms - blocks(LARGE, last_small), H200.sms, first,
             100 * shares[first][1], ms(LARGE, first), ms(SMALL, first))  # fmt: skip


@pytest.mark.slow
def test_the_large_design_has_fewer_instructions():
    (more, _, memory), (few, useful, loads) = instructions(SMALL), instructions()
    others = more - memory - (few - loads)
    integer = "IMAD", "LEA", "LOP3", "SHF", "IADD3", "UIADD3", "VIADD", "ISETP"
    ways = map(tile_iterations.ways_of, (SMALL, LARGE))
    mixes = [sum(way.mix.get(name, 0) for way in both for name in integer) / 2 for both in ways]
    assert others / 2 < mixes[0] - mixes[1] < others
    says("Look at the instructions of a warp for one tile, at {}. Half", SIZE)
    assert more - memory > few - loads
    assert memory > loads
    says("A warp of `maxwell64` loads twice as many words for the same {} multiply-adds, so it "
         "needs more loads, stores and addresses: {:.0f} % more instructions in all. The time "
         "grows by only {:.0f} %, so it does not follow the instructions alone.",
         useful, 100 * (more / few - 1), 100 * (ms(SMALL) / ms(LARGE) - 1))  # fmt: skip


@pytest.mark.slow
def test_the_last_of_four_rounds_costs_3_slots():
    rooms, counts = zip(*((at_a_time(one), blocks(one, SIZE)) for one in (LARGE, SMALL)))
    assert [-(-count // room) for room, count in zip(rooms, counts)] == [4, 4]
    last_rounds = [tile_iterations.slots_of(one, str(SIZE)).last_round for one in (LARGE, SMALL)]
    working = [ALL * (1 - last) for last in last_rounds]
    in_the_table = [ALL * busy_fraction(count, H200.sms) for count in counts]
    assert {round(each) for each in working + in_the_table} == {97}
    says("at {} the last round of blocks leaves some SMs without one, so there is work for {:.0f} "
         "% of the time.", SIZE, working[0])  # fmt: skip
    held = at_a_time(LARGE) // H200.sms
    says("For `maxwell256` {} blocks ÷ {} SMs are {:.2f}, which takes {} rounds. An SM holds two "
         "blocks at a time, but then {:.2f} take {} rounds, which is the same share.",
         counts[0], H200.sms, counts[0] / H200.sms, -(-counts[0] // H200.sms),
         counts[0] / rooms[0], -(-counts[0] // rooms[0]))  # fmt: skip
    assert held == 2
    says("and the number of blocks costs both designs about **{:.0f} of {} slots**.",
         ALL - working[0], ALL)  # fmt: skip
    assert working[0] == pytest.approx(ALL * counts[0] / (4 * rooms[0]))


# ---- The stores ----


def stores_of(name):
    """Return (requests, sectors) of the stores of a tile of c, per 32 of its elements."""
    totals = watch(LADDER.step(name), f"{TILE}x{TILE}x8").totals
    counts = (totals[f"global_store_{what}"] for what in ("requests", "sectors"))
    return tuple(WARP * count / TILE**2 for count in counts)


@slow
def test_words_of_quads_take_four_times_the_sectors():
    (_, single), (wide, few), (whole, same) = map(
        stores_of, ("register_blocked", "warp_tiled", "maxwell256")
    )
    assert few == same == 4
    assert single == 8 * same
    assert whole == 4 * wide
    says("a warp stores {} neighbours of a row", WARP)
    words_of_a_sector = 8
    distinct = {(down, across * QUAD // words_of_a_sector)
                for down, across in map(lane_maps.zig_zag.py_func, range(WARP))}  # fmt: skip
    assert len(distinct) == 4 * same
    quads = [lane_maps.zig_zag.py_func(lane) for lane in range(3)]
    places = [(lane, QUAD * down, QUAD * across) for lane, (down, across) in enumerate(quads)]
    says("lane {} stores `c[{}, {}]`, lane {} `c[{}, {}]` and lane {} `c[{}, {}]` in the same "
         "request, which reaches into {} sectors.", *sum(places, ()), len(distinct))  # fmt: skip
    says("{} elements of c fill four sectors. In the starter, as its comment says, a request "
         "reaches into {}, because only two of its words share a sector: four times as many.",
         WARP, len(distinct))  # fmt: skip


@slow
def test_the_way_through_shared_memory_is_short():
    def wavefronts(k):
        counts = watch(LARGE, f"{TILE}x{TILE}x{k}").access_counts
        shared = [one for one in counts if one.space == "shared"]
        through = [one for one in shared if one.array == "rows"]
        return sum(one.wavefronts for one in shared), through

    (less, through), (more, _) = wavefronts(K), wavefronts(2 * K)
    tiles, rows = (more - less) * SIZE // K, sum(one.wavefronts for one in through)
    stores = [one for one in through if one.kind == "store"]
    stored, requests = (sum(getattr(one, what) for one in stores)
                        for what in ("wavefronts", "requests"))  # fmt: skip
    assert stored == 8 * requests
    assert stored - 4 * requests == rows / 3
    first_fragments = totals_of_tile(LARGE, SIZE)[WAVEFRONTS].sum() - tiles - rows
    assert 0 <= first_fragments < rows / 10  # the table of the bits counts the same wavefronts
    says("{:,} wavefronts per block are {:.1f} % of the {:,} for its tiles.",
         rows, 100 * rows / tiles, tiles)  # fmt: skip
    length = re.search(r"rows = cuda.shared.array\(\(WARPS, 4, (\d+)\)", source_of(LARGE.file))
    says("A third of the {:,} could be saved. `maxwell256` has rows of {} words, with the bank "
         "conflict that you have just removed, and Gray's rows of {} words have it, too.",
         rows, length[1], TILE)  # fmt: skip


def test_grays_rows_have_the_bank_conflict():
    # sgemm128.sass: writeCs = (readBs / 4) * 128 + readAs, in bytes; STS.128 at +0 and at +64 words
    t, banks = np.arange(WARP), 32
    across, down = (t >> 1 & 7) << 4, ((t & 0x70) >> 3 | t & 1) << 4
    words = (down // 4 * TILE + across) // 4
    for quarter in words.reshape(4, -1):
        busy = (quarter[:, None] + np.arange(QUAD)) % banks
        assert np.bincount(busy.ravel(), minlength=banks).max() == 2
    longer = (down // 16 * (TILE + 16) + across // 4).reshape(4, -1)
    for quarter in longer:
        busy = (quarter[:, None] + np.arange(QUAD)) % banks
        assert np.bincount(busy.ravel(), minlength=banks).max() == 1
    sts = 128
    says("There are some bank conflicts here on the STS.{}s but no way to avoid them, and the hit "
         "just means a few extra clocks", sts)  # fmt: skip
    says("a comment in his `sgemm{}.sass`", sts)


def test_c_is_written_in_half_a_percent_of_the_time():
    size, bandwidth = SIZE**2 * 4, H200.memory_gb_per_s
    written = size / bandwidth / 1e6
    says("At {} `maxwell256` runs for {:.2f} ms, and the memory of an H200 takes {:,.0f} GB/s.",
         SIZE, ms(LARGE), bandwidth)  # fmt: skip
    says("Even four times as many sectors would take at most {:.1f} %.",
         4 * 100 * written / ms(LARGE))  # fmt: skip
    says("c is written once, after {} pairs of tiles are read and multiplied.", SIZE // K)
    explains("15.stores",
             "{:.1f} MB ÷ {:,.0f} GB/s = {:.4f} ms. {:.4f} ÷ {:.3f} = {:.2f} % of the time.",
             size / 1e6, bandwidth, written, written, ms(LARGE),
             100 * written / ms(LARGE))  # fmt: skip


# ---- What is left ----


def gray():
    """Return (loads and stores, others, cycles) of Gray's loop for 256 threads, per tile."""
    memory, cycles = (course.claimed(f"maxas, 256 threads: {what} of one turn of the main loop")
                      for what in ("loads and stores", "clocks"))  # fmt: skip
    return memory, gray_others(), cycles


def test_his_loop_has_more_instructions_than_cycles():
    multiply_adds, (memory, others, cycles) = K * SUM * SUM, gray()
    every = multiply_adds + memory + others
    assert every > cycles
    assert multiply_adds == instructions()[1]
    says("His version with {} threads has {} multiply-adds, {:.0f} loads and stores, and {:.0f} "
         "others: two additions, three XORs, a test, a barrier and a branch. Yet they take only "
         "{:.0f} cycles.", threads(LARGE), multiply_adds, memory, others, cycles)  # fmt: skip
    says("{} ÷ {:.0f} is {:.1f} %, the most that this loop could reach.",
         multiply_adds, cycles, 100 * multiply_adds / cycles)  # fmt: skip
    says("Gray's {:.0f} instructions would take {:.0f} cycles, and {} ÷ {:.0f} is {:.0f} %.",
         every, every, multiply_adds, every, 100 * multiply_adds / every)  # fmt: skip
    says("`maxwell256` also makes {} multiply-adds per tile.", multiply_adds)
    volta = min(one.year for one in devices.known() if one.architecture == "Volta")
    says("Since {} a scheduler starts one", volta)
    quotes.says("09", "Since Volta, in {}, a scheduler starts one.", volta)


def test_instructions_allow_80_percent_and_grays_92():
    every, useful, memory = instructions()
    shares = [100 * useful / one for one in (every, useful + sum(gray()[:2]))]
    assert max(shares) < published_share()
    says("if no warp ever waited, our loop would reach {:.0f} % and Gray's {:.0f} %. This design "
         "cannot reach {:.0f} % on an H200.", *shares, published_share())  # fmt: skip
    says("His multiply-adds are {:.0f} % of all instructions, and ours {:.0f} %. Most of our "
         "others are integer arithmetic for addresses.", *reversed(shares))  # fmt: skip
    integer = "IMAD", "LEA", "LOP3", "SHF", "IADD3", "ISETP"
    whole = (
        sum(way.mix.get(name, 0) for way in tile_iterations.ways_of(LARGE) for name in integer) / 2
    )
    assert whole > (every - useful - memory) / 2


def test_the_sample_is_in_the_machine_code(compiler):
    code = xray(LARGE.variant().kernel, LARGE.variant().step.signature, H200.arch).code
    names = [line.opcode.split(".")[0] for line in load_of_b.STATEMENTS]
    found = [[one.name for one in code[at : at + len(names)]] for at in range(len(code))]
    assert found.count(names) == 1


def test_eight_statements_of_the_sample_compute_with_start():
    lines, bits = load_of_b.STATEMENTS, 64
    integer = [line for line in lines if not line.opcode.startswith(("LD", "ULDC", "CS2R"))]
    assert len(integer) > len(lines) / 2
    says("Here is a sample from the loop: the {} instructions with which a warp loads the first "
         "quad of `b`, each as a statement in Python with names of ours. An address has {} bits, "
         "so it takes two registers.", len(lines), bits)  # fmt: skip
    says("From tile to tile only `start` changes: it grows by {}.", K)
    zeros = [number for number, line in enumerate(lines, start=1) if line.opcode == "CS2R"]
    says("The zeros of statements {} and {} must be set again", *zeros)
    kept = len(lines) - len(load_of_b.changing()) - len(zeros)
    assert not set(zeros) & set(load_of_b.changing())
    says("The {} others without `start` could be spared", kept)
    says("when `start` grows by {}, the address grows by the bytes of {} rows.", K, K)
    assert list(load_of_b.changing()) == [3, 7, 10, 13, 15, 17, 18, 20]


def test_two_blocks_fit_with_128_registers():
    record = record_of(LARGE.variant(), str(SIZE))

    def fit(registers):
        figures = threads(LARGE), registers, record.shared_bytes
        return occupancy(H200.compute_capability, *figures).blocks

    most = max(registers for registers in range(1, 256) if fit(registers) == 2)
    assert (fit(record.registers), fit(most + 1)) == (2, 1)
    says("A thread of `maxwell256` has {}, and with more than {} an SM would hold one block "
         "instead of two.", record.registers, most)  # fmt: skip
    assert fit(record.registers) * threads(LARGE) // WARP // 4 == 4
    says("With {} registers per thread an SM holds two blocks, so a scheduler has four warps.",
         record.registers)  # fmt: skip


def bank_cycles(one):
    """Return the cycles per 128 multiply-adds that register banks cost, by the model."""
    loop = recorded_loop(str(as_variant(one)))
    assert loop.multiply_adds == 128
    return loop.waits


@pytest.mark.slow
def test_register_banks_cost_13_slots_by_the_model():
    per, lesson, large, small = 128, 16, *map(bank_cycles, (LARGE, SMALL))
    says("By the model of lesson {} a warp loses {:g} cycles per {} multiply-adds. At this rate it "
         "is up to {:.0f} slots, if no other warp uses these cycles.",
         lesson, large, per, ALL * slots().multiply_adds * large / per)  # fmt: skip
    one = tile_iterations.slots_of(SMALL, str(SIZE))
    banks = ALL * one.multiply_adds * small / per
    says("Banks are no cause of all {:.0f}: `maxwell64` loses only {:g} cycles to them, which is "
         "up to {:.0f} slots, and has {:.0f} slots that were not measured.",
         ALL * slots().rest, small, banks, ALL * one.rest)  # fmt: skip
    assert banks < ALL * one.rest / 2


def test_36_slots_are_missing():
    one = slots()
    missing = round(ALL * (1 - one.multiply_adds))
    every, useful, loads = instructions()
    says("{:.0f} of the {} slots without a multiply-add have another instruction:",
         ALL * (one.loads_and_stores + one.others), missing)  # fmt: skip
    says("**{:.0f} slots have loads and stores.**", ALL * one.loads_and_stores)
    says("**{:.0f} slots have the {:.0f} others**, of which Gray's loop has {:.0f}.",
         ALL * one.others, every - useful - loads, gray()[1])  # fmt: skip
    says("## Third suspect: the stores {} of {} slots have no multiply-add. Neither bank conflicts "
         "nor the size of the tile explains them, and the last round of blocks costs about {:.0f}.",
         missing, ALL, ALL * one.last_round)  # fmt: skip
    empty = one.rest + one.last_round
    says("that the others cost {:.0f} slots of time. {:.0f} slots are empty, so sparing {:.0f} "
         "need not win {:.0f}.",
         ALL * one.others, ALL * empty, ALL * one.others, ALL * one.others)  # fmt: skip
    says("Of the {:.0f} empty slots the last round of blocks explains up to {:.0f}. The other "
         "{:.0f} were not measured.",
         ALL * empty, ALL * one.last_round, ALL * one.rest)  # fmt: skip


def test_warps_of_two_kernels_hardly_wait_for_words():
    pair = SMALL.variant(), ROWS_OF_16
    ready, held, barrier, fixed, words = (
        [profiled.share(one, *names) for one in pair]
        for names in (["selected", "not_selected"], ["dispatch_stall"], ["barrier"], ["wait"],
                      ["short_scoreboard", "long_scoreboard"])
    )  # fmt: skip
    says("| a warp's time | `maxwell64` | `warp_tiled`, rows of {} |", WARP // 2)
    says("| issues, or is ready while another one does | {:.0f} % | {:.0f} % |", *ready)
    says("| is held back by the dispatcher | {:.0f} % | {:.0f} % |", *held)
    says("| waits at the barrier | {:.0f} % | {:.0f} % |", *barrier)
    says("| waits a fixed number of cycles | {:.0f} % | {:.0f} % |", *fixed)
    says("| waits for a word from shared or global memory | {:.0f} % | {:.0f} % |", *words)
    assert all(few < min(more) for few, more in zip(words, zip(held, barrier, strict=True),
                                                    strict=True))  # fmt: skip


def test_the_profiler_counts_the_last_round():
    counters = profiled.counted(SMALL.variant())
    starting = counters["instructions"] / profiled.SCHEDULERS / H200.sms
    with_warps = starting / (counters["issue_percent"] / ALL) / counters["cycles"]
    says("a scheduler is without a warp in {:.1f} % of the cycles", ALL * (1 - with_warps))


def test_the_clock_was_held():
    record = record_of(LARGE.variant(), str(SIZE))
    says("The clock is no candidate: the GPU ran at {:,.0f} MHz, at which the peak is counted, "
         "too.", record.sm_clock_mhz)  # fmt: skip
    assert H200.boost_clock_mhz == record.sm_clock_mhz


def test_three_choices_bring_a_kernel_from_70_to_98_percent():
    frame = records.published("gemm_gpu")
    note = frame.loc[frame["kernel"] == "maxas", "note"].iloc[0]
    before = 70
    assert f"without the choice of banks, order and places {before} %" in note
    says("Gray writes that three choices can bring a kernel from {} % to {:.0f} %:",
         before, published_share())  # fmt: skip


def test_warp_tiled_is_faster_than_the_classic_at_every_size():
    assert all(ms(WARP_TILED, n) < ms(LARGE, n) for n in SIZES)
    assert ms(WARP_TILED) == ms(ROWS_OF_16)
    says("`warp_tiled` is faster than `maxwell256` at every size, at {} by {:.0f} %.",
         SIZE, 100 * (ms(LARGE) / ms(WARP_TILED) - 1))  # fmt: skip


def test_slots_filled_are_those_with_any_instruction():
    useful = instructions()[1]
    says("Here are the kernels of this lesson at {}, with a third map of `warp_tiled`:", SIZE)
    says("the slots with a multiply-add × instructions ÷ {}.", useful)
    for one in KERNELS:
        filled_with_sums = ALL * tile_iterations.slots_of(one, str(SIZE)).multiply_adds
        count = tile_iterations.instructions_per_tile(one)
        assert filled(one) == pytest.approx(filled_with_sums * count / useful)


def test_the_zig_zag_has_8_instructions_more_than_the_z_order_and_takes_as_long():
    assert shared_reads(Z_ORDER)[0] == pytest.approx(2, abs=0.02)
    more, few = map(tile_iterations.instructions_per_tile, (ZIG_ZAG, Z_ORDER))
    apart, margin = abs(ms(ZIG_ZAG) / ms(Z_ORDER) - 1), 0.1
    assert 100 * apart < margin
    for one in (ZIG_ZAG, Z_ORDER):
        record = record_of(one, str(SIZE))
        assert apart < record.time_ms_max / record.time_ms_min - 1
    says("The zig-zag has {:g} instructions more than the z-order, which is {:.1f} %. Its time is "
         "the same to within {} %, which is less than the repeated measurements differ. So these "
         "{:g} seem to have found empty slots.",
         more - few, 100 * (more / few - 1), margin, more - few)  # fmt: skip
    grown, slower = (100 * (what(SMALL) / what(LARGE) - 1)
                     for what in (tile_iterations.instructions_per_tile, ms))  # fmt: skip
    others = ALL * slots().others
    says("`maxwell64` has {:.0f} % more instructions than `maxwell256`, but takes only {:.0f} % "
         "longer. So {:.0f} slots with others need not be {:.0f} slots of time.",
         grown, slower, others, others)  # fmt: skip


def test_only_rows_of_16_multiply_before_the_barrier():
    before = {one: tile_iterations.multiply_adds_before_barrier(one) for one in KERNELS}
    slower = [before[one] for one in KERNELS if one is not ROWS_OF_16]
    assert all(ms(one) > ms(ROWS_OF_16) for one in KERNELS if one is not ROWS_OF_16)
    assert bank_cycles(Z_ORDER) == bank_cycles(ZIG_ZAG)
    width = sum(lane_maps.row_major.py_func(t)[0] == 0 for t in range(WARP))
    says("Why is the zig-zag slower than rows of {}?** Instructions hardly explain it,", width)
    says("register banks do not either: they cost {:g} cycles, and with rows of {} even {:g}.",
         bank_cycles(ZIG_ZAG), width, bank_cycles(ROWS_OF_16))  # fmt: skip
    says("With rows of {} the compiler has put {:g} multiply-adds between the last store and the "
         "barrier.", width, before[ROWS_OF_16])  # fmt: skip
    says("In the four slower kernels there are {:g} to {:g}.", min(slower), max(slower))
    assert before[LARGE] == 0
    says("`maxwell256` has no multiply-add before the barrier, and loses {:g} cycles to register "
         "banks.", bank_cycles(LARGE))  # fmt: skip


def test_the_balance_begins_with_the_large_design():
    says("`maxwell256` has {:.1f} slots with a multiply-add. Make the same balance for "
         "`maxwell64`: how many of its {} slots have what?",
         ALL * slots().multiply_adds, ALL)  # fmt: skip


def test_up_to_1024_the_small_design_is_the_fastest_and_then_warp_tiled():
    best = {n: min((SMALL, LARGE, WARP_TILED), key=lambda step: ms(step, n)) for n in SIZES}
    small = [n for n in SIZES if best[n] is SMALL]
    rest = [n for n in SIZES if best[n] is WARP_TILED]
    assert (*small, *rest) == SIZES
    width = sum(lane_maps.row_major.py_func(t)[0] == 0 for t in range(WARP))
    says("Up to {} `maxwell64` is the fastest of the three, and from {} on `warp_tiled`, with rows "
         "of {}.", small[-1], rest[0], width)  # fmt: skip


def test_the_library_does_not_reach_the_peak_either():
    record = record_of(LARGE.variant(), str(SIZE))
    says("cuBLAS does not reach the peak either: it has {:.0f} % at {}.",
         share(LARGE) / record.library_ratio, SIZE)  # fmt: skip


def test_four_lanes_want_four_registers_of_one_lane():
    # The zig-zag's lanes 0 and 2 have the first two quads of a row, so columns 0 to 3 are lane 0's.
    assert lane_maps.zig_zag.py_func(0) == (0, 0)
    says("For the first row of c lanes {} to {} want four different registers of one lane",
         0 * QUAD, QUAD - 1)  # fmt: skip


def test_half_of_the_warps_load_a():
    source = inspect.getsource(maxwell256)
    assert "LOADERS, WARPS = THREADS // 2, THREADS // 32" in source
    assert "loads_a = t < LOADERS" in source
