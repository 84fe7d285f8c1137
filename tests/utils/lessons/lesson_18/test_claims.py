"""Check the figures and comparisons in lesson 18 against counts and records."""

import re
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from numba import typeof

from gpu_xray import xray
from labs.exercises import find as exercise
from reduce_kernels import LADDER
from tests import quotes
from utils import lessons as course
from utils.lessons.block_sums import block_of, instructions_of_block, recorded_cycles
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_18 import reduction_tree as trees
from utils.machine.devices import REFERENCE, find, slug
from utils.machine.occupancy import WARP, limits_of
from utils.paths import DATA

BLOCK = 256
STEPS = REDUCE0, REDUCE1, REDUCE2, REDUCE3 = tuple(
    LADDER.step(f"reduce{number}").variant(BLOCK=BLOCK) for number in range(4)
)
LONGEST = LADDER.parse("2^30").elements
WORD = np.float32().nbytes
H200 = find(REFERENCE)
SCHEDULERS = limits_of(H200.compute_capability).sub_partitions
MEMORY = WORD * BLOCK / (H200.memory_gb_per_s * 1e3 / H200.boost_clock_mhz / H200.sms)
says = partial(quotes.says, "18")
code = partial(quotes.code, "18")
counts_of_block = cache(block_of)
instructions = cache(instructions_of_block)


def cycles(variant):
    return recorded_cycles(variant, "2^30")


@cache
def run_of(variant):
    return course.watch(variant, str(4 * counts_of_block(variant).elements), record=0)


@cache
def without_remainder():
    old, new = "tid % uint32(2 * stride) == 0", "tid & uint32(2 * stride - 1) == 0"
    return edited(REDUCE0.step.file, Edit(old, new)).STEP.variant(BLOCK=256)


def estimated(variant):
    """Return a block's cycles if its SM issues one instruction per cycle and scheduler."""
    return instructions(variant) / SCHEDULERS


def loop_length(variant):
    """Return the instructions per iteration of the loop over the steps of the tree."""
    return len(xray(variant.kernel, variant.step.signature, "sm_90").hot.body)


@pytest.mark.slow
def test_in_the_picture_four_of_16_threads_add_in_the_second_step_and_all_warps_are_busy():
    steps = trees.neighbours(trees.WORDS)
    ((_, last, _),) = steps[-1]
    says("The picture shows {} words in shared memory", trees.WORDS)
    says("After {} steps the sum of all is in word {}", len(steps), last)
    says("In the picture a warp has {} lanes, and not {}", trees.WARP, WARP)
    says("only {} of {} threads add", len(steps[1]), trees.WORDS)
    assert trees.warps_of(steps[1]) == [0, 1, 2, 3]
    crowded = trees.neighbouring_threads(trees.WORDS)[1]
    words = [left for _, left, _ in crowded]
    says("look at the second step: one warp, {} wavefronts", trees.wavefronts_of(crowded))
    (bank,) = {word % trees.WARP for word in words}
    says("want words {}, {}, {} and {}, and all of them are in bank {}", *words, bank)
    says("({} banks in this picture)", trees.WARP)


def test_the_second_and_third_pair_go_to_threads_1_and_2_without_gaps():
    pairs = trees.neighbours(trees.WORDS)[0]
    threads = [thread for thread, _, _ in trees.neighbouring_threads(trees.WORDS)[0]]
    assert threads == list(range(len(pairs)))
    says("thread {} could take the second pair, thread {} the third", *threads[1:3])


def test_the_words_of_a_pair_lie_1_2_4_to_128_apart():
    assert f"variant(BLOCK={BLOCK})" in code("kernel")
    distances = [right - left for ((_, left, right), *_) in trees.neighbours(BLOCK)]
    says("a pair are: {}, {}, {}, … {}", *distances[:3], distances[-1])
    says("`BLOCK` is the number of threads of a block, a constant for the compiler. Here it is {}.",
         BLOCK)  # fmt: skip
    says("Each element has {} bytes and costs one addition", WORD)


def test_an_unsigned_number_of_32_bits_is_what_uint32_makes():
    says("makes a whole number of {} bits that", 8 * np.uint32().nbytes)
    plain = typeof(1)
    says("without it Numba calculates in {} bits", plain.bitwidth)


@pytest.mark.slow
def test_additions_are_a_small_share_of_the_peak():
    assert H200.memory_gb_per_s / 4 / H200.fp32_gflops < 0.02


def by_step(variant, what):
    """Return the lanes, requests or wavefronts of one load in each step of the tree."""
    return [getattr(load, what) for load in course.loads_by_step(run_of(variant), "shared")]


def test_the_tree_has_255_additions_in_47_visits_of_warps():
    steps = trees.neighbours(256)
    visits = [len(trees.warps_of(step, 32)) for step in steps]
    assert by_step(REDUCE0, "requests") == visits == [8, 8, 8, 8, 8, 4, 2, 1]
    lanes = by_step(REDUCE0, "lanes")
    assert lanes == list(map(len, steps))
    says("has {} additions, and {} times a warp comes to them: {} ÷ {}",
         sum(lanes), sum(visits), sum(lanes), sum(visits))  # fmt: skip
    warps = BLOCK // WARP
    says("Now a block of {} threads: {} warps", BLOCK, warps)
    first = run_of(REDUCE0).recording.events[3]
    (active,) = set((first.first.reshape(warps, WARP) >= 0).sum(axis=1))
    says("each warp loads with {} of its {} lanes", active, WARP)
    assert lanes[-1] == 1
    says("how many of its {} lanes are active", WARP)
    says("whether it serves {} lanes or one", WARP)


@pytest.mark.slow
def test_two_launches_add_1000_elements():
    elements = 1000
    x, partials = np.arange(1, elements + 1, dtype=np.float32), np.zeros(4, np.float32)
    total, kernel = np.zeros(1, np.float32), REDUCE0.step.build(BLOCK=256)
    kernel[4, 256](x, partials)
    kernel[1, 256](partials, total)
    assert (partials.sum(), total[0]) == (500500, 500500)
    storing = _thread_that_stores(REDUCE0)
    says("Thread {} stores the sum of the block", storing)
    says("So the sum of {:,} elements takes two launches", elements)
    # One block of the second launch takes no more partial sums than it has threads.
    says("(More than {} · {} elements leave more than {} partial sums", BLOCK, BLOCK, BLOCK)
    blocks = [REDUCE0.launch(LADDER.parse(str(BLOCK**2 + more))).blocks for more in (0, 1)]
    assert blocks == [BLOCK, BLOCK + 1]


def _thread_that_stores(variant):
    """Return the thread of the recorded block that stores its sum."""
    (store,) = (
        event
        for event in run_of(variant).recording.events
        if (event.array, event.kind) == ("partials", "store")
    )
    (thread,) = np.flatnonzero(store.first.ravel() >= 0)
    return thread


def test_the_movies_show_a_block_of_64_threads():
    (threads,) = set(re.findall(r"build\(BLOCK=(\d+)\)", code("movie") + code("movie-2")))
    says("Watch one block of {} threads", threads)
    says("And as a movie, with {} threads again", threads)


def test_conflicts_take_away_what_the_warps_save():
    zero, one, two, three = map(counts_of_block, STEPS)
    assert [each.requests for each in (zero, one, two, three)] == [150, 45, 45, 45]
    assert [each.wavefronts for each in (zero, one, two, three)] == [150, 150, 45, 45]
    assert one.requests < zero.requests / 3
    says("Count one block of each, with {} threads", BLOCK)
    says("with the first store of all {} lanes", WARP)
    assert two.requests == one.requests
    says("are gone: {:.0f} wavefronts in place of {:.0f}", two.wavefronts, one.wavefronts)


def test_the_second_prediction_is_of_the_longest_recorded_array():
    exponent, gibi = LONGEST.bit_length() - 1, LONGEST / 2**30
    assert 2**exponent == LONGEST
    says("with 2^{} elements ({:.0f} Gi, {:.1f} GB)", exponent, gibi, WORD * LONGEST / 1e9)
    says("in percent, at 2^{}?", exponent)
    says("*Recorded* is the time at 2^{} in cycles", exponent)
    says("The times at {:.0f} Gi elements, with blocks of {} threads", gibi, BLOCK)


def test_the_lengths_that_check_takes():
    lengths = [shape[0] for shape in exercise("tree").shapes]
    says("others that do not: {}, {}, {}, {}, {} and {}", *lengths)
    assert lengths[0] % BLOCK == 0
    assert all(length % BLOCK for length in lengths[1:])


@pytest.mark.slow
def test_the_profiler_of_an_h200_counts_the_same():
    counters = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "counters.csv")
    for variant in STEPS[:3]:
        own = counters[counters["launch"] == f"{variant.step.name}_256"].set_index("counter")
        blocks = own["value"]["global_store_requests"]
        for count in ("requests", "wavefronts"):
            both = own["value"][[f"shared_load_{count}", f"shared_store_{count}"]].sum()
            assert both == getattr(counts_of_block(variant), count) * blocks


def test_conflicts_by_step_and_the_two_slips():
    assert by_step(REDUCE1, "requests") == [4, 2, 1, 1, 1, 1, 1, 1]
    for variant in (REDUCE0, REDUCE1):
        assert by_step(variant, "wavefronts") == [8, 8, 8, 8, 8, 4, 2, 1]
    assert by_step(REDUCE2, "wavefronts") == by_step(REDUCE2, "requests")
    second = trees.neighbouring_threads(BLOCK)[1]
    (one, *pair_of_one), (other, *pair_of_other) = second[16], second[24]
    # The published source uses the stride of the next step.
    ((_, begin, end), *_) = trees.neighbouring_threads(BLOCK)[2]
    wrong = [left + end - begin for left, _ in (pair_of_one, pair_of_other)]
    says("lane {} loads words {} and {}, and lane {} words {} and {}",
         one, pair_of_one[0], wrong[0], other, pair_of_other[0], wrong[1])  # fmt: skip
    (distance,) = {right - left for _, left, right in second}
    says("The words of a pair are {} apart then: {} and {} are right",
         distance, pair_of_one[1], pair_of_other[1])  # fmt: skip
    third = [left for _, left, _ in trees.neighbouring_threads(BLOCK)[2]]
    banks = [left % WARP for left in third]
    assert {bank: banks.count(bank) for bank in banks} == {0: 8, 8: 8, 16: 8, 24: 8}
    bank = banks[0]
    words = [left for left in third if left % WARP == bank]
    assert len(words) == 8
    says("the same eight words of bank {}: words {}, {}, {} and so on to {}",
         bank, *words[:3], words[-1])  # fmt: skip
    says("It is {} wavefronts both times", banks.count(bank))
    words_by_warp = [(thread // WARP, left) for thread, left, _ in trees.neighbours(BLOCK)[2]]
    assert [warp for warp, left in words_by_warp if left % WARP == bank] == list(range(8))
    larger = REDUCE1.step.variant(BLOCK=512)
    says("a conflict of {:.0f} ways, which needs blocks of {} threads; it has {}",
         _ways(larger), larger.constants["BLOCK"], BLOCK)  # fmt: skip
    assert _ways(REDUCE1) == _ways(larger) / 2


def _ways(variant):
    """Return the largest n of the n-way bank conflicts: wavefronts per request of a load."""
    both = by_step(variant, "wavefronts"), by_step(variant, "requests")
    return max(wavefronts / requests for wavefronts, requests in zip(*both, strict=True))


@pytest.mark.slow
def test_the_change_keeps_the_busy_warps_and_has_no_conflict():
    before, after = trees.neighbouring_threads(trees.WORDS), trees.halves(trees.WORDS)
    assert list(map(trees.warps_of, before)) == list(map(trees.warps_of, after))
    assert all(trees.wavefronts_of(step) == len(trees.warps_of(step)) for step in after)


@pytest.mark.slow
def test_neither_memory_nor_wavefronts_explain_the_time():
    for variant in STEPS[:3]:
        assert 0.2 * cycles(variant) > MEMORY
        assert counts_of_block(variant).wavefronts < 0.4 * cycles(variant)
    assert cycles(REDUCE1) < 0.7 * cycles(REDUCE0)
    fewer = counts_of_block(REDUCE1).wavefronts - counts_of_block(REDUCE2).wavefronts
    gained = round(cycles(REDUCE1)) - round(cycles(REDUCE2))
    says("`reduce2` has {:.0f} less, and gains {} cycles", fewer, gained)
    says("the {:,} bytes of the block", WORD * counts_of_block(REDUCE0).elements)


@pytest.mark.slow
def test_instructions_explain_three_quarters_of_the_time(compiler):
    for variant in STEPS:
        assert 0.75 < estimated(variant) / cycles(variant) < 0.9
    zero, one, two, three = map(estimated, STEPS)
    says("by its instructions alone it should gain {:.0f}", one - two)
    less = round(cycles(REDUCE2)) - round(cycles(REDUCE3))
    by_count = round(two) - round(three)
    says("takes {} cycles less. By instructions it is {} less; the other {} this count",
         less, by_count, less - by_count)  # fmt: skip
    says("it needs {:.0f} cycles in place of {:.0f}", estimated(without_remainder()), zero)
    says("<code>reduce1</code> with {:.0f}, and no more than <code>reduce2</code> with {:.0f}",
         one, two)  # fmt: skip


@pytest.mark.slow
def test_one_remainder_is_more_than_half_of_the_loop(compiler):
    says("one turn of `reduce0` has {} instructions, one of `reduce1` {}, and one of `reduce2` {}",
         *map(loop_length, STEPS[:3]))  # fmt: skip
    assert 2 * (loop_length(REDUCE0) - loop_length(without_remainder())) > loop_length(REDUCE0)
    says("more than half of the {} in a turn computed it", loop_length(REDUCE0))
    iterations, _ = course.turns_and_busy(run_of(REDUCE0), "shared")
    warps = BLOCK // WARP
    says("Each of the {} warps takes all {:.0f} turns", warps, iterations / warps)


def test_a_block_of_reduce3_takes_as_long_as_one_of_reduce2():
    assert counts_of_block(REDUCE3).elements == 2 * counts_of_block(REDUCE2).elements == 2 * BLOCK
    says("In `reduce2` {} threads load one element each", BLOCK)
    says("A block of {} threads now serves {} elements", BLOCK, counts_of_block(REDUCE3).elements)
    times = [course.recorded_ms(variant, "2^30") for variant in (REDUCE3, REDUCE2)]
    assert times[0] / times[1] == pytest.approx(0.49, abs=0.02)


@pytest.mark.slow
def test_four_curves_stand_in_their_order_and_are_lowest_at_2_to_the_22():
    exponents = 22, 25, 28, 30
    sizes = [2**exponent for exponent in exponents]
    mebi = [size // 2**20 for size in sizes]
    says("At 2^{} ({} Mi elements) all rates are lower", exponents[0], mebi[0])
    says("At 2^{} are the {} Mi elements of our source", exponents[1], mebi[1])
    rates = {}
    for size in sizes:
        each = [size / course.recorded_ms(variant.step, str(size)) for variant in STEPS]
        assert each == sorted(each)
        rates[size] = each
    for size in sizes[1:]:
        assert all(low < high for low, high in zip(rates[2**22], rates[size], strict=True))


@pytest.mark.slow
def test_most_turns_of_warps_only_test_and_wait():
    iterations, busy = course.turns_and_busy(run_of(REDUCE3), "shared")
    assert (iterations, busy) == (64, 12)
    additions = [len(trees.warps_of(step, 32)) for step in trees.halves(256)]
    assert additions == [4, 2, 1, 1, 1, 1, 1, 1]
    assert sum(additions) == busy
    assert 0.3 < course.share_of_peak(REDUCE3, "2^30") < 0.35


@pytest.mark.slow
def test_exercise_1_needs_fewer_instructions_than_reduce1(compiler):
    bits = 2 * trees.neighbours(BLOCK)[0][0][2]
    says("the remainder of `tid` divided by {} · `stride` is zero", bits)
    assert instructions(without_remainder()) < instructions(REDUCE1)
    assert instructions(without_remainder()) <= instructions(REDUCE2)
    for count in ("requests", "wavefronts", "lanes"):
        both = map(counts_of_block, (without_remainder(), REDUCE0))
        assert len({getattr(one, count) for one in both}) == 1


@pytest.mark.slow
def test_exercise_2_has_fewer_cycles_for_an_element(compiler):
    small = REDUCE2.step.variant(BLOCK=128)
    blocks = [counts_of_block(each).elements for each in (small, REDUCE2)]
    threads = [each.constants["BLOCK"] for each in (small, REDUCE2)]
    steps = [len(trees.halves(words)) for words in threads]
    warps = [count // WARP for count in threads]
    says("A block of {} threads has {} steps in place of {}, and {} warps in place of {}.",
         threads[0], *steps, *warps)  # fmt: skip
    counted = [round(estimated(each)) for each in (small, REDUCE2)]
    says("{} ÷ {} = {:.2f} cycles for an element, against {} ÷ {} = {:.2f}. One step",
         counted[0], blocks[0], counted[0] / blocks[0],
         counted[1], blocks[1], counted[1] / blocks[1])  # fmt: skip
    recorded = [round(cycles(each)) for each in (small, REDUCE2)]
    says("The record agrees: {} ÷ {} = {:.2f} against {} ÷ {} = {:.2f} cycles",
         recorded[0], blocks[0], recorded[0] / blocks[0],
         recorded[1], blocks[1], recorded[1] / blocks[1])  # fmt: skip


@pytest.mark.slow
def test_exercise_3_leaves_the_largest_element_of_each_block():
    largest = edited(
        REDUCE2.step.file,
        Edit("shared[tid] += shared[tid + stride]",
             "shared[tid] = max(shared[tid], shared[tid + stride])"),
        Edit("else float32(0)", "else float32(-math.inf)"),
        Edit("from numba import cuda", "import math\n\nfrom numba import cuda"),
    )  # fmt: skip
    x, result = -np.arange(1, 301, dtype=np.float32), np.zeros(2, np.float32)
    largest.build(BLOCK=256)[2, 256](x, result)
    says("it must print {:.0f} and {:.0f}", *result)


def test_zero_and_one_change_no_sum_and_no_product():
    numbers = np.arange(3, 7)
    nothing, once = np.sum([]), np.prod([])
    assert numbers.sum() + nothing == numbers.sum()
    assert numbers.prod() * once == numbers.prod()
    says("For the sum it is {:.0f}, for the product {:.0f}", nothing, once)
