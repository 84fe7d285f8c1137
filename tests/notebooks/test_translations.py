"""Tests that a translated lesson, such as `07_tiling.es.ipynb`, has the cells of its original."""

import re
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import lesson_sentences, translated_notebook
from tools.ci.dependencies import tracked
from utils import paths
from utils.lessons import first_cell, run_notebooks
from utils.lessons.files import files_of, notebook_of
from utils.lessons.first_cell import without_setup

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)?")
TAGS = ("de", "ja")  # one that sorts before "ipynb", and one behind it


def code_of(notebook):
    return [(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"]


def prose_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def links(cell):
    return sorted(LINK.findall(without_setup(cell)))


def differs(original, translated) -> list[str]:
    """Return a sentence for each forbidden difference between a lesson and its translation."""
    sentences = []
    if [cell.cell_type for cell in original.cells] != [cell.cell_type for cell in translated.cells]:
        return ["its cells are not those of the original, one for one"]
    if code_of(original) != code_of(translated):
        sentences.append("its code, or a cell's id, is not the original's")
    for before, after in zip(prose_of(original), prose_of(translated), strict=True):
        if links(before) != links(after):
            sentences.append(f"its links are not those of: {before[:40]}")
    return sentences


def broken(translation) -> list[str]:
    """Return a sentence for each rule that a translated notebook breaks."""
    original = paths.original(translation)
    if not original.exists():
        return [f"there is no {original.name}"]
    sentences = differs(*(nbformat.read(each, as_version=4) for each in (original, translation)))
    if not TAG.fullmatch(paths.tag(translation)):
        sentences.append(f"{paths.tag(translation)!r} is no tag of a language")
    return sentences


def test_every_translation_has_the_code_of_its_original():
    assert {file.name: broken(file) for file in paths.translations() if broken(file)} == {}


@pytest.mark.parametrize("file", paths.translations(), ids=lambda file: file.name)
def test_every_translation_translates_the_english_of_today(file):
    english, translated = (
        nbformat.read(each, as_version=4) for each in (paths.original(file), file)
    )
    how = "python -m tools.translated_notebook names the cells to translate"
    assert translated_notebook.outdated(english, translated) == [], how


@pytest.mark.parametrize("file", paths.translations(), ids=lambda file: file.name)
def test_every_sentence_that_a_translated_lesson_shows_has_a_translation(file):
    number, language = paths.number_of(file.name), paths.tag(file).replace("-", "_")
    assert lesson_sentences.missing(number, language) == {}


def test_the_sentences_of_a_lesson_are_those_of_its_files_and_of_what_they_use():
    files = lesson_sentences.files_behind("00")
    assert "utils/lessons/lesson_00/questions.toml" in files
    assert "labs/exercises/scale/mistakes.json" in files
    assert {"labs/checking/judge.py", "labs/targets/counts.py"} <= files
    assert {"virtual_gpu/pictures/accesses.py", "virtual_gpu/pictures/annotate.py"} <= files
    assert "utils/figures/speed_figures.py" in files
    assert not any("lesson_05" in name or "exercises/tiling" in name for name in files)


def two_cells(prose="# Tiles", code="1 + 1"):
    return new_notebook(cells=[new_markdown_cell(prose, id="a"), new_code_cell(code, id="b")])


def test_a_translation_follows_the_code_and_the_order_of_its_original():
    translated = two_cells("# Teselas")
    english = two_cells(code="1 + 2")
    english.cells.append(new_markdown_cell("More.", id="c"))
    made = translated_notebook.following(english, translated)
    assert [cell.source for cell in made.cells] == ["# Teselas", "1 + 2", "More."]
    assert translated_notebook.following(english, None) == english


def test_a_changed_markdown_cell_is_named_until_it_is_translated_again():
    english, translated = two_cells(), two_cells("# Teselas")
    assert translated_notebook.outdated(english, translated) == ["a"]
    translated_notebook.note_translated(english, translated)
    assert translated_notebook.outdated(english, translated) == []
    assert translated_notebook.outdated(two_cells(code="2"), translated) == []
    assert translated_notebook.outdated(two_cells("# Big tiles"), translated) == ["a"]


def test_a_translation_with_other_code_links_or_cells_would_be_noticed():
    cells = [new_markdown_cell("# Teselas, [x](a.md)"), new_code_cell("1 + 1", id="a")]
    original = new_notebook(cells=[new_markdown_cell("# Tiles, [x](a.md)"), cells[1]])
    assert differs(original, new_notebook(cells=cells)) == []
    for code in (new_code_cell("1 + 2", id="a"), new_code_cell("1 + 1", id="b")):
        changed = new_notebook(cells=[cells[0], code])
        assert differs(original, changed) == ["its code, or a cell's id, is not the original's"]
    assert len(differs(original, new_notebook(cells=cells[1:]))) == 1
    elsewhere = new_notebook(cells=[new_markdown_cell("# Teselas, [x](b.md)"), cells[1]])
    assert differs(original, elsewhere) == ["its links are not those of: # Tiles, [x](a.md)"]


def test_one_function_lists_the_lessons():
    pattern = "[0-9]_*" + ".ipynb"
    files = (name for name in tracked() if name.endswith(".py"))
    listing = [name for name in files if pattern in (paths.ROOT / name).read_text("utf-8")]
    assert listing == ["utils/paths.py"]


@pytest.fixture
def translated(tmp_path, monkeypatch):
    """A copy of the English lessons with lesson 00 in two languages; returns the translations."""
    shutil.copytree(
        paths.NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns("*.*.ipynb")
    )
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    english = paths.lessons()["00"]
    lesson = nbformat.read(english, as_version=4)
    for cell in lesson.cells:
        if cell.cell_type == "markdown":
            cell.source = "# 翻訳" + "".join(f" […]({link})" for link in links(cell.source))
    for tag in TAGS:
        nbformat.write(lesson, english.with_name(f"{english.stem}.{tag}.ipynb"))
    return paths.translations()


def test_the_english_lessons_are_those_that_are_tested(translated):
    assert [paths.tag(file) for file in translated if file.name.startswith("00")] == list(TAGS)
    assert [file.name for file in paths.lessons().values()] == [
        file.name for file in sorted(paths.NOTEBOOKS.glob("*.ipynb")) if file.name.count(".") == 1
    ]
    assert notebook_of("00").name == "00_start_here.ipynb"


def test_a_small_translation_is_found_and_passes(translated):
    assert [broken(file) for file in translated] == [[]] * len(translated)
    english = paths.original(translated[0])
    assert english.name == "00_start_here.ipynb"
    code = nbformat.read(english, as_version=4)
    code.cells[1].source += "\n1"
    nbformat.write(code, translated[0])
    assert broken(translated[0]) == ["its code, or a cell's id, is not the original's"]
    english.rename(english.with_name("00_other.ipynb"))
    assert broken(translated[1]) == ["there is no 00_start_here.ipynb"]


def test_a_translation_gets_the_first_cell_and_a_badge_of_its_own(translated):
    at = first_cell.Repository("https://github.com/somebody/course", "main")
    first_cell.write(translated[0], at)
    opening = nbformat.read(translated[0], as_version=4).cells[0].source
    assert first_cell.badge(translated[0].name, at) in opening
    assert f"/notebooks/{translated[0].name})" in opening


def test_without_names_the_english_lessons_are_executed(translated, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(run_notebooks, "run", lambda file, *_: ran.append(file) or _run(file))
    assert run_notebooks.main(["--out", str(tmp_path)]) == 0
    assert ran == list(paths.lessons().values())
    assert run_notebooks.main([str(translated[0]), "--out", str(tmp_path)]) == 0
    assert ran[-1] == translated[0]


def _run(file):
    return run_notebooks.LessonRun(file.with_suffix(".html"), 0.0, None)


def test_translations_are_among_the_files_of_their_lesson(translated):
    assert set(translated) < files_of("00")["The lesson and its translations"]
