"""Threads may leave a tree after the barrier that follows their last store, but not before it."""

import pytest

from labs import check
from tests.labs.versions import changed

ADD = "        if tid < stride:\n            shared[tid] += shared[tid + stride]\n"
WAIT = "        cuda.syncthreads()\n"
LEAVE = "        if tid >= stride:\n            return\n"
WHOLE_WARPS_LEAVE = LEAVE.replace("tid >=", "tid // 32 * 32 >=")
PLUS = "        shared[tid] += shared[tid + stride]\n"
BEFORE_LOOP = "    cuda.syncthreads()\n    stride"
NOTE = "leaves the kernel before it reaches a further barrier"


def noted(name, *changes):
    """Return the notes on a changed solution, which must be right."""
    verdict = check(name, changed(name, *changes))
    assert verdict.passed
    return " ".join(verdict.notes)


@pytest.mark.parametrize("name", ["tree", "add_while_loading"])
def test_leaving_before_the_barrier_behind_the_store_is_noted(name):
    early = (BEFORE_LOOP, "    stride"), (ADD + WAIT, LEAVE + WAIT + PLUS)
    note = noted(name, *early)
    assert NOTE in note
    assert "Thread 128 stores `shared[128]` in line" in note
    assert "Thread 0 reads this word in line" in note


def test_leaving_before_the_only_first_barrier_is_noted():
    note = noted("tree", (BEFORE_LOOP, f"    if tid >= 128:\n        return\n{BEFORE_LOOP}"))
    assert NOTE in note


@pytest.mark.parametrize("name", ["tree", "add_while_loading"])
@pytest.mark.parametrize(
    "body", [LEAVE + PLUS + WAIT, ADD + WAIT + LEAVE, WHOLE_WARPS_LEAVE + ADD + WAIT]
)
def test_leaving_after_the_barrier_behind_the_store_is_not_noted(name, body):
    assert NOTE not in noted(name, (ADD + WAIT, body))


def test_a_block_whose_threads_leave_passes_as_many_barriers():
    verdict = check("tree", changed("tree", (ADD, LEAVE + PLUS)))
    assert "barriers per block: 9 (target: at most 9)" in str(verdict)
    assert not verdict.notes
