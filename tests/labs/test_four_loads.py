"""The exercise `four_loads`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, mutants_of

NAME = "four_loads"
FIRST = "cuda.blockIdx.x * 1024 + cuda.threadIdx.x"
PLACE = "i = first + 256 * j"
LOAD, STORE = "            values[j] = x[i]\n", "            out[i] = values[j]\n"
TEST = "if i < x.size:"
LOADS = f"    for j in range(4):\n        {PLACE}\n        {TEST}\n{LOAD}"
STORES = f"    for j in range(4):\n        {PLACE}\n        {TEST}\n{STORE}"
LOCAL = "    values = cuda.local.array(4, float32)\n"
BODY = f"    first = {FIRST}\n{LOCAL}{LOADS}{STORES}"


def scalars(*lines: str) -> list[tuple[str, str]]:
    """A body with four variables in place of the array; i0 to i3 are the elements."""
    places = "".join(f"    i{j} = first + {256 * j}\n" for j in range(4))
    return [(BODY, f"    first = {FIRST}\n    n = x.size\n{places}" + "".join(lines))]


def load(j: int, test: bool = True) -> str:
    return f"    v{j} = x[i{j}]{f' if i{j} < n else float32(0)' if test else ''}\n"


def store(j: int, value: int | None = None) -> str:
    return f"    if i{j} < n:\n        out[i{j}] = v{j if value is None else value}\n"


def in_order(order: str) -> list[tuple[str, str]]:
    """Loads and stores in such an order: "l0 s0 l1 s1 ..."."""
    return scalars(*({"l": load, "s": store}[one[0]](int(one[1])) for one in order.split()))


# What is wrong, the change of the solution, and words of the sentence that name the cause.
WRONG = {
    "empty body": ([(BODY, "    pass\n")], ["no thread reads or writes", "still to be written"]),
    "only loads": ([(STORES, "")], ["reads its inputs", "no thread ever stores"]),
    "load and store in turn": (
        [(LOADS, ""), (STORE, "            out[i] = x[i]\n")],
        ["The result is right", "1 load of its 4", "4 times"],
    ),
    "in turn by a variable": (
        [(BODY, f"    first = {FIRST}\n    for j in range(4):\n        {PLACE}\n"
          f"        {TEST}\n            value = x[i]\n            out[i] = value\n")],
        ["`out[i] = value`", "1 load of its 4", "4 times"],
    ),
    "in turn by the array": (
        [(LOADS + STORES, LOADS + STORE)],
        ["`out[i] = values[j]`", "1 load of its 4", "4 times"],
    ),
    "two and two": (
        in_order("l0 l1 s0 s1 l2 l3 s2 s3"),
        ["The result is right", "`out[i0] = v0`", "2 loads of its 4", "2 times"],
    ),
    "one load ahead": (
        in_order("l0 l1 s0 l2 s1 l3 s2 s3"),
        ["The result is right", "2 loads of its 4", "3 times"],
    ),
    "three and one": (in_order("l0 l1 l2 s0 s1 s2 l3 s3"), ["3 loads of its 4", "2 times"]),
    "the last load after the first store": (
        in_order("l0 l1 l2 s0 l3 s1 s2 s3"), ["3 loads of its 4", "2 times"],
    ),
    "four adjacent words": (
        [(FIRST, "cuda.grid(1) * 4"), (PLACE, "i = first + j")],
        ["The result is right", "4 words apart", "16 sectors", "the target is 4"],
    ),
    "adjacent loads alone": (
        [(FIRST, "cuda.blockIdx.x * 1024 + 4 * cuda.threadIdx.x"), (PLACE, "i = first + j")],
        ["4 words apart", "16 sectors"],
    ),
    "loads along, stores adjacent": (
        [(STORES, "    for j in range(4):\n        i = cuda.blockIdx.x * 1024 + 4 * "
          "cuda.threadIdx.x + j\n        if i < x.size:\n            out[i] = values[j]\n")],
        ["`out[1]`", "value of `x[256]`", "255 elements further"],
    ),
    "threads two apart": (
        [(FIRST, "cuda.blockIdx.x * 1024 + 2 * cuda.threadIdx.x"),
         (PLACE, "i = first + j % 2 + j // 2 * 512")],
        ["2 words apart", "8 sectors"],
    ),
    "no test": (
        [(f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n"),
         (f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")],
        ["reach 4,096 elements, and there are 4,000", "Nothing in your kernel"],
    ),
    "a test for the first element alone": (
        [(LOADS + STORES, (LOADS + STORES).replace("i < x.size", "first < x.size"))],
        ["`x[4000]`", "This thread also has element", "a test of its own"],
    ),
    "leaves by the first element": (
        [(LOCAL, f"{LOCAL}    if first >= x.size:\n        return\n"),
         (f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n"),
         (f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")],
        ["`x[4000]`", "This thread also has element", "a test of its own"],
    ),
    "loads without a test": (
        [(f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n")],
        ["`values[j] = x[i]`", "`x[4000]`", "does not stand in an `if`"],
    ),
    "stores without a test": (
        [(f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")],
        ["`out[i] = values[j]`", "`out[4000]`", "does not stand in an `if`"],
    ),
    "<= for <": ([(TEST, "if i <= x.size:")], ["one too far", "0 to 3999", "`<=` for `<`"]),
    "tests the number of the first length": (
        [(TEST, "if i < 4096:")],
        ["reach 4,096 elements, and there are 4,000", "lets this one pass"],
    ),
    "a test by the last element": (
        [(LOADS + STORES, (LOADS + STORES).replace("i < x.size", "first + 768 < x.size"))],
        ["288 of 4,000", "last block", "is inside, and it is left out", "a test of its own"],
    ),
    "leaves by the last element": (
        [(LOCAL, f"{LOCAL}    if first + 768 >= x.size:\n        return\n")],
        ["last block", "is inside, and it is left out"],
    ),
    "whole blocks alone": (
        [(LOCAL, f"{LOCAL}    if (cuda.blockIdx.x + 1) * 1024 > x.size:\n        return\n")],
        ["928 of 4,000", "last block", "`out[3072]` is inside"],
    ),
    "> for <": ([(TEST, "if i > x.size:")], ["no thread reads or writes", "return at once"]),
    "one element less": ([(TEST, "if i < x.size - 1:")], ["The last element, n - 1 = 4095"]),
    "half": ([(TEST, "if i < x.size // 2:")], ["All elements from 2048 on are missing"]),
    "three elements": (
        [("range(4)", "range(3)")], ["Thread 0 stores 3 elements, 0, 256, 512, and it has 4"],
    ),
    "stores three": (
        [(STORES, STORES.replace("range(4)", "range(3)"))], ["Thread 0 stores 3 elements"],
    ),
    "one element": (
        [(LOADS + STORES, "    if first < x.size:\n        out[first] = x[first]\n")],
        ["Thread 0 stores 1 element, 0, and it has 4"],
    ),
    "loads three": (
        [(LOADS, LOADS.replace("range(4)", "range(3)"))], ["reads values[3]", "has not written"],
    ),
    "five elements": ([("range(4)", "range(5)")], ["uses values[4]", "has 4 elements"]),
    "a place too few": ([("array(4,", "array(3,")], ["uses values[3]", "has 3 elements"]),
    "the thread alone": (
        [(FIRST, "cuda.threadIdx.x")], ["Block 1 begins with the same", "number of the block"],
    ),
    "the block alone": (
        [(FIRST, "cuda.blockIdx.x * 1024")], ["All 256 threads", "number of the thread is missing"],
    ),
    "y of the thread": ([("threadIdx.x", "threadIdx.y")], ["number of the thread is missing"]),
    "the block times 256": (
        [(FIRST, "cuda.grid(1)")], ["Blocks 0 and 1 both store 768 elements", "multiplied"],
    ),
    "the block times 512": (
        [("1024", "512")], ["Blocks 0 and 1 both store 512 elements", "block 1 with 512"],
    ),
    "the block times 1023": ([("1024", "1023")], ["Blocks 0 and 1 both store 1 element"]),
    "the block times 1025": ([("1024", "1025")], ["block 1 begins 1025 further", "a gap"]),
    "the block times 2048": ([("1024", "2048")], ["block 1 begins 2048 further", "a gap"]),
    "elements 32 apart": (
        [("256 * j", "32 * j")],
        ["Thread 0 stores the elements 0, 32, 64, 96, and thread 32 stores 32, too"],
    ),
    "elements 1 apart": (
        [("256 * j", "j")], ["Thread 0 stores the elements 0, 1, 2, 3, and thread 1 stores 1, too"],
    ),
    "elements 255 apart": ([("256 * j", "255 * j")], ["and thread 255 stores 255, too"]),
    "elements 512 apart": ([("256 * j", "512 * j")], ["block 0 stores up to element 1791"]),
    "elements 300 apart": ([("256 * j", "300 * j")], ["block 0 stores up to element 1155"]),
    "elements 1024 apart": (
        [("256 * j", "1024 * j")],
        ["begins with element 1024", "up to element 3327", "elements of one thread"],
    ),
    "the same element four times": (
        [(PLACE, "i = first")], ["Thread 0 stores 1 element, 0, and it has 4"],
    ),
    "another step in the stores": (
        [(STORES, STORES.replace("256 * j", "32 * j"))], ["thread 32 stores 32, too"],
    ),
    "stores in reverse order": (
        [(STORE, STORE.replace("[j]", "[3 - j]"))],
        ["`out[0]`", "value of `x[768]`", "768 elements"],
    ),
    "stores the next one": (
        [(STORE, STORE.replace("[j]", "[(j + 1) % 4]"))],
        ["value of `x[256]`", "256 elements further"],
    ),
    "stores the first four times": (
        [(STORE, STORE.replace("[j]", "[0]"))], ["the value of `x[0]`, the first that it loads"],
    ),
    "one variable for all": (
        [(LOCAL, ""), (LOAD, "            value = x[i]\n"),
         (STORE, "            out[i] = value\n")],
        ["All elements of thread 0, 0, 256, 512, 768", "`x[768]`, the last", "a place of its own"],
    ),
    "one place for all": (
        [("values[j]", "values[0]")], ["`x[768]`, the last that it loads"],
    ),
    "one of four in a wrong place": (
        scalars(*map(load, range(4)), store(0), store(1), store(2), store(3, 2)),
        ["`out[768]`", "value of `x[512]`", "256 elements before"],
    ),
    "a place for all threads": (
        [("cuda.local", "cuda.shared")],
        ["writes values[0]", "thread (255)", "share the one array `values`", "A barrier does not"],
    ),
    "shared without room for each thread": (
        [(LOCAL, "    values = cuda.shared.array(256, float32)\n"),
         (LOAD, "            values[cuda.threadIdx.x] = x[i]\n"),
         (STORE, "            out[i] = values[cuda.threadIdx.x]\n")],
        ["`x[768]`, the last that it loads"],
    ),
    "a loop over all elements": (
        [(BODY, "    for i in range(x.size):\n        out[i] = x[i]\n")],
        ["Line 8", "far more turns than"],
    ),
    "one thread": (
        [(BODY, "    if cuda.grid(1) == 0:\n        for i in range(x.size):\n"
          "            out[i] = x[i]\n")],
        ["The result is right", "only 1 of 32 lanes"],
    ),
    "stores twice": (
        [(STORE, STORE + STORE)], ["The result is right", "2 stores for an element"],
    ),
    "changes x": ([("out[i] = values[j]", "x[i] = values[j]")], ["changes `x`, which is an input"]),
    "into the wrong array": (
        [("values[j] = x[i]", "values[j] = out[i]"), ("out[i] = values[j]", "x[i] = values[j]")],
        ["which is an input"],
    ),
    "reads the result": ([("= x[i]", "= out[i]")], ["needs the value of `out` before"]),
    "as in NumPy": ([(BODY, "    out[:] = x\n")], ["a thread stores one element"]),
    "two dimensions": (
        [(FIRST, "cuda.grid(2)")], ["`cuda.grid(2)` gives several numbers"],
    ),
    "a shape for a length": ([("x.size", "x.shape")], ["is a tuple", "one dimension"]),
    "threadIdx without x": ([(FIRST, "cuda.blockIdx * 1024 + cuda.threadIdx")], ["three numbers"]),
    "slices": (
        [(BODY, f"    first = {FIRST}\n    there = x[first : first + 1024 : 256]\n"
          "    for j in range(there.size):\n        out[first + 256 * j] = there[j]\n")],
        ["1 load of its 4", "`x[first:first + 1024:256]` loads nothing by itself"],
    ),
    "a list": ([(LOCAL, "    values = [0, 0, 0, 0]\n")], ["local.array"]),
    "a name that is not defined": ([("= x[i]", "= y[i]")], ["the name y is not defined"]),
    "never ends": (
        [(BODY, f"    i = {FIRST}\n    while i < x.size:\n        out[i] = x[i]\n")],
        ["wait for ever"],
    ),
    "elements of the neighbour": (
        [(PLACE, "i = first + 256 * j + 1")], ["Block 0 begins with element 1"],
    ),
    "far below 0": (
        [(FIRST, "cuda.blockIdx.x * 1024 - cuda.threadIdx.x")],
        ["`x[-32]`", "begin with number 0", "take away"],
    ),
    "before the first": ([(PLACE, "i = first + 256 * j - 1")], ["index -1", "from the end"]),
}  # fmt: skip

# Small slips that change nothing.
HARMLESS = {
    "float64 in `values = cuda.local.array(4, float32)`",  # the compiler takes it out
    "constant_one_more in `values = cuda.local.array(4, float32)`",  # a place that nobody uses
}

RIGHT = {
    # Nothing is computed in float64: the compiler takes the way there and back out.
    "float64 places": [("array(4, float32)", "array(4, 'float64')")],
    "float64 by a zero": scalars(
        *(load(j).replace("float32(0)", "0.0") for j in range(4)), *map(store, range(4))
    ),
    "a place more": [("array(4,", "array(5,")],
    "four variables": in_order("l0 l1 l2 l3 s0 s1 s2 s3"),
    "tests by if": scalars(
        *(f"    if i{j} < n:\n        v{j} = x[i{j}]\n" for j in range(4)), *map(store, range(4))
    ),
    "by the grid": [(FIRST, "cuda.grid(1)"), ("256 * j", "cuda.gridsize(1) * j")],
    "by warps": [
        (FIRST, "cuda.grid(1) // 32 * 128 + cuda.threadIdx.x % 32"), ("256 * j", "32 * j"),
    ],
    "loads in reverse": [
        (LOADS, LOADS.replace("range(4)", "range(3, -1, -1)")),
    ],
    "beyond the end the last element": [
        (f"        {TEST}\n{LOAD}", "        values[j] = x[min(i, x.size - 1)]\n"),
    ],
    "a fast way for whole blocks": [
        (BODY, f"    i = {FIRST}\n    if i + 768 < x.size:\n"
         "        p, q, r, s = x[i], x[i + 256], x[i + 512], x[i + 768]\n"
         "        out[i], out[i + 256], out[i + 512], out[i + 768] = p, q, r, s\n"
         "    else:\n        while i < x.size:\n            out[i] = x[i]\n            i += 256\n"),
    ],
    "a step of the block's width": [("256 * j", "cuda.blockDim.x * j")],
    "the length of out": [("x.size", "out.size")],
    "while": [
        (LOADS, LOADS.replace("for j in range(4):", "j = 0\n    while j < 4:")
         + "        j += 1\n"),
    ],
    "in whatever order they are stored": in_order("l2 l0 l3 l1 s3 s1 s0 s2"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.usefixtures("compiler")
def test_a_place_that_the_compiler_does_not_know_is_no_register():
    kernel = changed(NAME, ("values[j]", "values[(j + first) % 4]"))
    (cause,) = check(NAME, kernel).causes
    for words in ("The result is right", "in the machine code only 1 load", "whose index"):
        assert words in cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_every_small_slip_is_refused():
    passed = {what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed}
    assert passed == HARMLESS


def test_who_passes_reads_where_the_waits_are_counted():
    # The last block of this one waits up to three times in a thread.
    verdict = check(NAME, changed(NAME, *RIGHT["a fast way for whole blocks"]))
    assert "counted in block 0" in str(verdict)
    assert "a kernel may wait more often" in str(verdict)


def test_without_a_compiler_the_source_alone_is_judged(monkeypatch):
    monkeypatch.setattr("labs.copies._compiled", lambda seen: None)
    verdict = check(NAME, EXERCISES[NAME].solution)
    assert verdict.passed
    assert "Not known on this machine: one wait in the machine code, too." in verdict.notes
    assert not check(NAME, EXERCISES[NAME].starter).passed
