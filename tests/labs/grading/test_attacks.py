"""No submission gains an undeserved point, runs its Python, or leaves a process or a file."""

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from labs import EXERCISES, check
from labs.grading.allow_list import NotAllowed
from labs.grading.child import ChildLimits
from labs.grading.functions_from_text import functions_of
from labs.grading.grade import grade
from labs.grading.labs import find
from labs.grading.submissions import MOST_BYTES, Submission, collect
from tests.labs.grading.attacks import ATTACKS, HOST, TEXTS, kernel

SECRET = "a secret of sixteen characters"
LIMITS = ChildLimits(seconds=60, cpu_seconds=40)
LAB = find("tiling")


def attacked(raw: bytes):
    return grade(LAB, Submission("student", (("work.py", raw),)), SECRET, LIMITS)


def children() -> set[str]:
    own = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(own.read_text().split()) if own.exists() else set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gains_no_point_and_leaves_no_process_and_no_file(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = children()
    mark = attacked(ATTACKS[name])
    assert (mark.points, mark.of) == (0, 100)
    assert all(row.told for row in mark.rows if row.of)
    assert children() == before
    assert not list(tmp_path.iterdir())


def test_at_least_forty_attacks_are_tried():
    assert len(ATTACKS) >= 40


def test_no_line_of_a_submission_is_run():
    """A profile hook sees every frame of Python: none is of the submission, right or not."""
    text = EXERCISES["tiling"].solution_text + "\n".join(
        text for name, text in TEXTS.items() if "kernel" not in name and "no Python" not in name
    ).replace("def tiling", "def other").replace("tiling =", "other =")
    frames = []

    def hook(frame, event, detail):
        if event == "call" and frame.f_code.co_filename.startswith("<piece"):
            frames.append(frame.f_code.co_name)

    sys.setprofile(hook)
    try:
        functions = functions_of((text,), ("tiling",))
        verdict = check("tiling", functions["tiling"])
    finally:
        sys.setprofile(None)
    assert verdict.passed
    assert frames == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import os", "an import within a function"),
        ("c[0, 0] = np.lib.os.environ.x", "`np.lib.os.environ"),
        ("c[0, 0] = ().__class__", "`().__class__`"),
        ("c[0, 0] = open('x')", "the name `open`"),
        ("np.float32 = None", "`np.float32`"),
        ("c[0, 0] = 9**9**9**9", "a power of this size"),
    ],
)
def test_what_is_not_allowed_is_named_with_its_line(body, words):
    refused = functions_of((kernel(body),), ("tiling",))["tiling"]
    assert isinstance(refused, NotAllowed)
    assert str(refused).startswith("Line 8: ")
    assert words in str(refused)


@pytest.mark.parametrize("what", HOST)
def test_a_function_of_the_host_that_reaches_further_is_not_called(what):
    lines = "".join(f"    {line}\n" for line in HOST[what].splitlines())
    text = f"import numpy as np\n\ndef benchmark(device, m, n, k):\n{lines}    return 1\n"
    refused = functions_of((text,), ("benchmark",))["benchmark"]
    assert isinstance(refused, NotAllowed)
    assert "is not allowed" in str(refused) or "not defined, or not allowed" in str(refused)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (mark,) = collect([tmp_path])
    assert mark.files == ()
    assert "no plain file" in mark.problem


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (mark,) = collect([tmp_path])
    assert "no plain file" in mark.problem


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("work.py", b"#" * (50 * MOST_BYTES))
    (mark,) = collect([tmp_path])
    assert "more than 5 MB" in mark.problem


def test_a_large_file_is_refused_unread(tmp_path):
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(2**30)
    (mark,) = collect([tmp_path])
    assert "more than 5 MB" in mark.problem


def test_what_a_child_forges_is_no_array(tmp_path):
    """Results are sent as data, so a result that cannot be decoded is wrong."""
    from labs.grading.hidden import draw_hidden
    from labs.grading.marks import rows_of

    part = LAB.parts[0]
    forged = [{"shape": 0, "out": {"raw": "", "dtype": "O", "shape": [1]}, "misused": None,
               "found": None, "targets": {}}]  # fmt: skip
    rows = rows_of(part, json.loads(json.dumps(forged)), draw_hidden(part.definition, SECRET), "")
    assert rows[0].told
    assert sum(row.points for row in rows) == 0
