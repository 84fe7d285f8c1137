"""Plans of sessions: their minutes, their questions, and the answers, which are computed."""

import ast
import builtins
import re
import tomllib

import pytest

from labs.exercises import EXERCISES
from labs.grading.labs import LABS
from labs.sessions import plan
from tests.labs.sessions import later_answers, second_answers  # noqa: F401 (add to COMPUTED)
from tests.labs.sessions.answers import COMPUTED
from utils.lessons.lesson_text import read
from utils.paths import NOTEBOOKS, ROOT, lessons

SESSIONS = [plan.read(file) for file in plan.plan_files().values()]
ASKED = [(one.number, number) for one in SESSIONS for number in range(1, len(one.questions) + 1)]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_the_minutes_are_fifty_without_a_gap(session):
    firsts, lasts = zip(*session.minutes, strict=True)
    assert (firsts[0], lasts[-1]) == (0, 50)
    assert firsts[1:] == lasts[:-1]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_a_vote_with_two_rounds_has_its_five_minutes(session):
    rows = re.findall(
        r"^\| (\d+) to (\d+) \| (.+) \| (.+) \|$", session.sections["Minute by minute"], re.M
    )
    assert len(rows) == len(session.minutes)
    for first, last, shown, done in rows:
        if re.search(r"\bquestion \d", shown):
            assert "votes" in done, shown
        if "votes again" in done:
            assert int(last) - int(first) >= (6 if ", then" in shown else 5), shown


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_words_for_predict_that_a_plan_gives_are_choices_of_the_lesson(session):
    file = ROOT / "utils" / "lessons" / f"lesson_{session.lesson}" / "questions.toml"
    asked = tomllib.loads(file.read_text(encoding="utf-8")).values()
    choices = {choice for one in asked for choice in one.get("choices", ())}
    given = re.findall(r'`"([^"`]+)"`', session.sections["Answers"])
    assert set(given) <= choices


# Plans that run the first cell and a sitting.
BEGINS = {
    "05_second", "06_second", "13_second", "14_second", "16_second", "18_second", "22_second",
    "23_second",
}  # fmt: skip


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_a_sitting_that_runs_the_first_cell_alone_uses_no_other_name(session):
    alone = re.search(r"[Tt]he first cell", session.sections["Before"]) is not None
    assert alone == (session.number in BEGINS)
    if alone:
        begins = re.search(r"begins at \*(.+?)\*", plan.plan_files()[session.number].read_text())[1]
        first, *cells = _code_below_headings(read(lessons()[session.lesson]))
        known = {*dir(builtins), *_names(first[1], ast.Store)}
        start = next(number for number, (heading, _) in enumerate(cells) if heading == begins)
        for _, source in cells[start:]:
            known |= _names(source, ast.Store)
            assert _names(source, ast.Load) <= known


def _code_below_headings(lesson):
    """Yield (heading above it, source) of each code cell of a lesson."""
    heading = ""
    for cell in lesson.cells:
        if cell.kind == "markdown":
            heading = [heading, *re.findall(r"^#+ (.+)$", cell.source, re.M)][-1]
        else:
            yield heading, re.sub(r"^( *)!.*$", r"\1pass", cell.source, flags=re.M)


def _names(source, use):
    """Return the names that a cell loads, or those that it stores, imports, defines or takes."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, use)}
    if use is ast.Store:
        names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {(one.asname or one.name).partition(".")[0] for one in node.names}
    return names


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_a_plan_is_for_a_lesson_and_has_two_questions_and_a_demonstration(session):
    assert session.lesson in lessons()
    assert len(session.questions) == 2
    assert session.demonstration
    assert all(len(code.splitlines()) <= 6 for code in session.demonstration)


def test_each_lesson_has_a_plan_per_sitting():
    two = [name for name, file in lessons().items() if read(file).sittings == 2]
    assert plan.plan_files().keys() == {*lessons(), *(name + plan.SECOND for name in two)}
    for name in two:
        lesson = lessons()[name].read_text(encoding="utf-8")
        begins = re.search(r"the second begins at (\*.+?\*)", lesson)[1]
        assert begins in plan.plan_files()[name + plan.SECOND].read_text(encoding="utf-8")


def test_each_task_of_a_lesson_is_in_a_plan_of_it():
    for name, file in lessons().items():
        text = "\n".join(
            part for one in SESSIONS if one.lesson == name for part in one.sections.values()
        )
        for task, heading in _tasks(read(file)):
            assert f"`{task}`" in text or f"*{heading}*" in text, (name, task)


def _tasks(lesson):
    """Yield (name, heading above it) of each task of a lesson."""
    for heading, source in _code_below_headings(lesson):
        if found := re.search(r'^task\("(\w+)"\)', source, re.M):
            yield found[1], heading


@pytest.mark.parametrize("session", SESSIONS, ids=lambda one: one.number)
def test_headings_and_exercises_that_a_plan_names_are_those_of_the_course(session):
    text = "\n".join(session.sections.values())
    lesson = lessons()[session.lesson].read_text(encoding="utf-8")
    prose = re.sub(r"`[^`\n]* \* [^`\n]*`", "", text)  # a product in code is no heading
    for heading in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", prose):
        assert heading in lesson or heading in plan.SECTIONS, heading
    for code in re.findall(r"In `(\w+)`", text):
        assert code in EXERCISES, code


def test_the_semester_has_the_weeks_of_the_syllabus_and_labs_of_the_course():
    semester, syllabus = (
        [re.findall(r"\((?:\S*/)?(\d\d_\w+\.ipynb)\)( first| second)?", row) for row in rows]
        for rows in (
            re.findall(r"^\| \d+ \| .+$", file.read_text(encoding="utf-8"), re.M)
            for file in (plan.FOLDER / "README.md", NOTEBOOKS / "README.md")
        )
    )
    assert len(semester) == 15
    assert semester == syllabus
    weeks = (plan.FOLDER / "README.md").read_text(encoding="utf-8").partition("| week |")[2]
    named = re.findall(r"`(\w+)`", weeks.partition("## ")[0])
    assert len(named) >= 14
    assert set(named) <= set(LABS)


@pytest.mark.parametrize("name, number", ASKED, ids=str)
def test_the_right_answer_of_a_question_is_what_is_computed(name, number):
    question = plan.find(name).questions[number - 1]
    computed = COMPUTED[name, number]()
    right = question.answers[question.right]
    assert str(computed) == right
    assert str(computed) not in [text for letter, text in question.answers.items()
                                 if letter != question.right]  # fmt: skip
