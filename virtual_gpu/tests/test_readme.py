"""Each example of the virtual GPU's README prints the text below it.

An example is a block of Python; with ``# file: NAME`` in its first line it is a file. The next
block has the text that it prints, or a command (``$ ...``) and the text that the command prints.
"""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys

import pytest

from utils.paths import ROOT

README = ROOT / "virtual_gpu" / "README.md"
BLOCK = re.compile(r"```(python|text|console)\n(.*?)```\n", re.DOTALL)
PLUGIN = "virtual_gpu.programs.pytest_plugin"
PLAIN = {"COLUMNS": "80", "PY_COLORS": "0", "VIRTUAL_GPU_PROGRESS": "0"}
# Where one of these is set, pytest does not shorten its summary.
ON_CI = ("CI", "BUILD_NUMBER")
FILE = re.compile(r"# file: (\S+)\n")


def examples(text: str) -> list[tuple[str, str, str]]:
    """Return the code of each example, and the kind and the content of the block below it."""
    blocks = BLOCK.findall(text[text.index("## Ten examples") :])
    assert [kind for kind, _ in blocks[::2]] == ["python"] * (len(blocks) // 2)
    return [(code[1], *shown) for code, shown in zip(blocks[::2], blocks[1::2], strict=True)]


def printed_by(code: str, folder) -> str:
    """Run an example and return its output."""
    path = folder / "example.py"
    path.write_text(code, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(str(path), run_name="__main__")
    return output.getvalue()


def printed_by_command(code: str, command: str, folder) -> str:
    """Run a command on the example's file; return the command and its output, stdout first."""
    (folder / FILE.match(code)[1]).write_text(code, encoding="utf-8")
    words = shlex.split(command.removeprefix("$ "))
    inherited = {name: value for name, value in os.environ.items() if name not in ON_CI}
    process = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), "PYTEST_PLUGINS": PLUGIN, **PLAIN},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return f"{command}\n{process.stdout}{process.stderr}"


def shown_anew(code: str, kind: str, shown: str, folder) -> str:
    """Return the block that the README should have below an example."""
    if kind == "text":
        return printed_by(code, folder)
    return printed_by_command(code, shown.splitlines()[0], folder)


EXAMPLES = examples(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(1, 12))
def test_an_example_prints_what_stands_below_it(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, kind, shown = EXAMPLES[number - 1]
    assert shown_anew(code, kind, shown, tmp_path) == shown


def test_there_are_ten_examples_and_one_on_tensor_cores():
    assert len(EXAMPLES) == 11


def test_every_file_of_the_folder_stands_in_the_table():
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+\.py)`", text[text.index("## The code") :]))
    rooms = [path for path in README.parent.iterdir() if path.name not in ("tests", "pictures")]
    files = {path.name for room in (README.parent, *rooms) for path in room.glob("*.py")}
    assert named == files - {"__init__.py", "hatch_build.py"} | {"annotate.py"}


def test_the_walkthrough_names_files_that_are_there():
    text = README.with_name("WALKTHROUGH.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+/(?:\w+\.py)?)`", text))
    assert named
    assert [name for name in sorted(named) if not (README.parent / name).exists()] == []
