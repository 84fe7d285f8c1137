"""The workspace of each stream grows, never shrinks and is bounded; its layout has no overlaps."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.launching import driver, workspace
from utils.launching.workspace import Allocation, Pool, WorkspaceLayout


@pytest.fixture
def driver_calls(monkeypatch):
    """Record the calls of the driver."""
    driver_calls = []
    monkeypatch.setattr(driver, "is_capturing", lambda stream: stream == 7)
    monkeypatch.setattr(driver, "stream_id", lambda stream: stream)
    monkeypatch.setattr(driver, "outside_captures", nullcontext)
    monkeypatch.setattr(driver, "zero", lambda *what: driver_calls.append(("zero", *what)))
    monkeypatch.setattr(driver, "synchronize_device", lambda: driver_calls.append("wait"))
    return driver_calls


def pool(**limits) -> Pool:
    made = []

    def allocate(nbytes: int) -> Allocation:
        made.append(nbytes)
        return Allocation(4096 * len(made), nbytes, None)

    return Pool(allocate, **limits)


def test_a_block_is_used_again_and_grows_to_twice_its_size_or_more(driver_calls):
    blocks = pool()
    first = blocks.address(0, 0, 1000)
    assert blocks.address(0, 0, 900) == first
    larger = blocks.address(0, 0, 1001)
    assert larger != first
    assert blocks.address(0, 0, 2000) == larger
    assert blocks.address(0, 0, 10) == larger
    # Work in flight may still use the smaller allocation.
    assert blocks.nbytes == 3000


def test_streams_and_devices_have_blocks_of_their_own_with_cleared_counters(driver_calls):
    blocks = pool()
    places = {(device, stream): blocks.address(device, stream, 512)
              for device in (0, 1) for stream in (0, 3)}  # fmt: skip
    assert len(set(places.values())) == 4
    assert driver_calls == [("zero", at, workspace.ZERO_BYTES, stream)
                     for (_, stream), at in places.items()]  # fmt: skip


@given(st.lists(st.integers(1, 5000), max_size=40))
def test_a_stream_holds_less_than_three_times_what_it_may_have(sizes):
    blocks = pool(most_bytes=4096)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "zero", lambda *what: None)
        for nbytes in sizes:
            assert (blocks.address(0, 0, nbytes) is None) == (nbytes > 4096)
    assert blocks.nbytes < 3 * 4096


def test_many_streams_do_not_keep_a_block_each(driver_calls):
    blocks = pool(most_allocations=3)
    for stream in range(20):
        blocks.address(0, stream + 10, 100)
    assert blocks.nbytes <= 300
    # Work in flight may still use the allocations that are freed.
    assert "wait" in driver_calls


def test_a_captured_stream_gets_no_block(driver_calls):
    blocks = pool()
    assert blocks.address(0, 7, 100) is None
    assert blocks.nbytes == 0


@given(st.lists(st.tuples(st.integers(0, 3000), st.sampled_from(["f4", "f8", "u4"])), max_size=6))
def test_parts_of_a_layout_do_not_overlap(parts):
    layout = WorkspaceLayout(first=3)
    counter = layout.allocate(1, np.uint32, fill=0)
    slots = [layout.allocate(size, dtype) for size, dtype in parts]
    assert [slot.number for slot in (counter, *slots)] == list(range(3, 4 + len(parts)))
    assert layout.offsets[0] + 4 <= workspace.ZERO_BYTES
    end = workspace.ZERO_BYTES
    for slot, offset in zip(slots, layout.offsets[1:], strict=True):
        assert offset >= end
        assert offset % 256 == 0
        end = offset + slot.size * slot.dtype.itemsize
    assert layout.nbytes >= end


def test_a_plan_that_needs_nothing_asks_for_nothing():
    assert WorkspaceLayout(first=3).nbytes == 0
