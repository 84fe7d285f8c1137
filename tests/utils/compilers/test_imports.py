"""Files get the names of another compiler, with their text and their line numbers as they are."""

import ast
import sys
from types import SimpleNamespace

import pytest

import latency_kernels
from utils.compilers import imports
from utils.compilers.choice import NUMBA_CUDA, NUMBA_CUDA_MLIR, Compiler, chosen
from utils.compilers.imports import KERNELS, Replaced, ladder_of, use_in_cells
from utils.paths import ROOT

OTHER = Compiler("other", "other_cuda", "other_cuda")


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Install a package `other_cuda` that has the names of `numba.cuda`."""
    folder = tmp_path / OTHER.package
    (folder / "cuda").mkdir(parents=True)
    (folder / "__init__.py").write_text("from numba import cuda, types\n")
    (folder / "types.py").write_text("from numba.types import *\nfrom numba import void\n")
    (folder / "cuda" / "__init__.py").write_text("from numba.cuda import *\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith(OTHER.package)]:
        del sys.modules[name]


def replaced(text):
    return ast.unparse(Replaced(OTHER.package).visit(ast.parse(text))).splitlines()


def test_names_for_kernels_come_from_the_other_compiler(other):
    assert replaced("from numba import cuda, float32, void, njit, types") == [
        "from other_cuda import cuda, types",
        "from other_cuda.types import float32, void",
        "from numba import njit",
    ]
    assert replaced("from numba.cuda import jit as kernel") == [
        "from other_cuda.cuda import jit as kernel"
    ]
    assert replaced("from numba import cuda\nfrom numba.types import float16")[1:] == [
        "from other_cuda.types import float16"
    ]


@pytest.mark.parametrize(
    "text",
    ["from numba import float32, njit", "import numba", "from numba.core import types", "x = 1"],
)
def test_a_file_without_kernels_stays_as_it_is(other, text):
    assert replaced(text) == [text]


def test_lines_keep_their_numbers(other):
    text = '"""Doc."""\n\nfrom numba import (\n    cuda,\n    njit,\n)\n\nkernel = 1\n'
    tree = Replaced(OTHER.package).visit(ast.parse(text))
    assert [node.lineno for node in tree.body] == [1, 3, 3, 8]


def test_a_function_that_must_be_inlined_says_so_in_the_other_words(other):
    text = "from numba import cuda\n\n@cuda.jit(device=True, forceinline=True)\ndef f():\n    pass"
    assert "@cuda.jit(device=True, inline='always')" in replaced(text)


def test_a_second_copy_leaves_the_first_one_as_it_was(other):
    before, finders = {name: sys.modules[name] for name in sys.modules}, list(sys.meta_path)
    copy = ladder_of("latency_kernels", OTHER)
    assert {name: sys.modules[name] for name in before} == before
    assert sys.meta_path == finders
    first, second = latency_kernels.LADDER.step("copy"), copy.step("copy")
    assert second is not first
    assert second.build.__globals__["float32"] is sys.modules["other_cuda.types"].float32
    assert second.build().py_func.__code__.co_filename == first.file.__file__
    assert second.build().py_func.__code__.co_firstlineno == (
        first.build().py_func.__code__.co_firstlineno
    )


def test_the_chosen_compiler_needs_no_copy():
    assert ladder_of("latency_kernels", chosen()) is latency_kernels.LADDER


def test_only_another_compiler_replaces_imports_in_cells():
    shell = SimpleNamespace(ast_transformers=[])
    use_in_cells(NUMBA_CUDA, shell)
    assert shell.ast_transformers == []
    use_in_cells(OTHER, shell)
    use_in_cells(OTHER, shell)
    assert len(shell.ast_transformers) == 1
    use_in_cells(OTHER, None)


def test_every_name_that_a_kernel_file_imports_is_known_to_the_next_compiler():
    pytest.importorskip(NUMBA_CUDA_MLIR.package)
    files = [file for package in KERNELS for file in (ROOT / package).rglob("*.py")]
    names = set()
    for file in files:
        tree = Replaced(NUMBA_CUDA_MLIR.package).visit(ast.parse(file.read_text(encoding="utf-8")))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba_cuda"):
                names |= {(node.module, alias.name) for alias in node.names}
    assert ("numba_cuda_mlir", "cuda") in names
    missing = [
        (module, name)
        for module, name in names
        if not hasattr(imports.importlib.import_module(module), name)
    ]
    assert missing == []
