"""Check the claims of lesson 01 against the records and the published sources."""

import inspect
import math
import re
import statistics
from functools import cache, partial

import numpy as np
import pytest

from gemm_kernels import LADDER
from labs import check
from labs.exercises import find
from labs.host.benchmark.faults import FEWEST
from latency_kernels import LADDER as LATENCY
from latency_kernels.hiding import curves
from tests import profiled, quotes
from tools.records.hot_loops import ARCH
from utils import lessons as course
from utils.ladder.shapes import GemmShape
from utils.lessons.inner_loops import compiled_loop
from utils.lessons.lesson_01 import printed_rate
from utils.machine import devices
from utils.machine.devices import KIB
from utils.machine.occupancy import WARP, occupancy
from utils.measuring import measure, pitfalls, records, timing
from utils.measuring.queue_model import NOISE
from utils.measuring.real_queue import ON_CPU

H200 = devices.find(devices.REFERENCE)
SIZES = (256, 512, 1024, 2048, 4096)
SMALL, *_, LARGE = SIZES
KERNELS = ("naive", "autotuned")
COPIED = 2**20  # floats
WORD = np.float32().nbytes
GIGA = 10**9
says = partial(quotes.says, "01")
code = partial(quotes.code, "01")
explains = quotes.explains


@cache
def us(kernel: str, size: int, timer: str) -> float:
    return 1000 * course.recorded_series(kernel, size, timer).time_ms


def rate(n: int, time_us: float) -> float:
    return GemmShape(n, n, n).flops / time_us / 1000


def read_us(floats: int) -> float:
    """Return the microseconds in which memory brings these floats, by the data sheet."""
    return floats * WORD / H200.memory_gb_per_s / 1000


def load_us(what: str) -> float:
    """Return the recorded microseconds of a single load from "L2" or "DRAM"."""
    frame = curves.recorded(H200).query("experiment == 'latency' and what == @what")
    (row,) = frame.itertuples()
    return row.value / row.sm_clock_mhz


def published(block: str):
    frame = records.published("gemm_gpu")
    return frame[(frame["device"] == "C2070") & (frame["block"] == block)].iloc[0]


def ten() -> int:
    return round(GIGA ** (1 / 9))


def two_to_the_30() -> int:
    """Return the giga of a source: 2^30, whose base is 2."""
    assert published("8x8").gflops_base == "2^30"
    return 2**30


# ---------------------------------------------------------------------------- work, time, rate


def test_a_product_has_two_operations_for_each_multiply_add():
    assert GemmShape(7, 5, 3).flops == 2 * 7 * 5 * 3
    assert find("gflops").solution(7, 5, 3, 1) == pytest.approx(0.21)


def test_the_first_rate_is_far_above_the_peak():
    printed = rate(LARGE, us("naive", LARGE, "launch"))
    assert printed == pytest.approx(printed_rate.printed_gflops())
    says("prints {:,.0f} GFLOP/s on a GPU whose float32 peak is {:,.0f}", float(f"{printed:.3g}"),
         H200.peak_gflops)  # fmt: skip
    assert printed > 10 * H200.peak_gflops
    low, high = printed_rate.printed_range()
    assert 2 < high / low < 3  # "more than twofold"
    assert low > H200.peak_gflops
    launches = course.recorded_series("naive", LARGE, "launch").times_us
    says("The {} launches differ more than twofold", len(launches))
    assert printed_rate.SIZE == LARGE


def test_a_source_divides_by_2_to_the_30():
    factor = two_to_the_30() / GIGA
    says("a GFLOP/s is {}⁹ FLOP/s", ten())
    says("Some sources divide by {:.0f}³⁰ instead", two_to_the_30() ** (1 / 30))
    says("too small by a factor of {:.3f}. In this course a giga is always {}⁹.", factor, ten())
    tiled, row = published("16x16"), published("8x8")
    for one in (tiled, row):
        assert round(rate(one.n, 1000 * one.time_ms) / factor) == one.gflops
    width, height = map(int, row.block.split("x"))
    says("It prints {:.1f} ms and {} GFLOP/s for a product by tiles of {}×{} at n = {}. Does it "
         "divide by {}⁹ or by {:.0f}³⁰?", row.time_ms, row.gflops, width, height, row.n,
         ten(), two_to_the_30() ** (1 / 30))  # fmt: skip
    true = rate(row.n, 1000 * row.time_ms)
    says("is {:.1f}, and divided by {:.3f} this is {:.1f}. So the source divides by {:.0f}³⁰.",
         true, factor, true / factor, two_to_the_30() ** (1 / 30))  # fmt: skip


# ------------------------------------------------------------------------------- the two waits


def test_the_small_product_looks_too_slow_without_a_wait():
    launch, alone = us("naive", SMALL, "launch"), us("naive", SMALL, "hot")
    says("At n = {} the kernel alone takes {:.1f} ms on the H200 of our records, but its launch "
         "returned after {:.1f} us. At n = {} the kernel alone takes {:.1f} us, and its launch "
         "returned after {:.1f} us", LARGE, us("naive", LARGE, "hot") / 1000,
         us("naive", LARGE, "launch"), SMALL, alone, launch)  # fmt: skip
    rates = rate(SMALL, launch), rate(SMALL, alone)
    says("So at {} the benchmark without a wait prints {:,.0f} GFLOP/s, and the kernel alone "
         "reaches {:,.0f}", SMALL, *rates)  # fmt: skip
    says("does the rate at n = {} come closer to {:,.0f}?", SMALL, rates[1])
    says("At {} the launch takes longer than the kernel", SMALL)
    says("Without a wait `naive` looks too *slow*, {:.1f} times", launch / alone)
    wall = us("naive", SMALL, "wall")
    assert alone < launch < wall
    explains("01.wait", """The clock now holds the launch and then the kernel, {:.1f} us: they are
             {:,.0f} GFLOP/s. With hot caches the kernel alone reaches {:,.0f} GFLOP/s. Without a
             wait the benchmark printed {:,.0f}.""", wall, rate(SMALL, wall),
             *rates[::-1])  # fmt: skip
    assert rate(SMALL, wall) < rates[0] < rates[1]


def test_the_first_call_takes_far_longer_than_a_later_one():
    says("took {:.0f} ms at n = {}, and a later one took {:.3f} ms",
         us("naive", SMALL, "first") / 1000, SMALL, us("naive", SMALL, "wall") / 1000)  # fmt: skip


# ------------------------------------------------------------------------------------- caches


def test_the_copy_on_the_cpu_has_the_sizes_that_the_lesson_names():
    (bits,) = re.findall(r"for bits in \((\d+), (?:\d+), (\d+)\)", code("copy"))
    copied, read = (WORD * 2 ** int(one) for one in bits)
    says("with a copy of {:.0f} KiB. Before each cold copy we read {:.0f} MiB of other memory",
         copied / KIB, read / KIB**2)  # fmt: skip


def test_a_copy_loses_less_with_cold_caches():
    longer = us("copy", COPIED, "cold") / us("copy", COPIED, "hot") - 1
    says("A copy of {:.0f}²⁰ floats takes only {:.0f} % longer, because each of its threads "
         "waits once", COPIED ** (1 / 20), 100 * longer)  # fmt: skip
    source = inspect.getsource(LATENCY.step("copy").variant().kernel.py_func)
    assert "while" not in source  # all loads of a thread start before its first store
    assert source.rindex("= x[") < source.index("out[")


def test_a_cold_small_product_waits_for_its_loads():
    hot, cold = us("naive", SMALL, "hot"), us("naive", SMALL, "cold")
    each = compiled_loop(LADDER.step("naive").variant(), ARCH).multiply_adds
    assert each == 4  # "unrolls the loop of a thread by four"
    iterations, bytes_us = SMALL // each, read_us(2 * SMALL**2)
    from_cache, from_memory = (round(load_us(what), 2) for what in ("L2", "DRAM"))
    says("`naive` at n = {}. With hot caches it takes {:.1f} us: the {:.2f} MB that it reads are "
         "then in the L2 cache. Memory brings them in {:.2f} us, at the {:,.0f} GB/s of the "
         "data sheet", SMALL, hot, 2 * SMALL**2 * WORD / 1e6, bytes_us,
         H200.memory_gb_per_s)  # fmt: skip
    assert H200.l2_kib * KIB > 2 * SMALL**2 * WORD
    says("so the {} values of k are {} iterations", SMALL, iterations)
    says("A single load takes {:.2f} us from the L2 cache, and {:.2f} us from memory",
         from_cache, from_memory)  # fmt: skip
    longer = from_memory - from_cache
    more = iterations * longer
    explains("01.cold", """Each of {} iterations waits {:.2f} - {:.2f} = {:.2f} us longer, so
             {:.1f} us: {:.1f} + {:.1f} us are {:.1f} us. Recorded are {:.1f} us, {:.0f} % more. The
             bytes alone would have added {:.2f} us.""", iterations, from_memory, from_cache,
             longer, more, hot, more, hot + more, cold, 100 * (cold / (hot + more) - 1),
             bytes_us)  # fmt: skip
    says("*Waiting* for the bytes adds {:.0f} % to the time of `naive` at {}",
         100 * (cold / hot - 1), SMALL)  # fmt: skip


def test_other_threads_work_while_some_wait():
    size = SIZES[1]
    hot, cold = us("naive", size, "hot"), us("naive", size, "cold")
    iterations = size // compiled_loop(LADDER.step("naive").variant(), ARCH).multiply_adds
    from_cache, from_memory = (round(load_us(what), 2) for what in ("L2", "DRAM"))
    longer = from_memory - from_cache
    says("At {} the same estimate adds {} · {:.2f} = {:.1f} us, but {:.1f} us are "
         "recorded", size, iterations, longer, iterations * longer, cold - hot)  # fmt: skip


def test_an_sm_has_four_times_as_many_threads_at_the_second_size():
    step = LADDER.step("naive")
    small, larger = (step.launch(GemmShape(n, n, n)) for n in SIZES[:2])
    assert small.block == larger.block
    fit = occupancy(H200.compute_capability, math.prod(small.block), step.budget.registers, 0)
    blocks = [math.prod(launch.grid) for launch in (small, larger)]
    assert blocks[1] == 4 * blocks[0]
    assert blocks[1] <= fit.blocks * H200.sms  # all blocks of both launches run at once


def test_a_cold_cache_costs_a_larger_product_less():
    hot, cold = ([us("naive", n, timer) for n in SIZES[2:]] for timer in ("hot", "cold"))
    more = [late - early for late, early in zip(cold, hot, strict=True)]
    shares = [100 * late / early for late, early in zip(more, hot, strict=True)]
    says("At {}, {} and {} a flush adds {:.0f} to {:.0f} us: {:.1f}, {:.1f} and {:.1f} %.",
         *SIZES[2:], min(more), max(more), *shares)  # fmt: skip
    limit = 0.3
    grown = [100 * (counted(n, "cold")["cycles"] / counted(n, "warm")["cycles"] - 1)
             for n in SIZES[2:]]  # fmt: skip
    assert max(map(abs, grown)) < limit < shares[1]
    says("In the profiler cold caches add less than {} %", limit)


@cache
def counted(size: int, caches: str) -> dict[str, float]:
    return profiled.counted("naive", size, caches)


def longer_waits(size: int) -> float:
    """Return how many cycles longer a warp waits for a word per instruction with cold caches."""
    return counted(size, "cold")["long_scoreboard"] - counted(size, "warm")["long_scoreboard"]


def test_the_waits_of_a_warp_are_the_cycles_that_cold_caches_add():
    threads = SMALL**2
    instructions = counted(SMALL, "cold")["instructions"] / (threads / WARP)
    more = counted(SMALL, "cold")["cycles"] - counted(SMALL, "warm")["cycles"]
    says("NVIDIA's profiler counted {:,.0f} cycles more, and in {:,.0f} of them a warp "
         "waits for a word", round(more, -2),
         round(instructions * longer_waits(SMALL), -2))  # fmt: skip


def test_longer_waits_cost_no_time_where_other_warps_work():
    larger = SIZES[1]
    assert round(longer_waits(SMALL)) == round(longer_waits(larger))
    says("A warp waits {:.0f} cycles longer per instruction, as at {}, but the launch takes no "
         "more cycles", longer_waits(larger), SMALL)  # fmt: skip
    assert counted(larger, "cold")["cycles"] <= counted(larger, "warm")["cycles"]


# ---------------------------------------------------------------------------------- many times


def test_one_long_time_moves_the_mean_and_not_the_median():
    repetitions = int(re.search(r"range\((\d+)\)", code("spread"))[1])
    longer = 100
    times = [1.0] * (repetitions - 1) + [float(longer)]
    says("If one of {} times is {} times as long as the others, the mean is almost six times too "
         "large", repetitions, longer)  # fmt: skip
    assert 5.9 < statistics.mean(times) < 6
    assert statistics.median(times) == 1
    says("the sentence that you would publish of the {} times in `mine`", repetitions)


def test_two_recorded_launches_are_outliers():
    *others, second, longest = sorted(course.recorded_series("naive", SMALL, "launch").times_us)
    says("{} of the {} recorded launches at n = {} took {:.1f} to {:.1f} us, the others {:.1f} and "
         "{:.1f} us", len(others), len(others) + 2, SMALL, others[0], others[-1], second,
         longest)  # fmt: skip


def test_the_product_on_a_cpu_touches_one_and_a_half_times_what_the_copy_touches():
    assert ON_CPU**2 * WORD == 256 * KIB
    says("three matrices of {} KiB, and the copy two such arrays", ON_CPU**2 * WORD // KIB)
    assert "more = 1.5 *" in code("run-benchmark")
    assert 3 / 2 == 1.5


def test_the_task_has_launches_that_were_too_fast_and_too_slow():
    assert min(NOISE) < 0.95
    assert max(NOISE) > 2


def test_the_solution_has_none_of_the_four_faults_and_the_starter_all():
    assert check("benchmark", find("benchmark").solution).passed
    starter = find("benchmark").starter_text
    assert "2**30" in starter
    assert "synchronize" not in starter
    assert "flush" not in starter


# ------------------------------------------------------------------------- how the course measures


def test_the_launch_lies_between_two_events_around_a_short_kernel():
    launch, alone = us("naive", SMALL, "launch"), us("naive", SMALL, "hot")
    says("At n = {} the launch of `naive` and its kernel take {:.1f} + {:.1f} = {:.1f} us, and "
         "{:.1f} us are recorded between the events", SMALL, launch, alone, launch + alone,
         us("naive", SMALL, "events"))  # fmt: skip


def test_the_times_of_the_kernel_alone_differ_least():
    def spread(timer):
        one = course.recorded_series("naive", SMALL, timer)
        return one.time_ms_max / one.time_ms_min

    drawn = re.findall(r'"(launch|wall|events|hot|cold)"', code("all-ways"))
    *others, hot, cold = drawn
    assert (hot, cold) == ("hot", "cold")
    assert max(spread(hot), spread(cold)) < 1.1 < min(map(spread, others))
    for timer in pitfalls.TIMERS:
        assert len(course.recorded_series("naive", SMALL, timer).times_us) == 20


def test_the_course_measures_as_the_lesson_says():
    says("A batch lasts about {:.0f} ms, and has at most {} launches", timing.REPETITION_MS,
         timing.MOST_LAUNCHES)  # fmt: skip
    longest_ms = longest_sleep_ms()
    says("twice as long as the host needs for all its launches, at most {} ms. So all of them "
         "are in the queue", longest_ms)  # fmt: skip
    assert 2 * timing.MOST_LAUNCHES * us("naive", SMALL, "launch") / 1000 < longest_ms
    says("A record is the median and the range of at least {} batches", timing.REPETITIONS)
    assert measure.L2_TIMES == 4  # "together four times as large as the cache"
    says("A kernel sleeps on the device for about {} us", pitfalls.HOLD_US)
    assert f"sleep[1, 1]({pitfalls.HOLD_US})" in code("kernel-us")
    assert all(us("naive", n, "launch") < pitfalls.HOLD_US for n in SIZES)
    assert timing.REPETITIONS == FEWEST
    assert measure.L2_TIMES >= 1
    assert LATENCY.step("copy").task.work(LATENCY.parse("2^28")).bytes


def longest_sleep_ms() -> int:
    """Return the end of the sleep before a batch, from the source of the course's timer."""
    (us,) = re.findall(r"min\(microseconds, ([\d_]+)\)", inspect.getsource(timing.hold_gpu))
    assert "2 * enqueue_us * launches" in inspect.getsource(timing._gpu_sample)
    return int(us) // 1000


# ------------------------------------------------------------------------- the clock of the host


def over(kernel: str, n: int) -> float:
    return us(kernel, n, "wall") / us(kernel, n, "hot")


def test_the_picture_has_the_last_product():
    assert list(LADDER.steps)[-1].name == KERNELS[-1]
    says("`{}` is the last product of our ladder", KERNELS[-1])


def test_the_clock_adds_about_one_launch():
    cases = [(kernel, n) for kernel in KERNELS for n in SIZES]
    added = {case: us(*case, "wall") - us(*case, "hot") for case in cases}
    in_launches = [more / us(*case, "launch") for case, more in added.items()]
    says("in these records {:.0f} to {:.0f} us, which is {:.1f} to {:.1f} times the launch beside "
         "it", *(end(one) for one in (added.values(), in_launches) for end in (min, max)))
    assert statistics.median(in_launches) == pytest.approx(1, abs=0.1)
    error, long, short = 0.03, 2500, 100
    assert all(over(*case) < 1 + error for case in cases if us(*case, "hot") >= long)
    assert sum(us(*case, "hot") >= long for case in cases) == 3
    errors = [over(*case) for case in cases if us(*case, "hot") < short]
    says("From {:.1f} ms on the clock shows less than {:.0f} % too much, and below {:.1f} ms it "
         "shows {:.1f} to {:.0f} times the time of the kernel", long / 1000, 100 * error,
         short / 1000, min(errors), max(errors))  # fmt: skip


def test_the_launches_differ_and_their_sizes_are_not_the_reason():
    launches = [us(kernel, n, "launch") for kernel in KERNELS for n in SIZES]
    assert max(launches) == us("naive", LARGE, "launch")
    assert min(launches) == us("naive", SMALL, "launch")
    says("Why does a launch take {:.1f} us in one row and {:.1f} us in another? Size is not the "
         "reason, because `naive` at {} needs less than at {}", min(launches), max(launches),
         SIZES[3], SIZES[1])  # fmt: skip
    assert us("naive", SIZES[3], "launch") < us("naive", SIZES[1], "launch")
