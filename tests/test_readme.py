"""Each command and each example of README.md does what the README says.

Every command is named in COMMANDS, beside the test that runs it as it is printed. `make` gets two
more words: `-o setup` skips the installation, and VENV_PYTHON names the Python of these tests.
"""

import contextlib
import io
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gemm_kernels import LADDER
from utils.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", README, re.DOTALL)
COMMAND = re.compile(r"(?:`|^)((?:make|python -m [\w.]+|source)(?: [\w./=-]+)*)(?=`|$| +#)", re.M)
# Command of the README -> the test of this or another file that runs it.
COMMANDS = {
    "make": "test_setup_environment.py::test_make_alone_shows_first_what_a_learner_needs",
    "make colab REPO=owner/name": "test_make_colab_writes_an_address_into_all_notebooks",
    "make lab": "test_make_lab_opens_the_first_lesson",
    "make lab PYTHON=python3.12": "test_setup_environment.py::test_make_takes_every_python",
    "make record": "needs the GPU of the records",
    "make release": "test_release.py",
    "make slow": "test_make_runs_the_tests",
    "make test": "test_make_runs_the_tests",
    "python -m gemm_kernels --record": "test_records_are_not_made_without_a_gpu",
    "python -m gemm_kernels --steps NAME": "test_a_step_runs_on_the_virtual_gpu",
    "python -m labs": "test_labs_lists_its_commands",
    "python -m utils.figures.readme": "test_readme_is_written_as_it_is",
    "python -m virtual_gpu script.py": "test_a_script_runs_on_the_virtual_gpu",
    "source .venv/bin/activate": "of every environment that Python makes",
}
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def python(command: str, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """Run a command that begins with `python -m`, and return the process with its output."""
    words = [sys.executable, *command.split()[1:]]
    course = folder if (folder / "utils").is_dir() else ROOT
    return subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": str(course)}, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip


def make(command: str, folder: Path = ROOT) -> list[str]:
    """Return the words that run a `make` command of the README without its installation."""
    return [*command.split(), "--directory", str(folder), "-o", "setup",
            f"VENV_PYTHON={sys.executable}"]  # fmt: skip


def copied_course(folder: Path) -> Path:
    """Return a copy of the course's files that git knows."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def texts(folder: Path) -> dict[str, bytes]:
    """Return the content of every file of a copied course, by its path."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_every_command_has_a_test():
    assert set(COMMAND.findall(README)) == set(COMMANDS)
    named = {test for test in COMMANDS.values() if test.startswith("test_")}
    here = {name for name in named if "." not in name}
    assert here <= set(globals())
    for test in named - here:
        name, _, function = test.partition("::")
        (file,) = (ROOT / "tests").rglob(name)
        assert f"def {function}" in file.read_text(encoding="utf-8")


def test_every_example_is_followed_by_its_output():
    assert len(EXAMPLES) == README.count("```python") > 1


@pytest.mark.parametrize("name", ["sgemm", "reduce", "matmul", "trace", "xray", "check"])
def test_every_function_has_a_call(name):
    assert [code for code, _ in EXAMPLES if re.search(rf"^\s*\w.*\b{name}\(", code, re.MULTILINE)]


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("code, printed", EXAMPLES, ids=["functions", "tools"])
def test_an_example_prints_the_text_below_it(code, printed, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(str(file))
    assert output.getvalue() == printed


def test_the_first_screen_has_a_picture_and_the_two_commands_with_minutes_and_space():
    first = README[: README.index("## Lessons")]
    assert first.count("<picture>") == 1
    assert "traced_kernel_light.svg" in first
    lab, test = re.findall(r"^make .*$", first, re.MULTILINE)
    assert re.match(r"make lab .*GB.*minutes", lab)
    assert re.match(r"make test .*minutes", test)


def test_labs_lists_its_commands():
    done = python("python -m labs")
    assert done.returncode == 0, done.stderr
    assert "grade a folder of submissions" in done.stdout


def test_a_script_runs_on_the_virtual_gpu(tmp_path):
    script = re.sub(r"print\(trace\(.*\n", "scale[2, 32](x, 2, x)\n", EXAMPLES[1][0])
    script = script[: script.index("compiled =")]
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = python("python -m virtual_gpu script.py", tmp_path)
    assert done.returncode == 1  # because of the findings
    assert "thread (28) of block (1) uses x[60]" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_step_runs_on_the_virtual_gpu():
    done = python(f"python -m gemm_kernels --steps {LADDER.steps[0].name}")
    assert done.returncode == 0, done.stderr
    assert LADDER.steps[0].name in done.stdout


def test_records_are_not_made_without_a_gpu(device_missing):
    done = python("python -m gemm_kernels --record")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.fixture
def device_missing():
    """Skip the test on a machine with a GPU."""
    from virtual_gpu import installed

    if not installed():
        pytest.skip("There is a GPU here, which would be measured.")


@pytest.mark.slow
def test_readme_is_written_as_it_is(tmp_path):
    course = copied_course(tmp_path)
    before = texts(course)
    done = python("python -m utils.figures.readme", course)
    assert done.returncode == 0, done.stderr
    changed = {name for name, text in texts(course).items() if before.get(name) != text}
    # The widths of letters in figures depend on the fonts of a machine.
    assert {name for name in changed if not name.endswith(".svg")} == set()


@needs_make
@pytest.mark.slow
def test_make_colab_writes_an_address_into_all_notebooks(tmp_path):
    course = copied_course(tmp_path)
    before = texts(course)
    command = make("make colab REPO=owner/name", course)
    environment = {**os.environ, "PYTHONPATH": str(course)}
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=600)
    changed = {name for name, text in texts(course).items() if before.get(name) != text}
    lesson = re.compile(r"notebooks/.*(?:\d\d|extra)_\w+.*\.ipynb")
    notebooks = set(filter(lesson.fullmatch, before))
    assert changed == {"data/repository.toml", *notebooks}
    assert b"https://github.com/owner/name" in (course / "data/repository.toml").read_bytes()


@needs_make
@pytest.mark.slow
@pytest.mark.parametrize(
    "command, some",
    [
        ("make test", "tests/test_platforms.py -k citation"),
        ("make slow", "tests/test_readme.py -k a_step_runs"),
    ],
    ids=["fast", "slow"],  # without the words by which the inner run chooses its test
)
def test_make_runs_the_tests(command, some):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*make(command), f"ARGS={some}"], env=environment, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@needs_make
@pytest.mark.slow
def test_make_lab_opens_the_first_lesson(tmp_path):
    folders = ("HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR")
    environment = {**os.environ, **dict.fromkeys(folders, str(tmp_path)), "PYTHONPATH": str(ROOT)}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        environment.pop(name, None)
    with subprocess.Popen(
        make("make lab"), env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    ) as server:  # fmt: skip
        try:
            line = _until(server, "00_start")
            assert re.search(r"http://\S+/lab/tree/notebooks/00_start_here\.ipynb", line)
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def _until(process: subprocess.Popen, word: str) -> str:
    """Return the first line of a process's output that has a word and an address; or fail."""
    end = time.monotonic() + 300
    while time.monotonic() < end and (line := process.stdout.readline()):
        if word in line and "http" in line:
            return line
    pytest.fail(f"{process.args} did not print {word!r}")
