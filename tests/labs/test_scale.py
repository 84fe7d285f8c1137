"""The exercise `scale`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of, written

NAME = "scale"
INDEX = "cuda.grid(1)"
TEST = "i < out.size"
STORE = "out[i] = factor * x[i]"
BODY = f"    i = {INDEX}\n    if {TEST}:\n        {STORE}\n"

# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "empty body": ([(BODY, "    pass\n")], ["no thread reads or writes", "still to be written"]),
    "no test": (
        [(BODY, f"    i = {INDEX}\n    {STORE}\n")],
        ["`x[1000]`", "1024 threads for 1,000 elements", "Nothing in your kernel keeps them away"],
    ),
    "<= for <": (
        [(TEST, "i <= out.size")],
        ["`x[1000]`", "one too far", "0 to 999", "`<=` for `<`"],
    ),
    "> for <": ([(TEST, "i > out.size")], ["no thread reads or writes", "return at once"]),
    "tests the whole grid": (
        [(TEST, "i < cuda.gridsize(1)")],
        ["The last 24 have no element", "Your test lets them pass"],
    ),
    "tests the number of the first length": ([(TEST, "i < 1024")], ["Your test lets them pass"]),
    "tests the number in the block": (
        [(TEST, "cuda.threadIdx.x < out.size")],
        ["Your test lets them pass", "What does it compare"],
    ),
    "tests 256": (
        [(TEST, "i < 256")],
        ["768 of 1,024 elements", "Only the 256 threads of block 0 store", "a test stop"],
    ),
    "tests half": ([(TEST, "i < out.size // 2")], ["All elements from 512 on are missing"]),
    "tests only the store": (
        [(BODY, f"    i = {INDEX}\n    value = factor * x[i]\n    if {TEST}:\n"
          "        out[i] = value\n")],
        ["`value = factor * x[i]`", "does not stand in your `if`"],
    ),
    "stores for the others, too": (
        [(STORE, f"{STORE}\n    else:\n        out[i] = 0")],
        ["`out[1000]`", "come to `else`", "have no element"],
    ),
    "leaves before the last element": (
        [(BODY, f"    i = {INDEX}\n    if i >= out.size - 1:\n        return\n    {STORE}\n")],
        ["1 of 1,024 elements", "The last element, n - 1 = 1023, is inside"],
    ),
    "leaves out the first element": ([(TEST, f"0 < {TEST}")], ["Only element 0 is missing"]),
    "every second element": (
        [(TEST, f"{TEST} and i % 2 == 0")],
        ["elements 1, 3, 5 … are missing"],
    ),
    "the thread alone": (
        [(INDEX, "cuda.threadIdx.x")],
        ["Block 1 stores the same elements as block 0", "number of the block is missing"],
    ),
    "the block alone": (
        [(INDEX, "cuda.blockIdx.x")],
        ["All 256 threads of block 0 store the same element", "number of the thread is missing"],
    ),
    "no number at all": ([(INDEX, "0")], ["All threads store the same element, 0"]),
    "the block not multiplied": (
        [(INDEX, "cuda.blockIdx.x + cuda.threadIdx.x")],
        ["block 1 starts 1 further: they overlap", "number of the block multiplied"],
    ),
    "the block times 128": (
        [(INDEX, "cuda.blockIdx.x * 128 + cuda.threadIdx.x")],
        ["block 1 starts 128 further: they overlap"],
    ),
    "the block times 512": (
        [(INDEX, "cuda.blockIdx.x * 512 + cuda.threadIdx.x")],
        ["block 1 starts 512 further", "a gap is left"],
    ),
    "the block times 1024": (
        [(INDEX, "cuda.blockIdx.x * 1024 + cuda.threadIdx.x")],
        ["Only the 256 threads of block 0 store", "their index too large"],
    ),
    "full blocks alone": (
        [(TEST, "i < out.size // 256 * 256")],
        ["n = 1000", "from 768 on", "the last block, which is not full"],
    ),
    "gridDim for blockDim": (
        [(INDEX, "cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x")],
        ["4 is `gridDim.x`, the number of blocks"],
    ),
    "block and thread exchanged": (
        [(INDEX, "cuda.threadIdx.x * cuda.blockDim.x + cuda.blockIdx.x")],
        ["Threads 0 and 1 of a block", "256 apart", "number of the thread multiplied"],
    ),
    "every fourth element": (
        [(INDEX, "cuda.grid(1) * 4")],
        ["4 apart", "nobody stores those between them"],
    ),
    "two dimensions": (
        [(INDEX, "cuda.grid(2)")],
        ["`cuda.grid(2)` gives several numbers", "one dimension"],
    ),
    "y of two dimensions": (
        [("i = cuda.grid(1)", "j, i = cuda.grid(2)")],
        ["All threads store the same element, 0"],
    ),
    "y of the thread": (
        [(INDEX, "cuda.blockIdx.x * 256 + cuda.threadIdx.y")],
        ["number of the thread is missing"],
    ),
    "one thread before the first": (
        [(INDEX, "cuda.grid(1) - 1")],
        ["The result is right", "index -1", "from the end"],
    ),
    "a shape for a length": ([("out.size", "out.shape")], ["is a tuple", "one dimension"]),
    "threadIdx without x": (
        [(INDEX, "cuda.blockIdx * 256 + cuda.threadIdx")],
        ["hold three numbers, `x`, `y` and `z`"],
    ),
    "as in NumPy": ([(BODY, "    out[:] = factor * x\n")], ["works on one element", "as in NumPy"]),
    "returns the result": (
        [(STORE, "return factor * x[i]")],
        ["a kernel returns nothing"],
    ),
    "changes x": ([(STORE, "x[i] = factor * x[i]")], ["changes `x`, which is an input"]),
    "changes x and copies it": (
        [(STORE, "x[i] *= factor\n        out[i] = x[i]")],
        ["`x[i] *= factor`", "changes `x`, which is an input"],
    ),
    "adds up in out": (
        [(STORE, "out[i] += factor * x[i]")],
        ["needs the value of `out` before anything was stored"],
    ),
    "adds": ([(STORE, "out[i] = factor + x[i]")], ["`factor + x[i]`", "added, and not multiplied"]),
    "takes away": ([(STORE, "out[i] = x[i] - factor")], ["`x[i] - factor`"]),
    "divides": ([(STORE, "out[i] = x[i] / factor")], ["divided by `factor`"]),
    "factor twice": ([(STORE, "out[i] = factor * factor * x[i]")], ["with `factor` twice"]),
    "no factor": ([(STORE, "out[i] = x[i]")], ["`factor` is not in the result"]),
    "factor alone": ([(STORE, "out[i] = factor")], ["nothing of `x` is in the result"]),
    "another factor": (
        [(STORE, "out[i] = float32(2) * x[i]"), ("import cuda", "import cuda, float32")],
        ["2 times the one of `x`", "`factor` is 2.5"],
    ),
    "the factor as a number": (
        [(STORE, "out[i] = float32(2.5) * x[i]"), ("import cuda", "import cuda, float32")],
        ["2.5 times the one of `x`", "`factor` is 6.5"],
    ),
    "the factor cut to a whole number": (
        [(STORE, "out[i] = int(factor) * x[i]")],
        ["2 times the one of `x`", "`factor` is 2.5"],
    ),
    "the square": ([(STORE, "out[i] = x[i] * x[i]")], ["`x[i] * x[i]`"]),
    "scales the number of the element": (
        [(STORE, "out[i] = factor * i")],
        ["the number of the element is scaled, and not `x[i]`"],
    ),
    "the wrong sign": ([(STORE, "out[i] = -factor * x[i]")], ["the wrong sign"]),
    "the element before": (
        [(STORE, "out[i] = factor * x[i - 1]")],
        ["the index -1 of x"],
    ),
    "the element before, or the first": (
        [(STORE, "out[i] = factor * x[max(i - 1, 0)]")],
        ["the result of the element before it"],
    ),
    "the element behind": (
        [(STORE, "out[i] = factor * x[i + 1]")],
        ["`x[1024]`", "The element of this thread is 1023", "the one behind it"],
    ),
    "stores into the element behind": (
        [(STORE, "out[i + 1] = factor * x[i]")],
        ["`out[1024]`", "The element of this thread is 1023"],
    ),
    "backwards": ([(STORE, "out[i] = factor * x[x.size - 1 - i]")], ["reverse order"]),
    "always the first element": ([(STORE, "out[i] = factor * x[0]")], ["All elements", "alike"]),
    "float64": (
        [(STORE, "out[i] = 1.0 * factor * x[i]")],
        ["The result is right", "works in float64"],
    ),
    "float64 by a whole number": (
        [(STORE, "out[i] = factor * int(x[i])")],
        ["The result is right", "works in float64"],
    ),
    "the number of the block last": (
        [(INDEX, "cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x")],
        ["The result is right", "4 words apart", "16 sectors", "the target is 4"],
    ),
    "four neighbours for each thread": (
        [(BODY, "    first = 4 * cuda.grid(1)\n    for i in range(first, first + 4):\n"
          f"        if {TEST}:\n            {STORE}\n")],
        ["The result is right", "4 words apart", "16 sectors"],
    ),
    "all elements in each thread": (
        [(BODY, f"    for i in range(out.size):\n        {STORE}\n")],
        ["The result is right", "stores 1,048,576 times for 1,024 elements", "inside a loop"],
    ),
    "all elements in one thread": (
        [(BODY, f"    if {INDEX} == 0:\n        for i in range(out.size):\n            {STORE}\n")],
        ["The result is right", "only 1 of 32 lanes work"],
    ),
    "stores twice": (
        [(STORE, f"{STORE}\n        {STORE}")],
        ["The result is right", "2 stores for an element"],
    ),
    "never ends": (
        [(f"if {TEST}", f"while {TEST}")],
        ["`while i < out.size`", "wait for ever"],
    ),
    "a name that is not defined": ([("* x[i]", "* y[i]")], ["the name y is not defined"]),
}  # fmt: skip

RIGHT = {
    "the length of x": [("out.size", "x.size")],
    "len": [("out.size", "len(x)")],
    "shape": [("out.size", "x.shape[0]")],
    "block and thread": [(INDEX, "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")],
    "a number for the block": [(INDEX, "256 * cuda.blockIdx.x + cuda.threadIdx.x")],
    "leaves first": [
        (BODY, f"    i = {INDEX}\n    if i >= out.size:\n        return\n    {STORE}\n"),
    ],
    "a stride of the grid": [
        (BODY, f"    i = {INDEX}\n    while {TEST}:\n        {STORE}\n"
         "        i += cuda.gridsize(1)\n"),
    ],
    "mirrored": [
        (BODY, f"    i = out.size - 1 - {INDEX}\n    if i >= 0:\n        {STORE}\n"),
    ],
    "other names": [
        ("(x, factor, out)", "(values, by, result)"),
        ("out.size", "result.size"),
        (STORE, "result[i] = values[i] * by"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_every_small_slip_is_refused():
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed == set()


def test_the_starter_has_no_body_yet():
    assert "no thread reads or writes" in str(check(NAME, EXERCISES[NAME].starter))


def test_what_is_printed_is_no_flaw_and_is_told():
    body = f"    i = {INDEX}\n    if {TEST}:\n        {STORE}\n        print(i)\n"
    verdict = check(NAME, written(NAME, body))
    assert verdict.passed
    assert "prints" in str(verdict)
