"""Tests of the glossary: each term once, in order, short, and used by the lesson that it names."""

import csv
import re

import nbformat
import pytest

from utils.paths import DATA, ROOT

LESSONS = ROOT / "notebooks"
ENTRY = re.compile(
    r"## (?P<term>.+)\n\n(?P<text>.+?) \(\[(?:\d\d|[A-Z][a-z ]+)\]\((?P<lesson>\S+)\)\)"
)
GLOSSARY = (LESSONS / "glossary.md").read_text("utf-8")
FOREIGN = re.compile(r"## (?P<term>.+)\n\n.+ \*(?P<words>(?:Spanish|Chinese): .+)\.\*\n")
ENTRIES = [match.groupdict() for match in ENTRY.finditer(GLOSSARY)]


def test_terms_stand_once_and_in_alphabetical_order():
    terms = [entry["term"].lower() for entry in ENTRIES]
    assert terms == sorted(set(terms))
    assert len(terms) == GLOSSARY.count("\n## ")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["term"])
def test_an_entry_is_short_and_its_lesson_uses_the_term(entry):
    assert len(re.findall(r"[.:?] |[.]$", entry["text"])) <= 4
    lesson = nbformat.read(LESSONS / entry["lesson"], as_version=4)
    words = "\n".join(cell.source for cell in lesson.cells).lower()
    assert entry["term"].lower() in words


def test_the_first_lesson_links_the_glossary():
    assert "(glossary.md)" in (LESSONS / "00_start_here.ipynb").read_text("utf-8")


def foreign_words(text: str) -> list[tuple[str, str, str]]:
    """Return (term, language, word) for each translation at the end of an entry."""
    return [
        (entry["term"], language, word)
        for entry in FOREIGN.finditer(text)
        for language, words in (part.split(": ") for part in entry["words"].split("; "))
        for word in words.split(", ")
    ]


def test_words_of_the_sources_are_those_of_the_table():
    with (DATA / "terms.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["term"], row["language"], row["word"]) for row in csv.DictReader(file)]
    assert foreign_words(GLOSSARY) == rows
    assert foreign_words(GLOSSARY.replace("*Spanish: hilo;", "*Spanish: hebra;")) != rows
    assert len(FOREIGN.findall(GLOSSARY)) == len(re.findall(r"\*(?:Spanish|Chinese): ", GLOSSARY))
