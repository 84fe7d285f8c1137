"""Check the claims of lesson 20 against records, kernels, machine code and traces."""

import csv
import inspect
from functools import partial

import numpy as np
import pytest

from gpu_xray import xray
from gpu_xray.widths import GLOBAL_LOADS, widest
from labs import EXERCISES, check
from labs.checking import variants
from labs.exercises.waiting_blocks import formula
from reduce_kernels import LADDER, reduce
from reduce_kernels.bits import recorded_row
from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.wide_loads import LOAD_BYTES, LOADS, total_of_thread
from reduce_kernels.reduce_cooperative import THREADS_PER_SM
from reduce_kernels.reduction import BLOCK, TREE, TURNS, longest_chain
from tests import quotes
from utils import lessons as course
from utils.division import cdiv
from utils.ladder.problems import draw
from utils.lessons.lesson_20 import rounding_orders as orders
from utils.lessons.lesson_20 import waiting_blocks as waiting
from utils.lessons.lesson_20.launch_parts import PARTS, launch_times, launch_us
from utils.lessons.lesson_20.reduction_comparison import library_ms
from utils.lessons.lesson_20.single_pass_reduction import ENDS, draw_launches, order_of
from utils.lessons.own_kernels import twins
from utils.lessons.recorded import record_of
from utils.machine.devices import KIB, REFERENCE, find
from utils.machine.occupancy import limits_of
from utils.measuring import records
from utils.measuring.measure import L2_TIMES
from utils.measuring.profiled_launches import counters_of
from virtual_gpu import trace
from virtual_gpu.tests.kernels import broken

H200 = find(REFERENCE)
STEPS = REDUCE8, REDUCE9, ATOMIC, COOPERATIVE = tuple(
    LADDER.step(name) for name in ("reduce8", "reduce9", "reduce_atomic", "reduce_cooperative")
)
SMALL, LARGE = "2^22", "2^30"
SIZES = (SMALL, "2^25", "2^28", LARGE)
FRAME = records.measured(REFERENCE, "reduce")
WORD = np.float32().nbytes
says = partial(quotes.says, "20")
code = partial(quotes.code, "20")
explains = quotes.explains


def us(step, shape):
    """Return the recorded microseconds of a step with its fastest constants."""
    return 1000 * course.recorded_ms(step, shape)


def elements(shape):
    return LADDER.parse(shape).elements


MI, GI = elements(SMALL) // 2**20, elements(LARGE) // 2**30


# ---- the order of the additions ----


def test_float32_holds_every_whole_number_up_to_2_to_the_24():
    digits = np.finfo(np.float32).nmant + 1
    above = digits + 1
    says("It has {} bits for its digits, so it holds every whole number up to {}, from there on "
         "every second one, and from {} on every fourth one",
         digits, f"2^{digits}", f"2^{above}")  # fmt: skip
    assert [np.spacing(np.float32(2**power)) for power in (digits - 1, digits, above)] == [1, 2, 4]


def test_in_the_first_run_of_the_picture_nothing_is_added_and_in_the_second_nothing_is_lost():
    first, second = map(orders.running_sums, orders.RUNS.values())
    assert set(first) == {orders.SUMS[0]}
    assert second[-1] == sum(orders.SUMS)
    says("In the first run {} is added to {:,} twice", orders.SUMS[1], first[0])
    large, *_, last = orders.SUMS
    assert orders.SUMS[1] == orders.SUMS[2] < np.spacing(np.float32(large)) / 2
    assert last == np.spacing(np.float32(large)) / 2  # "exactly halfway"
    says("Then {} is added, and {:,} is exactly halfway between two float32", last, large + last)
    assert np.float32(large).view(np.uint32) % 2 == 0  # "whose last binary digit is 0"
    says("But four blocks come in the order in which they finish")
    assert len(orders.SUMS) == 4


def test_the_record_has_many_sums_with_atomics_and_one_with_tickets():
    many, one = map(recorded_row, ("reduce_atomic", "reduce9"))
    shown = code("sums-picture")
    assert 'draw_sums(recorded_row("reduce_atomic"), recorded_row("reduce9"))' in shown
    says("One H200 added the same {:.0f} Mi floats {} times with the same kernel, and got {} "
         "different sums", many.elements / 2**20, many.runs, many.different)  # fmt: skip
    mi, power = many.elements / 2**20, many.elements.bit_length() - 1
    x = draw("uniform", (many.elements,), 1)
    limits = round(float(x.min()), 3), round(float(x.max()), 3)
    says("The array has {:.0f} Mi random floats between {:g} and {:g}, and {:.0f} Mi are {}",
         mi, *limits, mi, f"2^{power}")  # fmt: skip
    blocks = ATOMIC.variant().launch(LADDER.parse(SMALL)).blocks
    says("The kernel with {} sums has {} blocks", many.different, blocks)
    assert (one.runs, one.different) == (many.runs, 1)


def test_only_sums_below_2_to_the_24_are_the_same_in_each_order():
    blocks = ATOMIC.variant().launch(LADDER.parse(SMALL)).blocks
    assert f"blocks={blocks}, orders=1000" in code("bits-reveal")
    says("Now {} blocks add {} Mi floats in any order", blocks, MI)
    rng, count = np.random.default_rng(20), elements(SMALL)
    found = [
        orders.different_sums(values, blocks, orders=100)
        for values in (
            rng.integers(0, 3, count), 10 * rng.integers(0, 3, count), rng.random(count),
            rng.uniform(-1, 1, count),
        )
    ]  # fmt: skip
    assert found[0] == 1 < min(found[1:])
    digits = np.finfo(np.float32).nmant + 1
    assert 2 * count < 2**digits < 2 ** (digits + 1) < 10 * count
    many = recorded_row("reduce_atomic")
    x = draw("uniform", (many.elements,), 1)  # the array of the record
    drawn = orders.different_sums(x, blocks, orders=many.runs)
    text = """{} Mi floats of at most {} add up to at most {:,}, below {}: each sum on the way is a
        float32. With tens it is about {:.0f} million, and from {} on float32 holds every fourth
        whole number only."""
    limits = f"2^{digits}", f"2^{digits + 1}"
    explains("20.bits", text, MI, 2, 2 * count, limits[0], 10 * count / 1e6, limits[1])
    assert 'draw("uniform", (n,), 1)' in code("bits-reveal")
    says("Random orders of the array at the top give {} results, and the H200 found {}",
         drawn, many.different)  # fmt: skip


def test_the_virtual_gpu_repeats_the_bits_of_atomics():
    x = np.random.default_rng(1).random(2**17, dtype=np.float32)
    kernel, found = ATOMIC.variant(BLOCK=32, TURNS=1).kernel, set()
    for _ in range(2):
        out = np.zeros(1, np.float32)
        trace(kernel, 256, 32, x, out)
        found.add(out[0])
    assert len(found) == 1


def test_block_1_draws_the_last_number_of_four():
    last, count = order_of()[-1], len(ENDS)
    assert count == 4
    says("How does block {} know that it is the last?", last)
    says("Block {} has drawn number {}, and there are four blocks", last, count - 1)
    assert f"block {last}, which draws the last one" in draw_launches().alt
    drawn = np.zeros(1, np.uint32)
    trace(variants.function_in("draw", DRAW), 1, 1, drawn)
    says("`cuda.atomic.add(drawn, 0, 1)` adds {} to `drawn[0]`", drawn[0])


DRAW = "from numba import cuda\n\n\n@cuda.jit\ndef draw(drawn):\n    cuda.atomic.add(drawn, 0, 1)\n"


# ---- fences ----


def test_without_a_fence_block_1_may_see_the_flag_and_the_old_word():
    kernel = variants.function_in("hand_over", code("hand-over"))
    block_of, words = {}, np.zeros((3, 1), np.int32)
    for block in range(2):
        words[:] = 0
        run = trace(kernel, 2, 1, *words, record=block)
        block_of |= {(one.array, one.kind): block for one in run.recording.events}
    (race,) = run.findings
    assert race.kind == "race"
    (flag,) = words[1]
    giver, taker = block_of["word", "store"], block_of["word", "load"]
    says("Block {} stores a word and then adds {} to a second word", giver, flag)
    says("If block {} finds the flag at {}, it reads the word", taker, flag)
    says("Nothing keeps the two stores of block {} in order, nor the two reads of block {}. So "
         "block {} may see the flag and still find the old word", giver, taker, taker)  # fmt: skip
    says("Block {} stores its word, passes a fence, and raises the flag. If block {} sees this "
         "flag *and then passes a fence itself*", giver, taker)  # fmt: skip


@pytest.mark.parametrize(("removed", "found"), [(0, True), (1, False)])
def test_the_race_detector_asks_for_the_first_fence_and_check_for_both(removed, found):
    one = EXERCISES["two_fences"]
    before, *after = one.solution_text.split("cuda.threadfence()")
    assert len(after) == 2
    fences = ["pass" if number == removed else "cuda.threadfence()" for number in (0, 1)]
    text = before + "".join(map("".join, zip(fences, after, strict=True)))
    kernel = variants.function_in("two_fences", text)
    launch, arguments = one.launch((4,)), one.inputs((4,), 1)
    out = np.zeros(4, np.float32)
    run = trace(kernel, launch.grid, launch.block, *arguments, out)
    assert bool(run.findings) is found
    assert not check("two_fences", kernel).passed


@pytest.mark.slow
def test_nvidias_tool_reported_nothing_without_a_fence_and_the_virtual_gpu_does():
    with open(records.file_of(REFERENCE, "sanitizer"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["case"] == "ticket_without_fence"]
    assert [(row["tool"], row["reported"]) for row in rows] == [("racecheck", "false")]
    arguments = broken.ticket_arguments(np.random.default_rng(1))
    kernel = broken.ticket_without_fence.kernel
    findings = trace(kernel, 4, arguments[0].size // 4, *arguments).findings
    assert findings[0].kind == "race"


@pytest.mark.parametrize("fences", [0, 1])
def test_check_asks_for_both_fences_of_the_ticket(fences):
    text = EXERCISES["ticket"].solution_text.replace("cuda.threadfence()", "pass", 2 - fences)
    assert text.count("cuda.threadfence()") == fences
    assert not check("ticket", variants.function_in("ticket", text)).passed


# ---- waiting ----


def test_every_block_waits_for_blocks_that_never_get_a_slot():
    everyone = waiting.KERNELS["every block waits for all others"]
    *_, last = waiting.moments(waiting.BLOCKS, waiting.SLOTS, everyone)
    assert (waiting.SLOTS, waiting.BLOCKS) == (2, 4)
    says("the GPU has two slots, and the grid has four blocks")
    says("blocks {} and {} wait for numbers that only blocks {} and {} can draw, and these wait "
         "for the slots that blocks {} and {} keep",
         *last.slots, *last.queue, *last.slots)  # fmt: skip
    (first,) = waiting.KERNELS["block 0 waits for all others"]
    says("Block {} could simply wait until all others have drawn", first)
    assert waiting.ends(waiting.BLOCKS, waiting.SLOTS, (first,))
    assert waiting.ends(waiting.SLOTS, waiting.SLOTS, range(waiting.SLOTS))  # "on a small grid"


def test_of_16384_blocks_263_may_wait():
    block = REDUCE9.variant().constants["BLOCK"]
    per_sm = limits_of(H200.compute_capability).threads_per_sm // block
    slots, blocks = per_sm * H200.sms, REDUCE9.variant().launch(LADDER.parse(LARGE)).blocks
    assert per_sm == 2  # "two blocks"
    says("An SM of an H200 has room for two blocks of {} threads, so its {} SMs have {} slots",
         block, H200.sms, slots)  # fmt: skip
    says("The course's sum of {} floats has {:,} such blocks, and {} of them may wait",
         LARGE, blocks,
         formula.right(blocks, H200.sms, per_sm))  # fmt: skip


# ---- the course's kernel ----


def test_the_note_of_the_comparison_counts_what_the_last_block_adds():
    twin = twins()["ticket"]
    (threads,), shape = twin.block, LADDER.parse(twin.shape)
    blocks = REDUCE9.variant(**twin.constants).launch(shape).blocks
    mine = shape.elements // threads
    with_sum, without = launch_us("ticket"), launch_us("ticket without sum")
    for words in (
        f"Blocks of {threads} threads leave {mine:,} partial sums",
        f"{mine // threads:,} per thread: the solution of the task takes an H200 {with_sum:.1f} "
        f"us, and {without:.1f} us without these additions",
        f"The course's blocks add {shape.elements // blocks:,} elements each",
        f"in loads of {LOAD_BYTES} bytes, and leave {blocks} partial sums",
        f"{32 * LOAD_BYTES // 32} sectors per request, and one with loads of {WORD} bytes has "
        f"{32 * WORD // 32}. In the solution two warps load, and one thread stores the partial sum "
        f"with 1 sector: {(threads // 32 * 4 + 1) / (threads // 32 + 1):.0f} on average.",
        f"blocks of {twin.constants['BLOCK']} threads",
    ):
        assert words in twin.note


def test_for_a_sum_combine_is_an_addition_and_identity_is_0():
    assert SUM_OF_FLOAT32.combine.py_func(2, 3) == 2 + 3
    says("for a sum `combine` is `+` and `identity` is {:g}", SUM_OF_FLOAT32.identity)


@pytest.mark.slow
def test_reduce8_has_four_loads_of_16_bytes_under_way_where_reduce7_has_eight_of_4(compiler):
    loads = {}
    for name in ("reduce7", "reduce8"):
        step = LADDER.step(name)
        compiled = xray(step.variant().kernel, step.signature, "sm_90")
        loads[name] = compiled.loads_before_use, widest(compiled.code, GLOBAL_LOADS) // 8
    (count7, wide7), (count8, wide8) = loads["reduce7"], loads["reduce8"]
    assert (wide8 // WORD, count8) == (4, LOADS) == (4, 4)  # "four floats", "four loads"
    says("a load takes four floats ({} bytes), and a thread starts four loads", wide8)
    says("{} bytes, where a thread of <code>reduce7</code> loads {} times {} bytes",
         count8 * wide8, count7, wide7)  # fmt: skip
    says("the first address that is a multiple of {}", wide8)
    source = inspect.getsource(total_of_thread(SUM_OF_FLOAT32, 1024, 4).py_func)
    assert source.count("if cuda.blockIdx.x == 0:") == 1


def launches(step):
    """Return the number of launches of a step for 2^22 floats; nothing is launched."""

    def allocate(count, *_, **__):
        return np.zeros(count, np.float32)

    return len(step.variant().calls(LADDER.parse(SMALL), (None,), None, allocate))


def test_one_launch_saves_little_on_the_gpu_and_more_in_python():
    times = launch_times()
    two, one = launch_us("reduce8"), launch_us("reduce9")
    assert [launches(step) for step in (REDUCE8, REDUCE9)] == [2, 1]
    says("On the GPU one launch saves {:.2f} of {:.2f} microseconds for {} Mi floats",
         two - one, two, MI)  # fmt: skip
    share = 100 * (1 - us(REDUCE9, LARGE) / us(REDUCE8, LARGE))
    says("and {:.1f} % of the time for {} Gi", share, GI)
    for step in ("reduce8", "reduce9"):  # "keeps Python busy for longer than the GPU works"
        assert times[step].host_us > launch_us(step)
    prepared = [times[f"plan of {step}"].host_us for step in ("reduce8", "reduce9")]
    says("Python needs {:.1f} us for two and {:.1f} us for one", *prepared)
    saved = times["reduce8"].host_us - times["reduce9"].host_us, prepared[0] - prepared[1]
    assert min(saved) > two - one  # "mostly Python's time"


def test_the_sums_of_the_table_have_another_grid_than_the_one_at_the_top():
    shape = LADDER.parse(SMALL)
    grids = {
        LADDER.step(name).variant(BLOCK=BLOCK, TURNS=1).launch(shape)
        for name in ("reduce8", "reduce9", "reduce_atomic")
    }
    (grid,), top = grids, ATOMIC.variant()
    says("All kernels in this table, and `reduce_atomic` in the next picture, have {} blocks of {} "
         "threads. The kernel with {} sums has {}, because each of its threads makes {} times as "
         "many loads", grid.blocks, grid.threads,
         recorded_row("reduce_atomic").different, top.launch(shape).blocks,
         top.constants["TURNS"])  # fmt: skip
    assert top.launch(shape).threads == grid.threads


def test_the_parts_of_a_small_sum():
    times = launch_times()
    blocks = launch_us("reduce8 first launch")
    says("The first launch of `reduce8`, whose blocks only store their sums, takes an H200 {:.1f} "
         "us", blocks)  # fmt: skip
    grid = ATOMIC.variant(BLOCK=BLOCK, TURNS=1).launch(LADDER.parse(SMALL)).blocks
    says("or {} atomic additions to one word", grid)
    zero = launch_us("reduce_atomic") - launch_us("reduce_atomic without zero")
    assert zero == pytest.approx(launch_us("empty"), rel=0.1)  # "about as much as an empty kernel"
    counted, whole = launch_us("reduce9 without sum"), launch_us("reduce9")
    assert zero < whole - blocks  # "less than tickets and the last block"
    says("an empty kernel takes {:.1f} us, tickets take {:.1f} us, and the last block {:.1f} us",
         launch_us("empty"), counted - blocks, whole - counted)  # fmt: skip
    shown = {kernel for parts in PARTS.values() for part in parts for kernel in part[1:] if kernel}
    spread = max(1000 * (times[one].time_ms_max - times[one].time_ms_min) for one in shown)
    says("The repetitions of each kernel differ by at most {:.2f} us", spread)
    assert times["reduce_atomic"].time_ms_max < times["reduce9"].time_ms_min


def test_another_run_has_the_same_order():
    small = FRAME[FRAME["elements"] == elements(SMALL)]
    names, other = [step.name for step in (ATOMIC, REDUCE9, REDUCE8, COOPERATIVE)], {}
    for step in STEPS:
        constants = {} if step is COOPERATIVE else {"BLOCK": BLOCK, "TURNS": 1}
        params = " ".join(f"{k}={v}" for k, v in step.variant(**constants).constants.items())
        (ms,) = small[(small["step"] == step.name) & (small["params"] == params)]["time_ms"]
        other[step.name] = 1000 * ms
    assert sorted(names, key=launch_us) == sorted(names, key=other.get) == names
    largest = max(abs(other[one] - launch_us(one)) for one in names)
    says("Another run with the same constants has the same order, and its times differ by up to "
         "{:.1f} us from these", largest)  # fmt: skip


def test_a_ticket_costs_a_wait_of_about_2000_cycles():
    shape = SIZES[1]
    for caches in ("cold", "warm"):
        waits = {}
        for step in (REDUCE8, REDUCE9):
            launch = step.variant(BLOCK=BLOCK, TURNS=TURNS).launch(LADDER.parse(shape))
            counted = counters_of(
                f"{step.name} BLOCK={BLOCK} TURNS={TURNS}", str(elements(shape)), caches
            )
            warps = launch.blocks * launch.threads / 32
            waits[step] = counted["barrier"] * counted["instructions"] / warps
        more = waits[REDUCE9] - waits[REDUCE8]
        us_more = more * counted["time_ns"] / counted["cycles"] / 1000
        says("at {} a warp of `reduce9` waits at barriers for about {:,} cycles, or {:.0f} us, "
             "more than a warp of `reduce8`", shape, round(int(more), -3), us_more)  # fmt: skip


@pytest.mark.slow
def test_an_atomic_addition_whose_result_nobody_needs_is_a_red_instruction(compiler):
    compiled = xray(ATOMIC.variant().kernel, ATOMIC.signature, "sm_90")
    names = {one.opcode.partition(".")[0] for one in compiled.code}
    assert "REDG" in names
    assert "ATOMG" not in names
    compiled = xray(REDUCE9.variant().kernel, REDUCE9.signature, "sm_90")
    assert "ATOMG" in {one.opcode.partition(".")[0] for one in compiled.code}


# ---- how far off ----


def test_2_to_the_25_ones_come_to_half_of_it():
    power = int(code("ones-reveal").partition("2**")[2][:2])
    says("Someone adds {} = {:,} ones in float32", f"2^{power}", 2**power)
    stuck = next(k for k in range(40) if np.float32(2**k) + np.float32(1) == np.float32(2**k))
    text = """Up to {} = {:,} each sum is a float32. The next one, {} + {}, is halfway between two
        of them. Ties go to even, so it is rounded back to {}, and so is each later sum.
        That is half of {:,}."""
    limit = f"2^{stuck}"
    explains("20.ones", text, limit, 2**stuck, limit, 1, limit, 2**power)
    assert 2 * 2**stuck == 2**power
    assert np.add.accumulate(np.ones(2**power, np.float32))[-1] == 2**stuck
    digits = np.finfo(np.float32).nmant + 1
    says("each of them rounds by at most half a unit in the last of {} binary digits", digits)


def test_a_tree_has_few_additions_in_a_row():
    assert "for elements in (2**25, 2**30):" in code("chain")
    blocks = REDUCE9.variant(BLOCK=BLOCK, TURNS=TURNS).launch(LADDER.parse(LARGE)).blocks
    loads, ends, sums, last = LOADS * TURNS, 2, LOAD_BYTES // WORD, blocks // BLOCK
    says("A thread adds the values of {} loads, and perhaps of {} elements", loads, ends)
    says("It joins its {} sums. The tree of its block has {} levels", sums, TREE)
    says("A thread of the last block adds {} partial sums, and the tree there has {} levels again",
         last, TREE)  # fmt: skip
    parts = loads, ends, sums, TREE, last, TREE
    assert sum(parts) == longest_chain(elements(LARGE), WORD)
    says("more than {} + {} + {} + {} + {} + {} = {} additions", *parts, sum(parts))
    says("in the course's sum of {} Gi floats, which are {}", GI, LARGE)


# ---- four ways ----


def test_only_atomics_on_the_result_have_a_free_order():
    for step in STEPS:
        counts = course.watch(step, "10007").access_counts
        accesses = {(one.array, one.kind) for one in counts}
        assert (("out", "atomic") in accesses) is (step is ATOMIC)
        assert (("partials", "store") in accesses) is (step is not ATOMIC)


def test_the_first_block_of_a_cooperative_launch_adds_the_partial_sums():
    recorded = course.watch(COOPERATIVE, "10007", record=0).recording.events
    assert any((one.array, one.kind) == ("out", "store") for one in recorded)
    assert not course.watch(COOPERATIVE, "10007").findings  # "so no fence is needed"
    assert "threadfence" not in inspect.getsource(COOPERATIVE.variant().kernel.py_func)
    says("and then the first block adds the partial sums")


@pytest.mark.slow
def test_the_cooperative_kernel_loads_as_many_bytes_as_reduce7(compiler):
    loads = {}
    for step in (*STEPS, LADDER.step("reduce7")):
        compiled = xray(step.variant().kernel, step.signature, "sm_90")
        loads[step.name] = widest(compiled.code, GLOBAL_LOADS) // 8
    assert loads["reduce_cooperative"] == loads["reduce7"] == WORD
    says("A load takes {} bytes in the first three, and {} bytes in the cooperative kernel",
         loads["reduce8"], loads["reduce_cooperative"])  # fmt: skip
    assert loads["reduce8"] == loads["reduce9"] == loads["reduce_atomic"]


@pytest.mark.slow
def test_atomics_are_the_fastest_at_every_size_and_cooperative_launches_the_slowest():
    for shape in SIZES:
        assert sorted(STEPS, key=lambda step: us(step, shape)) == [
            ATOMIC, REDUCE9, REDUCE8, COOPERATIVE,
        ]  # fmt: skip
    gains = [100 * (us(REDUCE9, shape) / us(ATOMIC, shape) - 1) for shape in (SMALL, LARGE)]
    parts = 100 * (launch_us("reduce9") / launch_us("reduce_atomic") - 1)
    says("At {} they are {:.0f} % faster than tickets here and {:.0f} % in the run with the parts, "
         "and at {} {:.1f} %", SMALL, gains[0], parts, LARGE, gains[1])  # fmt: skip


def test_the_cooperative_launch_is_slower_than_reduce7_too():
    reduce7 = LADDER.step("reduce7")
    assert launches(reduce7) == 2  # "takes two launches"
    lost = [us(COOPERATIVE, shape) - us(reduce7, shape) for shape in (SMALL, LARGE)]
    says("it is {:.2f} us faster at {} and {:.1f} us at {}", lost[0], SMALL, lost[1], LARGE)


@pytest.mark.slow
def test_the_cooperative_kernel_asks_for_as_many_bytes_at_once_as_reduce7(compiler):
    loads = [
        xray(step.variant().kernel, step.signature, "sm_90").loads_before_use
        for step in (COOPERATIVE, LADDER.step("reduce7"))
    ]
    threads = THREADS_PER_SM, limits_of(H200.compute_capability).threads_per_sm
    says("its {} threads per SM start {} loads each before they use a value, and the {} of "
         "`reduce7` start {}", threads[0], loads[0], threads[1], loads[1])  # fmt: skip
    assert threads[0] * loads[0] >= threads[1] * loads[1]
    assert 2 * threads[0] == threads[1]  # "half as many warps"


@pytest.mark.slow
def test_against_cub():
    ratio = library_ms(FRAME, LADDER, LARGE) / (us(REDUCE9, LARGE) / 1000)
    says("At {} it is {:.2f} times as fast as CUB", LARGE, ratio)
    largest = 0
    for shape in SIZES[2:]:
        times = [us(LADDER.step("reduce7"), shape), us(REDUCE9, shape)]
        times.append(1000 * library_ms(FRAME, LADDER, shape))
        largest = max(largest, 100 * (max(times) / min(times) - 1))
    says("From {} on, `reduce7`, `reduce9` and CUB are within {:.0f} % of each other",
         SIZES[2], np.ceil(largest))  # fmt: skip


# ---- as it is called, and what is left ----


def test_a_short_call_is_python():
    short = launch_times()["reduce"]
    assert short.host_us > 1000 * short.hot_ms  # "The GPU is done first"
    prepared = launch_times()["plan of reduce9"].host_us
    says("For {} Mi floats Python is busy for {:.1f} us, and the prepared launch alone takes "
         "{:.1f} us of them", MI, short.host_us, prepared)  # fmt: skip
    says("so the sum takes {:.1f} us instead of {:.1f}", 1000 * short.hot_ms, launch_us("reduce"))
    says("<code>from reduce_kernels import reduce</code>, the call <code>reduce(x, out=out)</code>")
    assert list(inspect.signature(reduce).parameters)[:3] == ["x", "op", "out"]


def test_memory_needs_less_than_half_of_the_time_of_a_small_sum():
    million, time = elements(SMALL) * WORD / 1e6, us(REDUCE9, SMALL)
    threads = record_of(REDUCE9, SMALL).params.partition("BLOCK=")[2].split()[0]
    says("such as {} threads for `reduce9` at {}", threads, SMALL)
    says("It adds {} Mi floats, which are {:.1f} million bytes, in {:.2f} us", MI, million, time)
    least = 1000 * million / H200.peak_gb_per_s
    assert course.share_of_peak(REDUCE9, SMALL) == pytest.approx(least / time, rel=1e-3)
    assert least < time / 2
    says("At the {:,.0f} GB/s of the data sheet memory would need {:.2f} us, so {:.2f} us are left",
         H200.peak_gb_per_s, least, time - least)  # fmt: skip
    times = elements(LARGE) // elements(SMALL)
    says("{} Gi floats are {} times as many", GI, times)
    text = """Memory needs {} · {:.3f} = {:.0f} us. With the same rest as for {} Mi floats,
        {:.2f} us, that makes {:.0f} us. {} times the whole time would be {:,.0f} us, but most of
        the rest comes once in a launch."""
    explains("20.large", text, times, least, times * least, MI, time - least,
             times * least + time - least, times, times * time)  # fmt: skip


def test_each_launch_of_a_small_sum_reads_another_copy():
    copies = cdiv(L2_TIMES * H200.l2_kib * KIB, elements(SMALL) * WORD)
    says("each launch of the measurement reads another of {} copies of the array, which together "
         "are {} times as large as the L2 cache", copies, L2_TIMES)  # fmt: skip


def test_atomic_additions_are_the_cheapest_part_of_a_small_sum():
    blocks, added = launch_us("reduce8 first launch"), launch_us("reduce_atomic without zero")
    counted = launch_us("reduce9 without sum")
    costs = launch_us("reduce9") - counted, counted - blocks, launch_us("reduce8") - blocks
    assert added - blocks < min(costs) - 0.5  # far more than the repetitions differ
    assert "course.reveal(\"20.cheapest\", min(costs, key=costs.get))" in code("cheapest-reveal")
    text = """Recorded on one H200: blocks that add their sums take {:.2f} us, and blocks that store
        them {:.2f} us. The sum in the last block costs {:.1f} us, fences and tickets {:.1f} us, and
        a second launch {:.1f} us."""
    explains("20.cheapest", text, added, blocks, *costs)


@pytest.mark.slow
def test_what_is_left_to_the_data_sheet():
    rest = [us(REDUCE9, one) * (1 - course.share_of_peak(REDUCE9, one)) for one in (SMALL, LARGE)]
    grown = us(REDUCE9, LARGE) / us(REDUCE9, SMALL), rest[1] / rest[0]
    says("From {} to {} the time grows by a factor of {:.0f}, and the rest by about {:.0f}, "
         "to {:.1f} % of the time", SMALL, LARGE, *grown,
         100 * (1 - course.share_of_peak(REDUCE9, LARGE)))  # fmt: skip
    fastest = course.share_of_peak(ATOMIC, LARGE) * H200.peak_gb_per_s
    assert fastest == max(course.share_of_peak(one, LARGE) for one in STEPS) * H200.peak_gb_per_s
    says("even the fastest one at {} reads {:,.0f} of {:,.0f} GB/s",
         LARGE, fastest, H200.peak_gb_per_s)  # fmt: skip
