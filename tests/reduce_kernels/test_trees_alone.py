"""The experiment that times reduce5 with shuffles, and without a tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduce_kernels import trees_alone
from reduce_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.ladder.verify import verify_all
from utils.lessons.block_sums import block_of
from utils.measuring.command_line import main
from utils.measuring.kernel_times import require_right_sum

NAMES = [variant.step.name for variant in trees_alone.variants()]


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 1400))
def test_the_sums_by_shuffles_are_right_at_any_length(elements):
    own = [step.variant() for step in (trees_alone.LAST, trees_alone.ALL)]
    shape = own[0].step.task.parse(str(elements))
    verdicts = verify_all(trees_alone.LADDER, own, shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_without_a_tree_only_the_first_threads_elements_are_added():
    *_, without = trees_alone.variants()
    require_right_sum(without, slice(None, None, trees_alone.BLOCK))
    with pytest.raises(CourseError, match="sum of without_tree BLOCK=256 is wrong"):
        require_right_sum(without)


def test_the_trees_have_three_barriers_one_and_none():
    assert [block_of(one).barriers for one in trees_alone.variants()[2:]] == [3, 3, 1, 0]


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["trees-alone"]) == 2
    assert "trees-alone needs a CUDA device" in capsys.readouterr().err


def test_each_record_has_all_kernels_at_each_length():
    for device in {row.device for row in trees_alone.recorded_times()}:
        timed = [row for row in trees_alone.recorded_times() if row.device == device]
        assert [(row.kernel, row.elements) for row in timed] == [
            (name, elements) for elements in trees_alone.ELEMENTS for name in NAMES
        ]
