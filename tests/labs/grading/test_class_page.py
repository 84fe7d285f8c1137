"""The instructor's page groups a class by cause, and names nobody."""

from itertools import islice

from labs.checking.variants import wrong_versions
from labs.grading import class_page
from labs.grading.equivalents import equivalents
from labs.grading.grade import Mark, grade
from labs.grading.labs import find
from labs.grading.marks import MarkRow
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"
LAB = find("first_kernel")
(PART,) = LAB.parts


def handed_in(text: str) -> Mark:
    return grade(LAB, Submission("Ann Example", (("ann.py", text.encode()),)), SECRET)


def said(sentence: str) -> Mark:
    row = MarkRow(PART.exercise, "right", 0, 40, sentence)
    return Mark("Ann Example", LAB.name, (row,), ())


def test_respelled_mistakes_are_one_group_each():
    causes = {one.says: one.text for one in wrong_versions(PART.definition)}
    planted = dict(zip(islice(causes, 3), (3, 4, 2), strict=True))
    marks = [
        handed_in(text)
        for says, count in planted.items()
        for _, text in islice(equivalents(causes[says]), count)
    ]
    marks.append(handed_in(PART.definition.solution_text))
    found = class_page.groups(marks, PART)
    assert [group.count for group in found] == sorted(planted.values(), reverse=True)
    page = class_page.as_html(LAB, marks)
    assert "<strong>1</strong> of 10 submissions have all 100 points" in page
    assert "Ann" not in page
    assert "lesson 00" in page


def test_two_causes_are_two_groups_and_numbers_make_no_difference():
    marks = [
        said("Line 3, `x[i]`: thread 2 reads x[7], and nothing waits."),
        said("Line 5, `y[j]`: thread 9 reads y[70], and nothing waits."),
        said("Line 5, `y[j]`: thread 9 stores y[70], and nothing waits."),
    ]
    assert [group.count for group in class_page.groups(marks, PART)] == [2, 1]


def test_a_missed_target_without_points_is_no_cause():
    missed = MarkRow(PART.exercise, "registers", 0, 0, "It uses 80 registers.", beside=True)
    lost = MarkRow(PART.exercise, "right", 0, 40, "The last element is not stored.")
    both, all_points = (
        Mark("Ann Example", LAB.name, rows, ()) for rows in ((missed, lost), (missed,))
    )
    assert class_page.groups([all_points], PART) == []
    (group,) = class_page.groups([both], PART)
    assert group.sentence == "The last element is not stored."


def test_the_sentence_of_a_group_quotes_a_line_if_any_does():
    marks = [said("In x[3] it is wrong."), said("In line 4, `x[i]` it is wrong.")]
    unquoted = [said("Element 3 is wrong."), said("Element 30 is wrong.")]
    assert class_page.groups(unquoted, PART) == [class_page.Group("Element 3 is wrong.", 2)]
    assert len(class_page.groups(marks, PART)) == 2


def test_the_section_is_the_one_that_shares_rare_words():
    among = [
        class_page.Section("07", "Tiles", "a tile of shared memory, and every thread loads a word"),
        class_page.Section("07", "Barriers", "every thread waits at the barrier"),
    ]
    assert class_page.explaining("Threads wait: a barrier is missing.", among).heading == "Barriers"
    assert class_page.explaining("Quite another thing.", among) is None


def test_markup_of_a_student_is_text_on_the_page():
    page = class_page.as_html(LAB, [said("Line 1, `<script>`: <script> is not allowed.")])
    assert "<script>" not in page
