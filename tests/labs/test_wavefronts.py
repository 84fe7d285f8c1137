"""The exercise `wavefronts`: each wrong count is named for what it is."""

import numpy as np
import pytest
from numba import cuda, float32

from labs import EXERCISES, check
from tests.labs.readers import changed, from_text, mutants_of
from utils.virtual_gpu import trace

NAME = "wavefronts"
WORD = "lane % side * stride_x + lane // side * stride_y"
NEW = "        if word not in words:\n            words.append(word)\n"
SUM = "sum(1 for word in words if word % 32 == bank)"

WRONG = {
    "lanes for words": (
        [(NEW, "        words.append(word)\n")],
        ["`side = 32`, `stride_x = 0`, `stride_y = 32`", "You count lanes"],
    ),
    "banks": (
        [("return most", "return len([b for b in range(32) if b in [w % 32 for w in words]])")],
        ["the number of banks that are asked"],
    ),
    "words": ([("return most", "return len(words)")], ["the number of different words"]),
    "an even share": (
        [("return most", "used = len([b for b in range(32) if b in [w % 32 for w in words]])\n"
          "    return -(-len(words) // used)")],
        ["shared out evenly", "The one with the most"],
    ),
    "conflicts": ([("return most", "return most - 1")], ["the first wavefront is missing"]),
    "without ty": ([(WORD, "lane % side * stride_x")], ["`stride_y` makes no difference"]),
    "without tx": ([(WORD, "lane // side * stride_y")], ["`stride_x` makes no difference"]),
    "one row of 32": ([(WORD, "lane * stride_x")], ["`side` makes no difference"]),
    "tx and ty exchanged": (
        [(WORD, "lane // side * stride_x + lane % side * stride_y")],
        ["`tx` and `ty` are exchanged"],
    ),
    "the first row": ([("range(32):\n        word", "range(side):\n        word")], ["stride_y"]),
    "the whole block": (
        [("range(32):\n        word", "range(side * side):\n        word")],
        ["Bank 0 is asked for 1 word: 0"],
    ),
    "the quotient": ([("word % 32", "word // 32")], ["the rest is asked for"]),
    "16 banks": ([("word % 32", "word % 16")], ["banks for 16 words"]),
    "bytes": ([("word % 32", "4 * word % 32")], ["You count in bytes"]),
    "lanes of one word": (
        [(NEW, "        words.append(word)\n"),
         ("return most", "return max(words.count(w) for w in words)")],
        ["the number of lanes that want one word"],
    ),
    "always 1": ([("return most", "return 1")], ["always 1"]),
    "always 32": ([("return most", "return 32")], ["always 32"]),
    "one bank left out": (
        [("for bank in range(32)", "for bank in range(1, 32)")],
        ["Bank 0 is asked for"],
    ),
    "no count": ([("most = max(most", "most = min(most")], ["you return 0", "1 wavefront is"]),
    "nothing": ([("    return most\n", "")], ["returns nothing"]),
}  # fmt: skip

COUNTED = """def wavefronts(side, stride_x, stride_y):
    words = [l % side * stride_x + l // side * stride_y for l in range(32)]
    most = 1
    for bank in range(32):
        here = 0
        for at, word in enumerate(words):
            if word % 32 == bank and words.index(word) == at:
                here += 1
        if here > most:
            most = here
    return most
"""
SORTED = """def wavefronts(side, stride_x, stride_y):
    words = sorted(lane % side * stride_x + lane // side * stride_y for lane in range(32))
    different = [w for at, w in enumerate(words) if at == 0 or words[at - 1] != w]
    banks = [w % 32 for w in different]
    return max(banks.count(bank) for bank in banks)
"""
TWO_LOOPS = """def wavefronts(side, stride_x, stride_y):
    words = {}
    for ty in range(32 // side):
        for tx in range(side):
            words[tx * stride_x + ty * stride_y] = True
    most = 0
    for bank in range(32):
        most = max(most, len([word for word in words if word % 32 == bank]))
    return most
"""
DICTIONARY = """def wavefronts(side, stride_x, stride_y):
    banks = {}
    for lane in range(32):
        word = (lane // side) * stride_y + (lane % side) * stride_x
        found = banks.get(word % 32, {})
        found[word] = lane
        banks[word % 32] = found
    return max(len(found) for found in banks.values())
"""
RIGHT = {"counted": COUNTED, "sorted": SORTED, "loops": TWO_LOOPS, "dictionary": DICTIONARY}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_count_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_count_passes(what):
    verdict = check(NAME, from_text(NAME, RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_lanes_of_all_warps_are_named():
    body = RIGHT["dictionary"].replace("range(32)", "range(side * side)")
    (cause,) = check(NAME, from_text(NAME, body)).causes
    assert "You count all threads of the block" in cause


# The most is 1 at least, and no bank has number 32. A warp is its own mirror image, so a minus
# counts the same; and where a block has 4 columns or more, bank 31 never has the most words alone.
HARMLESS = {
    "size_one_less in `most = max(most, sum(1 for word in words if word % 32 == bank))`",
    "other_operator in `word = lane % side * stride_x + lane // side * stride_y`",
    "constant_one_less in `for bank in range(32):`",
    "constant_one_more in `most = 0`",
    "constant_one_less in `most = 0`",
    "constant_one_more in `for bank in range(32):`",
}


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what for what, function in mutants_of(NAME) if check(NAME, function).passed}
    assert passed == HARMLESS


@cuda.jit
def asks(stride_x, stride_y, out):
    words = cuda.shared.array(4096, float32)
    lane = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    while lane < words.size:
        words[lane] = lane
        lane += cuda.blockDim.x * cuda.blockDim.y
    cuda.syncthreads()
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    out[ty, tx] = words[tx * stride_x + ty * stride_y]


def test_the_cases_are_what_the_virtual_gpu_counts():
    for case in EXERCISES[NAME].all_cases:
        side, *strides = case.given
        rows = 32 // side  # of one warp
        seen = trace(asks, 1, (side, rows), *strides, np.zeros((rows, side), np.float32))
        (load,) = [o for o in seen.access_counts if (o.space, o.kind) == ("shared", "load")]
        assert load.wavefronts / load.requests == case.right, case.given
