"""Check the claims of lesson 11 against machine code, counts and records."""

from functools import cache, partial

import pytest

from gemm_kernels import LADDER
from gpu_xray import xray
from labs.exercises import find as exercise
from latency_kernels.hiding import curves
from tests import quotes
from tests.labs.versions import right
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons.inner_loops import recorded_loops
from utils.lessons.lesson_11.chains import share_of_loop
from utils.machine.devices import REFERENCE, find
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records

TILED, ILP = LADDER.step("tiled").variant(TILE=32), LADDER.step("ilp")
WIDE = LADDER.step("granularity").variant(GRAIN=4, TILE=32)
GRAINS = LEAST, _, FOUR, EIGHT, SIXTEEN = (1, 2, 4, 8, 16)
BY = {grain: ILP.variant(GRAIN=grain) for grain in GRAINS}
SIZE = 4096
H200 = find(REFERENCE)
LIMITS = limits_of(H200.compute_capability)
SCHEDULERS = LIMITS.sub_partitions
says = partial(quotes.says, "11")
code = partial(quotes.code, "11")
recorded = partial(course.recorded_ms, shape=str(SIZE))
wavefronts = cache(course.machine_wavefronts)


@cache
def frame():
    return curves.recorded(H200)


def latency(what):
    """Return the recorded cycles of a multiply-add, or of a load, on an idle device."""
    points = frame()[frame()["experiment"] == "latency"].set_index("what")
    return points.loc[what, "value"]


def loop(step):
    """Return the recorded loop; `test_inner_loops` compares the record with the compiler."""
    return recorded_loops()["sm_90", str(step)]


def estimate(step):
    return course.shared_memory_ms(wavefronts(step), str(SIZE))


def on_sm(variant):
    """Return the occupancy of a recorded step, with its registers and shared memory."""
    gemm = records.measured(REFERENCE, "gemm")
    row = gemm[(gemm["step"] == variant.step.name) & (gemm["params"] == variant.params)].iloc[0]
    threads = variant.launch(LADDER.parse(str(SIZE))).threads
    figures = int(row["registers"]), int(row["shared_bytes"])
    return occupancy(H200.compute_capability, threads, *figures)


def registers(variant):
    gemm = records.measured(REFERENCE, "gemm")
    rows = gemm[(gemm["step"] == variant.step.name) & (gemm["params"] == variant.params)]
    (only,) = set(rows["registers"])
    return int(only)


# ---- ILP alone ----


def test_four_sums_make_the_product_more_than_twice_as_fast():
    assert 2 < recorded(TILED) / recorded(BY[FOUR]) < 2.5
    says("With four sums in each thread a product is more than twice as fast")


@pytest.mark.slow
def test_four_chains_are_compiled_to_the_instructions_of_tiled(compiler):
    both = [
        xray(kernel, TILED.step.signature, "sm_90")
        for kernel in (exercise("four_chains").solution, TILED.kernel)
    ]
    assert len({one.registers for one in both}) == 1
    for opcode in ("LDS", "FFMA", "STS", "BAR", "LDG"):
        assert len({one.hot.instructions[opcode] for one in both}) == 1
    says("Your kernel reads what `tiled` reads, with as many registers.")


def test_a_chain_uses_a_quarter_of_the_cycles_of_a_scheduler():
    cycles = round(latency("FMA"))
    says("A multiply-add takes {} cycles until the next one of its chain can start.", cycles)
    says("An SM has {} schedulers", SCHEDULERS)
    says("So with {} warps on an SM, a scheduler has one warp", SCHEDULERS)
    assert share_of_loop(frame(), 1, SCHEDULERS) == pytest.approx(1 / cycles, rel=0.01)
    warps = on_sm(TILED).warps
    says("`tiled` fills an SM with {} warps. **With {} warps on each SM, how", warps, warps)
    assert f"warps={warps}" in code("reveal-alone")


def test_with_64_warps_four_chains_gain_4_percent():
    few, some, full = SCHEDULERS, SCHEDULERS**2, on_sm(TILED).warps
    gain = {w: share_of_loop(frame(), 4, w) / share_of_loop(frame(), 1, w) for w in (few, full)}
    says("With {} warps, which are {} threads, four chains are {:.1f} times as fast as one. With "
         "{} warps one chain reaches {:.0f} % of the loop's speed, and with {} warps four chains "
         "gain only {:.0f} %. The dips are numbers of warps that {} schedulers",
         few, few * WARP, gain[few], some, 100 * share_of_loop(frame(), 1, some), full,
         100 * (gain[full] - 1), SCHEDULERS)  # fmt: skip


def test_the_curves_fall_where_the_warps_are_no_multiple_of_the_schedulers():
    points = frame()[(frame()["experiment"] == "arithmetic") & (frame()["sms"] == H200.sms)]
    for chains in (1, 2, 4):
        one = points[points["floats"] == chains].sort_values("threads_per_sm")
        falls = one[one["share"] < 0.95 * one["share"].shift()]
        assert len(falls)
        assert all(threads // WARP % SCHEDULERS for threads in falls["threads_per_sm"])


def test_the_explanation_of_ilp_alone_has_the_recorded_shares():
    few, full = SCHEDULERS, on_sm(TILED).warps
    shares = {
        warps: [100 * share_of_loop(frame(), chains, warps) for chains in (4, 1)]
        for warps in (full, few)
    }
    text = """A scheduler has {} of {} warps, and a chain starts a multiply-add every {} cycles: one
        chain is enough. Recorded are {:.1f} % ÷ {:.1f} % = {:.2f} times. With {} warps it is
        {:.1f} % ÷ {:.1f} % = {:.2f} times."""
    quotes.explains(
        "11.alone", text, full // SCHEDULERS, full, round(latency("FMA")),
        *shares[full], shares[full][0] / shares[full][1],
        few, *shares[few], shares[few][0] / shares[few][1],
    )  # fmt: skip


def test_the_explanations_of_the_reads_have_wavefronts_and_times():
    text = """Both have four independent sums in each thread, so ILP would make them equal. The
        wavefronts are {:.4g} ÷ {:.4g} = {:.2f}; recorded are {:.2f} ÷ {:.2f} = {:.2f} times."""
    quotes.explains("11.which", text, *_ratio(wavefronts, WIDE, BY[FOUR]),
                    *_ratio(recorded, WIDE, BY[FOUR]))  # fmt: skip
    text = """Grain {} takes {:.4g} wavefronts per multiply-add of a warp, and grain {} takes
        {:.4g}. So the estimate is {:.4g} ÷ {:.4g} = {:.2f}; recorded are {:.2f} ÷ {:.2f} =
        {:.2f} times."""
    both = _ratio(wavefronts, BY[SIXTEEN], BY[EIGHT])
    quotes.explains("11.sixteen", text, EIGHT, both[1], SIXTEEN, both[0], *both,
                    *_ratio(recorded, BY[SIXTEEN], BY[EIGHT]))  # fmt: skip


def _ratio(figure, first, second):
    """Return a figure of two steps, and the first divided by the second."""
    return figure(first), figure(second), figure(first) / figure(second)


def test_a_point_that_is_not_recorded_is_refused():
    with pytest.raises(CourseError, match="no record of 4 chains with 5000 warps"):
        share_of_loop(frame(), 4, 5000)


def test_64_reads_in_flight_are_more_than_little_s_law_asks_for():
    cycles, warps = round(latency("shared")), on_sm(TILED).warps
    says("A read of shared memory takes {} cycles, and an SM serves one wavefront per cycle. So {} "
         "reads in flight are enough, and {} warps with one read each have {}.",
         cycles, cycles, warps, warps)  # fmt: skip
    assert cycles < warps


# ---- the reads ----


@pytest.mark.slow
def test_names_and_a_local_array_need_as_many_reads(compiler):
    names = right("independent_sums", "four names")
    loops = [
        xray(kernel, ILP.signature, "sm_90").hot
        for kernel in (exercise("independent_sums").solution, names)
    ]
    reads = [one.instructions["LDS"] / one.ffma for one in loops]
    assert reads[0] == reads[1]


@pytest.mark.slow
def test_the_steps_that_are_written_out_need_fewer_instructions(compiler):
    plain, ours = (
        xray(kernel, ILP.signature, "sm_90").hot
        for kernel in (exercise("independent_sums").solution, BY[FOUR].kernel)
    )
    assert len(ours.body) / ours.ffma < len(plain.body) / plain.ffma
    says("and needs fewer instructions than the plain form")


def test_a_word_of_sa_costs_half_a_wavefront_and_one_of_sb_a_whole_one():
    for grain in (1, 2, 4, 8):
        codes = loop(BY[grain]).opcodes
        joined, single = codes.count("LDS.128"), codes.count("LDS")
        assert 4 * joined == loop(BY[grain]).multiply_adds
        assert single * grain == loop(BY[grain]).multiply_adds
        assert 2 * joined / loop(BY[grain]).multiply_adds == 0.5


@pytest.mark.slow
def test_the_profiler_counted_the_same_wavefronts_for_grain_8():
    assert wavefronts(BY[EIGHT]) == pytest.approx(course.profiled_wavefronts(BY[EIGHT]))


@pytest.mark.slow
def test_the_time_of_two_kernels_with_four_sums_follows_the_wavefronts():
    says("at {}×{} on the recorded GPU", SIZE, SIZE)
    counted = wavefronts(WIDE) / wavefronts(BY[FOUR])
    measured = recorded(WIDE) / recorded(BY[FOUR])
    assert measured == pytest.approx(counted, rel=0.05)
    assert [f"{one:.2f}" for one in (counted, measured)] == ["1.43", "1.41"]


def test_the_faster_of_them_has_fewer_sums_in_flight():
    wide, rows = (WARP * on_sm(one).warps for one in (WIDE, BY[FOUR]))
    says("An SM holds {:,} threads of the kernel with four tiles of b, which have {:,} sums in "
         "flight. Of the kernel with four rows it holds {:,}, with {:,} sums.",
         wide, FOUR * wide, rows, FOUR * rows)  # fmt: skip
    assert rows < wide
    assert recorded(BY[FOUR]) < recorded(WIDE)


# ---- all grains ----


def test_grain_1_is_the_tiled_product_again():
    assert recorded(BY[LEAST]) == pytest.approx(recorded(TILED), rel=0.02)
    assert ILP.launch(LADDER.parse("1024"), GRAIN=LEAST).block == (32, 32)
    block = ILP.launch(LADDER.parse("1024"), GRAIN=EIGHT).block
    says("With grain {}, `ilp` is `tiled` again. With grain {} a block has {}×{} threads.",
         LEAST, EIGHT, *block)  # fmt: skip


@pytest.mark.slow
def test_the_wavefronts_account_for_nearly_all_of_the_gain():
    shares = [100 * estimate(BY[grain]) / recorded(BY[grain]) for grain in (1, 2, 4, 8)]
    says("From grain {} to grain {} the estimate falls by a factor of {:.2f}, and the recorded "
         "time by {:.2f}. At each grain the wavefronts account for {:.0f} to {:.0f} % of the time.",
         LEAST, EIGHT, estimate(BY[LEAST]) / estimate(BY[EIGHT]),
         recorded(BY[LEAST]) / recorded(BY[EIGHT]), min(shares), max(shares))  # fmt: skip


def test_registers_grow_with_the_sums():
    says("registers: {} in each thread with grain {}, {} with grain {}.",
         registers(BY[LEAST]), LEAST, registers(BY[EIGHT]), EIGHT)  # fmt: skip


def test_with_grain_8_an_sm_holds_28_of_64_warps_and_is_the_fastest():
    held = on_sm(BY[EIGHT])
    assert held.limit == ("registers",)
    says("With grain {} an SM has {} warps where it could hold {}, and the kernel",
         EIGHT, held.warps, LIMITS.warps_per_sm)  # fmt: skip
    assert recorded(BY[EIGHT]) == min(recorded(step) for step in BY.values())


# ---- the cliff ----


def test_in_the_source_grain_16_needs_fewer_reads_than_ever():
    block = ILP.launch(LADDER.parse("1024"), GRAIN=SIXTEEN).block
    reads = [(grain + 1) / grain for grain in GRAINS]
    assert reads == sorted(reads, reverse=True)
    says("Now grain {}: blocks of {}×{} threads, {} sums in each. In the source a multiply-add "
         "costs {} ÷ {} = {:.2f} reads",
         SIXTEEN, *block, SIXTEEN, SIXTEEN + 1, SIXTEEN, reads[-1])  # fmt: skip


def test_the_innermost_loops_have_48_reads_for_128_and_17_for_16():
    eight, sixteen = loop(BY[EIGHT]), loop(BY[SIXTEEN])
    reads = [sum(code.startswith("LDS") for code in one.opcodes) for one in (eight, sixteen)]
    assert reads == [48, 17]
    assert [one.opcodes.count("LDS.128") for one in (eight, sixteen)] == [32, 0]
    assert sixteen.multiply_adds == 16
    says("innermost loop of grain {} and of grain {} in machine code, each for {} multiply-adds",
         EIGHT, SIXTEEN, eight.multiply_adds)  # fmt: skip
    says("Four steps of {} sums are {} multiply-adds", SIXTEEN, 4 * SIXTEEN)
    says("one iteration reads *one* word from each of {} rows", reads[1] - 1)


@pytest.mark.slow
def test_the_wavefronts_account_for_most_of_the_cliff():
    assert round(estimate(BY[SIXTEEN]) / estimate(BY[EIGHT]), 2) == 1.64
    ratio = recorded(BY[SIXTEEN]) / recorded(BY[EIGHT])
    assert round(ratio, 2) == 1.73
    stores = wavefronts(BY[SIXTEEN]) - 17 / SIXTEEN
    says("The stores add {:.2f} wavefronts per multiply-add", stores)
    same = int(ratio)
    says("the time of grain {} longer than that of grain {}?** A number below {} means that grain "
         "{} is faster.", SIXTEEN, EIGHT, same, SIXTEEN)  # fmt: skip


@pytest.mark.slow
def test_grain_16_has_more_sums_and_fewer_wavefronts_than_four_tiles_and_is_not_faster():
    fewer = 1 - wavefronts(BY[SIXTEEN]) / wavefronts(WIDE)
    says("Grain {} has four times as many sums in a thread as the kernel with four tiles of b, and "
         "{:.0f} % fewer wavefronts.", SIXTEEN, 100 * fewer)  # fmt: skip
    assert 4 * WIDE.constants["GRAIN"] == SIXTEEN
    assert recorded(BY[SIXTEEN]) >= recorded(WIDE)


# ---- sizes and bounds ----


def test_from_512_on_ilp_is_the_fastest_of_the_four_and_at_256_tiled_is():
    steps = [LADDER.step(name) for name in ("naive", "tiled", "granularity", "ilp")]
    small, *larger = (256, 512, 1024, 2048, 4096, 8192)
    for size in (small, *larger):
        fastest = min(steps, key=lambda step: course.recorded_ms(step, str(size)))
        assert fastest.name == ("tiled" if size == small else "ilp")
    says("From {} on, `ilp` is the fastest of the marked ones.", larger[0])
    launch = BY[EIGHT].launch(LADDER.parse(str(small)))
    says("At {} the product has {} blocks for {} SMs: an SM has one block or none, and the {} "
         "threads of a block of grain {} are all",
         small, launch.blocks, H200.sms, launch.threads, EIGHT)  # fmt: skip


@pytest.mark.slow
def test_a_word_of_sa_for_each_multiply_add_bounds_the_idea():
    stores = 2 / 32
    says("cannot pass {:.1f} % of the peak", 100 / (SCHEDULERS * (0.5 + stores)))
    assert course.share_of_peak(BY[EIGHT]) < 1 / (SCHEDULERS * wavefronts(BY[EIGHT])) < 0.37
    blocked = LADDER.step("register_blocked").constants()
    rows, columns = blocked["TM"], blocked["TN"]
    says("saves both: {} words of `sa` and {} of `sb` would serve {} multiply-adds",
         rows, columns, rows * columns)  # fmt: skip
