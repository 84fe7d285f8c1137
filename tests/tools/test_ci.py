"""What a change is checked by: dependencies between files, and the stages that they ask for."""

import re
import time
from pathlib import Path

import pytest

from tools.ci import __main__ as command
from tools.ci.dependencies import graph, of_the_repository, reached_by, tracked
from tools.ci.stages import REACH_ALL, Change, Stage, stages
from utils.paths import ROOT

# One process reads all files of the repository.
pytestmark = pytest.mark.xdist_group("files of the repository")

TEXTS = {
    "kit/__init__.py": "from kit.base import one",
    "kit/base.py": "one = 1",
    "kit/user.py": "def f():\n    from . import base",
    "kit/table.py": "FILE = Path(__file__).parent / 'figures.csv'",
    "kit/late.py": "import_module('kit.user')",
    "tests/test_kit.py": "import kit",
    "tests/test_table.py": "from kit.table import FILE",
}
FILES = ["kit/figures.csv", "data/measured/gpu/gemm.csv", "README.md"]


@pytest.mark.parametrize(
    "changed, reached",
    [
        ("kit/base.py", {"kit/__init__.py", "kit/user.py", "kit/late.py", "tests/test_kit.py"}),
        ("kit/user.py", {"kit/late.py"}),
        ("kit/figures.csv", {"kit/table.py", "tests/test_table.py"}),
        ("README.md", set()),
    ],
)
def test_a_change_reaches_what_imports_or_names_it(changed, reached):
    assert reached_by([changed], graph(TEXTS, FILES)) == reached | {changed}


def test_a_folder_of_records_is_named_by_its_constant():
    texts = {"reader.py": "from utils.paths import MEASURED"}
    assert graph(texts, FILES)["reader.py"] == {"data/measured/gpu/gemm.csv"}


@pytest.mark.parametrize(
    "changed, test",
    [
        ("virtual_gpu/memory/shared.py", "virtual_gpu/tests/test_sanitizer.py"),
        ("gpu_xray/sass.py", "tests/utils/ladder/test_budgets.py"),
        ("gemm_kernels/tiled.py", "tests/gemm_kernels/test_kernels.py"),
        ("gemm_kernels/tiled.py", "virtual_gpu/tests/test_counters.py"),
        ("utils/intrinsics/simd.py", "tests/gemm_kernels/cpu/test_kernels.py"),
        ("labs/checking/judge.py", "tests/labs/test_versions.py"),
        ("labs/exercises/tiling/wrong.py", "tests/labs/test_versions.py"),
        ("notebooks/08_occupancy.ipynb", "tests/notebooks/test_lessons.py"),
        ("virtual_gpu/pictures/player.js", "virtual_gpu/tests/test_movie.py"),
        ("README.md", "tests/utils/figures/test_readme.py"),
    ],
)
def test_a_file_reaches_the_tests_that_are_about_it(changed, test):
    assert test in reached_by([changed], of_the_repository())


def test_the_kernels_do_not_reach_the_tests_of_the_interpreters_language():
    assert "virtual_gpu/tests/test_language.py" not in reached_by(
        ["gemm_kernels/tiled.py"], of_the_repository()
    )


def built(*files: str | None) -> dict[str, Stage]:
    """Return the stages that a change of these files asks for; of None, those of everything."""
    change = Change(None if None in files else frozenset(files))
    found = {name: build(change) for name, build in stages().items()}
    return {name: stage for name, stage in found.items() if stage}


ALWAYS = ["lint", "tests", "budgets", "lessons"]


def test_without_a_change_every_lesson_and_every_fast_test_still_runs():
    assert list(built()) == ALWAYS


def test_a_lesson_asks_for_itself_elsewhere_and_for_the_site():
    wanted = built("notebooks/08_occupancy.ipynb")
    others = ["site", "pages", "without compiler", "colab", "slow: labs", "slow: course"]
    assert list(wanted) == ALWAYS + others
    assert wanted["colab"].command[-1] == "LESSONS=08"
    assert wanted["slow: labs"].command[-1] == "tests/labs/test_guide.py"


def test_an_exercise_asks_for_its_own_versions_and_its_labs():
    wanted = built("labs/exercises/tiling/wrong.py")
    assert list(wanted) == [*ALWAYS, "site", "pages", "self-test", "slow: exercises"]
    assert wanted["slow: exercises"].command[-3:] == ("--exercises", "tiling", "tests/labs")
    assert re.search(r"ARGS=.*\btiling\b", wanted["self-test"].command[-1])


def test_the_interpreter_asks_for_nearly_everything():
    assert set(built(None)) - set(built("virtual_gpu/memory/shared.py")) <= {"pins"}


@pytest.mark.parametrize("file", REACH_ALL)
def test_what_everything_stands_on_asks_for_everything(file):
    assert built(file) == built(None)
    assert file in tracked()


def test_every_test_with_slow_cases_has_a_stage():
    of_a_stage = {file for stage in built(None).values() for file in stage.command}
    tests = {file for file in tracked() if re.search(r"/test_\w+\.py$", file)}
    others = ("tests/hub/", "tests/nbgrader/", "tests/next_compiler/")
    elsewhere = {file for file in tests if file.startswith(others)}
    assert tests - elsewhere <= of_a_stage


def test_slow_tests_that_share_something_run_in_one_process():
    wanted = {**built(None), **built("labs/exercises/tiling/wrong.py")}
    slow = [stage.command for name, stage in wanted.items() if name.startswith("slow: ")]
    assert len(slow) == 5
    for words in slow:
        assert words[words.index("--dist") + 1] == "loadgroup"
    assert "\t$(PYTEST) --dist loadgroup -m slow" in (ROOT / "Makefile").read_text()


@pytest.fixture
def one_stage(monkeypatch, tmp_path):
    """Let the command run one stage, whose exit codes are given, and write to another file."""

    def prepare(*codes: str, tries: int = 1):
        log = tmp_path / "codes"
        log.write_text("\n".join(codes) + "\n")
        script = f"code=$(head -1 {log}); sed -i 1d {log}; exit $code"
        stage = Stage(("sh", "-c", script), tries)
        monkeypatch.setattr(command, "stages", lambda: {"only one": lambda change: stage})
        monkeypatch.setattr(command, "WHOLE", tmp_path / "whole")
        return tmp_path / "whole"

    return prepare


def test_a_green_stage_of_the_whole_is_written_with_its_commit(one_stage, capsys):
    whole = one_stage("0")
    whole.write_text(f"{'1' * 40} another\n{'2' * 40} only one\n")
    assert command.main(["--everything"]) == 0
    assert re.fullmatch(rf"{'1' * 40} another\n[0-9a-f]{{40}} only one\n", whole.read_text())
    assert re.search(r"^only one +passed +0\.\d$", capsys.readouterr().out, re.MULTILINE)


def test_a_red_stage_is_not_written(one_stage, capsys):
    whole = one_stage("1")
    assert command.main(["--everything"]) == 1
    assert not whole.exists()
    assert "FAILED" in capsys.readouterr().out


def test_a_stage_of_a_change_is_not_taken_for_one_of_the_whole(one_stage):
    whole = one_stage("0")
    assert command.main([]) == 0
    assert not whole.exists()


def test_a_stage_may_have_a_second_try(one_stage):
    one_stage("1", "0", tries=2)
    assert command.main([]) == 0


def test_what_takes_too_long_is_stopped_with_its_children_and_is_no_failure(
    monkeypatch, tmp_path, capsys
):
    child = tmp_path / "child"
    endless = Stage(("sh", "-c", f"sleep 60 & echo $! > {child}; wait"))
    later = Stage(("false",))
    named = {"endless": lambda change: endless, "later": lambda change: later}
    monkeypatch.setattr(command, "stages", lambda: named)
    monkeypatch.setattr(command, "WHOLE", tmp_path / "whole")
    assert command.main(["--everything", "--minutes", "0.05"]) == 0
    assert re.findall(r"^(\w+) +(stopped|not run) ", capsys.readouterr().out, re.MULTILINE) == [
        ("endless", "stopped"), ("later", "not run"),
    ]  # fmt: skip
    assert not (tmp_path / "whole").exists()
    assert _ends(int(child.read_text()), within=60)


def _ends(process: int, within: float) -> bool:
    """Return True if a process that was killed is gone, or waits for nothing but its parent."""
    state, until = Path(f"/proc/{process}/stat"), time.monotonic() + within
    while state.exists() and state.read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.05)
    return time.monotonic() < until


@pytest.mark.parametrize("text", [None, f"{'0' * 40} only one\n"])
def test_without_a_known_commit_a_stage_runs_on_everything(one_stage, monkeypatch, text):
    whole, changes = one_stage(), []
    monkeypatch.setattr(command, "stages", lambda: {"only one": changes.append})
    if text:
        whole.write_text(text)
    command.main(["--list"])
    assert changes == [Change(None)]


def test_workflows_and_the_makefile_name_the_same_targets():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name, target in (("change", "change"), ("night", "everything")):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
        assert re.findall(r"run: \.ci/run (\w+)", text) == [target]
        assert target in targets
    made = [stage.command[1] for stage in built(None).values() if stage.command[0] == "make"]
    assert set(made) <= targets
