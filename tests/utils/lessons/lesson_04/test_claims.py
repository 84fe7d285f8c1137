"""Check the claims of lesson 04 against counts of the virtual GPU and records."""

import nbformat
import numpy as np
import pytest
from numba import cuda

from gemm_kernels import LADDER
from gemm_kernels.naive import naive
from labs import check
from utils import lessons as course
from utils.division import cdiv
from utils.lessons.lesson_04 import transfers
from utils.lessons.lesson_04.transfers import SIZES, transfer_ms, transfer_times
from utils.machine import devices
from utils.measuring import records
from utils.measuring.transfers import REPETITIONS
from utils.paths import NOTEBOOKS
from virtual_gpu import counting_transfers, installed

# The figures are those of the course's own records.
RECORDED = devices.REFERENCE
WALL, MEMORIES = "WHAT=wall", ("numpy", "pageable")


@pytest.fixture(autouse=True)
def of_the_reference(monkeypatch):
    monkeypatch.setattr(transfers, "_device", lambda: RECORDED)


def rounded(value: float, digits: int = 0) -> float:
    return round(float(value), digits)


def published(table: str, **where):
    """Return the rows of a published table whose columns contain these words."""
    frame = records.published(table)
    for column, words in where.items():
        frame = frame[frame[column].str.contains(words, na=False)]
    return frame


def claim(words: str) -> float:
    (value,) = published("claims", claim=words)["value"]
    return float(value)


def copies_of_one(memory: str) -> tuple[float, float]:
    """Return the times in ms of one product's copies to the device and back."""
    ways = ("in", "out")
    return tuple(transfer_ms("part", f"PART=copy_{way} MEMORY={memory}") for way in ways)


def kernel_of_source() -> float:
    return course.published_ms("naive", 1)


def copies_of_source() -> float:
    """Return the times in ms of the copies of one product in the source's naive run."""
    return float(published("transfers", note="of the naive run")["time_ms"].sum())


def test_the_kernel_is_a_small_part_of_one_product():
    share = transfer_ms("product_with_copies", "WHAT=kernel") / transfer_ms(
        "product_with_copies", "WHAT=wall"
    )
    assert rounded(100 * share) == 17


def test_the_rates_that_help_the_first_prediction():
    (into, out), kernel = copies_of_one("pageable"), transfer_ms("part", "PART=kernel")
    assert rounded(4 * 2000 * (2000 + 600) / into / 1e6) == 12
    assert rounded(4 * 2000 * 600 / out / 1e6) == 12
    assert rounded(2 * 2000 * 600 * 2000 / kernel / 1e9) == 6


def clearly_slower(slower: tuple, faster: tuple) -> bool:
    """Return True if all repetitions of one are slower than all repetitions of the other."""
    return slower[1] > faster[2]


def test_copies_by_the_launch_take_longer_than_three_copies_beyond_doubt_for_ten():
    one = transfer_times("product_of_numpy_arrays"), transfer_times("product_with_copies", WALL)
    ten = [transfer_times("ten_products", f"MEMORY={how} COPIES=each") for how in MEMORIES]
    assert one[0][0] > one[1][0]
    assert not clearly_slower(*one)
    assert clearly_slower(*ten)


def test_in_the_source_the_kernel_was_nine_tenths():
    kernel, copies = kernel_of_source(), copies_of_source()
    assert (rounded(kernel, 1), rounded(copies, 1)) == (22.6, 2.6)
    assert rounded(100 * kernel / (kernel + copies)) == 90


def test_the_kernel_became_much_faster_and_the_copies_hardly():
    kernel = transfer_ms("product_with_copies", "WHAT=kernel")
    assert rounded(kernel_of_source() / kernel) == 29
    assert rounded(copies_of_source() / sum(copies_of_one("pageable")), 1) == 1.2


@pytest.mark.parametrize(
    ("memory", "step", "parts", "whole", "rest"),
    [
        ("pageable", "product_with_copies", 3.1, 4.6, 1.5),
        ("pinned", "product_with_pinned_copies", 1.7, 2.4, 0.7),
    ],
)
def test_the_parts_are_less_than_the_whole(memory, step, parts, whole, rest):
    alone = sum(transfer_ms("part", f"PART={one}") for one in ("allocate", "kernel"))
    added, took = alone + sum(copies_of_one(memory)), transfer_ms(step, WALL)
    formatted = [rounded(ms, 1) for ms in (added, took, took - added)]
    assert formatted == [parts, whole, rest]


def rates(step: str, direction: str) -> list[float]:
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & frame["params"].str.endswith(direction)]
    return rows.sort_values("elements")["gb_per_s"].tolist()


@pytest.mark.parametrize(("direction", "factor"), [("to_device", 126), ("to_host", 42)])
def test_a_small_copy_has_a_low_rate(direction, factor):
    pinned = rates("pinned", direction)
    assert rounded(pinned[-1] / pinned[0]) == factor
    assert pinned == sorted(pinned)


def test_pageable_memory_is_slower_and_its_rate_falls_on_the_way_to_the_device():
    pageable, pinned = rates("pageable", "to_device"), rates("pinned", "to_device")
    assert all(slow < fast for slow, fast in zip(pageable, pinned, strict=True))
    assert pageable[-1] < max(pageable) / 1.5
    assert rates("pageable", "to_host")[-1] == max(rates("pageable", "to_host"))


def test_whole_products_are_not_all_alike():
    _, least, most = transfer_times("product_with_copies", WALL)
    assert (rounded(least, 1), rounded(most, 1)) == (3.6, 8.5)
    assert "nine repetitions" in transfers.copy_times().note
    assert REPETITIONS == 9


def test_the_first_allocation_of_the_source_took_long():
    assert rounded(claim("first allocation")) == 96


def test_pinned_memory_was_faster_in_the_source_too():
    assert claim("copies without cudaMallocHost") == 2.5
    assert claim("copies with cudaMallocHost") == 12
    assert set(published("claims", claim="cudaMallocHost")["device"]) == {"GTX Titan X (Maxwell)"}


def with_copies(n: int) -> float:
    return transfer_ms("product_with_copies", "WHAT=wall", str(n))


def test_small_products_take_about_the_same_time_with_copies():
    small = [with_copies(n) for n in SIZES if n <= 256]
    assert max(small) < 2 * min(small)


def test_what_helps_to_find_the_size():
    frame = transfers.recorded_transfers()
    numpy = frame[(frame["step"] == "product_numpy") & (frame["n"] <= 512)]["gflops"]
    assert len(numpy) == 4
    assert ((numpy > 95) & (numpy < 125)).all()
    assert rounded(with_copies(128), 1) == 0.5


def test_the_gpu_passes_one_thread_at_512_and_all_threads_at_2048():
    assert transfers.first_size_of_gpu("product_numpy", "THREADS=1") == 512
    assert transfers.first_size_of_gpu("cpu_parallel") == 2048
    assert transfers.cpu_threads() == 16


def test_times_of_the_cpu_climb_more_steeply():
    def growth(step, params):
        return transfer_ms(step, params, "2048") / transfer_ms(step, params, "512")

    gpu = growth("product_with_copies", "WHAT=wall")
    assert gpu < growth("product_numpy", "")
    assert gpu < growth("cpu_parallel", "")


def test_the_gpu_is_faster_by_three_different_factors():
    gpu = transfer_ms("ten_products", "MEMORY=pageable COPIES=each")
    rivals = ("cpu_naive", "cpu_naive_parallel", "cpu_parallel")
    factors = [10 * transfer_ms(rival, "THREADS") / gpu for rival in rivals]
    assert [rounded(factors[0]), rounded(factors[1]), rounded(factors[2], 1)] == [518, 51, 1.1]


def test_copies_for_all_ten_products_are_better_than_for_each():
    ms = [transfer_ms("ten_products", f"MEMORY=pageable COPIES={how}") for how in ("each", "once")]
    assert [rounded(one, 1) for one in ms] == [39.1, 11.1]
    assert rounded(transfer_ms("ten_products", "WHAT=kernel"), 1) == 7.5


def test_one_product_and_ten_have_shares_that_are_a_little_different():
    each = transfer_ms("ten_products", "MEMORY=pageable COPIES=each")
    assert rounded(100 * transfer_ms("ten_products", "WHAT=kernel") / each) == 19
    assert rounded(each / 10, 1) == 3.9


def test_the_published_speed_up_compares_different_work():
    kernel, copies = kernel_of_source(), copies_of_source()
    assert claim("built with -pg") == 9.56
    assert rounded(1e3 * claim("ten sequential products, whole") / 10) == 3047
    assert rounded(10 * copies, 1) == 26.2
    assert 48 <= kernel + 10 * copies < 49
    assert rounded(kernel + copies, 1) == 25.2
    assert [rounded(cpu / 25.2) for cpu in (9560, 3047)] == [379, 121]
    assert claim("speed-up of the naive kernel with copies") == rounded(9560 / 48) == 199


def test_managed_kernels_wait_for_pages_on_the_host_only():
    copied = transfer_ms("product_with_copies", "WHAT=kernel")
    first = transfer_ms("product_managed", "WHAT=kernel TOUCH=first")
    again = transfer_ms("product_managed", "WHAT=kernel TOUCH=second")
    born = transfer_ms("product_born_on_gpu", "WHAT=kernel")
    assert rounded(first - copied, 1) == 4.5
    assert rounded(copied, 2) == 0.79
    assert again == pytest.approx(copied, rel=0.05)
    assert born == pytest.approx(copied, rel=0.05)


def test_the_first_stores_to_new_pages_are_far_from_the_rate_of_the_memory():
    moved = 4 * (2000 * 2000 + 2 * 2000 * 600)
    assert moved / 1e6 == 25.6
    assert rounded(transfer_ms("product_born_on_gpu", "WHAT=fill"), 1) == 3.9
    assert rounded(moved / devices.find(RECORDED).memory_gb_per_s / 1e6, 4) == 0.0053


def test_managed_memory_is_slower_than_copies_where_the_spreads_are_apart():
    managed = transfer_times("product_managed", WALL)
    assert not clearly_slower(managed, transfer_times("product_with_copies", WALL))
    assert clearly_slower(managed, transfer_times("product_with_pinned_copies", WALL))
    ten = transfer_times("ten_products", "MEMORY=managed")
    copied = transfer_times("ten_products", "MEMORY=pageable COPIES=once")
    assert clearly_slower(ten, copied)
    spreads = [rounded(ms, 1) for _, *spread in (ten, copied) for ms in spread]
    assert spreads == [12.0, 13.0, 10.6, 11.8]


def test_the_other_source_calls_similar_what_is_not():
    (row,) = published("gemm_gpu", kernel="unified_memory").to_dict("records")
    assert row["time_ms"] == 146.81
    assert "wall 0.454 s against 0.292 s" in row["note"]
    assert rounded(0.454 / 0.292, 2) == 1.55


def test_with_pinned_memory_and_one_copy_most_of_the_time_is_the_kernel():
    whole = transfer_ms("ten_products", "MEMORY=pinned COPIES=once")
    assert transfer_ms("ten_products", "WHAT=kernel") / whole > 0.8
    assert rounded(course.share_of_peak(LADDER.step("naive"), "2000x600x2000"), 1) == 0.1


def test_at_4096_a_fast_kernel_takes_less_time_than_its_copies():
    copies = 1e3 * 3 * 4 * 4096**2 / 50e9
    naive_ms = course.recorded_ms(LADDER.step("naive"))
    fastest = min(LADDER.steps, key=course.recorded_ms)
    best = course.recorded_ms(fastest)
    assert fastest.name == "autotuned"
    assert (rounded(naive_ms, 1), rounded(best, 1)) == (27.5, 2.6)
    assert rounded(copies, 1) == 4.0
    shares = [rounded(100 * ms / (ms + copies)) for ms in (27.5, 2.6)]
    assert shares == [87, 39]
    assert all(45 < rate < 55 for rate in rates("pinned", "to_host")[-2:])


@pytest.mark.parametrize(
    ("cell", "function", "exercise"),
    [
        ("three-copies", "three_copies", "to_the_gpu_and_back"),
        ("managed-code", "with_managed", "without_copies"),
    ],
)
def test_what_the_course_shows_passes_its_own_check(cell, function, exercise):
    lesson = nbformat.read(NOTEBOOKS / "04_transfers.ipynb", as_version=4)
    (source,) = (one.source for one in lesson.cells if one.id == cell)
    known = {"cuda": cuda, "np": np}
    exec(source[: source.index("transfers.copies")], known)
    assert check(exercise, known[function]).passed


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
