"""Check the figures and comparisons in lesson 22 against counts, machine code and records."""

from decimal import ROUND_DOWN, Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest

from gemm_kernels import LADDER as GEMM
from labs.exercises.one_mma.solution import one_mma
from tensor_kernels import LADDER
from tests import quotes
from utils import lessons as course
from utils.figures import fragments
from utils.lessons.lesson_22 import limits, pairs, rounding
from utils.lessons.lesson_23 import mma_alone
from utils.lessons.recorded import record_of
from utils.machine.devices import REFERENCE, find, slug
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.paths import DATA
from virtual_gpu.numbers.fragments import element_of_a, element_of_b, element_of_c

SIDE = 4096
FLOPS = 2 * SIDE**3
NAIVE = LADDER.step("mma_naive")
H200 = find(REFERENCE)
LIMITS = limits_of(H200.compute_capability)
T4 = find("Tesla T4")
LINE, ELEMENT = 128, np.float16().nbytes  # bytes
says = partial(quotes.says, "22")
explains = quotes.explains


def mma_of_product() -> int:
    return SIDE**3 // limits.MULTIPLY_ADDS


def lines(array: str) -> float:
    """Return the cache lines of an array that a warp loads per mma."""
    loads = limits.seen().accesses.query("kind == 'load' and array == @array")
    return loads["cache_lines"].sum() / limits.seen().totals["mma"]


def test_the_first_sentence_compares_cublas_with_the_peak_of_float32():
    ms = record_of(NAIVE, str(SIDE)).library_ms
    says("multiplies two float16 matrices of {}×{} in {:.2f} ms, and in float32 the lanes of the "
         "same chip would need at least {:.2f} ms", SIDE, SIDE, ms,
         FLOPS / H200.peak_gflops / 1e6)  # fmt: skip


def test_an_mma_does_the_work_of_32_instructions_of_a_warp():
    m, n, k = fragments.ROWS, fragments.COLUMNS, fragments.K
    products = m * n * k
    assert (m, n, k) == (limits.M, limits.N, limits.K)
    says("The {} lanes of a warp execute it together: they multiply {}×{} elements of `a` by {}×{} "
         "of `b`, and add the product to {}×{} sums. These are {:,} multiply-adds, for which a "
         "warp needs {} `FFMA` instructions", WARP, m, k, k, n, m, n, products,
         products // WARP)  # fmt: skip
    says("numbers of {} bits", 8 * ELEMENT)
    says("per lane: {} float32, {} float16, {} float16", fragments.SUMS, fragments.OF_A,
         fragments.OF_B)  # fmt: skip
    says("For how many of the {} lanes is an orange square in a grey column?", WARP)
    larger = LADDER.step("mma_pipelined").capability  # of the larger m16n8k16
    assert NAIVE.capability <= T4.compute_capability < larger
    says("the {} lanes of a warp hold its numbers together", WARP)
    says("One instruction, {} lanes", WARP)


def test_few_lanes_hold_factors_of_their_own_sums():
    found = [
        lane
        for lane in range(WARP)
        if {element_of_b(lane, i)[1] for i in range(2)}
        & {element_of_c(lane, i)[1] for i in range(4)}
    ]
    assert len(found) == fragments.lanes_with_own_factors() == 8
    lane = 13
    assert lane in found
    assert fragments.OPENS not in found  # the picture opens on a lane like most
    columns = sorted({element_of_c(lane, i)[1] for i in range(4)})
    text = """Lane {} is one: its numbers of b are in column {}, and its sums in columns {} and {}.
        Two of every eight lanes are like it. In the other {} no number of b is a factor of the
        lane's own sums."""
    explains("22.own", text, lane, element_of_b(lane, 0)[1], *columns, WARP - len(found))
    assert all(sum(first <= one < first + 8 for one in found) == 2 for first in range(0, WARP, 8))
    for one in range(WARP):
        rows = [{row for row, _ in fragments.cells_of(element, one, 4)}
                for element in (element_of_a, element_of_c)]  # fmt: skip
        assert rows[0] == rows[1]  # "in rows of its own sums"
    pairs = sorted({int(element_of_a(lane, 0)[1]) for lane in range(WARP)})
    says("`pair` is {}, {}, {} or {}", *pairs)


def test_sums_of_a_tensor_core_are_cut_off():
    bits = np.finfo(np.float16).nmant + 1
    says("has at most {} significant bits, so it is exact in float32, which has {}", 2 * bits,
         np.finfo(np.float32).nmant + 1)  # fmt: skip
    sums, row = rounding.sums_of(one_mma), rounding.EXPONENTS.index(rounding.ASKED)
    assert sums["FFMA"][row] == 0
    exact = sums["exact"][row]
    assert sums["mma"][row] == rounding.steps_above_one(one_mma) == int(exact)
    largest, small = float(rounding.factors()[0][row, 0]), rounding.power(rounding.ASKED)
    parts = round(rounding.UNIT / 2.0**rounding.ASKED)
    assert parts == 4  # "a quarter of a step"
    text = """All seven are within the {} bits, so they add up to {} ÷ {} = {:g} steps, and {:g} is
        cut off. FFMA: {:g} + {} is nearest to {:g}, seven times."""
    explains("22.rounding", text, rounding.ALIGNED_BITS, rounding.SMALL, parts, exact,
             exact - int(exact), largest, small, largest)  # fmt: skip
    says("Eight products are added, the first is {:g}, and each", largest)
    says("each of the other seven is {}⁻²⁵. That is a quarter of a *step*, the distance from {:g} "
         "to the next float32. **How many steps above {:g} is", small[0], largest,
         largest)  # fmt: skip
    assert small == "2⁻²⁵"
    says("For sums near {:g} it keeps {} bits "
         "behind the binary point, two more than float32", largest,
         rounding.ALIGNED_BITS)  # fmt: skip
    recorded = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "tensor_rounding.csv")
    assert not recorded["differing"].any()  # "every bit"
    (count,) = recorded["sums"].unique()
    says("In {} tests of {:,} sums our H200 gave every bit", len(recorded), count)
    assert rounding.ALIGNED_BITS - rounding.FRACTION_BITS == 2
    # Cutting off is biased: no sum of positive products is too large.
    assert all(by_warp <= right for by_warp, right in zip(sums["mma"], sums["exact"], strict=True))


def test_a_decimal_example_is_cut_down_too():
    one, small, step = Decimal("1.00"), Decimal("0.004"), Decimal("0.01")
    rounded = one
    for _ in range(3):
        rounded = (rounded + small).quantize(step)
    exact = one + 3 * small
    says("keeps two places, and three while it adds: {} + {} + {} + {} stays {} if each sum is "
         "rounded. Added at once, it is {}, cut down to {}.", one, small, small, small, rounded,
         exact, exact.quantize(step, ROUND_DOWN))  # fmt: skip


def test_loads_of_a_fragment_touch_a_cache_line_per_row():
    rows = {element_of_a(lane, 0)[0] for lane in range(WARP)}
    steps = {element_of_b(lane, 0)[0] for lane in range(WARP)}
    assert (lines("a"), lines("b")) == (4 * len(rows), 2 * len(steps))
    total = limits.lines_per_mma(limits.seen())
    assert total == lines("a") + lines("b")
    text = """A load of a has the elements with one number: they are in {} rows, which are {} cache
        lines. Four loads: {:.0f}. A load of b has elements of {} rows and {} adjacent columns,
        which are {} cache lines. Two loads: {:.0f}."""
    explains("22.lines", text, len(rows), len(rows), lines("a"), len(steps), fragments.COLUMNS,
             len(steps), lines("b"))  # fmt: skip
    says("In matrices of {}×{} float16 a row has {:,} bytes, and a cache line has {}", SIDE, SIDE,
         SIDE * ELEMENT, LINE)  # fmt: skip
    says("from up to {} cache lines", len(rows))


def test_cache_lines_explain_most_of_the_time():
    needed, ms = limits.estimates(str(SIDE)), course.recorded_ms(NAIVE, str(SIDE))
    naive = course.recorded_ms(GEMM.step("naive"), str(SIDE))
    peak, ghz = H200.tensor_gflops, H200.boost_clock_mhz / 1e3
    says("The product has {}³ multiply-adds, an `mma` does {:,} of them, and {} SMs share the "
         "`mma`.", SIDE, limits.MULTIPLY_ADDS, H200.sms)  # fmt: skip
    says("at {:.2f} GHz. **How many ms do the cache lines of `mma_naive` need by this "
         "estimate, at {}", ghz,
         SIDE)  # fmt: skip
    says("`mma_naive` takes {:.1f} ms, and `naive` of lesson 05, in float32 and without tensor "
         "cores, {:.1f} ms. At the peak of the data sheet, {:.0f} TFLOP/s, the tensor cores need "
         "{:.2f} ms, so `mma_naive` reaches {:.1f} % of the peak.", ms, naive, peak / 1e3,
         needed["tensor cores"], 100 * FLOPS / ms / 1e6 / peak)  # fmt: skip
    per_mma = limits.lines_per_mma(limits.seen())
    cycles = mma_of_product() * per_mma / H200.sms
    text = """{}³ ÷ {:,} = {:.1f} million mma, with {:.0f} cache lines each, on {} SMs: {:.1f}
        million cycles. At {:.2f} GHz these are {:.1f} ms."""
    explains("22.ms", text, SIDE, limits.MULTIPLY_ADDS, mma_of_product() / 1e6, per_mma, H200.sms,
             cycles / 1e6, ghz, needed["cache lines"])  # fmt: skip
    assert needed["cache lines"] == pytest.approx(cycles / ghz / 1e6)
    share = round(100 * needed["cache lines"] / ms)
    resident = occupancy(H200.compute_capability, WARP, record_of(NAIVE, str(SIDE)).registers, 0)
    assert resident.blocks == resident.warps == LIMITS.blocks_per_sm
    assert LIMITS.warps_per_sm == 2 * resident.warps  # "half of it"
    says("the cache lines alone need {} % of its time. A candidate for the other {} % is that an "
         "SM has room for {} blocks and {} warps", share, 100 - share, LIMITS.blocks_per_sm,
         LIMITS.warps_per_sm)  # fmt: skip
    assert max(needed, key=needed.get) == "cache lines"


@pytest.mark.slow
def test_pairs_of_a_need_fewer_cache_lines():
    loads = pairs.traced(pairs.by_pairs).accesses.query("kind == 'load'")
    mma = pairs.traced(pairs.by_pairs).totals["mma"]
    of_a, of_b = (loads.query("array == @name")["cache_lines"].sum() / mma for name in "ab")
    rows = {element_of_a(lane, 0)[0] for lane in range(WARP)}
    says("Two loads of `a`, each with {} rows, are {:.0f} cache lines. The two loads of `b` have "
         "{:.0f}, as before", len(rows), of_a, of_b)  # fmt: skip
    assert of_b == lines("b")
    says("{:.0f} cache lines need {:.1f} ms instead of {:.1f} ms", pairs.lines(),
         limits.lines_ms(pairs.lines()), limits.estimates()["cache lines"])  # fmt: skip
    single, paired = map(pairs.recorded_ms, ("single_loads", "pairs"))
    says("Without guards and with single loads, the product takes {:.2f} ms on an H200", single)
    before, after = limits.estimates()["cache lines"], limits.lines_ms(pairs.lines())
    explains("22.pairs", "The cache lines need {:.2f} − {:.2f} = {:.2f} ms less, and {:.2f} − "
             "{:.2f} is {:.2f}. The record says {:.2f} ms: with pairs the product is {:.1f} times "
             "as fast as with single loads.", before, after, before - after, single,
             before - after, single - before + after, paired, single / paired)  # fmt: skip
    assert 0.9 * (before - after) < single - paired < before - after  # "nearly as much"
    for lane in range(WARP):
        (row, column), right = element_of_a(lane, 0), element_of_a(lane, 1)
        assert right == (row, column + 1)  # "neighbours in a row"
        assert element_of_b(lane, 0)[0] != element_of_b(lane, 1)[0]  # "in two rows"


def test_ffma_is_closer_if_1_comes_last():
    exact = rounding.SMALL * 2.0**rounding.ASKED / rounding.UNIT  # in steps of float32
    last = np.float32(rounding.SMALL * 2.0**rounding.ASKED) + np.float32(1)
    steps = (float(last) - 1) / rounding.UNIT
    row = rounding.EXPONENTS.index(rounding.ASKED)
    largest, mma = float(rounding.factors()[0][row, 0]), rounding.sums_of(one_mma)["mma"][row]
    says("because {:g} comes first. If {:g} came last, it would be added to all {:g} steps and the "
         "sum rounded to {:g}", largest, largest, exact, steps)  # fmt: skip
    assert steps - exact < exact - mma  # "closer"
    tie = -24
    assert 2 * 2.0**tie == rounding.UNIT
    assert rounding.sums_of(one_mma)["FFMA"][rounding.EXPONENTS.index(tie)] == 0
    assert np.float32(largest).view(np.uint32) % 2 == 0  # "even"
    says("At {}⁻²⁴ every addition is a tie, which goes to the even neighbour, {:g}.",
         rounding.power(tie)[0], largest)  # fmt: skip


def test_one_instruction_of_the_loop_multiplies():
    kinds = limits.loop()
    if kinds is None:
        pytest.skip("no compiler")
    assert kinds[limits.MMA] == 1
    assert kinds[limits.LOADS] == kinds[limits.ZEROS] == fragments.OF_A + fragments.OF_B == 6
    assert kinds[limits.JOINS] == (fragments.OF_A + fragments.OF_B) // 2 == 3
    says("A register holds two neighbours of a fragment")
    assert np.float32().nbytes == 2 * ELEMENT
    says("The {} guards, and six more `PRMT` that put a zero beyond an edge, have no use in a tile "
         "inside of the matrices. The largest part is the {} of indices and addresses",
         kinds[limits.GUARDS], kinds[limits.ADDRESSES])  # fmt: skip
    every = sum(kinds.values())
    assert max(kinds, key=kinds.get) == limits.ADDRESSES
    says("{} instructions go with its `HMMA`. All {}, for each of {:.1f} million `mma`, are the "
         "bar of {:.1f} ms at {:.2f} GHz, the clock of the recorded run. The data sheet's peak is "
         "for {:.2f} GHz.", every - 1, every, mma_of_product() / 1e6,
         limits.estimates()["instructions"], record_of(NAIVE, str(SIDE)).sm_clock_mhz / 1e3,
         H200.tensor_gflops / H200.sms / limits.OPERATIONS)  # fmt: skip
    assert record_of(NAIVE, str(SIDE)).sm_clock_mhz == H200.boost_clock_mhz


def test_a_scheduler_has_one_cycle_for_another_instruction():
    operations, of_mma = limits.OPERATIONS, 2 * limits.MULTIPLY_ADDS  # per SM and cycle, per mma
    says("an SM of an H200 does {:,} operations per cycle on its tensor cores, and an `mma` has "
         "{:,}. An SM has {} schedulers, and each starts at most one instruction per cycle.",
         operations, of_mma, LIMITS.sub_partitions)  # fmt: skip
    cycles = of_mma * LIMITS.sub_partitions // operations
    assert limits.slots_per_mma() == cycles
    text = """{:,} ÷ {:,} = {} HMMA per cycle of an SM. Its {} schedulers share them, so each starts
        one every {} cycles. In {} cycles it starts {} instructions: the HMMA and {} other."""
    explains("22.slots", text, operations, of_mma, operations // of_mma, LIMITS.sub_partitions,
             cycles, cycles, cycles, cycles - 1)  # fmt: skip


def test_the_grey_steps_and_cublas():
    steps = [step for step in LADDER.steps if step.name not in ("mma_naive", "mma_bfloat16")]
    fastest = min(course.recorded_ms(step, str(SIDE)) for step in steps)
    library = record_of(NAIVE, str(SIDE)).library_ms
    shares = (100 * FLOPS / ms / 1e6 / H200.tensor_gflops for ms in (fastest, library))
    says("The fastest reaches {:.0f} % of the peak at {}, and cuBLAS {:.0f} %", next(shares), SIDE,
         next(shares))  # fmt: skip
    alone = mma_alone.best().efficiency
    says("`mma` reaches {:.0f} % on our H200 and no more", 100 * alone)
    assert FLOPS / library / 1e6 / H200.tensor_gflops > 1.1 * alone  # "another instruction"
    major, minor = H200.compute_capability
    name = f"nvjet_sm{major}{minor}"
    assert mma_alone.library_kernel().kernel.startswith(name)
    says("The name of its kernel begins with `{}`, and `sm_{}{}` is the architecture", name, major,
         minor)  # fmt: skip
    small, shared = 512, LADDER.step("mma_shared")
    assert course.recorded_ms(shared, str(small)) > course.recorded_ms(NAIVE, str(small))
    best = {"BM": 128, "BN": 128}
    blocks = small**2 // (best["BM"] * best["BN"])
    says("At {} `mma_shared` is slower than `mma_naive`: its blocks of {}×{} are only {}, for {} "
         "SMs", small, best["BM"], best["BN"], blocks, H200.sms)  # fmt: skip
    params = record_of(shared, str(small)).params
    assert all(f"{name}={size}" in params for name, size in best.items())


def test_every_element_is_loaded_by_many_warps():
    says("In a product of {} an element of `a` is loaded by {} warps and an element of `b` by {}, "
         "and a request brings a warp {} elements", SIDE, SIDE // limits.N, SIDE // limits.M,
         WARP)  # fmt: skip


def test_the_other_steps_are_faster():
    steps = [step for step in LADDER.steps if step.name != "mma_naive"]
    assert all(
        course.recorded_ms(step, str(SIDE)) < course.recorded_ms(NAIVE, str(SIDE)) for step in steps
    )


def test_a_t4_can_run_the_kernels():
    assert T4.compute_capability >= (7, 5)
    assert NAIVE.capability <= (7, 5)
