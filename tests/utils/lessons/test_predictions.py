"""Tests that predictions are kept, revealed and compared, and that a broken file loses nothing."""

import json
import re

import pytest

from utils import reader_folder
from utils.errors import CourseError
from utils.lessons import ledger_file, predictions, questions
from utils.lessons.cards import Paragraphs
from utils.lessons.predictions import begin_anew, ledger, predict, reveal
from utils.lessons.questions import Question

BANK = {
    "05.sectors": Question("Sectors of one request", "sectors", at_least=1),
    "05.factor": Question("How many times faster", "times"),
    "05.words": Question(
        "Words of a request", "words", because="\n32 lanes are 4 words apart.\n32 × 4 = 128 words."
    ),
    "05.share": Question("Share of the peak", "%"),
    "05.banks": Question("Banks that serve several words", "banks", exact=True),
    "05.limit": Question("What limits it", choices=("shared memory", "the caches")),
    "07.waits": Question("UNROLL = 1 against naive", choices=("the same", "twice")),
    "07.order": Question("From slow to fast", order=("naive", "tiled", "cuBLAS")),
}


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    """Install a bank of questions; return the path of the predictions, not written yet."""
    monkeypatch.setenv("COURSE_LEDGER", str(tmp_path / "kept" / "predictions.json"))
    monkeypatch.delenv(reader_folder.PAGE, raising=False)
    for module in (questions, predictions):
        monkeypatch.setattr(module, "bank", lambda: BANK)
    return tmp_path / "kept" / "predictions.json"


def test_a_prediction_is_kept_and_stands_beside_what_was_measured():
    assert str(predict("05.sectors", 8)) == "Kept: 8 sectors. The answer comes later."
    shown = str(reveal("05.sectors", 32.0))
    assert "Sectors of one request: 32 sectors." in shown
    assert "You said 8 sectors, the answer is 32 sectors: too low by a factor of 4." in shown


def test_the_arithmetic_follows_the_answer():
    predict("05.words", 100)
    first, said, *reasons = reveal("05.words", 128).sentences
    assert first == "Words of a request: 128 words."
    assert said.startswith("You said 100 words")
    assert reasons == ["32 lanes are 4 words apart.", "32 × 4 = 128 words."]


@pytest.mark.parametrize(
    ("name", "value", "measured", "kind"),
    [
        ("05.share", 95, 94, "good"),
        ("05.share", 50, 94, "ask"),
        ("05.words", 128, 128, "good"),
        ("05.words", 32, 128, "ask"),
    ],
)
def test_only_a_right_or_close_prediction_has_the_green_card(name, value, measured, kind):
    predict(name, value)
    assert reveal(name, measured).kind == kind


def test_none_asks_and_keeps_nothing(own_file):
    assert "Give a number." in str(predict("05.sectors", None))
    assert not own_file.exists()


def test_a_share_is_asked_in_percent_and_a_fraction_is_kept_as_percent_without_a_doubt():
    assert "Give a number, in percent." in str(predict("05.share", None))
    card = predict("05.share", 0.95)
    assert card.kind == "good"
    assert "Kept: 0.95 %." in str(card)
    assert "0.95 means 0.95 percent; 95 would mean 95 percent." in str(card)
    assert "You were right" in str(reveal("05.share", 0.95))
    assert "means" not in str(predict("05.factor", 0.5))


def test_only_a_share_below_one_percent_gets_the_sentence_on_percent():
    assert BANK["05.share"].note_on_percent(1) is None
    assert BANK["05.share"].note_on_percent(95) is None
    assert BANK["05.share"].note_on_percent(0.5)


def test_a_prediction_can_be_changed_until_the_answer_was_seen():
    predict("05.sectors", 8)
    predict("05.sectors", 16)
    reveal("05.sectors", 32)
    assert "your prediction stays 16 sectors" in str(predict("05.sectors", 32))
    assert "You said 16 sectors" in str(reveal("05.sectors", 32))


class Notebook:
    """Counts the runs of cells as IPython does."""

    execution_count = 0

    def run(self, cell):
        self.execution_count += 1
        return cell()


@pytest.fixture
def notebook(monkeypatch):
    one = Notebook()
    monkeypatch.setattr(predictions, "get_ipython", lambda: one)
    return one


CELLS = (
    *(lambda name=name: predict(name, None) for name in ("05.sectors", "05.factor", "07.order")),
    lambda: reveal("05.sectors", 32),
    lambda: reveal("05.factor", 2),
    lambda: reveal("07.order", ["naive", "tiled", "cuBLAS"]),
)
SECTORS = CELLS[3]


def test_running_all_cells_twice_shows_and_spoils_no_answer(notebook):
    for _ in range(2):
        shown = [str(notebook.run(cell)) for cell in CELLS]
        assert not any("32" in text or "naive, then" in text for text in shown[3:])
    assert all(not entry.revealed for entry in ledger_file.entries().values())
    assert "Kept" in str(notebook.run(lambda: predict("05.sectors", 8)))
    assert "You said 8 sectors" in str(notebook.run(SECTORS))


def test_only_the_first_card_of_a_lesson_says_that_there_is_no_prediction(notebook):
    for _ in range(2):
        first, second, other = [str(notebook.run(cell)) for cell in CELLS][3:]
        assert second == "Hidden until you predict: 05.factor."
    assert first == "Hidden until you predict: 05.sectors."
    notebook.run(lambda: begin_anew("05"))
    notebook.run(lambda: begin_anew("07"))
    first, second, other = [str(notebook.run(cell)) for cell in CELLS][3:]
    for card in (first, other):
        assert "There is no prediction of yours yet" in card
        assert "run its cell twice in a row" in card
    assert second == "Hidden until you predict: 05.factor."


def test_a_name_in_capitals_keeps_them_within_a_sentence(notebook):
    card = str(notebook.run(lambda: reveal("07.waits", "twice")))
    assert "There is no prediction of yours yet: UNROLL = 1 against naive?" in card


def test_a_cell_that_is_run_twice_in_a_row_shows_the_answer(notebook):
    assert "32" not in str(notebook.run(SECTORS))
    assert "32 sectors" in str(notebook.run(SECTORS))
    seen = str(notebook.run(lambda: predict("05.sectors", 32)))
    assert "nothing is kept" in seen
    assert "course.begin_anew('05') makes the predictions of this lesson new" in seen


def test_another_cell_in_between_or_another_kernel_is_not_twice_in_a_row(notebook, monkeypatch):
    notebook.run(SECTORS)
    notebook.run(lambda: None)
    assert "32" not in str(notebook.run(SECTORS))
    monkeypatch.setattr("os.getpid", lambda: 1)
    assert "32" not in str(notebook.run(SECTORS))


def test_outside_of_a_notebook_the_second_call_shows_the_answer():
    assert "32" not in str(reveal("05.sectors", 32))
    assert "32 sectors" in str(reveal("05.sectors", 32))


def test_a_file_of_an_earlier_version_is_read(own_file, notebook):
    own_file.parent.mkdir()
    old = {"value": None, "measured": None, "asked": True}
    own_file.write_text(json.dumps({"version": 1, "predictions": {"05.sectors": old}}))
    assert "There is no prediction of yours yet" in str(notebook.run(SECTORS))


def test_a_lesson_begins_anew_and_the_others_stay():
    for name in ("05.sectors", "05.factor"):
        predict(name, 8)
        reveal(name, 32)
    predict("07.order", ["tiled", "naive", "cuBLAS"])
    assert "its predictions are forgotten" in str(begin_anew("05"))
    assert set(ledger_file.entries()) == {"07.order"}
    assert "Kept: 16 sectors" in str(predict("05.sectors", 16))
    with pytest.raises(CourseError, match="'99' asks nothing"):
        begin_anew("99")


def test_nothing_is_written_where_there_is_nothing_to_forget(own_file):
    begin_anew("05")
    assert not own_file.exists()


@pytest.mark.parametrize("is_clone", [True, False])
def test_beginning_anew_says_how_a_clone_gets_the_notebook_back(tmp_path, monkeypatch, is_clone):
    monkeypatch.setattr(predictions, "ROOT", tmp_path)
    notebook = tmp_path / "notebooks" / "05_coalescing.ipynb"
    monkeypatch.setattr(predictions, "lessons", lambda: {"05": notebook})
    if is_clone:
        (tmp_path / ".git").mkdir()
    card = str(begin_anew("05"))
    assert ("git restore notebooks/05_coalescing.ipynb" in card) == is_clone


OPEN_FOLD = "<details><summary>Show the answer</summary>"


def outside_of_folds(shown) -> str:
    hidden = r"<style>.*?</style>|<details>.*?</details>"
    return re.sub(hidden, "", shown._repr_html_(), flags=re.DOTALL)


def test_a_page_folds_an_answer_without_a_prediction(monkeypatch):
    monkeypatch.setenv(reader_folder.PAGE, "1")
    predict("05.words", None)
    card = reveal("05.words", 128)
    assert OPEN_FOLD in card._repr_html_()
    assert "128 words" in str(card)
    assert "32 × 4 = 128 words." in card._repr_html_()
    assert "128" not in outside_of_folds(card)
    assert "Kept in" not in str(ledger("05"))
    assert "128" in str(ledger("05"))
    assert "128" not in outside_of_folds(ledger("05"))


def test_a_page_with_a_prediction_folds_nothing(monkeypatch):
    monkeypatch.setenv(reader_folder.PAGE, "1")
    predict("05.words", 100)
    for shown in (reveal("05.words", 128), ledger("05")):
        assert "128" in outside_of_folds(shown)
        assert "<details>" not in shown._repr_html_()


def test_a_second_run_without_a_prediction_folds_the_answer_too(notebook):
    words = lambda: reveal("05.words", 128)  # noqa: E731
    assert "128 words" not in notebook.run(words)._repr_html_()
    for _ in range(2):
        card = notebook.run(words)
        assert OPEN_FOLD in card._repr_html_()
        assert "128" not in outside_of_folds(card)
    assert "<details>" not in ledger("05")._repr_html_()


@pytest.mark.parametrize(
    "measured, words",
    [(32, "You were right"), (33, "You were right"), (36, "Close"), (64, "factor of 2")],
)
def test_a_number_is_told_how_far_it_was(measured, words):
    predict("05.sectors", 32)
    assert words in str(reveal("05.sectors", measured))


def test_a_choice_is_found_however_it_is_written():
    predict("05.limit", " Shared Memory")
    assert "That is right." in str(reveal("05.limit", "shared memory"))


def test_a_tile_is_found_when_it_is_typed_with_the_letter_x():
    tile = Question("Which tile is the fastest", choices=("4×8", "8×4"))
    assert tile.parse(" 8X4") == "8×4"


def test_an_order_is_compared_place_by_place():
    predict("07.order", ["tiled", "naive", "cuBLAS"])
    shown = str(reveal("07.order", ["naive", "tiled", "cuBLAS"]))
    assert "naive, then tiled, then cuBLAS" in shown
    assert "1 of 3 are in the right position." in shown


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("05.sectors", "8", "must be a number"),
        ("05.sectors", True, "must be a number"),
        ("05.sectors", float("nan"), "must be a number"),
        ("05.sectors", 10**400, "must be a number"),
        ("05.sectors", 0.5, "must be at least 1, and 0.5 was given"),
        ("05.factor", 0, "must be more than 0"),
        ("05.factor", -2, "must be more than 0"),
        ("05.share", 0, "must be more than 0, and 0 was given"),
        ("05.share", -1, "must be more than 0, and -1 was given"),
        ("05.banks", -1, "must be at least 0, and -1 was given"),
        ("05.banks", 15.6, "is a count, so give a whole number; 15.6 was given"),
        ("05.limit", "registers", '`"shared memory"`, `"the caches"`'),
        ("07.order", "naive", "is not a list"),
        ("07.order", ["naive", "tiled"], "The list must have each of them once."),
        ("07.order", ["naive", "tiled", "tiled"], "The list must have each of them once."),
    ],
)
def test_what_is_no_answer_gets_a_sentence_and_is_not_kept(name, value, words, own_file):
    card = predict(name, value)
    assert card.kind == "bad"
    assert words in " ".join(card.sentences)
    assert not own_file.exists()


def test_a_question_that_does_not_exist_gets_the_nearest_name():
    with pytest.raises(CourseError, match=r"Did you mean '05\.sectors'\?"):
        predict("05.sector", 8)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 2, "predictions": {}}', '{"version": 1, "predictions": {"a": 3}}'],
)
def test_a_file_that_cannot_be_read_is_put_aside_and_said(own_file, text):
    own_file.parent.mkdir()
    own_file.write_text(text)
    card = predict("05.sectors", 8)
    assert "is now `predictions.1.old`" in card.sentences[1]
    assert own_file.with_name("predictions.1.old").read_text() == text
    assert json.loads(own_file.read_text())["predictions"]["05.sectors"]["value"] == 8


def test_two_broken_files_are_both_kept(own_file):
    own_file.parent.mkdir()
    for text in ("one", "two"):
        own_file.write_text(text)
        predict("05.sectors", 8)
    renamed = sorted(own_file.parent.glob("*.old"))
    assert [file.read_text() for file in renamed] == ["one", "two"]


def test_where_nothing_can_be_written_the_file_lies_among_temporary_ones(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("COURSE_LEDGER", str(tmp_path / "file" / "predictions.json"))
    predict("05.sectors", 8)
    assert ledger_file.path().is_relative_to(tmp_path / "numba-gpu-kernels")
    assert "You said 8" in str(reveal("05.sectors", 32))


def test_a_deleted_file_begins_anew(own_file):
    predict("05.sectors", 8)
    own_file.unlink()
    assert "no prediction" in str(reveal("05.sectors", 32))


def test_the_ledger_hides_what_was_not_revealed():
    predict("05.sectors", 8)
    predict("05.limit", "the caches")
    reveal("05.sectors", 32)
    rows = ledger("05").rows
    assert rows == (
        ("Sectors of one request", "8 sectors", "32 sectors"),
        ("How many times faster", "–", "–"),
        ("Words of a request", "–", "–"),
        ("Share of the peak", "–", "–"),
        ("Banks that serve several words", "–", "–"),
        ("What limits it", "the caches", "–"),
    )


def test_the_ledger_of_a_lesson_that_asks_nothing_says_so():
    with pytest.raises(CourseError, match="asks nothing"):
        ledger("99")


def test_what_is_below_an_answer_waits_for_the_prediction(monkeypatch):
    shown = Paragraphs(("a table",))
    assert "a table" not in str(reveal("05.sectors", 32.0, below=shown))
    predict("05.sectors", 8)
    assert "a table" in str(reveal("05.sectors", 32.0, below=shown))
    monkeypatch.setenv(reader_folder.PAGE, "1")
    begin_anew("05")
    page = reveal("05.sectors", 32.0, below=shown)._repr_html_()
    assert page.index("<details") < page.index("a table") < page.index("</details>")


def test_a_number_that_identifies_something_has_its_label_and_no_distance(monkeypatch):
    slips = {"600": "This is its number in the grid."}
    asked = Question("The first thread", label="thread", exact=True, slips=slips)
    monkeypatch.setitem(BANK, "05.first", asked)
    assert str(predict("05.first", 600)) == "Kept: thread 600. The answer comes later."
    shown = str(reveal("05.first", 88))
    assert "You said thread 600, the answer is thread 88. This is its number in the grid." in shown
    assert "many" not in shown
    assert asked.feedback(88.0, 88.0) == "You were right: you said thread 88."
    assert "Close" not in asked.feedback(87.0, 88.0)
    assert not asked.agrees(87.0, 88.0)


def test_the_mistake_behind_a_known_wrong_number_is_told():
    share = Question("Share of the peak", "%", slips={"1.8": "You counted 4 bytes."})
    assert share.feedback(1.79, 0.9).endswith("by a factor of 1.99. You counted 4 bytes.")
    assert share.feedback(3.0, 0.9).endswith("by a factor of 3.33.")
