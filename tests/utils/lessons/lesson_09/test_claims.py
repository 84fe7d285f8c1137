"""Check the claims of lesson 09 against records, sources and machine code."""

import inspect
import re
from functools import cache, partial
from math import ceil

import pytest
from numba import float32, int64, void

from gpu_xray import xray
from labs import EXERCISES
from latency_kernels import LADDER, arithmetic
from latency_kernels import copies as copies_in_flight
from latency_kernels.hiding import curves, shown
from latency_kernels.hiding.experiments import COPIED, OCCUPANCIES
from tests import quotes
from utils import lessons as course
from utils.lessons.lesson_09 import copies, littles_law
from utils.lessons.lesson_09.threads_and_chains import distributed
from utils.machine import devices
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records

H200, GTX480 = devices.find("H200"), devices.find("GTX480")
FRAME = curves.of_the_data_sheet(curves.recorded(H200), H200)
LAW = curves.littles_law(FRAME, H200)
LATENCY, LANES = 4, H200.fp32_lanes_per_sm  # the latency in cycles, rounded
SM = limits_of(H200.compute_capability)
MOST = SM.threads_per_sm
SCHEDULERS = SM.sub_partitions
ONE_BELT, FOUR_BELTS = (EXERCISES[name].solution for name in ("littles_law", "law_of_schedulers"))
SECTORS = EXERCISES["sectors"].solution
FLOAT = 4  # bytes
FEW, FULL = SCHEDULERS * WARP, LATENCY * LANES  # threads: a warp per scheduler; enough by the law
ENOUGH, NEARLY, AIM = 90, 95, 75  # percent of the peak
EIGHT = 8  # chains, or loads
PUBLISHED_LATENCY = 800  # cycles of a load, as Volkov assumes it
COPIED_BY = 160  # threads of the SM that copies with few of them
says, explains = partial(quotes.says, "09"), quotes.explains


def share(chains: int, threads: int) -> float:
    """Return a recorded share of an SM's peak, in percent."""
    return 100 * curves.share(FRAME, f"ILP {chains}", threads)


def copied(what: str, threads: int) -> float:
    """Return a recorded share of the memory's bandwidth, in percent."""
    return 100 * curves.share(FRAME, what, threads)


def by_law(chains: int, threads: int) -> float:
    return ONE_BELT(LATENCY, LANES, threads, chains)


def tried() -> list[int]:
    rows = FRAME[(FRAME["experiment"] == "arithmetic") & (FRAME["sms"] == 1)]
    return sorted(map(int, rows["threads_per_sm"].unique()))


def cycles(what: str, threads: int) -> float:
    return curves.turn_cycles(FRAME, what, threads)


@cache
def claim(what: str) -> float:
    return float(records.published("claims").set_index("claim").loc[what, "value"])


@cache
def loop(chains: int):
    return xray(arithmetic.build(chains), shown.CHAINS, "sm_90").hot


def pauses(chains: int) -> int:
    return sum(one.control.stall for one in loop(chains).body)


@cache
def copy_pauses(count: int) -> tuple[float, float]:
    """Return the pauses in an iteration of a recorded copy with `count` loads of a float under way.

    They are in cycles: all pauses, and those from the last store to the next load, when the thread
    has no load under way.
    """
    (block,) = {one for one, blocks in OCCUPANCIES if one * blocks in (256, MOST)}
    signature = void(*shown.COPY.args, int64)
    body = xray(copies_in_flight.build(1, count, block), signature, "sm_90").hot.body
    moves = "".join({"LDG.E": "L", "STG.E": "S"}.get(one.opcode, " ") for one in body)
    last = moves.rindex("S")
    body, moves = [*body[last:], *body[:last]], moves[last:] + moves[:last]  # an iteration later
    stalls = [one.control.stall for one in body]
    between = sum(sum(stalls[slice(*gap.span())]) for gap in re.finditer("S *(?=L)", moves))
    turns = moves.count("L") / count
    return sum(stalls) / turns, between / turns


# ---- the belt ----


def test_an_sm_has_room_for_2048_threads_and_128_reach_almost_90_percent():
    assert 0.99 < share(4, 128) / 90 < 1
    says("An SM has room for {:,} threads, and {} of them can reach almost {} % of its peak",
         MOST, 4 * WARP, round(share(4, 128)))  # fmt: skip
    says("They reach {:.1f} % of the peak, at an occupancy of {:.0f} %", share(4, 128),
         100 * 128 / MOST)  # fmt: skip


def test_eight_boxes_fill_the_belt():
    boxes, workers = littles_law.LATENCY, [each[0] for each in littles_law.CREWS]
    says("a box rides for {} seconds, which is its latency", boxes)
    says("because {} seconds × {} box per second is {}", boxes, boxes // boxes, boxes * 1)
    says("from {} worker to {}", min(workers), max(workers))
    assert littles_law.CREWS[-1] == (2, 4)


# ---- an SM ----


def test_an_sm_has_128_lanes_and_a_latency_of_about_four_cycles():
    assert LAW.loc["arithmetic", "latency"] == pytest.approx(LATENCY, rel=0.05)
    assert LAW.loc["arithmetic", "per_cycle"] == LANES
    says("has {} lanes, which start {} multiply-adds per cycle", LANES, LANES)
    says("can be used about {:.0f} cycles later", LAW.loc["arithmetic", "latency"])


@pytest.mark.slow
def test_memory_plays_no_part_in_the_loop(compiler):
    assert loop(1).memory == 0


@pytest.mark.slow
def test_one_chain_cannot_reach_more_than_93_percent(compiler):
    most = 100 * loop(1).ffma / len(loop(1).body)
    says("Of the loop's {} instructions {} are multiply-adds", len(loop(1).body), loop(1).ffma)
    says("so one chain cannot reach more than {:.0f} %", most)
    full = max(tried())
    assert max(share(1, threads) for threads in tried()) == share(1, full) < most
    says("with {:,} threads the record is {:.1f} %", full, share(1, full))


def test_512_threads_are_the_fewest_with_one_chain():
    numbers = tried()
    says("One SM was given {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {} and {:,} threads, with one "
         "chain each", *numbers)  # fmt: skip
    found = curves.fewest_threads(FRAME, 1, ENOUGH / 100)
    says("smallest of these numbers that reaches {} % of the peak", ENOUGH)
    before = max(one for one in numbers if one < found)
    explains(
        "09.threads",
        "{} cycles · {} per cycle = {} must be under way, one in each thread. "
        "{} % of that are {:.0f}, and the next number that was tried is {}; "
        "{} threads are {:.0f} % by the law.",
        LATENCY, LANES, FULL, ENOUGH, ENOUGH / 100 * FULL, found, before,
        by_law(1, before),
    )  # fmt: skip


def test_the_record_is_near_the_law_up_to_256_threads_and_falls_at_576():
    gaps = {threads: by_law(1, threads) - share(1, threads) for threads in tried()}
    at_most = ceil(gaps[256])
    near = max(threads for threads in tried() if gaps[threads] <= at_most and threads < FULL)
    assert all(0 < gaps[threads] < at_most for threads in tried() if threads <= near)
    says("Up to {} threads the record is at most {} % of the peak below it", near, at_most)
    (falls,) = (two for one, two in zip(tried(), tried()[1:]) if share(1, two) < share(1, one))
    says("At {} threads the record falls, and your function does not", falls)
    assert by_law(1, falls) == by_law(1, FULL) == 100


def test_128_threads_with_four_chains_have_as_much_under_way_as_512():
    says("So {} threads with four chains each should be as good as {} threads with one", FEW,
         FULL)  # fmt: skip
    assert FULL == 4 * FEW
    says("Then {} threads with eight chains", FULL // EIGHT)
    says("an SM has four **schedulers**, and each starts the instructions of its own warps on its "
         "own {} lanes", LANES // SCHEDULERS)  # fmt: skip
    says("V. Volkov showed this in {} in a talk", year_of_the_talk())


def year_of_the_talk() -> int:
    (source,) = {one for one in records.published("latency_hiding")["source"]}
    assert source.startswith("003_")
    return GTX480.year


def test_64_threads_with_eight_chains_are_on_two_schedulers():
    threads = FULL // EIGHT
    warps = distributed(threads)
    assert warps == [1, 1, 0, 0]
    assert 40 < share(EIGHT, threads) < 50
    says("What share of the peak do {} threads with eight chains each reach", threads)
    explains(
        "09.chains",
        "{} threads are two warps, on two of four schedulers. The lanes of the two others have no "
        "work. So at most {} ÷ {} = {:.0f} % are possible, although {} · {} = {} multiply-adds are "
        "under way.",
        threads, sum(warps), SCHEDULERS, FOUR_BELTS(threads, EIGHT), threads, EIGHT, FULL,
    )  # fmt: skip


# ---- the law of four schedulers ----


def test_576_threads_are_dealt_unevenly():
    (uneven,) = (two for one, two in zip(tried(), tried()[1:]) if share(1, two) < share(1, one))
    warps, most = distributed(uneven), max(distributed(uneven))
    says("{} threads with one chain. Why are they slower than {}?", uneven, FULL)
    says("{} threads are {} warps: {}, {}, {} and {}.", uneven, sum(warps), *warps)
    says("In the time of {} warps on each scheduler the SM could do {}, and it does {}, which is "
         "{:.0f} %", most, SCHEDULERS * most, sum(warps), FOUR_BELTS(uneven, 1))  # fmt: skip


def test_256_threads_are_the_fewest_that_reach_95_percent():
    best = {threads: max(range(1, 9), key=lambda one: share(one, threads)) for threads in tried()}
    found = next(threads for threads in tried() if share(best[threads], threads) >= NEARLY)
    says("The fewest threads that reach {} %", NEARLY)
    assert best[found] == 4
    says("{} threads with four chains, {:.1f} %. That is an occupancy of {:.1f} %", found,
         share(4, found), 100 * found / MOST)  # fmt: skip


@pytest.mark.slow
def test_five_chains_are_slower_than_four_because_of_the_loop(compiler):
    gaps = {chains: FOUR_BELTS(128, chains) - share(chains, 128) for chains in range(1, 9)}
    worst = max(gaps, key=gaps.get)
    assert worst == 5
    assert share(5, 128) < share(4, 128)
    says("Five chains: {:.1f} %, less than with four chains, and the law says {:.0f} %",
         share(5, 128), FOUR_BELTS(128, 5))  # fmt: skip
    says("with {} threads.", FEW)
    assert loop(4).ffma == 2 * 4 * arithmetic.UNROLL
    assert loop(5).ffma == 5 * arithmetic.UNROLL
    says("two iterations of the source into one, which makes {} multiply-adds. For five chains it "
         "does not, and an iteration has only {}", loop(4).ffma, loop(5).ffma)  # fmt: skip
    says("In an iteration these pauses add up to {} and {} cycles", pauses(4), pauses(5))
    says("{} ÷ {} = {:.0f} % and {} ÷ {} = {:.0f} % are possible",
         loop(4).ffma, pauses(4), 100 * loop(4).ffma / pauses(4),
         loop(5).ffma, pauses(5), 100 * loop(5).ffma / pauses(5))  # fmt: skip
    rest = sorted(
        round(curves.loop_cycles(FRAME, H200, one, loop(one).ffma)) - pauses(one) for one in (4, 5)
    )
    says("each iteration takes {} to {} cycles more", *rest)
    says("With {} threads a second warp fills most of these cycles, and five chains reach {:.1f} %",
         2 * FEW, share(5, 2 * FEW))  # fmt: skip
    for chains in (4, 5):
        assert loop(chains).instructions["BRA"] == 1


# ---- memory ----


@pytest.mark.slow
def test_sectors_reaches_64_percent_with_full_sms(compiler):
    times = copies.recorded_times()
    percent = 100 * 2 * FLOAT * copies.ELEMENTS / times["sectors"] / 1e6 / H200.peak_gb_per_s
    says("reached {:.0f} % of the memory's peak, and an SM has room for {:,} of its threads",
         percent, MOST)  # fmt: skip
    compiled = xray(SECTORS, void(float32[::1], float32, float32[::1]), "sm_90")
    assert compiled.loads_before_use == 1
    assert occupancy(H200.compute_capability, 256, compiled.registers).fraction == 1


def test_a_copy_needs_6429_bytes_of_loads_and_2048_threads_have_more():
    needed = LAW.loc["memory", "under_way"] / 2
    rate = LAW.loc["memory", "per_cycle"] / 2
    says("and {:,.0f} bytes of loads must be under way in each SM", needed)
    says("If {:,} threads have one load of {} bytes under way each, they have {:,} bytes",
         MOST, FLOAT, MOST * FLOAT)  # fmt: skip
    assert needed < MOST * FLOAT
    percent = copied("1 float", MOST)
    says("With {:,} threads on each SM it reached **{:.1f} %** of the peak. So an SM loaded {:.2f} "
         "· {:.2f} bytes per cycle", MOST, percent, percent / 100, rate)  # fmt: skip
    explains(
        "09.iteration",
        "latency = under way ÷ rate: {:,} threads · {} bytes = {:,} bytes. "
        "{:,} ÷ ({:.2f} · {:.2f} bytes per cycle) = {:,.0f} cycles",
        MOST, FLOAT, MOST * FLOAT, MOST * FLOAT, percent / 100, rate, cycles("1 float", MOST),
    )  # fmt: skip


def test_an_iteration_takes_almost_twice_the_latency_of_an_idle_memory(compiler):
    alone = LAW.loc["memory", "latency"]
    assert 1.8 < cycles("1 float", MOST) / alone < 2
    says("The {:.0f} cycles are those of a single load", alone)
    says("the loads of {} full SMs", H200.sms)
    found = [cycles("1 float", threads) for threads in (FEW, FULL, MOST)]
    assert found == sorted(found)
    assert found[0] > alone
    assert copied("1 float", FEW) < 10
    every, _ = copy_pauses(1)
    assert every < found[0] - alone
    says("in an iteration these pauses add up to {:.0f} cycles", every)
    says("With {} threads the memory is nearly idle, and an iteration takes {:.0f} cycles where a "
         "load alone takes {:.0f}. With {:,} threads the instructions are the same", FEW, found[0],
         alone, MOST)  # fmt: skip


@pytest.mark.slow
def test_four_loads_take_at_most_32_registers(compiler):
    for exercise in (EXERCISES["four_loads"].starter, EXERCISES["four_loads"].solution):
        assert xray(exercise, shown.COPY, "sm_90").registers <= 32
    course_copy = xray(LADDER.step("copy").variant().kernel, shown.COPY, "sm_90")
    starter = xray(EXERCISES["four_loads"].starter, shown.COPY, "sm_90")
    assert course_copy.registers < starter.registers
    assert course_copy.loads_before_use == 4
    says("Here all kernels need at most {}, so the SMs stay full", SM.registers_per_sm // MOST)
    assert occupancy(H200.compute_capability, 256, 32).fraction == 1


def test_four_loads_are_1_38_times_as_fast():
    times = copies.recorded_times()
    rates = {
        name: 100 * 2 * FLOAT * copies.ELEMENTS / ms / 1e6 / H200.peak_gb_per_s
        for name, ms in times.items()
    }
    assert copies.ELEMENTS == 2**28
    assert rates["copy"] == pytest.approx(100 * course.share_of_peak(LADDER.step("copy"), "2^28"))
    says("and reaches {:.1f} % of the peak in {:.2f} ms", rates["sectors"], times["sectors"])
    launched = LADDER.step("copy").variant().launch(LADDER.parse("2^28"))
    says("Both move {:,} floats in blocks of {} threads", copies.ELEMENTS, launched.threads)
    explains(
        "09.four",
        "sectors reaches {:.1f} %, so no copy is more than {} ÷ {:.1f} = {:.2f} times as fast. "
        "The course's copy reaches {:.1f} %: {:.1f} ÷ {:.1f} = {:.2f}.",
        rates["sectors"], 100, rates["sectors"], 100 / rates["sectors"], rates["copy"],
        rates["copy"], rates["sectors"], times["sectors"] / times["copy"],
    )  # fmt: skip
    source = inspect.getsource(SECTORS.py_func)
    assert "factor" in source


def test_four_loads_of_one_source_are_1_22_times_as_fast():
    four, one = copied("4 float", MOST), copied("1 float", MOST)
    says("with {:,} threads on each SM, four loads before the first store are {:.2f} times as fast "
         "as one:** `4 float` reaches {:.1f} % of the peak, and `1 float` {:.1f} %",
         MOST, four / one, four, one)  # fmt: skip


def test_one_of_three_copies_reaches_75_percent():
    full, same, _ = asked = ("1 float", MOST), ("4 float", 512), ("8 float4", COPIED_BY)
    shares = [copied(*one) for one in asked]
    assert [one >= AIM for one in shares] == [False, False, True]
    bytes_each = EIGHT * 4 * FLOAT
    says("Those are {} bytes per thread", bytes_each)
    says("enough under way for {} % of the peak", AIM)
    says("**How many of them reach {} % of the peak?**", AIM)
    says("{:,} threads on each SM with `1 float`, at an occupancy of {:.0f} % - {} threads with "
         "`4 float`, at {:.0f} % - {} threads with `8 float4`, at {:.0f} %", MOST,
         100 * MOST / MOST, same[1], 100 * same[1] / MOST, COPIED_BY,
         100 * COPIED_BY / MOST)  # fmt: skip
    rate, iteration = LAW.loc["memory", "per_cycle"] / 2, cycles(*full)
    under_way = [curves.loads_under_way(FRAME, *one) for one in asked]
    assert under_way == [MOST * FLOAT, MOST * FLOAT, COPIED_BY * bytes_each]
    needed = AIM / 100 * round(rate, 2) * round(iteration)
    explains(
        "09.claim",
        "If an iteration still takes {:,.0f} cycles, {} % need {:.2f} · {:.2f} · {:,.0f} = {:,.0f} "
        "bytes under way. Two copies have {:,.0f} bytes, the third {} · {} = {:,.0f}. Recorded are "
        "{:.1f} %, {:.1f} % and {:.1f} %.",
        iteration, AIM, AIM / 100, rate, iteration, needed, under_way[0], COPIED_BY, bytes_each,
        under_way[2], *shares,
    )  # fmt: skip
    assert under_way[1] < needed < under_way[2]
    says("{} threads with `8 float4` are faster than {:,} threads with `1 float`", COPIED_BY, MOST)


def test_copies_stay_below_the_law_and_differ_at_equal_bytes(compiler):
    needed = LAW.loc["memory", "under_way"] / 2
    for what in copies.SHOWN:
        for under_way, percent in copies._curve(FRAME, what).values():
            assert percent < 1.01 * min(100, 100 * under_way / needed)
    first, second, last = equal = ("1 float", MOST), ("4 float", 512), ("8 float", 256)
    (under_way,) = {curves.loads_under_way(FRAME, *one) for one in equal}
    says("At {:,.0f} bytes under way, {:,} threads with `1 float` reach {:.1f} %, {} threads with "
         "`4 float` reach {:.1f} %, and {} threads with `8 float` reach {:.1f} %. That is a factor "
         "of {:.2f} between the first and the last", under_way, MOST, copied(*first), second[1],
         copied(*second), last[1], copied(*last), copied(*first) / copied(*last))  # fmt: skip
    more = round(cycles(*last)) - round(cycles(*first))
    one, eight = (round(copy_pauses(count)[1]) for count in (1, EIGHT))
    says("By the law an iteration of the last takes {} cycles more", more)
    says("add up to {} cycles per iteration in `8 float` and to {} in `1 float`. That is {} of the "
         "{} cycles.", eight, one, eight - one, more)  # fmt: skip


def test_each_copy_has_its_own_plateau():
    drawn = {what: copies._curve(FRAME, what) for what in copies.SHOWN}
    best = {what: max(curve.values(), key=lambda one: one[1]) for what, curve in drawn.items()}
    assert best["1 float"] == drawn["1 float"][MOST] == max(drawn["1 float"].values())
    says("with {:,} threads it still rises", MOST)
    says("`4 float` is best with {:,.0f} bytes under way, at {:.1f} %", *best["4 float"])
    begin = next(under_way for under_way, percent in drawn["8 float"].values() if percent > 80)
    flat = [percent for under_way, percent in drawn["8 float"].values() if under_way >= begin]
    says("`8 float` stays between {:.0f} and {:.0f} % from {:,.0f} bytes on", min(flat), max(flat),
         begin)  # fmt: skip
    few, many = ("8 float4", 320), ("8 float4", 1024)
    under_way = [curves.loads_under_way(FRAME, *one) for one in (few, many)]
    assert best["8 float4"] == (under_way[0], copied(*few))
    says("`8 float4` is best with {:,.0f} bytes, at {:.1f} %, and falls to {:.1f} % with {:,.0f}",
         *best["8 float4"], copied(*many), under_way[1])  # fmt: skip
    says("with {:,} threads instead of {}, `8 float4` has {:.1f} times as much under way, and an "
         "iteration takes {:.1f} times as long", many[1], few[1], under_way[1] / under_way[0],
         cycles(*many) / cycles(*few))  # fmt: skip


@pytest.mark.slow
def test_the_courses_copy_is_faster_than_4_float_with_equal_bytes(compiler):
    step, four = LADDER.step("copy"), ("4 float", MOST)
    compiled = xray(step.variant().kernel, shown.COPY, "sm_90")
    threads = step.variant().launch(LADDER.parse("2^28")).threads
    full = occupancy(H200.compute_capability, threads, compiled.registers)
    assert full.fraction == 1
    under_way = MOST * compiled.loads_before_use * FLOAT
    assert under_way == curves.loads_under_way(FRAME, *four)
    good = 100 * course.share_of_peak(step, "2^28")
    says("The course's copy and {:,} threads with `4 float` both have {:,} bytes under way, and "
         "they reach {:.1f} % and {:.1f} %", MOST, under_way, good, copied(*four))  # fmt: skip
    assert COPIED == copies.ELEMENTS
    assert good > 100 * FRAME[FRAME["experiment"] == "copy"]["share"].max()
    says("No copy of {:,} floats reached more than this {:.1f} %", COPIED, good)


# ---- then and now ----


def test_the_gtx480_needed_about_as_much_under_way():
    rows = records.published("latency_hiding")
    fermi = rows.query("device == 'GF100'").iloc[0]
    latency, lanes = 18, GTX480.fp32_lanes_per_sm
    assert fermi["note"] == f"latency about {latency} cycles x {lanes} lanes"
    says("had {} lanes per SM and a latency of about {} cycles: {} multiply-adds under way", lanes,
         latency, latency * lanes)  # fmt: skip
    peak = rows.query("experiment == 'arithmetic' and ilp == 1")["threads_per_sm_for_peak"].iloc[0]
    says("With one chain it needed {:.0f} threads", peak)
    says("a latency of about {} cycles and {} lanes: {}", LATENCY, LANES, LATENCY * LANES)
    says("Volkov's GTX {}", GTX480.name.split()[-1])
    says("In {} years", H200.year - GTX480.year)
    volta = devices.find("V100")
    assert volta.architecture == "Volta"
    says("Since Volta, in {}, a scheduler starts one", volta.year)


def test_memory_needs_17_times_as_much_under_way():
    kilobytes = claim("data in flight that hide the latency of memory, at most")
    clock = GTX480.boost_clock_mhz / 1e3
    says("he counted at most {:.0f} KB for the whole GPU: {} cycles at {:.1f} GHz, with {} GB/s",
         kilobytes, PUBLISHED_LATENCY, clock, GTX480.peak_gb_per_s)  # fmt: skip
    assert round(PUBLISHED_LATENCY / clock * GTX480.peak_gb_per_s / 1e3) == 101
    now = H200.sms * LAW.loc["memory", "under_way"] / 1000
    says("an H200 needs {:.0f} times as much", now / kilobytes)


def test_8_float4_no_longer_reach_what_was_published():
    row = records.published("latency_hiding").query("element == 'float4'").iloc[0]
    assert row["elements_per_thread"] == 8
    says("reached {:.0f} % of the data sheet's bandwidth at an occupancy of {:.0f} %. On the H200 "
         "it reaches {:.1f} % there, and {:.1f} % at {:.0f} %", row["fraction_of_peak_pct"],
         row["occupancy_pct"], copied("8 float4", COPIED_BY), copied("8 float4", 320),
         100 * 320 / MOST)  # fmt: skip
    assert f"{100 * COPIED_BY / MOST:.0f}" == f"{row['occupancy_pct']:.0f}"


def test_the_guides_numbers_are_those_of_the_source():
    claims = records.published("claims")
    guide = sorted(claims[claims["claim"].str.contains("Best Practices Guide")]["value"])
    hidden = claims["claim"] == "threads per SM that hide the latency of arithmetic"
    enough = sorted(claims[hidden]["value"])
    says("asked for {:.0f} threads per SM to hide the latency of arithmetic, and {:.0f} on newer "
         "cards. Volkov showed that {:.0f} and {:.0f} were enough", *guide, *enough)  # fmt: skip
