"""A part that runs out of time costs its own points, says so, and costs no other part anything."""

import resource
import signal
import time

import pytest

from labs.grading.child import CPU_SECONDS_TO_EXPLAIN, USUAL, ChildLimits, in_child
from labs.grading.grade import grade
from labs.grading.hidden import draw_hidden
from labs.grading.labs import find
from labs.grading.submissions import Submission

SECRET = "a secret of sixteen characters"
LIMITS = ChildLimits(seconds=120, cpu_seconds=2)
HUNGRY = "return round(5, -200000000)"  # minutes in one call of C, where nothing counts


def _seconds_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def test_a_part_may_take_twenty_seconds_of_a_core_with_its_explanation():
    """A second child explains; the hard limit of each is one second behind."""
    assert USUAL.cpu_seconds + 1 + CPU_SECONDS_TO_EXPLAIN + 1 <= 20


def test_a_part_without_end_costs_its_own_points_alone():
    lab = find("occupancy")
    texts = {part.exercise: part.definition.solution_text for part in lab.parts}
    (given,) = [part for part in lab.parts if part.exercise == "required_shared"]
    parameters = ", ".join(given.definition.parameters)
    texts["required_shared"] = f"def required_shared({parameters}):\n    {HUNGRY}\n"
    work = Submission("student", (("work.py", "\n".join(texts.values()).encode()),))
    before = _seconds_of_children()
    mark = grade(lab, work, SECRET, LIMITS)
    spent = _seconds_of_children() - before
    by_part = {
        part.exercise: sum(row.points for row in mark.rows if row.part == part.exercise)
        for part in lab.parts
    }
    assert by_part == {part.exercise: 0 if part is given else part.points for part in lab.parts}
    told = [row.told for row in mark.rows if row.part == "required_shared"]
    assert all("more processor time" in one for one in told)
    assert spent < 15


def test_a_launch_without_end_at_a_later_shape_leaves_the_counts_of_the_first():
    lab = find("first_kernel")
    (part,) = lab.parts
    (size,), (other,), *_ = draw_hidden(part.definition, SECRET).shapes
    text = part.definition.solution_text
    (line,) = [line for line in text.splitlines() if line.startswith("def scale(")]
    endless = f"{line}\n    while out.size != {size} and out.size != {other}:\n        pass"
    work = Submission("student", (("work.py", text.replace(line, endless).encode()),))
    right, idea, targets = grade(lab, work, SECRET).rows
    assert right.points == right.of // 5
    assert right.told.count("wait for ever") == 1
    assert idea.points > idea.of // 2
    assert targets.points == targets.of // 5


@pytest.mark.parametrize("ignored", [(), (signal.SIGXCPU,)])
def test_the_limit_of_processor_time_says_so_and_holds_if_its_signal_is_ignored(ignored):
    def work():
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)
        yield {"part": "a"}
        while True:
            pass

    start = time.monotonic()
    outcome = in_child(work, ChildLimits(seconds=60, cpu_seconds=1))
    words = "SIGKILL" if ignored else "more processor time"
    assert words in outcome.problem
    assert outcome.messages == ({"part": "a"},)
    assert time.monotonic() - start < 30
