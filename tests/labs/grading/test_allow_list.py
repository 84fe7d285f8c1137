"""No name that a submission may use turns a string into Python."""

import contextlib
import sys

import numpy as np
import pytest

from labs.grading import allow_list
from labs.grading.allow_list import NotAllowed
from labs.grading.functions_from_text import functions_of
from labs.grading.grade import grade
from labs.grading.labs import find
from labs.grading.submissions import Submission

RAN = "ran_from_a_string"  # a module that appears when a string is evaluated
TEXT = f"__import__('sys').modules.__setitem__({RAN!r}, 1)"
HEAD = """
import numba
import numpy as np
from numba import cuda, njit, vectorize, guvectorize, cfunc, jit as cpu_jit
from numba.cuda import jit, declare_device, vectorize as cuda_vectorize
from numba.core import sigutils

"""
# What Numba compiles from a signature, and so evaluates if the signature is a string.
COMPILERS = (
    "cuda.jit", "numba.cuda.jit", "jit", "cpu_jit", "njit", "numba.njit", "numba.jit", "vectorize",
    "numba.vectorize", "guvectorize", "numba.guvectorize", "cfunc", "numba.cfunc",
    "declare_device", "cuda.declare_device", "cuda_vectorize", "cuda.compile_ptx",
    "cuda.compile", "sigutils.normalize_signature", "numba.typeof", "numba.cuda.jit.compile",
)  # fmt: skip
BODIES = {
    "called": "    {name}({text!r})(lambda x: None)\n",
    "kept as a value": "    f = {name}\n    f({text!r})\n",
    "given away": "    list(map({name}, [{text!r}]))\n",
    "of an inner function": "    @{name}({text!r})\n    def g(x):\n        return x\n",
    "in a tuple": "    for f in ({name},):\n        f({text!r})\n",
}


@pytest.fixture(autouse=True)
def forgotten():
    sys.modules.pop(RAN, None)
    yield
    assert sys.modules.pop(RAN, None) is None, "a string was evaluated"


@pytest.mark.parametrize("kind", ["", "@cuda.jit\n", "@njit\n"])
@pytest.mark.parametrize("body", BODIES)
def test_what_compiles_is_never_a_value(kind, body):
    for name in COMPILERS:
        text = HEAD + kind + "def work(x):\n" + BODIES[body].format(name=name, text=TEXT)
        assert isinstance(functions_of((text,), ("work",))["work"], NotAllowed), name


@pytest.mark.parametrize("name", COMPILERS)
def test_a_compiler_that_is_renamed_outside_of_a_function_is_no_value_either(name):
    text = f"{HEAD}make = {name}\n\ndef work(x):\n    make({TEXT!r})\n"
    assert isinstance(functions_of((text,), ("work",))["work"], NotAllowed)


@pytest.mark.parametrize("decorator", ["cuda.jit", "njit", "numba.cuda.jit", "numba.njit"])
@pytest.mark.parametrize("given", ["{0!r}", "[{0!r}]", "signature={0!r}", "device={0!r}"])
def test_a_signature_in_a_decorator_is_not_evaluated(decorator, given):
    text = f"{HEAD}@{decorator}({given.format(TEXT)})\ndef work(x):\n    x[0] = 1\n"
    functions_of((text,), ("work",))


def _values():
    """Yield all names of modules that a submission may use, with their values."""
    for rules in (allow_list.COMPILED, allow_list.PLAIN):
        for module, members in rules.members.items():
            for name in members:
                if hasattr(allow_list.MODULES[module], name):
                    yield f"{module}.{name}", getattr(allow_list.MODULES[module], name)


def test_no_value_on_the_list_evaluates_a_string():
    for name, value in dict(_values()).items():
        for arguments in ((TEXT,), ([TEXT],), (1, TEXT), (TEXT, 1)):
            with contextlib.suppress(Exception):
                made = value(*arguments)
                if callable(made):
                    made(lambda x: None)
        assert RAN not in sys.modules, name


FORGED = (
    "[__import__('labs.grading.messages').grading.messages._send(int(__import__('sys').argv[1]), x)"
    " for x in ({'part':'benchmark','passed':True,'causes':[]},{'end':True})]"
    " and __import__('os')._exit(0)"
)


@pytest.mark.parametrize("name", ["jit", "cuda.jit"])
def test_a_signature_that_forges_a_mark_gives_no_point(sandbox, name):
    text = (
        "from numba import cuda\nfrom numba.cuda import jit\n\n"
        f"def benchmark(device, m, n, k):\n    {name}({FORGED!r})(lambda x: None)\n"
    )
    mark = grade(find("measuring"), Submission("student", (("a.py", text.encode()),)), "x" * 16)
    assert mark.points == 0
    assert f"`{name}`" in mark.rows[0].told


@pytest.mark.parametrize("body", [
    "f = lambda __builtins__: 0\n    return __builtins__['__import__']('os')",
    "f = [0 for __import__ in x]\n    return __import__('os')",
    "__builtins__ = {}\n    return x",
])  # fmt: skip
def test_no_function_can_name_its_builtins(body):
    function = functions_of((f"def work(x):\n    {body}\n",), ("work",))["work"]
    assert isinstance(function, NotAllowed)
    assert "__` is not" in str(function)


@pytest.mark.parametrize("text", [
    "x.mean()", "x.sum()", "x.min()", "print(x)", "f'{x.dtype}'", "f'{x} {x[0]!r}'",
])  # fmt: skip
def test_what_numpy_imports_by_itself_is_there(text):
    functions_of((f"def work(x):\n    return {text}\n",), ("work",))["work"](np.ones((2, 3)))


@pytest.mark.parametrize("name", ["os", "sys", "numpy.f2py", "numpyos", "labs", "builtins", ""])
def test_nothing_else_can_be_imported(name):
    with pytest.raises(ImportError, match="imports nothing"):
        allow_list.builtins_of_all()["__import__"](name, {}, {}, ["system"], 0)
