"""Check the claims of lesson 04 against counts of the virtual GPU, records and sources."""

import math
import re
from functools import partial

import numpy as np
import pytest
from numba import cuda

from gemm_kernels import LADDER
from gemm_kernels.naive import naive
from gemm_kernels.overlap import PARTS, recorded_times
from labs import EXERCISES
from tests import quotes
from utils import lessons as course
from utils.division import cdiv
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.lessons.lesson_04 import overlap, transfers
from utils.lessons.lesson_04 import published_speed_up as speed_up
from utils.lessons.lesson_04.transfers import SIZES, transfer_ms, transfer_times
from utils.machine import devices
from utils.machine.devices import KIB
from utils.measuring import records
from virtual_gpu import counting_transfers, installed

# The figures are those of the course's own records.
RECORDED = devices.REFERENCE
WALL, KERNEL, TEN = "WHAT=wall", "WHAT=kernel", "ten_products"
SHAPE = GemmShape(2000, 600, 2000)
SIZE = SHAPE.m, SHAPE.n, SHAPE.k
SLICED = recorded_times()
PAGEABLE, PINNED = (f"{memory} STREAMS=1 SLICES=1" for memory in ("pageable", "pinned"))
MOST_SLICES, CALLS = max(overlap.SLICES), 2 * len(PARTS) + 1  # two copies, a launch, events
# NVIDIA's data sheet of the H200: the generation, and GB/s in both directions together.
PCI_EXPRESS, LISTED_BUS = 5, 128
says = partial(quotes.says, "04")
explains = quotes.explains


@pytest.fixture(autouse=True)
def of_the_reference(monkeypatch):
    monkeypatch.setattr(transfers, "_device", lambda: RECORDED)


def megabytes(*elements: int) -> float:
    return sum(elements) * FLOAT32_BYTES / 1e6


def arrays_mb() -> tuple[float, float, float]:
    """Return the megabytes of a, b and c of the lesson's product."""
    m, n, k = SIZE
    return megabytes(m * k), megabytes(k * n), megabytes(m * n)


def published(table: str, **where):
    """Return the rows of a published table whose columns contain these words."""
    frame = records.published(table)
    for column, words in where.items():
        frame = frame[frame[column].str.contains(words, na=False)]
    return frame


def parts_of_one() -> dict[str, float]:
    """Return the recorded times in ms of the parts of one product from pageable memory."""
    rows = overlap.of_way(SLICED, PAGEABLE, SHAPE.m)
    return {row.part: row.time_ms for row in rows}


# ------------------------------------------------------------------------- the published speed-up


def test_the_published_fraction_compares_different_work():
    printed, right = speed_up.printed(), speed_up.repaired()
    debug, optimised = (
        speed_up.cpu_ms(build) for build in (speed_up.CPU_DEBUG, speed_up.CPU_OPTIMISED)
    )
    says("A source says that a GPU is {:.0f} times as fast as a CPU", printed.times)
    says("which shows where the time goes | {:.0f} | | one product on the CPU, optimised | {:.0f} "
         "| | the kernel of one product | {:.1f} | | the copies of one product | {:.1f} | | the "
         "copies of ten products | {:.1f} |", debug, optimised, right.kernel, right.copies,
         10 * right.copies)  # fmt: skip
    assert printed.gpu == int(printed.kernel + printed.copies)
    says("It rounds its time of the GPU down to {:.0f} ms, and this is neither", printed.gpu)
    says("The {} ms are the kernel of *one* product and the copies of *ten*. And {:.0f} ms are not",
         printed.gpu, debug)  # fmt: skip
    assert "ten products" in published("transfers", note="naive run")["note"].iloc[0]
    explains(
        "04.fair",
        """The optimised CPU, {:.0f} ms, divided by one kernel and its copies, {:.1f} + {:.1f} =
        {} ms: {:.0f} ÷ {} = {:.0f}. With the right copies alone it is {:.0f} ÷ {} = {:.0f}.""",
        optimised, right.kernel, right.copies, right.gpu, right.cpu, right.gpu, right.times, debug,
        right.gpu, debug / right.gpu,
    )  # fmt: skip
    assert right.times < printed.times < debug / right.gpu  # in opposite directions


def test_a_launch_copies_three_arrays_in_both_directions():
    a, b = np.ones((48, 20), np.float32), np.ones((20, 80), np.float32)
    rows = transfers.copies(EXERCISES["to_the_gpu_and_back"].starter, naive, a, b).rows
    to_device, to_host = (
        sum(int(row[3]) for row in rows[:-1] if row[1] == direction)
        for direction in transfers.DIRECTIONS.values()
    )
    assert int(rows[-1][3]) == to_device + to_host
    explains(
        "04.copies",
        """Numba does not know what a kernel reads or writes. So it copies {} arrays to the device
        before the launch, and all {} back after it.""",
        to_device, to_host,
    )  # fmt: skip


# ------------------------------------------------------------------------------- one product


def test_one_product_became_less_fast_than_its_kernel():
    parts, source, size = parts_of_one(), speed_up.repaired(), sum(arrays_mb())
    copies = parts["copy_b"] + parts["copy_in"] + parts["copy_out"]
    rate, kernel, whole = round(size / copies), round(parts["kernel"], 2), parts["product"]
    says("We recorded one product of the source's size, {}×{}×{}, on an H200. These are m, n and "
         "k, and the three arrays together have {:.1f} MB.", *SIZE, size)  # fmt: skip
    says("It takes {} ms, where the kernel of the source took {:.0f} times as long. The bus moves "
         "about {} GB/s", kernel, source.kernel / kernel, rate)  # fmt: skip
    says("In the source, one product took {} ms with its copies", source.gpu)
    moved = round(size / rate, 2)
    explains(
        "04.whole",
        """{:.1f} MB ÷ {} GB/s = {} ms, and with the kernel {} + {} = {:.2f} ms. {} ÷ {:.2f} =
        {:.1f}. Only the kernel became {:.0f} times as fast, and the copies take {:.0f} % of the
        time now.""",
        size, rate, moved, moved, kernel, moved + kernel, source.gpu, whole, source.gpu / whole,
        source.kernel / kernel, 100 * copies / whole,
    )  # fmt: skip
    assert whole == pytest.approx(moved + kernel, rel=0.01)


def test_new_device_memory_takes_about_the_same_time_for_both_memories():
    new = [transfer_ms(TEN, f"MEMORY={one} COPIES=each") / 10 for one in ("pageable", "pinned")]
    kept = [overlap.whole_ms(SLICED, way, SHAPE.m) for way in (PAGEABLE, PINNED)]
    says("took {:.2f} ms each from pageable and {:.2f} ms each from pinned memory", *new)
    more = [one - other for one, other in zip(new, kept, strict=True)]
    says("and a product takes {:.2f} and {:.2f} ms: {:.2f} and {:.2f} ms less", *kept, *more)
    assert more[0] == pytest.approx(more[1], rel=0.1)  # "nearly the same"
    alone = transfer_ms("part", "PART=allocate")
    says("Three new arrays alone took {:.2f} ms in another record, which is a third", alone)
    assert alone == pytest.approx(sum(more) / 6, rel=0.05)


def rates(step: str, direction: str) -> list[float]:
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & frame["params"].str.endswith(direction)]
    return rows.sort_values("elements")["gb_per_s"].tolist()


def test_a_small_copy_has_a_low_rate():
    frame = transfers.recorded_transfers()
    sizes = FLOAT32_BYTES * frame.loc[frame["step"] == "pinned", "elements"]
    (in_rates, out_rates) = (rates("pinned", one) for one in ("to_device", "to_host"))
    says("from pinned memory the rate at {:.0f} MiB is {:.0f} times the rate at {:.0f} KiB to the "
         "device, and {:.0f} times to the host", sizes.max() / KIB**2, in_rates[-1] / in_rates[0],
         sizes.min() / KIB, out_rates[-1] / out_rates[0])  # fmt: skip
    each_way = LISTED_BUS / 2
    says("lists {} GB/s for this bus, PCI Express {}, in both directions together, so {:.0f} GB/s "
         "in each. From pinned memory {:.0f} MiB go to the device at {:.0f} % of that", LISTED_BUS,
         PCI_EXPRESS, each_way, sizes.max() / KIB**2, 100 * in_rates[-1] / each_way)  # fmt: skip
    assert in_rates == sorted(in_rates)
    assert out_rates == sorted(out_rates)


def rate_at(step: str, mib: float, direction: str) -> float:
    """Return the recorded GB/s of a copy of this many MiB."""
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & (frame["elements"] == mib * KIB**2 / FLOAT32_BYTES)]
    (rate,) = rows.loc[rows["params"].str.endswith(direction), "gb_per_s"]
    return float(rate)


def test_two_rates_of_copies_that_the_lesson_does_not_explain():
    sizes, small = (16, 64), 64  # MiB, KiB
    some, more = (rate_at("pageable", mib, "to_device") for mib in sizes)
    says("Pageable memory is copied to the device at {:.0f} GB/s if it has {} MiB, and at {:.0f} "
         "GB/s if it has {} MiB.", some, sizes[0], more, sizes[1])  # fmt: skip
    to_host, to_device = (rate_at("pinned", small / KIB, way) for way in ("to_host", "to_device"))
    says("a pinned copy of {} KiB is {:.0f} times as fast to the host as to the device", small,
         to_host / to_device)  # fmt: skip


# ------------------------------------------------------------------------------- ten products


def test_copies_for_all_ten_products_are_better_than_for_each():
    each, once = (transfer_ms(TEN, f"MEMORY=pageable COPIES={how}") for how in ("each", "once"))
    kernels = transfer_ms(TEN, KERNEL)
    says("We recorded ten products of {}×{}×{} in these ways", *SIZE)
    says("With three copies for each product they take {:.1f} ms, and {:.0f} ms of it are no "
         "kernels. With three copies in all, only {:.1f} ms are left of these.", each,
         each - kernels, once - kernels)  # fmt: skip
    says("A kernel takes {:.2f} ms here, and {:.2f} ms above", kernels / 10,
         parts_of_one()["kernel"])  # fmt: skip


def test_the_gpu_is_faster_by_three_different_factors():
    gpu = transfer_ms(TEN, "MEMORY=pageable COPIES=each")
    rivals = ("cpu_naive", "cpu_naive_parallel", "cpu_parallel")
    one, many, best = (10 * transfer_ms(rival, "THREADS") / gpu for rival in rivals)
    threads = transfers.cpu_threads()
    a, b = np.ones((48, 20), np.float32), np.ones((20, 80), np.float32)
    made = int(transfers.copies(EXERCISES["copy_once"].starter, naive, a, b).rows[-1][3])
    says("The GPU with {} copies is {:.0f} times as fast as naive loops on one thread, {:.0f} "
         "times as fast as these loops on {} threads, and {:.1f} times as fast as our best product "
         "on {} threads.", made, one, many, threads, best, threads)  # fmt: skip
    source, own = speed_up.cpu_ms(speed_up.CPU_OPTIMISED), transfer_ms(rivals[0], "THREADS")
    says("takes {:.0f} ms for {}·{}·{}·{} = {:.1f} billion floating-point operations, which is "
         "{:.1f} GFLOP/s. Our naive loops on one thread take {:.0f} ms", source,
         SHAPE.flops // math.prod(SIZE), *SIZE,
         SHAPE.flops / 1e9, SHAPE.flops / source / 1e6, own)  # fmt: skip
    says("{:.0f} ms is hardly the best that the CPU of the source can do, and {:.0f} is probably",
         source, speed_up.repaired().times)  # fmt: skip
    assert own < source
    says("Back to the {:.0f}", speed_up.repaired().times)
    drawn = transfers.draw_ten_products().alt
    assert f"{made} copies" in drawn
    assert f"{2 * made} copies by the launches" in drawn


def with_copies(n: int) -> float:
    return transfer_ms("product_with_copies", WALL, str(n))


def numpy_gflops(n: int) -> float:
    return GemmShape(n, n, n).flops / transfer_ms("product_numpy", "THREADS=1", str(n)) / 1e6


def test_the_gpu_passes_one_thread_at_512_and_all_threads_at_2048():
    size, small = transfers.first_size_of_gpu("product_numpy", "THREADS=1"), 128
    before, rate = size // 2, 100
    assert all(0.95 < numpy_gflops(n) / rate < 1.25 for n in SIZES if n <= size)
    says("with about {} GFLOP/s for small n. The GPU takes about {:.1f} ms with its copies at n = "
         "{}", round(numpy_gflops(before) / 10) * 10, with_copies(small), small)  # fmt: skip
    says("The GPU passes all {} threads only at n = {}", transfers.cpu_threads(),
         transfers.first_size_of_gpu("cpu_parallel"))  # fmt: skip
    explains(
        "04.size",
        """At n = {} the CPU takes {}·{}³ ÷ {} GFLOP/s = {:.2f} ms, less than the {:.1f} ms of the
        GPU at {}. At n = {} the CPU takes eight times as long, and the GPU does not: recorded are
        {:.2f} and {:.2f} ms.""",
        before, 2, before, rate, 2 * before**3 / rate / 1e6, with_copies(small), small, size,
        transfer_ms("product_numpy", "", str(size)), with_copies(size),
    )  # fmt: skip


def test_times_of_the_cpu_climb_more_steeply():
    def growth(step, params):
        return transfer_ms(step, params, "2048") / transfer_ms(step, params, "512")

    gpu = growth("product_with_copies", WALL)
    assert gpu < growth("product_numpy", "")
    assert gpu < growth("cpu_parallel", "")
    small = [with_copies(n) for n in SIZES if n <= 256]
    assert max(small) == small[0]  # "does not climb"
    says("why n = {} took longer than {}", *SIZES[:2])


def test_a_small_product_is_mostly_the_start_of_copies_and_kernel():
    starts = 2 * rates_ms("pageable", "to_device") + rates_ms("pageable", "to_host")
    assert starts + transfer_ms("product_with_copies", KERNEL, "128") > 0.8 * with_copies(128)


def rates_ms(step: str, direction: str) -> float:
    """Return the time in ms of the smallest recorded copy."""
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & frame["params"].str.endswith(direction)]
    return float(rows.sort_values("elements")["time_ms"].iloc[0])


# ----------------------------------------------------------------------------------- slices


def test_the_formula_is_near_the_record_with_many_rows():
    formula = EXERCISES["sliced_time"].solution
    ways = {n: overlap.sliced_way(n) for n in overlap.SLICES}
    off = [
        1 - overlap.estimate_ms(SLICED, formula, n) / overlap.whole_ms(SLICED, way)
        for n, way in ways.items()
    ]
    assert min(off) > 0
    says("The formula is at most {:.0f} % below the record", 100 * max(off))
    says("with eight times as many rows, {}, from pinned memory", overlap.ROWS)
    assert overlap.ROWS == 8 * overlap.FEW_ROWS == 8 * SHAPE.m


def test_slices_of_a_small_product_take_longer_than_it_does():
    formula = EXERCISES["sliced_time"].solution
    few = {n: overlap.whole_ms(SLICED, overlap.sliced_way(n), SHAPE.m) for n in overlap.SLICES}
    launch = 1000 * course.recorded_series("naive", 256, "launch").time_ms
    guess = overlap.estimate_ms(SLICED, formula, MOST_SLICES, SHAPE.m)
    says("with {} rows. From pinned memory it takes {:.2f} ms in one slice, and the formula gives "
         "{:.2f} ms for {} slices", SHAPE.m, few[1], guess, MOST_SLICES)  # fmt: skip
    says("In lesson 01 a small launch took {:.1f} us of the host's time", launch)
    says("How long does the product take in {} slices", MOST_SLICES)
    says("the host makes seven calls in our record: two copies, a launch, and four events")
    assert CALLS == 7
    calls = CALLS * MOST_SLICES
    explains(
        "04.slices",
        """{} slices take {} calls of the host. At {:.1f} us each they take {:.2f} ms, more than
        the {:.2f} ms of the GPU. Recorded: {:.2f} ms.""",
        MOST_SLICES, calls, launch, calls * launch / 1000, guess, few[MOST_SLICES],
    )  # fmt: skip
    assert few[MOST_SLICES] > 2 * few[1]
    without_events = len(PARTS) * MOST_SLICES
    least = without_events * launch / 1000
    says("Without the events there are {} calls, and the same estimate gives {:.2f} ms, still more "
         "than the {:.2f} ms of the GPU", without_events, least, guess)  # fmt: skip
    assert least > guess
    assert min(few, key=few.get) == 4  # "four slices are the best"
    says("With {} rows each slice keeps the GPU busy for long enough. With {} rows four slices are "
         "the best that we recorded, and they save {:.0f} %", overlap.ROWS, SHAPE.m,
         100 * (1 - few[4] / few[1]))  # fmt: skip


# ----------------------------------------------------------------------------- managed memory


def test_managed_kernels_wait_for_pages_on_the_host_only():
    managed, fill = "product_managed", transfer_ms("product_born_on_gpu", "WHAT=fill")
    copied = transfer_ms("product_with_copies", KERNEL)
    first = transfer_ms(managed, f"{KERNEL} TOUCH=first")
    again = transfer_ms(managed, f"{KERNEL} TOUCH=second")
    a, b, c = arrays_mb()
    assert b == c
    large, small = rate_of("managed", 2**22), rate_of("managed", 2**20)
    says("We recorded the kernel of such a product, at {}×{}×{}", *SIZE)
    says("On copied arrays the same record has {:.2f} ms for this kernel. Now it has to wait for "
         "the pages: {:.1f} MB of `a`, and {:.1f} MB each of `b` and `c`.", copied, a,
         b)  # fmt: skip
    says("In another record the pages of an array of {:.1f} MB came at {:.1f} GB/s when a kernel "
         "touched them, and those of {:.1f} MB at {:.1f} GB/s.", megabytes(2**22), large,
         megabytes(2**20), small)  # fmt: skip
    large, small = round(large, 1), round(small, 1)
    waits = round(a / large, 1), round((b + c) / small, 1)
    explains(
        "04.managed",
        """{:.1f} MB ÷ {} GB/s = {} ms, {:.1f} MB ÷ {} GB/s = {} ms, and the kernel {:.1f} ms:
        {:.1f} ms. Recorded: {:.1f} ms.""",
        a, large, waits[0], b + c, small, waits[1], copied, sum(waits) + round(copied, 1), first,
    )  # fmt: skip
    says("the same kernel takes {:.1f} ms longer", first - copied)
    copies = sum(ms for part, ms in parts_of_one().items() if part.startswith("copy"))
    assert first - copied > copies
    assert again == pytest.approx(copied, rel=0.05)
    assert transfer_ms("product_born_on_gpu", KERNEL) == pytest.approx(copied, rel=0.05)
    says("But the kernel that fills takes {:.1f} ms for {:.1f} MB", fill, a + b + c)


def rate_of(step: str, elements: int) -> float:
    """Return the recorded GB/s to the device of an array with this number of elements."""
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & (frame["elements"] == elements)]
    (rate,) = rows.loc[rows["params"].str.endswith("to_device"), "gb_per_s"]
    return float(rate)


def test_pages_that_are_asked_for_come_as_fast_as_pinned_memory():
    asked, elements = rate_of("managed_prefetch", 2**22), 2**22
    says("Of an array of {:.1f} MB they then come at {:.0f} GB/s", megabytes(elements), asked)
    assert asked == pytest.approx(rate_of("pinned", elements), rel=0.1)
    says("in pages, of at least {:.0f} KiB each", 4096 / KIB)


def test_managed_memory_is_slower_than_three_copies():
    managed, copied = (
        transfer_times(TEN, way) for way in ("MEMORY=managed", "MEMORY=pageable COPIES=once")
    )
    says("ten products take {:.1f} to {:.1f} ms with it, and {:.1f} to {:.1f} ms with three copies "
         "from pageable memory", *managed[1:], *copied[1:])  # fmt: skip
    assert managed[1] > copied[2]


def test_the_other_source_calls_similar_what_is_not():
    (row,) = published("gemm_gpu", kernel="unified_memory").to_dict("records")
    (seconds,) = re.findall(r"wall (\S+) s against (\S+) s", row["note"])
    whole, copied = map(float, seconds)
    says("Open question: a kernel of {} ms", row["time_ms"])
    says("multiplied {}×{} matrices in managed memory", int(row["m"]), int(row["n"]))
    says("the kernel of the product took {} ms, and ours takes {:.2f} ms", row["time_ms"],
         transfer_ms("product_born_on_gpu", KERNEL, "1024"))  # fmt: skip
    says("*similar*: {:.3f} s, and {:.3f} s with copies, which is a factor of {:.2f}", whole,
         copied, whole / copied)  # fmt: skip


# ------------------------------------------------------------------------------- what is left


def test_with_pinned_memory_and_one_copy_most_of_the_time_is_the_kernel():
    whole = transfer_ms(TEN, "MEMORY=pinned COPIES=once")
    part = transfer_ms(TEN, KERNEL) / whole
    says("With pinned memory the kernel is {:.0f} % of the time", 100 * part)
    share = course.share_of_peak(LADDER.step("naive"), "x".join(map(str, SIZE)))
    assert round(share, 1) == 0.1  # "a tenth"


def test_one_kernel_has_three_recorded_times():
    of_ten = transfer_ms(TEN, KERNEL) / 10
    single = transfer_ms("product_with_copies", KERNEL), parts_of_one()["kernel"]
    says("The kernel takes {:.2f} ms here, as a tenth of ten launches. A single launch took {:.2f} "
         "ms in the record of managed memory, and {:.2f} ms in that of one product.", of_ten,
         *single)  # fmt: skip


def test_at_4096_a_fast_kernel_takes_less_time_than_its_copies():
    n, bus = 4096, round(rates("pinned", "to_device")[-2] / 10) * 10
    size = megabytes(3 * n * n)
    copies = size / bus
    fastest = min(LADDER.steps, key=course.recorded_ms)
    assert fastest.name == "autotuned"
    slow, fast = (course.recorded_ms(step) for step in (LADDER.step("naive"), fastest))
    says("At n = {} the kernel `naive` took {:.1f} ms on the H200", n, slow)
    says("Pinned memory moves about {} GB/s", bus)
    says("the fastest kernel of this course, which took {:.1f} ms?", fast)
    shares = [100 * ms / (ms + copies) for ms in (round(slow, 1), round(fast, 1))]
    says("{:.0f} MB at {} GB/s take {:.1f} ms. The kernel is {:.0f} % with {:.1f} ms, and {:.0f} % "
         "with {:.1f} ms.", size, bus, copies, shares[0], slow, shares[1], fast)  # fmt: skip


def product(kernel, a, b):
    """Compute the lesson's product, with arrays that stay on the device."""
    c = cuda.device_array((a.shape[0], b.shape[1]), np.float32)
    kernel[(cdiv(c.shape[1], 32), cdiv(c.shape[0], 8)), (32, 8)](a, b, c)
    return c


def test_two_products_need_four_copies():
    a, b, e = (np.ones(size, np.float32) for size in ((48, 20), (20, 80), (80, 16)))
    with installed(), counting_transfers() as log:
        c = product(naive, cuda.to_device(a), cuda.to_device(b))
        d = product(naive, c, cuda.to_device(e)).copy_to_host()
    assert np.array_equal(d, a @ b @ e)
    assert len(log) == 4
    says("where `e` is {}×{}, and returns d", *e.shape)
