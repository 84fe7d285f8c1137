"""The tables of lesson 09."""

import pytest

from labs import EXERCISES
from latency_kernels import LADDER
from latency_kernels.hiding import curves, shown
from utils.errors import CourseError
from utils.lessons.cards import Card
from utils.machine import devices

H200 = devices.find("H200")
FRAME = curves.recorded(H200)
COPIES = EXERCISES["four_loads"]


def test_the_law_multiplies_in_every_row():
    for _, latency, rate, under_way in shown.law(FRAME, H200).rows:
        latency, rate, under_way = (
            float(cell.replace(",", "")) for cell in (latency, rate, under_way)
        )
        assert under_way == pytest.approx(latency * rate, rel=0.01)


def test_the_law_of_all_sms_is_that_of_one_times_their_number_and_loads_get_half():
    _, one, together, loads = shown.law(FRAME, H200).rows
    per_cycle = [float(row[2].replace(",", "")) for row in (one, together, loads)]
    assert per_cycle[1] == pytest.approx(H200.sms * per_cycle[0], rel=0.01)
    assert per_cycle[2] == pytest.approx(per_cycle[0] / 2, rel=0.01)


def test_moves_are_shown_in_their_order(compiler):
    table = shown.order_of_moves("sm_90", at_first=COPIES.starter, yours=COPIES.solution)
    (name, *first), (_, *second) = table.rows
    assert name == "at\u00a0first"
    assert first[:2] == ["LSLSLSLS", "1"]
    assert second[:2] == ["LLLLSSSS", "4"]


def test_the_readers_kernel_may_be_a_variant(compiler):
    (row,) = shown.order_of_moves("sm_90", yours=LADDER.step("copy").variant()).rows
    assert row[1:3] == ("LLLLSSSS", "4")


def test_without_a_compiler_a_sentence_takes_the_place_of_a_table(monkeypatch):
    def missing(*arguments):
        raise CourseError("There is no compiler here.")

    monkeypatch.setattr(shown, "xray", missing)
    card = shown.order_of_moves("sm_90", a=COPIES.starter)
    assert isinstance(card, Card)
    assert "There is no compiler here. The lesson goes on" in str(card)





def test_a_point_that_is_not_recorded_is_named():
    with pytest.raises(CourseError, match="no recorded point of 'ILP 9' with 128 threads"):
        curves.share(FRAME, "ILP 9", 128)


def test_the_fewest_threads_are_none_where_no_number_is_enough():
    assert curves.fewest_threads(FRAME, 1, 0.5) == 320
    assert curves.fewest_threads(FRAME, 1, 0.99) is None


def test_a_turn_lasts_as_long_as_littles_law_says():
    # 512 threads of 132 SMs with 4 bytes each in flight; half of 1199.34 GB/s is read.
    expected = 512 * 132 * 4 / (1199.34e9 / 2 / 1980e6)
    assert curves.turn_cycles(FRAME, "1 float", 512) == pytest.approx(expected)


def test_the_figure_of_chains_has_a_curve_for_each_number_of_threads():
    alt_text = curves.chains_figure(FRAME, H200).alt_text
    for threads, share in ((64, "45%"), (128, "90%"), (256, "96%")):
        assert f"{threads} threads rises from" in alt_text
        assert share in alt_text


def test_the_figure_of_threads_may_show_one_curve_and_its_mark_alone():
    alt_text = curves.arithmetic_figure(FRAME, H200, 1, ilps=[1]).alt_text
    assert "ILP 1 at 576" in alt_text
    assert "ILP 2" not in alt_text
    assert "; cross: where" in alt_text


def test_a_single_curve_says_where_it_falls():
    (axes,) = curves.arithmetic_figure(FRAME, H200, 1, ilps=[1]).axes
    assert "576" in [text.get_text() for text in axes.texts]


def test_the_figure_of_copies_has_four_curves_and_marks_the_claimed_occupancy():
    (axes,) = curves.copy_figure(FRAME, H200).axes
    labels = {text.get_text() for text in axes.texts}
    assert labels >= set(curves.DRAWN_COPIES)
    assert "8 float2" not in labels
    assert [tick.get_text() for tick in axes.get_xticklabels()][:2] == ["8", "16"]
