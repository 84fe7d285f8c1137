"""The text that is checked is the text that runs, whatever ends its lines."""

import ast
import json

import pytest

from labs import EXERCISES
from labs.grading.allow_list import NotAllowed
from labs.grading.functions_from_text import functions_of
from labs.grading.submissions import pieces_of
from virtual_gpu.common.source import read_source

# What `str.splitlines` or Python's parser takes for the end of a line.
ENDS = ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
SCALE = EXERCISES["scale"].solution_text


def forms(text: str) -> list[tuple[str, bytes]]:
    cell = {"cell_type": "code", "source": text}
    return [("a.py", text.encode()), ("a.ipynb", json.dumps({"cells": [cell]}).encode())]


def definition(text: str, name: str) -> ast.FunctionDef:
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    found = next(node for node in functions if node.name == name)
    found.decorator_list = []  # these are interpreted, and not run
    return found


@pytest.mark.parametrize("end", ENDS, ids=ascii)
@pytest.mark.parametrize("number", [0, 1], ids=["py", "ipynb"])
def test_the_text_that_is_checked_is_the_text_that_runs(end, number):
    comment = "# " if end in "\r\n" else "# b "
    text = f"# a{end}{comment}{end}# c\n{SCALE}\n\nANOTHER = 'a\u2028b'  # {end}#{end}#\n"
    text += "\n\ndef other(x):\n    return x\n"
    name, raw = forms(text)[number]
    (piece,) = pieces_of(name, raw)
    for wanted in ("scale", "other"):
        function = functions_of((piece,), (wanted,))[wanted]
        source = read_source(getattr(function, "py_func", function))
        checked = definition(piece, wanted)
        assert ast.dump(source.tree, include_attributes=True) == ast.dump(
            checked, include_attributes=True
        )
        lines = piece.split("\n")
        assert all(line.strip() == lines[at - 1].strip() for at, line in source.lines)


@pytest.mark.parametrize("end", ENDS[3:], ids=ascii)
def test_a_kernel_in_a_string_is_not_run_in_place_of_the_checked_one(end):
    for count in range(1, 10):
        text = (
            f"from numba import cuda\nX = 1  # {end * count}\nY = '''\n@cuda.jit\n"
            "def scale(x, out):\n    cuda.nanosleep(1)\n'''\n\n@cuda.jit\ndef scale(x, out):\n"
            "    out[0] = 0.0\n"
        )
        function = functions_of((text,), ("scale",))["scale"]
        if not isinstance(function, NotAllowed):
            assert "nanosleep" not in ast.dump(read_source(function.py_func).tree)


def test_a_text_that_is_read_otherwise_than_it_was_checked_is_refused(monkeypatch):
    def shifted(file, text):
        import linecache

        lines = [f"{line}\n" for line in f"\n\n{text}".split("\n")]
        linecache.cache[file] = (len(text), None, lines, file)

    monkeypatch.setattr("labs.grading.functions_from_text.register", shifted)
    text = "def first(x):\n    return 1\n\ndef other(x):\n    return x\n"
    refused = functions_of((text,), ("other",))["other"]
    assert isinstance(refused, NotAllowed)
    assert "cannot be told apart" in str(refused)
