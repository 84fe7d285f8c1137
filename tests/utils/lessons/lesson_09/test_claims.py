"""Check the claims of lesson 09 against records, sources and machine code."""

import inspect
from functools import cache

import pytest

from gpu_xray import xray
from labs import EXERCISES
from latency_kernels import LADDER, arithmetic, copies
from latency_kernels.hiding import curves, shown
from latency_kernels.hiding.experiments import COPIED, OCCUPANCIES
from tests.labs.versions import changed
from utils import lessons as course
from utils.machine import devices
from utils.machine.occupancy import limits_of, occupancy
from utils.measuring import records

H200, GTX480 = devices.find("H200"), devices.find("GTX480")
FRAME = curves.recorded(H200)
LAW = curves.littles_law(FRAME, H200)
SHAPE = LADDER.parse("2^28")
SCHEDULERS = limits_of(H200.compute_capability).sub_partitions


def share(what: str, threads: int) -> float:
    return curves.share(FRAME, what, threads)


@cache
def claim(what: str) -> float:
    return float(records.published("claims").set_index("claim").loc[what, "value"])


@cache
def published(ilp: int) -> int:
    rows = records.published("latency_hiding").query("experiment == 'arithmetic'")
    return int(rows.set_index("ilp").loc[ilp, "threads_per_sm_for_peak"])


@cache
def chains(ilp: int):
    return xray(arithmetic.build(ilp), shown.CHAINS, "sm_90")


def pauses(ilp: int) -> int:
    return sum(one.control.stall for one in chains(ilp).hot.body)


def test_the_tried_numbers_of_threads_are_those_of_the_record():
    rows = FRAME[(FRAME["experiment"] == "arithmetic") & (FRAME["sms"] == 1)]
    tried = sorted(rows["threads_per_sm"].unique())
    assert tried[:8] == [32, 64, 96, 128, 192, 256, 320, 384]
    assert tried[-1] == 1024


def test_about_four_cycles_and_128_lanes_make_512_and_the_record_agrees():
    assert LAW.loc["arithmetic", "latency"] == pytest.approx(4, rel=0.05)
    assert LAW.loc["arithmetic", "per_cycle"] == H200.fp32_lanes_per_sm == 128
    assert curves.fewest_threads(FRAME, 1, 0.9) == 4 * 128


def test_before_512_twice_the_threads_are_twice_the_rate():
    for threads in (32, 64, 128):
        assert share("ILP 1", 2 * threads) / share("ILP 1", threads) == pytest.approx(2, rel=0.03)


def test_the_points_lie_above_the_law_as_far_as_the_fma_loop_lies_below_the_lanes():
    for threads in (32, 64, 128):
        point = curves.point(FRAME, "ILP 1", threads)
        peak = point["value"] / point["share"]
        lanes = 2 * H200.fp32_lanes_per_sm * point["sm_clock_mhz"] / 1e3
        assert f"{peak / lanes:.0%}" == "97%"
        law = threads / LAW.loc["arithmetic", "under_way"]
        assert law < point["share"]
        assert point["share"] * peak / lanes == pytest.approx(law, rel=0.01)


def warps_of_schedulers(threads: int) -> list[int]:
    warps = threads // 32
    return [warps // SCHEDULERS + (one < warps % SCHEDULERS) for one in range(SCHEDULERS)]


def test_576_threads_are_dealt_unevenly_and_slower_than_512():
    assert warps_of_schedulers(576) == [5, 5, 4, 4]
    assert warps_of_schedulers(192) == [2, 2, 1, 1]
    assert share("ILP 1", 576) < share("ILP 1", 512)


def test_128_threads_are_one_warp_for_each_scheduler_and_6_percent():
    assert warps_of_schedulers(128) == [1, 1, 1, 1]
    assert f"{128 / limits_of(H200.compute_capability).threads_per_sm:.0%}" == "6%"
    assert f"{share('ILP 1', 128):.0%}" == "25%"
    assert f"{share('ILP 4', 128):.0%}" == "92%"


def test_threads_and_chains_bring_the_same():
    for ilp, threads in ((2, 64), (4, 32)):
        assert share(f"ILP {ilp}", threads) == pytest.approx(share("ILP 1", 128), rel=0.08)


def test_each_further_chain_moves_the_rise_to_the_left():
    for threads in (32, 64, 128):
        shares = [share(f"ILP {ilp}", threads) for ilp in (1, 2, 3, 4)]
        assert shares == sorted(shares)


def test_five_chains_are_slower_than_four_and_64_threads_leave_two_schedulers_empty():
    assert curves.against(FRAME, 5, 4, threads=128) == "slower"
    assert warps_of_schedulers(64) == [1, 1, 0, 0]
    assert max(share(f"ILP {ilp}", 64) for ilp in range(1, 9)) < 0.5
    assert round(LAW.loc["arithmetic", "under_way"]) == 526


def test_from_five_chains_on_128_threads_stay_below_the_law_and_256_do_better():
    for ilp in range(5, 9):
        assert ilp * 128 > LAW.loc["arithmetic", "under_way"]
        assert share(f"ILP {ilp}", 128) < 0.92 < 0.95 < share(f"ILP {ilp}", 256)


def test_256_threads_are_the_sources_occupancy():
    assert 256 / limits_of(H200.compute_capability).threads_per_sm == 0.125


def test_a_turn_of_the_loop_has_the_multiply_adds_and_the_pauses_that_the_lesson_names(compiler):
    said = {1: (64, 195), 4: (128, 10), 5: (80, 11), 8: (128, 11)}
    assert {ilp: (chains(ilp).hot.ffma, pauses(ilp) - chains(ilp).hot.ffma) for ilp in said} == said
    assert pauses(1) == 259
    assert pauses(1) / 64 == pytest.approx(4, rel=0.02)
    for ilp in (1, 4, 5, 8):
        assert chains(ilp).hot.instructions["BRA"] == 1
        assert chains(ilp).hot.memory == 0


def test_recorded_turns_are_five_to_seven_cycles_longer_than_their_pauses(compiler):
    for ilp in (1, 4, 5, 6, 8):
        recorded = curves.loop_cycles(FRAME, H200, ilp, chains(ilp).hot.ffma)
        assert round(recorded - pauses(ilp)) in (5, 6, 7)


def test_four_cycles_are_4_11_with_the_loop(compiler):
    assert chains(1).hot.ffma == 64
    assert round(64 * LAW.loc["arithmetic", "latency"]) == 263
    assert f"{LAW.loc['arithmetic', 'latency']:.2f}" == "4.11"


def test_with_many_warps_the_share_of_multiply_adds_among_instructions_is_left(compiler):
    def slots(loop) -> tuple[int, int]:
        return loop.ffma, len(loop.body)

    ceiling = xray(LADDER.step("fma_loop").variant().kernel, shown.COPY, "sm_90").hot
    assert slots(chains(1).hot) == (64, 69)
    assert slots(ceiling) == (128, 131)
    assert f"{64 / 69 / (128 / 131):.0%}" == "95%"
    for threads in (768, 1024):
        assert 0.93 < share("ILP 1", threads) < 0.945
    assert f"{share('ILP 1', 1024):.0%}" == "94%"


def test_then_and_now_need_about_the_same_under_way_14_years_apart():
    assert H200.year - GTX480.year == 14
    fermi = records.published("latency_hiding").query("device == 'GF100'").iloc[0]
    assert fermi["note"] == "latency about 18 cycles x 32 lanes"
    assert 18 * GTX480.fp32_lanes_per_sm == published(1) == 576
    assert round(LAW.loc["arithmetic", "under_way"]) == 526
    assert f"{LAW.loc['arithmetic', 'latency']:.1f}" == "4.1"
    assert LAW.loc["arithmetic", "latency"] < 18
    assert H200.fp32_lanes_per_sm > GTX480.fp32_lanes_per_sm


def test_with_more_chains_the_gtx480_needed_more_than_the_law():
    assert all(ilp * published(ilp) > 576 for ilp in (2, 3, 4))
    assert curves.fewest_threads(FRAME, 3, 0.9) == 256


def test_the_wrong_beliefs_are_those_of_the_source():
    claims = records.published("claims")
    guide = claims[claims["claim"].str.contains("Best Practices Guide")]["value"]
    hidden = claims["claim"] == "threads per SM that hide the latency of arithmetic"
    enough = claims[hidden]["value"]
    assert (sorted(guide), sorted(enough)) == ([192, 384], [64, 192])
    assert 128 * 3 * 4 == 1536


def test_shared_memory_reads_128_bytes_per_cycle():
    best = records.measured(H200.name, "latency").query("step == 'shared_read'").iloc[0]
    per_cycle = best["gb_per_s"] * 1e3 / best["sm_clock_mhz"] / H200.sms
    assert per_cycle == pytest.approx(128, rel=0.02)


def test_volkov_counts_100_kb_and_now_it_is_17_times_as_much():
    kilobytes = claim("data in flight that hide the latency of memory, at most")
    seconds = 800 / (GTX480.boost_clock_mhz * 1e6)
    assert (f"{GTX480.boost_clock_mhz / 1e3:.1f}", f"{seconds * 1e6:.2f}") == ("1.4", "0.57")
    assert GTX480.peak_gb_per_s == 177.4
    assert round(seconds * GTX480.peak_gb_per_s * 1e6) == 101
    assert kilobytes == 100
    now = H200.sms * LAW.loc["memory", "under_way"] / 1000
    assert (f"{now:,.0f}", round(now / kilobytes)) == ("1,697", 17)


def test_four_loads_are_2_4_times_as_fast_as_one_at_a_quarter_of_the_threads():
    four, one = share("4 float", 512), share("1 float", 512)
    assert f"{four / one:.1f}" == "2.4"
    assert 512 / limits_of(H200.compute_capability).threads_per_sm == 0.25


def test_four_floats_at_a_quarter_were_enough_and_are_not_though_the_law_asks_for_less():
    rows = records.published("latency_hiding").query("element == 'float'")
    assert list(rows[["elements_per_thread", "occupancy_pct"]].iloc[0]) == [4, 25]
    assert f"{share('4 float', 512):.0%}" == "60%"
    assert f"{curves.loads_under_way(FRAME, '4 float', 512) / 1e3:.1f}" == "8.2"
    assert f"{LAW.loc['memory', 'under_way'] / 2000:.1f}" == "6.4"


def test_the_first_row_of_copies_is_computed_in_words():
    point = curves.point(FRAME, "1 float", 512)
    assert f"{point['value']:,.0f}" == "1,199"
    assert f"{point['value'] / 2:.0f}" == "600"
    per_cycle = point["value"] / 2 * 1e3 / point["sm_clock_mhz"] / H200.sms
    assert f"{per_cycle:.2f}" == "2.29"
    assert 512 * 4 == curves.loads_under_way(FRAME, "1 float", 512) == 2048
    assert f"{curves.turn_cycles(FRAME, '1 float', 512):.0f}" == "893"


def test_the_more_under_way_the_longer_a_turn():
    cycles = [curves.turn_cycles(FRAME, f"{count} float", 512) for count in (1, 2, 4, 8)]
    assert cycles == sorted(cycles)


@pytest.mark.slow
def test_recorded_copies_move_32_floats_in_turns_and_have_what_they_say_under_way(compiler):
    assert copies.FLOATS == 32
    assert copies.turns_of(1, 4) == 8
    for count in (1, 2, 4, 8):
        compiled = xray(copies.build(1, count, 64), shown.CHAINS)
        assert compiled.loads_before_use == count


def test_more_loads_under_way_need_more_registers_and_unsigned_indices_save_some(compiler):
    one = EXERCISES["four_loads"]
    starter, solution = (xray(kernel, shown.COPY) for kernel in (one.starter, one.solution))
    ladder_copy = xray(LADDER.step("copy").variant().kernel, shown.COPY)
    assert ladder_copy.registers < starter.registers < solution.registers
    assert ladder_copy.loads_before_use == solution.loads_before_use == 4
    assert starter.loads_before_use == 1


def test_the_claim_of_2010_is_the_sources():
    row = records.published("latency_hiding").query("element == 'float4'").iloc[0]
    assert (row["elements_per_thread"], row["occupancy_pct"]) == (8, 8)
    assert row["fraction_of_peak_pct"] == 87
    assert 8 * 4 * 4 == 128


def test_8_float4_no_longer_reach_what_was_claimed():
    assert f"{160 / limits_of(H200.compute_capability).threads_per_sm:.0%}" == "8%"
    assert f"{share('8 float4', 160):.1%}" == "77.9%"
    good = course.share_of_peak(LADDER.step("copy"), "2^28")
    assert f"{share('8 float4', 160) / good:.0%}" == "88%"
    assert good < 1


def test_at_16_percent_8_float4_come_within_a_percent_of_the_courses_copy():
    assert COPIED == 2**28
    good = course.share_of_peak(LADDER.step("copy"), "2^28")
    assert f"{320 / limits_of(H200.compute_capability).threads_per_sm:.0%}" == "16%"
    assert 0.99 < share("8 float4", 320) / good < 1
    assert f"{share('1 float', 2048):.0%}" == "67%"
    copied = FRAME[FRAME["experiment"] == "copy"]
    best = copied.loc[copied["share"].idxmax()]
    assert (best["what"], best["threads_per_sm"]) == ("8 float4", 320)


def test_two_copies_with_four_loads_at_full_occupancy_differ_in_three_things():
    copy = LADDER.step("copy")
    registers = records.measured(H200.name, "latency").query("step == 'copy'")["registers"].max()
    launched = copy.variant().launch(SHAPE)
    full = occupancy(H200.compute_capability, launched.threads, int(registers))
    slower = curves.point(FRAME, "4 float", 2048)
    assert full.fraction == slower["occupancy"] == 1
    good = course.share_of_peak(copy, "2^28")
    assert (f"{slower['share']:.1%}", f"{good:.1%}") == ("81.4%", "88.5%")
    assert launched.threads == 256
    assert {block for block, blocks in OCCUPANCIES if block * blocks == 2048} == {64}
    sources = [inspect.getsource(one.py_func) for one in (copies.build(1, 4, 64), copy.build())]
    assert ["if " in source for source in sources] == [False, True]
    assert ["while turn < turns" in source for source in sources] == [True, False]


def test_two_curves_end_where_their_registers_end_them(compiler):
    for width, registers, ends in ((1, 38, 0.75), (4, 44, 0.625)):
        assert xray(copies.build(width, 8, 64), shown.CHAINS, "sm_90").registers == registers
        assert occupancy(H200.compute_capability, 64, registers).fraction == ends
        what = "8 float" if width == 1 else "8 float4"
        assert FRAME[FRAME["what"] == what]["occupancy"].max() == ends


def test_all_copies_stay_below_the_law():
    copied = FRAME[FRAME["experiment"] == "copy"]
    under_way = copied["threads_per_sm"] * copied["floats"] * 4
    model = (2 * under_way / LAW.loc["memory", "under_way"]).clip(upper=1)
    assert (copied["share"] < 1.01 * model).all()
    assert (copied["share"] < model).mean() > 0.95


def test_a_busy_memory_answers_later_than_an_idle_one():
    alone = LAW.loc["memory", "latency"]
    cycles = [curves.turn_cycles(FRAME, *point) for point in
             (("1 float", 128), ("1 float", 2048), ("8 float4", 160))]  # fmt: skip
    assert alone < cycles[0] < cycles[1] < cycles[2]


def test_arithmetic_comes_to_98_percent_and_a_copy_gains_nothing_by_more_threads():
    assert f"{share('ILP 4', 256):.0%}" == "98%"
    assert share("8 float4", 1024) < share("8 float4", 320)
    few, many = (curves.turn_cycles(FRAME, "8 float4", threads) for threads in (320, 1024))
    assert many > 3 * few


# ---- the exercises at the end ----


def test_five_warps_reach_five_eighths_and_their_neighbours_agree():
    assert warps_of_schedulers(160) == [2, 1, 1, 1]
    for threads, allowed, said in ((192, 6 / 8, "74%"), (320, 10 / 12, "80%")):
        assert f"{share('ILP 4', threads):.0%}" == said
        assert share("ILP 4", threads) == pytest.approx(allowed, rel=0.04)


def test_eight_loads_stand_before_the_first_use_and_take_32_registers(compiler):
    eight = changed("four_loads", ("array(4,", "array(8,"), ("range(4)", "range(8)"),
                    ("1024", "2048"))  # fmt: skip
    eight_loads, four = (xray(kernel, shown.COPY) for kernel in (eight, changed("four_loads")))
    assert (eight_loads.loads_before_use, eight_loads.registers, four.registers) == (8, 32, 28)


def test_a_kernel_that_reads_needs_seven_floats_in_each_of_512_threads():
    needed = LAW.loc["memory", "under_way"] / 512
    assert f"{LAW.loc['memory', 'under_way']:,.0f}" == "12,859"
    assert 6 * 4 < needed < 7 * 4
    assert 16 < needed < 2 * 16
