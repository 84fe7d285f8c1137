"""Check the claims of lesson 02 against counts, machine code, records and sources."""

import re
from collections import OrderedDict, defaultdict
from functools import cache, partial
from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from gemm_kernels.cpu import LADDER
from gemm_kernels.cpu.tuning.peak import Peak
from tests import quotes
from utils import lessons as course
from utils.lessons.code import show_change
from utils.lessons.lesson_02 import cache_sets, loop_orders
from utils.lessons.lesson_02.cache_sets import (
    L2_SETS,
    L2_WAYS,
    SETS,
    WAYS,
    in_each_set,
    room,
    room_in_l2,
)
from utils.lessons.lesson_02.loop_orders import LINE, SIDE
from utils.lessons.lesson_02.single_core import FEW_LINES, LINE_BYTES, NO_VECTORS
from utils.lessons.recorded import CPU
from utils.machine.processors import INSTRUCTION_SETS, TABLE
from utils.measuring import records
from utils.paths import ROOT

NAIVE, REORDERED = LADDER.step("naive"), LADDER.step("loop_reordered")
PARALLEL = LADDER.step("naive_parallel")
SIZES = ("64", "128", "256", "512", "1024", "2048")
SMALL, SECOND, _, MIDDLE, LARGE, LARGEST = map(int, SIZES)
WORD = np.float32().nbytes
KIB, MIB, GIGA = 2**10, 2**20, 10**9
IN_LINE = LINE_BYTES // WORD  # words
TERMS, COLUMNS = 64, 16  # of the followed product
WORKLOAD = "2000x600x2000"
followed = cache(course.follow)
TUNING = (ROOT / "gemm_kernels/cpu/tuning/TUNING.md").read_text("utf-8")
L1, L2 = map(int, re.search(r"(\d+) KiB L1, (\d+) MiB L2", TUNING).groups())  # KiB, MiB
CLOCK = float(re.search(r"between 3.7 and ([\d.]+) GHz", TUNING)[1])
UNITS = int(re.search(r"Zen 5,(\d+),", TABLE.read_text("utf-8"))[1])
LANES = max(INSTRUCTION_SETS)
CORE = CLOCK * UNITS * LANES * 2
says = partial(quotes.says, "02")
explains = quotes.explains


def gflops(step, shape: object) -> float:
    size = LADDER.parse(str(shape))
    return size.flops / course.recorded_ms(step, str(shape)) / 1e6


def faster(shape: object, slow=NAIVE, fast=REORDERED) -> float:
    return course.recorded_ms(slow, str(shape)) / course.recorded_ms(fast, str(shape))


def misses(step, shape: str, lines: int) -> dict[str, int]:
    return course.cache_misses(followed(step, shape), lines)


def test_the_same_work_takes_seconds_or_milliseconds():
    slow, fast = (course.recorded_ms(step, str(LARGE)) for step in (NAIVE, REORDERED))
    says("take {:.1f} s in one order of three loops, and {:.0f} ms in another", slow / 1000, fast)
    says("It is the order that takes {:.1f} s, on one core of an AMD EPYC at {}×{}×{}.",
         slow / 1000, LARGE, LARGE, LARGE)  # fmt: skip
    assert CPU == "AMD EPYC"


def test_the_picture_has_11_cache_lines_and_5():
    says("here a float32 of {} bytes", WORD)
    says("In the picture a matrix has {}×{} words, and a cache line has {} of them.",
         SIDE, SIDE, LINE)  # fmt: skip
    says("in `b` it is {} words with k innermost, and {} with n innermost", SIDE, SIDE // SIDE)
    down, along = (
        len(loop_orders._lines(order, SIDE - 1))
        for order in (loop_orders._along_k, loop_orders._along_n)
    )
    says("So {} multiply-adds load {} cache lines in one order, and {} in the other.",
         SIDE, down, along)  # fmt: skip


def test_each_multiply_add_brings_a_cache_line_and_then_16_times_fewer_come():
    shape = f"1x{COLUMNS}x{TERMS}"
    down, along = (misses(step, shape, FEW_LINES) for step in (NAIVE, REORDERED))
    says("{}×{}×{} means one row of `a`, {} columns of `b`, and {} terms",
         along["c"], COLUMNS, TERMS, COLUMNS, TERMS)  # fmt: skip
    says("has {} bytes, which are {} words, so each row of this `b` is exactly one cache line. `b` "
         "has {} of them.", LINE_BYTES, IN_LINE, along["b"])  # fmt: skip
    says("of a cache holds {} cache lines", FEW_LINES)
    says("come in all, for the {} columns?", COLUMNS)
    says("The row of `a` has {} cache lines, which `naive` loses and loads again for each column.",
         along["a"])  # fmt: skip
    assert down == {"a": along["a"] * COLUMNS, "b": TERMS * COLUMNS, "c": COLUMNS}
    assert along == {"a": TERMS // IN_LINE, "b": TERMS, "c": 1}
    fewer = sum(down.values()) // sum(along.values())
    assert sum(down.values()) == fewer * sum(along.values())
    says("In the small model {} times fewer cache lines came, and in the record the product was "
         "{:.0f} times faster.",
         fewer, faster(LARGE))  # fmt: skip
    explains(
        "02.lines",
        """The second column begins with the first row of b, whose cache line {} later ones have
        replaced. So each of the {} · {} = {:,} multiply-adds loads a cache line, although b has
        only {} of them.""",
        FEW_LINES, COLUMNS, TERMS, down["b"], TERMS,
    )  # fmt: skip


def test_the_first_cache_has_768_cache_lines_and_sets_of_12():
    says("**L1**, has {} KiB. That is room for {} cache lines.", L1, L1 * KIB // LINE_BYTES)
    assert SETS * WAYS == L1 * KIB // LINE_BYTES
    says("is divided into {} **sets**, each with room for {} cache lines, and cache line x may "
         "only be in set x modulo {}.", SETS, WAYS, SETS)  # fmt: skip
    apart = LARGE * WORD // LINE_BYTES
    says("A row of {} words is {} cache lines long. So the next element of a column is {} cache "
         "lines further on", LARGE, apart, apart)  # fmt: skip
    assert len(in_each_set(LARGE, LARGE)) == 1


def lost_in_sweeps(words: int, rows: int, sets: int, ways: int) -> int:
    """Count the cache lines of a column that a second sweep does not find.

    Each set replaces its least recently used line.
    """
    held, lost = defaultdict(OrderedDict), 0
    for sweep in range(2):
        for row in range(rows):
            line = row * words * WORD // LINE_BYTES
            one = held[line % sets]
            lost += sweep == 1 and line not in one
            one.pop(line, None)
            one[line] = None
            if len(one) > ways:
                one.popitem(last=False)
    return lost


def test_a_set_that_gets_more_than_it_holds_loses_all():
    says("At {}×{}×{} and {}×{}×{} a column of `b` has {} and {} cache lines, and L1 has room for "
         "{}.",
         *[SMALL] * 3, *[SECOND] * 3, SMALL, SECOND, SETS * WAYS)  # fmt: skip
    assert room(SMALL, SMALL) == SMALL
    (each,) = set(in_each_set(SECOND, SECOND).values())
    says("At {} each used set gets {} cache lines.", SECOND, each)
    says("Then the last {} push out the first {}, the first {} come again and push out the next {}",
         *[each - WAYS] * 4)  # fmt: skip
    assert lost_in_sweeps(SECOND, SECOND, SETS, WAYS) == SECOND
    assert lost_in_sweeps(SMALL, SMALL, SETS, WAYS) == 0
    says("so all {} come anew for every column, although {} would have room",
         SECOND, room(SECOND, SECOND))  # fmt: skip
    says("At {} no set is too full", SMALL)
    says("falls from {:.1f} GFLOP/s at {} to {:.1f} at {}",
         gflops(NAIVE, SMALL), SMALL, gflops(NAIVE, SECOND), SECOND)  # fmt: skip


def test_16_more_columns_are_little_more_work_and_use_all_sets():
    more = 1040 - LARGE
    says("### {} more columns", more)
    says("Now `b` has {} rows of {} words, and we make its rows {} words longer. That is {:.1f} % "
         "more work.", LARGE, LARGE, more, 100 * more / LARGE)  # fmt: skip
    says("`a` has only {} rows", cache_sets.ROWS)
    assert cache_sets.COLUMN == LARGE
    says("**L2**, has {} MiB in {:,} sets with room for {} cache lines each.", L2, L2_SETS, L2_WAYS)
    assert L2_SETS * L2_WAYS * LINE_BYTES == L2 * MIB


def test_at_1024_words_alone_l2_loses_the_column():
    for n in cache_sets.LENGTHS:
        assert min(in_each_set(n, LARGE).values()) > WAYS
        assert lost_in_sweeps(n, LARGE, SETS, WAYS) == LARGE
        assert lost_in_sweeps(n, LARGE, L2_SETS, L2_WAYS) == (LARGE if n == LARGE else 0)
        assert (room_in_l2(n, LARGE) < LARGE) == (n == LARGE)
    says("every set that the column uses gets more than {} cache lines", WAYS)
    used = in_each_set(LARGE, LARGE, L2_SETS)
    (each,) = set(used.values())
    says("At {} words the column uses {} of its sets, and each gets {} cache lines for {} places.",
         LARGE, len(used), each, L2_WAYS)  # fmt: skip


def test_the_change_carries_its_two_sentences():
    change = show_change(NAIVE, REORDERED, whole=True).data
    assert "for row in range(m)" in change
    assert "must begin at zero" in change
    assert "walked along a row" in change


def test_the_factor_grows_with_the_size():
    here = [faster(size) for size in SIZES]
    assert here == sorted(here)


def test_at_64_there_is_a_second_reason():
    says("At {}×{}×{} all of `b` has {} KiB and stays in L1.",
         SMALL, SMALL, SMALL, SMALL**2 * WORD // KIB)  # fmt: skip
    says("is n innermost at {}, in the record?", SMALL)
    assert SMALL**2 * WORD < L1 * KIB / 2
    slow, fast = (course.recorded_ms(step, str(SMALL)) for step in (NAIVE, REORDERED))
    explains(
        "02.small",
        """The cache saves nothing here: b has {} KiB, and no order loses a cache line. Recorded
        are {:.4f} and {:.4f} ms, {:.1f} times, so there is a second reason.""",
        SMALL**2 * WORD // KIB, slow, fast, faster(SMALL),
    )  # fmt: skip


def test_twice_the_terms_take_hardly_more_cycles_where_rows_are_short():
    says("innermost loop {:,} times, for {} terms each", SMALL**2, SMALL)
    short, twice = (
        CLOCK * 1e6 * course.recorded_ms(REORDERED, str(size)) / size**2 for size in (SMALL, SECOND)
    )
    says("only {:.1f} times faster at {}, although one instruction multiplies several floats?",
         faster(SMALL), SMALL)  # fmt: skip
    says("one run of the innermost loop takes {:.0f} cycles there. At {} it has twice the terms, "
         "and takes {:.0f}", short, SECOND, twice)  # fmt: skip
    assert SECOND == 2 * SMALL
    says("So most of the time at {} does not come from the terms", SMALL)
    assert 2 * short - twice > short / 2  # what a run costs once, where the rest grows with it


def test_short_sums_hide_most_of_their_latency():
    cycles = CLOCK * 2 / gflops(NAIVE, SMALL)
    says("at {} the recorded `naive` takes only {:.1f} cycles per multiply-add", SMALL, cycles)


def test_both_reasons_together_give_the_direction_and_not_the_factor():
    both = IN_LINE * faster(SMALL)
    says("would make {} · {:.1f} = {:.0f} times", IN_LINE, faster(SMALL),
         IN_LINE * round(faster(SMALL), 1))  # fmt: skip
    says("is below that up to {}, and above it from {} on", MIDDLE, LARGE)
    assert all((faster(size) > both) == (int(size) >= LARGE) for size in SIZES)


def test_vectors_are_made_of_the_reordered_loop_alone():
    assert course.vector_loop(NAIVE) == NO_VECTORS
    kinds = course.multiplications(NAIVE, REORDERED)
    assert set(kinds.rows[0][2:]) == {"0"}
    assert "0" not in kinds.rows[1][1:]  # wide vectors, a shorter one, single floats
    says("A register `ymm` holds {} floats, and `zmm` {}.", *sorted(INSTRUCTION_SETS)[-2:])
    loop = course.vector_loop(REORDERED)
    if "%" in loop:  # x86
        assert loop.count("vmulps") == loop.count("vaddps") == loop.count("vmovups") > 0
        assert "vfm" not in loop


def test_the_recorded_core_has_two_units_of_16_floats_and_that_clock():
    says("{} GHz, {} units, and vectors of {}.", CLOCK, UNITS, LANES)
    says("clock × FMA units × floats in a vector × {}", int(Peak(1, 1.0, 1, 1.0).computed))
    says("and the {} is the multiplication and the addition", int(Peak(1, 1.0, 1, 1.0).computed))
    wide = max(lanes for lanes, name in INSTRUCTION_SETS.items() if name.startswith("AVX-512"))
    short = next(lanes for lanes, name in INSTRUCTION_SETS.items() if name.startswith("AVX2"))
    says("for vectors of {} and of {} floats", short, wide)
    best = records.measured(CPU, "cpu")
    best = best[~best["step"].str.contains("parallel")]
    assert (best["gflops"] < CORE).all()
    slips = records.published("cpu_peak").query("instruction_set == 'AVX-512'")
    printed = list(slips["peak_gflops_per_core"])
    assert slips["note"].str.contains("contradicts itself").all()
    rates = [int(rate) for rate in printed]
    (clock,) = set(slips["clock_ghz"])
    factors = [int(rate / clock) for rate in printed]
    says("with {} × {} and {} × {}, and prints {} and {} GFLOP/s; the right factors are {} and {}",
         clock, factors[0] // 2, clock, factors[1] // 2, *rates, *factors)  # fmt: skip


def test_the_sources_program_waits_and_executes_more():
    one, eight = (
        course.claimed(f"ten {kind} products, whole program") for kind in ("sequential", "parallel")
    )
    alone, shared = (
        course.claimed(f"ten {kind} products: instructions per clock")
        for kind in ("sequential", "parallel")
    )
    notes = records.published("gemm_cpu")["note"].str.cat(sep=" ")
    busy = re.search(r"([\d.]+) CPUs busy", notes)[1]
    assert round(float(busy)) == 8
    size = re.search(r"(\d+)x(\d+) by (\d+)x(600)", notes)
    says("ten products of {}×{} by {}×{} with the first order", *size.groups())
    says("took {:.1f} s on one processor, and {:.1f} s with about eight busy, {:.1f} times faster.",
         one, eight, one / eight)  # fmt: skip
    says("{} alone and {} in each of eight, it would have been {:.1f} times",
         alone, shared, 8 * shared / alone)  # fmt: skip
    says("Its text says {}×{} for one matrix, and its listing has {} for most sizes.",
         size[1], re.search(r"its text has (\d+) columns", notes)[1],
         re.search(r"(\d+)x\1 by", notes.replace("2000x2000 by", ""))[1])  # fmt: skip
    assert "shares its variable sum" in notes


def test_one_core_with_the_right_order_beats_both_with_the_wrong_one():
    assert "2 cores" in TUNING
    assert faster(WORKLOAD, PARALLEL, REORDERED) > 10
    says("The second core makes it {:.2f} times faster", faster(WORKLOAD, NAIVE, PARALLEL))


def test_the_curves_rise_and_fall_as_they_are_told():
    naive, reordered = ([gflops(step, size) for size in SIZES] for step in (NAIVE, REORDERED))
    assert naive == sorted(naive, reverse=True)
    falls = [before / after for before, after in pairwise(naive)]
    assert falls[0] > max(falls[1:3])
    top = SIZES[reordered.index(max(reordered))]
    assert reordered[:4] == sorted(reordered[:4])
    assert reordered[3:] == sorted(reordered[3:], reverse=True)
    assert reordered[-1] / CORE == pytest.approx(0.1, abs=0.005)
    says("rises up to {} and falls after it, to a tenth of the peak at {}.", top, LARGEST)


def test_b_passes_at_less_than_half_the_rate_when_it_is_far_away():
    near, far = (n**3 * WORD / course.recorded_ms(REORDERED, str(n)) for n in (MIDDLE, LARGEST))
    assert far < near / 2
    says("At {} it has {} MiB, as much as", MIDDLE, MIDDLE**2 * WORD // MIB)
    assert MIDDLE**2 * WORD // MIB == L2
    says("At {} it has {} MiB and comes from further away, {} times.",
         LARGEST, LARGEST**2 * WORD // MIB, LARGEST)  # fmt: skip
    says("At {} `b` passes at less than half the rate", LARGEST)


@njit
def k_outermost(a, b, c):
    c[:, :] = 0
    for i in range(a.shape[1]):
        for row in range(c.shape[0]):
            for col in range(c.shape[1]):
                c[row, col] += a[row, i] * b[i, col]


@pytest.mark.slow
def test_k_outermost_brings_four_times_as_many_cache_lines_and_most_are_of_c():
    side, terms, lines = 16, 4, 8
    inside, outside = (
        misses(one, f"{side}x{side}x{terms}", lines) for one in (REORDERED, k_outermost)
    )
    few, many = (sum(one.values()) for one in (inside, outside))
    says("Take a product of {}×{}×{}.", side, side, terms)
    says("so `c` has {} cache lines. The cache of the model now holds {}.", inside["c"], lines)
    says("has a stride of {} again", side // side)
    assert 4 < many / few < 4.5
    assert outside["a"] > inside["a"]
    assert outside["b"] == inside["b"]
    explains(
        "02.outermost",
        """With m outermost a row of c waits in the cache for its {} terms, and {} cache lines come
        in all. With k outermost all of c passes {} times and once for its zeros, {} · {} = {} of
        {} cache lines.""",
        terms, few, terms, terms + 1, inside["c"], outside["c"], many,
    )  # fmt: skip


def test_the_exercise_joins_the_instructions_and_leaves_the_loads():
    joined = njit(fastmath={"contract"})(REORDERED.variant().kernel.py_func)
    before, after = course.vector_loop(REORDERED), course.vector_loop(joined)
    if "%" in before:  # x86
        assert "vfmadd" in after
        assert "vaddps" not in after
        assert stores(before) == stores(after) > 0


def stores(code: str) -> int:
    """Count the instructions whose last operand, the target, is in memory."""
    return sum(line.rstrip().endswith(")") for line in code.splitlines())
