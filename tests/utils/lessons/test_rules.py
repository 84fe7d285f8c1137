"""Tests of the rules of lessons: a right lesson breaks none, and each rule finds a violation."""

from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.lessons import rules
from utils.lessons.first_cell import FOLDED, SENTENCE, first_cell
from utils.lessons.lesson_text import YOUR_TURN, from_notebook
from utils.lessons.questions import Question

GOALS = "**After this lesson you can** see.\n\n**Time:** 30 minutes. **You need** Python."
CELLS = (
    f"# A\n\nWhy is it slow?\n\n{SENTENCE}",
    first_cell("00"),
    f"{GOALS} Which source line is it?",
    'course.predict("00.one", None)',
    'course.predict("00.two", None)',
    'course.reveal("00.one", 24)',
    'course.reveal("00.two", 8.0)',
    'task("scale")',
    "# your kernel",
    'check("scale", scale)',
    "course.show_change(old, new)",
    'course.ledger("00")',
)
ANSWERS = {"00.one": 24.0, "00.two": 8.0}
ONE, TWO, TURN = 4, 5, 9  # positions of cells


@pytest.fixture(autouse=True)
def questions(monkeypatch):
    bank = {
        "00.one": Question("Idle", "threads"),
        "00.two": Question("Faster", "times"),
        "00.choice": Question("Which kernel is faster", choices=("naive", "tiled", "neither")),
        "00.size": Question("The fastest size", choices=("512", "1024")),
    }
    for module in (rules, rules.rewriting_rules):
        monkeypatch.setattr(module, "bank", lambda: bank)


def lesson(*changes, shown=()):
    """Return the right lesson with changes.

    changes: (position, text) of replaced cells. shown: (position, HTML) of outputs.
    """
    texts = {**dict(enumerate(CELLS, start=1)), **dict(changes)}
    cells = []
    for position, text in texts.items():
        prose = position in (1, 3) or (position > len(CELLS) and text.startswith("#"))
        cells.append((new_markdown_cell if prose else new_code_cell)(text))
    cells[1].metadata.update(FOLDED)
    cells[TURN - 1].metadata["tags"] = [YOUR_TURN]
    for position, html in shown:
        cells[position - 1].outputs = [new_output("display_data", {"text/html": html})]
    return from_notebook(new_notebook(cells=cells), "00_a_lesson")


def broken(*changes):
    """Return the sentences on the lesson, which is no rewritten one, with changes."""
    static = rules.EXCEPTABLE[: len(rules.rewriting_rules.RULES)]
    sentences = rules.broken_rules(lesson(*changes), static)
    return [sentence for sentence in sentences if "rule_exceptions.toml" not in sentence]


def test_a_right_lesson_breaks_no_rule():
    right = lesson(shown=[(6, "<table><tr><th>a</th></tr><tr><td>24 threads</td></tr></table>")])
    assert broken() == []
    assert rules.broken_when_shown(right, ANSWERS) == []


@pytest.mark.parametrize(
    "changes, words",
    [
        ([(1, f"# A\n\n{SENTENCE}"), (3, "x")], "do not say '**Time:**'"),
        ([(1, f"# A\n\n{GOALS}")], "does not say what the set-up does"),
        ([(2, "import utils")], "is not that of utils.lessons.first_cell"),
        ([(11, "\n".join(f"x = {n}" for n in range(11)))], "has 11 lines of code"),
        ([(TURN, "\n".join(f"x = {n}" for n in range(29)))], "has 29 lines of code; at most 28"),
        ([(11, "records.query('n == 1')")], "works on tables: .query("),
        ([(11, "x = (1")], "is not valid Python"),
        ([(3, "Look at the line.")], "says 'line' alone"),
        ([(3, "[next](99_nothing.ipynb)")], "links to 99_nothing.ipynb, which does not exist"),
        ([(ONE, 'course.predict("00.one", 24)')], "holds a prediction"),
        ([(ONE, "x")], "00.one is not first predicted and then revealed"),
        ([(ONE, 'course.reveal("00.one", 1)'), (6, 'course.predict("00.one", None)')],
         "00.one is not first predicted and then revealed"),
        ([(ONE, 'course.predict("00.three", None)')], "there is no question named 00.three"),
        ([(ONE, "x"), (6, "x")], "asks for 1 predictions"),
        ([(12, "x")], "does not show the predictions once more"),
        ([(10, "x")], "checks no kernel"),
        ([(8, "x")], "scale has no task"),
        ([(7, "course.show_change(old, new)")], "before the reader's turn"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named(changes, words):
    assert any(words in sentence for sentence in broken(*changes))


def test_a_first_cell_that_is_not_folded_is_named():
    title, setup, *others = lesson().cells
    unfolded = replace(lesson(), cells=(title, replace(setup, is_folded=False), *others))
    assert "its first code cell is not folded" in rules.broken_rules(unfolded)


def test_an_exception_is_allowed_and_one_that_is_not_needed_is_named():
    assert any("00.one has no `because`" in one for one in rules.broken_rules(lesson()))
    told = rules.broken_rules(lesson(), ["explains_its_answers", "has_short_brackets"])
    assert not any("no `because`" in one for one in told)
    assert any("it keeps the rule has_short_brackets" in one for one in told)
    assert not any("it keeps the rule explains_its_answers" in one for one in told)


def test_a_kernel_to_repair_may_stand_there_whole():
    kernel = "\n".join(f"x = {n}" for n in range(20))
    assert broken((TURN, kernel)) == []


@pytest.mark.parametrize("prose", ["24 threads", "eight times", "8 times", "8×", "24-thread"])
def test_an_answer_above_its_question_is_found(prose):
    sentences = rules.broken_when_shown(lesson((3, f"{GOALS} Note that {prose} do it.")), ANSWERS)
    assert len(sentences) == 1
    assert prose in sentences[0]


@pytest.mark.parametrize("prose", ["124 threads", "24 blocks", "8.5 times", "eighty times"])
def test_another_number_or_unit_is_no_answer(prose):
    assert rules.broken_when_shown(lesson((3, f"{GOALS} Note that {prose} do it.")), ANSWERS) == []


def test_an_answer_that_a_cell_shows_above_the_question_is_found():
    assert rules.broken_when_shown(lesson(shown=[(2, "<b>24 threads</b>")]), ANSWERS)
    assert rules.broken_when_shown(lesson(shown=[(2, "<b>24&nbsp;threads</b>")]), ANSWERS)
    # Between question and answer the lesson may show the answer: the reader finds it out there.
    assert not rules.broken_when_shown(lesson(shown=[(TWO, "<b>24 threads</b>")]), ANSWERS)


CHOICE = [(ONE, 'course.predict("00.choice", None)'), (6, 'course.reveal("00.choice", found)')]


def choices_given_away(*changes, choice="naive"):
    return rules.broken_when_shown(lesson(*CHOICE, *changes), {"00.choice": choice})


def test_a_choice_above_its_question_is_found_in_prose():
    told = choices_given_away((3, f"{GOALS} The kernel `naive` is faster."))
    assert told == [
        "cell 3 gives the answer of 00.choice away: The kernel `naive` is faster."
    ]


@pytest.mark.parametrize(
    "prose",
    [
        "Is the kernel naive faster, or tiled?",  # it names another choice
        "The kernel naive reads more.",  # it does not say which one is faster
        "The kernel naive_strided is faster.",
    ],
)
def test_a_choice_that_is_asked_or_said_of_something_else_is_no_answer(prose):
    assert choices_given_away((3, f"{GOALS} {prose}")) == []


def test_a_choice_that_is_a_number_is_found_in_prose():
    changes = [(ONE, 'course.predict("00.size", None)'), (6, 'course.reveal("00.size", size)')]
    said = lesson(*changes, (3, f"{GOALS} At size 512 it is the fastest."))
    assert rules.broken_when_shown(said, {"00.size": "512"})
    other = lesson(*changes, (3, f"{GOALS} At size 2512 it is the fastest."))
    assert rules.broken_when_shown(other, {"00.size": "512"}) == []


@pytest.mark.parametrize(
    "html, words",
    [
        ("<table>" + "<tr><td>x</td></tr>" * 10 + "</table>", "a table of 9 rows and 1 columns"),
        ("<table><tr>" + "<th>x</th>" * 6 + "</tr></table>", "a table of 0 rows and 6 columns"),
        ('<img src="x">', "a picture without words"),
        ("<svg viewBox='0 0 1 1'></svg>", "a picture without words"),
        ("at /home/reader/course", "shows a path of this machine: /home/reader"),
    ],
)
def test_what_a_cell_should_not_show_is_named(html, words):
    assert words in rules.broken_when_shown(lesson(shown=[(6, html)]), ANSWERS)[0]


def test_an_annotated_source_may_be_long_and_a_described_picture_may_stand():
    long = '<table class="vgpu">' + "<tr><td>x</td></tr>" * 30 + "</table>"
    picture = '<svg aria-label="Lanes"></svg><style>/home/x</style>'
    assert rules.broken_when_shown(lesson(shown=[(6, long + picture)]), ANSWERS) == []
