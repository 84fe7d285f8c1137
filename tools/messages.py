"""Collect the course's sentences for translators: `python -m tools.messages`.

It writes the template `locale/course.pot` and updates every catalogue, such as
`locale/de/LC_MESSAGES/course.po`: translations are kept, those of a changed sentence are marked as
fuzzy, and the number of missing ones is printed. `--language ja` makes the catalogue of a new
language.

Sentences are found in calls of `translate`, `say`, `counted`, `fail`, `table` and `legend`, and in
data: questions, changes, exercises and their tables of mistakes, the titles of columns, and what
the virtual GPU says.
"""

from __future__ import annotations

import argparse
import ast
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from labs.checking.exercise import Exercise, KernelExercise
from labs.checking.line_order import OrderExercise
from labs.checking.phrasing import one_and_many
from labs.checking.recognise import FILE as MISTAKES
from labs.checking.submission_checks import ARGUMENTS
from labs.checking.translated_mistakes import messages as messages_of
from labs.checking.vocabulary import FUNCTION, KERNEL
from labs.exercises import EXERCISES
from labs.grading import handout
from labs.grading.labs import LABS
from labs.grading.marks import DRAWN_ROW, TASK_ROW
from labs.numbers.exercise import NumbersExercise, whole_number_of
from utils import translation
from utils.lessons.code import SENTENCES
from utils.lessons.folders import LESSONS_PACKAGE
from utils.lessons.own_kernels import TWINS
from utils.lessons.questions import QUESTIONS
from utils.measuring import rows
from utils.paths import ROOT
from utils.translated_findings import SAID
from utils.translation import LOCALE
from virtual_gpu.pictures.annotate import COLUMNS

TEMPLATE = LOCALE / "course.pot"
CODE = ("utils", "labs", "virtual_gpu", "site")
VOCABULARIES = (KERNEL, FUNCTION)
# The calls that hold a message, and the position of the argument.
CALLS = {"translate": 0, "say": 0, "table": 0, "counted": 1, "fail": 1}
# The fields of a question that hold messages.
QUESTION_TEXTS = ("text", "unit", "unit_of_one", "label", "choices", "order", "because")
MADE = datetime(2026, 1, 1, tzinfo=UTC)  # a template that is made again does not differ
HEADER = "# Sentences of the course. `python -m tools.messages` writes all but the translations."
WIDTH = 100


@dataclass(frozen=True)
class Message:
    """A sentence for translators.

    text: the English sentence. file: the path of the file that it is from. comment: for
    translators.
    """

    text: str
    file: str
    comment: str = ""


def messages() -> Iterator[Message]:
    """Yield every sentence of the course that can be shown in another language.

    A sentence may come several times, from several files.
    """
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "tests" not in file.parts:
                yield from _in_code(file)
    yield from _of_questions()
    yield from _of_changes()
    yield from _of_own_kernels()
    for exercise in EXERCISES.values():
        yield from _of_exercise(exercise)
    yield from _of_labs()
    checks = "labs/checking/submission_checks.py"
    yield from (Message(text, checks, "in: The task launches the kernel with {arguments}, …")
                for text in ARGUMENTS.values())  # fmt: skip
    for column in COLUMNS:
        file = "virtual_gpu/pictures/annotate.py"
        yield Message(column.title, file, "the title of a column")
        yield Message(column.meaning, file, "the meaning of a column")
    for text in SAID:
        yield Message(text, "utils/translated_findings.py", "said by the virtual GPU")
    for words in VOCABULARIES:
        if words.actor:
            yield Message(words.actor, "labs/checking/vocabulary.py", "in: {thread} goes to …")


def _in_code(file: Path) -> Iterator[Message]:
    """Yield the messages in a Python file: texts in calls such as `translate`, and column titles.

    A noun of `counted` gives a singular and a plural, and a text of `say` one per vocabulary.
    """
    name, tree = file.relative_to(ROOT).as_posix(), ast.parse(file.read_bytes())
    for call, text in _texts_in_calls(tree):
        if call == "counted":
            yield from (Message(one, name) for one in one_and_many(text))
        elif call == "say":
            yield from (Message(words.message(text), name) for words in VOCABULARIES)
        else:
            yield Message(text, name)
    yield from _heads(name, tree)
    yield from _labels(name, tree)


def _texts_in_calls(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (function, text) per call that holds a message, in the order of the file.

    The syntax tree is searched because tokenizers disagree on calls within f-strings: those before
    Python 3.12 see one string.
    """
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        called = ast.unparse(node.func).rpartition(".")[2]
        at = CALLS.get(called)
        text = node.args[at] if at is not None and len(node.args) > at else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value:
            yield called, text.value


def _heads(name: str, tree: ast.Module) -> Iterator[Message]:
    """Yield the column titles of tables as messages from the file called `name`.

    Titles are in a tuple that is assigned to `head`, or in the second argument of `table`.
    """
    for node in ast.walk(tree):
        titles = None
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "head":
            titles = node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "table":
            titles = node.args[1]
        for title in titles.elts if isinstance(titles, ast.Tuple) else ():
            if isinstance(title, ast.Constant) and title.value:
                yield Message(title.value, name, "the title of a column")


def _labels(name: str, tree: ast.Module) -> Iterator[Message]:
    """Yield the labels of legends, which are keywords with _ instead of spaces, as messages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "legend":
            for keyword in filter(None, (one.arg for one in node.keywords)):
                yield Message(keyword.replace("_", " "), name, "in a legend")


def _of_questions() -> Iterator[Message]:
    """Yield the messages of all `questions.toml` files."""
    for file in sorted(LESSONS_PACKAGE.glob(f"lesson_*/{QUESTIONS}")):
        name = file.relative_to(ROOT).as_posix()
        for key, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
            for field in QUESTION_TEXTS:
                value = row.get(field, ())
                for text in (value,) if isinstance(value, str) else value:
                    yield Message(text, name, f"{field} of {key}")
            for slip, text in row.get("slips", {}).items():
                yield Message(text, name, f"prediction {slip} of {key}")


def _of_changes() -> Iterator[Message]:
    """Yield the messages of all `changes.toml` files."""
    for file in sorted(LESSONS_PACKAGE.glob(f"lesson_*/{SENTENCES}")):
        name = file.relative_to(ROOT).as_posix()
        for change, sentences in tomllib.loads(file.read_text(encoding="utf-8")).items():
            yield from (Message(text, name, change) for text in sentences.values())


def _of_own_kernels() -> Iterator[Message]:
    """Yield the notes in all `own_kernels.toml` files as messages."""
    for file in sorted(LESSONS_PACKAGE.glob(f"lesson_*/{TWINS}")):
        name = file.relative_to(ROOT).as_posix()
        for key, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if "note" in row:
                yield Message(row["note"], name, f"note of {key}")


def _of_exercise(exercise: Exercise) -> Iterator[Message]:
    """Yield the messages of an exercise and of its table of mistakes."""
    folder = exercise.folder.relative_to(ROOT).as_posix()
    name = f"{folder}/exercise.py"
    yield Message(exercise.title, name, f"title of {exercise.name}")
    for field in ("text", "goals", "usual_goals", "hints"):
        for text in getattr(exercise, field):
            yield Message(text, name, f"{field} of {exercise.name}")
    yield Message(exercise.after, name, f"after {exercise.name}")
    if isinstance(exercise, KernelExercise):
        yield from (Message(one.what, name, "a count") for one in exercise.targets)
        yield from (Message(one.words, name, "a target") for one in exercise.targets)
    if isinstance(exercise, OrderExercise):
        rule_of = f"a rule of {exercise.name}"
        yield from (Message(rule.says, name, rule_of) for rule in exercise.rules)
    if isinstance(exercise, NumbersExercise):
        yield from _of_numbers(exercise, name)
    file = exercise.folder / MISTAKES
    if file.exists():
        table = json.loads(file.read_text(encoding="utf-8"))
        sentences = sorted({*table["known"], *table["alike"]})
        for text in dict.fromkeys(one for each in sentences for one in messages_of(each)):
            yield Message(text, f"{folder}/{MISTAKES}", f"a mistake in {exercise.name}")


def _of_labs() -> Iterator[Message]:
    """Yield the messages of all labs and of their handouts."""
    for lab in LABS.values():
        for text in (lab.title, *lab.objectives):
            yield Message(text, "labs/grading/labs.py", f"the lab {lab.name}")
    for text in (handout.RULES, *handout.HOW.values(), handout.HAND_IN, TASK_ROW, DRAWN_ROW):
        yield Message(text, "labs/grading/handout.py", "in the handout of a lab")


def _of_numbers(exercise: NumbersExercise, name: str) -> Iterator[Message]:
    """Yield the messages that only an exercise about numbers has.

    name: the path of its file `exercise.py`.
    """
    if exercise.unit:
        yield from (Message(text, name) for text in one_and_many(exercise.unit))
        yield Message(whole_number_of(exercise.unit), name)
    for why in dict.fromkeys(case.why for case in exercise.all_cases):
        yield Message(why, name.replace("exercise.py", "formula.py"), f"a case of {exercise.name}")


# ------------------------------------------------------------------------------------- catalogues


def template() -> Catalog:
    """Return a catalogue of all sentences, without translations."""
    catalog = _new(None)
    for message in messages():
        catalog.add(
            message.text,
            locations=[(message.file, 0)],
            auto_comments=[message.comment] if message.comment else [],
        )
    return catalog


def catalogue_of(language: str) -> Path:
    """Return the path of the catalogue of a language, such as "de" or "pt_BR"."""
    return LOCALE / language / "LC_MESSAGES" / "course.po"


def languages() -> list[str]:
    """Return the languages that have a catalogue, such as "de", in alphabetical order."""
    return sorted(file.parts[-3] for file in LOCALE.glob("*/LC_MESSAGES/course.po"))


def updated(language: str, sentences: Catalog) -> Catalog:
    """Return the catalogue of a language, updated to the sentences of a template.

    sentences: the template. Translations are kept, and those of a changed sentence become fuzzy. A
    translation whose sentence is gone is kept as obsolete, and returns with its sentence. A
    language without a file gets a new catalogue. Nothing is written.
    """
    file = catalogue_of(language)
    catalog = read(file, language) if file.exists() else _new(language)
    catalog.update(sentences)
    kept = {}
    for sentence, entry in catalog.obsolete.items():
        if not entry.string or entry.fuzzy:  # a file has no mark of fuzzy at an obsolete sentence
            continue
        if sentence not in catalog:
            kept[sentence] = entry
        elif not is_shown(catalog[sentence]):
            catalog[sentence].string, catalog[sentence].flags = entry.string, entry.flags
    catalog.obsolete = kept
    return catalog


def missing(catalog: Catalog) -> int:
    """Return the number of sentences for which a catalogue has no translation that can be shown."""
    return sum(not is_shown(one) for one in catalog if one.id)


def is_shown(entry) -> bool:
    """Return True if an entry's translation is shown to readers.

    It must not be fuzzy, and must have the placeholders of its message.
    """
    if not entry.string or entry.fuzzy:
        return False
    return translation.fits(entry.id, entry.string)


def _new(language: str | None) -> Catalog:
    """Return an empty catalogue; `language` is None for a template."""
    return Catalog(
        language,
        header_comment=HEADER,
        project="numba-gpu-kernels",
        version="",
        msgid_bugs_address="",
        creation_date=MADE,
        revision_date=MADE,
        fuzzy=False,
    )


def read(file: Path, language: str | None = None) -> Catalog:
    """Return the catalogue in a file; `language` is None for a template."""
    with file.open("rb") as opened:
        return read_po(opened, language)


def write(file: Path, catalog: Catalog) -> None:
    """Replace a file by a catalogue, as a whole or not at all.

    It has no line numbers, which change with every edit.
    """
    text = BytesIO()
    write_po(text, catalog, width=WIDTH, include_lineno=False)
    rows.write_text(file, text.getvalue().decode())


def main(arguments: list[str] | None = None) -> None:
    """Write the template, update every catalogue, and print the number of missing translations.

    The option --language makes a new catalogue, for a language such as "ja" or "pt_BR". arguments:
    the words of the command line, by default those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.messages", description=__doc__)
    parser.add_argument("--language", help='make its catalogue, too: "ja", "pt_BR"')
    given = parser.parse_args(arguments)
    sentences = template()
    write(TEMPLATE, sentences)
    print(f"{TEMPLATE.relative_to(ROOT)}: {len(sentences)} sentences.")
    chosen = {given.language.replace("-", "_")} if given.language else set()
    for language in sorted({*languages(), *chosen}):
        catalog, file = updated(language, sentences), catalogue_of(language)
        write(file, catalog)
        print(f"{file.relative_to(ROOT)}: {missing(catalog)} of {len(catalog)} are missing.")


if __name__ == "__main__":
    main()
