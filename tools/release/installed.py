"""Use the installed wheel in a foreign folder: a script, the command, pytest, an x-ray.

The fresh environment runs this file. The folder holds nine puzzles and a file `utils.py`, and
nothing of the project but the installed wheel.
"""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba import cuda

import gpu_xray
import virtual_gpu

TESTS = """
import pytest
from numba import cuda
from puzzles import PUZZLES
import numpy as np

@pytest.mark.parametrize("puzzle", PUZZLES)
def test_puzzle(puzzle):
    puzzle.check()

@cuda.jit
def past_the_end(x):
    x[cuda.threadIdx.x + 1] = 1

def test_wrong():
    past_the_end[1, 4](np.zeros(4))
"""


@cuda.jit
def double(x):
    """Double every element of x."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def main(version: str) -> None:
    """Raise AssertionError unless the installed wheel has this version and works."""
    assert importlib.metadata.version("numba-virtual-gpu") == version
    for package in (virtual_gpu, gpu_xray):
        assert Path(package.__file__).is_relative_to(sys.prefix), package.__file__
    assert importlib.util.find_spec("gemm_kernels") is None
    check_a_script()
    check_a_movie()
    check_the_command()
    check_the_plugin()
    check_an_xray()


def check_a_script() -> None:
    """Raise AssertionError unless a kernel launched from a script gives the right result."""
    virtual_gpu.install()
    x = np.arange(100, dtype=np.float32)
    double[4, 32](x)
    assert (x == 2 * np.arange(100)).all()


def check_a_movie() -> None:
    """Raise AssertionError unless a trace makes the HTML of a movie."""
    x = np.ones(32, np.float32)
    page = virtual_gpu.trace(double, 1, 32, x, record=0).movie()._repr_html_()
    assert "function play(root, data)" in page
    assert ".vm-stage" in page


def check_the_command() -> None:
    """Raise AssertionError unless `python -m virtual_gpu` solves nine puzzles and finds no flaw.

    Its output and the JSON report, which it writes to the current folder, are checked.
    """
    output = run("-m", "virtual_gpu", "--json", "report.json", "puzzles.py")
    assert output.count("solved") == 9, output
    kernels = json.loads(Path("report.json").read_text())["kernels"]
    assert [kernel["verdict"] for kernel in kernels] == ["no flaw found"] * 9


def check_the_plugin() -> None:
    """Raise AssertionError unless pytest with the plugin passes nine tests and fails one.

    The failure must name a finding of the virtual GPU. Writes the tests to a file in the current
    folder.
    """
    Path("test_puzzles.py").write_text(TESTS)
    output = run("-m", "pytest", "-p", "no:cacheprovider", code=1)
    assert "1 failed, 9 passed" in output, output
    assert "The virtual GPU found: out_of_bounds" in output, output


def check_an_xray() -> None:
    """Raise AssertionError unless the x-ray of a kernel has plausible registers and instructions.

    On macOS, which has no CUDA compiler, nothing is checked.
    """
    if sys.platform == "darwin":  # macOS has no CUDA compiler
        return
    report = gpu_xray.xray(double, "void(float32[::1])", arch="sm_90")
    assert 0 < report.registers <= 32
    assert "FADD" in report.sass or "FMUL" in report.sass, report.sass


def run(*words: str, code: int = 0) -> str:
    """Run Python with these arguments and return its stdout.

    Raises AssertionError if the exit code is not `code`.
    """
    result = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=500)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


if __name__ == "__main__":
    main(sys.argv[1])
