"""Check the figures and comparisons in lesson 22 against counts, machine code and records."""

from functools import partial

import numpy as np
import pytest

from gemm_kernels import LADDER as GEMM
from labs.exercises.one_mma.solution import one_mma
from tensor_kernels import LADDER
from tests import quotes
from utils import lessons as course
from utils.figures import fragments
from utils.lessons.lesson_22 import limits, rounding
from utils.lessons.recorded import record_of
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import WARP
from virtual_gpu.numbers.fragments import element_of_a, element_of_b, element_of_c

SIDE = 4096
FLOPS = 2 * SIDE**3
NAIVE = LADDER.step("mma_naive")
H200 = find(REFERENCE)
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
    says("How many of the {} lanes hold", WARP)
    says("One instruction, {} lanes", WARP)
    says("An `HMMA` does {:,} multiply-adds", products)


def test_few_lanes_hold_factors_of_their_own_sums():
    found = [
        lane
        for lane in range(WARP)
        if {element_of_b(lane, i)[1] for i in range(2)}
        & {element_of_c(lane, i)[1] for i in range(4)}
    ]
    assert len(found) == fragments.lanes_with_own_factors() == 8
    lane = fragments.OPENS
    columns = sorted({element_of_c(lane, i)[1] for i in range(4)})
    text = """Lane {} is one: its numbers of b are in column {}, and its sums in columns {} and {}.
        Two of every eight lanes are like it, and all others hold factors of sums that they do not
        have."""
    explains("22.own", text, lane, element_of_b(lane, 0)[1], *columns)
    assert all(sum(first <= one < first + 8 for one in found) == 2 for first in range(0, WARP, 8))
    pairs = sorted({int(element_of_a(lane, 0)[1]) for lane in range(WARP)})
    says("`pair` is {}, {}, {} or {}", *pairs)


def test_sums_of_a_tensor_core_are_cut_off():
    bits = np.finfo(np.float16).nmant + 1
    says("has at most {} significant bits, so it is exact in float32, which has {}", 2 * bits,
         np.finfo(np.float32).nmant + 1)  # fmt: skip
    sums, row = rounding.sums_of(one_mma), rounding.EXPONENTS.index(rounding.ASKED)
    assert rounding.closer(one_mma) == "one mma"
    assert sums["FFMA"][row] == 0
    exact = sums["exact"][row]
    assert sums["mma"][row] == int(exact)
    largest, small = float(rounding.factors()[0][row, 0]), rounding.power(rounding.ASKED)
    text = """FFMA: {:g} + {} is halfway between two float32 and is rounded to {:g}, seven times.
        mma: all seven are within its {} bits, so they add up to {:g} steps of float32, and {:g} is
        cut off."""
    explains("22.rounding", text, largest, small, largest, rounding.ALIGNED_BITS, exact,
             exact - int(exact))  # fmt: skip
    says("Eight products are added, the first is {:g}, and each", largest)
    says("each of the other seven is {}⁻²⁴. That is half of the distance from {:g} to the next "
         "float32", small[0], largest)  # fmt: skip
    says("rounded to the even neighbour, here to {:g}", largest)
    says("For sums near {:g} an H200 keeps these bits", largest)
    assert 2.0**rounding.ASKED == rounding.UNIT / 2  # "half of the distance"
    # Cutting off is biased: no sum of positive products is too large.
    assert all(by_warp <= right for by_warp, right in zip(sums["mma"], sums["exact"], strict=True))


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
    says("At {} the tensor cores need {:.2f} ms, if they work at the peak of the data sheet, {:.0f}"
         " TFLOP/s. `naive` of lesson 05, in float32 and without tensor cores, takes {:.1f} ms. "
         "The H200 has {} SMs at {:.2f} GHz", SIDE, needed["tensor cores"], peak / 1e3, naive,
         H200.sms, ghz)  # fmt: skip
    per_mma = limits.lines_per_mma(limits.seen())
    cycles = mma_of_product() * per_mma / H200.sms
    text = """{}³ ÷ {:,} = {:.1f} million mma, with {:.0f} cache lines each, on {} SMs: {:.1f}
        million cycles. At {:.2f} GHz these are {:.1f} ms. At their peak the tensor cores need
        {:.2f} ms."""
    explains("22.ms", text, SIDE, limits.MULTIPLY_ADDS, mma_of_product() / 1e6, per_mma, H200.sms,
             cycles / 1e6, ghz, needed["cache lines"], needed["tensor cores"])  # fmt: skip
    assert needed["cache lines"] == pytest.approx(cycles / ghz / 1e6)
    share = round(100 * needed["cache lines"] / ms)
    says("reaches {:.1f} % of the peak, and is {:.1f} times as fast as <code>naive</code>. The "
         "cache lines alone need {} % of its time. What the remaining {} % are",
         100 * FLOPS / ms / 1e6 / peak, naive / ms, share, 100 - share)  # fmt: skip
    assert max(needed, key=needed.get) == "cache lines"


def test_one_instruction_of_the_loop_multiplies():
    names = limits.loop()
    if names is None:
        pytest.skip("no compiler")
    assert names.count("HMMA") == 1
    assert names.count("LDG") == fragments.OF_A + fragments.OF_B
    # "joined": an instruction puts two elements of 16 bits into a register.
    assert names.count("PRMT") >= (fragments.OF_A + fragments.OF_B) // 2
    says("A register has {} bits", 8 * np.float32().nbytes)


def test_every_element_is_loaded_by_many_warps():
    says("In a product of {} an element of `a` is loaded by {} warps and an element of `b` by {}, "
         "and a request brings a warp {} elements", SIDE, SIDE // limits.N, SIDE // limits.M,
         WARP)  # fmt: skip


def test_the_other_steps_are_faster():
    steps = [step for step in LADDER.steps if step.name != "mma_naive"]
    assert all(
        course.recorded_ms(step, str(SIDE)) < course.recorded_ms(NAIVE, str(SIDE))
        for step in steps
    )


def test_a_t4_can_run_the_kernels():
    assert T4.compute_capability >= (7, 5)
    assert NAIVE.capability <= (7, 5)
