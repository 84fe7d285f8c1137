"""Tests of the evaluator: a formula's source code is evaluated as Python would run it."""

import math
import sys
import textwrap

import pytest

from labs.exercises.required_shared import solution
from labs.numbers.evaluator import MOST_STEPS, CannotEvaluate, make_evaluator
from utils.lessons.edits import Edit, edited

WHOLE = solution.__file__


def made(text):
    """Return the function f of a text, whose module is executed."""
    with open(WHOLE, encoding="utf-8") as file:
        return edited(solution, Edit(file.read(), textwrap.dedent(text))).f


def value(text, *arguments):
    return make_evaluator(made(text))(arguments)


def refusal(text, *arguments):
    with pytest.raises(CannotEvaluate) as caught:
        value(text, *arguments)
    return str(caught.value)


# Each is evaluated for x = 7 and y = 3, and compared with Python's value.
FORMULAS = {
    "x + y * 2 - x // y + x % y + x ** y - x / y",
    "-x + +y - (not x) + ~y + (x << y) - (x >> 1) + (x & y) + (x | y) + (x ^ y)",
    "min(x, y) + max(x, y, 9) + abs(-x) + round(x / y) + int(x / y) + float(y)",
    "math.ceil(x / y) + math.floor(x / y) + math.sqrt(x) + math.log(x, y) + math.log2(x) + math.pi",
    "math.isqrt(x) + math.gcd(x, y) + math.prod((x, y)) + math.trunc(x / y) + math.pow(x, y)",
    "x if x > y else y",
    "(x and y) + (x or y) + (0 or y) + (0 and x)",
    "1 < y < x",
    "x in (1, 7) and y not in [1, 7] and x is not None",
    "sum(i * i for i in range(x) if i % 2)",
    "max([i % y for i in range(x)]) + len([x, y]) + sum((x, y))",
    "(lambda a, b: a - b)(x, y)",
    "max(range(x), key=lambda i: -abs(i - y))",
    "(x, y)[1] + [x, y][-1] + range(9)[2]",
    "divmod(x, y)[0] + pow(x, y) + sorted((x, y))[0] + sum(reversed([x, y]))",
    "sum(3 * [x]) - sum([x] * 3)",
    "sum(a * b for a, b in zip((x, y), (1, 2))) + sum(i for i, _ in enumerate((x, y)))",
    "float('inf') if x > 10**6 else y",
    "max([(i % y, i) for i in range(x)])[1]",
    "min(*[x, y], 5)",
    "{x: 1, y: 2}[y] + len({}) + (x in {x: 1})",
    "min({i: (i - y) ** 2 for i in range(x) if i}.items(), key=lambda pair: pair[1])[0]",
    "len({i % y for i in range(x)}) + len({x, y}) + sum(set([x, x, y]))",
    "dict(zip((x, y), (1, 2))).get(y, 5) + {x: 1}.get(0, 4)",
}

BODIES = {
    "loops": """
        total = 0
        for i in range(x):
            if i == 5:
                break
            if i % 2:
                continue
            total += i
        else:
            total = -1
        while total > y:
            total -= y
        else:
            total *= 2
        return total
    """,
    "assignments": """
        a = b = x
        c, (d, e) = a, (b, y)
        f: int = c - e
        f **= 2
        return f + d
    """,
    "inner function": """
        def up(amount, unit):
            return -(-amount // unit) * unit
        unit = y
        return up(x, unit)
    """,
    "returns from a loop": """
        for i in range(x):
            for j in range(y):
                if i * j == 4:
                    return i
    """,
    "import": """
        import math as m
        assert m.pi > 3
        pass
        return m.floor(x / y)
    """,
    "NumPy": """
        import numpy as np
        return np.ceil(x / y) + np.floor(-x / y) + np.float64(x)
    """,
    "methods of a list": """
        found = []
        for i in range(x):
            found.append(i * y % x)
        last = found.pop()
        found.sort()
        return found.index(last - 1) + (x, y, y).count(y)
    """,
    "a dictionary": """
        times = {}
        for i in range(x):
            times[i] = (i - y) ** 2
        least = min(times.values())
        for i, time in times.items():
            if time == least:
                return i * 10 + min(times, key=times.get) + sum(times.keys()) + max(times)
    """,
    "an element of a list": """
        found = [x, y]
        found[1] = found[0]
        return found[1]
    """,
    "nothing": """
        'a text is a comment'
        x + y
    """,
    "prints": """
        print(f"x is {x}", y)
        return x
    """,
}


@pytest.mark.parametrize("formula", sorted(FORMULAS))
def test_a_formula_has_pythons_value(formula):
    function = made(f"import math\ndef f(x, y):\n    return {formula}\n")
    assert make_evaluator(function)((7, 3)) == function(7, 3)


@pytest.mark.parametrize("what", BODIES)
def test_statements_do_what_python_does(what, capsys):
    function = made("def f(x, y):\n" + textwrap.indent(textwrap.dedent(BODIES[what]), "    "))
    assert make_evaluator(function)((7, 3)) == function(7, 3)


def test_functions_of_the_reader_and_names_outside_are_known():
    text = """
        SIDES = (8, 16)
        MOST = 64
        def f(x):
            return g(x, by=2) + MOST + SIDES[0]
        def g(x, plus=1, by=3):
            return x * by + plus
    """
    assert value(text, 5) == 5 * 2 + 1 + 64 + 8


def test_a_parameter_that_is_not_asked_for_has_its_default():
    assert value("def f(x, y=4):\n    return x * y\n", 5) == 20


def test_a_function_may_call_itself():
    assert value("def f(x):\n    return 1 if x < 2 else x * f(x - 1)\n", 6) == math.factorial(6)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x // (x - x)", ["Line 2, `return x // (x - x)`", "divides by zero"]),
        ("return math.log(x - x)", ["ValueError", "expected a positive input"]
         if sys.version_info >= (3, 14) else ["ValueError", "math domain error"]),
        ("return (-x) ** 0.5", ["the root of a negative number"]),
        ("while x:\n        x + 1", ["Line 2, `while x`", "this loop never ends"]),
        ("while x:\n        x += 1", ["Line 2, `while x`", f"after {MOST_STEPS:,} steps"]),
        ("return f(x)", ["40 functions are called within each other"]),
        ("return sum(range(10**9))", ["1,000,000,000 values"]),
        ("for i in range(10**9):\n        pass", ["steps the function has not ended"]),
        ("return 9**9**9", ["would have more than 4,096 bits"]),
        ("return pow(x)", ["TypeError"]),
        ("return math.pow(9.0, 10**9)", ["OverflowError"]),
        ("return 1 << 10**9", ["would have more than 4,096 bits"]),
        ("return pow(9, 10**9)", ["would have more than 4,096 bits"]),
        ("y = x\n    while True:\n        y = y * y", ["has more than 4,096 bits"]),
        ("return y", ["the name `y` is not defined"]),
        ("if x < 0:\n        y = 1\n    return y", ["Line 4", "`y` has no value yet"]),
        ("y += 1", ["`y` has no value yet"]),
        ("return [x] * 10**9", ["a list of 1,000,000,000 elements is too long"]),
        ("return 10**9 * [x]", ["a list of 1,000,000,000 elements is too long"]),
        ("return 'a' * x", ["A str cannot be computed with"]),
        ("return f'{x}'", ["is not known to the check"]),
        ("return min(x, None)", ["cannot be compared with numbers"]),
        ("return g(x) + 1", ["`None`, the value of a function without `return`"]),
        ("return x.bit_length()", ["`x.bit_length` is not known to the check"]),
        ("return [x].extend([x])", ["`[x].extend` is not known to the check"]),
        ("return (x,).append(x)", ["`(x,).append` is not known to the check"]),
        ("return [x].index(3)", ["ValueError"]),
        ("a = [x]\n    for one in a:\n        a.append(one)", ["steps the function has not ended"]),
        ("return math.factorial(10**9)", ["`math.factorial` is not known to the check"]),
        ("return np.sign(x)", ["`np.sign` is not known to the check; `math` and"]),
        ("return np.ceil([x, x])", ["TypeError"]),
        ("return open", ["`open` is not known to the check"]),
        ("return eval('x')", ["`eval` is not known to the check"]),
        ("return __import__('os')", ["`__import__` is not known to the check"]),
        ("return x(1)", ["`x` is a number and no function"]),
        ("return (1, 2)[5]", ["IndexError"]),
        ("a, b = 1, 2, 3", ["3 values are assigned to 2 names"]),
        ("x[0] = 1", ["only variables can be assigned to"]),
        ("return {x: 1}[0]", ["KeyError"]),
        ("a = {x: 1}\n    for one in a:\n        a[one + 1] = 1", ["changed size"]),
        ("return {[x]: 1}", ["TypeError", "unhashable"]),
        ("return {**{x: 1}}", ["is not known to the check"]),
        ("return {x: 1}.pop(x)", ["is not known to the check"]),
        ("return {x} | {1}", ["A set cannot be computed with"]),
        ("return {x}.pop()", ["is not known to the check"]),
        ("return {x: 1} | {}", ["A dict cannot be computed with"]),
        ("(1, 2)[0] = x", ["only variables can be assigned to"]),
        ("import os", ["of all modules only `math`"]),
        ("try:\n        pass\n    except ValueError:\n        pass", ["this statement"]),
        ("assert x < 0", ["this assertion does not hold"]),
        ("return g(x, 1, 2)", ["does not fit `g`, too many positional"]),
        ("return g(y=1)", ["does not fit `g`, missing a required argument"]),
        ("for i in x:\n        pass", ["nothing that a loop can go through"]),
        ("return x" + " + 1" * 900, ["nested too deeply"]),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused_in_a_sentence(body, words):
    text = f"def f(x):\n    {body}\n\n\nimport math\nimport numpy as np\ndef g(x):\n    pass\n"
    message = refusal(text, 7)
    assert [word for word in words if word not in message] == [], message


def test_nothing_of_the_function_runs():
    ran = []
    function = made("def f(x):\n    return x + 1\n")
    before = sys.getprofile()
    sys.setprofile(lambda frame, *_: ran.append(frame.f_code) if frame.f_code is function.__code__
                   else None)  # fmt: skip
    try:
        assert make_evaluator(function)((1,)) == 2
    finally:
        sys.setprofile(before)
    assert ran == []


def test_a_deep_expression_of_a_reasonable_size_is_evaluated():
    assert value("def f(x):\n    return " + "(" * 60 + "x" + "+1)" * 60 + "\n", 1) == 61
