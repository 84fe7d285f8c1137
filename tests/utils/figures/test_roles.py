"""Tests that a role has the same colour in the legends of all pictures."""

import ast
import re
from importlib import import_module

import pytest

from utils.figures import roles
from utils.paths import ROOT

MODULES = [
    file.relative_to(ROOT)
    for folder in ("utils/lessons", "utils/figures")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "legend(" in file.read_text(encoding="utf-8")
]


def labels(tree):
    """Yield (words, expression of a colour) of the legends and of the tables of colours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "legend":
            yield from ((key.arg.replace("_", " "), key.value) for key in node.keywords if key.arg)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


def role_of(words):
    """Return the role that the words of a legend name, or None."""
    return next((role for role, found in roles.WORDS.items() if re.search(found, words)), None)


def others(text, names):
    """Return (words, colour) of the labels of a text whose colour is not that of their role.

    names: the names that the text can use.
    """
    wrong = []
    for words, value in labels(ast.parse(text)):
        colour = names.get(value.id) if isinstance(value, ast.Name) else None
        role = role_of(words)
        if role and isinstance(colour, str) and colour != getattr(roles, role):
            wrong.append((words, colour))
    return wrong


@pytest.mark.parametrize("file", MODULES, ids=str)
def test_a_role_has_its_colour(file):
    names = vars(import_module(".".join(file.with_suffix("").parts)))
    assert others((ROOT / file).read_text(encoding="utf-8"), names) == []


def test_a_role_with_another_colour_would_be_found():
    text = 'legend(read_of_a=B, store=A)\nTABLE = {"kernel": A, "copy c back": B, "b": B, "sum": A}'
    wrong = others(text, {"A": roles.MATRIX_A, "B": roles.MATRIX_B})
    assert {words for words, _ in wrong} == {"read of a", "store", "kernel", "copy c back"}


def test_every_role_is_in_a_picture():
    found = {
        role_of(words)
        for file in MODULES
        for words, _ in labels(ast.parse((ROOT / file).read_text(encoding="utf-8")))
    }
    assert set(roles.WORDS) <= found
