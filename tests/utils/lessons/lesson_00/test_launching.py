"""The check of the launch names what is wrong with the grid, the block or the result."""

import numpy as np
import pytest
from numba import cuda

from labs.exercises import find as exercise
from utils.division import cdiv
from utils.lessons.lesson_00.launching import LENGTHS, THREADS, check_launch

SCALE = exercise("scale").solution
TWO = np.float32(2)


@cuda.jit
def add_one(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + TWO


@cuda.jit
def no_guard(x, factor, out):
    i = cuda.grid(1)
    out[i] = factor * x[i]


@cuda.jit
def scale(x, factor, out):
    pass


def blocks_of(x):
    return cdiv(x.size, THREADS)


def right(x, out):
    SCALE[blocks_of(x), THREADS](x, TWO, out)


def in_numpy(x, out):
    out[:] = 2 * x


def twice(x, out):
    right(x, out)
    right(x, out)


WRONG = {
    "no kernel": (lambda x, out: None, "No kernel was launched."),
    "NumPy": (in_numpy, "NumPy computed it: no kernel was launched"),
    "two launches": (twice, "there are 2 launches"),
    "factor 3": (
        lambda x, out: SCALE[blocks_of(x), 256](x, np.float32(3), out),
        "out is 3 · x. The factor should be 2.",
    ),
    "swapped": (
        lambda x, out: SCALE[256, blocks_of(x)](x, TWO, out),
        "you launched [256, 1], and the two numbers are swapped: the blocks come first",
    ),
    "one block too many": (
        lambda x, out: SCALE[x.size // 256 + 1, 256](x, TWO, out),
        "At length 256 you launched [2, 256]. That is one block too many, because the length is a "
        "multiple of 256.",
    ),
    "a block per element": (
        lambda x, out: SCALE[x.size, 256](x, TWO, out),
        "At length 256 you launched [256, 256], one block per element.",
    ),
    "always one more": (
        lambda x, out: SCALE[blocks_of(x) + 1, 256](x, TWO, out),
        "At length 1 you launched [2, 256], and the smallest number of blocks is 1",
    ),
    "one block": (
        lambda x, out: SCALE[1, 256](x, TWO, out),
        "At length 257 you launched [1, 256], and the smallest number of blocks is 2",
    ),
    "small blocks": (
        lambda x, out: SCALE[cdiv(x.size, 128), 128](x, TWO, out),
        "[1, 128]. The second number is the number of threads per block, and it should be 256",
    ),
    "a thread per element": (
        lambda x, out: SCALE[1, x.size](x, TWO, out), "you launched [1, 1]. The second number",
    ),
    "two dimensions": (
        lambda x, out: SCALE[(blocks_of(x), 2), 256](x, TWO, out), "should have one dimension",
    ),
    "arrays swapped": (
        lambda x, out: SCALE[blocks_of(x), 256](out, TWO, x), "Are x and out swapped",
    ),
    "another kernel": (
        lambda x, out: add_one[blocks_of(x), 256](x, out), "You launched add_one",
    ),
    "no brackets": (
        lambda x, out: SCALE(x, TWO, out),
        "The launch has no square brackets. The blocks and the threads per block are between the "
        "kernel and its arguments: scale[blocks, threads](…).",
    ),
    "blocks alone": (
        lambda x, out: SCALE[blocks_of(x)](x, TWO, out),
        "At length 1: scale[1] is no launch; write scale[grid, block]",
    ),
    "no factor": (
        lambda x, out: SCALE[blocks_of(x), 256](x, out),
        "At length 1: scale takes 3 arguments (x, factor, out); 2 were given.",
    ),
    "rounded down": (
        lambda x, out: SCALE[x.size // 256, 256](x, TWO, out), "At length 1: The grid is 0;",
    ),
    "an argument too few": (
        lambda x, out: SCALE[cdiv(x.size), 256](x, TWO, out),
        "At length 1 your function raises TypeError: cdiv() missing 1 required",
    ),
    "no guard": (
        lambda x, out: no_guard[blocks_of(x), 256](x, TWO, out),
        "out[i] = factor * x[i]: thread (1) of block (0) uses x[1]; dimension 0 of x has 1 element "
        "(shape (1,)). Has check found your scale right?",
    ),
    "a plain number": (
        lambda x, out: SCALE[blocks_of(x), 256](x, 2, out),
        "The result is right, but a plain 2 makes each product a float64. Write np.float32(2).",
    ),
    "float64": (
        lambda x, out: SCALE[blocks_of(x), 256](x, np.float64(2), out), "a plain 2.0 makes",
    ),
    "the stub of scale": (
        lambda x, out: scale[blocks_of(x), 256](x, TWO, out), "Is your scale right already?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_launch_is_told_its_cause(name):
    launch, cause = WRONG[name]
    card = check_launch(launch)
    assert card.kind == "bad"
    assert "not yet" in str(card)
    assert cause in str(card).replace("`", "")


@pytest.mark.parametrize(
    "launch",
    [
        right,
        lambda x, out: SCALE[-(-x.size // 256), 256](x, TWO, out),
        lambda x, out: SCALE[(blocks_of(x),), (256,)](x, TWO, out),
        lambda x, out: SCALE.forall(x.size, tpb=256)(x, TWO, out),
    ],
)
def test_a_right_launch_is_right(launch):
    card = check_launch(launch)
    assert card.kind == "good"
    assert "1, 256, 257, 5,000 got 1, 1, 2, 20 blocks" in str(card)


def test_the_lengths_have_one_multiple_of_the_block_and_one_element_more():
    assert THREADS in LENGTHS
    assert THREADS + 1 in LENGTHS
