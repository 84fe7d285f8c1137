"""The first source line of a loop with an integer result that Numba makes 64 bits wide."""

import ast

import pytest

from labs.targets.wide_results import first_wide_result

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
    "changes, line",
    [
        ({}, None),
        ({"start": "cuda.blockDim.x // 2"}, 2),
        ({"start": "1"}, 2),
        ({"test": "stride + tid < 256"}, 3),
        ({"add": "tid & (2 * stride - 1) == 0"}, 4),
        ({"add": "tid & uint32(2 * stride - 1) == 0"}, None),
        ({"step": "2 * stride"}, 6),
        ({"add": "uint32(uint32(tid >> stride) << stride) == tid"}, None),
    ],
)
def test_a_result_without_uint32_around_it_is_found(changes, line):
    (tree,) = ast.parse(TREE.format(**NARROW | changes)).body
    assert first_wide_result(tree) == line


def test_a_sum_of_words_of_an_array_is_no_integer():
    text = "def kernel(x):\n    total = 0\n    for i in range(8):\n        total += x[i + 1]\n"
    (tree,) = ast.parse(text).body
    assert first_wide_result(tree) is None
