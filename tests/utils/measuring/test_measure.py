"""The inputs that the executions of a timed step take."""

from dataclasses import replace

import numpy as np
import pytest

import reduce_kernels
from utils.ladder.problems import Problem
from utils.ladder.tasks import TaskWork
from utils.machine import devices
from utils.measuring import measure

H200 = devices.find("NVIDIA H200")
L2_BYTES = H200.l2_kib * devices.KIB


def copies(work, elements):
    step = reduce_kernels.LADDER.step("reduce0")
    step = replace(step, task=replace(step.task, work=lambda shape: work))
    x = np.zeros(elements, np.float32)
    problem = Problem(None, (x,), x, scale=1.0, allowed=0.0)
    return measure._cold_copies(reduce_kernels.LADDER, step, problem, H200)


@pytest.mark.parametrize("elements", [2**18, 2**20])
def test_bandwidth_is_measured_with_inputs_that_no_cache_still_holds(elements):
    cold = copies(TaskWork(bytes=4 * elements), elements)
    assert len(cold) * 4 * elements >= 4 * L2_BYTES
    assert len({id(inputs[0]) for inputs in cold}) == len(cold)


@pytest.mark.parametrize("work", [TaskWork(flops=1), TaskWork(bytes=1, cached=True)])
def test_what_does_not_wait_for_memory_is_measured_with_one_set_of_inputs(work):
    assert len(copies(work, 64)) == 1


def test_executions_take_turns_with_their_inputs():
    taken = []
    execution = measure._cycling([lambda name=name: taken.append(name) for name in "abc"])
    for _ in range(7):
        execution()
    assert "".join(taken) == "abcabca"
