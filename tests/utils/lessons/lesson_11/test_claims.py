"""Check the claims of lesson 11 against machine code, counts and records."""

from functools import cache, partial

import pytest
from numba import uint32

from gemm_kernels import LADDER, ilp_alone
from gpu_xray import xray
from labs.exercises import find as exercise
from latency_kernels.hiding import curves
from tests import quotes
from utils import lessons as course
from utils.errors import CourseError
from utils.ladder.function_text import module_of
from utils.lessons.inner_loops import recorded_loops
from utils.lessons.lesson_11 import time_bars
from utils.lessons.lesson_11.chains import share_of_loop
from utils.lessons.recorded import record_of
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
ROWS = ilp_alone.recorded_times()
KERNELS = {str(variant): variant for variant in ilp_alone.variants()}
PLAIN, UNROLLED, SHORT = (
    KERNELS[name] for name in ("plain_rows", "unrolled_rows", "sixteen_rows")
)
ONE, ALONE = KERNELS["one_chain"], KERNELS["four_chains"]


@cache
def times(variant):
    """Return the two estimates and the time recorded in the experiment."""
    return time_bars.times_of(variant, ROWS)


def timed(variant):
    return times(variant).recorded


def instructions(variant):
    return loop(variant).per_multiply_add


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


def test_a_thread_reads_less_per_multiply_add_with_each_grain():
    reads = [(grain + 1) / grain for grain in (1, 2, 4, 8)]
    says("**less per multiply-add**: {:g} words, then {:g}, {:g} and {:g}.", *reads)


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
    says("Your kernel reads the same words as `tiled` and needs as many registers.")


def test_a_chain_starts_a_multiply_add_every_4_cycles():
    cycles = round(latency("FMA"))
    says("The next multiply-add of a chain can start {} cycles after the one before.", cycles)
    says("An SM has {} schedulers", SCHEDULERS)
    assert share_of_loop(frame(), 1, SCHEDULERS) == pytest.approx(1 / cycles, rel=0.01)
    says("`tiled` fills an SM with {} warps.", on_sm(TILED).warps)


def test_with_64_warps_four_chains_gain_nearly_nothing():
    few, full = SCHEDULERS, on_sm(TILED).warps
    gain = {w: share_of_loop(frame(), 4, w) / share_of_loop(frame(), 1, w) for w in (few, full)}
    says("A scheduler has {} warps.", full // SCHEDULERS)
    says("four chains are {:.1f} times as fast as one with {} warps on an SM, and {:.2f} times "
         "with {}.", gain[few], few, gain[full], full)  # fmt: skip


def test_the_experiment_ran_at_the_size_and_on_the_device_of_the_prose():
    assert {row.device for row in ROWS} == {REFERENCE}
    assert time_bars.N == SIZE
    says("are your four chains,** at {}×{} on the H200", SIZE, SIZE)
    says("are four rows than four tiles of b,** at {}×{} on the H200", SIZE, SIZE)


def test_one_chain_takes_as_long_as_tiled_and_four_are_hardly_faster():
    assert timed(ONE) == pytest.approx(timed(TILED), rel=0.01)
    assert 1.01 < timed(TILED) / timed(ALONE) < 1.02
    says("four chains save {:.0f} % of its time", 100 * (1 - timed(ALONE) / timed(ONE)))
    text = """A scheduler has {} of {} warps, and a chain starts a multiply-add every {} cycles: one
        chain is enough. Recorded are {:.2f} ÷ {:.2f} = {:.2f} times."""
    full = on_sm(TILED).warps
    quotes.explains(
        "11.alone", text, full // SCHEDULERS, full, round(latency("FMA")),
        *_ratio(timed, TILED, ALONE),
    )  # fmt: skip


@pytest.mark.slow
def test_no_hiding_of_latency_can_give_what_ilp_gave():
    for one in (TILED, ONE, ALONE):
        says("each multiply-add of a warp needs {:.2f} wavefronts in all three kernels",
             wavefronts(one))  # fmt: skip
    least = times(TILED).wavefronts
    bound, ilp = timed(TILED) / least, recorded(TILED) / recorded(BY[FOUR])
    says("still needs its {:.1f} ms of wavefronts. So hiding *every* latency in `tiled` makes it "
         "at most {:.2f} ÷ {:.2f} = **{:.2f} times** faster, and {:.2f} times is impossible.",
         least, timed(TILED), least, bound, ilp)  # fmt: skip
    assert bound < ilp


@pytest.mark.slow
def test_the_times_of_tiled_follow_from_cycles_per_multiply_add():
    cycle = SIZE**3 / WARP / H200.sms / H200.boost_clock_mhz / 1e3
    says("The product has {}³ ÷ {} multiply-adds of warps. At one cycle each, {} SMs at "
         "{:,} MHz need {:.2f} ms. So the wavefronts take {:.2f} × {:.2f} = {:.1f} ms.",
         SIZE, WARP, H200.sms, round(H200.boost_clock_mhz), cycle, wavefronts(TILED), cycle,
         times(TILED).wavefronts)  # fmt: skip
    says("`tiled` has {:.2f} instructions per multiply-add, for four schedulers: {:.2f} ÷ {} × "
         "{:.2f} = {:.1f} ms.", instructions(TILED), instructions(TILED), SCHEDULERS, cycle,
         times(TILED).instructions)  # fmt: skip


@pytest.mark.slow
def test_the_explanations_of_the_reads_have_wavefronts_and_times():
    rows, tiles = 0.5 + 1 / FOUR, 0.5 / FOUR + 1
    text = """Four rows: {} + {} ÷ {} = {} wavefronts per multiply-add; four tiles of b: {} ÷ {} +
        {} = {}. That is {} ÷ {} = {}, and {:.2f} with the stores; recorded are {:.2f} ÷ {:.2f} =
        {:.2f} times."""
    counted = wavefronts(WIDE) / wavefronts(BY[FOUR])
    quotes.explains("11.which", text, 0.5, 1, FOUR, rows, 0.5, FOUR, 1, tiles, tiles, rows,
                    tiles / rows, counted, *_ratio(timed, WIDE, BY[FOUR]))  # fmt: skip
    assert wavefronts(BY[FOUR]) - rows == pytest.approx(2 / 32)
    assert 0 < wavefronts(WIDE) - tiles < 2 / 32
    text = """Grain {} takes {:.4g} wavefronts per multiply-add of a warp, and grain {} takes
        {:.4g}. So the estimate is {:.4g} ÷ {:.4g} = {:.2f}; recorded are {:.2f} ÷ {:.2f} =
        {:.2f} times."""
    both = _ratio(wavefronts, BY[SIXTEEN], BY[EIGHT])
    quotes.explains("11.sixteen", text, EIGHT, both[1], SIXTEEN, both[0], *both,
                    *_ratio(timed, BY[SIXTEEN], BY[EIGHT]))  # fmt: skip


def _ratio(figure, first, second):
    """Return a figure of two steps, and the first divided by the second."""
    return figure(first), figure(second), figure(first) / figure(second)


def test_a_point_that_is_not_recorded_is_refused():
    with pytest.raises(CourseError, match="no record of 4 chains with 5000 warps"):
        share_of_loop(frame(), 4, 5000)


# ---- the instructions ----


ADDRESSES = ("LEA", "IMAD.IADD", "IMAD.X", "IADD3", "IADD3.X", "SEL", "LOP3.LUT", "VIADD")


def test_the_plain_form_needs_most_of_its_instructions_for_addresses():
    says("four rows each multiply-add needs {:.1f} instructions, more than half of which compute "
         "addresses. In `tiled` it needs {:.2f}.",
         instructions(PLAIN), instructions(TILED))  # fmt: skip
    codes = loop(PLAIN).opcodes
    assert sum(code in ADDRESSES for code in codes) > len(codes) / 2


@pytest.mark.slow
def test_the_plain_form_is_slower_than_tiled_because_of_its_instructions():
    plain = times(PLAIN)
    assert plain.recorded > timed(TILED)
    assert wavefronts(PLAIN) < wavefronts(TILED)
    assert plain.instructions > max(plain.wavefronts, times(TILED).instructions)
    says("and it is *slower*: its instructions need {:.1f} of the {:.1f} ms.",
         plain.instructions, plain.recorded)  # fmt: skip
    says("A multiply-add needs {:.1f} instructions, and the product {:.1f} ms.",
         instructions(UNROLLED), timed(UNROLLED))  # fmt: skip


@pytest.mark.slow
def test_the_lines_that_the_lesson_gives_unroll_the_solution(compiler):
    hot = xray(unrolled_solution(), ILP.signature, "sm_90").hot
    assert len(hot.body) / hot.ffma == instructions(UNROLLED)


@pytest.mark.slow
def test_indices_of_32_bits_need_fewer_registers_than_those_of_the_reader(compiler):
    short = unrolled_solution(
        ("import cuda, float32", "import cuda, float32, uint32"),
        ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y",
         "tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)"),
        ("row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx",
         "row, col = uint32(cuda.blockIdx.y * TILE + ty), uint32(cuda.blockIdx.x * TILE + tx)"),
    )  # fmt: skip
    few, many = (xray(one, ILP.signature, "sm_90") for one in (short, unrolled_solution()))
    threads = BY[FOUR].launch(LADDER.parse(str(SIZE))).threads
    held = [
        occupancy(H200.compute_capability, threads, one.registers, one.shared_bytes)
        for one in (few, many)
    ]
    assert few.registers == registers(BY[FOUR])
    assert held[0].warps == on_sm(BY[FOUR]).warps
    says("With grain {}, `ilp` takes {:.2f} ms. It also computes its indices in {} bits. So it "
         "needs {} registers instead of {}, and an SM holds {} warps instead of {}.",
         FOUR, recorded(BY[FOUR]), uint32.bitwidth, few.registers, many.registers,
         *(one.warps for one in held))  # fmt: skip


def unrolled_solution(*changes):
    """Return the solution with the lines of the lesson, and with (old, new) text replaced."""
    text = exercise("independent_sums").solution_text
    for old, new in (
        ("tile_a = cuda.shared.array((TILE, TILE), float32)",
         "tile_a = cuda.shared.array((TILE, TILE), float32, alignment=16)"),
        ("        for i in range(TILE):\n            from_b = tile_b[i, tx]\n            for g in "
         "range(4):\n                totals[g] += tile_a[ty + 8 * g, i] * from_b\n",
         "        for first in range(0, TILE, 4):\n            for u in range(4):\n                "
         "i = first + u\n                from_b = tile_b[i, tx]\n                for g in range(4):"
         "\n                    totals[g] += tile_a[ty + 8 * g, i] * from_b\n"),
        *changes,
    ):  # fmt: skip
        assert text.count(old) == 1
        text = text.replace(old, new)
    return module_of("tests.lesson_11_unrolled", text).independent_sums


# ---- the reads ----


def test_a_word_of_sa_costs_half_a_wavefront_and_one_of_sb_a_whole_one():
    one_row = dict.fromkeys((TILED, ONE, ALONE), 1)
    for step, grain in one_row.items() | {(BY[grain], grain) for grain in (1, 2, 4, 8)}:
        codes = loop(step).opcodes
        joined, single = codes.count("LDS.128"), codes.count("LDS")
        assert 4 * joined == loop(step).multiply_adds
        assert single * grain == loop(step).multiply_adds
        assert 2 * joined / loop(step).multiply_adds == 0.5


@pytest.mark.slow
def test_the_profiler_counted_the_same_wavefronts_for_grain_8():
    assert wavefronts(BY[EIGHT]) == pytest.approx(course.profiled_wavefronts(BY[EIGHT]))


@pytest.mark.slow
def test_the_time_of_two_kernels_with_four_sums_follows_the_wavefronts():
    counted = wavefronts(WIDE) / wavefronts(BY[FOUR])
    assert timed(WIDE) / timed(BY[FOUR]) == pytest.approx(counted, rel=0.05)
    assert instructions(BY[FOUR]) > instructions(WIDE)
    says("The times follow the wavefronts, although four rows need more instructions.")


def test_the_faster_of_them_has_fewer_sums_in_flight():
    wide, rows = (WARP * on_sm(one).warps for one in (WIDE, BY[FOUR]))
    says("An SM holds {:,} threads of the kernel with four tiles of b, which have {:,} sums, "
         "or {:,} threads with four rows, which have {:,} sums.",
         wide, FOUR * wide, rows, FOUR * rows)  # fmt: skip
    assert rows < wide
    assert timed(BY[FOUR]) < timed(WIDE)


# ---- all grains ----


def test_grain_1_is_the_tiled_product_again():
    assert recorded(BY[LEAST]) == pytest.approx(recorded(TILED), rel=0.02)
    assert ILP.launch(LADDER.parse("1024"), GRAIN=LEAST).block == (32, 32)
    block = ILP.launch(LADDER.parse("1024"), GRAIN=EIGHT).block
    says("With grain {}, `ilp` is `tiled` again. With grain {} a block has {}×{} threads.",
         LEAST, EIGHT, *block)  # fmt: skip


@pytest.mark.slow
def test_from_grain_1_to_8_the_time_falls_as_the_wavefronts():
    says("From grain {} to grain {} the wavefronts fall by a factor of {:.2f}, and the recorded "
         "time by {:.2f}.", LEAST, EIGHT, wavefronts(BY[LEAST]) / wavefronts(BY[EIGHT]),
         recorded(BY[LEAST]) / recorded(BY[EIGHT]))  # fmt: skip


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
def test_the_wavefronts_account_for_most_of_the_longer_time():
    counted = wavefronts(BY[SIXTEEN]) / wavefronts(BY[EIGHT])
    assert timed(BY[SIXTEEN]) / timed(BY[EIGHT]) == pytest.approx(counted, rel=0.06)
    stores = wavefronts(BY[SIXTEEN]) - 17 / SIXTEEN
    says("The stores add {:.2f} wavefronts per multiply-add", stores)
    says("What is the time of grain {}, divided by that of grain {}?**", SIXTEEN, EIGHT)
    says("A number below {} means that grain {} is faster.", int(counted), SIXTEEN)


@pytest.mark.slow
def test_short_loops_bring_the_joined_reads_back_and_not_all_of_the_time():
    assert loop(SHORT).opcodes.count("LDS.128") * 4 == loop(SHORT).multiply_adds
    says("The instructions fall from {:.1f} to {:.1f} per multiply-add, and the time from {:.1f} "
         "to {:.1f} ms.", instructions(BY[SIXTEEN]), instructions(SHORT),
         timed(BY[SIXTEEN]), timed(SHORT))  # fmt: skip
    assert wavefronts(SHORT) == min(wavefronts(one) for one in KERNELS.values())
    assert timed(SHORT) > timed(BY[EIGHT])
    shares = [100 * times(one).wavefronts / timed(one) for one in (SHORT, BY[EIGHT])]
    says("Its wavefronts explain {:.0f} % of its time, those of grain {} {:.0f} %.",
         shares[0], EIGHT, shares[1])  # fmt: skip


@pytest.mark.slow
def test_short_loops_have_more_warps_on_an_sm_and_fewer_loads_under_way(compiler):
    eight, short = (xray(one.kernel, ILP.signature, "sm_90") for one in (BY[EIGHT], SHORT))
    threads = SHORT.launch(LADDER.parse(str(SIZE))).threads
    held = occupancy(H200.compute_capability, threads, short.registers, short.shared_bytes)
    says("{} sums in each thread, and {} warps on an SM. Yet it is slower than grain {}.",
         SIXTEEN, held.warps, EIGHT)  # fmt: skip
    assert held.warps > on_sm(BY[EIGHT]).warps
    says("A thread of grain {} starts {} loads from global memory before it waits for the first, "
         "and one of this kernel {}.",
         EIGHT, eight.loads_before_use, short.loads_before_use)  # fmt: skip


# ---- sizes and bounds ----


def test_from_512_on_ilp_is_the_fastest_of_the_four_and_at_256_tiled_is():
    steps = [LADDER.step(name) for name in ("naive", "tiled", "granularity", "ilp")]
    small, *larger = (256, 512, 1024, 2048, 4096, 8192)
    for size in (small, *larger):
        fastest = min(steps, key=lambda step: course.recorded_ms(step, str(size)))
        assert fastest.name == ("tiled" if size == small else "ilp")
    says("From {} on, `ilp` is the fastest of these four kernels.", larger[0])
    launch = BY[EIGHT].launch(LADDER.parse(str(small)))
    best = record_of(steps[1], str(small))
    tiles = steps[1].launch(LADDER.parse(str(small)), TILE=int(best.params.removeprefix("TILE=")))
    says("At {} the product has {} blocks for {} SMs: an SM has one block of `ilp` or none, and so "
         "at most {} threads. The fastest `tiled` of this size has smaller tiles, in {} blocks of "
         "{} threads.", small, launch.blocks, H200.sms, launch.threads, tiles.blocks,
         tiles.threads)  # fmt: skip
    assert record_of(ILP, str(small)).params == BY[EIGHT].params


@pytest.mark.slow
def test_a_word_of_sa_for_each_multiply_add_bounds_the_idea():
    stores = 2 / 32
    least, peak = 0.5 + stores, 1 / SCHEDULERS
    says("With the stores these are {} cycles. At the peak a multiply-add takes {} cycles, "
         "because an SM starts four per cycle. So the idea cannot pass {} ÷ {} = {:.1f} % of "
         "the peak", least, peak, peak, least, 100 * peak / least)  # fmt: skip
    assert course.share_of_peak(BY[EIGHT]) < 1 / (SCHEDULERS * wavefronts(BY[EIGHT])) < 0.37
    blocked = LADDER.step("register_blocked").constants()
    rows, columns = blocked["TM"], blocked["TN"]
    says("saves both: {} words of `sa` and {} of `sb` would serve {} multiply-adds",
         rows, columns, rows * columns)  # fmt: skip
