"""Check the figures and comparisons in lesson 07 against counts and records."""

import inspect
import re
import tomllib
from functools import cache, partial

import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels import LADDER
from gpu_xray import xray
from gpu_xray.widths import SHARED_LOADS
from labs.exercises import find as exercise
from tests import profiled, quotes
from utils import lessons as course
from utils.lessons import own_kernels
from utils.lessons.bounds import memory_of
from utils.lessons.edits import Edit, edited
from utils.lessons.lesson_07 import resource_bars, tiled_product
from utils.lessons.lesson_07.tile_sizes import SIZE, shares
from utils.lessons.profiler import most_frequent_wait, stalls
from utils.machine.devices import REFERENCE
from utils.machine.devices import find as device
from utils.machine.occupancy import WARP, limits_of
from utils.measuring import records, roofline
from utils.paths import DATA
from virtual_gpu import trace

NAIVE, TILED, TRANSPOSED, PADDED, DYNAMIC = (
    LADDER.step(name)
    for name in ("naive", "tiled", "tiled_transposed", "tiled_padded", "tiled_dynamic")
)
SHAPE = int(resource_bars.SHAPE)
TILE = TILED.variant().constants["TILE"]
OWN_TILE = exercise("tiling").starter.py_func.__globals__["TILE"]
PIECE = 64  # words of a piece of `reverse`
BANKS, WORD = 32, 4  # of shared memory: the number of banks, and the bytes of a word
SCHEDULERS = limits_of(device(REFERENCE).compute_capability).sub_partitions
says, explains = partial(quotes.says, "07"), quotes.explains
code = partial(quotes.code, "07")
times_of = cache(resource_bars.times_of)


@cache
def run_of(step):
    return course.watch(step)


@cache
def measured():
    return records.measured(REFERENCE, "gemm")


def recorded(step, shape="4096"):
    """Return the H200's time, regardless of what this machine has recorded."""
    return course.recorded_ms(step.variant(), shape, on=REFERENCE)


def without_barrier(number):
    broken = edited(TILED.file, Edit("cuda.syncthreads()", "pass", number))
    return course.watch(broken.STEP, "64").findings


def hot_loop(step):
    return xray(step.variant().kernel, step.signature, "sm_90").hot


def loads_in_machine_code(step):
    hot = hot_loop(step)
    return sum(one.name in SHARED_LOADS for one in hot.body) / hot.ffma


def instructions(step):
    hot = hot_loop(step)
    return len(hot.body) / hot.ffma


def square(side):
    return side, side


def test_tiles_let_threads_load_fewer_words():
    before, now = (run_of(one).totals["global_load_bytes"] for one in (NAIVE, TILED))
    says("With tiles of {}×{} the threads load {:.0f} times fewer words",
         *square(TILE), before / now)  # fmt: skip
    says("and {} threads use it, so the words that threads load become {:.0f} times fewer",
         TILE, before / now)  # fmt: skip
    says("Now with full warps, and with tiles of {}×{}.", *square(TILE))


def test_in_the_picture_four_threads_use_each_word_that_is_read_once():
    side, tile = tiled_product.SIDE, tiled_product.TILE
    says("In the picture the matrices have {}×{} words, and the block has {}×{} threads",
         *square(side), *square(tile))  # fmt: skip
    says("Watch one block of {}×{} threads", *square(tile))
    assert f"TILE={tile}" in code("movie")
    assert f"({tile}, {tile})" in code("movie")
    arrays = np.ones((3, side, side), np.float32)
    block_trace = trace(TILED.build(TILE=tile), (2, 2), (tile, tile), *arrays, blocks=1)
    words = block_trace.accesses.groupby(["array", "kind"])["words"].sum()
    assert words["a", "load"] == words["b", "load"] == tile * side
    assert words["sa", "load"] == words["sb", "load"]
    says("each word from global memory once, and {:.0f} threads read it from shared memory",
         words["sa", "load"] / words["a", "load"])  # fmt: skip
    alone = trace(NAIVE.variant().kernel, (2, 2), (tile, tile), *arrays, blocks=1)
    assert alone.accesses.set_index("array")["words"]["a"] == tile * words["a", "load"]


@cuda.jit
def reverse(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t]


@cuda.jit
def careless(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    out[cuda.grid(1)] = tile[63 - t]


def test_a_missing_barrier_in_the_tiny_kernel_is_a_race():
    x = np.arange(2 * PIECE, dtype=np.float32)
    out = np.zeros_like(x)
    assert trace(reverse, 2, PIECE, x, out).findings == ()
    np.testing.assert_array_equal(out.reshape(2, PIECE), x.reshape(2, PIECE)[:, ::-1])
    says("This kernel turns each piece of {} words around", PIECE)
    (finding,) = trace(careless, 2, PIECE, x, out).findings
    assert finding.kind == "race"
    reader, writer = map(int, re.findall(r"thread \((\d+)\)", finding.message))
    says("Thread {} reads the word that thread {} has stored", reader, writer)
    says("Without the barrier thread {} may read too early", reader)
    assert reader // WARP != writer // WARP


def test_naive_loads_a_word_of_each_matrix_for_a_multiply_add_in_good_requests():
    assert course.loads_per_multiply_add(run_of(NAIVE)) == 2
    assert course.loads_per_multiply_add(run_of(TILED), "shared") == 2
    lines, fewer = (course.cache_lines_per_multiply_add(run_of(one)) for one in (NAIVE, TILED))
    says("a warp loads {:.0f} per multiply-add. `tiled` loads {:.0f} times fewer cache lines",
         lines, lines / fewer)  # fmt: skip
    lanes = run_of(NAIVE).warp_access("b").addresses
    assert [at - lanes[0] for at in lanes] == [WORD * lane for lane in range(WARP)]
    says("the same word of `a`, and {} neighbours of `b`", len(lanes))
    assert len(set(run_of(NAIVE).warp_access("a").addresses)) == 1


def test_sectors_fall_by_less_than_the_words():
    sectors = [run_of(one).totals["global_load_sectors"] for one in (NAIVE, TILED)]
    per_request = [course.per_request(run_of(one), name)
                   for one in (NAIVE, TILED) for name in "ab"]  # fmt: skip
    one, four, *others = map(round, per_request)
    assert (sum(per_request[:2]) / (sum(others) / TILE)) == sectors[0] / sectors[1]
    sector = WARP * WORD // four
    says("But memory moves sectors of {} words", sector // WORD)
    assert sector == 32
    explains("07.sectors", """
        Per multiply-add of a warp naive needs {} + {} = {} sectors: one word of a, {} neighbours
        of b. A warp of tiled loads {} neighbours of both, {} + {} = {} sectors, for {}
        multiply-adds: {} ÷ ({} ÷ {}) = {:.0f}.""",
        one, four, one + four, WARP, WARP, *others, sum(others), TILE,
        one + four, sum(others), TILE, sectors[0] / sectors[1])  # fmt: skip


def test_the_times_of_naive_and_tiled_and_their_estimates():
    naive, tiled = times_of(NAIVE), times_of(TILED)
    assert (naive.recorded, tiled.recorded) == (recorded(NAIVE), recorded(TILED))
    says("An H200 multiplied matrices of {}×{} with both kernels, and `naive` took {:.2f} ms",
         *square(SHAPE), naive.recorded)  # fmt: skip
    says("`tiled` takes {:.2f} ms. **How many", tiled.recorded)
    says("needs only {:.1f} of the {:.2f} ms if the L1 cache", naive.memory, naive.recorded)
    says("the wavefronts take {:.1f} ms, and took {:.1f} ms", tiled.wavefronts, naive.wavefronts)
    says("In <code>naive</code> the instructions take as long, {:.1f} ms", naive.instructions)
    says("at the {:.1f} TB/s that the benchmark `l2_read` of this course reached on the H200",
         roofline.gpu_ceilings(device(REFERENCE)).gb_per_s["L2"] / 1000)  # fmt: skip
    block = NAIVE.variant().launch(LADDER.parse(resource_bars.SHAPE)).block
    says("have {}×{} threads and share less than blocks of {}×{}, so <code>tiled</code> would move "
         "{:.1f} times fewer bytes",
         *block, *square(TILE), naive.memory / tiled.memory)  # fmt: skip
    counted = [profiled.counted(one) for one in ("naive", "tiled TILE=32")]
    from_l2 = [32 * one["l2_read_sectors"] / 1e9 for one in counted]
    read = [one["dram_read_bytes"] / 1e9 for one in counted]
    says("The profiler counts {:.1f} GB in <code>naive</code> and {:.1f} GB in <code>tiled</code>, "
         "which is {:.1f} times fewer. From the memory behind it <code>tiled</code> even reads "
         "more: {:.1f} GB instead of {:.1f}.", *from_l2, from_l2[0] / from_l2[1],
         *reversed(read))  # fmt: skip
    longest = [max(one.memory, one.wavefronts, one.instructions) for one in (naive, tiled)]
    ratio = naive.recorded / tiled.recorded
    says("The longest estimate falls by a factor of {:.2f}, and the recorded time by {:.2f}",
         longest[0] / longest[1], ratio)  # fmt: skip
    says("{:.1f} ms in <code>naive</code> and {:.1f} ms in <code>tiled</code>",
         naive.recorded - longest[0], tiled.recorded - longest[1])  # fmt: skip
    explains("07.faster", """
        Recorded are {:.2f} and {:.2f} ms: {:.2f} ÷ {:.2f} = {:.2f}.
        If the L1 cache keeps what a block shares, the memory that tiles spare was busy for only
        {:.1f} ms.""",
        *2 * (naive.recorded, tiled.recorded), ratio, naive.memory)  # fmt: skip
    assert 1 < ratio < 2


def test_the_profiler_saw_what_the_warps_of_both_kernels_wait_for():
    naive, tiled = stalls(NAIVE), stalls(TILED)
    assert [most_frequent_wait(one)[0] for one in (NAIVE, TILED)] == ["long_sb", "mio"]
    says("for a load from global memory in {:.0f} % of its samples, and in <code>tiled</code> in "
         "{:.0f} %", 100 * naive["long_sb"], 100 * tiled["long_sb"])  # fmt: skip
    says("for a place in the queue to shared memory, in {:.0f} %, and at a barrier in {:.0f} %",
         100 * tiled["mio"], 100 * tiled["barrier"])  # fmt: skip


def test_the_readers_kernel_and_the_courses_have_the_tiles_of_the_task():
    says("Yours and the course's have tiles of {}×{} here", *square(OWN_TILE))
    says("In your own kernel the tiles have {}×{} words, and a warp is two rows of {} threads",
         *square(OWN_TILE), WARP // 2)  # fmt: skip
    assert WARP // OWN_TILE == 2


def test_the_solution_stores_zeros_first_and_so_takes_more_wavefronts():
    mine = own_kernels.of_text("tiling", exercise("tiling").solution_text)
    its, ours = (memory_of(one, "4096").wavefronts
                 for one in (mine, TILED.variant(TILE=OWN_TILE)))  # fmt: skip
    assert its > ours


def test_a_row_of_a_tile_is_in_all_banks_and_a_column_in_one():
    says("Shared memory has {} **banks**, each {} bytes wide: word w is in bank w modulo {}",
         BANKS, WORD, BANKS)  # fmt: skip
    says("The second sitting begins here. All tiles have {}×{} words", *square(TILE))
    lanes = run_of(TILED).warp_access("sb").addresses
    says("A warp of `tiled` has {} neighbouring `tx` and one `ty`", len(lanes))
    says("its lanes want {} neighbours, in {} banks",
         len(set(lanes)), len({at // WORD % BANKS for at in lanes}))  # fmt: skip
    for name in ("sa", "sb"):
        assert course.per_request(run_of(TILED), name, "wavefronts") == 1
    lanes = run_of(TRANSPOSED).warp_access("sb").addresses
    says("Lane `tx` reads word {} · `tx` + `i`", (lanes[1] - lanes[0]) // WORD)
    assert len({at // WORD % BANKS for at in lanes}) == 1
    says("So the read takes {:.0f} wavefronts",
         course.per_request(run_of(TRANSPOSED), "sb", "wavefronts"))  # fmt: skip
    for what in ("global_load_requests", "global_load_sectors", "global_store_sectors"):
        assert run_of(TRANSPOSED).totals[what] == run_of(TILED).totals[what]


def test_a_small_transposed_tile_has_two_banks():
    side = OWN_TILE
    says("take with tiles of {}×{}?**", *square(side))
    assert f"TILE={side}" in code("reveal-wavefronts")
    ones = np.ones((3, 2 * side, 2 * side), np.float32)
    seen = trace(TRANSPOSED.build(TILE=side), (2, 2), (side, side), *ones)
    lanes = [at // WORD for at in seen.warp_access("sb").addresses]
    assert lanes[:side] == lanes[side:]
    first, second = sorted({word % BANKS for word in lanes})
    words = [sum(word % BANKS == bank for word in set(lanes)) for bank in (first, second)]
    wavefronts = course.per_request(seen, "sb", "wavefronts")
    assert words == [wavefronts, wavefronts]
    explains("07.wavefronts", """
        Lane tx wants word {} · tx + i, and both rows of the warp want the same {} words.
        They are in two banks, {} apart, and each bank has {} of them: {:.0f} wavefronts.""",
        lanes[1] - lanes[0], len(set(lanes)), second - first, words[0], wavefronts)  # fmt: skip


def test_the_source_asks_for_more_wavefronts_than_the_machine_code():
    source, of_transposed = (
        course.wavefronts_per_multiply_add(run_of(one)) for one in (TILED, TRANSPOSED)
    )
    says("Back to tiles of {}×{}. The source code of `tiled` needs {:.2f} wavefronts",
         *square(TILE), source)  # fmt: skip
    says("With the transposed tile it needs {:.0f}.", of_transposed)
    stores = run_of(TILED).totals["shared_store_wavefronts"] * 2 * WARP
    assert source - 2 == pytest.approx(stores / run_of(TILED).totals["float32_ops"])


@pytest.mark.slow
def test_the_machine_code_has_joined_reads(compiler):
    assert loads_in_machine_code(TILED) == 1.25
    assert loads_in_machine_code(TRANSPOSED) == 0.5
    assert loads_in_machine_code(DYNAMIC) == 2
    loads = xray(TILED.variant().kernel, TILED.signature, "sm_90").loads
    assert (loads["LDS.128"], loads["LDS.32"]) == (TILE // 4, TILE)
    joined = xray(TRANSPOSED.variant().kernel, TRANSPOSED.signature, "sm_90").loads
    assert joined["LDS.128"] == 2 * TILE // 4
    assert "LDS.32" not in joined
    says("joins four such reads to one load of {} bits", 4 * 8 * WORD)


def test_joined_reads_of_a_column_conflict_for_four_words_at_once():
    lanes = [at // WORD for at in run_of(TRANSPOSED).warp_access("sb").addresses]
    banks = {}
    for word in lanes:
        for at in range(word, word + 4):
            banks.setdefault(at % BANKS, set()).add(at)
    assert len(banks) == 4
    (words,) = {len(one) for one in banks.values()}
    says("the words {} · <code>tx</code> + <code>i</code> to <code>i</code> + {}, so four banks "
         "have {} words each", lanes[1] - lanes[0], max(banks), words)  # fmt: skip
    says("One <code>LDS.128</code> of <code>sb</code> takes {} wavefronts", words)
    per_word = words // 4
    says("That is {} per multiply-add", per_word)
    tiled, transposed = map(course.profiled_wavefronts, (TILED, TRANSPOSED))
    of_stores = 2 / TILE
    joined = 4 * (tiled - 1 - of_stores)  # what is left belongs to sa
    says("One of <code>sa</code> takes {:.0f}, or {:.1f} per multiply-add", joined, joined / 4)
    assert len(set(run_of(TRANSPOSED).warp_access("sa").addresses)) == 1
    says("serves at most {:.0f} lanes at a time", WARP / joined)
    store = course.per_request(run_of(TRANSPOSED), "sb", "wavefronts", "store")
    says("takes {:.0f} wavefronts for {} multiply-adds, so {:.0f} for each", store, TILE,
         store / TILE)  # fmt: skip
    assert transposed == pytest.approx(per_word + joined / 4 + store / TILE + 1 / TILE)
    says("counted on the GPU itself: {:.2f} wavefronts, and {:.2f} for", transposed, tiled)
    times = recorded(TRANSPOSED), recorded(TILED)
    explains("07.slower", """
        LDS.128 of sb brings four words in {} wavefronts: {} per multiply-add. With all else
        {:.2f} instead of {:.2f}.
        Recorded are {:.2f} and {:.2f} ms: {:.2f} ÷ {:.2f} = {:.2f}.""".replace("LDS.128", "{}"),
        "LDS.128", words, per_word, transposed, tiled, *2 * times, times[0] / times[1])  # fmt: skip
    assert 2 < times[0] / times[1] < 8
    assert 0.95 < times_of(TRANSPOSED).wavefronts / times[0] < 1


def test_the_bar_of_the_transposed_kernel_takes_the_mean_of_both_reads():
    reads = [course.per_request(run_of(TRANSPOSED), name, "wavefronts") for name in ("sa", "sb")]
    tiled, transposed = times_of(TILED).wavefronts, times_of(TRANSPOSED).wavefronts
    # The bar of `tiled` has the profiler's wavefronts, and 2 loads from global memory per tile row.
    of_bar = (course.profiled_wavefronts(TILED) + 2 / TILE) * transposed / tiled
    says("The bar has {:.2f}, a little less: it takes the mean of the two reads, {:.1f} wavefronts",
         of_bar, sum(reads) / 2)  # fmt: skip


@pytest.mark.slow
def test_the_slowest_kernel_has_the_fewest_instructions(compiler):
    others = (NAIVE, TILED, PADDED, DYNAMIC)
    assert all(instructions(TRANSPOSED) < instructions(one) for one in others)
    assert all(recorded(TRANSPOSED) > recorded(one) for one in others)


@pytest.mark.slow
def test_rows_of_an_odd_length_undo_the_joined_reads(compiler):
    assert loads_in_machine_code(PADDED) == loads_in_machine_code(TILED)
    loads = xray(PADDED.variant().kernel, PADDED.signature, "sm_90").loads
    assert (loads["LDS.128"], loads["LDS.32"]) == (TILE // 4, TILE)
    lanes = run_of(PADDED).warp_access("sb").addresses
    apart, wide = lanes[1] - lanes[0], 4 * WORD
    assert apart % wide
    says("a multiple of {} bytes, but rows of {} words are {} bytes apart",
         wide, apart // WORD, apart)  # fmt: skip


def test_both_cures_are_equally_fast():
    assert recorded(PADDED) == pytest.approx(recorded(TILED), rel=0.01)
    assert course.per_request(run_of(PADDED), "sb", "wavefronts") == 1
    rows = measured().set_index(["step", "m"])["shared_bytes"]
    says("It costs {:.0f} bytes of shared memory per block",
         rows["tiled_padded", SHAPE].max() - rows["tiled", SHAPE].max())  # fmt: skip


@pytest.mark.slow
def test_rows_of_four_words_more_keep_the_joined_reads(compiler):
    step = edited(PADDED.file, Edit("TILE + 1", "TILE + 4")).STEP
    assert hot_loop(step).ffma == TILE
    assert loads_in_machine_code(step) == loads_in_machine_code(TRANSPOSED)
    lanes = [at // WORD for at in course.watch(step, "64").warp_access("sb").addresses]
    apart, at_a_time = lanes[1] - lanes[0], BANKS // 4
    says("Rows of {} words are {} bytes apart, a multiple of {}",
         apart, WORD * apart, 4 * WORD)  # fmt: skip
    assert WORD * apart % (4 * WORD) == 0
    says("a multiply-add takes {:.2f} instructions, as in", instructions(step))
    assert instructions(step) == instructions(TRANSPOSED)
    quarters = [lanes[at : at + at_a_time] for at in range(0, WARP, at_a_time)]
    banks = [{(word + z) % BANKS for word in one for z in range(4)} for one in quarters]
    says("and their {} words are in {} banks: {} wavefronts, so {:.0f} per multiply-add",
         4 * at_a_time, *{len(one) for one in banks}, len(banks), len(banks) / 4)  # fmt: skip
    assert len(banks) / 4 == course.per_request(run_of(TILED), "sb", "wavefronts")


@cuda.jit
def down_a_column(out, pitch):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t * pitch] = float32(t)
    out[t] = tile[t * pitch]


@pytest.mark.parametrize("pitch", range(28, 41))
def test_rows_of_odd_length_are_free_of_conflicts(pitch):
    out = np.zeros(WARP, np.float32)
    result = trace(down_a_column, 1, WARP, out, pitch, shared_bytes=WORD * WARP * pitch)
    assert (course.per_request(result, "tile", "wavefronts") == 1) == (pitch % 2 == 1)
    says("an odd step meets all {} banks before it comes back", BANKS)


def test_dynamic_shared_memory_reads_what_the_source_says():
    source = course.wavefronts_per_multiply_add(run_of(DYNAMIC))
    assert course.profiled_wavefronts(DYNAMIC) == pytest.approx(source, abs=0.005)
    says("With tiles of {}×{}, both kernels do the same work", *square(TILE))
    tiled, dynamic = times_of(TILED), times_of(DYNAMIC)
    says("The wavefronts grow by a factor of {:.2f}, and the time by {:.2f}",
         dynamic.wavefronts / tiled.wavefronts, dynamic.recorded / tiled.recorded)  # fmt: skip


def test_one_dynamic_kernel_takes_its_tile_from_the_launch():
    a, b, c = np.ones((3, 64, 64), np.float32)
    DYNAMIC.build(TILE=16)[(4, 4), (16, 16), 0, 2 * 16 * 16 * 4](a, b, c)
    assert (c == 64).all()
    zero = re.search(r"shared\.array\((\d+), float32\)", inspect.getsource(DYNAMIC.file))[1]
    says("An array of size {} is *dynamic*", zero)
    side = re.search(r"TILE=(\d+)", code("launch-dynamic"))[1]
    assert f"({side}, {side})" in code("launch-dynamic")
    says("This launch chooses tiles of {}×{}", *square(side))


def test_published_and_measured_shares_agree_with_the_prose():
    bars = shares(records.published("gemm_gpu"), measured())
    *older, _ = bars
    assert len(older) == 3
    source = records.published("gemm_gpu").query("kernel == 'shared'")["source"].unique().item()
    sources = tomllib.loads((DATA / "sources.toml").read_text(encoding="utf-8")).values()
    (year,) = (one["year"] for one in sources if one["file"] == source)
    says("A course of {} published the same product on three GPUs, at {}", year, SIZE)
    small, *others = (8, 16, 32)
    for each in bars.values():
        first, *larger = (each[f"tile {tile}"] for tile in (small, *others))
        assert first < min(larger)
        assert abs(larger[0] - larger[1]) < 1
    says("tiles of {} are the slowest of the tile sizes, and tiles of {} and {} are nearly alike",
         small, *others)  # fmt: skip
    c2070, h200 = bars["C2070, 2012"], list(bars.values())[-1]
    gains = [max(each.values()) / each["naive"] for each in (c2070, h200)]
    says("On the H200 tiles of {} even lose to `naive`: they reach {:.1f} % of the peak, and "
         "`naive` {:.1f} %", small, h200[f"tile {small}"], h200["naive"])  # fmt: skip
    says("made the product {:.2f} times faster, and on the H200 only {:.2f} times", *gains)


def test_tiles_and_conflicts_have_their_factors_at_every_size():
    cubes = measured()[(measured()["m"] == measured()["n"]) & (measured()["n"] == measured()["k"])]
    best = cubes.groupby(["step", "m"])["time_ms"].min()
    assert len(best["tiled"]) == 6
    assert (best["naive"] / best["tiled"]).between(1, 2).all()
    fastest = cubes[cubes["step"] == "tiled"].sort_values("time_ms").groupby("m")["params"].first()
    small, large = "TILE=16", "TILE=32"
    few = [size for size, params in fastest.items() if params == small]
    assert set(fastest) == {small, large}
    says("for `tiled` that is {}×{} at {} and {}, and {}×{} at the sizes between",
         *square(small[5:]), *few, *square(large[5:]))  # fmt: skip
    assert few == [fastest.index.min(), fastest.index.max()]
    same = cubes[cubes["params"] == large].set_index(["step", "m"])["time_ms"]
    first, *larger = same["tiled_transposed"] / same["tiled"]
    says("With tiles of {}×{} on both sides, the bank conflicts cost a factor of {:.2f} at {}, and "
         "between {:.1f} and {:.1f} from {} on",
         *square(large[5:]), first, few[0], min(larger), max(larger),
         sorted(fastest.index)[1])  # fmt: skip
    slower = best["tiled_dynamic"] > best["naive"]
    says("`tiled_dynamic` is slower than `naive` at {}, {} and {}", *slower[slower].index)


def test_shared_memory_is_the_limit_that_is_named():
    wavefronts = course.profiled_wavefronts(TILED)
    assert SCHEDULERS == 4
    says("`tiled` needs {:.2f} of them per multiply-add", wavefronts)
    one, percent = 1, 100 / (SCHEDULERS * wavefronts)
    says("reaches at most {} ÷ ({} · {:.2f}) = {:.0f} % of the peak, and it does reach {:.1f} %",
         one, SCHEDULERS, wavefronts, percent,
         100 * course.share_of_peak(TILED, on=REFERENCE))  # fmt: skip
