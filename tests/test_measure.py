"""How a step is timed: which inputs its executions take."""

import numpy as np
import pytest

import gemm_kernels
import reduce_kernels
from utils import devices, measure
from utils.tasks import Work
from utils.verify import Problem

H200 = devices.find("NVIDIA H200")
L2_BYTES = H200.l2_kib * devices.KIB


def copies(ladder, work, elements):
    x = np.zeros(elements, np.float32)
    problem = Problem(None, (x,), x, scale=1.0, allowed=0.0)
    return measure._cold_copies(ladder, work, problem, H200)


@pytest.mark.parametrize("elements", [2**18, 2**20])
def test_bandwidth_is_measured_with_inputs_that_no_cache_still_holds(elements):
    found = copies(reduce_kernels.LADDER, Work(bytes=4 * elements), elements)
    assert len(found) * 4 * elements >= 4 * L2_BYTES
    assert len({id(inputs[0]) for inputs in found}) == len(found)


def test_arithmetic_is_measured_with_one_set_of_inputs():
    assert len(copies(gemm_kernels.LADDER, Work(flops=1), 64)) == 1


def test_executions_take_turns_with_their_inputs():
    taken = []
    execution = measure._in_turn([lambda name=name: taken.append(name) for name in "abc"])
    for _ in range(7):
        execution()
    assert "".join(taken) == "abcabca"
