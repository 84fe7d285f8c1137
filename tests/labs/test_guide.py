"""Tests of the instructor's guide: its commands run, and its generated pages are up to date."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from numba import cuda, float32

from gemm_kernels.naive import naive
from labs import EXERCISES
from labs.checking.variants import Wrong
from labs.checking.verdict import Verdict
from labs.grading import marks
from labs.grading.child import USUAL
from labs.grading.labs import LABS
from labs.guide.chain import chain
from labs.guide.eight_loads import eight_loads
from labs.guide.four_rows import four_rows
from labs.host import host_device_traffic, launches
from labs.host.benchmark import faults
from labs.host.exercise import HostExercise
from tests.labs import versions
from tools import guide_pages
from utils.division import cdiv
from utils.intrinsics.wide_memory import commit_copies, copy4_async
from utils.lessons.rule_exceptions import exceptions_of
from utils.paths import ROOT, lessons
from virtual_gpu import counting_transfers, installed, trace

GUIDE = (ROOT / "labs" / "GUIDE.md").read_text(encoding="utf-8")
PAGES = [ROOT / "labs" / "README.md", ROOT / "labs" / "GUIDE.md", *guide_pages.GUIDE.glob("*.md")]
_BLOCK = re.compile(r"```(?P<kind>bash|text)\n(?P<text>.*?)```", re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Return the commands of the guide, each with the output that the guide shows, or ""."""
    pairs = []
    for block in _BLOCK.finditer(GUIDE):
        if block["kind"] == "bash":
            pairs.append((block["text"], ""))
        else:
            pairs[-1] = (pairs[-1][0], block["text"])
    return pairs


@pytest.mark.slow
def test_the_commands_of_the_guide_lead_from_nothing_to_marks(tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"HOME": str(tmp_path), "PATH": path, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    before = ""
    for command, shown in commands():
        script = f"set -euo pipefail\n{before}\n{command}"
        done = subprocess.run(
            ["bash", "-c", script], cwd=ROOT, env=home, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if shown:
            assert done.stdout == shown
        exports = [line for line in command.splitlines() if line.startswith("export ")]
        before = "\n".join((before, *exports))
    left = {file.name for file in (tmp_path / "gpu-class").iterdir()}
    assert left == {
        "autograder.zip", "course", "handed-in", "handouts", "lab.txt", "marks", "roster.csv",
        "secret.txt",
    }  # fmt: skip
    marked = {file.name for file in (tmp_path / "gpu-class" / "marks").iterdir()}
    assert marked == {"feedback", "first_kernel.csv", "first_kernel_causes.html"}


def test_the_page_of_answers_is_that_of_the_lessons():
    assert guide_pages.ANSWERS.read_text(encoding="utf-8") == guide_pages.answers()


def test_every_lesson_has_three_checked_tasks_or_exercises_with_answers():
    for number, file in lessons().items():
        exercises = list(guide_pages.exercises(nbformat.read(file, 4).cells))
        assert [name.split(".")[0] for name, *_ in exercises] == list("1234"[: len(exercises)])
        assert len(exercises) >= 2 or "has_three_tasks" not in exceptions_of(number)
        for _, task, _, answer in exercises:
            assert min(len(task), len(answer)) > 10, file.name
        code = [one.source for one in nbformat.read(file, 4).cells if one.cell_type == "code"]
        assert all(starter in "\n\n".join(code) for _, _, starter, _ in exercises), file.name


# These are quick and not marked as slow, so that a changed sentence is noticed early.
AT_ONCE = ("device_occupancy", "launch_best", "required_shared")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in AT_ONCE)) for name in EXERCISES],
)
def test_the_page_of_mistakes_says_what_the_checker_says(name):
    section = guide_pages.mistakes_of(name, judged_once)
    assert section in guide_pages.MISTAKES.read_text(encoding="utf-8")


def judged_once(name: str, one: Wrong) -> Verdict:
    """Return the verdict that other tests share, unless its sentence tells after how long it ends.

    One that never ends is stopped earlier in these tests than on the page.
    """
    if versions.ENDLESS.search(one.what):
        return guide_pages.judged(name, one)
    return versions.judged(name, one.text, one.what)


@pytest.mark.parametrize("name", EXERCISES)
def test_a_wrong_solution_of_the_page_can_be_printed(name, capsys):
    section = guide_pages.MISTAKES.read_text(encoding="utf-8").partition(f"### `{name}`\n")[2]
    what = re.findall(r"^\| (.+?) \| ", section, re.MULTILINE)[2].replace("\\|", "|")
    guide_pages.main([name, what])
    shown = capsys.readouterr().out
    assert f"def {name}(" in shown or f"\n{shown}".startswith(f"\n{name} = ")
    assert shown != EXERCISES[name].solution_text


def test_what_cannot_be_printed_is_said_in_one_sentence():
    for arguments, message in (
        (["scal", "x"], "no exercise 'scal'"),
        (["scale", "x"], "no mistake 'x'"),
        (["scale"], "Give nothing"),
    ):
        with pytest.raises(SystemExit, match=message):
            guide_pages.main(arguments)


def test_the_page_of_mistakes_has_all_labs():
    page = guide_pages.MISTAKES.read_text(encoding="utf-8")
    for lab in LABS.values():
        assert f"\n## {lab.title} (`{lab.name}`)\n" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, heading = target.partition("#")
        if file.startswith("https://"):
            continue
        there = (page.parent / file).resolve() if file else page
        assert there.is_file(), f"{page.name}: {target}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [_anchor(title) for title in titles], f"{page.name}: {target}"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def test_points_and_limits_of_the_guide_are_those_of_the_grader():
    assert (
        f"{marks.RIGHT} % for a right result, {marks.IDEA} % for the idea of the task, "
        f"{marks.TARGETS} % for the targets" in GUIDE
    )
    assert (
        f"{marks.TASK_CASES} % for right answers in the cases of the task, {marks.DRAWN_CASES} % "
        "in cases that are drawn from the secret" in GUIDE
    )
    assert f"In `benchmark`, each fault costs {faults.PERCENT_OF_FAULT} %." in GUIDE
    assert f"it is {host_device_traffic.OF_ONE_FAULT} % for each array" in GUIDE
    block, grid, nbytes, result = launches.COSTS.values()
    assert (
        f"it is {block} % for the block, {grid} % for the grid, {nbytes} % for the bytes and "
        f"{result} % for the result" in GUIDE
    )
    assert f"after {USUAL.seconds:.0f} seconds, or {USUAL.cpu_seconds} seconds of a core" in GUIDE
    assert f"with {USUAL.memory_bytes // 2**30} GiB of memory" in GUIDE


def test_the_timings_name_all_labs():
    table = GUIDE.partition("<!-- timings -->")[2].partition("<!-- end -->")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(LABS)


# ------------------------------------------------------------------------- what it says of others


@cuda.jit
def reverse_without_waiting(x, out):
    tile, t = cuda.shared.array(128, float32, alignment=16), cuda.threadIdx.x
    copy4_async(tile, 4 * t, x, 4 * t)
    commit_copies()
    cuda.syncthreads()
    out[t] = tile[127 - t]


def test_a_copy_that_nobody_waits_for_is_a_race():
    x, out = np.arange(128, dtype=np.float32), np.zeros(32, np.float32)
    (finding,) = trace(reverse_without_waiting, 1, 32, x, out).findings
    assert finding.kind == "race"
    assert "wait_copies" in str(finding)


def test_labs_with_functions_of_the_host_are_those_that_it_names():
    with_host = [
        f"`{lab.name}`"
        for lab in LABS.values()
        if any(isinstance(part.definition, HostExercise) for part in lab.parts)
    ]
    assert f"functions of the host ({', '.join(with_host)})" in GUIDE


def test_the_code_of_the_answers_is_right():
    draw = np.random.default_rng(4)
    a, b, e = (draw.integers(-9, 10, size).astype(np.float32) for size in ((40, 64), (64, 80),
                                                                             (80, 16)))  # fmt: skip
    with installed(), counting_transfers() as copies:
        assert np.array_equal(chain(naive, a, b, e), a @ b @ e)
    assert len(copies) == 4
    for m, n, k in ((64, 256, 32), (33, 65, 7)):
        a, b = np.ones((m, k), np.float32), draw.random((k, n), dtype=np.float32)
        c = np.zeros((m, n), np.float32)
        assert not trace(four_rows, (cdiv(n, 32), cdiv(m, 32)), (32, 8), a, b, c).findings
        assert np.allclose(c, a @ b)
    x, out = draw.random(5000, dtype=np.float32), np.zeros(5000, np.float32)
    assert not trace(eight_loads, 3, 256, x, out).findings
    assert np.array_equal(x, out)
