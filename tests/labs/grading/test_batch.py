"""No mark of a class is lost, whether a process is killed, a disk is full or a run is stopped."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

import pytest

from labs.grading import batch, command, feedback
from labs.grading.batch import grade_class
from labs.grading.grade import Mark
from labs.grading.labs import find
from labs.grading.marks import MarkRow
from labs.grading.submissions import Submission, collect
from labs.grading.worker import Worker
from utils.errors import CourseError
from utils.paths import ROOT

SECRET = "a secret of sixteen characters"
LAB = find("first_kernel")
RIGHT = Submission("right", (("a.py", LAB.parts[0].definition.solution_text.encode()),))
ENDLESS_KERNEL = b"""from numba import cuda

@cuda.jit
def scale(x, factor, out):
    while True:
        pass
"""
ENDLESS = Submission("endless", (("a.py", ENDLESS_KERNEL),))


class Deadly:
    """A fake worker whose process some submissions kill, once or always."""

    deaths: ClassVar[dict[str, int]] = {}

    def grade(self, lab, submission, secret):
        if self.deaths.get(submission.student, 0) > 0:
            self.deaths[submission.student] -= 1
            return None
        return Mark(submission.student, lab.name, (MarkRow("scale", "all", 1, 1),), ())

    def end(self):
        pass


@pytest.fixture
def deadly(monkeypatch):
    monkeypatch.setattr(batch, "Worker", Deadly)
    monkeypatch.setattr(Deadly, "deaths", {})
    return Deadly.deaths


def class_of(count):
    return [Submission(f"student {one}", (("a.py", b"x = %d" % one),)) for one in range(count)]


def test_a_submission_that_kills_its_process_once_is_tried_again(deadly, tmp_path):
    deadly["student 3"] = 1
    marks = list(grade_class(LAB, class_of(8), SECRET, tmp_path, workers=2))
    assert sorted(one.student for one in marks) == sorted(one.student for one in class_of(8))
    assert {one.points for one in marks} == {1}


def test_a_submission_that_always_kills_is_a_row_with_its_reason_and_is_not_kept(deadly, tmp_path):
    deadly["student 3"] = 2
    marks = {one.student: one for one in grade_class(LAB, class_of(8), SECRET, tmp_path, workers=2)}
    assert len(marks) == 8
    assert marks["student 3"].points == 0
    assert "was not judged" in marks["student 3"].rows[0].told
    assert len(list((tmp_path / "graded").glob("*.json"))) == 7
    again = {one.student: one for one in grade_class(LAB, class_of(8), SECRET, tmp_path, workers=2)}
    assert again["student 3"].points == 1


def test_a_full_disk_is_one_sentence_and_a_second_run_goes_on(deadly, tmp_path, monkeypatch):
    written, write = [], Path.write_text

    def until_full(path, text, **options):
        if len(written) == 3:
            write(path, text[: len(text) // 2], **options)  # a half reaches the disk
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(path)
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", until_full)
    with pytest.raises(CourseError, match=r"No space left on device.*run the command again"):
        list(grade_class(LAB, class_of(8), SECRET, tmp_path, workers=2))
    monkeypatch.undo()
    monkeypatch.setattr(batch, "Worker", Deadly)
    before = len(list((tmp_path / "graded").glob("*.json")))
    assert before == 3
    assert len(list(grade_class(LAB, class_of(8), SECRET, tmp_path, workers=2))) == 8


@pytest.mark.parametrize("what", ["feedback.md", "first_kernel.part"])
def test_a_page_or_a_table_that_does_not_fit_is_one_sentence(
    deadly, tmp_path, monkeypatch, capsys, what
):
    from labs.__main__ import main

    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ann.py").write_text("x = 1")
    monkeypatch.setenv("COURSE_SECRET", SECRET)
    arguments = ["grade", LAB.name, str(tmp_path / "class"), "--out", str(tmp_path / "out")]
    write = Path.write_text

    def full(path, text, **options):
        if path.name == what:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, text, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        assert main(arguments) == 2
    assert "No space left on device): what was graded before is kept" in capsys.readouterr().err
    assert main(arguments) == 0
    assert (tmp_path / "out" / "first_kernel.csv").exists()


def test_the_order_of_a_class_changes_nothing_in_its_table(deadly, tmp_path):
    first = list(grade_class(LAB, class_of(9), SECRET, tmp_path / "one", workers=3))
    other = list(grade_class(LAB, class_of(9)[::-1], SECRET, tmp_path / "two", workers=1))
    assert feedback.as_csv(LAB, first) == feedback.as_csv(LAB, other)


def test_an_interrupted_command_says_that_it_goes_on(tmp_path, monkeypatch, capsys):
    from labs.__main__ import main

    (tmp_path / "ann.py").write_text("x = 1")
    monkeypatch.setenv("COURSE_SECRET", SECRET)

    def interrupted(*_):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(command, "graded", interrupted)
    out = str(tmp_path / "out")
    assert main(["grade", LAB.name, str(tmp_path / "ann.py"), "--out", out]) == 130
    assert "run the command again to go on" in capsys.readouterr().err


def test_a_folder_that_may_not_be_read_is_a_problem(tmp_path, monkeypatch):
    (tmp_path / "ann").mkdir()

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("os.walk", refused)
    (submission,) = collect([tmp_path])
    assert "cannot be read: Permission denied" in submission.problem


def _processes_below(pid: int) -> set[int]:
    """Return all descendants of a process, on Linux."""
    children_by_parent = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children_by_parent.setdefault(int(fields[1]), set()).add(int(stat.parent.name))
    descendants, waiting = set(), [pid]
    while waiting:
        children = children_by_parent.get(waiting.pop(), set())
        descendants |= children
        waiting += children
    return descendants


def _gone(pids: set[int], within: float) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not any(_runs(pid) for pid in pids):
            return True
        time.sleep(0.1)
    return False


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_a_worker_whose_process_is_killed_says_so_and_takes_the_next(tmp_path):
    worker = Worker()
    try:
        assert worker.grade(LAB, RIGHT, SECRET).points == 100
        process, below = worker._process, set()

        def kill_while_a_child_grades() -> None:
            until = time.monotonic() + 60
            while not below and time.monotonic() < until:
                below.update(_processes_below(process.pid))
            process.kill()

        killer = threading.Thread(target=kill_while_a_child_grades)
        killer.start()
        assert worker.grade(LAB, ENDLESS, SECRET) is None
        killer.join()
        assert below or not Path("/proc/self/stat").exists()
        assert _gone(below, within=60)
        assert worker.grade(LAB, RIGHT, SECRET).points == 100
    finally:
        worker.end()
    assert worker.grade(LAB, RIGHT, SECRET) is None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_no_process_and_goes_on(tmp_path, number):
    work, out = tmp_path / "class", tmp_path / "out"
    work.mkdir()
    for student in range(6):
        (work / f"s{student}.py").write_text(
            f"{LAB.parts[0].definition.solution_text}\n# {student}\n"
        )
    arguments = [sys.executable, "-m", "labs", "grade", LAB.name, str(work), "--out", str(out)]
    options = {"cwd": ROOT, "env": {**os.environ, "COURSE_SECRET": SECRET}}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        [*arguments, "--workers", "1"], **options, **silent,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may ignore it
    ) as process:  # fmt: skip
        until = time.monotonic() + 300
        while not list((out / "graded").glob("*.json")) and time.monotonic() < until:
            time.sleep(0.02)
        below = _processes_below(process.pid)
        process.send_signal(number)
        process.wait(120)
    assert below
    assert _gone(below, within=120)
    kept = len(list((out / "graded").glob("*.json")))
    assert 1 <= kept < 6
    again = subprocess.run([*arguments, "--workers", "2"], **options, **silent, timeout=600)
    assert again.returncode == 0
    assert len((out / f"{LAB.name}.csv").read_text().splitlines()) == 7
