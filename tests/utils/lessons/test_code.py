"""Tests of the code that lessons show: each step's diff is short and holds nothing but code."""

import re

import pytest

import gemm_kernels
import gemm_kernels.cpu
import latency_kernels
import reduce_kernels
import tensor_kernels
from gemm_kernels.cpu.micro_kernel_6x16 import tile_6x16
from gemm_kernels.naive import STEP as NAIVE
from gemm_kernels.naive_strided import STEP as STRIDED
from gemm_kernels.parts.slices import share_of_block
from gemm_kernels.tiled import STEP as TILED
from gemm_kernels.tiled_padded import STEP as PADDED
from tests.steps_edited import edited_step
from utils.errors import CourseError
from utils.lessons import code
from utils.lessons.code import (
    SENTENCES,
    kernel_code,
    kernel_difference,
    show_change,
    show_kernel,
    show_loop,
    show_source,
)
from utils.lessons.folders import read_in_all

LONGEST_DIFF = 45  # code lines that a reader is asked to follow at once
# The second step on tensor cores brings tiles, fragments and phases at once.
LONGER_DIFFS = {"mma_shared": 60, "mma_pipelined": 50}
LADDERS = (
    *(gemm_kernels.LADDER, gemm_kernels.cpu.LADDER, reduce_kernels.LADDER),
    tensor_kernels.LADDER,
)
CHANGES = [
    pytest.param(ladder.step(step.previous), step, id=f"{ladder.name}-{step.name}")
    for ladder in (*LADDERS, latency_kernels.LADDER)
    for step in ladder.steps
    if step.previous
]


def changed(old, new):
    """Return the lines that the diff removes or adds."""
    return [line for line in kernel_difference(old, new) if line[0] in "+-"]


@pytest.mark.parametrize("old, new", CHANGES)
def test_what_a_step_changes_can_be_read(old, new):
    assert 0 < len(changed(old, new)) <= LONGER_DIFFS.get(new.name, LONGEST_DIFF)


def test_a_step_that_changes_everything_would_be_noticed():
    first, last = gemm_kernels.LADDER.step("naive"), gemm_kernels.LADDER.step("autotuned")
    assert len(changed(first, last)) > LONGEST_DIFF


def test_comments_and_docstrings_are_no_change():
    other = edited_step(TILED, "# Every thread is about to read", "# Now they read")
    assert kernel_difference(TILED, other) == []
    assert not any(mark in kernel_code(TILED) for mark in ("#", '"""', "STEP", "import", "Launch"))


def test_a_kernel_in_a_factory_is_compared_with_one_that_needs_none():
    """Lines that naive and tiled share are not shown as changed because of their indentation."""
    lines = kernel_difference(NAIVE, TILED)
    assert " @cuda.jit" in lines
    assert "     m, k = a.shape" in lines


def test_what_is_no_part_of_the_kernel_is_no_change():
    """The constants of a launch and the `def` of a factory are not part of the kernel."""
    lines = changed(NAIVE, TILED)
    frame = ("BLOCK", "@cache", "def build", "return tiled")
    assert not any(word in line for line in lines for word in frame)
    padded = changed(gemm_kernels.LADDER.step("tiled_transposed"), PADDED)
    assert "+PADDED = TILE + 1" in padded  # a constant of the kernel stays


def test_one_changed_line_is_one_line_less_and_one_more():
    other = edited_step(TILED, "total = float32(0)", "total = float32(1)")
    assert [line[0] for line in changed(TILED, other)] == ["-", "+"]


def test_a_step_that_only_places_arrays_shows_how():
    lines = changed(NAIVE, gemm_kernels.LADDER.step("unified_memory"))
    assert lines[0] == "+def managed(array: np.ndarray):"
    assert all(line.startswith("+") for line in lines)


def test_the_source_of_a_step_is_shown_whole():
    page = show_source(TILED).data
    assert "Every thread is about to read" in page
    assert "STEP = Step(" in page


EXPLAINED = code._sentences()
PAIRS = {
    f"{old.name} > {new.name}": (old, new)
    for ladder in LADDERS
    for old in ladder.steps
    for new in ladder.steps
}


def test_a_change_has_its_sentences_in_one_room():
    assert sum(map(len, read_in_all(SENTENCES).values())) == len(EXPLAINED)


@pytest.mark.parametrize("change", EXPLAINED)
def test_the_sentences_of_a_change_stand_below_its_lines(change):
    shown = show_change(*PAIRS[change]).data
    assert shown.count("↑") == len(EXPLAINED[change])


def test_a_sentence_for_a_line_that_is_not_new_is_refused(monkeypatch):
    wrong = {"naive > tiled": {"m, k = a.shape": "This line was there before."}}
    monkeypatch.setattr(code, "_sentences", lambda: wrong)
    with pytest.raises(CourseError, match=r"No new line of tiled holds 'm, k = a\.shape'"):
        show_change(NAIVE, TILED)


def test_a_change_without_sentences_is_shown_whole():
    shown = show_change(TILED, NAIVE).data
    assert "↑" not in shown
    assert ' class="">' in shown  # a line that stays


def test_a_change_with_sentences_is_shown_whole_where_that_is_asked_for():
    shown = show_change(*REDUCTIONS, whole=True).data
    assert "↑" in shown
    assert ' class="">' in shown


def test_lines_around_a_change_are_shown_where_that_is_asked_for():
    shown = [show_change(*REDUCTIONS, around=around).data for around in (0, 1)]
    assert [' class="">' in one for one in shown] == [False, True]
    assert all("↑" in one for one in shown)


def test_the_name_of_the_kernel_is_no_change():
    first = gemm_kernels.LADDER.step("tiled_transposed")
    assert "def tiled" not in show_change(first, PADDED).data


def test_a_removed_line_with_the_name_of_the_kernel_has_the_old_name():
    shown = show_change(*REDUCTIONS).data
    assert "-def reduce8(x, partials):" in shown
    assert "+def reduce9(x, partials, drawn, out):" in shown


def test_kernels_can_be_compared_without_the_constants_before_them():
    whole, kernels = (show_change(*REDUCTIONS, kernel=one).data for one in (False, True))
    assert "operation" in whole
    assert "operation" not in kernels


REDUCTIONS = reduce_kernels.LADDER.step("reduce8"), reduce_kernels.LADDER.step("reduce9")


def test_a_kernel_is_shown_bare_and_its_comments_fold_out():
    bare, folded = show_kernel(TILED, TILE=8).data.split("<details>")
    assert "sa[ty, tx] =" in bare
    assert "#" not in re.sub(r"<style>.*?</style>", "", bare, flags=re.DOTALL)
    assert "# Every thread is about to read" in folded
    assert "with its comments, which say" in folded
    assert "with its docstring" in show_kernel(share_of_block).data


def test_a_kernel_can_be_shown_without_what_its_comments_give_away():
    shown = show_kernel(TILED, comments=False).data
    assert "sa[ty, tx] =" in shown
    assert "# Every thread is about to read" not in shown


@pytest.mark.slow
def test_a_short_change_has_no_scroll_bar(browser):
    change = show_change(STRIDED, NAIVE)
    opened = browser.open(change.data, width=900)
    block = "document.querySelector('.lesson-code')"
    assert opened.page.evaluate(f"{block}.scrollWidth <= {block}.clientWidth")


@pytest.mark.slow
def test_long_lines_are_wrapped_and_indented_further(browser):
    opened = browser.open(show_change(*REDUCTIONS).data, width=300)
    block = "document.querySelector('.lesson-code')"
    assert opened.page.evaluate(f"{block}.scrollWidth <= {block}.clientWidth")
    assert 'style="--in: 8ch" class="">    ' in show_kernel(TILED, comments=False).data
    assert 'style="--in: 9ch" class="added">+    ' in show_change(*REDUCTIONS).data


def test_a_kernel_that_is_no_step_is_shown_in_the_same_way():
    kernel = latency_kernels.LADDER.step("copy").variant().kernel
    assert show_kernel(kernel).data == show_kernel(latency_kernels.LADDER.step("copy")).data


def test_a_loop_stands_below_its_sizes_and_without_the_rest_of_its_function():
    shown = show_loop(tile_6x16).data
    assert shown.index("ROWS = 6") < shown.index("COLUMNS = 16") < shown.index("for p in range(kc)")
    assert shown.count("fmadd(") == 12
    assert not any(rest in shown for rest in ("#c00 =", "add(c", "def ", "# 2 loads"))


def test_a_change_can_be_folded():
    first, second = gemm_kernels.cpu.LADDER.steps[:2]
    assert "<details><summary>The whole change" in show_change(first, second, folded=True).data
    assert "<details>" not in show_change(first, second).data
