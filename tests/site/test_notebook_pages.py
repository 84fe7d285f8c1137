"""A notebook's page says how to run it, and shows no set-up cell."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.site.scripts import script
from utils.lessons.first_cell import Repository, badge, first_cell, repository, with_setup
from utils.paths import lessons, translations

NOWHERE = Repository("https://no-address-yet.invalid/course", "main")
ON_GITHUB = Repository("https://github.com/somebody/course", "v1")
ELSEWHERE = Repository("https://example.org/course", "main")
LESSON = "07_tiling.ipynb"


@pytest.fixture
def pages():
    return script("notebook_pages")


def notebook(*outputs):
    """Return a lesson whose set-up cell has these outputs."""
    opening = with_setup("# 07 · Tiling, and more\n\nGoals.", badge(LESSON, ON_GITHUB))
    cells = [new_markdown_cell(opening), new_code_cell(first_cell("07"), outputs=list(outputs))]
    return new_notebook(cells=[*cells, new_code_cell("1 + 1")])


def test_of_an_executed_set_up_cell_the_card_is_shown_and_no_code(pages):
    card = new_output("stream", text="Lesson 07 is ready.")
    shown = pages.for_page(notebook(card), LESSON, NOWHERE)
    assert shown.cells[1].metadata["tags"] == ["remove-input"]
    assert shown.cells[1].outputs == [card]
    assert "tags" not in shown.cells[2].metadata


def test_a_set_up_cell_without_a_card_is_not_shown(pages):
    shown = pages.for_page(notebook(), LESSON, NOWHERE)
    assert shown.cells[1].metadata["tags"] == ["remove-cell"]


def test_the_opening_has_the_name_of_the_syllabus_and_how_to_run_it(pages):
    opening = pages.for_page(notebook(), LESSON, NOWHERE).cells[0].source
    title, container, goals = opening.split("\n\n")
    assert title == "# 07 · Tiling"
    assert goals == "Goals."
    for words in ("#get-the-course", "`make lab`", "</downloads/07_tiling.ipynb>"):
        assert words in container
    assert "Open in Colab" not in opening


def test_colab_is_linked_as_soon_as_there_is_an_address_on_github(pages):
    place = "https://colab.research.google.com/github/somebody/course/blob/v1/notebooks/07_tiling"
    assert f"({place}.ipynb)" in pages.how_to_run(LESSON, ON_GITHUB)
    for at in (NOWHERE, ELSEWHERE):
        assert "Colab" not in pages.how_to_run(LESSON, at)
    assert "Colab" not in pages.how_to_run("tiling.ipynb", ON_GITHUB)  # a lab


def test_the_commands_fetch_the_course_from_where_it_is(pages):
    assert "git clone" not in pages.get_the_course(NOWHERE)
    assert "In your clone of the course:\n\n```sh\nmake lab\n```" in pages.get_the_course(NOWHERE)
    for at in (ON_GITHUB, ELSEWHERE):
        text = pages.get_the_course(at)
        assert f"```sh\ngit clone {at.address} gpu-course\ncd gpu-course\nmake lab\n```" in text
    assert "[somebody/course](https://github.com/somebody/course)" in pages.get_the_course(
        ON_GITHUB
    )
    assert all(words in pages.get_the_course(NOWHERE) for words in ("minutes", "GB"))


def test_only_the_placeholder_is_no_public_address(pages):
    assert not pages.is_public(NOWHERE)
    assert pages.is_public(ON_GITHUB)
    assert pages.is_public(Repository("https://invalid.example.org/x.invalid", "main"))
    assert pages.is_public(repository()) == ("no-address-yet" not in repository().address)


def test_each_lesson_has_a_title_and_a_description(pages):
    names = [file.name for file in lessons().values()]
    assert list(pages.descriptions()) == names
    assert list(pages.titles()) == [*names, *(file.name for file in translations())]
    assert pages.descriptions()[LESSON].startswith("Lesson 07 · Tiling: shared memory")


def test_the_terms_of_a_lesson_are_those_of_the_glossary(pages):
    assert "Coalesced" in pages.terms("05_coalescing.ipynb")
    assert {"Bank", "Register bank"} & set(pages.terms("16_reading_the_machine_code.ipynb"))
    assert "Coalesced" not in pages.terms(LESSON)
    assert pages.terms("tiling.ipynb") == []


def test_the_search_knows_which_lessons_explain_a_term(pages):
    first, rest = pages.search_scorer("// the script").split("\n", 1)
    assert rest == "// the script"
    terms = json.loads(first.removeprefix("const TERMS = ").removesuffix(";"))
    assert terms["coalesced"] == ["notebooks/05_coalescing"]
    assert terms["bank"] == ["notebooks/07_tiling", "notebooks/16_reading_the_machine_code"]
