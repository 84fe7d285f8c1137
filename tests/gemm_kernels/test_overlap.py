"""The experiment on copies that run beside kernels, and its record."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from gemm_kernels import naive, overlap
from gemm_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.ladder.shapes import GemmShape

RECORDED = overlap.recorded_times()
WHOLE = [row for row in RECORDED if row.part == "product"]


def parts_of(whole):
    """Return the rows of the parts of a product, in the order of the record."""
    key = (whole.device, whole.kernel, whole.m)
    return [row for row in RECORDED if (row.device, row.kernel, row.m) == key and row is not whole]


@settings(max_examples=5, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 20), st.integers(1, 20), st.integers(1, 3), st.integers(1, 5)
)
def test_a_product_in_slices_is_right_at_any_shape(m, n, k, streams, slices):
    shape = GemmShape(max(m, slices), n, k)
    arrays = overlap.arrays_in("pinned", shape)
    wall, parts = overlap.Slices(shape, arrays, streams, slices).run()
    overlap.verify("sliced", arrays.host)
    assert wall > 0
    assert [part[:2] for part in parts] == [
        ("copy_b", -1), *((name, number) for number in range(slices) for name in overlap.PARTS)
    ]  # fmt: skip
    assert all(0 <= start <= end for _, _, start, end in parts)


@cuda.jit
def first_row_only(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[1]:
        c[0, i] = a[0, 0] * b[0, i]


def test_a_wrong_product_is_not_recorded(monkeypatch):
    monkeypatch.setattr(naive, "naive", first_row_only)
    with pytest.raises(CourseError, match=r"product of pageable STREAMS=1 SLICES=1 is wrong"):
        list(overlap.measured("none", [GemmShape(8, 8, 8)]))


def test_the_command_is_there():
    assert overlap.COMMAND in COMMANDS


def test_the_record_has_every_way_at_both_shapes():
    ways = [f"{memory} STREAMS={s} SLICES={n}" for memory, s, n in overlap.WAYS]
    expected = [(str(shape), way) for shape in overlap.SHAPES for way in ways]
    assert [(str(GemmShape(row.m, row.n, row.k)), row.kernel) for row in WHOLE] == expected


@pytest.mark.parametrize("whole", WHOLE, ids=lambda row: f"{row.m} {row.kernel}")
def test_the_parts_of_a_slice_follow_each_other(whole):
    parts = parts_of(whole)
    slices = int(whole.kernel.rpartition("=")[2])
    assert [(row.part, row.slice) for row in parts[1:]] == [
        (name, number) for number in range(slices) for name in overlap.PARTS
    ]
    ends = {}
    for row in parts:
        assert row.start_ms >= ends.get(row.slice, 0) - 1e-3
        ends[row.slice] = row.start_ms + row.time_ms
    # What the GPU does cannot take longer than the whole, as the host sees it.
    assert max(ends.values()) <= whole.time_ms_max


def test_only_copies_from_pinned_memory_run_beside_kernels():
    times = {(row.m, row.kernel): row for row in WHOLE}
    for m in (2000, 16000):
        one = times[m, "pinned STREAMS=1 SLICES=1"]
        best = times[m, "pinned STREAMS=2 SLICES=4"]
        assert best.time_ms < one.time_ms_min
        pageable = times[m, "pageable STREAMS=2 SLICES=4"]
        assert pageable.time_ms > times[m, "pageable STREAMS=1 SLICES=1"].time_ms_min
