"""``python -m virtual_gpu script.py`` runs a script as Python does, and reports on its kernels."""

import json
import os
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from utils.paths import ROOT
from virtual_gpu.programs.command import main

RIGHT = """
import numpy as np
from numba import cuda

@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] + x[i]

x = np.ones(40, np.float32)
doubled[2, 32](x)
"""
RACE = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def rotate(x):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    x[t] = tile[(t + 1) % 64]

for _ in range(3):
    rotate[1, 64](np.ones(64, np.float32))
print("after the race")
"""


def run_in(folder, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "virtual_gpu", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "VIRTUAL_GPU_PROGRESS": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def command(tmp_path):
    """Return a function that writes a script and runs it.

    ``command(text, "--json", "r.json", "+", "argument")``: the script gets the words after "+".
    """

    def run(text: str, *options: str, code: int):
        (tmp_path / "script.py").write_text(text, encoding="utf-8")
        split = options.index("+") if "+" in options else len(options)
        program = () if "-m" in options else ("script.py",)
        ended = run_in(tmp_path, *options[:split], *program, *options[split + 1 :])
        assert ended.returncode == code, ended.stderr
        return ended

    return run


def test_a_script_sees_its_arguments_its_neighbours_and_its_own_folder(command, tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 'of a neighbour'")
    (tmp_path / "numbers.txt").write_text("7")
    text = RIGHT + (
        "import sys, neighbour\n"
        "from pathlib import Path\n"
        "here = Path(__file__).parent\n"
        "print(__name__, sys.argv, neighbour.value, sys.path[0] == str(here))\n"
        "print((here / 'numbers.txt').read_text(), x.sum())\n"
    )
    ended = command(text, "+", "one", "--html", code=0)
    assert ended.stdout.splitlines() == [
        "__main__ ['script.py', 'one', '--html'] of a neighbour True",
        "7 80.0",
    ]
    assert ended.stderr.splitlines() == [
        "virtual GPU: 1 kernel, 1 launch, no flaw found",
        "  doubled (script.py:5, 1 launch): no flaw found",
    ]


def test_a_race_is_reported_once_and_the_script_goes_on(command, tmp_path):
    ended = command(RACE, "--json", "report.json", code=1)
    assert ended.stdout == "after the race\n"
    assert "3 launches): 1 race" in ended.stderr
    assert ended.stderr.count("race at line 10") == 1
    kernel = json.loads((tmp_path / "report.json").read_text())["kernels"][0]
    assert (kernel["name"], kernel["file"], kernel["launches"]) == ("rotate", "script.py", 3)
    assert kernel["counts"]["shared_store_requests"] == 3 * 2
    (finding,) = kernel["findings"]
    assert (finding["kind"], finding["line"], finding["other_line"]) == ("race", 10, 9)
    assert (finding["array"], finding["warning"], len(finding["threads"])) == ("tile", False, 2)


FLAWED_LAST = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def scaled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * 2.5
        x[i] = x[i] + 1.5

@cuda.jit
def columns(x, out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    for k in range(32):
        tile[t, k] = x[32 * t + k]
    if t < 16:
        cuda.syncthreads()
    out[8 * t] = tile[t, t]

def run():
    columns[1, 32](np.ones(1024, np.float32), np.zeros(256, np.float32))

scaled[2, 32](np.ones(40, np.float32))
run()
"""


def test_the_report_begins_with_flaws_and_has_three_hints_with_what_to_do(command, tmp_path):
    said = command(FLAWED_LAST, "--json", "report.json", code=1).stderr.splitlines()
    assert said[1].startswith("  columns (script.py:12, 1 launch): 1 barrier error")
    assert said[2].startswith("    barrier at line 19 ")
    assert "Put the barrier outside of the if" in said[2]
    assert said[2].endswith("Launched at script.py:23.")
    assert said[3].startswith("  scaled (script.py:5, 1 launch): no flaw found")
    hints = [line for line in said if "hint at line" in line]
    assert len(hints) == 3
    assert hints[0].startswith("  scaled, hint at lines 9, 10: 80 operations in float64")
    assert "Let neighbouring threads access neighbouring elements." in hints[1]
    assert said[-1] == "  1 more hint: --html FILE or --json FILE lists all."
    columns = json.loads((tmp_path / "report.json").read_text())["kernels"][1]
    assert columns["findings"][0]["launched_at"] == "script.py:23"
    assert len(columns["hints"]) == 3


UNSEEN = """
import numpy as np
from numba import cuda

@cuda.jit
def doubled(x):
    x[cuda.grid(1)] *= 2

x = cuda.to_device(np.ones(64, np.float32))
doubled[1, 64](x)
"""


def test_a_program_that_copies_no_result_to_the_host_is_told_so(command):
    assert "the program copies no array to the host" in command(UNSEEN, code=0).stderr
    seen = UNSEEN + "print(x.copy_to_host().sum())"
    assert "copies no array" not in command(seen, code=0).stderr


class Page(HTMLParser):
    """Collects the links and the headings of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.tag = ""
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tag = tag
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        self.tag = ""

    def handle_data(self, data):
        if self.tag == "h2":
            self.headings.append(data)


def test_the_page_names_each_kernel_and_needs_no_other_file(command, tmp_path):
    command(RIGHT + RACE, "--html", "report.html", code=1)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.headings == ["doubled", "rotate"]
    assert page.links == []
    assert "prefers-color-scheme: dark" in text
    assert "race at line" in text
    assert str(tmp_path) not in text


def test_a_scripts_own_exit_code_is_kept(command):
    assert "no flaw found" in command(RIGHT + "raise SystemExit(3)", code=3).stderr


def test_a_script_that_asks_for_a_device_finds_one(command):
    text = "from numba import cuda\nprint(cuda.is_available(), len(cuda.gpus))"
    assert command(text, code=0).stdout == "True 1\n"


def test_a_flaw_counts_more_than_a_scripts_own_exit_code(command):
    command(RACE + "import sys; sys.exit(3)", code=1)


def test_an_exception_is_shown_as_python_shows_it_and_the_report_still_comes(command):
    ended = command(RIGHT + "def f():\n    raise ValueError('bad')\nf()", code=1)
    lines = ended.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "script.py" in lines[1]
    assert sum(line.startswith("  File ") for line in lines) == 2
    assert "ValueError: bad" in lines
    assert lines[-1].endswith("1 launch): no flaw found")


def test_a_script_that_does_not_parse_is_shown_as_python_shows_it(command):
    lines = command("x = = 1", code=1).stderr.splitlines()
    assert lines[0].endswith('script.py", line 1')
    assert lines[-2].startswith("SyntaxError")
    assert lines[-1] == "virtual GPU: no kernel was launched"


def test_a_module_of_a_package_runs_with_its_relative_imports(command, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(RIGHT)
    (package / "job.py").write_text("import sys\nfrom .kernels import x\nprint(x[0], sys.argv[1:])")
    ended = command("", "-m", "package.job", "--json", code=0)
    assert ended.stdout == "2.0 ['--json']\n"
    assert os.path.join("package", "kernels.py") + ":5" in ended.stderr


def test_launches_of_threads_are_watched_and_waited_for(command):
    text = RACE.replace("for _ in range(3):", "def work():") + (
        "import threading\nfor _ in range(2):\n    threading.Thread(target=work).start()\n"
    )
    assert "2 launches): 1 race" in command(text, code=1).stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_flaw_in_a_forked_process_is_raised_there(command):
    text = RACE.replace("for _ in range(3):", "def work():") + (
        "import multiprocessing\n"
        "child = multiprocessing.get_context('fork').Process(target=work)\n"
        "child.start(); child.join(); print(child.exitcode)\n"
    )
    ended = command(text, code=0)
    assert ended.stdout == "after the race\n1\n"
    assert ended.stderr.count("Race: race at line 10") == 1
    assert ended.stderr.endswith("virtual GPU: no kernel was launched\n")


def test_stop_ends_the_script_at_its_first_flaw(command):
    text = RACE.replace("for _", "try:\n  for _")
    text = text.replace("\nprint", "\nexcept Exception:\n  pass\nprint")
    ended = command(text, "--stop", code=1)
    assert ended.stdout == ""
    assert "1 launch): 1 race" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_kernels_costs_are_shown_of_its_first_launch_with_a_flaw(command):
    text = RACE.replace("(t + 1) % 64", "(t + n) % 64").replace("(x):", "(x, n):")
    text = text.replace("np.float32)", "np.float32), _ % 2")
    ended = command(text, "--trace", "rotate", code=1)
    assert "Launch 2 of 3:" in ended.stderr
    assert "wave" in ended.stderr


def test_a_kernel_that_is_not_there_cannot_be_shown(command):
    error = command(RIGHT, "--trace", "doubled_again", code=0).stderr.splitlines()[-1]
    assert error == (
        "The kernel doubled_again was not launched, so there is nothing to show; "
        "launched were: doubled."
    )


def test_what_the_virtual_gpu_refuses_is_an_exception_of_the_script(command):
    ended = command(RIGHT.replace("[2, 32]", "[2, 2048]"), code=1)
    assert "LaunchError: The block (2048, 1, 1) has 2048 threads" in ended.stderr
    assert "virtual GPU: 1 kernel, 1 launch, no flaw found, 1 error\n" in ended.stderr
    assert "1 launch): ended by an error" in ended.stderr
    assert "virtual_gpu" + os.sep not in ended.stderr  # no frame of the interpreter


ENDLESS = """
import os, signal, threading
import numpy as np
from numba import cuda

os.environ["VIRTUAL_GPU_SECONDS"] = "60"  # and no limit of rounds
signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in the background

@cuda.jit
def counting(x):
    while x[0] >= 0:
        x[0] += 1

threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
counting[1, 1](np.zeros(2))
"""


@pytest.mark.skipif(os.name == "nt", reason="this system has no SIGINT for one process")
@pytest.mark.parametrize("options", [("--trace", "counting"), ("--stop",)])
def test_a_launch_that_is_interrupted_is_told_of(command, options):
    ended = command(ENDLESS, *options, code=130)
    assert "virtual GPU: 1 kernel, 1 launch, no flaw found, 1 error\n" in ended.stderr
    assert "    error: counting was interrupted before its end.\n" in ended.stderr
    assert sum(line.startswith("  File ") for line in ended.stderr.splitlines()) == 1


def test_the_page_says_which_remark_is_a_warning(command, tmp_path):
    text = RIGHT.replace("x[i] + x[i]", "x[i - x.size]")
    command(text, "--html", "report.html", code=0)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "warning: wrapped_index at line 9 <code>x[i] = x[i - x.size]</code>" in page


@pytest.mark.parametrize(
    "words, sentence",
    [
        ([], "there is nothing to run; give a script, or -m and the name of a module."),
        (["-m"], "there is nothing to run; give a script, or -m and the name of a module."),
        (["no_such.py"], "there is no file no_such.py; give the path of a script."),
        ([os.devnull], f"there is no file {os.devnull}; give the path of a script."),
        (["--html", "no/r.html", __file__], "--html no/r.html cannot be written; give a file in a"),
        (["--json", ".", __file__], "--json . cannot be written; give a file in a folder that"),
        (["--stop", "--trace", "k", "x.py"], "--stop counts nothing, so --trace has nothing to"),
    ],
)
def test_a_wrong_command_line_is_refused_with_a_sentence(capsys, words, sentence):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err
