"""The experiment that times reduce0 with and without its integer remainder."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_xray import xray
from reduce_kernels import remainder
from reduce_kernels.__main__ import COMMANDS
from utils.errors import CourseError
from utils.ladder.verify import verify_all
from utils.lessons.block_sums import block_of
from utils.measuring.command_line import main
from utils.measuring.kernel_times import require_right_sum


@settings(max_examples=5, deadline=None)
@given(st.integers(1, 700))
def test_the_sums_are_right_at_any_length(elements):
    steps = (
        *(remainder.WITHOUT_REMAINDER, *remainder.IN_32_BITS, *remainder.MASKS),
        *(remainder.WARPS_LEAVE, *remainder.CONFLICTS, *remainder.SIDES),
    )
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


def test_one_pair_differs_in_its_wavefronts_alone(compiler):
    conflicts, none = (block_of(step.variant(BLOCK=256)) for step in remainder.CONFLICTS)
    assert (conflicts.wavefronts, none.wavefronts) == (135, 45)
    assert replace(conflicts, wavefronts=45) == none
    assert differing_instructions(remainder.CONFLICTS) == {
        ("0xc", "0xd"), ("0x17", "0x19")
    }  # fmt: skip


@pytest.mark.slow
def test_the_other_pair_differs_in_the_threads_that_share_a_side(compiler):
    assert differing_instructions(remainder.SIDES) == {("0x10", "0x20")}


def differing_instructions(steps) -> set[tuple[str, str]]:
    """Return the operands in which the machine code of two kernels differs."""
    first, second = (xray(step.build(BLOCK=256), step.signature, "sm_90").code for step in steps)
    assert [one.opcode for one in first] == [one.opcode for one in second]
    return {
        operands
        for one, other in zip(first, second, strict=True)
        for operands in zip(one.operands, other.operands, strict=True)
        if operands[0] != operands[1]
    }


def test_a_wrong_kernel_is_not_timed(monkeypatch):
    class Wrong:
        def execution(self, shape, inputs, out):
            return lambda: out.copy_to_device(np.zeros(1, np.float32))

    with pytest.raises(CourseError, match="is wrong, so it is not timed"):
        require_right_sum(Wrong())


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
