"""A kernel whose imports alone are exchanged has the same findings, counts and results.

Each corpus runs in two processes, with either compiler's imports. That covers the launches of the
counter records and the other steps of the ladders, and the broken and the correct kernels.
"""

import json
import os
import subprocess
import sys

import pytest

from utils.paths import ROOT

from . import require_the_package
from .corpora import CORPORA
from .swapped_imports import swapped

require_the_package()

KERNEL = '''"""A file."""
from numba import cuda, float32, njit, types
from numba import (
    from_dtype,
    int32 as i32,
)
from numba.cuda import grid


@cuda.jit
def kernel(x):
    x[grid(1)] = float32(i32(1))
'''


def test_only_imports_are_exchanged_and_each_line_keeps_its_number():
    old, new = KERNEL.split("\n"), swapped(KERNEL).split("\n")
    assert len(old) == len(new)
    assert [line for line in new[:8] if line] == [
        '"""A file."""',
        "from numba_cuda_mlir import cuda; from numba_cuda_mlir.types import float32; "
        "from numba import njit; from numba_cuda_mlir import types",
        "from numba_cuda_mlir.numba_cuda.np.numpy_support import from_dtype; "
        "from numba_cuda_mlir.types import int32 as i32",
        "from numba_cuda_mlir.cuda import grid",
    ]
    assert old[7:] == new[7:]


def test_functions_for_the_cpu_keep_their_imports():
    text = "from numba import float32, njit\n"
    assert swapped(text) == text


def outcomes(corpus: str, *options: str) -> dict:
    """Run a corpus in a process of its own, and return the outcome of each kernel."""
    ended = subprocess.run(
        [sys.executable, "-m", "virtual_gpu.tests.next_compiler.corpora", corpus, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
        cwd=ROOT,
    )  # fmt: skip
    return json.loads(ended.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_a_swapped_corpus_has_the_same_findings_counts_and_results(corpus):
    of_numba, of_the_next = outcomes(corpus), outcomes(corpus, "--swapped")
    assert {outcome.pop("compiler") for outcome in of_numba.values()} == {"numba"}
    assert {outcome.pop("compiler") for outcome in of_the_next.values()} == {"numba_cuda_mlir"}
    least = {"counted": 130, "sanitizer": 165, "other_steps": 2, "tensor_products": 9}
    assert len(of_numba) >= least[corpus]
    assert of_numba == of_the_next
    assert [name for name, outcome in of_numba.items() if "error" in outcome] == []
