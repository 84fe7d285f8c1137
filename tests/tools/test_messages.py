"""Tests that the template has every sentence, and that a catalogue keeps its translations."""

import ast
import re

import pytest
from babel.messages.catalog import Catalog

from labs import EXERCISES
from labs.checking.vocabulary import KERNEL
from tools import messages
from utils.lessons.questions import bank
from utils.paths import ROOT
from utils.translation import placeholders

MAKE = "python -m tools.messages makes it anew"


# Not at import: every process of pytest imports this file, and one runs its tests.
@pytest.fixture(scope="module")
def code():
    """Return (file, syntax tree) of each file with messages."""
    return [
        (file, ast.parse(file.read_text("utf-8")))
        for folder in messages.CODE
        for file in (ROOT / folder).rglob("*.py")
        if "tests" not in file.parts
    ]


@pytest.fixture(scope="module")
def template():
    return messages.template()


def entries(catalog):
    """Return sentence -> the files that it is from."""
    return {one.id: {file for file, _ in one.locations} for one in catalog if one.id}


def test_the_template_is_current(template):
    assert entries(messages.read(messages.TEMPLATE)) == entries(template), MAKE


@pytest.mark.parametrize("language", messages.languages())
def test_a_catalogue_has_the_sentences_of_the_template(language, template):
    catalog = messages.read(messages.catalogue_of(language))
    assert {one.id for one in catalog if one.id} == {one.id for one in template if one.id}
    unfit = [one.id for one in catalog if one.id and one.string and not one.fuzzy
             and not messages.is_shown(one)]  # fmt: skip
    assert unfit == []


def test_what_a_reader_is_shown_is_in_the_template(template):
    found = entries(template)
    right = "You were right: you said {said}."
    assert {right, "{number} threads", "At {shape}", "{title}: not yet."} <= set(found)
    # A sentence of a vocabulary is there for a kernel and for a function.
    assert {"The kernel does not run: {why}", "The function does not run: {why}"} <= set(found)
    assert {prompt.text for prompt in bank().values()} <= set(found)
    for exercise in EXERCISES.values():
        goals = (*exercise.goals, *exercise.usual_goals)
        told = (exercise.title, *exercise.text, *goals, *exercise.hints, exercise.after)
        assert set(told) <= set(found)
    assert "Hint {number}" in found
    assert "Counted on the virtual GPU" in found
    assert "where {code} is computed" in found


def test_a_sentence_says_where_it_is_from(template):
    sentence = "Each element is divided by `{factor}`."
    assert entries(template)[sentence] == {"labs/exercises/scale/mistakes.json"}
    assert template[sentence].auto_comments == ["a mistake in scale"]


def in_an_f_string(tree) -> list[int]:
    """Return the lines with a call of `translate` inside an f-string, which Babel does not see."""
    return [
        node.lineno
        for string in ast.walk(tree)
        if isinstance(string, ast.JoinedStr)
        for node in ast.walk(string)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in messages.CALLS
        if isinstance(node.args[0], ast.Constant)
    ]


def test_no_message_is_hidden_in_an_f_string(code):
    assert in_an_f_string(ast.parse("f\"{translate('one')} {translate(other)}\"")) == [1]
    assert {file.name: in_an_f_string(tree) for file, tree in code if in_an_f_string(tree)} == {}


def wrong_values(tree) -> list[int]:
    """Return the lines with a message whose placeholders are not the values that it gets."""
    lines = []
    for node in ast.walk(tree):
        call = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
        values = {one.arg for one in node.keywords} if call in ("translate", "say") else {None}
        if None in values or not isinstance(node.args[0], ast.Constant):
            continue
        text = node.args[0].value if call == "translate" else KERNEL.message(node.args[0].value)
        if {re.split("[:!]", one.strip("{}"))[0] for one in placeholders(text)} != values:
            lines.append(node.lineno)
    return lines


def test_every_message_gets_the_values_of_its_placeholders(code):
    assert wrong_values(ast.parse("translate('{a} of {b:,}', a=1)")) == [1]
    assert wrong_values(ast.parse("words.say('{noun} {a!r}', a=1)")) == []
    assert {file.name: wrong_values(tree) for file, tree in code if wrong_values(tree)} == {}


def catalog_of(*sentences):
    catalog = Catalog()
    for sentence in sentences:
        catalog.add(sentence)
    return catalog


def test_a_catalogue_keeps_translations_and_marks_those_of_changed_sentences(tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    first = messages.updated("pt_BR", catalog_of("one thing of several", "the other thing"))
    assert messages.missing(first) == 2
    first["one thing of several"].string = "uma coisa"
    first["the other thing"].string = "a outra"
    messages.write(messages.catalogue_of("pt_BR"), first)
    assert messages.catalogue_of("pt_BR") == tmp_path / "pt_BR" / "LC_MESSAGES" / "course.po"
    again = messages.updated("pt_BR", catalog_of("one thing of several!", "the other thing", "new"))
    assert again["the other thing"].string == "a outra"
    assert again["one thing of several!"].fuzzy
    assert messages.missing(again) == 2


def test_a_translation_returns_with_its_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    both = catalog_of("a sentence that leaves and returns", "without a translation")
    first = messages.updated("de", both)
    first["a sentence that leaves and returns"].string = "ein Satz"
    messages.write(messages.catalogue_of("de"), first)
    without = messages.updated("de", catalog_of("something else"))
    assert [entry.string for entry in without.obsolete.values()] == ["ein Satz"]
    messages.write(messages.catalogue_of("de"), without)
    again = messages.updated("de", both)
    assert again["a sentence that leaves and returns"].string == "ein Satz"
    assert messages.is_shown(again["a sentence that leaves and returns"])
    assert not again.obsolete


def test_the_command_says_how_many_are_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    monkeypatch.setattr(messages, "TEMPLATE", tmp_path / "course.pot")
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    monkeypatch.setattr(messages, "template", lambda: catalog_of("one", "two"))
    messages.main(["--language", "ja"])
    messages.main([])
    assert capsys.readouterr().out == (
        "course.pot: 2 sentences.\nja/LC_MESSAGES/course.po: 2 of 2 are missing.\n" * 2
    )
