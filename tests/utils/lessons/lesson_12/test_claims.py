"""Check the claims of lesson 12 against counts, machine code and records."""

from functools import cache, partial

import numpy as np
import pytest

from gemm_kernels import LADDER, rows_apart
from gpu_xray import xray
from labs.exercises import find as exercise
from tests import profiled, quotes
from utils import lessons as course
from utils.lessons.lesson_12 import time_bars
from utils.lessons.lesson_12.outer_product import TILE
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import WARP, limits_of, occupancy
from utils.measuring import records
from virtual_gpu import trace

TILED, RECTANGULAR, COLUMN, BLOCKED = (
    LADDER.step(name)
    for name in ("tiled", "tiled_rectangular", "register_blocked_1d", "register_blocked")
)
SIZES = ("256", "512", "1024", "2048", "4096", "8192")
N = 4096
THREAD_TILES = ((4, 4), (4, 8), (8, 4), (8, 8))
H200 = devices.find(REFERENCE)
watched = cache(course.watch)
says = partial(quotes.says, "12")
explains = quotes.explains


def of(block: tuple[int, int], thread: tuple[int, int], step=BLOCKED):
    """Return the variant of a step with this block tile and this thread tile."""
    return step.variant(BM=block[0], BN=block[1], TM=thread[0], TN=thread[1])


def spread(block: tuple[int, int], thread: tuple[int, int]):
    return of(block, thread, rows_apart.STEP)


def ms(block: tuple[int, int], thread: tuple[int, int]) -> float:
    """Return the time of a kernel in the sweep."""
    return course.recorded_ms(of(block, thread))


def timed(variant) -> float:
    """Return the time of a kernel in the experiment `rows_apart`."""
    return time_bars.recorded_ms(variant)


def words(thread: tuple[int, int]) -> float:
    return 1 / thread[0] + 1 / thread[1]


@cache
def reads_of(variant):
    """Trace one block of a kernel with tiles of 8 steps of k."""
    c = variant.constants
    shapes = (c["BM"], 8), (8, c["BN"]), (c["BM"], c["BN"])
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    threads = c["BM"] * c["BN"] // c["TM"] // c["TN"]
    return trace(variant.kernel, (1, 1), threads, *arrays)


def each_read(variant, tile: str) -> float:
    """Return the wavefronts of one read of a tile, in the source."""
    return course.per_request(reads_of(variant), tile, "wavefronts")


def step_reads(variant) -> float:
    """Return the wavefronts of a warp for the reads of one step of k, in the source."""
    c = variant.constants
    return c["TM"] * each_read(variant, "sa") + c["TN"] * each_read(variant, "sb")


@cache
def code_of(variant):
    return xray(variant.kernel, variant.step.signature, "sm_90")


def warps_on_an_sm(variant) -> int:
    """Return the warps of a kernel that an SM holds, by the registers of the sweep's record."""
    record = rows_of_sweep()[variant.params]
    c = variant.constants
    threads = c["BM"] * c["BN"] // c["TM"] // c["TN"]
    figures = int(record.registers), int(record.shared_bytes)
    return occupancy(H200.compute_capability, threads, *figures).warps


@cache
def rows_of_sweep():
    frame = records.measured(REFERENCE, "gemm")
    rows = frame[(frame["step"] == BLOCKED.name) & (frame["m"] == N)].itertuples()
    return {row.params: row for row in rows}


EIGHT, FOUR = (of((64, 64), thread) for thread in ((8, 8), (8, 4)))
SPREAD, SPREAD_FOUR = (spread((64, 64), thread) for thread in ((8, 8), (8, 4)))


def wavefront_ms() -> float:
    """Return the time of one wavefront per warp and step of k, with 8×8 elements per thread."""
    tile = EIGHT.constants
    steps = N**3 / (tile["TM"] * tile["TN"] * WARP)
    return steps / H200.sms / H200.boost_clock_mhz / 1e3


# ---- the first sitting ----


def test_a_thread_tile_reads_an_eighth_of_the_words():
    default = BLOCKED.variant()
    assert default == of((64, 128), (8, 8))
    tile = default.constants
    per_thread = tile["TM"] * tile["TN"]
    says("A thread with {} elements of c in its registers reads an eighth", per_thread)
    shared = [course.loads_per_multiply_add(one, "shared") for one in (
        watched(BLOCKED, "64x128x64"), watched(TILED))]  # fmt: skip
    says("It reads {:g} words per multiply-add, an eighth of the {:g} words of `tiled`", *shared)
    assert shared[1] / shared[0] == 8
    says("The words fall by a factor of {:g} and", shared[1] / shared[0])


def test_the_picture_shows_16_multiply_adds():
    work = TILE * TILE
    says("these {} multiply-adds would take {} words", work, 2 * work)


def test_words_of_eight_rows():
    rows = watched(COLUMN, "64x128x64")
    eight, one = (course.loads_per_multiply_add(run, "shared") for run in (
        rows, watched(RECTANGULAR)))  # fmt: skip
    says("That is {:g} words per multiply-add instead of {:g}.", eight, one)
    assert eight == 1 + 1 / 8


@pytest.mark.slow
@pytest.mark.parametrize("block", [(64, 64), (64, 128), (128, 128)])
def test_words_from_global_memory_are_as_the_formula_says(block):
    run = watched(of(block, (8, 8)), "128x128x32")
    assert course.loads_per_multiply_add(run) == 1 / block[0] + 1 / block[1]


def test_the_movie_has_16_threads():
    tile, sums = 8, 4
    says("Watch {} threads with four sums each.", tile * tile // sums)
    kernels = (
        BLOCKED.build(BM=tile, BN=tile, TM=2, TN=2),
        COLUMN.build(BM=tile, BN=tile, BK=tile, TM=4),
    )
    threads, arrays = tile * tile // sums, np.ones((3, tile, tile), np.float32)
    runs = [trace(kernel, (1, 1), threads, *arrays) for kernel in kernels]
    each = [sums * course.loads_per_multiply_add(run, "shared") for run in runs]
    says("a thread reads {:g} words in the same step instead of {:g}", *each)


@pytest.mark.slow
def test_two_words_of_sa_meet_in_one_bank():
    run, tile = watched(BLOCKED, "64x128x64"), BLOCKED.variant().constants
    across = tile["BN"] // tile["TN"]
    says("A row of the block tile has {} threads, so a warp has two rows of threads.", across)
    assert WARP // across == 2
    wanted = [at // 4 for at in run.warp_access("sa").addresses]
    first, second = sorted(set(wanted))
    assert wanted == across * [first] + across * [second]
    depth = 8
    says("the two words are {} rows apart. A row of `sa` has {} words, so they are {} words apart",
         (second - first) // depth, depth, second - first)  # fmt: skip
    assert (second - first) % 32 == 0
    assert course.per_request(run, "sa", "wavefronts") == 2


@pytest.mark.slow
def test_wavefronts_in_the_source_of_one_step():
    run, tile = watched(BLOCKED, "64x128x64"), BLOCKED.variant().constants
    first = [at // 4 for at in run.warp_access("sb").addresses[:16]]
    apart = first[1] - first[0]
    says("because the {} words that it wants are {} apart", len(set(first)), apart)
    a, b = (course.per_request(run, name, "wavefronts") for name in ("sa", "sb"))
    work = tile["TM"] * tile["TN"]
    total = tile["TM"] * a + tile["TN"] * b
    says("In the source that makes {} · {:g} + {} · {:g} = {:g} wavefronts for {} multiply-adds, "
         "or {:g} for each.", tile["TM"], a, tile["TN"], b, total, work, total / work)  # fmt: skip
    assert b == 4
    says("a thread reads {} neighbours of `sb`", tile["TN"])


@pytest.mark.slow
def test_a_step_has_ten_loads_eight_of_a_and_two_of_b(compiler):
    hot = code_of(BLOCKED.variant()).hot
    names = [one.opcode for one in hot.body if one.name == "LDS"]
    steps = hot.ffma // 64
    assert names.count("LDS.128") == 2 * steps
    assert names.count("LDS") == 8 * steps


def test_words_promise_8_and_the_time_follows_the_wavefronts():
    of_tiled, of_blocked = map(course.profiled_wavefronts, (TILED, BLOCKED))
    says("`tiled` needs {:.2f} wavefronts per multiply-add", of_tiled)
    says("at {}×{} on the H200", N, N)
    source = course.wavefronts_per_multiply_add(watched(BLOCKED, "64x128x64"))
    says("In machine code it is about a third less")
    assert of_blocked / source == pytest.approx(2 / 3, rel=0.03)
    says("and the wavefronts by {:.2f}.", of_tiled / of_blocked)
    slow, fast = course.recorded_ms(TILED), course.recorded_ms(BLOCKED.variant())
    explains(
        "12.faster",
        "Recorded are {:.2f} and {:.2f} ms: {:.2f} ÷ {:.2f} = {:.2f}. The profiler counts {:.2f} "
        "and {:.3f} wavefronts per multiply-add: {:.2f} ÷ {:.3f} = {:.2f}.",
        slow, fast, slow, fast, slow / fast, of_tiled, of_blocked, of_tiled, of_blocked,
        of_tiled / of_blocked,
    )  # fmt: skip
    assert round(slow / fast) == 3
    assert COLUMN.variant().constants["BM"] == COLUMN.variant().constants["BN"] == 64


@pytest.mark.slow
@pytest.mark.parametrize("step", [TILED, COLUMN, BLOCKED], ids=lambda step: step.name)
def test_wavefronts_alone_explain_about_three_quarters(step):
    estimate = course.shared_memory_ms(course.profiled_wavefronts(step))
    assert 0.73 < estimate / course.recorded_ms(step.variant()) < 0.77


# ---- the sweep ----


def test_words_of_the_thread_tiles():
    depth = 8
    says("all with {} steps of k per tile", depth)
    says("Thread tiles of `4×4` read {:g} words per multiply-add from shared memory, `4×8` and "
         "`8×4` read {:g}, and `8×8` reads {:g}.",
         words((4, 4)), words((8, 4)), words((8, 8)))  # fmt: skip
    assert words((4, 8)) == words((8, 4))
    says("was the fastest in it,** at {}?", N)
    assert len({variant.params for variant in BLOCKED.variants()}) == 16


def test_in_a_block_tile_of_64x64_8x4_is_the_fastest_and_8x8_the_slowest():
    times = {thread: ms((64, 64), thread) for thread in THREAD_TILES}
    assert min(times, key=times.get) == (8, 4)
    assert max(times, key=times.get) == (8, 8)
    every = [course.recorded_ms(variant) for variant in BLOCKED.variants()]
    assert times[8, 4] == min(every)
    assert sorted(every).index(ms((64, 128), (8, 8))) == 2
    counted = {thread: time_bars.per_multiply_add(of((64, 64), thread))[0]
               for thread in THREAD_TILES}  # fmt: skip
    names = {thread: "×".join(map(str, thread)) for thread in THREAD_TILES}
    tall, small, wide, large = (names[one] for one in ((8, 4), (4, 4), (4, 8), (8, 8)))
    explains(
        "12.tile",
        "{} takes {:.2f} ms, {} {:.2f}, {} {:.2f}, and {}, which reads the fewest words, {:.2f} "
        "ms. The profiler counts {:.2f} wavefronts per multiply-add for {}, and {:.2f} for {}.",
        tall, times[8, 4], small, times[4, 4], wide, times[4, 8], large, times[8, 8],
        counted[8, 4], tall, counted[8, 8], large,
    )  # fmt: skip


def test_wavefronts_are_nearly_the_whole_time_of_two_thread_tiles():
    for thread in THREAD_TILES:
        one = time_bars.times_of(of((64, 64), thread))
        longer = max(one.wavefronts, one.instructions)
        is_whole = one.wavefronts == longer and longer > 0.9 * one.recorded
        assert is_whole == (thread in ((4, 8), (8, 8)))
    tile = EIGHT.constants
    across = tile["BN"] // tile["TN"]
    says("A row of the block tile has {} ÷ {} = {} of their threads",
         tile["BN"], tile["TN"], across)  # fmt: skip
    assert WARP // across == 4
    side, shown = rows_apart.recorded_counters(REFERENCE)[str(EIGHT)].n, time_bars.N
    says("The counts are of products of {}×{}, scaled to {}×{}.", side, side, shown, shown)
    assert limits_of(H200.compute_capability).sub_partitions == 4


def test_four_words_meet_in_one_bank():
    tile = EIGHT.constants
    a, b = each_read(EIGHT, "sa"), each_read(EIGHT, "sb")
    says("each of the {} reads of `sa` takes {:g} wavefronts. In the source, a read of `sb` takes "
         "{:g}. That makes {} · {:g} + {} · {:g} = {:g} wavefronts in a step of k.",
         tile["TM"], a, b, tile["TM"], a, tile["TN"], b, step_reads(EIGHT))  # fmt: skip
    counted = rows_apart.recorded_counters(REFERENCE)[str(EIGHT)]
    steps = counted.n**3 / (tile["TM"] * tile["TN"] * WARP)
    alone, both = counted.shared_wavefronts / steps, counted.wavefronts / steps
    says("The profiler counts {:.0f} in shared memory, which with the loads from global memory "
         "become {:.0f}.", alone, both)  # fmt: skip


# ---- rows apart ----


@pytest.mark.slow
def test_only_the_wavefronts_differ(compiler):
    before, after = code_of(EIGHT), code_of(SPREAD)
    assert len(before.hot.body) == len(after.hot.body)
    assert before.registers == after.registers
    says("Its loop has the same {} instructions as that of `register_blocked`, and its threads "
         "have the same {} registers.", len(after.hot.body), after.registers)  # fmt: skip


def test_what_a_wavefront_costs():
    tile = EIGHT.constants
    saved = each_read(EIGHT, "sa") - each_read(SPREAD, "sa")
    fewer = tile["TM"] * saved
    assert fewer == step_reads(EIGHT) - step_reads(SPREAD)
    says("{} reads of `sa` save {:g} each, so a warp takes {:g} fewer in each step of k.",
         tile["TM"], saved, fewer)  # fmt: skip
    says("At {} there are {}³ ÷ ({} · {}) such steps, and {} SMs at {:.2f} GHz need {:.3f} ms for "
         "one wavefront in each.", N, N, tile["TM"] * tile["TN"], WARP, H200.sms,
         H200.boost_clock_mhz / 1e3, wavefront_ms())  # fmt: skip
    says("`register_blocked` takes {:.2f} ms.", timed(EIGHT))
    says("Look at the bars of `4×4`, too, which are about equally long.")
    small, after = (time_bars.times_of(one) for one in (of((64, 64), (4, 4)), SPREAD))
    for one in (small, after):
        assert one.wavefronts == pytest.approx(one.instructions, rel=0.06)
    assert small.recorded == pytest.approx(after.recorded, rel=0.07)


def test_one_line_saves_28_percent():
    before, after = timed(EIGHT), timed(SPREAD)
    says("**One source line saves {:.0f} % of the time.**", 100 * (1 - after / before))
    says("Then one more source line saves {:.0f} %", 100 * (1 - after / before))
    fewer = step_reads(EIGHT) - step_reads(SPREAD)
    old, new = time_bars.times_of(EIGHT), time_bars.times_of(SPREAD)
    gone = fewer * wavefront_ms()
    assert old.wavefronts - new.wavefronts == pytest.approx(gone, abs=0.005)
    says("{:g} · {:.3f} = {:.2f} ms of wavefronts are gone. But only {:.2f} ms of the time are. "
         "Now the two bars are equally long, {:.2f} and {:.2f} ms",
         fewer, wavefront_ms(), gone, before - after, new.wavefronts, new.instructions)  # fmt: skip
    explains(
        "12.rows",
        "The wavefronts of a step fall by {:g}: {:.2f} − {:g} · {:.3f} = {:.2f} ms, and the "
        "instructions still need {:.2f} ms. So at least {:.2f} ms are needed. Recorded are "
        "{:.2f} ms, {:.2f} ms less than {:.2f}.",
        fewer, old.wavefronts, fewer, wavefront_ms(), new.wavefronts, new.instructions,
        new.wavefronts, after, before - after, before,
    )  # fmt: skip
    says("why does `spread_rows` with `8×8` take {:.2f} ms, when its longer bar is {:.2f} ms?",
         after, new.wavefronts)  # fmt: skip


def test_the_waits_of_register_blocked_are_counted():
    one = of((64, 128), (8, 8))
    block = [one.constants[name] for name in ("BM", "BN")]
    shared = profiled.share(one, "short_scoreboard", "mio_throttle")
    says("In `register_blocked` with `{}×{}` a warp spends {:.0f} % of its time on waits for "
         "shared memory or in its queue, {:.0f} % on waits for global memory and at barriers, and "
         "{:.0f} % on waits of a fixed number of cycles.", *block, shared,
         profiled.share(one, "long_scoreboard", "barrier"),
         profiled.share(one, "wait"))  # fmt: skip
    says("In {:.0f} % of the cycles none of a scheduler's four warps issues.",
         100 - profiled.counted(one)["issue_percent"])  # fmt: skip


def test_with_rows_apart_8x8_is_the_fastest():
    both = timed(SPREAD), min(timed(FOUR), timed(SPREAD_FOUR))
    says("{:.2f} ms, and {:.2f} ms for `8×4`.", *both)
    others = [timed(of((64, 64), thread, step)) for thread in THREAD_TILES[:3]
              for step in (BLOCKED, rows_apart.STEP)]  # fmt: skip
    assert both[0] < min(others)
    larger = [(timed(of(block, (8, 8))), timed(spread(block, (8, 8))))
              for block in ((64, 128), (128, 128))]  # fmt: skip
    says("{:.2f} ms become {:.2f} in `64×128`, and {:.2f} become {:.2f} in `128×128`",
         *larger[0], *larger[1])  # fmt: skip


def test_8x4_has_a_conflict_in_the_source():
    tile = FOUR.constants
    old, new = (each_read(one, "sa") for one in (FOUR, SPREAD_FOUR))
    says("In the source a read of `sa` takes {:g} wavefronts, and {:g} with rows apart.", old, new)
    b = each_read(FOUR, "sb")
    says("So the reads of a step take {} · {:g} + {} · {:g} = {:g} instead of {} · {:g} + {} · "
         "{:g} = {:g} wavefronts.", tile["TM"], new, tile["TN"], b, step_reads(SPREAD_FOUR),
         tile["TM"], old, tile["TN"], b, step_reads(FOUR))  # fmt: skip
    says("**How much of its {:.2f} ms does the change save for `8×4`?**", timed(FOUR))


@pytest.mark.slow
def test_all_reads_of_8x4_are_joined(compiler):
    found = {}
    for variant in (FOUR, EIGHT):
        hot = code_of(variant).hot
        reads = [one.opcode for one in hot.body if one.name == "LDS"]
        found[variant] = words((variant.constants["TM"], variant.constants["TN"])), len(
            reads) / hot.ffma, reads, hot.ffma  # fmt: skip
    says("For `8×4`, a multiply-add has {:g} reads in the source and {:.3g} in machine code, which "
         "is a quarter. For `8×8` these are {:g} and {:.3g}.",
         *found[FOUR][:2], *found[EIGHT][:2])  # fmt: skip
    assert found[FOUR][0] / found[FOUR][1] == 4
    counted = [time_bars.per_multiply_add(one)[1] for one in (EIGHT, FOUR)]
    says("with them the profiler counts {:.2f} per multiply-add, and {:.2f} for `8×4`.", *counted)
    assert "LDG" not in code_of(EIGHT).hot.instructions
    assert "LDG" in code_of(FOUR).hot.instructions
    assert set(found[FOUR][2]) == {"LDS.128"}
    steps = 8
    says("The compiler writes out all {} steps of k, {} multiply-adds.", steps, found[FOUR][3])
    work = EIGHT.constants["TM"] * EIGHT.constants["TN"]
    says("With `8×8` the eight steps would be {} multiply-adds.", steps * work)
    assert found[EIGHT][3] == work
    across = FOUR.constants["BN"] // FOUR.constants["TN"]
    says("a wide read serves at most {} lanes at a time", across)
    says("With `8×4` the {} lanes that are served together are one row of threads", across)
    wide = of((64, 64), (4, 8)).constants
    rows = across * wide["TN"] // wide["BN"]
    assert rows == 2
    says("but {} lanes are two rows of threads", across)


def test_what_the_change_saves_for_the_other_thread_tiles():
    counted = [time_bars.per_multiply_add(one)[0] for one in (FOUR, SPREAD_FOUR)]
    assert f"{counted[0]:.3f}" == f"{counted[1]:.3f}"
    assert f"{timed(FOUR):.2f}" == f"{timed(SPREAD_FOUR):.2f}"
    explains(
        "12.joined",
        "Both take {:.2f} ms, and the profiler counts {:.3f} wavefronts per multiply-add for both. "
        "A quarter of the reads means that all are joined: the conflict of the source is not in "
        "the machine code.",
        timed(FOUR), counted[0],
    )  # fmt: skip
    wide = timed(of((64, 64), (4, 8))), timed(spread((64, 64), (4, 8)))
    says("the change saves {:.0f} %.", 100 * (1 - wide[1] / wide[0]))
    small = [of((64, 64), (4, 4)), spread((64, 64), (4, 4))]
    assert time_bars.per_multiply_add(small[0]) == pytest.approx(
        time_bars.per_multiply_add(small[1]), rel=0.001)  # fmt: skip
    says("and the time grows by {:.0f} %.", 100 * (timed(small[1]) / timed(small[0]) - 1))


# ---- all sizes, the limit ----


@pytest.mark.slow
def test_register_blocking_is_behind_at_256_and_512_and_far_ahead_from_2048_on():
    gain = {at: course.recorded_ms(TILED, at) / course.recorded_ms(BLOCKED, at) for at in SIZES}
    behind, ahead = [at for at in SIZES if gain[at] < 1], [at for at in SIZES if gain[at] > 2.5]
    says("From {} on register blocking is far ahead. At {} and {} it is *behind* `tiled`.",
         ahead[0], *behind)  # fmt: skip
    assert ahead == list(SIZES[SIZES.index(ahead[0]) :])
    tile, least = BLOCKED.variant().constants, int(SIZES[0])
    down, across = least // tile["BM"], least // tile["BN"]
    says("at {} there are {} · {} = {} blocks of `64×128`, for {} SMs.",
         least, down, across, down * across, H200.sms)  # fmt: skip


@pytest.mark.slow
def test_registers_limit_the_thread_tile(compiler):
    most, side = limits_of(H200.compute_capability).registers_per_thread, 16
    says("a thread can have at most {} registers, and the sums of `16×16` alone are {}.",
         most, side * side)  # fmt: skip
    held = warps_on_an_sm(EIGHT)
    says("With `8×8` a thread has {}, so an SM holds only {} warps.",
         code_of(EIGHT).registers, held)  # fmt: skip
    moved = 128
    says("reads and stores {} bits at once", moved)


@pytest.mark.slow
def test_the_compiler_joins_reads_of_the_course_and_none_of_a_plain_kernel(compiler):
    kernels = exercise("eight_rows").solution, COLUMN.build(**COLUMN.variant().constants)
    loops = [xray(kernel, COLUMN.signature, "sm_90").hot.instructions for kernel in kernels]
    plain, course_loop = (one["LDS"] / one["FFMA"] for one in loops)
    assert plain == words((8, 1))
    assert course_loop < plain / 2
    says("In your loop it probably joins none.")
    each = [sum(one.values()) / one["FFMA"] for one in loops]
    says("The loop of the plain solution has {:.1f} instructions per multiply-add, and the "
         "course's has {:.1f}.", *each)  # fmt: skip
    signs = [(one["SEL"] + one["USEL"]) / one["FFMA"] for one in loops]  # is z negative?
    assert signs[0] > 1 / 4
    assert signs[1] < 1 / 64
