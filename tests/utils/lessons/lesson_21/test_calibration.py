"""The whole ledger: errors of predictions, and the sentence if there are none."""

import math

import pytest

from utils import reader_folder
from utils.lessons import ledger_file
from utils.lessons.lesson_21.calibration import calibration, whole_ledger
from utils.lessons.questions import bank


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    monkeypatch.setenv(reader_folder.LEDGER, str(tmp_path / "predictions.json"))
    monkeypatch.delenv(reader_folder.PAGE, raising=False)


def test_without_predictions_a_card_says_where_they_come_from():
    assert "no predictions of yours yet" in str(calibration())
    ledger_file.keep("05.strided", value=3.0)
    assert "answers were not revealed" in str(calibration())


def test_the_factor_is_a_geometric_mean_of_both_directions():
    ledger_file.keep("21.dram", value=4.0, measured=1.0)
    ledger_file.keep("21.busy", value=0.5, measured=0.5)
    said = str(calibration())
    assert "Predictions that have their answer: 2." in said
    assert f"a factor of {math.sqrt(4):.2f}" in said
    assert "1 of 2 within a factor of 2" in said


def test_twice_too_high_and_half_as_high_count_alike():
    ledger_file.keep("21.dram", value=2.0, measured=1.0)
    ledger_file.keep("21.busy", value=1.0, measured=2.0)
    assert "a factor of 2.00" in str(calibration())


def test_each_lesson_has_its_own_factor():
    ledger_file.keep("21.dram", value=4.0, measured=1.0)
    ledger_file.keep("18.lanes", value=10.0, measured=20.0)
    ledger_file.keep("20.bits", value="each 0, 1 or 2", measured="between 0 and 1")
    shown = whole_ledger()._repr_html_()
    assert f"Lesson 21: 1 of {asked('21')} predicted, off by a factor of 4.00<" in shown
    assert f"Lesson 18: 1 of {asked('18')} predicted, off by a factor of 2.00<" in shown
    assert f"Lesson 20: 1 of {asked('20')} predicted<" in shown


def asked(lesson: str) -> int:
    """Return the number of questions of a lesson."""
    return sum(name.partition(".")[0] == lesson for name in bank())


def test_choices_are_counted_by_themselves():
    ledger_file.keep("21.change", value="K", measured="L")
    said = str(calibration())
    assert "Choices and orders: 0 of 1 right" in said
    assert "factor" not in said


def test_a_name_that_is_asked_no_more_is_left_out():
    ledger_file.keep("99.gone", value=1.0, measured=2.0)
    assert "no predictions of yours yet" in str(calibration())


def test_every_lesson_with_predictions_has_a_fold_of_its_own():
    ledger_file.keep("21.busy", value=0.5, measured=0.5)
    ledger_file.keep("18.lanes", value=None)
    ledger_file.keep("05.strided", value=3.0)
    shown = whole_ledger()._repr_html_()
    assert shown.count("<details>") == 2
    assert f"Lesson 21: 1 of {asked('21')} predicted, off by a factor of 1.00</summary>" in shown
    assert "Your predictions" in str(whole_ledger())
