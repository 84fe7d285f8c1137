"""What lesson 04 says in prose, held against counts of the virtual GPU and against the records."""

import nbformat
import numpy as np
import pytest
from numba import cuda

from gemm_kernels import LADDER
from gemm_kernels.naive import naive
from gemm_kernels.tuning.transfers import REPETITIONS
from labs import check
from utils import lessons as course
from utils.lessons import transfers
from utils.lessons.first_cell import LESSONS
from utils.lessons.transfers import SIZES, transfer_ms
from utils.machine import devices
from utils.measuring import records
from utils.virtual_gpu import counting_transfers, installed

# The figures are those of the course's own records.
RECORDED = devices.REFERENCE


@pytest.fixture(autouse=True)
def of_the_reference(monkeypatch):
    monkeypatch.setattr(transfers, "_device", lambda: RECORDED)


def rounded(value: float, digits: int = 0) -> float:
    return round(float(value), digits)


def published(table: str, **where):
    """The rows of a published table in which these columns hold these words."""
    frame = records.published(table)
    for column, words in where.items():
        frame = frame[frame[column].str.contains(words, na=False)]
    return frame


def claim(words: str) -> float:
    (value,) = published("claims", claim=words)["value"]
    return float(value)


def kernel_of_source() -> float:
    return course.published_ms("naive", 1)


def copies_of_source() -> float:
    """Of one product of the naive run, in ms."""
    return float(published("transfers", note="of the naive run")["time_ms"].sum())


def test_the_kernel_is_a_small_part_of_one_product():
    share = transfer_ms("product_with_copies", "WHAT=kernel") / transfer_ms(
        "product_with_copies", "WHAT=wall"
    )
    assert rounded(100 * share) == 17


def test_copies_by_the_launch_take_longer_than_three_copies():
    assert transfer_ms("product_of_numpy_arrays") > transfer_ms("product_with_copies", "WHAT=wall")


def test_in_the_source_the_kernel_was_nine_tenths():
    kernel, copies = kernel_of_source(), copies_of_source()
    assert (rounded(kernel, 1), rounded(copies, 1)) == (22.6, 2.6)
    assert rounded(100 * kernel / (kernel + copies)) == 90


def test_the_kernel_became_much_faster_and_the_copies_did_not():
    kernel = transfer_ms("product_with_copies", "WHAT=kernel")
    copies = [transfer_ms("part", f"PART=copy_{way} MEMORY=pageable") for way in ("in", "out")]
    assert rounded(kernel_of_source() / kernel) == 29
    assert copies_of_source() / sum(copies) < 1.5


def test_the_parts_are_less_than_the_whole():
    kinds = ("allocate", "copy_in MEMORY=pageable", "kernel", "copy_out MEMORY=pageable")
    assert rounded(sum(transfer_ms("part", f"PART={kind}") for kind in kinds), 1) == 3.1
    assert rounded(transfer_ms("product_with_copies", "WHAT=wall"), 1) == 4.6


def rates(step: str, direction: str) -> list[float]:
    frame = transfers.recorded_transfers()
    rows = frame[(frame["step"] == step) & frame["params"].str.endswith(direction)]
    return rows.sort_values("elements")["gb_per_s"].tolist()


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
def test_a_small_copy_has_a_low_rate(direction):
    pinned = rates("pinned", direction)
    assert pinned[0] < pinned[-1] / 20
    assert pinned == sorted(pinned)


def test_pageable_memory_is_slower_and_its_rate_falls_on_the_way_to_the_device():
    pageable, pinned = rates("pageable", "to_device"), rates("pinned", "to_device")
    assert all(slow < fast for slow, fast in zip(pageable, pinned, strict=True))
    assert pageable[-1] < max(pageable) / 1.5
    assert rates("pageable", "to_host")[-1] == max(rates("pageable", "to_host"))


def test_whole_products_are_not_all_alike():
    frame = transfers.recorded_transfers()
    whole = (frame["step"] == "product_with_copies") & (frame["params"] == "WHAT=wall")
    (row,) = frame[whole & (frame["k"] == 2000)].to_dict("records")
    assert (rounded(row["time_ms_min"], 1), rounded(row["time_ms_max"], 1)) == (3.6, 8.5)
    assert REPETITIONS == 9


def test_the_first_allocation_of_the_source_took_long():
    assert rounded(claim("first allocation")) == 96


def test_pinned_memory_was_faster_in_the_source_too():
    assert claim("copies without cudaMallocHost") == 2.5
    assert claim("copies with cudaMallocHost") == 12


def with_copies(n: int) -> float:
    return transfer_ms("product_with_copies", "WHAT=wall", str(n))


def test_small_products_take_about_the_same_time_with_copies():
    small = [with_copies(n) for n in SIZES if n <= 256]
    assert max(small) < 2 * min(small)


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


def test_the_published_speed_up_compares_different_work():
    kernel, copies = kernel_of_source(), copies_of_source()
    assert claim("built with -pg") == 9.56
    assert rounded(1e3 * claim("ten sequential products, whole") / 10) == 3047
    assert rounded(10 * copies, 1) == 26.2
    assert 48 <= kernel + 10 * copies < 49
    assert rounded(kernel + copies, 1) == 25.2
    assert claim("speed-up of the naive kernel with copies") == rounded(9560 / 48) == 199


def test_managed_kernels_wait_for_pages_on_the_host_only():
    copied = transfer_ms("product_with_copies", "WHAT=kernel")
    first = transfer_ms("product_managed", "WHAT=kernel TOUCH=first")
    again = transfer_ms("product_managed", "WHAT=kernel TOUCH=second")
    born = transfer_ms("product_born_on_gpu", "WHAT=kernel")
    assert rounded(first / copied, 1) == 6.7
    assert again == pytest.approx(copied, rel=0.05)
    assert born == pytest.approx(copied, rel=0.05)


def test_the_first_stores_to_new_pages_are_far_from_the_rate_of_the_memory():
    moved = 4 * (2000 * 2000 + 2 * 2000 * 600)
    assert moved / 1e6 == 25.6
    assert rounded(transfer_ms("product_born_on_gpu", "WHAT=fill"), 1) == 3.9
    assert rounded(moved / devices.find(RECORDED).memory_gb_per_s / 1e6, 4) == 0.0053


def test_managed_memory_is_slower_than_copies_that_are_written():
    managed = transfer_ms("product_managed", "WHAT=wall")
    assert managed > transfer_ms("product_with_copies", "WHAT=wall")
    assert managed > transfer_ms("product_with_pinned_copies", "WHAT=wall")
    prefetched = transfer_ms("product_managed", "WHAT=kernel TOUCH=prefetched")
    assert rounded(prefetched, 2) == 0.88


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
    best = min(course.recorded_ms(step) for step in LADDER.steps)
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
    lesson = nbformat.read(LESSONS / "04_transfers.ipynb", as_version=4)
    (source,) = (one.source for one in lesson.cells if one.id == cell)
    known = {"cuda": cuda, "np": np}
    exec(source[: source.index("transfers.copies")], known)
    assert check(exercise, known[function]).passed


def product(kernel, a, b):
    """As in the lesson, with arrays that stay on the device."""
    c = cuda.device_array((a.shape[0], b.shape[1]), np.float32)
    kernel[(-(-c.shape[1] // 32), -(-c.shape[0] // 8)), (32, 8)](a, b, c)
    return c


def test_two_products_need_four_copies():
    a, b, e = (np.ones(size, np.float32) for size in ((48, 20), (20, 80), (80, 16)))
    with installed(), counting_transfers() as seen:
        c = product(naive, cuda.to_device(a), cuda.to_device(b))
        d = product(naive, c, cuda.to_device(e)).copy_to_host()
    assert np.array_equal(d, a @ b @ e)
    assert len(seen) == 4
