"""The course without numba-cuda: its kernels are those of numba-cuda-mlir, and lessons run."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba_cuda_mlir", reason="it is not installed here: make check-next-compiler")
if importlib.util.find_spec("numba_cuda"):
    pytest.skip("numba-cuda is installed here, too", allow_module_level=True)

import gemm_kernels
import latency_kernels
import reduce_kernels
import tensor_kernels
from gpu_xray import xray
from labs import EXERCISES, check
from utils import paths
from utils.compilers.choice import NUMBA_CUDA_MLIR, chosen
from utils.errors import CourseError
from utils.ladder.verify import verify_all

LADDERS = (
    *(latency_kernels.LADDER, reduce_kernels.LADDER, gemm_kernels.LADDER),
    tensor_kernels.LADDER,
)
STEPS = [(ladder, step) for ladder in LADDERS for step in ladder.steps]
# One kernel of each kind: with shared memory, shuffles, and intrinsics of this project.
QUICK = ("copy", "naive", "tiled", "reduce7", "reduce8")
# One about the CPU, whose functions numba compiles.
QUICK_LESSONS = ("02",)
SECONDS = 900


def test_numpy_is_newer_than_numba_cuda_knows_where_python_has_it():
    newest = tuple(map(int, np.__version__.split(".")[:2]))
    assert newest >= ((2, 5) if sys.version_info >= (3, 12) else (2, 4))
    assert chosen() == NUMBA_CUDA_MLIR


@pytest.mark.parametrize(
    ("ladder", "step"),
    [
        pytest.param(*pair, id=pair[1].name, marks=[pytest.mark.slow] * (pair[1].name not in QUICK))
        for pair in STEPS
    ],
)
def test_a_step_is_right_on_the_virtual_gpu(ladder, step):
    assert type(step.variant().kernel).__module__.startswith("numba_cuda_mlir.")
    (verdict,) = verify_all(ladder, [step.variant()], ladder.parse(ladder.small), ("integers",))
    assert verdict.passed, verdict


def test_a_step_has_machine_code():
    step = gemm_kernels.LADDER.step("naive")
    assert xray(step.variant().kernel, step.signature).compiler == NUMBA_CUDA_MLIR.name


@pytest.mark.parametrize("name", ["scale", "coalescing"])
def test_the_checker_takes_a_solution(name):
    assert check(name, EXERCISES[name].solution).passed


def test_a_kernel_of_plain_numba_is_told_which_compiler_is_missing():
    from numba import cuda

    with pytest.raises(CourseError, match="compiler, numba-cuda, is not installed"):
        xray(cuda.jit(lambda x: None), "void(float32[::1])")


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(number, marks=[pytest.mark.slow] * (number not in QUICK_LESSONS))
        for number in paths.lessons()
    ],
)
def test_a_lesson_runs_to_its_end(lesson, tmp_path):
    notebook = paths.lessons()[lesson]
    command = ["-m", "utils.lessons.run_notebooks", "--out", str(tmp_path), str(notebook)]
    run = subprocess.run(
        [sys.executable, *command], cwd=paths.ROOT, capture_output=True, text=True, timeout=SECONDS
    )
    assert run.returncode == 0, run.stdout + run.stderr
