"""Packages that launch kernels install the virtual GPU; importing `utils` changes nothing."""

import os
import subprocess
import sys

import pytest

from kernels_anywhere import require_utils
from utils.paths import ROOT

NUMBAS_OWN = """
from numba.cuda.dispatcher import CUDADispatcher
before = CUDADispatcher.__getitem__, warnings.filters[:]
"""
UNCHANGED = "print((CUDADispatcher.__getitem__, warnings.filters) == before)"
PRODUCT = """
import numpy as np
from numba import cuda
from gemm_kernels import sgemm

@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 3

x = np.zeros(32, np.float32)
fill[1, 32](x)
print(x.sum(), sgemm(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)).sum())
"""
OLD_NAMES = """
import warnings
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as said:
    from utils import virtual_gpu, xray
    from utils.virtual_gpu import trace
    from utils.virtual_gpu.pictures import movie
    import utils.virtual_gpu.pictures
    from utils.xray import xray as x
    from utils.xray.loops import FFMA
import virtual_gpu as new, gpu_xray
print(trace is new.trace, movie is new.pictures.movie, x is gpu_xray.xray)
print([str(one.message).split()[0] for one in said if one.category is DeprecationWarning])
"""


def finished(code, folder):
    """Run a program in that folder, with the course on its path; return the finished process."""
    (folder / "program.py").write_text(code, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def printed(code, folder):
    process = finished(code, folder)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("imported", ["utils", "utils.intrinsics.wide_memory", "utils.ladder.step"])
def test_importing_utils_changes_nothing_of_numba(tmp_path, imported):
    code = f"import warnings\n{NUMBAS_OWN}\nimport {imported}\n{UNCHANGED}"
    assert printed(code, tmp_path) == "True\n"


def test_the_kernel_packages_let_any_kernel_run(tmp_path):
    assert printed(PRODUCT, tmp_path) == "96.0 8.0\n"


PACKAGES = ("gemm_kernels", "reduce_kernels", "latency_kernels", "tensor_kernels", "labs")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_readers_own_utils_is_named(tmp_path, package):
    (tmp_path / "utils.py").write_text("MINE = 1\n", encoding="utf-8")
    process = finished(f"import {package}", tmp_path)
    sentence = process.stderr.splitlines()[-1]
    assert "CourseError: " in sentence
    assert str(tmp_path / "utils.py") in sentence
    assert "give that file another name" in sentence


def test_a_readers_own_utils_that_is_loaded_is_named(tmp_path):
    (tmp_path / "utils.py").write_text("MINE = 1\n", encoding="utf-8")
    process = finished("import utils\nimport gemm_kernels", tmp_path)
    assert str(tmp_path / "utils.py") in process.stderr.splitlines()[-1]


def test_the_courses_own_utils_is_in_nobodys_way():
    require_utils()


def test_both_tools_run_beside_a_readers_own_utils(tmp_path):
    (tmp_path / "utils.py").write_text("MINE = 1\n", encoding="utf-8")
    code = "import utils, virtual_gpu, gpu_xray.errors\nvirtual_gpu.install()\nprint(utils.MINE)"
    assert printed(code, tmp_path) == "1\n"


def test_the_old_names_lead_on_and_say_so_once(tmp_path):
    lines = printed(OLD_NAMES, tmp_path).splitlines()
    assert lines == ["True True True", "['utils.virtual_gpu', 'utils.xray']"]
