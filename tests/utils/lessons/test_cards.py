"""Tests of cards and tables as HTML and as text."""

from utils.lessons.cards import Beside, Card, table


def test_a_card_escapes_what_it_is_given_and_marks_code():
    shown = Card("bad", ("`c[row < 3]` is <b>not</b> right.",))._repr_html_()
    assert "<code>c[row &lt; 3]</code> is &lt;b&gt;not&lt;/b&gt; right." in shown


def test_hints_fold_out_one_inside_the_other_in_their_order():
    shown = Card("ask", ("Do it.",), hints=("first", "second"))._repr_html_()
    first, second = shown.index("first"), shown.index("second")
    assert first < second < shown.index("</details>")


def test_a_table_is_aligned_as_text():
    loads = table("Loads", ["", "per request"], [("`a`", 32), ("b, apart", 4)])
    assert str(loads).splitlines() == ["Loads", "          per request", "a                  32",
                                       "b, apart            4"]  # fmt: skip


def test_a_cell_with_a_sentence_gets_more_room_than_one_with_a_number():
    shown = table("", ["", ""], [("a", "a thread overwrites a word"), ("b", "32 words")])
    assert shown._repr_html_().count('<td class="words">') == 2
    assert shown._repr_html_().count('<th scope="col" class="words">') == 1


def test_a_number_stays_beside_its_unit():
    assert "<td>8.22\u00a0ms</td>" in table("", ["", ""], [("a", "8.22 ms")])._repr_html_()
    assert "8.22 ms" in str(table("", ["", ""], [("a", "8.22 ms")]))


def test_parts_side_by_side_are_boxes_of_one_row_and_texts_below_each_other():
    both = Beside((table("One", [""], [["a"]]), table("Other", [""], [["b"]])))
    row = both._repr_html_().partition('<div class="course-beside">')[2]
    assert row.count("<div><style>") == 2
    assert str(both).splitlines() == ["One", "", "a", "", "Other", "", "b"]
