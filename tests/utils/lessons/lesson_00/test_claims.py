"""Check the claims of lesson 00 against counts of the virtual GPU, records and data sheets."""

import ast
import html
import math
import re
from functools import cache, partial
from inspect import getsource, signature
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER as GEMM
from labs.exercises import find as exercise
from labs.exercises.order_saxpy.right import RIGHT
from tests import quotes
from utils.division import cdiv
from utils.lessons import ledger_file, per_request, predictions
from utils.lessons.lesson_00 import launching, limits
from utils.lessons.lesson_00.overrun import overrun, threads_beyond, told_plainly
from utils.lessons.lesson_00.threads import threads_over_elements
from utils.machine import devices
from utils.machine.devices import REFERENCE
from utils.machine.occupancy import WARP
from utils.measuring import records
from virtual_gpu import VirtualGpuError, trace
from virtual_gpu.counts.transactions import CACHE_LINE_BYTES, SECTOR_BYTES
from virtual_gpu.pictures.accesses import draw_request, what_if_stride

H200 = devices.find(REFERENCE)
WORD = np.float32().nbytes
FULL, SHORT = 1024, 1000  # elements of the arrays of `add_one`
SCALE = exercise("scale").solution
THREADS = 256
SIZE = 4096  # of the matrices
APART = 4  # words between neighbouring lanes in `every_fourth`
MEGA = 10**6
says = partial(quotes.says, "00")
code = partial(quotes.code, "00")
explains = quotes.explains


@cuda.jit
def add_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)


@cuda.jit
def every_fourth(x, out):
    i = cuda.grid(1)
    out[i] = x[4 * i]


@cuda.jit
def apart(x, words, out):
    i = cuda.grid(1)
    out[i] = x[words * i]


@cuda.jit
def who_am_i(out):
    out[cuda.blockIdx.x, cuda.threadIdx.x] = cuda.grid(1)


@cuda.jit
def add_plain_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + 1


def floats(length, dtype=np.float32):
    return np.zeros(length, dtype)


def loads(traced, array="x"):
    return traced.accesses.query("array == @array and kind == 'load'").iloc[0]


def blocks_of(elements):
    return cdiv(elements, THREADS)


@cache
def launched(elements):
    """Return the trace of `add_one` as the lesson launches it, and its result."""
    x, out = np.arange(elements, dtype=np.float32), np.full(elements, np.nan, np.float32)
    return trace(add_one, blocks_of(FULL), THREADS, x, out), out


@cache
def guarded():
    x = np.arange(SHORT, dtype=np.float32)
    return trace(SCALE, blocks_of(SHORT), THREADS, x, np.float32(2), floats(SHORT))


@cache
def sectors_at(words):
    """Return the sectors per request of lanes that read words this far apart."""
    return per_request(trace(apart, 4, THREADS, floats(FULL * words), words, floats(FULL)), "x")


@pytest.mark.parametrize("kernel", [add_one, every_fourth, SCALE])
def test_the_kernels_of_these_tests_are_those_of_the_lesson(kernel):
    cells = {add_one: "cell-08", every_fourth: "cell-30", SCALE: "cell-24"}
    source = getsource(kernel.py_func).rstrip()
    if kernel is SCALE:  # in a closed fold of the prose
        fold = r"<details>[^<]*<summary>.*?<pre><code>(.*?)</code></pre>"
        folded = re.search(fold, code("cell-24"), re.DOTALL)
        assert html.unescape(folded[1]) == source
    else:
        assert code(cells[kernel]).endswith(source)


def test_1000_elements_and_blocks_of_256_threads_are_those_of_the_first_launches():
    assert f"np.arange({FULL}," in code("cell-10")
    assert f"np.arange({SHORT}," in code("cell-12")
    for cell in ("cell-12", "cell-26", "cell-32"):
        assert re.search(rf"{blocks_of(FULL)}, {THREADS}\b", code(cell))
    says("Your array has {:,} elements, and threads come in blocks of {}", SHORT, THREADS)
    says("**{:,} elements and blocks of {} threads**", SHORT, THREADS)
    says("Now take {:,} elements and {} blocks", SHORT, blocks_of(SHORT))
    assert blocks_of(SHORT) == blocks_of(FULL)  # so 4 blocks are right for both


def test_one_block_too_few_leaves_the_last_256_elements_nan():
    printed = []
    names = {"np": np, "add_one": add_one, "print": lambda *words: printed.append(words)}
    exec(code("cell-10"), names)
    enough, few = blocks_of(FULL), blocks_of(FULL) - 1
    says("**launches** the kernel twice, with {} and with {} blocks of {} threads", enough, few,
         THREADS)  # fmt: skip
    assert [words[0] for words in printed] == [enough, few]
    assert [np.isnan(words[-1]).all() for words in printed] == [False, True]
    out = np.full(FULL, np.nan, np.float32)
    trace(add_one, few, THREADS, np.arange(FULL, dtype=np.float32), out)
    left = np.flatnonzero(np.isnan(out))
    assert left.tolist() == list(range(FULL - len(left), FULL))
    says("With {} blocks the last {} elements have no thread and stay NaN", few, len(left))


def test_the_launch_in_the_fold_is_right_and_the_stub_launches_nothing():
    folds = re.findall(r"<pre><code>(.*?)</code></pre>", code("cell-66"), re.DOTALL)
    names = {"np": np, "scale": SCALE}
    exec(html.unescape(folds[0]), names)
    assert launching.check_launch(names["launch"]).kind == "good"
    exec(code("cell-64"), names)
    assert "No kernel was launched" in str(launching.check_launch(names["launch"]))
    assert f"blocks of {launching.THREADS} threads" in code("cell-64")


def test_the_solution_in_the_fold_is_that_of_the_exercise():
    (folded,) = re.findall(r"<pre><code>(.*?)\n\ndef launch", code("cell-66"), re.DOTALL)
    assert folded == getsource(exercise("enough_blocks").solution).rstrip()


def test_the_first_picture_has_blocks_of_4_threads():
    block = int(re.search(r"block=(\d+)", code("cell-03"))[1])
    says("at the top of this page a block has {} threads; real blocks are larger", block)
    says("with {} elements two blocks are full", 2 * block)
    assert "2 blocks of" in str(threads_over_elements(lengths=[2 * block], block=block))
    assert "3 blocks of" in str(threads_over_elements(lengths=[2 * block + 1], block=block))
    assert block < WARP < THREADS
    lengths = signature(threads_over_elements).parameters["lengths"].default
    assert any(length % block for length in lengths)


def test_the_number_of_a_thread_is_its_block_times_the_threads_plus_its_number():
    out = np.zeros((4, THREADS), np.int64)
    trace(who_am_i, 4, THREADS, out)
    for block, thread in ((0, 0), (2, 5), (3, THREADS - 1)):
        assert out[block, thread] == block * THREADS + thread


def test_a_plain_1_makes_the_sum_float64():
    plain = trace(add_plain_one, 1, WARP, floats(WARP), floats(WARP))
    own = trace(add_one, 1, WARP, floats(WARP), floats(WARP))
    assert (plain.totals["float64_ops"], own.totals["float64_ops"]) == (WARP, 0)


def test_with_1024_elements_each_is_written_and_with_1000_threads_leave_the_array():
    right, out = launched(FULL)
    assert not right.findings
    assert np.array_equal(out, np.arange(FULL) + 1)
    wrong, out = launched(SHORT)
    idle = blocks_of(SHORT) * THREADS - SHORT
    assert [(one.kind, one.array, one.threads_in_all) for one in wrong.findings] == [
        ("out_of_bounds", "x", idle), ("out_of_bounds", "out", idle),
    ]  # fmt: skip
    assert np.array_equal(out, np.arange(SHORT) + 1)  # "this result looks right"
    (first,) = wrong.findings[0].index
    counts = wrong.accesses.query("array == 'x'")[["requests", "sectors"]].iloc[0]
    assert counts["sectors"] == cdiv(SHORT * WORD, SECTOR_BYTES)
    assert wrong.totals["float32_ops"] == FULL
    assert first == SHORT
    assert threads_beyond(wrong) == idle
    plain = str(told_plainly(wrong))
    assert f"thread {first % THREADS} of block {first // THREADS} uses x[{first}]" in plain
    assert f"{idle} threads use elements {first} to {first + idle - 1}" in plain
    slip = predictions.question("00.idle").slips[str(first % THREADS)]
    assert slip.startswith(f"{SHORT % THREADS} threads of the last block have an element")
    explains(
        "00.idle",
        """{} ÷ {} = {:.1f}, so {} blocks are needed. They have {} × {} = {} threads.
        {} threads − {} elements = {} threads.""",
        SHORT, THREADS, SHORT / THREADS, blocks_of(SHORT), blocks_of(SHORT), THREADS,
        blocks_of(SHORT) * THREADS, blocks_of(SHORT) * THREADS, SHORT, idle,
    )  # fmt: skip


def test_the_first_of_two_neighbouring_arrays_looks_right_and_the_second_is_broken():
    printed = []
    names = {"np": np, "add_one": add_one, "print": lambda *words: printed.append(words[-1])}
    exec(code("cell-15"), names)
    first, second = names["first"], names["second"]
    blocks = blocks_of(len(first))
    says("Two arrays of {} elements, `first` and `second`, are neighbours", len(first))
    says("with as few blocks of {} threads as `first` needs", THREADS)
    assert re.search(rf"{blocks}, {THREADS}\]", code("cell-15"))
    assert len(first) == len(second)
    assert np.array_equal(first, np.arange(len(first)) + 1)  # a test of it finds nothing
    changed = np.flatnonzero(second).tolist()
    assert changed == list(range(blocks * THREADS - len(first)))
    says("A test of `first` finds nothing, and {} elements of `second` are overwritten",
         len(changed))  # fmt: skip
    assert printed == [True, len(changed)]
    picture = overrun(first, second, block=THREADS)
    assert f"{len(changed)} of its elements are overwritten" in picture.alt
    block, thread = divmod(len(first), THREADS)
    assert f"Thread {thread} of block {block} is the first" in picture.alt
    with pytest.raises(VirtualGpuError):  # "the virtual GPU would stop it"
        add_one[blocks, THREADS](np.zeros(len(first), np.float32), first)


def test_a_guard_keeps_the_same_threads_away_from_the_second_array():
    memory = np.ones(1200, np.float32)
    first, second = memory[:600], memory[600:]
    names = {
        "np": np, "memory": memory, "first": first, "second": second, "overrun": overrun,
        "course": SimpleNamespace(mine=lambda name, otherwise: otherwise),
    }  # fmt: skip
    exec(code("cell-69"), names)
    assert np.array_equal(first, 2 * np.arange(len(first)))
    assert not second.any()
    blocks = blocks_of(len(first))
    says("with the same {} blocks", blocks)
    assert f"own[{blocks}, {THREADS}]" in code("cell-69")
    says("the guard keeps {} of them away from `second`", blocks * THREADS - len(first))


def test_the_solutions_in_the_folds_are_those_of_the_exercises():
    (listed,) = re.findall(r"<pre><code>order_saxpy = (.*?)</code>", code("cell-20"))
    assert ast.literal_eval(listed) == RIGHT["the solution"]
    (line,) = re.findall(r"<pre><code>(.*?)</code>", code("cell-40"))
    kernels = exercise("sectors").starter, exercise("sectors").solution
    given, right = (getsource(kernel.py_func).splitlines() for kernel in kernels)
    assert [one for one in right if one not in given] == [line]


def test_check_launches_scale_with_several_lengths_and_a_last_block_that_is_not_full():
    lengths = [shape[0] for shape in exercise("scale").shapes]
    assert len(set(lengths)) > 2
    assert any(length % THREADS for length in lengths)


def test_a_full_warp_reads_neighbours_with_4_sectors_and_uses_every_byte():
    assert not guarded().findings
    words = guarded().requests("x")[0]
    assert sorted(words.tolist()) == list(range(0, len(words) * WORD, WORD))
    came = SECTOR_BYTES * per_request(launched(FULL)[0], "x")
    assert came == loads(launched(FULL)[0])["bytes"] / loads(launched(FULL)[0])["requests"]
    says("{} neighbouring threads of a block form a **warp**", WARP)
    says("a **lane**, from {} to {}", min(range(WARP)), max(range(WARP)))
    says("It brings **sectors** of {} bytes, and four of them are a **cache line**", SECTOR_BYTES)
    picture = draw_request(guarded().requests("x")[0], named=True).body
    assert CACHE_LINE_BYTES == 4 * SECTOR_BYTES
    for name in (f"word: {WORD} bytes", f"sector: {SECTOR_BYTES // WORD} words", "line: 4 sectors"):
        assert name in picture
    warps, sectors = (int(loads(guarded())[count]) for count in ("requests", "sectors"))
    says("Its {:,} threads are {} warps, so there are {} loads", FULL, cdiv(FULL, WARP), warps)
    says("The {:,} elements have {:,} · {} bytes, which are {} sectors",
         SHORT, SHORT, WORD, sectors)  # fmt: skip
    assert sectors == cdiv(SHORT * WORD, SECTOR_BYTES)
    says("{} lanes read {} neighbouring words. These are {} bytes, so memory brings {:.0f} sectors",
         len(words), len(words), len(words) * WORD, came / SECTOR_BYTES)  # fmt: skip


def test_every_fourth_element_costs_16_sectors():
    traced = trace(every_fourth, 4, THREADS, floats(APART * FULL), floats(FULL))
    sectors, per_sector = per_request(traced, "x"), SECTOR_BYTES // WORD
    assert sectors == sectors_at(APART)
    words = traced.requests("x")[0] // WORD
    first, last = int(words[0]), int(words[-1])
    lane = WARP - 1
    says("Lane {} reads word {}, and lane {} reads word {}.", lane - lane, first, lane, last)
    explains(
        "00.strided",
        """A sector has {} words, and every fourth of them is read: {} ÷ {} = {:.0f} words of each
        sector. {} lanes read {} words, so there are {} ÷ {:.0f} = {:.0f} sectors.""",
        per_sector, per_sector, APART, per_sector / APART, WARP, len(set(words.tolist())), WARP,
        per_sector / APART, sectors,
    )  # fmt: skip


def test_sectors_grow_with_the_distance_of_lanes_up_to_one_per_lane():
    most = sectors_at(WARP)
    distances = range(1, 12)
    grown = [sectors_at(words) for words in distances]
    assert grown == sorted(grown)
    worst = next(words for words in distances if sectors_at(words) == most)
    says("Why does the number of sectors stop growing at {} words?", worst)
    says("From {} words on each lane has a sector of its own, and {} lanes", worst, WARP)
    says("lanes cannot need more than {:.0f} sectors", most)
    share = 100 * WORD / SECTOR_BYTES
    says("A lane uses {} of the {} bytes in its sector, which is {:.1f} %",
         WORD, SECTOR_BYTES, share)  # fmt: skip
    assert f"{worst} words apart: {most:.0f} sectors in 8 cache lines, {share}% is used" in str(
        what_if_stride()
    )


def test_the_grid_of_sectors_has_a_quarter_of_the_threads():
    launches = [exercise(name).launch((4 * FULL,)) for name in ("sectors", "scale")]
    few, many = (one.blocks * math.prod(one.block) for one in launches)
    assert 4 * few == many


def test_one_changed_source_line_brings_four_sectors_per_request():
    one = exercise("sectors")
    x, factor = np.arange(FULL, dtype=np.float32), np.float32(2)
    counts = [
        per_request(trace(kernel, 1, THREADS, x, factor, floats(FULL)), "x")
        for kernel in (one.starter, one.solution)
    ]
    assert counts == [sectors_at(APART), sectors_at(1)]


def recorded(step: str) -> pd.DataFrame:
    """Return the H200's records of square products of a step."""
    frame = records.measured(H200.name, GEMM.name)
    return frame[(frame["step"] == step) & (frame["m"] == frame["n"]) & (frame["n"] == frame["k"])]


@cache
def ten() -> float:
    """Return b, where a GFLOP/s of the records is b^9 operations per second."""
    row = recorded("naive").iloc[0]
    operations = 2 * row["m"] * row["n"] * row["k"]  # a multiply-add counts as two
    return (operations / (row["time_ms"] / 1e3) / row["gflops"]) ** (1 / 9)


def test_a_gflop_per_s_is_10_to_the_9_operations():
    says("{:.0f}⁹ operations per second, or", ten())
    assert ten() == pytest.approx(10, rel=1e-4)  # with 2^30 it would be 10.08


def test_the_arithmetic_peak_of_the_h200():
    lanes, clock = H200.fp32_lanes_per_sm, H200.boost_clock_mhz * MEGA / round(ten()) ** 9
    says("The GPU has {} streaming multiprocessors, **SMs**", H200.sms)
    says("In a cycle an SM does at most {} multiply-adds, `a * b + c` with float32", lanes)
    says("At the highest clock there are {:.2f} · {:.0f}⁹ cycles per second", clock, ten())
    operations = H200.peak_gflops / (H200.sms * lanes * clock)  # of a multiply-add
    says("{} · {} · {:.0f} · {:.2f} · {:.0f}⁹ are {:,.0f} · {:.0f}⁹ operations per second, or "
         "{:,.0f} GFLOP/s", H200.sms, lanes, operations, clock, ten(), H200.peak_gflops, ten(),
         H200.peak_gflops)  # fmt: skip
    computed = H200.sms * lanes * 2 * clock
    assert computed == pytest.approx(H200.peak_gflops, rel=0.001)


def test_memory_limits_scale_to_less_than_one_percent_of_the_arithmetic_peak():
    traced = guarded()
    per_element = traced.totals["float32_ops"] / SHORT
    came, went = (
        traced.accesses.query("kind == @kind")["bytes"].sum() / SHORT for kind in ("load", "store")
    )
    assert per_element == 1  # "one operation per element"
    says("`scale` does one operation per element and moves {:.0f} bytes for it: {:.0f} in and "
         "{:.0f} out", came + went, came, went)  # fmt: skip
    bandwidth, peak = H200.peak_gb_per_s, H200.peak_gflops
    says("an H200, with {:.0f}²⁸ elements", limits.longest_times()["scale"].elements ** (1 / 28))
    memory = limits.gb_per_s(limits.longest_times()["scale"]) / bandwidth
    says("Your `scale` reaches {:.0f} % of the peak of the H200's memory, {:,.0f} GB/s in its data "
         "sheet", 100 * memory, bandwidth)  # fmt: skip
    reached = per_element * bandwidth / (came + went)
    share = limits.share_that_memory_allows(per_element, came + went)
    assert share == pytest.approx(100 * reached / peak)
    text = """{:,.0f} GB/s ÷ {:.0f} bytes per operation = {:.0f} · {:.0f}⁹ operations per second.
        {:.0f} GFLOP/s ÷ {:,.0f} GFLOP/s = {:.1f} %."""
    explains("00.limit", text, bandwidth, came + went, reached, ten(), reached, peak,
             100 * reached / peak)  # fmt: skip
    slips = list(map(float, predictions.question("00.limit").slips))
    assert slips == [round(2 * share, 1), round(100 * bandwidth / peak, 1), round(100 * memory)]


def test_the_sectors_of_the_starter_cost_less_time_than_their_number_says():
    given, changed = (limits.longest_times()[f"sectors {name}"] for name in ("starter", "solution"))
    assert (given.device, given.elements) == (H200.name, 2**28)
    ratio = given.time_ms / changed.time_ms
    more = sectors_at(APART) / sectors_at(1)
    says("`sectors` as given asks for {:.0f} times as many sectors as the changed version", more)
    explains("00.slower", "{:.2f} ms ÷ {:.2f} ms = {:.1f}.", given.time_ms, changed.time_ms, ratio)
    slips = predictions.question("00.slower").slips
    assert slips == {f"{more:.0f}": f"{more:.0f} is the ratio of the sectors. The time grows less."}
    assert 1 < ratio < more
    x = np.arange(4 * WARP, dtype=np.float32)
    traced = trace(exercise("sectors").starter, 1, WARP, x, np.float32(2), floats(4 * WARP))
    four = traced.requests("x")
    assert len(four) == 4
    assert len({tuple((words // SECTOR_BYTES).tolist()) for words in four}) == 1
    says("ask for the same {} sectors", len(set((four[0] // SECTOR_BYTES).tolist())))


def test_the_bars_have_the_share_of_the_memorys_peak_that_each_kernel_reaches():
    names = ("scale", "sectors starter", "sectors solution")
    rows = [limits.longest_times()[name] for name in names]
    shares = [limits.gb_per_s(row) / H200.peak_gb_per_s for row in rows]
    assert shares[1] < shares[0] < shares[2] < 1  # "it does not even reach memory's peak"
    says("`sectors` comes closer, with {:.0f} %, four elements per thread and the same bytes",
         100 * shares[2])  # fmt: skip
    picture = limits.speeds_of_first_kernels(*names)
    said = [f"{row.time_ms:.2f} ms, {limits.gb_per_s(row):,.0f} GB/s, {share:.0%} of the peak"
            for row, share in zip(rows, shares, strict=True)]  # fmt: skip
    assert all(words in picture.alt for words in said)
    wide = [float(width) for width in re.findall(r'width="([\d.]+)" height="14"', picture.body)]
    assert [bar / frame for bar, frame in zip(wide[::2], wide[1::2], strict=True)] == [
        pytest.approx(share, abs=0.001) for share in shares
    ]


def test_a_right_share_below_one_percent_is_not_doubted(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_LEDGER", str(tmp_path / "predictions.json"))
    share = limits.share_that_memory_allows(operations=1, moved=2 * WORD)
    assert predictions.predict("00.limit", round(share, 1)).kind == "good"
    assert ledger_file.entries()["00.limit"].value == round(share, 1)
    assert "You were right" in str(predictions.reveal("00.limit", share))


def test_a_product_at_4096_uses_every_element_4096_times_and_arithmetic_limits_it():
    size = SIZE
    multiply_adds, elements = size**3, size**2
    says("A product of two {}×{} matrices", size, size)
    says("because it uses every element {} times", multiply_adds // elements)
    to_compute = 2 * multiply_adds / H200.peak_gflops
    to_move = 3 * WORD * elements / H200.peak_gb_per_s
    says("once takes {:.2f} ms at the memory's peak, and its operations take {:.2f} ms",
         to_move / MEGA, to_compute / MEGA)  # fmt: skip
    assert to_move < to_compute


def test_the_first_and_the_last_product_and_cublas_reach_these_shares():
    frame = records.measured(H200.name, GEMM.name)
    best = records.fastest(frame[frame["n"] == SIZE], ("step",)).set_index("step")
    naive, last = (100 * best.loc[step, "efficiency"] for step in ("naive", "autotuned"))
    says("takes the float32 product of two {}×{} matrices from {:.1f} % of a GPU's peak speed to "
         "{:.1f} %", SIZE, SIZE, naive, last)  # fmt: skip
    says("At {} it reaches {:.1f} %", SIZE, naive)
    says("`autotuned`, the last step of the float32 product, reaches {:.1f} % at {}", last, SIZE)
    library = last / best.loc["autotuned", "library_ratio"]
    says("NVIDIA's own library, with {:.1f} % there", library)


def test_the_curve_of_products_has_one_scale():
    shown = ast.literal_eval(re.search(r"shown = (\[.*\])", code("cell-49"))[1])
    (axes,) = limits.curve_of_products(GEMM, shown).axes
    assert not axes.get_yticks().size
    words = [label.get_text() for label in axes.texts if label.get_visible()]
    assert "100 %" in words
    assert "GFLOP/s" not in words


def test_the_curve_ends_at_the_last_step_and_cublas_is_above_the_first_ones():
    assert GEMM.steps[-1].name == "autotuned"
    frame = records.measured(H200.name, GEMM.name)
    fastest = records.fastest(frame[frame["n"] == 4096], ("step",)).set_index("step")
    ratios = fastest["library_ratio"]
    assert ratios["naive"] == ratios[["naive", "tiled", "autotuned"]].min() < 1
    assert ratios["naive"] < ratios["tiled"] < 0.2
    assert ratios["autotuned"] > 0.95
    assert fastest.loc["autotuned", "gflops"] == fastest["gflops"].max()
