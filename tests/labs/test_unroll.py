"""The exercise `unroll`: each wrong kernel is refused with the words that name its cause."""

import pytest

from labs import EXERCISES, check
from labs.machine_code import machine_code
from labs.run import run
from tests.labs.readers import changed, from_text, mutants_of, written
from utils.errors import CourseError
from utils.xray.compile import NO_COMPILER

NAME = "unroll"
TERMS = [
    f"        total += a[row, i{more}] * b[i{more}, col]\n" for more in ("", " + 1", " + 2", " + 3")
]
FOUR = "".join(TERMS)
ANY_TERM = "        total += a[row, i + u] * b[i + u, col]\n"
BEGIN = "    i = 0\n    whole = k - k % 4\n    while i < whole:\n"
REST = "    while i < k:\n        total += a[row, i] * b[i, col]\n        i += 1\n"
FOUR_TOTALS = [
    ("    i = 0\n", "    t1 = t2 = t3 = float32(0)\n    i = 0\n"),
    *((TERMS[u], TERMS[u].replace("total", f"t{u}")) for u in (1, 2, 3)),
]
RANGES = [
    (BEGIN, "    whole = k - k % 4\n    for i in range(0, whole, 4):\n"),
    ("        i += 4\n", ""),
    ("    while i < k:", "    for i in range(whole, k):"),
    ("        i += 1\n", ""),
]


def left_over(u: int) -> str:
    """The term i + u, if there is one."""
    return f"    if i + {u} < k:\n        total += a[row, i + {u}] * b[i + {u}, col]\n"


WRONG = {
    "not unrolled": (
        [("i < whole", "i < 0")],
        ["The result is right", "`while i < k` makes 24 turns", "1 for each", "the target is 0.25"],
    ),
    "unrolled by 2": (
        [("% 4", "% 2"), (TERMS[2] + TERMS[3], ""), ("i += 4", "i += 2")],
        ["The result is right", "12 turns", "0.5 for each"],
    ),
    "an inner loop that is no range": (
        [(FOUR, f"        u = 0\n        while u < 4:\n    {ANY_TERM}            u += 1\n")],
        ["The result is right", "`while u < 4` makes 24 turns", "Other loops make the rest"],
    ),
    "an inner range that the launch decides": (
        [(FOUR, "        for u in range(i, i + 4):\n            total += a[row, u] * b[u, col]\n")],
        [
            *("The result is right", "`for u in range(i, i + 4)` makes", "1.25 for each"),
            *("such as `range(4)`, are not counted", "computed while the kernel runs"),
        ],
    ),
    "one turn less than there could be": (
        [("i < whole", "i < k - 4")],
        ["The result is right", "5 turns", "0.375 for each"],
    ),
    "a quarter of the whole": (
        [("k - k % 4", "k // 4")],
        ["The result is right", "`while i < k` makes 16 turns", "0.75 for each"],
    ),
    "no remainder": (
        [(REST, "")],
        ["lacks the term i = 20: 1 of 21", "which part of it is left over"],
    ),
    "one term left over": (
        [("    while i < k:", "    if i < k:")],
        ["At k = 23", "lacks the terms i = 21, 22"],
    ),
    "the remainder begins again": (
        [(REST, "    i = 0\n" + REST)],
        ["Every term counts 2 times"],
    ),
    "the remainder begins one late": (
        [(REST, "    i += 1\n" + REST)],
        ["lacks the term i = 20"],
    ),
    "the remainder begins one early": (
        [(REST, "    i -= 1\n" + REST)],
        ["The term i = 23 counts 2 times"],
    ),
    "the remainder ends one early": (
        [("    while i < k:", "    while i < k - 1:")],
        ["lacks the term i = 20"],
    ),
    "the remainder ends one late": (
        [("    while i < k:", "    while i <= k:")],
        ["`a[0, 24]`", "the loop takes one more, 24"],
    ),
    "the remainder does not go on": (
        [("        i += 1\n", "")],
        ["`while i < k`: after", "has not ended"],
    ),
    "the turn does not go on": (
        [("        i += 4\n", "")],
        ["`while i < whole`: after", "has not ended"],
    ),
    "no test for a whole turn": (
        [("i < whole", "i < k")],
        ["`total += a[row, i + 1] * b[i + 1, col]`", "`a[0, 21]`", "takes one more, 21"],
    ),
    "a test that lets one too many in": (
        [("i < whole", "i + 2 < k")],
        ["`total += a[row, i + 3] * b[i + 3, col]`", "`a[0, 23]`", "takes one more, 23"],
    ),
    "a turn too many": (
        [("i < whole", "i <= whole")],
        ["`a[0, 24]`", "the loop takes one more, 24"],
    ),
    "rounded up": (
        [("k - k % 4", "(k + 3) // 4 * 4")],
        ["`a[0, 21]`", "the loop takes one more, 21"],
    ),
    "range of 4 that reads beyond": (
        [(BEGIN, "    for i in range(0, k, 4):\n"), ("        i += 4\n", ""), (REST, "")],
        ["`a[0, 21]`", "the loop takes one more, 21"],
    ),
    "a range without its step": (
        [(BEGIN, "    whole = k - k % 4\n    for i in range(whole):\n"), *RANGES[1:]],
        ["`a[0, 24]`", "here it goes from 24 to 26"],
    ),
    "a range of turns": (
        [(BEGIN, "    whole = k - k % 4\n    for i in range(k // 4):\n"), *RANGES[1:]],
        ["lacks the terms i = 9, 10, 11", "The term i = 1 counts 2 times"],
    ),
    "i of a range goes on": (
        [
            (BEGIN, "    whole = k - k % 4\n    i = 0\n    for i in range(0, whole, 4):\n"),
            ("        i += 4\n", ""),
        ],
        ["The term i = 20 counts 2 times"],
    ),
    "steps of 3": ([("i += 4", "i += 3")], ["`a[0, 24]`", "takes one more, 24"]),
    "steps of 1": ([("i += 4", "i += 1")], ["`a[0, 24]`", "it goes from 24 to 26"]),
    "steps of 5": ([("i += 4", "i += 5")], ["lacks the terms i = 4, 9, 14", "They lie 5 apart"]),
    "i goes on first": (
        [("        i += 4\n", ""), (FOUR, "        i += 4\n" + FOUR)],
        ["`a[0, 24]`", "the loop takes one more, 24"],
    ),
    "from 1 on": ([("    i = 0\n", "    i = 1\n")], ["`a[0, 24]`", "takes one more, 24"]),
    "the same term four times": (
        [(one, TERMS[0]) for one in TERMS[1:]],
        ["lacks the terms i = 1, 2, 3", "The term i = 0 counts 4 times"],
    ),
    "one term twice": (
        [(TERMS[2], TERMS[1])],
        ["lacks the terms i = 2, 6, 10", "The term i = 1 counts 2 times"],
    ),
    "three terms, four steps": (
        [(TERMS[3], "")],
        ["lacks the terms i = 3, 7, 11", "6 of 24", "They lie 4 apart"],
    ),
    "the row of b stays": (
        [(f"b[i + {u}, col]", "b[i, col]") for u in (1, 2, 3)],
        ["The column 1 of `a` meets the row 0 of `b`", "18 times in every sum"],
    ),
    "the column of a stays": (
        [(f"a[row, i + {u}]", "a[row, i]") for u in (1, 2, 3)],
        ["The column 0 of `a` meets the row 1 of `b`", "18 times in every sum"],
    ),
    "one row of b too far": (
        [("b[i + 2, col]", "b[i + 3, col]")],
        ["The column 2 of `a` meets the row 3 of `b`", "6 times in every sum"],
    ),
    "other rows of a": (
        [(f"a[row, i + {u}]", f"a[row + {u}, i]") for u in (1, 2, 3)],
        ["`a[32, 0]`", "belongs to row 31", "the index is 1 more"],
    ),
    "a sum in place of a product": (
        [(TERMS[1], TERMS[1].replace("*", "+"))],
        ["The term i = 1 is the sum of its two elements", "6 of the 24 terms"],
    ),
    "only the last term is kept": (
        [(FOUR, FOUR.replace("+=", "="))],
        ["only the last term of its sum"],
    ),
    "each turn begins anew": (
        [(FOUR, FOUR.replace("+=", "=", 1))],
        ["lacks the terms i = 0, 1, 2", "20 of 24", "The last 4 are right", "forget"],
    ),
    "ends at another size": (
        [("k - k % 4", "m - m % 4"), ("i < k", "i < m")],
        ["`a[0, 24]`", "it goes from 24 to 28"],
    ),
    "four totals and one forgotten": (
        [*FOUR_TOTALS, ("= total\n", "= total + t1 + t2\n")],
        ["lacks the terms i = 3, 7, 11", "They lie 4 apart"],
    ),
    "stores at each turn": (
        [("        i += 4\n", "        i += 4\n        c[row, col] = total\n")],
        ["The result is right", "7 stores for an element"],
    ),
    "stores in the remainder alone": (
        [("    c[row, col] = total", "        c[row, col] = total")],
        ["no thread ever stores into `c`"],
    ),
    "float64": ([("float32(0)", "0.0")], ["The result is right", "works in float64"]),
    "lanes go down": (
        [("uint32(y), uint32(x)", "uint32(x), uint32(y)")],
        ["`threadIdx.x` counts rows"],
    ),
    "a list of terms": (
        [(FOUR, "        total += sum([a[row, i + u] * b[i + u, col] for u in range(4)])\n")],
        ["can make no lists"],
    ),
}

# Wrong by what the compiler makes of them, so they are known where there is one.
WASTEFUL = {
    "a test for each term": (
        [("i < whole", "i < k")]
        + [(TERMS[u], f"        if i + {u} < k:\n    {TERMS[u]}") for u in (1, 2, 3)],
        ["ISETP", "a test for each term"],
    ),
    "ranges": (RANGES, ["SEL", "does not know that the index is never negative"]),
    "the remainder first": (
        [
            (BEGIN, "    i = 0\n" + REST.replace("i < k", "i < k % 4") + "    while i < k:\n"),
            (f"4\n{REST}", "4\n"),
        ],
        ["SEL", "does not know that the index is never negative"],
    ),
    "an unsigned i": (
        [("i = 0", "i = uint32(0)"), ("i += 4", "i += uint32(4)"), ("i += 1", "i += uint32(1)")],
        ["float64", "where a `uint32` meets an integer"],
    ),
}

RIGHT = {
    "a test of the last term": [("    whole = k - k % 4\n", ""), ("i < whole", "i + 3 < k")],
    "four totals": [*FOUR_TOTALS, ("= total\n", "= total + t1 + t2 + t3\n")],
    "one expression": [
        (
            FOUR,
            "        total += ("
            + " + ".join(f"a[row, i + {u}] * b[i + {u}, col]" for u in range(4))
            + ")\n",
        )
    ],
    "a range of a constant": [
        (FOUR, "        for u in range(4):\n            total += a[row, i + u] * b[i + u, col]\n")
    ],
    "i moves within the turn": [
        (FOUR, (TERMS[0] + "        i += 1\n") * 4),
        ("        i += 4\n", ""),
    ],
    "by 8": [
        ("% 4", "% 8"),
        ("i += 4", "i += 8"),
        (FOUR, FOUR + "".join(TERMS[1].replace("1", str(u)) for u in range(4, 8))),
    ],
    "tests in place of a second loop": [(REST, "".join(map(left_over, range(3))))],
}

EQUIVALENT = {
    "size_one_less in `while i < whole:`": "i and whole are multiples of 4",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_refused_with_its_cause(what):
    changes, words = WRONG[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    assert [word for word in words if word not in cause] == [], cause


@pytest.mark.parametrize("what", WASTEFUL)
def test_a_kernel_with_too_many_instructions_is_told_what_they_do(what, compiler):
    changes, words = WASTEFUL[what]
    (cause,) = check(NAME, changed(NAME, *changes)).causes
    wanted = ["The result is right", "in the machine code", "the target is 9", *words]
    assert [word for word in wanted if word not in cause] == [], cause


@pytest.mark.parametrize("what", RIGHT)
def test_another_right_kernel_passes(what):
    verdict = check(NAME, changed(NAME, *RIGHT[what]))
    assert verdict.passed, str(verdict)


def test_a_kernel_with_constants_of_its_own_passes():
    body = """\
    U = 4
    m, k = a.shape
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < m and col < b.shape[1]:
        i, total = 0, float32(0)
        while i + U <= k:
            for u in range(U):
                total += a[row, i + u] * b[i + u, col]
            i += U
        while i < k:
            total += a[row, i] * b[i, col]
            i += 1
        c[row, col] = total
"""
    verdict = check(NAME, written(NAME, body))
    assert verdict.passed, str(verdict)


def test_without_a_compiler_what_it_makes_is_named_as_not_known(monkeypatch):
    def refuse(*given):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("utils.xray.xray", refuse)
    verdict = check(NAME, changed(NAME, *RANGES))
    assert verdict.passed
    assert "instructions per multiply-add" in verdict.notes[0]
    assert "Not known on this machine" in verdict.notes[0]


@pytest.mark.slow
def test_every_small_slip_is_refused_or_known_to_change_nothing():
    passed = [what for what, kernel in mutants_of(NAME) if check(NAME, kernel).passed]
    assert passed == list(EQUIVALENT)


def test_the_starter_and_the_solution_begin_alike():
    lines = [text.splitlines() for text in _texts()]
    gap = next(at for at, line in enumerate(lines[0]) if "Your lines" in line)
    assert lines[0][1:gap] == lines[1][1:gap]
    assert from_text(NAME, _texts()[0]).__name__ == NAME


def test_the_solution_keeps_its_sum_in_registers(compiler):
    exercise = EXERCISES[NAME]
    seen = run(exercise, exercise.solution, exercise.shapes[0], 20)
    assert machine_code(seen).spill_bytes == 0


def _texts() -> tuple[str, str]:
    return EXERCISES[NAME].starter_text, EXERCISES[NAME].solution_text
