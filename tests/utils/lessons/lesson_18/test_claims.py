"""Check the figures and comparisons in lesson 18 against counts and records."""

import inspect
import operator
import re
from dataclasses import replace
from functools import cache, partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numba import njit, types

from gpu_xray import xray
from labs.checking.variants import function_in
from labs.exercises import find as exercise
from reduce_kernels import LADDER
from reduce_kernels.remainder import (
    CONFLICTS,
    IN_32_BITS,
    LONG,
    MASKS,
    ON_ONE_SIDE,
    PITCHES,
    SIDES,
    WARPS_LEAVE,
    WITHOUT_REMAINDER,
    build_sides,
    recorded_slots,
    recorded_states,
    recorded_times,
    variants,
)
from tests import quotes
from utils import lessons as course
from utils.lessons.block_sums import block_of, instructions_of_block, issued_by_block
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_16 import register_banks
from utils.lessons.lesson_18 import reduction_tree as trees
from utils.lessons.lesson_18 import time_bars
from utils.lessons.lesson_18.issue_table import OUTSIDE
from utils.lessons.lesson_18.slides import (
    ELEMENTS,
    PUBLISHED_MS,
    THREADS,
    YEAR,
    beside_the_slides,
    recorded_ms,
    speedups,
)
from utils.lessons.lesson_18.warp_waits import waits_of
from utils.lessons.questions import bank
from utils.lessons.recorded import ms_if_any
from utils.machine.devices import REFERENCE, find, slug
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import records
from utils.paths import DATA

BLOCK = 256
STEPS = REDUCE0, REDUCE1, REDUCE2, REDUCE3 = tuple(
    LADDER.step(f"reduce{number}").variant(BLOCK=BLOCK) for number in range(4)
)
BITS = WITHOUT_REMAINDER.variant(BLOCK=BLOCK)
BITS_32, REDUCE2_32 = PAIR_32 = tuple(step.variant(BLOCK=BLOCK) for step in IN_32_BITS)
LEAVE = WARPS_LEAVE.variant(BLOCK=BLOCK)
UP, DOWN = MASKED = tuple(step.variant(BLOCK=BLOCK) for step in MASKS)
APART = WITH, WITHOUT = tuple(step.variant(BLOCK=BLOCK) for step in CONFLICTS)
BRANCHED = tuple(step.variant(BLOCK=BLOCK) for step in SIDES)
BY_NAME = {
    one.step.name: one for one in (*STEPS, BITS, *PAIR_32, *MASKED, LEAVE, *APART)
}  # the trees
FOURTEEN = tuple(row.kernel for row in recorded_slots())
DRAWN = tuple(variant.step.name for variant in (*STEPS, BITS))
LONGEST = LADDER.parse("2^30").elements
WORD = np.float32().nbytes
WARPS = BLOCK // WARP
BANKS = 32
# Lines of the solution of `tree`, and other ways to write them.
FIRST_HALF = "uint32(uint32(cuda.blockDim.x) >> uint32(1))"
NEXT_HALF, INDEX = "uint32(stride >> uint32(1))", "[tid + stride]"
ADDS = "        if tid < stride:\n            shared[tid]"
MIRRORED = "[uint32(2 * stride - 1 - tid)]"
LAST_WORD = (
    "        last = uint32(2 * stride - 1)\n        if tid < stride:\n            shared[tid]"
)
LEAVES = "        if tid >= stride:\n            return\n        shared[tid]"
H200 = find(REFERENCE)
SCHEDULERS = limits_of(H200.compute_capability).sub_partitions
says = partial(quotes.says, "18")
code = partial(quotes.code, "18")
explains = quotes.explains
counts_of_block = cache(block_of)
instructions = cache(instructions_of_block)


@cache
def times(name):
    """Return the estimates and the recorded time of a kernel, as the pictures show them."""
    return time_bars.times_of(BY_NAME[name], recorded_times())


def spread(step):
    """Return by how many percent the slowest repetition of a step is above the fastest one."""
    row = time_bars.longest_of(recorded_times())[step.name]
    return 100 * (row.time_ms_max / row.time_ms_min - 1)


def percent(before, after):
    """Return by how many percent a number falls, rounded."""
    return round(100 * (1 - after / before))


@cache
def run_of(variant):
    return course.watch(variant, str(4 * counts_of_block(variant).elements), record=0)


def estimated(variant):
    """Return a block's cycles if its SM issues one instruction per cycle and scheduler."""
    return instructions(variant) / SCHEDULERS


@cache
def loop_of(variant):
    """Return the instructions of one iteration of the loop over the steps of the tree."""
    return xray(variant.kernel, variant.step.signature, "sm_90").hot.body


def loop_length(variant):
    """Return the instructions per iteration of the loop over the steps of the tree."""
    return len(loop_of(variant))


def by_step(variant, what):
    """Return the lanes, requests or wavefronts of one load in each step of the tree."""
    return [getattr(load, what) for load in course.loads_by_step(run_of(variant), "shared")]


@cache
def remainder_ms(elements=LONGEST):
    """Return device -> {kernel: recorded milliseconds} at this length."""
    times = {}
    for row in recorded_times():
        if row.elements == elements:
            times.setdefault(row.device, {})[row.kernel] = row.time_ms
    return times


@pytest.mark.slow
def test_in_the_picture_one_thread_of_each_warp_adds_in_the_second_step():
    second = trees.neighbours(trees.WORDS)[1]
    rows = records.measured(H200.name, LADDER.name).query("elements == @LONGEST")
    rows = rows[rows["step"].isin([one.step.name for one in STEPS])]
    assert set(rows["library"]) == {"CUB (CuPy)"}
    (library,) = {round(ms, 2) for ms in rows["time_ms"] * rows["library_ratio"]}
    says("On an H200 the tree below adds {}³⁰ numbers in {:.2f} ms, and NVIDIA's library CUB in "
         "{:.2f} ms: what do the {} of {} threads cost that do not add in its second step?",
         round(LONGEST ** (1 / 30)), times("reduce0").recorded, library,
         trees.WORDS - len(second), trees.WORDS)  # fmt: skip
    says("the warp issues the same instructions for one lane as for {}", WARP)
    says("What the other {} threads cost", trees.WORDS - len(second))
    assert trees.warps_of(second) == [0, 1, 2, 3]
    assert len(second) == len(trees.WARPS) == trees.WORDS / trees.WARP  # one in each warp
    says("The fastest sum of this lesson takes {:.2f} ms, and CUB takes {:.2f} ms",
         min(row.time_ms for row in time_bars.longest_of(recorded_times()).values()),
         library)  # fmt: skip
    assert times("warps_leave").recorded < rows["time_ms"].min()
    says("In the picture a block adds {} words in shared memory", trees.WORDS)
    says("A warp of the picture has {} lanes instead of {}", trees.WARP, WARP)


def test_threads_without_gaps_are_fewer_warps_and_one_bank():
    before, after = trees.neighbours(trees.WORDS), trees.neighbouring_threads(trees.WORDS)
    pairs = [[pair for _, *pair in step] for step in before]
    assert pairs == [[pair for _, *pair in step] for step in after]
    threads = [thread for thread, _, _ in after[0]]
    assert threads == list(range(len(pairs[0])))
    says("Thread {} could take the second pair, thread {} the third", *threads[1:3])
    says("the banks of the words, {} in this picture", trees.WARP)
    assert len(trees.warps_of(after[1])) < len(trees.warps_of(before[1]))
    words = [left for _, left, _ in after[1]]
    (bank,) = {word % trees.WARP for word in words}
    says("want words {}, {}, {} and {}, and all of them are in bank {}: a bank conflict",
         *words, bank)  # fmt: skip
    assert trees.wavefronts_of(after[1]) == len(words)
    wavefronts = [list(map(trees.wavefronts_of, steps)) for steps in (before, after)]
    assert wavefronts[0] == wavefronts[1]
    says("So both trees take {}, {}, {} and {} wavefronts", *wavefronts[0])


def test_the_words_of_a_pair_lie_1_2_4_to_128_apart():
    assert f"variant(BLOCK={BLOCK})" in code("cell-06")
    distances = [right - left for ((_, left, right), *_) in trees.neighbours(BLOCK)]
    says("the two words of a pair: {}, {}, {}, … {}", *distances[:3], distances[-1])
    says("A sum does one addition per {} bytes", WORD)


def _calling(operation):
    """Return a function of two numbers that Numba can compile."""
    return lambda a, b: operation(a, b)


def test_an_unsigned_number_of_32_bits_is_what_uint32_makes():
    narrow = 8 * np.uint32().nbytes
    wide = types.intp.bitwidth
    says("`uint32(…)` makes a number of {} bits", narrow)
    for operation in (operator.rshift, operator.add, operator.mul, operator.and_):
        compiled = njit("(uint32, uint32)")(_calling(operation))
        assert compiled.nopython_signatures[0].return_type.bitwidth == wide
    says("**Keep numbers in {} bits.** An integer instruction of a GPU has {} bits, but in Numba "
         "the result of an operation with two integers has {}.", narrow, narrow, wide)  # fmt: skip
    says("If numbers of {} bits outside of an index make your loop longer, `check` says so", wide)
    says("`without_remainder_32` and `reduce2_32` are the kernels without `_32`, but all numbers "
         "of their loops have {} bits", narrow)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "wide, narrow, same",
    [
        ("tid % uint32(2 * stride) == 0", "uint32(tid % uint32(2 * stride)) == 0", True),
        (
            "tid & uint32(2 * stride - 1) == 0",
            "uint32(tid & uint32(2 * stride - 1)) == 0",
            True,
        ),
        ("tid & (2 * stride - 1) == 0", "tid & uint32(2 * stride - 1) == 0", False),
        ("tid * stride < stride", "uint32(tid * stride) < stride", False),
        ("tid + stride < BLOCK", "uint32(tid + stride) < BLOCK", False),
    ],
)
def test_the_compiler_drops_an_upper_half_that_is_always_zero(compiler, wide, narrow, same):
    text = exercise("without_remainder").solution_text
    test = "tid & uint32(2 * stride - 1) == 0"
    assert test in text
    codes = []
    for condition in (wide, narrow):
        kernel = function_in("without_remainder", text.replace(test, condition))
        codes.append(xray(kernel, REDUCE0.step.signature, "sm_90").hot.body)
    assert ([one.opcode for one in codes[0]] == [one.opcode for one in codes[1]]) == same


def test_the_tree_has_255_additions_in_47_requests_of_warps():
    steps = trees.neighbours(BLOCK)
    requests = [len(trees.warps_of(step, WARP)) for step in steps]
    lanes = by_step(REDUCE0, "lanes")
    assert by_step(REDUCE0, "requests") == requests
    assert lanes == list(map(len, steps))
    says("Now a block of {} threads, which are {} warps", BLOCK, WARPS)
    says("how many of its {} lanes are active", WARP)
    fields = " + ".join(["{}"] * len(steps))
    text = f"""The tree has {fields} = {{}} additions, each by one lane. In its steps {fields} =
        {{}} warps add: {{}} ÷ {{}} = {{:.2f}} lanes."""
    both = sum(lanes), sum(requests)
    explains("18.lanes", text, *lanes, both[0], *requests, both[1], *both, both[0] / both[1])


def test_two_launches_add_1000_elements():
    elements = int(re.search(r"np\.arange\(1, (\d+)", code("cell-08"))[1]) - 1
    x, partials = np.arange(1, elements + 1, dtype=np.float32), np.zeros(4, np.float32)
    total, kernel = np.zeros(1, np.float32), REDUCE0.step.build(BLOCK=BLOCK)
    kernel[4, BLOCK](x, partials)
    kernel[1, BLOCK](partials, total)
    assert partials.sum() == total[0] == x.sum(dtype=np.float64)
    says("The sum of {:,} elements takes two launches of this kernel", elements)
    assert REDUCE0.launch(LADDER.parse(str(elements))).blocks == len(partials)
    says("Thread {} stores the sum of the block", _thread_that_stores(REDUCE0))


def test_a_recorded_time_has_more_than_one_launch():
    shape = LADDER.parse(str(LONGEST))
    x = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (LONGEST,), (0,))
    calls = REDUCE0.step.calls(REDUCE0, shape, (x,), np.zeros(1, np.float32), np.empty)
    first, *further = calls
    assert first.launch == REDUCE0.launch(shape)
    assert len(further) >= 2


def _thread_that_stores(variant):
    """Return the thread of the recorded block that stores its sum."""
    (store,) = (
        event
        for event in run_of(variant).recording.events
        if (event.array, event.kind) == ("partials", "store")
    )
    (thread,) = np.flatnonzero(store.first.ravel() >= 0)
    return thread


def test_one_barrier_is_enough_in_the_first_task():
    one = exercise("missing_barrier")
    assert one.solution_text.count("cuda.syncthreads()") == 1
    given = inspect.getsource(import_module("reduce_kernels.reduce0"))
    assert given.count("cuda.syncthreads()") == 2
    assert "if tid % uint32(2 * stride) == 0:" in given
    assert "if tid % uint32(2 * stride) == 0:" in one.starter_text  # not the tree of a later task
    says("`reduce0` has two barriers in its text. One is enough, if it is in the right place.")


def test_the_movies_show_a_block_of_64_threads():
    threads = {int(re.search(r"BLOCK=(\d+)\)", code(cell))[1]) for cell in ("cell-14", "cell-41")}
    says("Watch one block of {} threads of `reduce0`", *threads)


def test_conflicts_take_away_what_the_warps_save():
    zero, one, two = map(counts_of_block, STEPS[:3])
    assert one.requests < zero.requests / 3  # "less than a third of the requests"
    assert one.wavefronts == zero.wavefronts  # "not one wavefront less"
    assert two.requests == one.requests == two.wavefronts
    says("Its wavefronts fall by {} %, from {:.0f} to {:.0f} per block",
         percent(one.wavefronts, two.wavefronts), one.wavefronts, two.wavefronts)  # fmt: skip
    lanes, requests = (sum(by_step(REDUCE0, what)) for what in ("lanes", "requests"))
    says("with the first store by all {} lanes. So `reduce0` has {:.2f} lanes per request here, "
         "and {:.2f} in its tree alone", WARP, zero.lanes, lanes / requests)  # fmt: skip


def test_reduce1_needs_eight_words_of_one_bank_where_reduce0_has_eight_warps():
    step = int(re.search(r"step=(\d+)", code("cell-22"))[1])  # counted from 1
    crowded = trees.neighbouring_threads(BLOCK)[step - 1]
    first_warp = [left for thread, left, _ in crowded if thread < WARP]
    bank = first_warp[0] % WARP
    words = [left for left in first_warp if left % WARP == bank]
    assert len(words) == 8  # "these eight words"
    says("Bank {} has eight words for this warp", bank)
    assert step == 3  # "the third step of reduce1"
    by_warp = {left: thread // WARP for thread, left, _ in trees.neighbours(BLOCK)[step - 1]}
    assert [by_warp[word] for word in words] == list(range(WARPS))


@pytest.mark.slow
def test_the_profiler_of_an_h200_counts_the_same():
    counters = pd.read_csv(DATA / "measured" / slug(REFERENCE) / "counters.csv")
    for variant in STEPS[:3]:
        own = counters[counters["launch"] == f"{variant.step.name}_256"].set_index("counter")
        blocks = own["value"]["global_store_requests"]
        for count in ("requests", "wavefronts"):
            both = own["value"][[f"shared_load_{count}", f"shared_store_{count}"]].sum()
            assert both == getattr(counts_of_block(variant), count) * blocks


def test_every_step_of_reduce0_diverges():
    for variant in (REDUCE0, BITS):
        lanes, requests = by_step(variant, "lanes"), by_step(variant, "requests")
        assert all(each < WARP * warps for each, warps in zip(lanes, requests, strict=True))


@pytest.mark.slow
def test_the_same_lanes_add_without_the_remainder_and_only_instructions_differ():
    both = [counts_of_block(variant) for variant in (REDUCE0, BITS)]
    assert both[0] == both[1]
    for what in ("lanes", "requests", "wavefronts"):
        assert by_step(REDUCE0, what) == by_step(BITS, what)
    assert counts_of_block(REDUCE1).wavefronts == both[0].wavefronts
    assert counts_of_block(REDUCE1).elements == both[0].elements
    assert instructions(BITS) < instructions(REDUCE1) < instructions(REDUCE0)
    assert (WARPS, SCHEDULERS) == (8, 4)  # "The 8 warps", "each of the four schedulers"
    says("this GPU has {} SMs at {:.2f} GHz", H200.sms, H200.boost_clock_mhz / 1000)
    drawn = [times(name) for name in ("reduce0", "without_remainder", "reduce1")]
    assert len({(one.memory, one.wavefronts) for one in drawn}) == 1


@pytest.mark.slow
def test_the_loops_have_no_jump_around_the_addition_and_most_of_the_instructions(compiler):
    lengths = [loop_length(variant) for variant in (REDUCE0, BITS, REDUCE1)]
    common = lengths[0] - len(remainder_of())
    bit_operation = lengths[1] - common
    says("an iteration of the loop has {} instructions in `reduce0`, {} of them for the remainder, "
         "and {} in `reduce1`.", lengths[0], len(remainder_of()), lengths[2])  # fmt: skip
    says("so the compiler makes {}. Your bit operation takes {}, so the loop has {} − {} + {} = {} "
         "instructions, fewer than that of `reduce1`", len(remainder_of()), bit_operation,
         lengths[0], len(remainder_of()), bit_operation, lengths[1])  # fmt: skip
    assert lengths[1] < lengths[2]
    says("instructions of the remainder: {} of the {} of the loop", len(remainder_of()), lengths[0])
    says("The other {} are among the {} instructions of the next fold", common, lengths[1])
    says("<code>LOP3.LUT</code> do what these {} do", len(remainder_of()))
    iterations, _ = course.turns_and_busy(run_of(REDUCE0), "shared")
    zero, bits = (iterations * length // SCHEDULERS for length in lengths[:2])
    says("In a block {} warps make {} iterations each", WARPS, iterations // WARPS)
    says("So the loop takes at least {} · {} ÷ {} = {} cycles per block in `reduce0`, and {} · {} "
         "÷ {} = {} without the remainder", iterations, lengths[0], SCHEDULERS, zero,
         iterations, lengths[1], SCHEDULERS, bits)  # fmt: skip
    says("Each warp issues the same {} instructions per iteration", lengths[1])
    for variant in (REDUCE0, BITS, REDUCE1, REDUCE2):
        names = [one.name for one in loop_of(variant)]
        addition = loop_of(variant)[names.index("LDS") : names.index("STS") + 1]
        assert "BRA" not in {one.name for one in addition}  # "the compiler made no jump of it"
        assert all(one.predicate for one in addition if one.name in ("LDS", "FADD", "STS"))


def pre_of(cell, word):
    """Return the text of the preformatted block that has a word."""
    return next(one for one in re.findall("<pre[^>]*>(.*?)</pre>", cell, re.DOTALL) if word in one)


def remainder_of():
    """Return the instructions of the loop of reduce0 that are not among those of the experiment.

    They are those between the first one, which doubles the stride, and the address of the addition.
    """
    loop = loop_of(REDUCE0)
    begin = next(index for index, one in enumerate(loop) if one.name == "LDS") - 1
    return loop[1:begin]


@pytest.mark.slow
def test_the_listing_of_the_remainder_has_the_instructions_that_only_reduce0_has(compiler):
    (listing,) = (cell for cell in quotes.prose_of("18") if "MUFU.RCP" in cell)
    words = pre_of(listing, "MUFU.RCP").split()
    shown = [word for word in words if word.isupper() and not re.search(r"P\d$", word)]
    found = remainder_of()
    for one, name in zip(found, shown, strict=True):
        assert one.opcode.startswith(name)
    assert [word for word in words if "@" in word] == [
        one.predicate for one in found if one.predicate
    ]
    base = round((np.iinfo(np.uint32).max + 1) ** (1 / 32))
    says("{}³² times the reciprocal, made a little smaller", base)
    says("tid times this integer, over {}³²: the quotient", base)
    assert [one.name for one in loop_of(BITS)[1:3]] == ["VIADD", "LOP3"]
    others = [one.name for one in (*loop_of(REDUCE0)[:1], *loop_of(REDUCE0)[1 + len(found) :])]
    assert others == [one.name for one in (loop_of(BITS)[0], *loop_of(BITS)[3:])]


@pytest.mark.slow
def test_the_listing_has_the_instructions_of_the_loop_without_the_remainder(compiler):
    (listing,) = (cell for cell in quotes.prose_of("18") if "IMAD.SHL.U32" in cell)
    words = pre_of(listing, "IMAD.SHL.U32").split()
    shown = [word.partition(".")[0] for word in words if word.isupper() and "P0" not in word]
    assert shown == [one.name for one in loop_of(BITS)]
    assert words.count("@!P0") == sum(bool(one.predicate) for one in loop_of(BITS))


@pytest.mark.slow
def test_with_a_constant_size_of_the_block_a_remainder_and_a_bit_operation_are_the_same(compiler):
    name, compiled = "without_remainder", []
    for text in (exercise(name).starter_text, exercise(name).solution_text):
        assert "stride < cuda.blockDim.x" in text
        kernel = function_in(name, text.replace("stride < cuda.blockDim.x", "stride < BLOCK"))
        compiled.append(xray(kernel, REDUCE0.step.signature, "sm_90"))
    assert not any(code.loops for code in compiled)
    first, second = ([one.text_to("label") for one in code.code] for code in compiled)
    assert first == second
    says("Then it makes the same {} instructions of `%` and of `&`", len(first))


@pytest.mark.slow
def test_a_right_answer_issues_what_the_measured_kernel_issues(compiler):
    answers = {
        "without_remainder": BITS, "tree": REDUCE2_32, "add_while_loading": REDUCE2_32,
    }  # fmt: skip
    for name, course_step in answers.items():
        kernel = exercise(name).solution
        own = xray(kernel, REDUCE0.step.signature, "sm_90").hot.body
        assert len(own) == loop_length(course_step), name


@pytest.mark.slow
def test_a_tree_with_a_constant_size_of_the_block_is_unrolled(compiler):
    text = exercise("tree").solution_text.replace("cuda.blockDim.x", "BLOCK")
    kernel = function_in("tree", text)
    step = replace(REDUCE2.step, name="yours", build=lambda BLOCK: kernel)
    assert not xray(kernel, step.signature, "sm_90").loops
    both = step.variant(BLOCK=BLOCK), REDUCE2
    assert [issued_by_block(one).at_most for one in both] == [True, False]
    estimates = (time_bars.times_of(one, recorded_times()).instructions for one in both)
    says("**At most {:.2f} ms**: you wrote `BLOCK` instead of", next(estimates))


WAYS_TO_HALVE = {
    "solution": {},
    "// 2 before the loop": {FIRST_HALF: "uint32(cuda.blockDim.x // 2)"},
    "uint32 around an index": {INDEX: "[uint32(tid + stride)]"},
    "both": {FIRST_HALF: "uint32(cuda.blockDim.x // 2)", INDEX: "[uint32(tid + stride)]"},
    "both ends": {INDEX: MIRRORED},
    "both ends, a variable": {ADDS: LAST_WORD, INDEX: "[last - tid]"},
    "both ends, a variable, // 2": {
        ADDS: LAST_WORD, INDEX: "[last - tid]", FIRST_HALF: "uint32(cuda.blockDim.x // 2)",
    },
    "leave": {ADDS: LEAVES},
    "leave, // 2": {ADDS: LEAVES, FIRST_HALF: "cuda.blockDim.x // 2", NEXT_HALF: "stride // 2"},
    "leave, stride of reduce2": {ADDS: LEAVES, NEXT_HALF: "stride >> uint32(1)"},
}  # fmt: skip
# These have numbers of 64 bits, and all their threads stay.
WIDE_WAYS = {
    "// 2": {FIRST_HALF: "cuda.blockDim.x // 2", NEXT_HALF: "stride // 2"},
    "// 2 in the loop alone": {NEXT_HALF: "stride // 2", INDEX: "[uint32(tid + stride)]"},
    "both ends, wide": {INDEX: "[2 * stride - 1 - tid]"},
}


@cache
def spelled(way):
    """Return the solution of `tree` in a spelling of WAYS_TO_HALVE or WIDE_WAYS, as a Variant."""
    text = exercise("tree").solution_text
    for short, other in (WAYS_TO_HALVE | WIDE_WAYS)[way].items():
        assert text.count(short) == 1
        text = text.replace(short, other)
    kernel = function_in("tree", text)
    return replace(REDUCE2.step, name="yours", build=lambda BLOCK: kernel).variant(BLOCK=BLOCK)


@pytest.mark.slow
def test_the_estimate_of_a_tree_says_how_it_was_written(compiler):
    ms = {
        way: time_bars.times_of(spelled(way), recorded_times()).instructions
        for way in WAYS_TO_HALVE
    }
    narrow = [way for way in WAYS_TO_HALVE if "leave" not in way]
    says("**{:.2f} to {:.1f} ms**: usually all its numbers have {} bits. Then it has {} "
         "instructions per iteration, and that of `reduce2` has {}, because its `stride` has {} "
         "bits. With `uint32(…)` around an index it has {}", min(ms[way] for way in narrow),
         np.ceil(10 * max(ms[way] for way in narrow)) / 10, 8 * np.uint32().nbytes,
         loop_length(spelled("solution")), loop_length(REDUCE2), types.intp.bitwidth,
         loop_length(spelled("uint32 around an index")))  # fmt: skip
    assert loop_length(spelled("// 2 before the loop")) == loop_length(spelled("solution"))
    once = [
        (instructions(spelled(halved)) - instructions(spelled(given))) / WARPS
        for given, halved in (
            ("solution", "// 2 before the loop"), ("uint32 around an index", "both"),
        )
    ]  # fmt: skip
    says("A `// 2` before the loop costs {:.0f} or {:.0f} instructions per warp, once", *once)
    longest = max(ms[way] for way in WAYS_TO_HALVE if "leave" in way)
    says("**Below {:.1f} ms**: your threads leave", np.ceil(10 * longest) / 10)
    assert longest < min(ms[way] for way in narrow)


@pytest.mark.slow
def test_numbers_of_64_bits_make_the_loop_of_a_tree_longer(compiler):
    both, _, mirrored = map(spelled, WIDE_WAYS)
    wide = {way: issued_by_block(spelled(way)) for way in WIDE_WAYS}
    ms = [
        time_bars.times_of(spelled(way), recorded_times()).instructions for way in WIDE_WAYS
    ]  # fmt: skip
    says("**Above {:.0f} ms**: usually a number has {} bits", np.floor(min(ms)),
         types.intp.bitwidth)  # fmt: skip
    says("With `// 2` without `uint32(…)` your loop has {} instructions per iteration, and with "
         "the index `2 * stride - 1 - tid` {}, or {} with `uint32(…)` around this index",
         *map(loop_length, (both, mirrored, spelled("both ends"))))  # fmt: skip
    with_jump = {way: one for way, one in wide.items() if one.at_most}
    assert list(with_jump) == ["// 2", "both ends, wide"]
    iterations, _ = course.turns_and_busy(run_of(REDUCE2), "shared")
    (skipped,) = {(one.number - one.fewest) / iterations for one in with_jump.values()}
    says("The bar counts all, but a warp in which no lane adds jumps over {:.0f} of them", skipped)


@pytest.mark.slow
def test_a_loop_tests_whether_an_index_with_a_sign_is_negative(compiler):
    says("an index with `-` needs it, because a negative one counts from the end of the array, and "
         "the loop has to test for it")  # fmt: skip
    sign = f"{1 << 31:#x}"
    tests = {
        way: any(one.name == "LOP3" and sign in one.text_to("") for one in loop_of(spelled(way)))
        for way in ("both ends, wide", "both ends", "solution")
    }
    assert list(tests.values()) == [True, False, False]


@pytest.mark.slow
def test_an_index_of_32_bits_costs_an_instruction(compiler):
    says("`uint32(…)` around it costs an instruction")
    text = exercise("without_remainder").solution_text
    assert text.count(INDEX) == 1
    kernel = function_in("without_remainder", text.replace(INDEX, "[uint32(tid + stride)]"))
    loop = xray(kernel, REDUCE0.step.signature, "sm_90").hot.body
    assert len(loop) == 1 + loop_length(BITS)
    index = spelled("uint32 around an index")
    assert loop_length(index) == 1 + loop_length(spelled("solution"))


@pytest.mark.slow
def test_one_remainder_is_more_than_half_of_the_loop(compiler):
    assert 2 * (loop_length(REDUCE0) - loop_length(BITS)) > loop_length(REDUCE0)


@pytest.mark.slow
def test_without_the_remainder_reduce0_is_faster_than_reduce1_on_every_device_recorded():
    compared = ("without_remainder", "reduce1", "reduce0")
    assert remainder_ms()
    for elements in {row.elements for row in recorded_times()}:
        for timed in remainder_ms(elements).values():
            in_order = sorted(compared, key=timed.get)
            by_count = sorted(compared, key=lambda name: instructions(BY_NAME[name]))
            assert in_order == by_count == list(compared)


@pytest.mark.slow
def test_reduce2_takes_longer_than_its_instructions_say():
    one = times("reduce1")
    more = [
        100 * (slots(kernel).instructions / slots(other).instructions - 1)
        for kernel, other in (("masks_down", "masks_up"), ("reduce2", "without_remainder"))
    ]
    assert all(0 < one < 1 for one in more)
    below = int(np.ceil(max(more)))
    longer = 100 * (times("reduce2").recorded / times("without_remainder").recorded - 1)
    says("Why does reduce2 take {:.0f} % longer than without_remainder?", longer)
    says("Both execute as many instructions, within {} %", below)
    assert times("masks_down").recorded < times("masks_up").recorded  # not the order
    assert longer > 1  # not the proportion
    says("For {}³⁰ elements", round(LONGEST ** (1 / 30)))
    says("`reduce0` takes {:.2f} ms and `reduce1` {:.2f} ms. Three things changed",
         times("reduce0").recorded, one.recorded)  # fmt: skip


def test_all_records_of_the_lesson_are_of_the_reference_device_at_its_highest_clock():
    assert {row.device for row in (*recorded_times(), *recorded_slots())} == {REFERENCE}
    for row in recorded_times():
        assert row.sm_clock_mhz == H200.boost_clock_mhz  # so the estimated cycles are real ones


def test_the_remainder_explains_more_than_the_gain_of_reduce1():
    zero, bits, one = (times(name).recorded for name in ("reduce0", "without_remainder", "reduce1"))
    text = """Without the remainder reduce0 takes {:.2f} instead of {:.2f} ms, and reduce1 takes
        {:.2f} ms. The same lanes add, in the same banks: the remainder alone explains more than
        the whole gain."""
    explains("18.experiment", text, bits, zero, one)
    assert bits < one < zero
    assert zero / bits > 2  # "less than half of its time", "more than doubled the time"
    says("the instructions of `reduce0` fall by {} %, and its time by {} %",
         percent(slots("reduce0").instructions, slots("without_remainder").instructions),
         percent(zero, bits))  # fmt: skip


def test_the_change_keeps_the_busy_warps_and_has_no_conflict():
    before, after = trees.neighbouring_threads(trees.WORDS), trees.halves(trees.WORDS)
    assert list(map(trees.warps_of, before)) == list(map(trees.warps_of, after))
    assert all(trees.wavefronts_of(step) == len(trees.warps_of(step)) for step in after)
    for variant in (REDUCE2, BITS):  # "Neither kernel has a bank conflict"
        assert by_step(variant, "wavefronts") == by_step(variant, "requests")


@pytest.mark.slow
def test_from_reduce1_to_reduce2_instructions_and_time_fall_alike():
    one, two = times("reduce1"), times("reduce2")
    falls = percent(one.instructions, two.instructions), percent(one.recorded, two.recorded)
    assert len(set(falls)) == 1  # "Instructions and time fall alike"
    executed = percent(slots("reduce1").instructions, slots("reduce2").instructions)
    assert executed == falls[0]
    says("The instructions fall by {} %, and the time by {} %", *falls)
    shares = [waits(name)["shared memory"] for name in ("reduce1", "reduce2")]
    says("From `reduce1` to `reduce2` this share falls from {:.0f} to {:.0f} %. But another wait "
         "grows, from {:.0f} to {:.0f} %: for a *busy unit*, that of integer instructions, which a "
         "fold below counts. So the time falls by {} % only", *shares,
         *(waits(name)["busy unit"] for name in ("reduce1", "reduce2")), falls[1])  # fmt: skip


@pytest.mark.slow
def test_the_pair_of_the_banks_executes_the_same_instructions():
    blocks = with_, without = [counts_of_block(one) for one in APART]
    assert replace(with_, wavefronts=without.wavefronts) == without
    assert slots("with_conflicts").instructions == slots("without_conflicts").instructions
    near, far = (
        len({lane * pitch % BANKS for lane in range(WARP)}) for pitch in PITCHES.values()
    )  # fmt: skip
    says("neighbours are {} words apart, and the {} lanes of a warp meet {} banks",
         PITCHES["without_conflicts"], WARP, far)  # fmt: skip
    says("they are {} words apart, and the lanes meet in {} banks, four lanes in each",
         PITCHES["with_conflicts"], near)  # fmt: skip
    assert WARP / near == 4
    says("Both kernels are `reduce2` with all numbers in {} bits", 8 * np.uint32().nbytes)
    estimates = [times(one.step.name) for one in (WITHOUT, WITH)]
    says("A block takes {:.0f} wavefronts in the first kernel and {:.0f} in the second. Wavefronts "
         "need {:.2f} and {:.2f} ms, and the instructions of either kernel {:.2f} ms",
         *(block.wavefronts for block in blocks[::-1]), *(one.wavefronts for one in estimates),
         estimates[0].instructions)  # fmt: skip
    assert estimates[0].instructions == estimates[1].instructions > estimates[1].wavefronts


@pytest.mark.slow
def test_conflicts_cost_time_below_every_limit():
    with_, without = (times(one.step.name) for one in APART)
    longer = 100 * (with_.recorded / without.recorded - 1)
    busy = [100 * slots(one.step.name).busy for one in APART]
    text = """with_conflicts takes {:.2f} ms, and without_conflicts {:.2f} ms: {:.0f} % longer.
        Both execute the same instructions, but schedulers issue in {:.0f} % of cycles with
        conflicts, in {:.0f} % without."""
    explains("18.banks", text, with_.recorded, without.recorded, longer, *busy)
    assert 20 < longer < 30  # "about a quarter longer"
    says("Does `with_conflicts` take as long, within {} %, about a quarter longer, or about three "
         "times as long?", *_percents("18.banks"))  # fmt: skip
    says("Shared memory works for {:.2f} of the {:.2f} ms", with_.wavefronts, with_.recorded)
    shares = [waits(one.step.name)["shared memory"] for one in APART]
    says("with conflicts the warps wait for shared memory in {:.0f} % of their time, and without "
         "them in {:.0f} %", *shares)  # fmt: skip


@pytest.mark.slow
def test_both_sides_of_a_long_branch_cost_instructions_and_time():
    diverge, agree = BRANCHED
    assert list(ON_ONE_SIDE.values()) == [WARP // 2, WARP]  # "half of each warp", "a whole warp"
    (shown,) = (cell for cell in quotes.prose_of("18") if "range(LONG)" in cell)
    shown = re.search("```python(.*?)```", shown, re.DOTALL)[1].split()
    assert " ".join(shown) in " ".join(inspect.getsource(build_sides).split())
    instructions_, ms = (
        now / then
        for now, then in (
            [slots(one.step.name).instructions for one in BRANCHED],
            [remainder_ms()[REFERENCE][one.step.name] for one in BRANCHED],
        )
    )
    busy = [100 * slots(one.step.name).busy for one in BRANCHED]
    says("A warp that executes both sides takes {:.2f} times the instructions. The schedulers "
         "issue them in {:.0f} instead of {:.0f} % of the cycles, so the time is {:.2f} · {:.0f} ÷ "
         "{:.0f} = {:.2f} times as long", instructions_, *busy, instructions_, *busy[::-1],
         ms)  # fmt: skip
    assert instructions_ * busy[1] / busy[0] == pytest.approx(ms, rel=0.005)
    assert counts_of_block(diverge) == counts_of_block(agree)
    shared = [counts_of_block(one) for one in (agree, REDUCE3)]
    assert len({(one.requests, one.wavefronts, one.barriers) for one in shared}) == 1


@pytest.mark.slow
def test_a_long_branch_keeps_the_even_register_bank_busy(compiler):
    diverge, agree = codes = [
        xray(one.kernel, one.step.signature, "sm_90").code for one in BRANCHED
    ]
    names = [one.name for one in diverge]
    first = 1 + names.index("BRA")
    second = 1 + names.index("BRA", first)
    sides = second - first, names.index("BSYNC") - second
    says("a branch with two sides, of {} and {} instructions", *sides)
    assert min(sides) >= LONG
    assert sum(a.word != b.word for a, b in zip(*codes, strict=True)) == 1  # "in one number"
    adds = register_banks.reads_of(diverge)
    assert {register_banks.bank_reads("even", reads) for _, reads in adds} == {2}
    shown = {one.text_to("").strip().rstrip(" ;") for one, _ in adds}
    assert "FFMA R4, R0, R4, R5" in shown
    even = 2 * len(adds)
    cycles = [_cycles_per_warp(one) for one in BRANCHED]
    says("A warp of `lanes_diverge` executes {} of them, which need {} of the {:.0f} cycles that a "
         "scheduler has per warp. In `warps_agree` half as many need {:.0f} of {:.0f} cycles",
         len(adds), even, cycles[0], even / 2, cycles[1])  # fmt: skip
    assert register_banks.reads_of(agree) == register_banks.reads_of(diverge)


def _cycles_per_warp(variant):
    """Return the recorded cycles of all schedulers, divided by the warps of the first launch."""
    warps = LONGEST / counts_of_block(variant).elements * WARPS
    ms = remainder_ms()[REFERENCE][variant.step.name]
    return ms * 1e3 * H200.boost_clock_mhz * H200.sms * SCHEDULERS / warps


def test_the_masked_pair_has_the_lanes_of_both_trees_and_differs_little_in_time():
    steps = zip(by_step(DOWN, "lanes"), by_step(DOWN, "requests"), strict=True)
    full = [lanes == WARP * warps for lanes, warps in steps]
    assert full == [True] * 3 + [False] * 5  # "In its first three steps … with all their lanes"
    up, down = (counts_of_block(variant) for variant in MASKED)
    assert (up, down) == (counts_of_block(BITS), counts_of_block(REDUCE2))
    for variant, tree in ((UP, REDUCE0), (DOWN, REDUCE2)):
        for what in ("lanes", "requests", "wavefronts"):
            assert by_step(variant, what) == by_step(tree, what)
        assert by_step(variant, "wavefronts") == by_step(variant, "requests")  # "no bank conflict"
    strides = [2**step for step in range(BLOCK.bit_length() - 1)]
    rising, falling = [2 * s - 1 for s in strides], [BLOCK - s for s in strides[::-1]]
    says("the pairs of `reduce0`, by the masks {}, {}, {}, … {}", *rising[:3], rising[-1])
    says("the pairs of `reduce2`, by the masks {}, {}, {}, … {}", *falling[:3], falling[-1])
    says("have lanes that are switched off, and a block makes {:.0f} requests", up.requests)
    warps = zip(by_step(UP, "lanes"), by_step(UP, "requests"), strict=True)
    assert all(lanes < WARP * each for lanes, each in warps)
    says("with all their lanes, and a block makes {:.0f} requests", down.requests)
    longer = 100 * (times("masks_up").recorded / times("masks_down").recorded - 1)
    says("the switched-off lanes and {:.0f} requests per block. Together they cost {:.0f} %, and "
         "the repetitions of either kernel differ by {:.1f} %",
         up.requests - down.requests, longer, max(map(spread, MASKS)))  # fmt: skip
    says("Does `masks_up` take longer by under {} %, by {} to {} %, or by over {} %?",
         *_percents("18.divergence"))  # fmt: skip
    assert round(min(map(spread, MASKS)), 1) == round(max(map(spread, MASKS)), 1)
    says("These requests are {:.0f} wavefronts, too", up.wavefronts - down.wavefronts)
    assert longer < 5  # the first choice


@pytest.mark.slow
def test_the_masked_pair_has_loops_that_are_alike(compiler):
    (length,) = {loop_length(variant) for variant in MASKED}
    says("all numbers have {} bits, and an iteration has {} instructions",
         8 * np.uint32().nbytes, length)  # fmt: skip
    opcodes = [{one.name for one in loop_of(variant)} for variant in MASKED]
    assert opcodes[0] ^ opcodes[1] <= {"IMAD", "SHF"}  # a shift to the left is a product
    ms = [times(name).recorded for name in ("masks_up", "masks_down")]
    text = """masks_up takes {:.2f} ms, and masks_down {:.2f} ms: {:.0f} % longer. Both issue {}
        instructions per iteration in every warp, whether its lanes add or not."""
    explains("18.divergence", text, *ms, 100 * (ms[0] / ms[1] - 1), length)


@pytest.mark.slow
def test_the_change_to_reduce2_has_numbers_of_64_bits(compiler):
    lengths = two, one, narrow = [loop_length(each) for each in (REDUCE2, REDUCE1, REDUCE2_32)]
    wide = 2 * np.uint32().nbytes * 8
    says("and its loop has {} instead of {} instructions per iteration", two, one)
    says("the second half of this test, which has {} bits", wide)
    says("The test of the loop has {} bits because Numba compares", wide)
    assert len(set(lengths)) == 3
    assert {loop_length(each) for each in APART} == {narrow}
    for variant in (BITS, REDUCE2, *PAIR_32, *MASKED, *APART):
        modifiers = {part for one in loop_of(variant) for part in one.opcode.split(".")}
        assert ("EX" in modifiers) == (variant in (BITS, REDUCE2))
    shown = re.sub(r"<[^>]+>|\s+", " ", course.show_change(REDUCE1.step, REDUCE2.step).data)
    text = "the loop has {} instead of {} instructions, and the sum takes {:.2f} instead of {:.2f}"
    recorded = (times(name).recorded for name in ("reduce2_32", "reduce2"))
    assert text.format(narrow, two, *recorded) in " ".join(shown.split())


@pytest.mark.slow
def test_a_block_of_reduce3_takes_as_long_as_one_of_reduce2():
    assert counts_of_block(REDUCE3).elements == 2 * counts_of_block(REDUCE2).elements == 2 * BLOCK
    says("In `reduce2` {} threads load one element each, and half of them never add", BLOCK)
    assert len(trees.halves(BLOCK)[0]) == BLOCK / 2
    says("A block of {} threads then serves {} elements", BLOCK, counts_of_block(REDUCE3).elements)
    counted = [round(estimated(variant)) for variant in (REDUCE3, REDUCE2)]
    assert counted[0] == pytest.approx(counted[1], rel=0.01)
    timed = [times(name).recorded for name in ("reduce3", "reduce2")]
    text = """A scheduler issues a block's instructions in {} cycles, {} before: a cheaper index
        saves what is added. So half as many blocks are needed, and half of the time: recorded are
        {:.2f} of {:.2f} ms, {:.1f} %."""
    explains("18.idle", text, *counted, *timed, 100 * timed[0] / timed[1])


@pytest.mark.slow
def test_the_index_of_reduce3_is_cheaper(compiler):
    index = "uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid"
    other = "cuda.grid(1) + cuda.blockIdx.x * BLOCK"
    copy = edited(REDUCE3.step.file, Edit(index, other)).STEP.variant(BLOCK=BLOCK)
    shown = re.sub(r"<[^>]+>|\s+", " ", course.show_change(REDUCE2.step, REDUCE3.step).data)
    text = f"with {other} a scheduler would issue for {{:.0f}} instead of {{:.0f}} cycles per block"
    assert text.format(estimated(copy), estimated(REDUCE3)) in " ".join(shown.split())
    two, three = (times(name).instructions for name in ("reduce2", "reduce3"))
    other_ms = time_bars.times_of(copy, recorded_times()).instructions
    says("With the index `cuda.grid(1) + cuda.blockIdx.x * BLOCK` the instructions of `reduce3` "
         "would need {:.2f} instead of {:.2f} ms, and those of `reduce2` need {:.2f} ms. So by "
         "this estimate {:.2f} of the {:.2f} ms that it saves are due to its index, an eighth",
         other_ms, three, two, other_ms - three, two - three)  # fmt: skip
    assert (other_ms - three) / (two - three) == pytest.approx(1 / 8, abs=0.005)  # "an eighth"


def test_most_iterations_of_reduce3_have_no_lane_that_adds():
    iterations, busy = course.turns_and_busy(run_of(REDUCE3), "shared")
    additions = [len(trees.warps_of(step, WARP)) for step in trees.halves(BLOCK)]
    assert by_step(REDUCE3, "requests") == additions
    assert (iterations, busy) == (WARPS * len(additions), sum(additions))
    says("In `reduce3` all {} warps of a block make {} iterations", WARPS, len(additions))
    says("In {} + {} + {} + {} + {} + {} + {} + {} = {} of the {} iterations a warp adds",
         *additions, busy, iterations)  # fmt: skip


@pytest.mark.slow
def test_warps_that_leave_make_the_same_requests_as_reduce3():
    leave, three = counts_of_block(LEAVE), counts_of_block(REDUCE3)
    for count in ("elements", "requests", "wavefronts", "lanes"):
        assert getattr(leave, count) == getattr(three, count)
    _, busy = course.turns_and_busy(run_of(REDUCE3), "shared")
    assert WARPS * (leave.barriers - 1) == busy
    estimates = [time_bars.times_of(one, recorded_times()) for one in (REDUCE3, LEAVE)]
    issued = instructions(LEAVE), instructions(REDUCE3)
    fewer = percent(*issued[::-1])
    says("so it issues {} instead of {:,} instructions, which is {} % fewer", *issued, fewer)
    says("A warp should pass {} barriers on average instead of {:.0f}, which `check` counts: one "
         "before the loop, and {} ÷ {} in it", leave.barriers, three.barriers, busy,
         WARPS)  # fmt: skip
    recorded = [one.recorded for one in estimates]
    text = """warps_leave takes {:.2f} ms, and reduce3 {:.2f} ms: {} % less. A block issues {} %
        fewer instructions, but schedulers issue in {:.0f} % of cycles, {:.0f} % before."""
    busy_shares = (100 * slots(name).busy for name in ("warps_leave", "reduce3"))
    explains("18.leave", text, *recorded[::-1], percent(*recorded), fewer, *busy_shares)
    says("**Does the time fall by about {} %, about {} % or about {} %?**", *_percents("18.leave"))
    assert estimates[1].memory < estimates[1].instructions
    assert waits("warps_leave")["global memory"] > 2 * waits("reduce3")["global memory"]


def _per_warp(name):
    """Return the cycles for which a warp of a kernel waits for global memory, the instructions that
    it issues, the cycles from its begin to its end, and the warps that a scheduler has on average.
    """
    row = slots(name)
    each = row.instructions * counts_of_block(BY_NAME[name]).elements / row.elements / WARPS
    cycles = {one.state: one.cycles for one in recorded_states() if one.kernel == name}
    all_ = sum(cycles.values())
    return each * cycles["long_scoreboard"], each, each * all_, row.busy * all_


@pytest.mark.slow
def test_warps_that_leave_wait_about_as_long_and_are_fewer():
    (waited, *after), (waited_before, *before) = map(_per_warp, ("warps_leave", "reduce3"))
    pairs = [pair for pair in zip(after, before, strict=True)]
    says("A warp of `warps_leave` waits {:.0f} cycles for its elements, and one of `reduce3` "
         "{:.0f}. But it issues {:.1f} instead of {:.1f} instructions, so it ends after {:,.0f} "
         "instead of {:,.0f} cycles. A scheduler has {:.2f} instead of {:.2f} warps on average",
         round(waited, -1), round(waited_before, -1), *pairs[0], *pairs[1],
         *pairs[2])  # fmt: skip
    shares = [100 * warps * issued / cycles for issued, cycles, warps in (after, before)]
    for share, name in zip(shares, ("warps_leave", "reduce3"), strict=True):
        assert share == pytest.approx(100 * slots(name).busy)
    says("So it issues in {:.2f} · {:.1f} ÷ {:,.0f} = {:.0f} % of the cycles, and in `reduce3` in "
         "{:.2f} · {:.1f} ÷ {:,.0f} = {:.0f} %",
         *(after[2], *after[:2], shares[0]), *(before[2], *before[:2], shares[1]))  # fmt: skip


@pytest.mark.slow
def test_an_index_that_may_be_negative_costs_17_instructions_per_warp(compiler):
    index = "uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid"
    other = "cuda.blockIdx.x * 2 * BLOCK + tid"
    text = exercise("add_while_loading").solution_text.replace(
        "        if tid < stride:\n            shared",
        "        if tid >= stride:\n            return\n        shared",
    )
    given = "cuda.blockIdx.x * (2 * BLOCK) + tid"
    assert text.count(given) == text.count("return") == 1
    kernels = [function_in("add_while_loading", text.replace(given, one)) for one in (other, index)]
    wide, narrow = (
        replace(WARPS_LEAVE, name="yours", build=lambda BLOCK, kernel=kernel: kernel).variant(
            BLOCK=BLOCK
        )
        for kernel in kernels
    )
    more = (instructions(wide) - instructions(narrow)) / WARPS
    of_the_course = instructions(LEAVE) + WARPS * more
    shortest = time_bars.times_of(wide, recorded_times()).instructions
    longest = shortest * of_the_course / instructions(wide)
    says("If your bar is at {:.1f} or {:.1f} ms", shortest, longest)
    says("Without it the index takes {:.0f} more instructions per warp", more)


def test_the_table_of_the_changes_has_the_recorded_times():
    pairs = [("reduce0", "without_remainder"), ("reduce2", "reduce3"),
             ("lanes_diverge", "warps_agree"), ("reduce3", "warps_leave"),
             ("with_conflicts", "without_conflicts"), ("reduce2", "reduce2_32"),
             ("masks_up", "masks_down")]  # fmt: skip
    ms = [[remainder_ms()[REFERENCE][name] for name in pair] for pair in pairs]
    cells = [(*pair, pair[0] / pair[1]) for pair in ms]
    bits = 8 * np.uint32().nbytes
    says("| no remainder | {:.2f} | {:.2f} | {:.2f} | | two elements per thread, and a "
         "cheaper index | {:.2f} | {:.2f} | {:.2f} | | a warp takes one side of a long "
         "branch | {:.2f} | {:.2f} | {:.2f} | | idle warps leave | {:.2f} | {:.2f} | "
         "{:.2f} | | no bank conflicts | {:.2f} | {:.2f} | {:.2f} | | a stride of {} bits | "
         "{:.2f} | {:.2f} | {:.2f} | | no switched-off lanes in three steps, fewer requests "
         "| {:.2f} | {:.2f} | {:.2f} |", *cells[0], *cells[1], *cells[2], *cells[3],
         *cells[4], bits, *cells[5], *cells[6])  # fmt: skip
    says("timed with {}³⁰ elements on an H200", round(LONGEST ** (1 / 30)))


def _percents(question):
    """Return the numbers in the choices of a question, such as "5" of "under 5 %", in order."""
    return re.findall(r"\d+", " ".join(bank()[question].choices))


@cache
def slots(name):
    """Return what the profiler counted of a kernel, as the tables show it."""
    (row,) = (row for row in recorded_slots() if row.kernel == name)
    return row


@cache
def profiled():
    """Return kernel -> (cycles to issue a block's instructions, fraction of the cycles in which a
    scheduler issues, recorded cycles of a block at the greatest length), of the device profiled.
    """
    (device,) = {row.device for row in recorded_slots()}
    sheet, timed, found = find(device), remainder_ms()[device], {}
    for row in recorded_slots():
        if row.kernel not in BY_NAME:  # those with a long branch
            continue
        blocks = row.elements / counts_of_block(BY_NAME[row.kernel]).elements
        issue = row.instructions / blocks / SCHEDULERS
        cycles_of_all = timed[row.kernel] * 1e3 * sheet.boost_clock_mhz * sheet.sms
        found[row.kernel] = issue, row.busy, cycles_of_all / (blocks * LONGEST / row.elements)
    return found


@pytest.mark.slow
def test_the_profiler_executes_the_instructions_that_the_lesson_counts(compiler):
    for kernel, (issue, _, _) in profiled().items():
        assert issue == pytest.approx(estimated(BY_NAME[kernel]), rel=0.01)


@pytest.mark.slow
def test_the_schedulers_issue_in_most_of_the_cycles():
    assert set(profiled()) == set(BY_NAME)
    assert set(FOURTEEN) == {*BY_NAME, *(one.step.name for one in BRANCHED)}
    assert len(FOURTEEN) == len(variants()) == 14  # "We recorded", "times all fourteen kernels"
    busy = {name: 100 * slots(name).busy for name in FOURTEEN}
    shares = sorted(share for name, share in busy.items() if name not in OUTSIDE)
    assert len(shares) == 10
    says("In ten of the fourteen kernels the schedulers issue in {:.0f} to {:.0f} % of the cycles, "
         "which is the grey band", shares[0], shares[-1])  # fmt: skip
    assert len(OUTSIDE) == 4  # "Four are below"
    assert max(busy[name] for name in OUTSIDE) < shares[0] - 5
    of_memory = sorted(100 * one.memory / one.recorded for one in map(times, BY_NAME))
    says("memory needs {:.0f} to {:.0f} % of the recorded times of the trees", of_memory[0],
         of_memory[-1])  # fmt: skip
    for one in map(times, DRAWN):
        assert one.instructions == max(one.memory, one.wavefronts, one.instructions)
    zero, share = slots("reduce0"), round(slots("reduce0").busy, 2)
    billions = zero.instructions * LONGEST / zero.elements / 1e9
    schedulers, clock = SCHEDULERS * H200.sms, H200.boost_clock_mhz / 1000
    ms = 1e3 * billions / schedulers / clock / share
    says("This GPU has {} · {} = {} schedulers, and for `reduce0` {:.2f} · {}⁹ ÷ {} ÷ {:.2f} GHz "
         "÷ {:.2f} = {:.1f} ms, as recorded", SCHEDULERS, H200.sms, schedulers, billions,
         round(1e9 ** (1 / 9)), schedulers, clock, share, ms)  # fmt: skip
    assert ms == pytest.approx(times("reduce0").recorded, rel=0.005)
    for issue, share, all_ in profiled().values():  # clock, record and profiler agree
        assert issue / share == pytest.approx(all_, rel=0.015)


@cache
def waits(name):
    """Return what the warps of a kernel wait for -> percent of their time."""
    return waits_of(recorded_states(), name)


def test_left_of_the_band_warps_wait_longer_for_one_thing():
    inside = [name for name in FOURTEEN if name not in OUTSIDE]
    shown = re.findall(r'"(\w+)"', code("cell-64"))
    assert len(shown) == 7  # "seven of them"
    outside = [name for name in shown if name in OUTSIDE]
    assert outside == ["with_conflicts", "warps_leave"]  # "Two of the seven"
    longest = [("with_conflicts", "shared memory"), ("warps_leave", "global memory")]
    for name, one in longest:
        assert waits(name)[one] > max(waits(other)[one] for other in inside)
    says("in `with_conflicts` {:.0f} % of the time for shared memory, and in `warps_leave` {:.0f} "
         "% for global memory", *(waits(name)[one] for name, one in longest))  # fmt: skip
    stalls = [waits(one.step.name)["dispatch"] for one in BRANCHED]
    says("In `lanes_diverge` and `warps_agree` the profiler counts {:.0f} and {:.0f} % of the "
         "time as *dispatch stalls*", *stalls)  # fmt: skip
    assert [one.step.name for one in BRANCHED] == ["lanes_diverge", "warps_agree"]
    assert max(waits(name)["dispatch"] for name in BY_NAME) < 4


def test_most_of_the_rest_is_issuing_being_ready_and_waiting_for_a_result():
    named = {"selected", "not_selected", "wait"}
    for name in FOURTEEN:
        cycles = {row.state: row.cycles for row in recorded_states() if row.kernel == name}
        share = 100 * sum(cycles[one] for one in named) / sum(cycles.values())
        assert share > 0.8 * (100 - sum(waits(name).values()))


def test_the_profiler_says_what_warps_wait_for():
    assert {row.device for row in recorded_states()} == {REFERENCE}
    assert {row.kernel for row in recorded_states()} == {one.step.name for one in variants()}
    assert waits("reduce2")["busy unit"] > 2 * waits("without_remainder")["busy unit"]


ALU = ("ISETP", "SHF", "LOP3", "VIADD")  # instructions of this unit in the loops below
CYCLES = 2  # in which the ALU takes one instruction of a warp


@pytest.mark.slow
def test_the_loop_of_reduce2_needs_the_alu_longer_than_that_without_the_remainder(compiler):
    two, bits = (sum(one.name in ALU for one in loop_of(each)) for each in (REDUCE2, BITS))
    assert loop_length(REDUCE2) == loop_length(BITS)
    says("In the loop of `reduce2`, {} of {} are for the ALU", two, loop_length(REDUCE2))
    says("So an iteration needs it for {} cycles, and the scheduler for {}. In "
         "`without_remainder` {} of {} instructions are for the ALU, which makes {} cycles",
         two * CYCLES, loop_length(REDUCE2), bits, loop_length(BITS),
         bits * CYCLES)  # fmt: skip


@pytest.mark.slow
def test_the_listing_of_reduce2_marks_the_instructions_of_the_alu(compiler):
    (listing,) = (cell for cell in quotes.prose_of("18") if "SHF.R.U64" in cell)
    words = [word for word in pre_of(listing, "SHF.R.U64").split() if word.isupper()]
    shown = [word for word in words if "P0" not in word]
    expected = [
        word
        for one in loop_of(REDUCE2)
        for word in ((one.name, "ALU") if one.name in ALU else (one.name,))
    ]
    assert [word.partition(".")[0] for word in shown] == expected
    assert words.count("@P0") == sum(bool(one.predicate) for one in loop_of(REDUCE2))


@pytest.mark.slow
def test_reduce3_executes_half_of_the_instructions_in_half_of_the_time():
    two, three = slots("reduce2").instructions, slots("reduce3").instructions
    assert three / two == pytest.approx(0.5, abs=0.01)
    assert times("reduce3").recorded / times("reduce2").recorded == pytest.approx(0.5, abs=0.02)


def test_the_slides_gained_by_other_changes():
    says("which M. Harris wrote in {}", YEAR)
    frame = records.measured(H200.name, LADDER.name)
    there, here = speedups(PUBLISHED_MS)[1], speedups(recorded_ms(frame.itertuples()))[1]
    power = round(ELEMENTS ** (1 / 22))
    says("another GPU, a G80, with {}²² integers in blocks of {} threads", power, THREADS)
    says("Beside the speedups of the slides are ours for {}²² float32 in such blocks", power)
    shown = str(beside_the_slides(frame))
    assert all(f"{factor:.2f}×" in shown for factor in (there, here))


@pytest.mark.slow
def test_the_curve_has_the_fastest_block_size_of_each_kernel():
    for number in range(4):
        sizes = records.measured(H200.name, LADDER.name).query(f"step == 'reduce{number}'")
        assert sizes["params"].nunique() == 4  # "the fastest of four block sizes"
        long = sizes[sizes["elements"] == LONGEST]
        assert long.loc[long["time_ms"].idxmin(), "params"] == f"BLOCK={THREADS}"
    lengths = {row.elements for row in recorded_times() if row.kernel == "warps_leave"}
    assert len(lengths) == 2  # "two lengths"
    says("`warps_leave`, of which we recorded two lengths, with {} threads", BLOCK)
    fastest = ms_if_any(REDUCE3.step, "2^30")
    small = REDUCE3.step.variant(BLOCK=THREADS)
    of_all, of_half = (
        instructions(one) / counts_of_block(one).elements for one in (REDUCE3, small)
    )  # fmt: skip
    says("For {}³⁰ elements it is {} threads, because the tree of such a block has {:.0f} steps "
         "instead of {:.0f}. So `reduce3` executes {} % fewer instructions per element than with "
         "{} threads, and takes {:.2f} instead of {:.2f} ms.", round(LONGEST ** (1 / 30)), THREADS,
         counts_of_block(small).iterations, counts_of_block(REDUCE3).iterations,
         percent(of_all, of_half), BLOCK, fastest, times("reduce3").recorded)  # fmt: skip
