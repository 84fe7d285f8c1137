"""Tests of exercises whose answer is an order of lines, from the list to the mark."""

import ast
import re
from importlib import import_module
from itertools import combinations, permutations
from random import Random

import nbformat
import pytest

from labs import EXERCISES, check, task
from labs.checking.line_order import OrderExercise, labelled
from labs.grading.allow_list import NotAllowed
from labs.grading.functions_from_text import functions_of
from labs.grading.grade import grade
from labs.grading.handout import notebook
from labs.grading.labs import find
from labs.grading.submissions import Submission
from utils.ladder import kept_functions
from virtual_gpu.pictures.svg import KEEP_KEYS

ORDERS = {name: one for name, one in EXERCISES.items() if isinstance(one, OrderExercise)}
ALL = pytest.mark.parametrize("name", ORDERS)
SAXPY = "order_saxpy"
RIGHT = [6, 2, 5, 4, 1]
SECRET = "a secret of sixteen characters"


def right_orders(name):
    listed = import_module(f"labs.exercises.{name}.right").RIGHT.values()
    return [list(one) for one in listed if all(isinstance(number, int) for number in one)]


@ALL
def test_the_lines_are_those_of_the_solution_and_two_more(name):
    one = ORDERS[name]
    above, below = one.given_lines
    solution = one.solution_text.split('"""', 2)[2].strip().splitlines()
    own = solution[len(above) : len(solution) - len(below)]
    assert [*above, *own, *below] == solution
    assert sorted(own) == sorted(line for line in one.lines if line in own)
    assert len(one.lines) == len(own) + 2
    assert list(one.lines) != sorted(one.lines, key=own.index if set(own) == {*one.lines} else str)


@ALL
def test_right_orders_pass_and_their_kernel_is_kept(name):
    for order in right_orders(name):
        verdict = check(name, order)
        assert verdict.passed, f"{order}: {verdict}"
        assert kept_functions.kept_text(name).strip().endswith(
            ORDERS[name].text_of(order).strip()[-40:]
        )
        assert check(name, kept_functions.kept(name)).passed


@ALL
def test_every_slip_in_a_right_order_passes_or_gets_one_sentence_without_file_lines(name):
    """A slip is a line left out, two neighbours exchanged, or a line too many at any place."""
    one, right = ORDERS[name], right_orders(name)[0]
    unused = [number for number in range(1, len(one.lines) + 1) if number not in right]
    slips = [right[:at] + right[at + 1 :] for at in range(len(right))]
    slips += [
        [*right[:at], right[at + 1], right[at], *right[at + 2 :]] for at in range(len(right) - 1)
    ]
    slips += [
        [*right[:at], more, *right[at:]] for more in unused for at in range(len(right) + 1)
    ]
    for order in Random(1).sample(slips, 12):
        verdict = check(name, order)
        assert verdict.passed or len(verdict.causes) == 1, order
        for cause in verdict.causes:
            assert str(right) not in cause
            assert "File" not in cause


def test_one_order_of_saxpy_passes():
    """Orders that break a rule for reasons of order are left out, because they are many."""
    passed = []
    for size in (5, 6):
        for lines in combinations(range(1, 8), size):
            if not {1, 4, 5} <= set(lines) or not {2, 7} & set(lines):
                continue
            for order in permutations(lines):
                rules = ORDERS[SAXPY].rules
                if not any(rule.after and rule.broken_in(order) for rule in rules):
                    passed += [list(order)] * check(SAXPY, order).passed
    assert passed == [RIGHT]


@pytest.mark.parametrize("order", [[3, *RIGHT], [*RIGHT, 3]])
def test_a_line_too_many_is_refused_even_if_the_result_is_right(order):
    verdict = check(SAXPY, order)
    assert not verdict.passed
    (cause,) = verdict.causes
    assert cause.startswith("The result is right, but line 3 does nothing for it")


def test_the_first_misplaced_line_is_named_by_its_number():
    (cause,) = check(SAXPY, [6, 4, 2, 5, 1]).causes
    assert cause.startswith("No guard is above line 4")
    (cause,) = check(SAXPY, [2, 5, 6, 1, 4]).causes  # both line 2 and line 1 are misplaced
    assert cause.startswith("Line 2 compares")


def test_a_finding_of_the_judge_has_the_labels_of_the_task():
    (cause,) = check("order_tree", [5, 7, 3, 6, 1, 2]).causes
    assert cause.startswith("Line 1, `shared[tid] += shared[tid + stride]`")
    assert "has written at line 1 with" in cause
    one, order = ORDERS["order_tree"], [5, 7, 3, 6, 1, 8, 2]
    above = len(one.given_lines[0])
    text = f"Lines {above}, {above + 1} and {above + 8}; line 3"
    assert labelled(one, order, text) == "Lines d, 5 and e; line 3"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "needs a list"), (5, "needs a list"), ({1, 2}, "needs a list"),
        ([1, "2"], "`'2'` is no number"), ([True, 2], "`True` is no number"),
        ([0], "`0` is no number"), ([5, 5], "2 times"), ([], "is empty"),
        ([6, 4, 1], "No guard is above line 4"), ([4, 1], "Line 4 uses `i`"),
        ([2], "Line 2 compares"),
    ],
)  # fmt: skip
def test_what_is_no_order_is_told_in_one_sentence(given, words):
    (cause,) = check(SAXPY, given).causes
    assert words in cause


def test_a_task_shows_the_numbered_lines_as_text():
    lines = str(task(SAXPY)).splitlines()
    assert "  2      if i >= out.size:" in lines
    assert "  5          return" in lines


# ------------------------------------------------------------------------------------ grading


def mark_of(text: str):
    lab = find("first_steps")
    made = grade(lab, Submission("ann", (("work.py", text.encode()),)), SECRET)
    rows = [row for row in made.rows if row.part == SAXPY]
    told = [sentence for part, sentence in made.told if part == SAXPY]
    told += [row.told for row in rows if row.told]
    return sum(row.points for row in rows), sum(row.of for row in rows), told


@pytest.mark.parametrize("text", ["[6, 2, 5, 4, 1]", "(6, 2, 5, 2 + 2, 1)", "FIRST"])
def test_a_list_of_whole_numbers_gets_the_mark_of_its_kernel(text):
    text = f"FIRST = 6\n{SAXPY} = " + text.replace("FIRST", "[FIRST, 2, 5, 4, 1]")
    points, of, told = mark_of(text)
    assert (points, told) == (of, [])


@pytest.mark.parametrize("text", [
    "A = {0}\nB = A\n{1} = B", "A = {1} = {0}", "A = [1]\nA = {0}\n{1}: list = A",
    "A = {0}\n{1} = A\nA = [1]", "{1} = {0}\nA = {1}\n{1} = A", "A, B = [1], 2\nA = {0}\n{1} = A",
])  # fmt: skip
def test_a_name_of_a_list_is_as_good_as_the_list(text):
    text = text.format([6, 2, 5, 4, 1], SAXPY)
    assert functions_of((text,), (SAXPY,), (), frozenset([SAXPY]))[SAXPY] == (6, 2, 5, 4, 1)


def test_a_wrong_list_loses_points_and_is_told_the_line():
    points, of, told = mark_of(f"{SAXPY} = [6, 7, 5, 4, 1]")
    assert 0 < points < of
    assert told[0].startswith("Line 7 lets")
    points, _, told = mark_of(f"{SAXPY} = [6, 2, 5, 1, 4]")
    assert points == 0
    assert told[0].endswith("Line 1 stores `scaled` before any line has computed it.")


def test_a_line_too_many_is_told_by_the_grader_as_by_the_check():
    points, of, told = mark_of(f"{SAXPY} = [3, 6, 2, 5, 4, 1]")
    assert points == of // 5
    assert told[0].startswith("The result is right, but line 3 does nothing for it")


def test_a_line_too_many_in_a_wrong_order_is_not_called_harmless():
    points, of, told = mark_of(f"{SAXPY} = [3, 2, 5, 4, 1]")
    assert points < of
    assert "The result is right" not in str(told)
    assert "Line 3 numbers the threads of a block" in str(told)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{SAXPY} = [open('x').read()]", "must be a list of whole numbers"),
        (f"{SAXPY} = [5.0, 2, 4, 1]", "must be a list of whole numbers"),
        (f"{SAXPY} = [1]\n{SAXPY} = [2]", "is set 2 times, in lines 1, 2"),
        (f"{SAXPY} = [1, 2", "Python cannot read this"),
        (f"{SAXPY} = list(range(3))", "There is no list"),
        (f"A = [1]\n{SAXPY} = A\nB = [2]\n{SAXPY} = B", "is set 2 times, in lines 2, 4"),
        (f"A = [5.0]\n{SAXPY} = A", "Line 2: `order_saxpy` must be a list of whole numbers"),
        (f"A = [1]\nA = list(range(3))\n{SAXPY} = A", "There is no list"),
        (f"A = [1]\nA += [2]\n{SAXPY} = A", "There is no list"),
        (f"A = [1]\nfor A in A:\n    pass\n{SAXPY} = A", "There is no list"),
        (f"{SAXPY} = A", "There is no list"),
        ("", "There is no list"),
    ],
)
def test_a_list_that_cannot_be_read_says_why(text, words):
    refused = functions_of((text,), (SAXPY,), (), frozenset([SAXPY]))[SAXPY]
    assert isinstance(refused, NotAllowed)
    assert words in str(refused)


def test_a_list_is_taken_for_an_order_only_where_the_task_asks_for_one():
    refused = functions_of(("scale = [1, 2]",), ("scale",))["scale"]
    assert "There is no function `scale`" in str(refused)


def test_a_handout_shows_the_lines_and_takes_a_list():
    made = notebook(find("first_steps"))
    nbformat.validate(made)
    whole = "\n".join(cell.source for cell in made.cells)
    assert "\n  2      if i >= out.size:\n" in whole
    starter = next(cell.source for cell in made.cells if cell.source.startswith(SAXPY))
    assert ast.literal_eval(starter.partition("= ")[2]) == [1, 2, 3, 4, 5, 6, 7]


# ------------------------------------------------------------------------------- in a notebook


def test_without_scripts_the_lines_can_be_read():
    shown = task("order_tree")._repr_html_()
    assert shown.count('<li data-line="') == len(ORDERS["order_tree"].lines)
    assert shown.count('class="given"') == 13


def test_jupyterlab_leaves_the_keys_to_each_element_that_can_have_the_focus():
    shown = task(SAXPY)._repr_html_()
    takes_keys = re.findall(r'<li [^>]*tabindex="0"[^>]*>|<button[^>]*>', shown)
    assert len(takes_keys) == len(ORDERS[SAXPY].lines) + 1
    assert all(KEEP_KEYS in one for one in takes_keys)


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 420, 1000])
@ALL
def test_no_line_is_cut_at_any_width(browser, name, width):
    opened = browser.open(task(name)._repr_html_(), width=width)
    for number in range(1, len(ORDERS[name].lines) + 1):
        opened.page.click(f'.pool [data-line="{number}"]')
    cut = opened.page.locator(".line-order code, .line-order li, .line-order .column").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)"
        ".map(one => one.textContent)"
    )
    assert cut == []
    widest = opened.page.locator(".line-order code:not(.call)").evaluate_all(
        "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    )
    assert widest <= width
    assert opened.overflow <= 0


@pytest.mark.slow
def test_lines_are_arranged_by_clicks_and_by_keys(browser):
    opened = browser.open(task(SAXPY)._repr_html_(), width=420)
    page = opened.page
    for number in (2, 5):
        page.click(f'.pool [data-line="{number}"]')
    assert opened.text(".call") == "order_saxpy = [2, 5]"
    page.focus('.chosen [data-line="5"]')
    page.keyboard.press("ArrowUp")
    assert opened.text(".call").endswith("[5, 2]")
    page.focus('.pool [data-line="3"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.click('.pool [data-line="1"]')
    assert opened.text(".call").endswith("[5, 2, 4, 1]")
    page.click('.chosen [data-line="4"]')
    page.focus('.chosen [data-line="1"]')
    page.keyboard.press("ArrowLeft")
    assert opened.text(".call").endswith("[5, 2]")
    page.drag_and_drop('.pool [data-line="4"]', '.chosen [data-line="2"]')
    assert opened.text(".call").endswith("[5, 4, 2]")
    numbers = page.locator(".pool li").evaluate_all("all => all.map(one => +one.dataset.line)")
    assert numbers == sorted(numbers)
    assert opened.overflow <= 0
    assert not opened.messages
    assert not opened.asked
