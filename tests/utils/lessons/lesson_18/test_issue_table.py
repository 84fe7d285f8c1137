"""Test the table of executed instructions, and the bars of a reader's kernel."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from labs import EXERCISES
from labs.checking.variants import function_in
from reduce_kernels import LADDER
from reduce_kernels.remainder import (
    WARPS_LEAVE,
    IssueSlots,
    recorded_slots,
    recorded_times,
)
from utils.errors import CourseError
from utils.lessons.lesson_18 import time_bars
from utils.lessons.lesson_18.issue_table import (
    by_instructions,
    draw_issue_shares,
    issue_table,
)
from utils.lessons.lesson_18.own_bars import (
    beside_idle_threads,
    beside_the_experiment,
    beside_the_trees,
)
from utils.lessons.lesson_18.slides import PUBLISHED_MS, beside_the_slides, speedups
from utils.measuring.kernel_times import ArrayTime
from virtual_gpu.pictures.svg import ORANGE

SLOTS = [IssueSlots("one", "a", 2**20, 1_250_000, 0.75), IssueSlots("one", "b", 2**20, 2, 0.5)]
TIMES = [
    ArrayTime("one", name, 2**21, ms, ms, ms, 1980, "2026-11-26")
    for name, ms in (("a", 1.0), ("b", 2.5))
]


def test_the_rows_are_in_the_order_of_the_names():
    text = str(issue_table(SLOTS, TIMES, "b", "a"))
    assert text.index("2.50 ms") < text.index("1.2 million") < text.index("1.00 ms")
    assert "75 %" in text
    assert "2²⁰ elements, recorded times for 2²¹" in text


def test_a_kernel_without_counts_is_refused():
    with pytest.raises(CourseError, match=r"c has no row in issue_slots\.csv: choose one of a, b"):
        issue_table(SLOTS, TIMES, "a", "c")


def test_the_picture_has_a_row_per_kernel_in_the_order_of_the_instructions():
    picture = draw_issue_shares(recorded_slots(), recorded_times())
    rows = [picture.alt.index(f"{name}: ") for name in ("reduce0", "lanes_diverge", "warps_leave")]
    assert rows == sorted(rows)
    assert "reduce2_32: 75 %, 3.89 billion instructions, 4.94 ms" in picture.alt
    assert picture.body.count("<circle") == len({row.kernel for row in recorded_slots()})
    assert "75 to 85 %" in picture.body


def test_a_picture_of_some_kernels_has_the_band_of_all_and_no_number_in_it_of_a_point_outside():
    shown = ["warps_leave", "reduce3", "warps_agree"]
    assert by_instructions(recorded_slots(), shown) == ["warps_agree", "reduce3", "warps_leave"]
    picture = draw_issue_shares(recorded_slots(), recorded_times(), shown)
    assert picture.body.count("<circle") == len(shown)
    assert "75 to 85 %" in picture.body
    sides = {
        share: re.search(rf'text-anchor="(\w+)">{share} %<', picture.body)[1] for share in (69, 81)
    }
    assert sides == {69: "end", 81: "start"}


@pytest.mark.slow
def test_a_readers_kernel_is_drawn_without_a_recorded_time():
    (both,) = beside_the_experiment(EXERCISES["without_remainder"].solution).parts
    counted, drawn = both.parts
    assert [row[0] for row in counted.rows] == ["yours"]
    yours = drawn.alt.partition("yours: ")[2]
    assert yours.endswith("recorded –.")
    assert "longest estimate" in drawn.body
    assert "recorded" not in drawn.body.partition(">yours<")[2]
    assert "wavefronts 2.41" in yours


@pytest.mark.slow
def test_a_kernel_with_two_loops_has_a_card_that_says_why_it_is_not_counted(compiler):
    text = EXERCISES["without_remainder"].solution_text
    line = "        if tid & uint32(2 * stride - 1) == 0:\n"
    inner = (
        "        rest = tid\n"
        "        while rest >= uint32(2 * stride):\n"
        "            rest = uint32(rest - uint32(2 * stride))\n"
        "        if rest == 0:\n"
    )
    kernel = function_in("without_remainder", text.replace(line, inner))
    *_, card = beside_the_experiment(kernel).parts
    assert "2 loops" in str(card)


def test_a_tree_is_shown_with_the_words_and_times_of_the_bars():
    reduce2 = LADDER.step("reduce2").variant(BLOCK=256)
    (both,) = beside_the_trees(reduce2).parts
    counted, drawn = both.parts
    assert [row[0] for row in counted.rows] == ["yours"]
    assert time_bars.draw(recorded_times(), reduce2=reduce2).alt.partition("reduce2: ")[2] in (
        drawn.alt
    )


@pytest.mark.slow
def test_a_kernel_whose_warps_leave_is_shown_between_reduce3_and_warps_leave():
    three = LADDER.step("reduce3").variant(BLOCK=256)
    leave = WARPS_LEAVE.variant(BLOCK=256)
    shown = [beside_idle_threads(one).parts[0].parts[0] for one in (three, leave)]
    names = [[row[0] for row in counted.rows] for counted in shown]
    assert names == [["reduce2", "yours", "reduce3"], ["reduce3", "yours", "warps_leave"]]


@pytest.mark.slow
def test_an_unrolled_kernel_has_a_card_that_calls_its_instructions_a_bound(compiler):
    text = EXERCISES["tree"].solution_text.replace("cuda.blockDim.x", "BLOCK")
    step = replace(LADDER.step("reduce2"), name="yours", build=lambda BLOCK: own)
    own = function_in("tree", text)
    both, card = beside_the_trees(step.variant(BLOCK=256)).parts
    drawn = both.parts[1]
    assert "upper bound" in str(card)
    assert "instructions ≤ 2.86" in drawn.alt.partition("yours: ")[2]
    assert ORANGE not in drawn.body  # neither the bound nor a legend


def test_the_slides_are_compared_factor_by_factor():
    assert [f"{one:.2f}" for one in speedups(PUBLISHED_MS)] == ["2.33", "2.01", "1.78"]
    rows = [
        {"device": "NVIDIA X", "step": name, "params": f"BLOCK={threads}", "elements": 2**22,
         "time_ms": threads}
        for name in PUBLISHED_MS for threads in (128, 256)
    ]  # fmt: skip
    shown = beside_the_slides(pd.DataFrame(rows))
    assert shown.head == ("", "slides, G80", "X")
    assert [row[-1] for row in shown.rows] == ["1.00×"] * 3
