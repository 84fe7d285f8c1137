"""The exercise `add_while_loading`: each wrong kernel is refused with the words of its cause."""

import pytest

from labs import EXERCISES, check
from labs.run import run
from tests.labs.readers import changed, mutants_of
from tests.labs.test_tree import slowly

NAME = "add_while_loading"
FIRST = "i = cuda.blockIdx.x * (2 * BLOCK) + tid"
LOAD = "    total = x[i] if i < x.size else float32(0)\n"
SECOND = "    if i + BLOCK < x.size:\n        total += x[i + BLOCK]\n"
PUT = "    shared[tid] = total\n"
ZERO = "    total = float32(0)\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "one element": (
        [(SECOND, "")],
        ["`x[256]` to `x[511]`", "1,024 words of `x` are loaded, and it has 2,048"],
    ),
    "one element for each thread of the grid": (
        [(FIRST, "i = cuda.grid(1)")],
        ["256 additions", "`x[0]` to `x[511]`", "belong to block 0"],
    ),
    "two neighbours": (
        [(FIRST, "i = 2 * cuda.grid(1)"), (SECOND, SECOND.replace("BLOCK", "1"))],
        ["The result is right", "2 words apart", "8 sectors"],
    ),
    "every second thread": (
        [("(2 * BLOCK) + tid", "(2 * BLOCK) + 2 * tid")],
        ["128 additions", "`x[512]` to `x[1023]`", "belong to block 1"],
    ),
    "the next element": (
        [("i + BLOCK", "i + 1")],
        ["`x[257]` to `x[511]`", "all 2 times: `x[1]` to `x[255]`"],
    ),
    "the next block's element": (
        [("i + BLOCK", "i + 2 * BLOCK")],
        ["256 additions", "`x[512]` to `x[1023]`", "belong to block 1"],
    ),
    "another element than the test": (
        [("x[i + BLOCK]", "x[i + BLOCK - 1]")],
        ["lacks 1 of its 512 elements: `x[511]`", "`x[255]` counts 2 times"],
    ),
    "the same element again": (
        [("total += x[i + BLOCK]", "total += x[i]")],
        ["`x[256]` to `x[511]`", "all 2 times: `x[0]` to `x[255]`"],
    ),
    "no test for the second": (
        [(SECOND, "    total += x[i + BLOCK]\n")],
        ["`x[2000]`", "4 blocks of 256 threads with 2 elements each", "Nothing keeps this thread"],
    ),
    "no test for the first": (
        [(" if i < x.size else float32(0)", "")],
        ["`x[513]`", "2 blocks of 256 threads with 2 elements each"],
    ),
    "the second's test for both": (
        [(LOAD + SECOND, f"{ZERO}    if i + BLOCK < x.size:\n"
                         "        total = x[i] + x[i + BLOCK]\n")],
        ["`x[1744]` to `x[1791]`", "1,952 words of `x` are loaded, and it has 2,000"],
    ),
    "the first's test for both": (
        [(LOAD + SECOND, f"{ZERO}    if i < x.size:\n        total = x[i] + x[i + BLOCK]\n")],
        ["`x[2000]`", "or what does compares something else"],
    ),
    "one too far": (
        [("if i + BLOCK < x.size", "if i + BLOCK <= x.size")],
        ["`x[2000]`", "That is one too far"],
    ),
    "set and not added": (
        [("total += x", "total = x")],
        ["`x[0]` to `x[255]`", "They are loaded. What becomes of them?"],
    ),
    "the second in the other case": (
        [(LOAD + SECOND, f"{ZERO}    if i < x.size:\n        total = x[i]\n"
                         "    elif i + BLOCK < x.size:\n        total += x[i + BLOCK]\n")],
        ["`x[256]` to `x[511]`", "1,024 words of `x` are loaded"],
    ),
    "a plus inside the other case": (
        [(LOAD + SECOND, "    total = x[i] if i < x.size else float32(0) + x[i + BLOCK]\n")],
        ["`x[256]` to `x[511]`", "1,024 words of `x` are loaded"],
    ),
    "blocks too near": (
        [("(2 * BLOCK)", "BLOCK")],
        ["256 additions", "`x[0]` to `x[511]`", "belong to block 0"],
    ),
    "blocks too far": (
        [("(2 * BLOCK)", "(4 * BLOCK)")],
        ["512 additions", "`x[1024]` to `x[1535]`", "belong to block 2"],
    ),
    "over the whole array": (
        [(FIRST, "i = cuda.grid(1)"), ("i + BLOCK", "i + BLOCK * cuda.gridDim.x")],
        ["256 additions", "`x[1024]` to `x[1535]`"],
    ),
    "three elements": (
        [(LOAD + SECOND, f"{ZERO}    for j in range(3):\n        if i + j * BLOCK < x.size:\n"
                         "            total += x[i + j * BLOCK]\n")],
        ["256 additions", "`x[512]` to `x[1023]`"],
    ),
    "stored too early": (
        [(SECOND + PUT, PUT + SECOND)],
        ["`x[256]` to `x[511]`", "never added"],
    ),
    "not stored": ([(PUT, "")], ["reads shared[0]", "Which thread should have stored"]),
    "not always set": (
        [(LOAD, "    if i < x.size:\n        total = x[i]\n")],
        ["the variable total, which it has not set", "none that sets it"],
    ),
    "threads without an element leave": (
        [(LOAD, "    if i >= x.size:\n        return\n    total = x[i]\n")],
        ["`return` in line 14", "wait for all threads"],
    ),
    "the product": (
        [("total += x", "total *= x")],
        ["all elements of `x` are 1 it is 256", "all are 2 it is 1024", "twice as large"],
    ),
    "taken away": ([("total += x", "total -= x")], ["`x[256]` counts -1 times"]),
    "float64": ([("else float32(0)", "else 0.0")], ["The result is right", "works in float64"]),
    "a whole number": ([("else float32(0)", "else 0")], ["But line 15", "works in float64"]),
    "both in shared memory": (
        [(LOAD + SECOND + PUT, "    shared[tid] = x[i] if i < x.size else float32(0)\n"
          "    shared[tid + BLOCK] = x[i + BLOCK] if i + BLOCK < x.size else float32(0)\n"),
         ("array(BLOCK", "array(512"), ("stride = BLOCK // 2", "stride = BLOCK")],
        ["The result is right", "77 requests to shared memory", "the target is 64"],
    ),
    "too few words": (
        [(PUT, "    shared[tid + BLOCK] = total\n")],
        ["thread (0)", "shared[256]", "256 words further"],
    ),
    "another block": ([("BLOCK = 256", "BLOCK = 512")], ["256 threads, and your `BLOCK` is 512"]),
    "one barrier more": (
        [(PUT, f"{PUT}    cuda.syncthreads()\n")],
        ["The result is right", "10 barriers", "the target is 9"],
    ),
}  # fmt: skip

RIGHT = {
    "a loop": [
        (LOAD + SECOND, f"{ZERO}    for j in range(2):\n        if i + j * BLOCK < x.size:\n"
                        "            total += x[i + j * BLOCK]\n"),
    ],
    "two tests": [(LOAD, f"{ZERO}    if i < x.size:\n        total += x[i]\n")],
    "both through shared memory": [
        (LOAD + SECOND + PUT, "    shared[tid] = x[i] if i < x.size else float32(0)\n"
         "    shared[tid] += x[i + BLOCK] if i + BLOCK < x.size else float32(0)\n"),
    ],
    "the second one first": [
        (FIRST, "i = cuda.blockIdx.x * (2 * BLOCK) + BLOCK + tid"), ("i + BLOCK", "i - BLOCK"),
    ],
    "the threads' own number of threads": [("(2 * BLOCK)", "(2 * cuda.blockDim.x)")],
}  # fmt: skip

EQUIVALENT = {"constant_one_more in `if tid == 0:`"}  # thread 1 may store the sum


@pytest.mark.parametrize("what", slowly(WRONG, ["two neighbours"]))
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", slowly(RIGHT))
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused_or_changes_nothing():
    passed = {what: kernel for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert set(passed) == EQUIVALENT
    for kernel in passed.values():
        for n in (512, 511, 700):
            assert not run(EXERCISES[NAME], kernel, (n,), 20).wrong.any()
