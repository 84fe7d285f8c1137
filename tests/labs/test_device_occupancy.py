"""The exercise `device_occupancy`: each wrong share is named for what it is."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of
from utils.machine.occupancy import occupancy

NAME = "device_occupancy"
ACTIVE = "min(blocks, resident * sms)"
SHARE = "active * threads / (threads_per_sm * sms)"

WRONG = {
    "the blocks of one SM": (
        [(ACTIVE, "resident")],
        ["`blocks = 100000`", "0.75 is right", "the blocks of one SM"],
    ),
    "the blocks of one SM, or fewer": ([(ACTIVE, "min(blocks, resident)")], ["blocks of one SM"]),
    "the launch left out": ([(ACTIVE, "resident * sms")], ["a small launch leaves SMs empty"]),
    "one SM": (
        [(SHARE, "resident * threads / threads_per_sm")],
        ["a small launch leaves SMs empty"],
    ),
    "the residents left out": ([(ACTIVE, "blocks")], ["does not hold more blocks at once"]),
    "a limit of 1": (
        [(SHARE, "min(1, blocks * threads / (threads_per_sm * sms))")],
        ["but for a limit of 1"],
    ),
    "the larger": ([("min", "max")], ["the larger number of blocks"]),
    "rounded down": ([(ACTIVE, "min(blocks // sms, resident) * sms")], ["and rounded down"]),
    "rounded up": ([(ACTIVE, "min(-(-blocks // sms), resident) * sms")], ["and rounded up"]),
    "SMs left out": ([("(threads_per_sm * sms)", "threads_per_sm")], ["number of SMs is missing"]),
    "the launch on one SM": (
        [(SHARE, "min(blocks, resident) * threads / threads_per_sm")],
        ["This is one SM with all `blocks`"],
    ),
    "percent": ([(SHARE, f"100 * {SHARE}")], ["This is in percent"]),
    "whole": ([("threads / (", "threads // (")], ["rounds down to a whole number"]),
    "the wrong way round": (
        [(SHARE, "threads_per_sm * sms / (active * threads)")],
        ["the wrong way round"],
    ),
    "the empty share": ([(SHARE, f"1 - {SHARE}")], ["the share that stays empty"]),
    "blocks": ([("active * threads", "active")], ["You count blocks"]),
    "warps": ([("active * threads", "active * threads / 32")], ["You count warps"]),
    "threads": ([(SHARE, "active * threads")], ["These are threads"]),
    "only blocks": ([(SHARE, "active")], ["These are blocks"]),
    "no brackets": ([("(threads_per_sm * sms)", "threads_per_sm * sms")], ["into brackets"]),
    "whole warps": (
        [("active * threads", "active * -(-threads // 32) * 32")],
        ["`threads = 1000`", "The formula counts threads"],
    ),
    "of an H200": ([("* sms)", "* 132)")], ["`sms = 13`", "blocks are on the device at once"]),
    "nothing": ([("return ", "")], ["returns nothing"]),
}  # fmt: skip

RIGHT = {
    "of the share of a launch": [(ACTIVE, "min(blocks / sms, resident)"),
                                 ("(threads_per_sm * sms)", "threads_per_sm")],
    "two shares": [(SHARE, "active / sms * threads / threads_per_sm")],
    "a test": [(ACTIVE, "blocks if blocks < sms * resident else sms * resident")],
    "the lesser of two shares": [
        (SHARE, "min(blocks * threads / (threads_per_sm * sms), resident * threads / "
         "threads_per_sm)"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_share_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_formula_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_every_small_slip_is_refused():
    assert not [what for what, function in mutants_of(NAME) if check(NAME, function).passed]


def test_a_launch_that_fills_the_device_has_the_occupancy_of_one_sm():
    for threads, registers, shared_bytes in ((256, 40, 0), (1024, 32, 8192), (64, 16, 28_800)):
        one = occupancy((9, 0), threads, registers, shared_bytes)
        share = EXERCISES[NAME].solution(10**6, one.blocks, threads, 2048, 132)
        assert share == pytest.approx(one.warps / 64)
