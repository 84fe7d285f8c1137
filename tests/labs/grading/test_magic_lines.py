"""Lines of IPython are taken out of a cell where IPython itself would see one, and nowhere else."""

import ast
import json

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from labs import EXERCISES
from labs.grading.functions_from_text import functions_of
from labs.grading.magic_lines import without_magic
from labs.grading.submissions import pieces_of

SCALE = EXERCISES["scale"].solution_text.strip()
# Python as it stands, in which IPython sees no line of its own.
PYTHON = [
    "i = ((7 + 7)\n     % 5\n     )",
    "i = [\n% 5]".replace("[\n", "[3\n"),
    "x = (1\n!= 2)",
    "x = 7 \\\n% 4",
    "text = '''\n%time\n!ls\n'''",
    'text = """ \\""" \n!ls\n"""',
    "x = {'a': (1,\n  2)}  # ( not closed here\ny = 3 % 2",
    "x = 5  # is this right?\ny = 1 != 2",
    "x = '(' \ny = 1",
    "\n\nx = 1\n\n",
    "x = f(a=1)[\n  b != c]".replace("f(a=1)", "dict(a=1)"),
    "# a comment\n# why?\nx = 'a\u2028b'  # \f",
]
# Lines of IPython, each as it stands in the cell of a kernel.
MAGIC = [
    "%matplotlib inline",
    "!pip install 'numba",
    "!pip install numba \\\n    numpy",
    "?scale",
    "scale?",
    "np.dot??",
    "files = !ls (",
    "x = %pwd",
    "if IN_COLAB:\n    !pip install numba",
    "if IN_COLAB:\n    # first (\n    %cd course\nelse:\n    !ls",
    "pip install numba",
    "%timeit scale[1, 1](a, b)",
    "%%time",
    "%%capture output\n%%time",
    "\n%%time",
]


@pytest.mark.parametrize("cell", PYTHON)
def test_python_stays_as_it_is(cell):
    ast.parse(cell)
    assert without_magic(cell) == cell
    assert "get_ipython" not in TransformerManager().transform_cell(cell)


@pytest.mark.parametrize("line", MAGIC)
def test_the_kernel_of_a_cell_with_lines_of_ipython_is_read(line):
    cell = f"{line}\n{SCALE}\n"
    piece = without_magic(cell)
    assert piece.count("\n") == cell.count("\n")
    assert piece.endswith(f"\n{SCALE}\n")
    function = functions_of((piece,), ("scale",))["scale"]
    assert callable(function), str(function)


@pytest.mark.parametrize("line", [one for one in MAGIC if not one.startswith("pip")])
def test_ipython_sees_a_line_of_its_own_where_one_is_taken_out(line):
    assert "get_ipython" in TransformerManager().transform_cell(f"{line}\nx = 1\n")


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile kernel.py", "%%html", "%%timeit", "%%"])
def test_a_cell_that_does_not_run_as_python_of_the_notebook_is_empty(magic):
    assert without_magic(f"{magic}\n{SCALE}") == ""


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "'" * 100_001,
        "\\\n" * 50_000,
        '"""' + "x" * 10**6,
        " " * 10**5,
        "x ," * 10**5,
    ],
)
def test_a_long_cell_is_read_in_time(text):
    assert without_magic(text) == text


@pytest.mark.parametrize("line", ["% x.size", "!= x.size"])
def test_a_kernel_is_the_same_in_a_notebook_and_in_a_file(line):
    text = SCALE.replace("x.size", f"(x.size\n{line})", 1) + "\n"
    notebook = {"cells": [{"cell_type": "code", "source": text}]}
    assert pieces_of("a.ipynb", json.dumps(notebook).encode()) == pieces_of("a.py", text.encode())
