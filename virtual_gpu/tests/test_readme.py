"""Each example of the virtual GPU's README prints what stands below it.

An example is a block of Python; with ``# file: NAME`` in its first line it is a file. What follows
is a block with the text that it prints, or one with a command (``$ ...``) and what that prints.
"""

import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys

import pytest

from utils.paths import ROOT

README = ROOT / "utils" / "virtual_gpu" / "README.md"
BLOCK = re.compile(r"```(python|text|console)\n(.*?)```\n", re.DOTALL)
PLUGIN = "virtual_gpu.programs.pytest_plugin"
PLAIN = {"COLUMNS": "80", "PY_COLORS": "0", "VIRTUAL_GPU_PROGRESS": "0"}
# Where one of these is set, pytest does not shorten its summary.
ON_CI = ("CI", "BUILD_NUMBER")
FILE = re.compile(r"# file: (\S+)\n")


def examples(text: str) -> list[tuple[str, str, str]]:
    """The code, the kind of the block that follows it, and that block."""
    blocks = BLOCK.findall(text[text.index("## Ten examples") :])
    assert [kind for kind, _ in blocks[::2]] == ["python"] * (len(blocks) // 2)
    return [(code[1], *shown) for code, shown in zip(blocks[::2], blocks[1::2], strict=True)]


def printed_by(code: str, folder) -> str:
    """What an example prints."""
    path = folder / "example.py"
    path.write_text(code, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(str(path), run_name="__main__")
    return output.getvalue()


def printed_by_command(code: str, command: str, folder) -> str:
    """A command and what it prints, stdout before stderr."""
    (folder / FILE.match(code)[1]).write_text(code, encoding="utf-8")
    words = shlex.split(command.removeprefix("$ ").replace("virtual_gpu", "virtual_gpu"))
    inherited = {name: value for name, value in os.environ.items() if name not in ON_CI}
    ended = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), "PYTEST_PLUGINS": PLUGIN, **PLAIN},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return f"{command}\n{ended.stdout}{ended.stderr}"


def shown_anew(code: str, kind: str, shown: str, folder) -> str:
    """What ought to stand in the block below an example."""
    if kind == "text":
        return printed_by(code, folder)
    return printed_by_command(code, shown.splitlines()[0], folder)


EXAMPLES = examples(README.read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(1, 11))
def test_an_example_prints_what_stands_below_it(number, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "virtual_gpu", importlib.import_module("virtual_gpu"))
    monkeypatch.chdir(tmp_path)
    code, kind, shown = EXAMPLES[number - 1]
    assert shown_anew(code, kind, shown, tmp_path) == shown


def test_there_are_ten_examples():
    assert len(EXAMPLES) == 10


def test_every_file_of_the_folder_stands_in_the_table():
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+\.py)`", text[text.index("## The code") :]))
    assert named == {path.name for path in README.parent.glob("*.py")} - {"__init__.py"}
