"""What `check` takes, the grader takes: aliases, constants, lambdas and errors, in many styles."""

import ast
import json

import pytest

from labs import EXERCISES, check
from labs.grading.allow_list import NotAllowed
from labs.grading.functions_from_text import functions_of
from labs.grading.handout import ALLOWED, RULES
from labs.grading.submissions import pieces_of
from labs.numbers.evaluator import make_evaluator
from utils.paths import ROOT

BODY = "    i = {cuda}.grid(1)\n    if i < x.size:\n        out[i] = x[i] * factor\n"
HEADS = {
    "import numba.cuda as nc": ("nc", "@nc.jit"),
    "from numba import cuda as gpu": ("gpu", "@gpu.jit"),
    "import numba as nb": ("nb.cuda", "@nb.cuda.jit"),
    "import numba": ("numba.cuda", "@numba.cuda.jit(fastmath=True)"),
    "import numba.cuda": ("numba.cuda", "@numba.cuda.jit"),
    "from numba import cuda\nkernel = cuda.jit(fastmath=True)": ("cuda", "@kernel"),
    "from numba import cuda\njit = cuda.jit": ("cuda", "@jit"),
    "from numba import cuda\nfrom numba.cuda import jit": ("cuda", "@jit"),
    "try:\n    from numba import cuda\nexcept ImportError:\n    cuda = None": ("cuda", "@cuda.jit"),
}
DEFINED_BY_CALL = (
    "scale = cuda.jit(scale_py)",
    "scale = cuda.jit(fastmath=True)(scale_py)",
    "scale_py = cuda.jit(scale_py)\nscale = scale_py",
)
# A constant's text, and its value.
CONSTANTS = {
    "2**4": 16, "int(16)": 16, "max(128, 256)": 256, "SHAPE[0] * SHAPE[1]": 12,
    "256 if SHAPE[0] > 2 else 128": 256, "min(SHAPE)": 3, "math.ceil(100 / 32)": 4,
    "len(SHAPE)": 2, "1 << 5": 32, "SHAPE[-1]": 4, "not 0": True, "16 if 0 or 1 else 0": 16,
    "math.isqrt(17)": 4, "abs(-3) % 2": 1, "np.int32(7)": 7, "float('-inf')": float("-inf"),
    "round(2.6)": 3, "pow(2, 5)": 32, "7 & 5": 5, "sum(SHAPE)": 7,
}  # fmt: skip
NO_CONSTANTS = (
    "9**9**9", "2**65", "1 << 10**9", "len('x')", "float('1e9')", "int('16')", "eval('1')",
    "__import__('os')", "cuda.jit('()')", "max('ab')", "(1).__class__", "SHAPE.__len__()",
    "pow(9, 10**9)", "round(5, -2 * 10**8)", "[0][0]", "cuda.to_device(1)", "open('x')",
    "np.load('x')", "sum(len)", "SHAPE[9]", "1 / 0", "(-8) ** 0.5", "math.factorial(20)",
)  # fmt: skip
CONSTANT = "import math\nimport numpy as np\nfrom numba import cuda\nSHAPE = (3, 4)\n"
SCALE = "@cuda.jit\ndef scale(x, factor, out):\n" + BODY.format(cuda="cuda")


def function_in(text: str, name: str = "scale") -> object:
    return functions_of((text,), (name,))[name]


def global_in(text: str, name: str = "N") -> object:
    function = function_in(text)
    assert not isinstance(function, NotAllowed), str(function)
    return function.py_func.__globals__[name]


def passes(text: str) -> None:
    """Fail unless the function may stand in a submission, and `check` finds it right."""
    function = function_in(text)
    assert not isinstance(function, NotAllowed), str(function)
    verdict = check("scale", function)
    assert verdict.passed, verdict.causes


@pytest.mark.parametrize("head", HEADS)
def test_an_alias_of_a_module_is_the_module(head):
    cuda, decorator = HEADS[head]
    passes(f"{head}\n\n{decorator}\ndef scale(x, factor, out):\n{BODY.format(cuda=cuda)}")


def test_names_of_a_module_are_imported_one_by_one():
    body = BODY.replace("{cuda}.", "")
    passes(f"from numba.cuda import jit, grid\n\n@jit\ndef scale(x, factor, out):\n{body}")


@pytest.mark.parametrize("line", DEFINED_BY_CALL)
def test_a_kernel_may_be_compiled_by_a_call(line):
    plain = SCALE.replace("@cuda.jit\n", "").replace("scale", "scale_py")
    passes(f"from numba import cuda\n\n{plain}\n{line}\n")


@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_expression_has_its_value(text):
    kernel = SCALE.replace("x.size:", "x.size + 0 * N:")
    assert global_in(f"{CONSTANT}N = {text}\n{kernel}") == CONSTANTS[text]


@pytest.mark.parametrize("text", NO_CONSTANTS)
def test_what_is_no_constant_is_refused_with_its_line(text):
    kernel = SCALE.replace("x.size:", "x.size + 0 * N:")
    refused = function_in(f"{CONSTANT}N = {text}\n{kernel}")
    assert isinstance(refused, NotAllowed)
    assert "Line 5 gives it no constant." in str(refused)


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("N = 128\nN *= 2", "", 256),
        ("N = 128", "N = 256", 128),  # "try other sizes", below the kernel
        ("N = 128\nN = 64", "N = len([1])", 64),
        ("", "N = 128\nN = 256", 128),
        ("N = 128", "for N in (1, 2):\n    print(N)", 128),
        ("N, M = 2, 3\nM, N = N, M", "", 3),
    ],
)
def test_a_constant_that_is_set_again_has_its_value_at_the_definition(before, after, value):
    kernel = SCALE.replace("x.size:", "x.size + 0 * N:")
    assert global_in(f"{CONSTANT}{before}\n{kernel}\n{after}\n") == value


@pytest.mark.parametrize(
    "lines",
    [
        "N = 1\nfor _ in range(3):\n    N *= 2",
        "N = 1\nif True:\n    N = 2",
        "N = 1\nwhile N < 9:\n    N = N + 1",
        "N = 1\nwith open('x') as N:\n    pass",
        "N = 1\n(N := 2)",
        "N = 1\ndef change():\n    global N\n    N = 2\n\nchange()",
        "N = 1\nfrom gemm_kernels import N",
        "N = 1\nimport os as N",
        "N = 1\ndel N",
        "N = 1\nN += other",
        "N = 1\nN, M = f()",
    ],
)
def test_a_constant_that_cannot_be_followed_is_refused_and_never_wrong(lines):
    kernel = SCALE.replace("x.size:", "x.size + 0 * N:")
    refused = function_in(f"{CONSTANT}{lines}\n{kernel}")
    assert isinstance(refused, NotAllowed)
    assert "the name `N` is not defined, or not allowed, here. Line " in str(refused)


@pytest.mark.parametrize("text", ["np.float32(0)", "float32(int(0.5))"])
def test_a_kernel_with_a_computed_constant_runs(text):
    kernel = SCALE.replace("* factor", "* factor + N")
    passes(f"{CONSTANT}from numba import float32\nN = {text}\n{kernel}")


def test_an_element_that_is_set_changes_no_constant():
    kernel = SCALE.replace("x.size:", "x.size + 0 * N:")
    assert global_in(f"{CONSTANT}N = 5\nout[N] = 1\nx.y = N\n{kernel}") == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f = lambda side: 2 * side * side * 4", 72),
        ("f = (\n    lambda side:\n    side + HALF\n)\nHALF = 2", 5),
        ("def f(side):\n    if side < 0:\n        raise ValueError(f'{side}')\n    return side", 3),
        ("def f(side):\n    if side < 0:\n        raise ValueError\n    return side", 3),
        ("def f(side):\n    d = {1: 2, side: 4}\n    return sum(v for _, v in d.items())", 6),
        ("def f(side):\n    d = {side: 4}\n    return sum(d.values()) + d.get(9, 1)", 5),
        ("def f(side):\n    return dict([(side, 1)])[side]", 1),
        ("from math import *\ndef f(side):\n    return ceil(side / 2)", 2),
        ("import math as m\ndef f(side):\n    return m.ceil(side / 2)", 2),
    ],
)
def test_a_function_of_numbers_is_taken_as_check_takes_it(text, value):
    function = function_in(text, "f")
    assert not isinstance(function, NotAllowed), str(function)
    assert make_evaluator(function)((3,)) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if True:\n    def f(x):\n        return x", "write it at the left margin"),
        ("class f:\n    pass", "is a class"),
    ],
)
def test_a_function_that_stands_elsewhere_is_told_where(text, words):
    assert words in str(function_in(text, "f"))


def test_a_caller_of_a_refused_function_says_so():
    text = "def g(x):\n    return open(x)\n\ndef f(x):\n    return g(x)\n"
    refused = function_in(text, "f")
    assert str(refused).startswith("`f` calls `g`, which cannot be graded. Line 2: the name `open`")
    text = "def g(x):\n    return open(x)\n\ndef f(x):\n    g = x\n    return g\n"
    assert make_evaluator(function_in(text, "f"))((3,)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "f = lambda x: " + "+".join(["x"] * 900),
        "f = a" + ".b" * 900,
        "f = a" + "()" * 900,
        "f = a" + "[0]" * 900,
        "@a" + ".b" * 900 + "\ndef f(x):\n    return x",
        "for f in a" + ".b" * 900 + ":\n    pass",
    ],
    ids=lambda text: text[:12],
)
def test_a_long_statement_costs_its_function_alone(text):
    functions = functions_of((f"{text}\n\ndef g(x):\n    return x\n",), ("f", "g"))
    assert isinstance(functions["f"], NotAllowed)
    assert make_evaluator(functions["g"])((3,)) == 3


# Each would be an attack if an alias opened what the list closes.
REFUSED = {
    "jit as a value": "from numba.cuda import jit\ndef f(x):\n    return jit('1')(lambda: 1)",
    "jit by another name": "from numba.cuda import jit as j\ndef f(x):\n    return j",
    "an alias of jit": "from numba import cuda\nj = cuda.jit\ndef f(x):\n    return j('1')",
    "jit with options": "from numba import cuda\nj = cuda.jit(device=True)\ndef f(x): return j",
    "jit of an alias": "import numba.cuda as nc\ndef f(x):\n    return nc.jit('1')",
    "jit of numba": "import numba as nb\ndef f(x):\n    return nb.cuda.jit('1')",
    "njit of numba": "import numba as nb\ndef f(x):\n    return nb.njit('1')",
    "vectorize": "import numba as nb\ndef f(x):\n    return nb.vectorize(['1'])",
    "a module as a value": "import numba\ndef f(x):\n    c = numba.cuda\n    return c.jit",
    "types": "from numba import types\ndef f(x):\n    return types.deferred_type()",
    "a module's module": "import numba.cuda as nc\ndef f(x):\n    return nc.cudadrv.driver",
    "a module of another": "import numpy as np\ndef f(x):\n    return np.random.rand()",
    "a parameter like a module": "import numpy as device\ndef f(device):\n    return device.dot",
    "an inner parameter": "import numpy as d\ndef f(x):\n    return (lambda d: d.empty)(x)",
    "a module, later set": "import math as d\ndef f(x):\n    y = d.pi\n    d = x\n    return y",
    "an error as a value": "def f(x):\n    e = ValueError\n    raise e",
    "an error's attribute": "def f(x):\n    raise ValueError.__base__",
    "another error": "def f(x):\n    raise SystemExit(0)",
    "a lambda's default": "f = lambda x, y=__import__('os'): x",
    "a lambda that names": "f = lambda x: open('x')",
    "a signature": "from numba import cuda\ndef g(x):\n    pass\nf = cuda.jit('void(int32[:])')(g)",
    "a signature alone": "from numba import cuda\ndef g(x):\n    pass\nf = cuda.jit('void()', g)",
    "a lambda's jit": "from numba import cuda\nf = lambda x: cuda.jit('1')",
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_alias_opens_nothing(what):
    assert isinstance(function_in(REFUSED[what], "f"), NotAllowed)


def test_an_error_may_not_be_raised_in_a_kernel():
    text = f"from numba import cuda\n{SCALE}        raise ValueError('x')\n"
    assert "`ValueError`" in str(function_in(text))


@pytest.mark.parametrize("name", ["tiling", "scale", "transpose", "coalescing"])
def test_a_solution_passes_with_an_alias(name):
    text = EXERCISES[name].solution_text
    text = text.replace("from numba import cuda", "from numba import cuda as gpu", 1)
    text = text.replace("cuda.", "gpu.")
    function = function_in(text, name)
    assert not isinstance(function, NotAllowed), str(function)
    assert check(name, function).passed


def test_the_handout_and_the_guide_tell_the_same_rules_in_one_table():
    assert ALLOWED in RULES
    assert ALLOWED in (ROOT / "labs" / "GUIDE.md").read_text(encoding="utf-8")


def renamed(old: str, new: str):
    """Return a change of an import and of all uses of what it imports."""

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.parse(new, mode="eval").body if node.id == old else node

    return lambda tree: Renamed().visit(tree)


IMPORT = "from numba import cuda, float32, njit\n"
# Spellings of a submission: what stands above it, and how its text is changed.
SPELLINGS = {
    "as it is": ("", lambda tree: tree),
    "gpu": (f"{IMPORT}from numba import cuda as gpu\n", renamed("cuda", "gpu")),
    "nc": (f"{IMPORT}import numba.cuda as nc\n", renamed("cuda", "nc")),
    "numba.cuda": (f"{IMPORT}import numba\n", renamed("cuda", "numba.cuda")),
    "nb.cuda": (f"{IMPORT}import numba as nb\n", renamed("cuda", "nb.cuda")),
    "nb.float32": (f"{IMPORT}import numba as nb\n", renamed("float32", "nb.float32")),
    "numpy": ("import numpy\n", renamed("np", "numpy")),
    "m": ("import math as m\n", renamed("math", "m")),
}
DEBRIS = ("%matplotlib inline\n", "!pip install numba\n", "%%time\n", "x = !ls\n", "# a\u2028b\f\n")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_solution_may_stand_in_a_submission_in_any_spelling(spelling):
    above, change = SPELLINGS[spelling]
    for name, exercise in EXERCISES.items():
        text = f"{above}{ast.unparse(change(ast.parse(exercise.solution_text)))}\n"
        function = function_in(text, name)
        assert callable(function), f"{name}: {function}"
        for debris in DEBRIS:
            cells = {"cells": [{"cell_type": "code", "source": debris + text}]}
            pieces = pieces_of("a.ipynb", json.dumps(cells).encode())
            found = functions_of(pieces, (name,))[name]
            assert callable(found), f"{name}, {debris!r}: {found}"
