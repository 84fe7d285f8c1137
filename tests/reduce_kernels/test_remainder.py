"""The experiment that times reduce0 with and without its integer remainder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reduce_kernels import remainder
from reduce_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.ladder.verify import verify_all
from utils.lessons.block_sums import block_of
from utils.measuring.command_line import main


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 700))
def test_the_sums_are_right_at_any_length(elements):
    steps = (remainder.WITHOUT_REMAINDER, *remainder.IN_32_BITS, *remainder.MASKS)
    shape = steps[0].task.parse(str(elements))
    own = [step.variant() for step in steps]
    verdicts = verify_all(remainder.LADDER, own, shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


def test_the_same_lanes_are_active_with_and_without_the_remainder():
    with_it, without = map(block_of, remainder.variants()[:2])
    assert with_it == without


@pytest.mark.parametrize(("step", "mask"), [("reduce0", 0), ("reduce2", 1)])
def test_the_masks_choose_the_lanes_of_the_tree(step, mask):
    tree = remainder.LADDER.step(step).variant(BLOCK=256)
    assert block_of(remainder.MASKS[mask].variant(BLOCK=256)) == block_of(tree)


def test_a_wrong_kernel_is_not_timed(monkeypatch):
    class Wrong:
        def execution(self, shape, inputs, out):
            return lambda: out.copy_to_device(np.zeros(1, np.float32))

    with pytest.raises(CourseError, match="is wrong, so it is not timed"):
        remainder._verify(Wrong())


def test_without_a_device_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setattr("utils.machine.devices.current", lambda: None)
    assert main("", COMMANDS, ["remainder"]) == 2
    assert "remainder needs a CUDA device" in capsys.readouterr().err


def test_each_recorded_run_has_all_kernels_at_each_length():
    names = {variant.step.name for variant in remainder.variants()}
    for device in {row.device for row in remainder.recorded_times()}:
        timed = [row for row in remainder.recorded_times() if row.device == device]
        assert {(row.kernel, row.elements) for row in timed} == {
            (name, elements) for name in names for elements in remainder.ELEMENTS
        }


def test_each_profiled_run_has_all_kernels():
    names = [variant.step.name for variant in remainder.variants()]
    slots = remainder.recorded_slots()
    for device in {row.device for row in slots}:
        assert [row.kernel for row in slots if row.device == device] == names
        assert all(0 < row.busy < 1 for row in slots)
