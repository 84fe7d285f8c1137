"""Tests that sentences are translated where a catalogue has them, and stay English elsewhere."""

import os

import numpy as np
import pytest

from labs import EXERCISES, check, task
from labs.checking.recognise import table_in
from labs.checking.translated_mistakes import in_the_readers_language, translated
from labs.checking.variants import function_in, wrong_versions
from labs.grading.grade import grade
from labs.grading.handout import notebook
from labs.grading.labs import LABS
from labs.grading.submissions import Submission
from utils import translation
from utils.lessons.predictions import ledger, predict, reveal
from utils.lessons.questions import Question
from utils.reader_folder import LEDGER, PAGE
from utils.translation import LANGUAGE, fits, in_english, language, placeholders, translate

CATALOGUE = """
msgid "one"
msgstr "eins"

msgid "{count} of {all:,}"
msgstr "{all:,}, davon {count}"

#, fuzzy
msgid "old"
msgstr "alt"

msgid "missing"
msgstr ""

msgid "{a} and {b}"
msgstr "{a} und {c}"

msgid "{a} or {b}"
msgstr "{a} oder {b} {"
"""


@pytest.fixture
def in_german(monkeypatch):
    monkeypatch.setenv(LANGUAGE, "de")


@pytest.fixture
def small_catalogue(tmp_path, monkeypatch, in_german):
    """A catalogue of a few sentences, instead of the course's."""
    file = tmp_path / "de" / "LC_MESSAGES" / "course.po"
    file.parent.mkdir(parents=True)
    file.write_text(CATALOGUE, encoding="utf-8")
    monkeypatch.setattr(translation, "LOCALE", tmp_path)


def wrong_kernel(name, what):
    text = next(one.text for one in wrong_versions(EXERCISES[name]) if one.what == what)
    return function_in(name, text), text


# ------------------------------------------------------------------------------- the catalogue


def test_a_sentence_of_the_catalogue_is_translated_with_its_values(small_catalogue):
    assert translate("one") == "eins"
    assert translate("{count} of {all:,}", count=3, all=1000) == "1,000, davon 3"


@pytest.mark.parametrize("message", ["old", "missing", "never seen"])
def test_a_fuzzy_or_missing_entry_stays_english(small_catalogue, message):
    assert translate(message) == message


@pytest.mark.parametrize("message", ["{a} and {b}", "{a} or {b}"])
def test_an_entry_with_other_placeholders_stays_english(small_catalogue, message):
    assert translate(message, a=1, b=2) == message.format(a=1, b=2)


def test_placeholders_may_change_their_order_alone():
    assert placeholders("{a} of `{load b}`, {c:.3g}") == {"{a}", "{load b}", "{c:.3g}"}
    assert fits("{a} of {b:,}", "{b:,}: {a}")
    assert not fits("{a} of {b:,}", "{b}: {a}")
    assert not fits("{a}", "{a}}")


def test_english_needs_no_catalogue(monkeypatch):
    monkeypatch.setattr(translation, "_catalogue", lambda chosen: pytest.fail("was read"))
    assert translate("You were right.") == "You were right."


@pytest.mark.parametrize(
    "chosen, found",
    [("de", "de"), ("pt-BR", "pt_BR"), ("en", "en"), ("", "en"), ("../etc", "en"), ("v2", "en")],
)
def test_the_language_is_the_one_that_the_reader_chooses(monkeypatch, chosen, found):
    monkeypatch.setenv(LANGUAGE, chosen)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert language() == found


@pytest.mark.parametrize(
    "notebook, found",
    [
        ("/home/ada/notebooks/07_tiling.de.ipynb", "de"),
        ("notebooks/07_tiling.ipynb", "en"),
        ("8c0e5d24-0a0b", "en"),
    ],
)
def test_the_language_is_that_of_the_open_notebook(monkeypatch, notebook, found):
    monkeypatch.delenv(LANGUAGE)
    monkeypatch.setenv("JPY_SESSION_NAME", notebook)
    assert language() == found


def test_a_region_falls_back_to_its_language(small_catalogue, monkeypatch):
    monkeypatch.setenv(LANGUAGE, "de_AT")
    assert translate("one") == "eins"
    monkeypatch.setenv(LANGUAGE, "fr")
    assert translate("one") == "one"


# ------------------------------------------------------------------------- what a reader is shown


@pytest.fixture
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv(LEDGER, str(tmp_path / "predictions.json"))
    monkeypatch.delenv(PAGE, raising=False)


def test_predictions_are_asked_for_and_answered_in_german(own_ledger, in_german):
    asked = str(predict("00.idle", None))
    assert asked.startswith("Threads ohne Element: 1000 Elemente, Blöcke zu 256? Gib eine Zahl an.")
    assert str(predict("00.idle", 20)) == "Gespeichert: 20 Threads. Die Antwort kommt später."
    assert str(reveal("00.idle", 24)) == (
        "Threads ohne Element: 1000 Elemente, Blöcke zu 256: 24 Threads.\n"
        "Du hast 20 Threads gesagt, die Antwort ist 24 Threads: 4 Threads zu wenig.\n"
        "1000 ÷ 256 = 3.9, also braucht es 4 Blöcke. Sie haben 4 × 256 = 1024 Threads.\n"
        "1024 Threads − 1000 Elemente = 24 Threads."
    )
    assert ledger("00").caption == "Deine Vorhersagen"
    assert ledger("00").head == ("Frage", "du", "Antwort")


def test_an_answer_is_kept_in_english_and_taken_in_either_language(monkeypatch):
    words = {"faster": "schneller", "slower": "langsamer"}
    monkeypatch.setattr(
        "utils.lessons.questions.translate", lambda text, **_: words.get(text, text)
    )
    prompt = Question("Is it faster", choices=("faster", "slower"))
    assert prompt.parse("Langsamer") == prompt.parse("slower") == "slower"
    assert prompt.as_text("slower") == "langsamer"


def test_a_task_and_its_hints_are_shown_in_german(in_german):
    card = task("scale")
    assert card.sentences[0] == "Dein erster Kernel."
    assert card.sentences[-1] == "Ziele:"
    assert card.items[0] == "richtig bei jeder Länge"
    assert card.hints[0].startswith("Welches Element ist deines?")
    assert "Hinweis 1" in card._repr_html_()


@pytest.mark.parametrize(
    "what, told",
    [
        ("no test", "Die letzten 24 haben kein Element. Nichts in deinem Kernel hält sie fern."),
        ("tests 256", "Nur die 256 Threads von Block 0 speichern."),
        ("divides", "Jedes Element ist durch `factor` geteilt."),
        ("empty body", "liest oder schreibt kein Thread ein Array."),
        ("float64", "Das Ergebnis ist richtig. Aber: Zeile 10, `out[i] = 1.0 * factor * x[i]`"),
        ("returns the result", "Ein Kernel gibt nichts zurück."),
    ],
)
def test_a_mistake_is_named_in_german(in_german, what, told):
    verdict = check("scale", wrong_kernel("scale", what)[0])
    assert verdict.head == "Dein erster Kernel: noch nicht."
    assert told in verdict.causes[0]


def test_a_right_kernel_is_praised_in_german(in_german):
    verdict = check("scale", EXERCISES["scale"].solution)
    assert verdict.head == "Dein erster Kernel: richtig."
    first = "Richtig bei 5 Größen, und die virtuelle GPU hat keinen Fehler gefunden."
    assert verdict.facts[0] == first


def test_a_sentence_on_a_mutant_is_translated_clause_by_clause(in_german):
    sentence = "Your kernel behaves as if a test were missing, where `i` is computed."
    assert in_the_readers_language(sentence) == (
        "Dein Kernel verhält sich, als fehlte eine Abfrage, und zwar dort, wo `i` berechnet wird."
    )
    sentence = (
        "Your kernel behaves as if a number were added, "
        "where `{out}` is stored in line {store out}."
    )
    assert in_the_readers_language(sentence) == (
        "Dein Kernel verhält sich, als würde eine Zahl addiert, und zwar dort, wo `{out}` in Zeile "
        "{store out} gespeichert wird."
    )


def test_in_english_every_sentence_of_a_table_stays_as_it_is():
    for exercise in EXERCISES.values():
        table = table_in(exercise.folder)
        assert translated(table) == table


def test_a_handout_is_written_in_german(in_german):
    cells = [cell.source for cell in notebook(LABS["first_kernel"]).cells]
    assert cells[0].startswith("# Labor: Der erste Kernel\n\n**Nach diesem Labor kannst du**\n\n- ")
    assert "ein richtiges Ergebnis bei 6 Größen, bei denen die virtuelle GPU" in cells[2]
    assert cells[-1].startswith("## Was bewertet wird, und wie")


# ------------------------------------------------------------------------------------ the grader


def graded(lab, name, what):
    """Return the mark of a wrong version of one exercise of a lab."""
    submission = Submission("ada", (("a.py", wrong_kernel(name, what)[1].encode()),))
    return grade(LABS[lab], submission, "a secret that is long enough")


@pytest.mark.parametrize(
    "lab, name, what",
    [
        ("first_kernel", "scale", "no test"),
        ("first_kernel", "scale", "divides"),
        ("occupancy", "resident_blocks", "no block slots"),
    ],
)
def test_a_mark_is_the_same_in_every_language(monkeypatch, lab, name, what):
    english = graded(lab, name, what)
    assert english.told
    monkeypatch.setenv(LANGUAGE, "de")
    assert graded(lab, name, what) == english
    assert language() == "de"


def test_english_can_be_chosen_for_a_while(monkeypatch):
    for chosen in ("de", None):
        monkeypatch.delenv(LANGUAGE)
        if chosen:
            monkeypatch.setenv(LANGUAGE, chosen)
        with in_english():
            assert language() == "en"
        assert os.environ.get(LANGUAGE) == chosen
        monkeypatch.setenv(LANGUAGE, "en")


def test_a_long_number_is_written_without_an_exponent():
    assert translation.translate("{value:.3g} stores", value=1024.0) == "1,024 stores"
    assert translation.translate("{a:.4g} and {b:g}", a=3.9216, b=2e6) == "3.922 and 2,000,000"
    assert translation.translate("{a:g} and {b}", a=np.float32(-3e6), b="`1e+06`") == (
        "-3,000,000 and `1e+06`"
    )
    assert translation.translate("{value:g}", value=3e38) == "3e+38"
    assert translation.translate("{value:g}", value=float("inf")) == "inf"
