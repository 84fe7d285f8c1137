"""Tests of the rules of rewritten lessons: each finds a violation, none a right lesson."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.lessons import rewriting_rules
from utils.lessons.first_cell import FOLDED, SENTENCE, first_cell
from utils.lessons.lesson_text import YOUR_TURN, Words, from_notebook, words_of
from utils.lessons.questions import Question

GOALS = (
    "**After this lesson you can** write a kernel.\n\n"
    "**Time:** about 50 minutes. **You need** lesson 00."
)
CELLS = (
    ("markdown", f"# 00 · A lesson\n\nWhy does it reach 7.5 % of the peak?\n\n{SENTENCE}"),
    ("code", first_cell("00")),
    ("code", "draw(1)"),
    ("markdown", GOALS),
    ("your-turn", "pass"),
    ("code", 'check("one", one)'),
    ("code", 'check("two", two)'),
    ("code", 'check("three", three)'),
    ("code", 'course.predict("00.one", None)'),
    ("markdown", "Open question: we could not separate these effects (two of them)."),
    *[("markdown", "And more.")] * 6,
)
PICTURE, TURN, CHECK, PREDICT, PROSE = 2, 4, 5, 8, 9  # indices of cells
RULES = {rule.__name__: rule for rule in rewriting_rules.RULES}


@pytest.fixture(autouse=True)
def questions(monkeypatch):
    bank = {"00.one": Question("Idle", "threads", because="4 - 1 = 3."), "00.two": Question("Two")}
    bank["00.which"] = Question("Which", choices=("naive", "tiled"), because="Counted.")
    bank["00.size"] = Question("Which size", choices=("512", "1024"), because="Counted.")
    monkeypatch.setattr(rewriting_rules, "bank", lambda: bank)


def lesson(changes=(), shown=""):
    """Return the right lesson. changes: index -> (kind, text). shown: HTML of the picture."""
    cells = []
    for kind, text in ({**dict(enumerate(CELLS)), **dict(changes)}).values():
        cells.append((new_markdown_cell if kind == "markdown" else new_code_cell)(text))
        if kind == "your-turn":
            cells[-1].metadata["tags"] = [YOUR_TURN]
    cells[1].metadata.update(FOLDED)
    if shown:
        cells[PICTURE].outputs = [new_output("display_data", {"text/html": shown})]
    return from_notebook(new_notebook(cells=cells), "00_a_lesson")


def test_a_right_lesson_breaks_no_rule():
    every = (*rewriting_rules.RULES, *rewriting_rules.SHOWN_RULES)
    assert {rule.__name__: list(rule(lesson())) for rule in every if list(rule(lesson()))} == {}


def prose(text):
    return {PROSE: ("markdown", text)}


REVEAL = ("code", 'course.reveal("00.which", "naive" if a < b else "tiled")')
NINE = "one two three four five six seven eight nine"
TWO_SENTENCES = f"# 00\n\nIt is slow. Why is it slow?\n\n{SENTENCE}"


@pytest.mark.parametrize(
    "name, changes, words",
    [
        ("begins_with_a_question", {0: ("markdown", f"# 00\n\n{SENTENCE}")}, "exactly one"),
        ("begins_with_a_question", {0: ("markdown", TWO_SENTENCES)}, "exactly one sentence"),
        ("begins_with_a_question", {PICTURE: ("markdown", "x")}, "does not begin with title"),
        ("begins_with_a_question", {PICTURE: ("your-turn", "x")}, "no picture"),
        ("begins_with_a_question", {PICTURE: CELLS[PREDICT]}, "no picture"),
        ("begins_with_a_question", {3: ("markdown", "**Time:** x")}, "not in two lines"),
        ("begins_with_a_question", {3: ("markdown", f"{GOALS}\n\nMore.")}, "not in two lines"),
        ("lets_the_reader_write_early", {3: ("markdown", "word " * 601)}, "words stand before"),
        ("lets_the_reader_write_early", {TURN: ("code", "x"), 6: ("your-turn", "x")}, "is cell 7"),
        ("lets_the_reader_write_early", {TURN: ("code", "x")}, "is cell 17 of 16"),
        ("has_three_tasks", {CHECK: ("code", "x")}, "it checks 2 tasks"),
        ("has_three_tasks", {CHECK: CELLS[CHECK + 1]}, "it checks 2 tasks"),
        ("explains_its_answers", {PREDICT: ("code", 'course.predict("00.two", None)')}, "00.two"),
        ("hides_its_choices", {10: ("code", 'course.reveal("00.which", "tiled")')}, "away: tiled"),
        ("hides_its_choices", {PICTURE: ("code", 'draw("naive")'), 10: REVEAL}, "cell 3 gives"),
        ("has_one_open_question", prose("An open question. Open questions."), "it has 2 open"),
        ("has_one_open_question", prose("The record does\nnot say."), "'record does not say'"),
        ("has_one_open_question", prose("Our counts do not explain it."), "'do not explain'"),
        ("has_one_open_question", prose("That does not explain it."), "'does not explain'"),
        ("has_short_brackets", prose(f"It is so ({NINE})."), "cell 10 has 9 words in brackets"),
        ("has_short_brackets", prose("So (" + NINE.replace(" ", "\n") + ")."), "9 words"),
    ],
)
def test_a_broken_rule_is_named(name, changes, words):
    sentences = list(RULES[name](lesson(changes)))
    assert len(sentences) == 1
    assert words in sentences[0]


def test_every_rule_has_a_lesson_that_breaks_it():
    mark = test_a_broken_rule_is_named.pytestmark[0]
    assert {name for name, *_ in mark.args[1]} == set(RULES)


@pytest.mark.parametrize(
    "text",
    [
        "A link is [one](https://example.org/a_long_(and_odd)_one_with_many_words).",
        f"Code is `f({NINE})`.\n\n```\nf({NINE})\n```",
        "Eight words (one two three four five six seven eight) may stand there.",
        "That explains it. The record says so.",
    ],
)
def test_what_is_allowed_is_not_named(text):
    assert [one for rule in RULES.values() for one in rule(lesson(prose(text)))] == []


@pytest.mark.parametrize(
    "changes",
    [
        {10: REVEAL},  # nobody sees which one it is
        {10: REVEAL, 11: ("code", 'draw("naive")')},  # below
        {PICTURE: ("code", 'draw("512")'), 10: ("code", 'course.reveal("00.size", size)')},
    ],
)
def test_code_that_gives_no_choice_away_is_allowed(changes):
    assert list(rewriting_rules.hides_its_choices(lesson(changes))) == []


def page_of(words, folded=0):
    """Return HTML with this number of words, and with others in a fold."""
    fold = f"<details><summary>Title</summary><p>{'fold ' * folded}</p></details>"
    return f"<p>{'word ' * words}</p>{fold}"


def test_a_page_of_more_than_2200_words_needs_a_second_sitting():
    own = sum(map(words_of, lesson().cells), Words()).visible
    fits = rewriting_rules.fits_its_sittings
    assert list(fits(lesson(shown=page_of(2199 - own)))) == []
    (told,) = fits(lesson(shown=page_of(2200 - own)))  # the title of the fold is one word more
    assert "2201 words; in 1 sittings 2200" in told
    two = {3: ("markdown", GOALS.replace("about 50 minutes", "two sittings of about 50 minutes"))}
    assert list(fits(lesson(two, page_of(3000)))) == []


def test_a_page_has_at_most_600_words_in_folds():
    fits = rewriting_rules.fits_its_sittings
    assert list(fits(lesson(shown=page_of(0, 600)))) == []
    (told,) = fits(lesson(shown=page_of(0, 601)))
    assert "601 words in folds; in 1 sittings 600" in told


@pytest.mark.parametrize(
    "html, visible, folded",
    [
        ('<div class="course-card ask"><p>Three <code>more</code> words.</p></div>', 3, 0),
        ("<style>.a {b: c}</style><script>a b</script><svg><text>a</text></svg><pre>a</pre>", 0, 0),
        ("<p><b>A caption</b></p><table><tr><td>1 ms</td></tr></table><p>A note<br>here</p>", 5, 0),
        ('<div class="vm on">a movie</div><table class="vgpu"><tr><td>a</td></tr></table>b', 1, 0),
        ("<details><summary>Title here</summary>in it<details><summary>deeper</summary>"
         "words</details></details>after it", 4, 4),
        ("<p>not closed<div>in</p> it", 4, 0),
    ],
)  # fmt: skip
def test_words_are_those_of_prose(html, visible, folded):
    cell = lesson(shown=html).cells[PICTURE]
    assert words_of(cell) == Words(visible, folded)


def test_words_of_markdown_are_counted_without_code_and_targets():
    text = "# A title\n\n- one [link](a_b.ipynb) · `code` 3 %\n\n```\nno words\n```\n"
    text += "<details><summary>Fold</summary>three words more</details>"
    assert words_of(lesson(prose(text)).cells[PROSE]) == Words(7, 3)


def test_what_a_program_prints_is_no_prose():
    printing = new_code_cell("print(1)", outputs=[new_output("stream", text="ten words < 11")])
    (cell,) = from_notebook(new_notebook(cells=[printing]), "00_a").cells
    assert words_of(cell) == Words()
