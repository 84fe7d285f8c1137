"""The compiler of a process: the default, what the variable names, and sentences for bad names."""

import importlib.util

import pytest

from utils.compilers import choice
from utils.compilers.choice import COMPILERS, NUMBA_CUDA, NUMBA_CUDA_MLIR, VARIABLE, chosen
from utils.errors import CourseError


@pytest.fixture
def installed(monkeypatch):
    """Return a function that lets only the compilers with these names be installed."""

    def only(*names):
        packages = {COMPILERS[name].package for name in names}
        real = importlib.util.find_spec
        ours = {compiler.package for compiler in COMPILERS.values()}
        monkeypatch.setattr(
            choice.importlib.util, "find_spec",
            lambda name, *rest: name in packages or None if name in ours else real(name, *rest),
        )  # fmt: skip

    return only


def with_numpy(monkeypatch, version):
    monkeypatch.setattr(choice.np, "__version__", version)


@pytest.mark.parametrize(
    ("names", "numpy", "default"),
    [
        (("numba-cuda", "numba-cuda-mlir"), "2.4.6", NUMBA_CUDA),
        (("numba-cuda", "numba-cuda-mlir"), "2.5.0", NUMBA_CUDA_MLIR),
        (("numba-cuda-mlir",), "2.4.6", NUMBA_CUDA_MLIR),
        (("numba-cuda",), "2.5.0", NUMBA_CUDA),
        ((), "2.4.6", NUMBA_CUDA),
    ],
)
def test_the_default_is_numba_cuda_where_it_suits(monkeypatch, installed, names, numpy, default):
    installed(*names)
    with_numpy(monkeypatch, numpy)
    assert chosen({}) == default


def test_the_variable_decides(monkeypatch, installed):
    installed("numba-cuda", "numba-cuda-mlir")
    with_numpy(monkeypatch, "2.4.6")
    assert chosen({VARIABLE: "numba-cuda-mlir"}) == NUMBA_CUDA_MLIR
    assert chosen({VARIABLE: ""}) == NUMBA_CUDA


def test_a_missing_compiler_is_named_with_the_command_that_installs_it(installed):
    installed("numba-cuda")
    with pytest.raises(CourseError, match=r"numba-cuda-mlir is not installed.*pip install"):
        chosen({VARIABLE: "numba-cuda-mlir"})


def test_an_unknown_compiler_gets_the_names_of_the_known_ones():
    with pytest.raises(CourseError, match="no compiler 'nvcc': choose one of numba-cuda, numba-"):
        chosen({VARIABLE: "nvcc"})
