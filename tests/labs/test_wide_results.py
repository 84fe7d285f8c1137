"""The source lines of a loop with an integer result that Numba makes 64 bits wide."""

import ast

import pytest

from labs.targets.wide_results import wide_results

TREE = """def kernel(x):
    stride = {start}
    while {test}:
        if {add}:
            shared[tid] += shared[tid + stride]
        stride = {step}
"""
NARROW = {"start": "uint32(1)", "test": "stride < 256", "add": "tid < stride"}
NARROW["step"] = "uint32(2 * stride)"


@pytest.mark.parametrize(
    "changes, lines",
    [
        ({}, []),
        ({"start": "cuda.blockDim.x // 2"}, [2]),
        ({"start": "1"}, [2]),
        ({"test": "stride + tid < 256"}, [3]),
        ({"add": "tid & (2 * stride - 1) == 0"}, [4]),
        ({"add": "tid & uint32(2 * stride - 1) == 0"}, []),
        ({"step": "2 * stride"}, [6]),
        ({"start": "cuda.blockDim.x // 2", "step": "stride // 2"}, [2, 6]),
        ({"add": "uint32(uint32(tid >> stride) << stride) == tid"}, []),
    ],
)
def test_a_result_without_uint32_around_it_is_found(changes, lines):
    (tree,) = ast.parse(TREE.format(**NARROW | changes)).body
    assert wide_results(tree) == lines


def test_a_sum_of_words_of_an_array_is_no_integer():
    text = "def kernel(x):\n    total = 0\n    for i in range(8):\n        total += x[i + 1]\n"
    (tree,) = ast.parse(text).body
    assert wide_results(tree) == []
