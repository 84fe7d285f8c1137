"""Check the claims of lesson 11 against machine code, counts and records."""

from functools import cache, partial
from itertools import pairwise

import pytest

from gemm_kernels import LADDER, ilp_alone
from gpu_xray import xray
from labs.exercises import find as exercise
from latency_kernels.hiding import curves
from tests import profiled, quotes
from utils import lessons as course
from utils.errors import CourseError
from utils.ladder.function_text import module_of
from utils.lessons.inner_loops import recorded_loops
from utils.lessons.lesson_11 import chain, time_bars
from utils.lessons.lesson_11.chains import share_of_loop
from utils.lessons.profiler import most_frequent_wait, stalls
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
SHORT_INDICES, FEWER_WARPS = KERNELS["rows_in_32_bits"], KERNELS["ilp_32_warps"]
ONE, ALONE = KERNELS["one_chain"], KERNELS["four_chains"]


@cache
def times(variant):
    """Return the two estimates and the time recorded in the experiment."""
    return time_bars.times_of(variant, ROWS)


def timed(variant):
    return times(variant).recorded


def bound(variant):
    """Return the longer of the two estimates."""
    return max(times(variant).wavefronts, times(variant).instructions)


def instructions(variant):
    return loop(variant).per_multiply_add_with_tiles


def held_by_sm(variant):
    """Return the warps of a kernel that an SM holds, as it is compiled and launched."""
    launch = variant.launch(LADDER.parse(str(SIZE)))
    code = xray(variant.kernel, ILP.signature, "sm_90")
    shared = code.shared_bytes + launch.shared_bytes
    return occupancy(H200.compute_capability, launch.threads, code.registers, shared).warps


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
    says("reads the same words as `tiled`, and a change of one source line costs no register.")


def test_a_chain_starts_a_multiply_add_every_4_cycles():
    cycles = round(latency("FMA"))
    says("The next multiply-add of a chain can start {} cycles after the one before.", cycles)
    says("An SM has {} schedulers", SCHEDULERS)
    assert share_of_loop(frame(), 1, SCHEDULERS) == pytest.approx(1 / cycles, rel=0.01)
    says("`tiled` fills an SM with {} warps.", on_sm(TILED).warps)


def test_with_64_warps_four_chains_gain_nearly_nothing():
    few, full = SCHEDULERS, on_sm(TILED).warps
    gain = {w: share_of_loop(frame(), 4, w) / share_of_loop(frame(), 1, w) for w in (few, full)}
    says("A scheduler has {} warps, and while one of them waits", full // SCHEDULERS)
    says("four chains are {:.1f} times as fast as one with {} warps on an SM, and {:.2f} times "
         "with {}.", gain[few], few, gain[full], full)  # fmt: skip


def test_the_experiment_ran_at_the_size_and_on_the_device_of_the_prose():
    assert {row.device for row in ROWS} == {REFERENCE}
    assert time_bars.N == SIZE
    says("are your four chains,** at {}×{} on the H200", SIZE, SIZE)


@pytest.mark.slow
def test_one_chain_takes_as_long_as_tiled_and_four_are_hardly_faster():
    assert timed(ONE) == pytest.approx(timed(TILED), rel=0.01)
    assert 1.01 < timed(TILED) / timed(ALONE) < 1.02
    says("Four chains save {:.0f} % of its time", 100 * (1 - timed(ALONE) / timed(ONE)))
    text = """A scheduler has {} of {} warps, and a chain starts a multiply-add every {} cycles: one
        chain is enough. Recorded are {:.2f} ÷ {:.2f} = {:.2f} times."""
    full = on_sm(TILED).warps
    quotes.explains(
        "11.alone", text, full // SCHEDULERS, full, round(latency("FMA")),
        *_ratio(timed, TILED, ALONE),
    )  # fmt: skip


def test_the_profiler_saw_few_warps_of_tiled_that_wait_for_a_multiply_add():
    waits = {reason: 100 * share for reason, share in stalls(TILED).items()}
    assert most_frequent_wait(TILED)[0] == "mio"
    says(
        "In only {:.0f} % of the samples a warp waited for a fixed number of cycles", waits["wait"]
    )
    says("In {:.0f} % it waited for a place in the queue to shared memory.", waits["mio"])


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
def test_four_chains_do_not_help_an_sm_with_few_warps_either(compiler):
    says("A product also waits for its reads of shared memory, which take {:.0f} cycles.",
         latency("shared"))  # fmt: skip
    few = [
        [KERNELS[f"{name}_{warps}_warps"] for name in ("one_chain", "four_chains")]
        for warps in (32, 8)
    ]
    for one, four in few:
        assert timed(one) < timed(four)
    counts = [[instructions(one) for one in pair] for pair in few]
    assert all(more > fewer for more, fewer in counts)
    assert len({wavefronts(one) for one in few[0]}) == 1
    sides = [one.launch(LADDER.parse(str(SIZE))).block[0] for one, _ in few]
    warps = [{held_by_sm(each) for each in pair} for pair in few]
    (most,), (least,) = warps
    says("that an SM holds only four of them. With tiles of {}×{} and {} warps on an SM, one chain "
         "takes {:.1f} ms and four take {:.1f} ms. With tiles of {}×{} and {} warps they take "
         "{:.0f} and {:.0f} ms. So **four chains are slower with few warps, too**. The counts do "
         "not say why they are slower.",
         sides[0], sides[0], most, *map(timed, few[0]),
         sides[1], sides[1], least, *map(timed, few[1]))  # fmt: skip
    says("With tiles of {}×{} both kernels need {:.2f} wavefronts per multiply-add, and four "
         "chains need fewer instructions, {:.2f} instead of {:.2f}.",
         sides[0], sides[0], wavefronts(few[0][0]), *reversed(counts[0]))  # fmt: skip


@pytest.mark.slow
def test_the_times_of_tiled_follow_from_cycles_per_multiply_add():
    cycle = SIZE**3 / WARP / H200.sms / H200.boost_clock_mhz / 1e3
    (clock,) = {round(row.sm_clock_mhz) for row in ROWS if row.device == REFERENCE}
    assert clock == round(H200.boost_clock_mhz)
    says("NVIDIA's profiler counts {:.2f} for `tiled`, too. The product has {}³ ÷ {} multiply-adds "
         "of warps. At one cycle each, {} SMs need {:.2f} ms at the clock of {:,} MHz that was "
         "read during the run.",
         course.profiled_wavefronts(TILED), SIZE, WARP, H200.sms, cycle, clock)  # fmt: skip
    assert course.profiled_wavefronts(TILED) == pytest.approx(wavefronts(TILED))
    cycles = wavefronts(TILED), instructions(TILED) / SCHEDULERS
    says("| wavefronts | {:.2f} | {:.2f} | {:.2f} × {:.2f} = {:.1f} ms |",
         *[cycles[0]] * 3, cycle, times(TILED).wavefronts)  # fmt: skip
    says("| instructions, for four schedulers | {:.2f} | {:.2f} | {:.2f} × {:.2f} = {:.1f} ms |",
         instructions(TILED), cycles[1], cycles[1], cycle, times(TILED).instructions)  # fmt: skip


@pytest.mark.slow
def test_the_explanation_of_grain_16_has_wavefronts_and_times():
    text = """Grain {}: {:.4g} wavefronts. Grain {}: ({:.2f} + {:.2f}) ÷ {} = {:.2f} cycles of
        instructions, more than {:.4g}. So the estimate is {:.2f} ÷ {:.4g} = {:.2f}; recorded are
        {:.2f} ÷ {:.2f} = {:.2f} times."""
    few, many, all_of_it = wavefronts(BY[EIGHT]), loop(BY[SIXTEEN]), instructions(BY[SIXTEEN])
    cycles = all_of_it / SCHEDULERS
    quotes.explains("11.sixteen", text, EIGHT, few, SIXTEEN, many.per_multiply_add, many.around,
                    SCHEDULERS, cycles, wavefronts(BY[SIXTEEN]), cycles, few,
                    bound(BY[SIXTEEN]) / bound(BY[EIGHT]),
                    *_ratio(timed, BY[SIXTEEN], BY[EIGHT]))  # fmt: skip
    assert bound(BY[SIXTEEN]) == times(BY[SIXTEEN]).instructions
    assert bound(BY[EIGHT]) == times(BY[EIGHT]).wavefronts


def _ratio(figure, first, second):
    """Return a figure of two steps, and the first divided by the second."""
    return figure(first), figure(second), figure(first) / figure(second)


def test_a_point_that_is_not_recorded_is_refused():
    with pytest.raises(CourseError, match="no record of 4 chains with 5000 warps"):
        share_of_loop(frame(), 4, 5000)


# ---- the instructions ----


ADDRESSES = ("LEA", "IMAD.IADD", "IMAD.X", "IADD3", "IADD3.X", "SEL", "LOP3.LUT", "VIADD")


@pytest.mark.slow
def test_the_plain_form_needs_most_of_its_instructions_for_addresses():
    says("In the plain form, as in the exercise's solution, a multiply-add needs {:.2f} wavefronts "
         "and {:.2f} instructions. In `tiled` it needs {:.2f} and {:.2f}.",
         wavefronts(PLAIN), instructions(PLAIN), wavefronts(TILED),
         instructions(TILED))  # fmt: skip
    codes = loop(PLAIN).opcodes
    assert sum(code in ADDRESSES for code in codes) > len(codes) / 2
    says("More than half of those in the innermost loop compute addresses.")
    says("{} of the {} instructions are `SEL`", codes.count("SEL"), len(codes))


def test_the_loop_of_tiled_is_written_out_and_that_of_the_plain_form_is_not():
    tiled, plain, steps = loop(TILED), loop(PLAIN), TILED.constants["TILE"]
    assert tiled.multiply_adds == steps
    assert plain.multiply_adds == FOUR * FOUR  # four steps of four sums
    says("`tiled` has such indices, too, but only {} `SEL` and {:.2f} instructions per "
         "multiply-add. Its loop has {} multiply-adds, and the compiler writes out all {} steps.",
         tiled.opcodes.count("SEL"), instructions(TILED), steps, steps)  # fmt: skip
    says("the compiler sees by itself that reads can be joined.")
    assert "LDS.128" in tiled.opcodes
    assert "LDS.128" not in plain.opcodes
    says("The loop of the plain form has {} multiply-adds and stays a loop.", steps * FOUR)
    says("An iteration of the plain form has four steps, and each computes its own addresses.")


@pytest.mark.slow
def test_a_loop_of_32_multiply_adds_is_written_out_and_one_of_48_is_not(compiler):
    few, many = 8, 12
    written_out, kept = (
        xray(
            changed_solution(("for i in range(TILE):", f"for i in range({steps}):")),
            ILP.signature,
            "sm_90",
        ).hot.ffma
        for steps in (few, many)
    )
    assert written_out == FOUR * few
    assert kept < FOUR * many
    says("With `range({})` it would have {}, and the compiler writes it out.", few, FOUR * few)
    says("With `range({})` it would have {}, and it stays a loop.", many, FOUR * many)
    says("the plain form showed that {} are too many", FOUR * many)


@pytest.mark.slow
def test_the_plain_form_is_slower_than_tiled_because_of_its_instructions():
    plain = times(PLAIN)
    says("A number below {} means that the plain form is faster.",
         int(timed(PLAIN) / timed(TILED)))  # fmt: skip
    assert plain.recorded > timed(TILED)
    assert wavefronts(PLAIN) < wavefronts(TILED)
    assert plain.instructions > max(plain.wavefronts, times(TILED).instructions)
    text = """The longer bar of the plain form is {:.2f} ÷ {} = {:.2f} cycles of instructions, of
        tiled {:.2f} of wavefronts. So the estimate is {:.2f} ÷ {:.2f} = {:.2f}; recorded are
        {:.2f} ÷ {:.2f} = {:.2f} times."""
    needs = instructions(PLAIN) / SCHEDULERS
    quotes.explains(
        "11.plain", text, instructions(PLAIN), SCHEDULERS, needs, wavefronts(TILED),
        needs, wavefronts(TILED), needs / wavefronts(TILED), *_ratio(timed, PLAIN, TILED),
    )  # fmt: skip


@pytest.mark.slow
def test_the_lines_that_the_lesson_gives_unroll_the_solution(compiler):
    report = xray(unrolled_solution(), ILP.signature, "sm_90")
    assert len(report.hot.body) / report.hot.ffma == loop(UNROLLED).per_multiply_add
    says("With four steps alone a multiply-add needs {:.2f} instructions, and the product takes "
         "{:.2f} ms. With `tx` and `ty` in `uint32`, too, it needs {:.2f} and takes {:.2f} ms.",
         instructions(UNROLLED), timed(UNROLLED), instructions(SHORT_INDICES),
         timed(SHORT_INDICES))  # fmt: skip
    solved = xray(exercise("four_steps").solution, ILP.signature, "sm_90")
    opcodes = tuple(instruction.opcode for instruction in solved.hot.body)
    assert opcodes == loop(SHORT_INDICES).opcodes


@pytest.mark.slow
def test_without_the_alignment_the_reads_are_not_joined(compiler):
    plain = ("float32, alignment=16)", "float32)")
    aligned, reads = (
        xray(kernel, ILP.signature, "sm_90").loads
        for kernel in (unrolled_solution(), unrolled_solution(plain))
    )
    bits = max(int(name.partition(".")[2]) for name in aligned if name.startswith("LDS"))
    assert f"LDS.{bits}" not in reads
    says("a multiple of {} bytes, which `alignment=16` promises. Without it a multiply-add needs "
         "{:.2f} wavefronts instead of {:.2f}.",
         bits // 8, wavefronts(PLAIN), wavefronts(UNROLLED))  # fmt: skip


# ---- instructions or warps ----


@pytest.mark.slow
def test_four_indices_of_32_bits_need_fewer_registers(compiler):
    short = unrolled_solution(
        ("import cuda, float32", "import cuda, float32, uint32"),
        ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y",
         "tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)"),
        ("row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx",
         "row, col = uint32(cuda.blockIdx.y * TILE + ty), uint32(cuda.blockIdx.x * TILE + tx)"),
    )  # fmt: skip
    solved = exercise("four_steps").solution
    few, many = (xray(one, ILP.signature, "sm_90") for one in (short, solved))
    threads = BY[FOUR].launch(LADDER.parse(str(SIZE))).threads
    held = [
        occupancy(H200.compute_capability, threads, one.registers, one.shared_bytes)
        for one in (few, many)
    ]
    assert few.registers == registers(BY[FOUR])
    assert held[0].warps == on_sm(BY[FOUR]).warps
    assert held[1].warps == held_by_sm(SHORT_INDICES)
    says("A thread of `ilp` needs {} registers, and one of the solution {}. So an SM holds {} "
         "warps instead of {}. With `row` and `col` in `uint32`, too, the solution would need {}.",
         registers(BY[FOUR]), many.registers, *(one.warps for one in held),
         few.registers)  # fmt: skip


@pytest.mark.slow
def test_the_compiler_writes_out_the_loop_of_ilp_and_not_that_of_the_reader():
    assert wavefronts(BY[FOUR]) == wavefronts(UNROLLED)
    steps = 32 // 4
    assert loop(BY[FOUR]).multiply_adds == steps * loop(UNROLLED).multiply_adds
    says("With grain {}, `ilp` takes {:.2f} ms in the run of the bars. It has the same wavefronts "
         "and the same sums as the task's solution, which takes {:.2f} ms.",
         FOUR, timed(BY[FOUR]), timed(SHORT_INDICES))  # fmt: skip
    says("`ilp` needs {:.2f} per multiply-add instead of {:.2f}.",
         instructions(BY[FOUR]), instructions(SHORT_INDICES))  # fmt: skip


@pytest.mark.slow
def test_warps_explain_little_and_instructions_most(compiler):
    few, many = held_by_sm(FEWER_WARPS), held_by_sm(BY[FOUR])
    gain = _ratio(timed, SHORT_INDICES, BY[FOUR])
    says("that an SM has room for {} warps. If the warps explain the whole gain, the answer is "
         "{:.2f} ÷ {:.2f} = {:.2f}. If the instructions do, it is {}.",
         few, *gain, int(gain[-1]))  # fmt: skip
    says("How many times faster is `ilp` with {} warps than with {}?", many, few)
    text = """The instructions stay the same, so the answer is what the warps alone can do. Recorded
        are {:.2f} ÷ {:.2f} = {:.2f} times, of the {:.2f} ÷ {:.2f} = {:.2f} that were to be
        explained."""
    quotes.explains("11.warps", text, *_ratio(timed, FEWER_WARPS, BY[FOUR]),
                    *gain)  # fmt: skip
    assert {held_by_sm(one) for one in (UNROLLED, SHORT_INDICES, FEWER_WARPS)} == {few}
    says("eight more of them save {:.2f} ms.", timed(FEWER_WARPS) - timed(BY[FOUR]))
    assert many - few == 8
    says("**The two steps with fewer instructions are worth {:.2f} × {:.2f} = {:.2f} times, and "
         "the warps {:.2f}.**",
         timed(UNROLLED) / timed(SHORT_INDICES), timed(SHORT_INDICES) / timed(FEWER_WARPS),
         timed(UNROLLED) / timed(FEWER_WARPS), timed(FEWER_WARPS) / timed(BY[FOUR]))  # fmt: skip
    cycles = round(latency("FMA"))
    says("With {} warps a scheduler has {}, and {} are enough to start a multiply-add in each "
         "cycle.", many, many // SCHEDULERS, cycles)  # fmt: skip


@pytest.mark.slow
def test_the_chain_has_one_better_figure_per_step_and_the_product_is_the_whole_gain(compiler):
    kernels = [KERNELS[link.kernel] for link in chain.CHAIN]
    assert kernels == [TILED, UNROLLED, SHORT_INDICES, FEWER_WARPS, BY[FOUR]]
    assert [link.warps for link in chain.CHAIN] == list(map(held_by_sm, kernels))
    needs = [[value for _, value in link.needs()] for link in chain.CHAIN]
    better = [
        [column for column in range(3) if after[column] < before[column]]
        for before, after in pairwise(needs)
    ]
    assert better == [[0], [1], [1], [2]]
    says("The four factors multiply to the whole gain, {:.2f} ÷ {:.2f} = {:.2f}.",
         *_ratio(timed, TILED, BY[FOUR]))  # fmt: skip
    ms, bars = [timed(one) for one in kernels], [bound(one) for one in kernels]
    factors = [
        (bars[step] / bars[step + 1], ms[step] / ms[step + 1]) for step in range(len(kernels) - 1)
    ]
    says("| {:.2f} → {:.2f} wavefronts | {:.2f} times | {:.2f} times |",
         *map(wavefronts, kernels[:2]), *factors[0])  # fmt: skip
    says("| `tx` and `ty` in `uint32` | {:.2f} → {:.2f} instructions | {:.2f} | {:.2f} |",
         *map(instructions, kernels[1:3]), *factors[1])  # fmt: skip
    says("| to `ilp` with {} warps | {:.2f} → {:.2f} instructions | {:.2f} | {:.2f} |",
         held_by_sm(FEWER_WARPS), *map(instructions, kernels[2:4]), *factors[2])  # fmt: skip
    says("| {} → {} warps | {:.2f} | {:.2f} |", *map(held_by_sm, kernels[3:]),
         *factors[3])  # fmt: skip
    explained, gain = bars[0] / bars[-1], ms[0] / ms[-1]
    says("| {:.2f} → {:.2f} ms | **{:.2f}** | **{:.2f}** |", ms[0], ms[-1], explained, gain)
    says("by them alone the product is {:.2f} times faster. The other factor is {:.2f} ÷ {:.2f} = "
         "{:.2f}.", explained, gain, explained, gain / explained)  # fmt: skip
    says("`tiled` reaches {:.0f} % and `ilp` with grain {} {:.0f} %, and this is the factor of "
         "{:.2f}. Grain {} has not been profiled", 100 * bars[0] / ms[0], FOUR,
         100 * bars[-1] / ms[-1], gain / explained, FOUR)  # fmt: skip


def test_independent_sums_can_shorten_only_a_small_wait():
    says("one of `ilp` with grain {}, spend their time", EIGHT)
    shared, barrier, far, fixed, ready = (
        [profiled.share(one, *names) for one in (TILED, BY[EIGHT])]
        for names in (["mio_throttle", "short_scoreboard"], ["barrier"], ["long_scoreboard"],
                      ["wait"], ["not_selected", "selected"])
    )  # fmt: skip
    says("| the warp | `tiled` | grain {} |", EIGHT)
    says("| waits for shared memory, or in its queue | {:.0f} % | {:.0f} % |", *shared)
    says("| waits at a barrier | {:.0f} % | {:.0f} % |", *barrier)
    says("| waits for words from global memory | {:.0f} % | {:.0f} % |", *far)
    says("| waits a fixed number of cycles, as after a multiply-add | {:.0f} % | {:.0f} % |",
         *fixed)  # fmt: skip
    says("| is ready or issues | {:.0f} % | {:.0f} % |", *ready)
    says("It is {:.0f} % of the time in `tiled`", fixed[0])
    assert barrier[1] / barrier[0] < min(new / old for old, new in (shared, far, fixed, ready))
    warps = [one.launch(LADDER.parse(str(SIZE))).threads // WARP for one in (BY[EIGHT], TILED)]
    says("a block of grain {} has {} warps that wait for each other, and one of `tiled` has {}.",
         EIGHT, *warps)  # fmt: skip


def unrolled_solution(*changes):
    """Return the solution with the lines of the lesson, and with (old, new) text replaced."""
    return changed_solution(
        ("tile_a = cuda.shared.array((TILE, TILE), float32)",
         "tile_a = cuda.shared.array((TILE, TILE), float32, alignment=16)"),
        ("        for i in range(TILE):\n            from_b = tile_b[i, tx]\n            for g in "
         "range(4):\n                totals[g] += tile_a[ty + 8 * g, i] * from_b\n",
         "        for first in range(0, TILE, 4):\n            for u in range(4):\n                "
         "i = first + u\n                from_b = tile_b[i, tx]\n                for g in range(4):"
         "\n                    totals[g] += tile_a[ty + 8 * g, i] * from_b\n"),
        *changes,
    )  # fmt: skip


def changed_solution(*changes):
    """Return the solution of `independent_sums` with (old, new) text replaced."""
    text = exercise("independent_sums").solution_text
    for old, new in changes:
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
    says("NVIDIA's profiler counts the same {:.2f} wavefronts for grain {}.",
         course.profiled_wavefronts(BY[EIGHT]), EIGHT)  # fmt: skip


@pytest.mark.slow
def test_the_time_of_two_kernels_with_four_sums_follows_the_wavefronts():
    both = WIDE, BY[FOUR]
    counted = wavefronts(WIDE) / wavefronts(BY[FOUR])
    assert timed(WIDE) / timed(BY[FOUR]) == pytest.approx(counted, rel=0.05)
    assert [bound(one) for one in both] == [times(one).wavefronts for one in both]
    cheap = [max(_ms_with_short_reads(one), times(one).instructions) for one in both]
    each = [wavefronts(one) for one in both]
    says("With the stores, four tiles need {:.2f} wavefronts per multiply-add, and four rows "
         "{:.2f}.", *each)  # fmt: skip
    says("four rows are about {:.2f} ÷ {:.2f} = {:.2f} times faster.", *each, counted)
    says("Four rows are {:.2f} times faster, so **the times follow the wavefronts**. If a joined "
         "read took only one wavefront, the longer bars would give {:.2f} ÷ {:.2f} = {:.2f} times.",
         timed(WIDE) / timed(BY[FOUR]), *cheap, cheap[0] / cheap[1])  # fmt: skip
    says("The two need nearly as many instructions, {:.2f} and {:.2f} per multiply-add.",
         instructions(BY[FOUR]), instructions(WIDE))  # fmt: skip
    assert instructions(BY[FOUR]) == pytest.approx(instructions(WIDE), rel=0.05)
    says("the blocks with four tiles of b are four times as wide, and the numbers of warps differ.")
    launches = [one.launch(LADDER.parse(str(SIZE))) for one in both]
    assert 4 * launches[0].grid[0] == launches[1].grid[0]
    assert len({on_sm(one).warps for one in both}) == 2


def _ms_with_short_reads(one):
    """Return the ms of the wavefronts of a kernel if an LDS.128 took one wavefront."""
    saved = loop(one).opcodes.count("LDS.128") / loop(one).multiply_adds
    return times(one).wavefronts * (1 - saved / wavefronts(one))


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
    says("From grain {} to grain {} the wavefronts fall by a factor of {:.2f}, and the time by "
         "{:.2f}.", LEAST, EIGHT, wavefronts(BY[LEAST]) / wavefronts(BY[EIGHT]),
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
    says("and for grain {} they also begin and end its iterations.", SIXTEEN)
    stores = wavefronts(BY[SIXTEEN]) - 17 / SIXTEEN
    says("The stores add {:.2f} wavefronts per multiply-add", stores)
    says("What is the time of grain {}, divided by that of grain {}?**", SIXTEEN, EIGHT)
    says("A number below {} means that grain {} is faster.", int(counted), SIXTEEN)


@pytest.mark.slow
def test_short_loops_bring_the_joined_reads_back_and_not_all_of_the_time():
    assert loop(SHORT).opcodes.count("LDS.128") * 4 == loop(SHORT).multiply_adds
    says("The wavefronts fall to {:.1f} ms, fewer than those of any other kernel here, and the "
         "time from {:.1f} to {:.1f} ms. Yet it is slower than grain {}. Its longer bar says why: "
         "{:.1f} ms of instructions.",
         times(SHORT).wavefronts, timed(BY[SIXTEEN]), timed(SHORT), EIGHT,
         times(SHORT).instructions)  # fmt: skip
    assert wavefronts(SHORT) == min(wavefronts(one) for one in KERNELS.values())
    assert timed(SHORT) > timed(BY[EIGHT])
    assert bound(SHORT) == times(SHORT).instructions > bound(BY[EIGHT])
    assert bound(BY[SIXTEEN]) == times(BY[SIXTEEN]).instructions


@pytest.mark.slow
def test_the_short_loops_leave_room_for_more_warps_than_grain_8(compiler):
    many, few = held_by_sm(SHORT), held_by_sm(BY[EIGHT])
    assert many > few
    says("The warps are not the reason: an SM holds {}, and {} with grain {}.", many, few, EIGHT)


@pytest.mark.slow
def test_the_loop_that_loads_the_tiles_of_16_sums_stays_a_loop(compiler):
    loading = [one for one in xray(SHORT.kernel, ILP.signature, "sm_90").loops
               if one.instructions["LDG"]]  # fmt: skip
    assert [one.inner for one in loading] == [True]
    assert loading[0].instructions["LDG"] < 2 * SIXTEEN


@pytest.mark.slow
def test_the_conclusion_has_ilp_alone_and_the_test_of_the_reads():
    says("The same ILP without fewer reads gives {:.2f} times.", timed(TILED) / timed(ALONE))
    says("the one with fewer wavefronts is {:.2f} times faster.", timed(WIDE) / timed(BY[FOUR]))


@pytest.mark.slow
def test_the_longer_bar_is_three_quarters_of_the_time_or_more():
    whole = [
        one for one in KERNELS.values() if one.launch(LADDER.parse(str(SIZE))).block[0] == 32
    ]
    shares = [100 * bound(one) / timed(one) for one in whole]
    side = whole[0].constants["TILE"]
    says("The longer bar is {:.0f} to {:.0f} % of the recorded time in each of the {} kernels with "
         "tiles of {}×{}.", min(shares), max(shares), len(whole), side, side)  # fmt: skip
    says("In the remaining {:.0f} to {:.0f} % the busier resource is idle.",
         100 - max(shares), 100 - min(shares))  # fmt: skip


# ---- the bound ----


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
