"""The site has the right pages and links, and no answers."""

import os
import sys
from pathlib import Path

import pytest

from tests.site.scripts import FOLDER, script


@pytest.fixture
def make_site(monkeypatch, tmp_path):
    """Return the script, applied to a course in a temporary folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    module = script("make_site")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "SOURCE", tmp_path / "build" / "site-source")
    monkeypatch.setattr(module, "EXECUTED", tmp_path / "build" / "executed")
    return module


def write(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_guides_are_found_and_answers_are_not(make_site, tmp_path):
    for name in ("README.md", "guide/before.md", "guide/answers.md", "hub/Solutions_02.md"):
        write(tmp_path / "labs" / name)
    names = [guide.name for guide in make_site.guides()]
    assert names == ["README.md", "before.md"]


def test_of_a_link_to_a_file_that_is_no_page_the_words_are_left(make_site, tmp_path):
    write(tmp_path / "labs" / "answers.md")
    page = write(tmp_path / "labs" / "other.md")
    text = "[a](answers.md#x) [b](other.md#y) [c](gone.md) [d](https://example.org/) [e](#here)"
    guide = write(tmp_path / "labs" / "README.md", text)
    make_site._copy_text(guide, [guide, page])
    copied = (make_site.SOURCE / "labs" / "README.md").read_text(encoding="utf-8")
    assert copied == "a " + text.partition(" ")[2]


def test_a_lesson_is_executed_again_when_it_has_changed(make_site, tmp_path):
    lesson = write(tmp_path / "notebooks" / "00_a.ipynb")
    assert make_site._is_stale(lesson)
    result = write(make_site.EXECUTED / "00_a.ipynb")
    os.utime(lesson, (0, 0))
    assert not make_site._is_stale(lesson)
    os.utime(result, (0, 0))
    os.utime(lesson, (1, 1))
    assert make_site._is_stale(lesson)


def test_each_term_of_the_sources_leads_to_its_entry(make_site):
    rows = list(make_site._rows_of_terms())
    assert rows[0] == ("term", "Spanish", "Chinese")
    assert ("[Shared memory](notebooks/glossary.md#shared-memory)",
            "memoria compartida, ShMem", "shared memory, 共享内存") in rows  # fmt: skip
    assert any(row[0].endswith("(notebooks/glossary.md#flops)") for row in rows)


def test_a_docstring_is_prose_with_code_between_backticks(monkeypatch):
    monkeypatch.setattr("sys.path", sys.path[:])
    lines = ["u·Σ|x| of `a_b` and ``c``, out_", "Raises CourseError."]
    script("conf")._as_rst(None, "function", "f", None, None, lines)
    assert lines == ["u·Σ\\|x\\| of ``a_b`` and ``c``, out\\_", "", "Raises CourseError."]
