"""Threads may leave a tree after the barrier that follows their last store, but not before it."""

import pytest

from labs import EXERCISES, check
from labs.checking.judge import has_flaw, unseen_mistake
from labs.checking.run import run_kernel
from tests.labs.versions import PATIENCE, changed

ADD = "        if tid < stride:\n            shared[tid] += shared[tid + stride]\n"
WAIT = "        cuda.syncthreads()\n"
LEAVE = "        if tid >= stride:\n            return\n"
WHOLE_WARPS_LEAVE = LEAVE.replace("tid >=", "tid // 32 * 32 >=")
PLUS = "        shared[tid] += shared[tid + stride]\n"
BEFORE_LOOP = "    cuda.syncthreads()\n    stride"
LEFT = "Let a thread leave only after the barrier that follows its last store."
EARLY = (BEFORE_LOOP, "    stride"), (ADD + WAIT, LEAVE + WAIT + PLUS)


@pytest.mark.parametrize("name", ["tree", "add_while_loading"])
def test_leaving_before_the_barrier_behind_the_store_is_not_yet_right(name):
    verdict = check(name, changed(name, *EARLY))
    assert not verdict.passed
    (cause,) = verdict.causes
    assert cause.endswith(LEFT)
    assert "thread 0 of block 0 reads `shared[128]`, which thread 128 stores in line" in cause


@pytest.mark.parametrize(
    "change",
    [
        (BEFORE_LOOP, f"    if tid >= 128:\n        return\n{BEFORE_LOOP}"),
        (ADD + WAIT, f"{ADD}{LEAVE.replace('stride', 'stride // 2 + (stride < 2)')}{WAIT}"),
    ],
    ids=["before the first barrier", "after an addition"],
)
def test_leaving_right_after_a_store_is_not_yet_right(change):
    (cause,) = check("tree", changed("tree", change)).causes
    assert cause.endswith(LEFT)


LOADED = "    shared[tid] = x[i] if i < x.size else float32(0)\n"
ODD_LEAVE = f"{LOADED}    if tid % 2 == 1:\n        return\n"
GUARD = "    if i >= x.size:\n        shared[tid] = float32(0)\n        return\n"
TOTAL = "    total = x[i] if i < x.size else float32(0)\n"
DOUBLE = "        stride = uint32(2 * stride)\n"
SUMS_LEAVE = f"        if tid % (4 * stride) != 0:\n            return\n{DOUBLE}"


@pytest.mark.parametrize(
    "name, change",
    [
        ("missing_barrier", (LOADED, ODD_LEAVE)),
        ("missing_barrier", (DOUBLE, SUMS_LEAVE)),
        ("missing_barrier", (LOADED, f"{GUARD}    shared[tid] = x[i]\n")),
        ("without_remainder", (LOADED, ODD_LEAVE)),
        ("without_remainder", (LOADED, f"{GUARD}    shared[tid] = x[i]\n")),
        ("tree", (LOADED, f"{GUARD}    shared[tid] = x[i]\n")),
        ("add_while_loading", (TOTAL, GUARD + TOTAL)),
    ],
)
def test_each_task_of_the_lesson_refuses_threads_that_leave_too_early(name, change):
    (cause,) = check(name, changed(name, change)).causes
    assert cause.endswith(LEFT)


def test_a_grader_reports_a_thread_that_leaves_too_early():
    exercise = EXERCISES["tree"]
    run = run_kernel(exercise, changed("tree", *EARLY), (1024,), PATIENCE)
    assert not has_flaw(run)
    assert unseen_mistake(exercise, run).endswith(LEFT)


@pytest.mark.parametrize("name", ["tree", "add_while_loading"])
@pytest.mark.parametrize(
    "body", [LEAVE + PLUS + WAIT, ADD + WAIT + LEAVE, WHOLE_WARPS_LEAVE + ADD + WAIT]
)
def test_leaving_after_the_barrier_behind_the_store_is_right(name, body):
    verdict = check(name, changed(name, (ADD + WAIT, body)))
    assert verdict.passed
    left = [note for note in verdict.notes if "a warp passes 2.5 barriers on average" in note]
    assert bool(left) == (body != ADD + WAIT + LEAVE)


@pytest.mark.slow
def test_threads_that_never_store_may_leave_at_once():
    columns = (
        "    if tid < 32:\n        for row in range(1, 8):\n"
        "            shared[tid] += shared[tid + 32 * row]\n    cuda.syncthreads()\n"
        "    if tid >= 32:\n        return\n"
        "    stride = uint32(16)\n"
    )
    text = changed("tree", ("    stride = uint32(uint32(cuda.blockDim.x) >> uint32(1))\n", columns))
    assert LEFT not in str(check("tree", text))


def test_a_block_whose_threads_leave_passes_as_many_barriers():
    verdict = check("tree", changed("tree", (ADD, LEAVE + PLUS)))
    assert "barriers per block: 9 (target: at most 9)" in str(verdict)
    (note,) = verdict.notes
    assert "passes 2.5 barriers on average, and one that stays to the end passes 9." in note
