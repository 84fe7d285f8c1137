"""The exercise `sums_in_registers`: wrong kernels are refused with the words of their cause."""

import pytest

from labs import EXERCISES, check
from tests.labs.readers import changed, from_text, mutants_of, written
from utils.errors import CourseError
from utils.xray.compile import NO_COMPILER

NAME = "sums_in_registers"
LOOP = "for j in range(16):"
TAIL = "if col + 32 * j < n:"
SET = "totals[j] = float32(0)"
LOAD = "totals[j] += from_a * b[i, col + 32 * j]"
STORE = "c[row, col + 32 * j] = totals[j]"
MINE = "    mine = min(16, (n - col + 31) // 32)\n"
FIRST = f"    {LOOP}\n        {SET}\n"
MIDDLE = f"        {LOOP}\n            {TAIL}\n                {LOAD}\n"
LAST = f"    {LOOP}\n        {TAIL}\n            {STORE}\n"

WRONG = {
    "no test at the load": (
        [(MIDDLE, f"        {LOOP}\n            {LOAD}\n")],
        ["`b[0, ", "first column of this thread", "is inside"],
    ),
    "no test at the store": (
        [(LAST, f"    {LOOP}\n        {STORE}\n")],
        ["`c[0, ", "first column of this thread", "is inside"],
    ),
    "a test with <=": ([(TAIL, "if col + 32 * j <= n:")], ["is not"]),
    "a test of the first column alone": ([(TAIL, "if col < n:")], ["first column of this thread"]),
    "fifteen columns": ([("range(16)", "range(15)")], ["15 columns", "the task says 16"]),
    "columns 16 apart": ([("32 * j", "16 * j")], ["16 apart", "overlap"]),
    "columns 1 apart": ([("32 * j", "j")], ["only one further: they overlap"]),
    "the block 256 wide": ([("* 512", "* 256")], ["A block covers 512 columns"]),
    "eight totals": ([("array(16", "array(8")], ["totals[8]", "totals has 8 elements"]),
    "totals not set": ([(SET, "pass")], ["totals[0] of its local array", "not written"]),
    "totals of float64": ([("array(16, float32)", "array(16, 'float64')")], ["works in float64"]),
    "one total": ([("totals[j]", "totals[0]")], ["Columns 0 and 32", "share one total"]),
    "one shared array of totals": (
        [("cuda.local.array", "cuda.shared.array")],
        ["totals[0]", "The block has one `totals`, for all of its threads"],
    ),
    "added up in c": (
        [("totals[j] +=", "c[row, col + 32 * j] +="), (LAST, "")],
        ["needs the value of `c` before anything was stored there"],
    ),
    "adjacent columns": (
        [("+ cuda.threadIdx.x", "+ 16 * cuda.threadIdx.x"), ("32 * j", "j")],
        ["The result is right", "load `b` 16 words apart", "the target is 4"],
    ),
    "one column after the other": (
        [
            (FIRST, ""),
            (LAST, ""),
            (
                "    i = 0\n    while i < k:\n        from_a = a[row, i]\n"
                f"{MIDDLE}        i += 1\n",
                f"    {LOOP}\n        {TAIL}\n            {SET}\n            i = 0\n"
                f"            while i < k:\n                {LOAD.replace('from_a', 'a[row, i]')}\n"
                f"                i += 1\n            {STORE}\n",
            ),
        ],
        ["The result is right", "costs 2 loads", "the target is 1.062"],
    ),
}

# Wrong by what the compiler makes of them.
COMPILED = {
    "nothing changed": (
        None,
        ["64 bytes", "12 `LDL`, 16 `STL`", "line 16", "`totals[j]`", "`for j in range(mine)`"],
    ),
    "the loop over k alone is not changed": (
        [(FIRST, MINE + FIRST), (MIDDLE, f"        for j in range(mine):\n            {LOAD}\n")],
        ["bytes", "`totals[j]`", "line 20", "`for j in range(mine)`"],
    ),
    "a while loop up to mine": (
        [
            (FIRST, MINE + FIRST),
            (
                MIDDLE,
                f"        j = 0\n        while j < mine:\n            {LOAD}\n            j += 1\n",
            ),
        ],
        ["The result is right", "`BRA`", "may end after each of its turns"],
    ),
    "an index modulo 16": (
        [("totals[j]", "totals[(j + row) % 16]")],
        ["local memory", "`totals[(j + row) % 16]`", "known only when the kernel runs"],
    ),
    "the store alone is not changed": (
        [(FIRST, MINE + FIRST), (LAST, f"    for j in range(mine):\n        {STORE}\n")],
        [
            "The result is right",
            "the target is 14%",
            "Line 24, `for j in range(mine)`, still ends at a number that only the launch knows",
            "which elements of `totals`",
        ],
    ),
    "break": (
        [
            (TAIL, f"if col + 32 * j >= n:\n{' ' * 16}break"),
            (f"    {LOAD}", LOAD),
            (f"    {STORE}", STORE),
        ],
        ["The result is right", "15 instructions (`BRA`) are jumps", "the target is 14%"],
    ),
    "comparisons that every turn makes anew": (
        [(MIDDLE, MIDDLE.replace(TAIL, "if col + 32 * j < n and i + j < k + 16 and i * j >= 0:"))],
        ["The result is right", "(`ISETP`) compare", "the target is 14%"],
    ),
    "in shared memory": (
        [
            (
                "totals = cuda.local.array(16, float32)",
                "totals = cuda.shared.array((16, 256), float32)\n"
                "    t = cuda.threadIdx.y * 32 + cuda.threadIdx.x",
            ),
            ("totals[j]", "totals[j, t]"),
        ],
        ["The result is right", "`STS`", "go to shared memory"],
    ),
    "too few registers": (
        [("@cuda.jit", "@cuda.jit(max_registers=32)")],
        ["bytes of each thread are spilled", "32 registers", "What limits them?"],
    ),
}

CLAMPED = MIDDLE.replace(
    f"            {TAIL}\n                {LOAD}", f"            {LOAD}"
).replace("b[i, col + 32 * j]", "b[i, min(col + 32 * j, n - 1)]")
SCALARS = "".join(
    [
        *(f"    t{u} = float32(0)\n" for u in range(16)),
        "    i = 0\n    while i < k:\n        from_a = a[row, i]\n",
        *(
            f"        if col + {32 * u} < n:\n            t{u} += from_a * b[i, col + {32 * u}]\n"
            for u in range(16)
        ),
        "        i += 1\n",
        *(
            f"    if col + {32 * u} < n:\n        c[row, col + {32 * u}] = t{u}\n"
            for u in range(16)
        ),
    ]
)
HEAD = """\
    m, k = a.shape
    n = b.shape[1]
    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y
    col = cuda.blockIdx.x * 512 + cuda.threadIdx.x
    if row >= m or col >= n:
        return
"""
RIGHT = {
    "loads of the last column": [(MIDDLE, CLAMPED)],
    "a test of j": [(FIRST, MINE + FIRST), (TAIL, "if j < mine:")],
    "a constant of its own": [(FIRST, "    MINE = 16\n" + FIRST), ("range(16)", "range(MINE)")],
    "a while loop up to 16": [
        (
            MIDDLE,
            f"        j = 0\n        while j < 16:\n            {TAIL}\n                {LOAD}\n"
            "            j += 1\n",
        )
    ],
}

EQUIVALENT = {
    "float64 in `totals[j] = float32(0)`": "what is stored in a float32 array is float32",
    "constant_one_more in `totals = cuda.local.array(16, float32)`": "a spare total is not used",
}


def refused_with(kernel, words):
    (cause,) = check(NAME, kernel).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    refused_with(changed(NAME, *changes), words)


def test_the_starter_is_told_which_index_puts_its_sums_into_memory(compiler):
    refused_with(EXERCISES[NAME].starter, COMPILED["nothing changed"][1])


@pytest.mark.slow
@pytest.mark.parametrize("what", list(COMPILED)[1:])
def test_what_the_compiler_makes_of_a_kernel_is_told_with_its_cause(what, compiler):
    changes, words = COMPILED[what]
    refused_with(changed(NAME, *changes), words)


@pytest.mark.slow
@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


@pytest.mark.slow
def test_sixteen_scalars_pass():
    verdict = check(NAME, written(NAME, HEAD + SCALARS))
    assert verdict.passed, str(verdict)


def test_without_a_compiler_what_it_makes_is_named_as_not_known(monkeypatch):
    def refuse(*given):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.xray.xray", refuse)
    verdict = check(NAME, EXERCISES[NAME].solution)
    assert verdict.passed
    assert [note.partition(":")[0] for note in verdict.notes] == ["Not known on this machine"] * 2


@pytest.mark.slow
def test_every_small_slip_is_refused_or_known_to_change_nothing():
    passed = [what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed]
    assert passed == list(EQUIVALENT)


def test_the_starter_and_the_solution_begin_alike():
    texts = EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
    starter, solution = (text.splitlines()[1:] for text in texts)
    gap = next(at for at, line in enumerate(starter) if "Change them" in line)
    assert starter[:gap] == solution[:gap]
    assert from_text(NAME, texts[0]).__name__ == NAME
