"""The scripts of a Gradescope autograder, run in a folder that looks like one."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from labs import EXERCISES
from utils.paths import ROOT

SCRIPTS = ROOT / "labs" / "platforms" / "gradescope"
SECONDS = 120
pytestmark = pytest.mark.skipif(not shutil.which("timeout"), reason="Gradescope has Linux")


@pytest.fixture
def autograder(tmp_path):
    """Return a folder as Gradescope unpacks the guide's zip, and as setup.sh leaves it."""
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "submission").mkdir()
    (source / "course").symlink_to(ROOT, target_is_directory=True)
    (tmp_path / "venv").symlink_to(sys.prefix, target_is_directory=True)
    (source / "lab.txt").write_text("first_kernel\n")
    (source / "secret.txt").write_text("a secret of sixteen characters\n")
    shutil.copy(SCRIPTS / "run_autograder", tmp_path)
    return tmp_path


def run(autograder) -> subprocess.CompletedProcess:
    environment = {**os.environ, "AUTOGRADER_ROOT": str(autograder)}
    return subprocess.run(
        [autograder / "run_autograder"], cwd=autograder, env=environment, capture_output=True,
        text=True, timeout=SECONDS, check=False,
    )  # fmt: skip


def test_files_of_a_submission_are_graded_as_one_student(autograder):
    (autograder / "submission" / "my notes.py").write_text("SIDE = 3\n")
    (autograder / "submission" / "work.py").write_text(EXERCISES["scale"].solution_text)
    result = run(autograder)
    assert result.returncode == 0, result.stderr
    assert "1 submission, 1 with all" in result.stdout
    results = json.loads((autograder / "results" / "results.json").read_text())
    assert results["score"] == 100
    assert {test["status"] for test in results["tests"]} == {"passed"}


@pytest.mark.slow
def test_nothing_handed_in_is_no_point_and_a_reason(autograder):
    result = run(autograder)
    assert result.returncode == 0, result.stderr
    results = json.loads((autograder / "results" / "results.json").read_text())
    assert results["score"] == 0
    assert "holds no `.py`" in results["output"]


@pytest.mark.slow
def test_without_a_secret_the_run_fails_and_says_why(autograder):
    (autograder / "source" / "secret.txt").unlink()
    result = run(autograder)
    assert result.returncode == 2
    assert "The secret" in result.stderr
    assert not list(autograder.glob("results/*"))


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_a_script_can_be_read_and_may_be_run(script):
    assert os.access(SCRIPTS / script, os.X_OK)
    subprocess.run(["bash", "-n", SCRIPTS / script], check=True, timeout=SECONDS)
